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
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ...ir import REGISTRY, Array, Dim, DimExpr, GraphEmit, Op, Range, TensorSpec, spec_of
from ...ir.types import dims as dim_rules

MAX_KNOWN = 4096
"""Values of more elements are not followed."""

Rule = Callable[..., Any]


class UndecidedError(Exception):
    """The result depends on the value of a symbol in a way that no dimension can say."""


class KnownEmit:
    """Appends operations, and follows those on known values."""

    def __init__(self, emit: GraphEmit, ranges: Mapping[str, Range], facts: Sequence[Dim]) -> None:
        self.emit = emit
        self.ranges, self.facts = ranges, facts
        self._known: dict[SSAValue, Array] = {}

    def __call__(self, op: type[Op], *operands: SSAValue, **attributes: object) -> Any:
        """Append one operation; return its result, or the tuple of several."""
        made = self.emit(op, *operands, **attributes)
        created = self.emit.made.pop()
        for result, value in zip(created.results, self._follow(created), strict=False):
            self.learn(result, value)
        return made

    def known(self, value: SSAValue) -> Array | None:
        """Return what is known of a value."""
        return self._known.get(value)

    def learn(self, value: SSAValue, known: Array) -> None:
        """Note a value: numbers, or objects where dimensions are among them."""
        spec = spec_of(value.type)
        if spec.dtype.is_text:
            return
        if known.dtype == object and not any(isinstance(x, DimExpr) for x in known.flat):
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
        if len(values) < len(operands) or not all(map(_is_small, op.result_specs)):
            return ()
        attributes = op.plain_attributes()
        if op.name == "gv.extent":
            return (_objects(attributes["values"]),)
        if op.name == "gv.weight" or not op.PURE or any(_symbolic(a) for a in attributes.values()):
            return ()
        if all(value.dtype != object for value in values):
            with np.errstate(all="ignore"):
                return op.evaluate(*values, **attributes)
        return self._follow_symbols(op, values, attributes)

    def _follow_symbols(
        self, op: Op, values: Sequence[Array], attributes: dict[str, object]
    ) -> Sequence[Array]:
        if op.name in MOVES:
            return _moved(op, values, attributes)
        objects = [value.astype(object) for value in values]
        if op.name in REDUCTIONS:
            axes, keep = attributes["axes"], attributes["keepdims"]
            return (np.asarray(REDUCTIONS[op.name](objects[0], axis=axes, keepdims=keep)),)
        rule = FLOAT_DIVIDE if op.name == "gv.div" and op.specs[0].dtype.is_float else None
        rule = rule or SYMBOLIC.get(op.name)
        if rule is None:
            return ()
        try:
            return (_per_element(rule, objects, self.ranges),)
        except UndecidedError:
            return ()


def _is_small(spec: TensorSpec) -> bool:
    return spec.is_static and isinstance(spec.size, int) and spec.size <= MAX_KNOWN


def _symbolic(value: object) -> bool:
    if isinstance(value, tuple):
        return any(map(_symbolic, value))
    return isinstance(value, DimExpr)


def _objects(values: Sequence[object]) -> Array:
    made = np.empty(len(values), object)
    made[:] = list(values)
    return made


MOVES = {
    "gv.broadcast_to": 1, "gv.concat": 9, "gv.flip": 1, "gv.gather": 1, "gv.gather_elements": 1,
    "gv.gather_nd": 1, "gv.reshape": 1, "gv.slice": 1, "gv.transpose": 1,
}  # fmt: skip
"""Operations that only move elements, and how many operands they move (then come indices)."""


def _moved(op: Op, values: Sequence[Array], attributes: dict[str, object]) -> Sequence[Array]:
    """Move places in a table of the elements instead of the elements."""
    count = MOVES[op.name]
    if any(index.dtype == object for index in values[count:]):
        return ()
    table: list[Any] = []
    places: list[Array] = []
    for value in values[:count]:
        places.append(np.arange(len(table), len(table) + value.size).reshape(value.shape))
        table.extend(value.ravel().tolist())
    elements = _objects(table)
    moved = op.evaluate(*places, *values[count:], **attributes)
    return [_objects(elements[to.ravel()].tolist()).reshape(to.shape) for to in moved]


def _per_element(rule: Rule, objects: Sequence[Array], ranges: Mapping[str, Range]) -> Array:
    spread = np.broadcast_arrays(*objects)
    columns = zip(*(array.ravel() for array in spread), strict=True)
    made = _objects([rule(ranges, *map(_whole, column)) for column in columns])
    return made.reshape(spread[0].shape)


def _whole(value: object) -> Any:
    """Return a float that is a whole number as an integer."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _dims(rule: Callable[..., object]) -> Rule:
    """Return the rule for elements that are whole numbers or dimensions."""

    def checked(ranges: Mapping[str, Range], *elements: object) -> Any:
        if not all(isinstance(x, int | DimExpr) for x in elements):
            raise UndecidedError
        return rule(*elements)

    return checked


def _comparison(below: bool, equal: bool, above: bool) -> Rule:
    """Return the rule that says whether a is below, equal to or above b, where that is certain."""

    def decide(ranges: Mapping[str, Range], a: Any, b: Any) -> bool:
        if isinstance(a, bool) or isinstance(b, bool):
            raise UndecidedError
        outcomes = _outcomes(a, b, ranges)
        answers = {dict(zip((-1, 0, 1), (below, equal, above), strict=True))[o] for o in outcomes}
        if len(answers) > 1:
            raise UndecidedError
        return answers.pop()

    return decide


def _outcomes(a: Dim, b: Dim, ranges: Mapping[str, Range]) -> set[int]:
    """Return which of below (-1), equal (0) and above (1) are possible."""
    difference = a - b
    if isinstance(difference, int | float):
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
    return possible


def _bounds(dim: Dim, ranges: Mapping[str, Range]) -> Range:
    return dim_rules.bounds(dim, ranges) if isinstance(dim, DimExpr) else (dim, dim)


def _divide(a: Dim, b: Dim) -> Dim:
    """Divide towards zero; of dimensions, where that is the same as rounding down."""
    if isinstance(a, int) and isinstance(b, int):
        quotient = abs(a) // abs(b) if b else 0
        return quotient if (a < 0) == (b < 0) else -quotient
    if (isinstance(a, int) and a < 0) or (isinstance(b, int) and b <= 0):
        raise UndecidedError
    return dim_rules.floor_divide(a, b)


def _float_divide(a: Dim, b: Dim) -> Dim:
    if b == 0 or dim_rules.remainder(a, b) != 0:
        raise UndecidedError
    return dim_rules.floor_divide(a, b)


def _select(ranges: Mapping[str, Range], condition: object, a: object, b: object) -> Any:
    if isinstance(condition, DimExpr):
        raise UndecidedError
    return a if condition else b


def _logical(rule: Callable[[bool, bool], bool]) -> Rule:
    def checked(ranges: Mapping[str, Range], a: object, b: object) -> bool:
        if isinstance(a, DimExpr) or isinstance(b, DimExpr):
            raise UndecidedError
        return rule(bool(a), bool(b))

    return checked


SYMBOLIC: dict[str, Rule] = {
    "gv.add": _dims(lambda a, b: a + b),
    "gv.sub": _dims(lambda a, b: a - b),
    "gv.mul": _dims(lambda a, b: a * b),
    "gv.div": _dims(_divide),
    "gv.floor_divide": _dims(dim_rules.floor_divide),
    "gv.mod": _dims(dim_rules.remainder),
    "gv.minimum": _dims(dim_rules.minimum),
    "gv.maximum": _dims(dim_rules.maximum),
    "gv.neg": _dims(lambda a: a * -1),
    "gv.cast": _dims(lambda a: a),
    "gv.floor": _dims(lambda a: a),
    "gv.ceil": _dims(lambda a: a),
    "gv.round": _dims(lambda a: a),
    "gv.trunc": _dims(lambda a: a),
    "gv.equal": _comparison(below=False, equal=True, above=False),
    "gv.not_equal": _comparison(below=True, equal=False, above=True),
    "gv.less": _comparison(below=True, equal=False, above=False),
    "gv.less_equal": _comparison(below=True, equal=True, above=False),
    "gv.greater": _comparison(below=False, equal=False, above=True),
    "gv.greater_equal": _comparison(below=False, equal=True, above=True),
    "gv.select": _select,
    "gv.logical_and": _logical(lambda a, b: a and b),
    "gv.logical_or": _logical(lambda a, b: a or b),
}
"""Rules on elements that may be dimensions. Elements come as int, float, bool or `DimExpr`."""

FLOAT_DIVIDE = _dims(_float_divide)
REDUCTIONS: dict[str, Callable[..., object]] = {
    "gv.sum": np.add.reduce,
    "gv.prod": np.multiply.reduce,
}

assert "gv.constant" in REGISTRY, "the graph operations are not loaded"
