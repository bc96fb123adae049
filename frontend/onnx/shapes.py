"""What is known of values while a model is read: numbers, and integers that are dimensions.

ONNX computes shapes with ordinary nodes: `Shape`, `Gather`, `Concat`, then `Reshape`. An
emit of class `KnownEmit` follows every operation it appends whose operands are known and
small. So a rule that wants a shape, axes or pads asks `known` of an operand, however many
nodes made it. The operations stay; those nobody uses are swept when the model is read.

A known value is an array of numbers of the value's element type, or an array of objects
where some elements are symbolic dimensions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from ...ir import Array, Dim, DimExpr, DType, GraphEmit, Op, Range, TensorSpec, spec_of
from ...ir.demands import noted
from ...ir.ops.conv import Conv
from ...ir.ops.pool import Pool
from ...ir.ops.reduce import Fold
from ...ir.scalar_math import PREDICATES, ScalarMath, UnknownStepError
from ...ir.types import dims as dim_rules
from ...ir.types.dtypes import bool_
from ..dims.slices import Knowledge, without_quotients
from ..values.moving import is_moved, move, objects

WINDOWED = (Conv, Pool)
"""What demands that a window fits into what it moves over."""
MAX_KNOWN = 4096
"""Values of more elements are not followed."""


class UndecidedError(Exception):
    """The result depends on the value of a symbol in a way that no dimension can say."""


def is_of_entry(op: Op) -> bool:
    """Say whether every run comes to an operation."""
    parent = op.parent_op()
    return isinstance(parent, FuncOp) and parent.sym_name.data == "main"


class KnownEmit:
    """Appends operations, and follows those on known values."""

    def __init__(self, emit: GraphEmit, ranges: Mapping[str, Range], facts: Sequence[Dim]) -> None:
        self.emit = emit
        self.ranges, self.facts = ranges, facts
        self.sure: list[Dim] = []
        """What is at least 0 in each run, since operations that every run comes to demand it."""
        self._known: dict[SSAValue, Array] = {}
        self._many: dict[SSAValue, Array] = {}
        """Integers that are stored, and too many to be followed."""
        self._spans: dict[SSAValue, tuple[int, int]] = {}
        """The lowest and the highest of these, where somebody asked."""
        self.entry = emit.point.block
        """The block of the whole model."""
        self.required: dict[object, Operation] = {}
        """What runs look at of values, by what is wanted."""

    def __call__(self, op: type[Op], *operands: SSAValue, **attributes: object) -> Any:
        """Append one operation; return its result, or the tuple of several."""
        with noted() as demands:
            made = self.emit(op, *operands, **attributes)
        created = self.emit.made.pop()
        if demands and isinstance(created, WINDOWED) and is_of_entry(created):
            for each in demands:
                self.demand(without_quotients(each.spare))
        for result, value in zip(created.results, self._follow(created), strict=False):
            self.learn(result, value)
        return made

    def demand(self, fact: Dim) -> None:
        """Note that something is at least 0, unless that is known; what follows from it is dropped.

        Each is tried in turn wherever sizes are compared, so that few are kept.
        """
        if dim_rules.bounds(fact, self.ranges)[0] >= 0 or any(
            isinstance(spare := fact - each, int) and spare >= 0 for each in self.sure
        ):
            return
        weaker = [each - fact for each in self.sure]
        kept = [not (isinstance(spare, int) and spare >= 0) for spare in weaker]
        self.sure[:] = [each for each, stays in zip(self.sure, kept, strict=True) if stays]
        self.sure.append(fact)

    def known(self, value: SSAValue) -> Array | None:
        """Return what is known of a value: a part that is not yet rounded is not."""
        found = self._known.get(value)
        if found is None or found.dtype != object:
            return found
        return None if any(isinstance(x, FloatQuotient) for x in found.flat) else found

    def span(self, value: SSAValue) -> tuple[Dim, Dim] | None:
        """Return the lowest and the highest of integers that are known; None of others."""
        known = self.known(value)
        if known is None or not known.size:
            return self._span_of_many(value)
        if known.dtype != object:
            return int(known.min()), int(known.max())
        return (known.flat[0], known.flat[0]) if known.size == 1 else None

    def _span_of_many(self, value: SSAValue) -> tuple[int, int] | None:
        """Return the same of integers that are not followed: quantised weights stay unread."""
        array = self._many.get(value)
        if array is not None and value not in self._spans:
            self._spans[value] = int(array.min()), int(array.max())
        return self._spans.get(value)

    def learn_many(self, value: SSAValue, array: Array) -> None:
        """Note which array a value is, if it has integers: its ends are looked for if wanted."""
        if array.dtype.kind in "iu" and array.size:
            self._many[value] = array

    def learn(self, value: SSAValue, known: Array) -> None:
        """Note a value: numbers, or objects where dimensions are among them."""
        spec = spec_of(value.type)
        if spec.dtype.is_text:
            return
        if known.dtype == object and not any(
            isinstance(x, DimExpr | FloatQuotient) for x in known.flat
        ):
            if not all(spec.dtype.minimum <= x <= spec.dtype.maximum for x in known.flat):
                return
            known = np.array(known.tolist(), spec.dtype.numpy).reshape(known.shape)
        self._known[value] = known

    def _follow(self, op: Op) -> Sequence[Array]:
        """Return the results that follow from known operands; nothing if they do not."""
        if op.HOST is not None:
            return ()
        operands = [self._known.get(operand) for operand in op.operands]
        values = [value for value in operands if value is not None]
        if len(values) < len(operands) or not all(map(is_small, op.result_specs)):
            return ()
        attributes = op.plain_attributes()
        if op.name == "gv.extent":
            return (objects(attributes["values"]),)
        if op.name == "gv.weight" or not op.PURE or any(_symbolic(a) for a in attributes.values()):
            return ()
        if all(value.dtype != object for value in values):
            with np.errstate(all="ignore"):
                return op.evaluate(*values, **attributes)
        return self._follow_symbols(op, values, attributes)

    def _follow_symbols(
        self, op: Op, values: Sequence[Array], attributes: dict[str, object]
    ) -> Sequence[Array]:
        if is_moved(type(op), values):
            return move(type(op), values, attributes)
        whole = [value.astype(object) for value in values]
        math = DimMath(self.ranges, op.specs[0].dtype)
        try:
            if isinstance(op, Fold) and op.COMBINER in FOLDS:
                axes, keep = attributes["axes"], attributes["keepdims"]
                return (fold(partial(FOLDS[op.COMBINER], math), whole[0], axes, keepdims=keep),)
            if not op.has("scalar"):
                return ()
            return (_per_element(partial(type(op).scalar, math, **attributes), whole),)
        except (UndecidedError, UnknownStepError):
            return ()


def is_small(spec: TensorSpec) -> bool:
    """Say whether a value has so few elements that they are followed."""
    return spec.is_static and isinstance(spec.size, int) and spec.size <= MAX_KNOWN


def _symbolic(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_symbolic, value))
    return isinstance(value, DimExpr)


def _per_element(rule: Callable[..., Any], operands: Sequence[Array]) -> Array:
    spread = np.broadcast_arrays(*operands)
    columns = zip(*(array.ravel() for array in spread), strict=True)
    made = objects([rule(*map(_whole, column)) for column in columns])
    return made.reshape(spread[0].shape)


def fold(rule: Callable[..., Any], x: Array, axes: Any, *, keepdims: Any) -> Array:
    """Combine the elements of axes, two by two."""
    last = [axis for axis in range(x.ndim) if axis not in axes] + list(axes)
    kept = [x.shape[axis] for axis in last[: x.ndim - len(axes)]]
    rows = x.transpose(last).reshape(*kept, -1)
    if not rows.shape[-1]:
        raise UndecidedError
    made = objects([reduce(rule, map(_whole, row)) for row in rows.reshape(-1, rows.shape[-1])])
    shape = [1 if axis in axes else size for axis, size in enumerate(x.shape)]
    return made.reshape(shape if keepdims else kept)


def _whole(value: object) -> Any:
    """Return a float that is a whole number as an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


@dataclass(frozen=True)
class FloatQuotient:
    """A dimension over a positive number, as a float that is not rounded to a whole one yet.

    Dimensions are so small that floats are whole numbers only where the quotients are: a float
    counts them exactly, as it is taken to do where they are cast.
    """

    of: Dim
    by: int

    def floor(self) -> Dim:
        """Round down."""
        return dim_rules.floor_divide(self.of, self.by)

    def ceil(self) -> Dim:
        """Round up."""
        return dim_rules.floor_divide(self.of + (self.by - 1), self.by)


EXACT = {"f32": 1 << 23, "f64": 1 << 52}
"""Below it, quotients of whole numbers round to a whole number only where they are one."""


class DimMath(ScalarMath):
    """A `ScalarMath` whose elements are int, bool or `DimExpr`, of one element type.

    Steps whose result depends on what a symbol is raise `UndecidedError`.
    """

    def __init__(self, ranges: Mapping[str, Range], dtype: DType) -> None:
        self.ranges, self.dtype = ranges, dtype

    def dtype_of(self, x: Dim) -> DType:
        """Return the element type of the operands, or bool."""
        return bool_ if isinstance(x, bool) else self.dtype

    def constant(self, value: float, dtype: DType) -> Dim:
        """Return a whole number."""
        return certain(_whole(value))

    def cast(self, x: Dim | FloatQuotient, dtype: DType) -> Any:
        """Return the same number of any type; a bool is whether it is not 0."""
        if isinstance(x, FloatQuotient):
            if dtype == bool_:
                return self.compare("ne", x.of, 0)
            return x if dtype.is_float else x.floor()
        return self.compare("ne", x, 0) if dtype == bool_ else certain(x)

    def add(self, a: Dim, b: Dim) -> Dim:
        """Add."""
        return certain(a) + certain(b)

    def sub(self, a: Dim, b: Dim) -> Dim:
        """Subtract."""
        return certain(a) - certain(b)

    def mul(self, a: Dim, b: Dim) -> Dim:
        """Multiply."""
        return certain(a) * certain(b)

    def neg(self, a: Dim) -> Dim:
        """Turn the sign."""
        return certain(a) * -1

    def div(self, a: Dim, b: Dim) -> Any:
        """Divide floats: what leaves no whole number has to be rounded."""
        if b == 0:
            raise UndecidedError
        if dim_rules.remainder(certain(a), certain(b)) == 0:
            return dim_rules.floor_divide(a, b)
        low, high = _bounds(a, self.ranges)
        digits = EXACT.get(self.dtype.name, 0)
        if not isinstance(b, int) or b < 0 or low < 0 or (high or 0) >= digits:
            raise UndecidedError
        return FloatQuotient(a, b)

    def truncated_divide(self, a: Dim, b: Dim) -> Dim:
        """Divide towards zero."""
        return _divide(certain(a), certain(b), self.ranges)

    def floor_divide(self, a: Dim, b: Dim) -> Dim:
        """Divide and round down."""
        return dim_rules.floor_divide(certain(a), certain(b))

    def mod(self, a: Dim, b: Dim) -> Dim:
        """Return what is left of that."""
        return dim_rules.remainder(certain(a), certain(b))

    def minimum(self, a: Dim, b: Dim) -> Dim:
        """Return the smaller."""
        possible = _outcomes(certain(a), certain(b), self.ranges)
        if 1 not in possible or -1 not in possible:
            return b if 1 in possible else a
        return dim_rules.minimum(a, b)

    def maximum(self, a: Dim, b: Dim) -> Dim:
        """Return the larger."""
        possible = _outcomes(certain(a), certain(b), self.ranges)
        if 1 not in possible or -1 not in possible:
            return b if -1 in possible else a
        return dim_rules.maximum(a, b)

    def rounded(self, a: Dim) -> Dim:
        """Return a whole number as it is."""
        return certain(a)

    def floor(self, a: Dim | FloatQuotient) -> Dim:
        """Round down."""
        return a.floor() if isinstance(a, FloatQuotient) else certain(a)

    def ceil(self, a: Dim | FloatQuotient) -> Dim:
        """Round up."""
        return a.ceil() if isinstance(a, FloatQuotient) else certain(a)

    round = rounded
    trunc = floor

    def compare(self, predicate: str, a: Dim, b: Dim) -> bool:
        """Compare, where that is certain; floats that are no whole numbers are among constants."""
        for each in (a, b):
            if isinstance(each, bool) or not isinstance(each, int | float | DimExpr):
                raise UndecidedError
        if not (isinstance(a, DimExpr) or isinstance(b, DimExpr)):
            return bool(PREDICATES[predicate](a, b))
        answers = {bool(PREDICATES[predicate](one, 0)) for one in _outcomes(a, b, self.ranges)}
        if len(answers) > 1:
            raise UndecidedError
        return answers.pop()

    def select(self, condition: Dim, a: Dim, b: Dim) -> Dim:
        """Choose by what is certain."""
        return a if truth(condition) else b

    def logical_not(self, a: Dim) -> bool:
        """Return the opposite."""
        return not truth(a)

    def logical_and(self, a: Dim, b: Dim) -> bool:
        """Say whether both hold."""
        return truth(a) and truth(b)

    def logical_or(self, a: Dim, b: Dim) -> bool:
        """Say whether one holds."""
        return truth(a) or truth(b)


def certain(value: object) -> Dim:
    """Return a whole number or a dimension, or raise `UndecidedError`."""
    if not isinstance(value, int | DimExpr):
        raise UndecidedError
    return value


def truth(value: object) -> bool:
    """Return a bool, or raise `UndecidedError`."""
    if isinstance(value, DimExpr):
        raise UndecidedError
    return bool(value)


def _outcomes(a: Dim, b: Dim, ranges: Mapping[str, Range]) -> set[int]:
    """Return which of below (-1), equal (0) and above (1) are possible.

    One of the two may be a float that is no whole number, which is not subtracted.
    """
    is_exact = isinstance(a, int | DimExpr) and isinstance(b, int | DimExpr)
    difference = a - b if is_exact else None
    if isinstance(difference, int):
        return {(difference > 0) - (difference < 0)}
    (a_low, a_high), (b_low, b_high) = _bounds(a, ranges), _bounds(b, ranges)
    possible = {-1, 0, 1}
    if a_high is not None and a_high <= b_low:
        possible -= {1}
    if a_high is not None and a_high < b_low:
        possible -= {0}
    if b_high is not None and b_high <= a_low:
        possible -= {-1}
    if b_high is not None and b_high < a_low:
        possible -= {0}
    if len(possible) > 1 and isinstance(difference, DimExpr):
        known = Knowledge(ranges)
        for sign in (1, -1):
            if known.at_least(difference * sign, 0):
                possible -= {-sign}
                if known.at_least(difference * sign, 1):
                    return {sign}
    return possible


def _bounds(dim: Dim, ranges: Mapping[str, Range]) -> Range:
    return dim_rules.bounds(dim, ranges) if isinstance(dim, DimExpr) else (dim, dim)


def _divide(a: Dim, b: Dim, ranges: Mapping[str, Range]) -> Dim:
    """Divide towards zero: down what is not below it, and up what is not above."""
    if isinstance(a, int) and isinstance(b, int):
        quotient = abs(a) // abs(b) if b else 0
        return quotient if (a < 0) == (b < 0) else -quotient
    if (isinstance(a, int) and a < 0) or (isinstance(b, int) and b <= 0):
        raise UndecidedError
    down, (low, high) = dim_rules.floor_divide(a, b), _bounds(a, ranges)
    if low >= 0:
        return down
    up = dim_rules.floor_divide(a * -1, b) * -1
    if high is not None and high <= 0:
        return up
    return dim_rules.maximum(down, 0) + dim_rules.minimum(up, 0)


FOLDS: dict[str, Callable[..., Any]] = {
    "add": DimMath.add, "mul": DimMath.mul, "max": DimMath.maximum, "min": DimMath.minimum,
}  # fmt: skip
"""How elements that may be dimensions are combined."""
