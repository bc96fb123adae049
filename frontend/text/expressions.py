"""What an expression of graph text is worth: a tensor, a number, a dimension, a list.

Operations on tensors are appended to the graph as they are met, innermost first. A number
beside a tensor takes its element type. Nothing here recurses: a sum of a hundred thousand
terms is as deep as it is long.
"""

from __future__ import annotations

import difflib
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from ...ir import (
    DTYPES,
    REGISTRY,
    Array,
    Dim,
    DimExpr,
    DType,
    GraphEmit,
    Op,
    TensorSpec,
    find_op,
)
from ...ir.compose import functions as c
from ...ir.compose.maker import Maker
from ...ir.types import dims as dim_rules
from ...ir.types import dtypes as d
from ...ir.types.dims import Range as DimRange
from ...ir.types.tensor import spec_of
from ..dims.slices import Knowledge, bounds
from .attributes import coerced
from .places import SourceText
from .tree import Call, Expression, Index, Items, Literal, Name, Operation


class WrongError(Exception):
    """Something is wrong at an offset of the text."""

    def __init__(self, at: int, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.at, self.message, self.hint = at, message, hint


class Failed:
    """Stands for what could not be made out, so that one fault is told once."""


FAILED = Failed()
Value: TypeAlias = (
    "SSAValue | bool | int | float | str | DimExpr | DType | Failed | tuple[Value, ...]"
)
"""A tensor, several of them, a number, a text, a dimension, a `DType`, a list, or `FAILED`."""

SIGNS: dict[str, str] = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floor_divide", "%": "mod",
    "@": "matmul", "**": "pow", "<<": "shift_left", ">>": "shift_right", "<": "less",
    "<=": "less_equal", ">": "greater", ">=": "greater_equal", "==": "equal", "!=": "not_equal",
    "&": "and", "|": "or", "^": "xor",
}  # fmt: skip
ALONE = {"-": "neg", "~": "not"}
BITWISE = frozenset({"and", "or", "xor", "not"})

WORDS: dict[str, Value] = {"true": True, "false": False, "inf": math.inf, "nan": math.nan}

_NUMBERS: dict[str, Callable[..., int | float | DimExpr]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "/": lambda a, b: a / b,
    "//": lambda a, b: a // b,
    "%": lambda a, b: a % b,
}
_BITS: dict[str, Callable[[int, int], int]] = {
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
}
_LARGEST = 1 << 63

HELPERS: dict[str, Callable[..., Value | list[SSAValue]]] = {
    "depth_to_space": c.depth_to_space,
    "flatten": c.flatten,
    "flip": c.flip,
    "move_axis": c.move_axis,
    "repeat": c.repeat,
    "roll": c.roll,
    "space_to_depth": c.space_to_depth,
    "split": c.split,
    "squeeze": c.squeeze,
    "stack": lambda emit, *xs, axis: c.stack(emit, xs, axis),
    "tile": c.tile,
    "triangle": c.triangle,
    "unsqueeze": c.unsqueeze,
}
"""Functions of `ir.compose.functions` that can be called like operations."""

BAD = (TypeError, ValueError, ArithmeticError, LookupError)
"""What rules of operations raise on attributes that make no sense."""


class FunctionScope:
    """Gives the expressions of one function their values."""

    def __init__(
        self,
        text: SourceText,
        emit: GraphEmit,
        symbols: Mapping[str, Dim],
        ranges: Mapping[str, DimRange],
        call: Callable[[str, Sequence[SSAValue], int], Value | None],
    ) -> None:
        self.text, self.emit, self.symbols, self.ranges = text, emit, symbols, ranges
        self.values: dict[str, Value] = {}
        self.call_function = call
        """Calls a function of the file; None where there is none of this name."""

    def evaluate(self, root: Expression) -> Value:
        """Return what an expression is worth."""
        stack: list[tuple[Expression, bool]] = [(root, False)]
        done: list[Value] = []
        while stack:
            node, ready = stack.pop()
            inner = children(node)
            if inner and not ready:
                stack.append((node, True))
                stack.extend((child, False) for child in reversed(inner))
                continue
            values = done[len(done) - len(inner) :]
            del done[len(done) - len(inner) :]
            failed = any(isinstance(value, Failed) for value in values)
            done.append(FAILED if failed else self._value(node, values))
        return done[0]

    def _value(self, node: Expression, values: list[Value]) -> Value:
        """Return what one node is worth when its parts are worth `values`; note a fault."""
        try:
            return self._worth(node, values)
        except WrongError as error:
            self.text.fault(error.at, error.message, error.hint)
            return FAILED

    def _worth(self, node: Expression, values: list[Value]) -> Value:
        match node:
            case Name():
                made = self._name(node)
            case Literal():
                made = _number(node)
            case Items():
                made = tuple(values)
            case Operation():
                made = self._operation(node, values)
            case Call():
                made = self._call(node, values)
            case Index():
                made = self._index(node, values)
        return made

    def _name(self, name: Name) -> Value:
        """Return what a name stands for."""
        if not name.quoted:
            tables: tuple[Mapping[str, Value], ...] = (WORDS, DTYPES, self.symbols)
            for table in tables:
                if name.text in table:
                    return table[name.text]
        if name.text in self.values:
            return self.values[name.text]
        known = [*self.values, *self.symbols]
        raise WrongError(name.at, f"there is no value {name.text!r}", nearest(name.text, known))

    # Signs.

    def _operation(self, node: Operation, values: list[Value]) -> Value:
        sign, unary = node.sign, len(values) == 1
        if not any(isinstance(value, SSAValue) for value in values):
            return self._arithmetic(node, values)
        name = ALONE[sign] if unary else SIGNS[sign]
        if name in BITWISE:
            of_bools = any(isinstance(v, SSAValue) and _dtype(v) is d.bool_ for v in values)
            name = f"{'logical' if of_bools else 'bitwise'}_{name}"
        return self.apply(REGISTRY[f"gv.{name}"], values, {}, node.at)

    def _arithmetic(self, node: Operation, values: list[Value]) -> Value:
        """Return the value of a sign between numbers and dimensions."""
        numbers = [v for v in values if isinstance(v, int | float | DimExpr)]
        floats = any(isinstance(v, float) for v in values)
        symbolic = any(isinstance(v, DimExpr) for v in values)
        wrong = len(numbers) < len(values) or any(isinstance(v, bool) for v in values)
        if wrong or (floats and symbolic):
            raise WrongError(node.at, f"{node.sign} has nothing to work on")
        if len(numbers) == 1 and node.sign == "-":
            return -numbers[0]
        rule: Callable[..., int | float | DimExpr] | None = _NUMBERS.get(node.sign)
        if rule is None and not floats and not symbolic:
            rule = _BITS.get(node.sign)
        if rule is None or (symbolic and node.sign == "/"):
            raise WrongError(node.at, f"{node.sign} of numbers is not supported")
        try:
            made = rule(*numbers)
        except (ZeroDivisionError, OverflowError) as error:
            raise WrongError(node.at, str(error)) from error
        if isinstance(made, int) and not -_LARGEST <= made < _LARGEST:
            raise WrongError(node.at, "the number is too large")
        return made

    # Calls.

    def _call(self, node: Call, values: list[Value]) -> Value:
        operands = values[: len(node.arguments)]
        keywords = [keyword.name.text for keyword in node.keywords]
        given = zip(keywords, values[len(node.arguments) :], strict=True)
        attributes: dict[str, object] = dict(given)
        if len(attributes) < len(keywords):
            raise WrongError(node.at, f"{node.name}: an attribute is given twice")
        op = find_op(node.name) if "." in node.name else REGISTRY.get(f"gv.{node.name}")
        if op is not None and op.AS_CALL and op.LEVEL == "graph":
            return self._call_op(op, operands, attributes, node)
        if node.name in HELPERS:
            return self._call_helper(node, operands, attributes)
        if node.name in ("max", "min") and not any(isinstance(v, SSAValue) for v in operands):
            return self._extreme(node, operands)
        tensors = tensors_of(operands)
        if tensors is not None and not attributes:
            made = self.call_function(node.name, tensors, node.at)
            if made is not None:
                return made
        known = [name.removeprefix("gv.") for name in REGISTRY] + [*HELPERS]
        message = f"there is no operation {node.name!r}"
        raise WrongError(node.at, message, nearest(node.name, known))

    def _extreme(self, node: Call, values: list[Value]) -> Value:
        """Return the larger or smaller of two dimensions."""
        dims = [v for v in values if isinstance(v, int | DimExpr)]
        if len(values) != 2 or len(dims) != 2:
            raise WrongError(node.at, f"{node.name} of dimensions takes two")
        extreme = dim_rules.maximum if node.name == "max" else dim_rules.minimum
        return extreme(dims[0], dims[1])

    def _call_op(
        self, op: type[Op], operands: list[Value], attributes: dict[str, object], node: Call
    ) -> Value:
        if op.name in ("gv.max", "gv.min") and not any(isinstance(v, SSAValue) for v in operands):
            return self._extreme(node, operands)
        try:
            attributes = coerced(op, attributes)
        except TypeError as error:
            raise WrongError(node.at, f"{op.name}: {error}") from error
        return self.apply(op, operands, attributes, node.at)

    def _call_helper(
        self, node: Call, operands: list[Value], attributes: dict[str, object]
    ) -> Value:
        helper = HELPERS[node.name]
        tensors = tensors_of(operands)
        if not tensors:
            raise WrongError(node.at, f"{node.name} takes tensors")
        axes = attributes.get("axes")
        new_axes = len(axes) if isinstance(axes, tuple) else 0
        extra = {"unsqueeze": new_axes, "stack": 1}.get(node.name, 0)
        rank = spec_of(tensors[0].type).rank + extra
        try:
            inspect.signature(helper).bind(self.emit, *tensors, **attributes)
            made = helper(self.emit, *tensors, **from_front(attributes, rank))
        except BAD as error:
            raise WrongError(node.at, f"{node.name}: {error}") from error
        return tuple(made) if isinstance(made, list) else made

    def apply(
        self, op: type[Op], operands: Sequence[Value], attributes: dict[str, object], at: int
    ) -> Value:
        """Append an operation, numbers among its operands as constants of a fitting type."""
        signature = op.signature()
        required = len(signature.operands) - optional_operands(op)
        if len(operands) < required or (
            signature.variadic is None and len(operands) > len(signature.operands)
        ):
            wanted = len(signature.operands)
            raise WrongError(at, f"{op.name}: {len(operands)} operands, expected {wanted}")
        try:
            attributes = op.complete(attributes)
        except TypeError as error:
            raise WrongError(at, f"{op.name}: {error}") from error
        errors: list[str] = []
        for candidate in _candidates(operands):
            specs = [_spec(operand, candidate) for operand in operands]
            fitting = [spec for spec in specs if spec is not None]
            if len(fitting) < len(specs):
                continue
            found, wrong = _inferred(op, fitting, attributes)
            if wrong is None:
                values = [self._operand(v, s) for v, s in zip(operands, fitting, strict=True)]
                return self._emitted(op, values, found, at)
            errors.append(wrong)
        raise WrongError(at, f"{op.name}: {errors[0] if errors else _unfit(operands)}")

    def _emitted(
        self, op: type[Op], values: Sequence[SSAValue], attributes: dict[str, object], at: int
    ) -> Value:
        """Append an operation; a number that its attributes cannot hold shows only here."""
        try:
            made: Value = self.emit(op, *values, **attributes)
        except BAD as error:
            reason = str(error).removeprefix(f"{op.name}: ")
            raise WrongError(at, f"{op.name}: {reason}") from error
        return made

    def _operand(self, value: Value, spec: TensorSpec) -> SSAValue:
        if isinstance(value, SSAValue):
            return value
        make = Maker(self.emit)
        if isinstance(value, DimExpr):
            made: SSAValue = make.extent_of(value, spec.dtype)
        else:
            made = make.constant(value=as_array(value, spec.dtype))
        return made

    # Indices.

    def _index(self, node: Index, values: list[Value]) -> Value:
        """Return the part of a tensor that ranges cut out."""
        source = values[0]
        if not isinstance(source, SSAValue):
            raise WrongError(node.at, "only tensors have parts")
        shape = spec_of(source.type).dims
        if len(node.ranges) > len(shape):
            raise WrongError(node.at, f"{len(node.ranges)} axes of a tensor of {len(shape)}")
        rows: list[tuple[Dim, Dim, int]] = [(0, extent, 1) for extent in shape]
        given = iter(values[1:])
        for axis, part in enumerate(node.ranges):
            ends = [None if end is None else next(given) for end in part[:3]]
            if part.single:
                rows[axis] = self._place(ends[0], shape[axis], node.at)
            else:
                rows[axis] = bounds(*_ends(ends, node.at), shape[axis], Knowledge(self.ranges))
        starts, stops, steps = zip(*rows, strict=True) if rows else ((), (), ())
        cut: dict[str, object] = {"starts": starts, "stops": stops, "steps": steps}
        made = self.apply(REGISTRY["gv.slice"], [source], cut, node.at)
        axes = [axis for axis, part in enumerate(node.ranges) if part.single]
        if not axes:
            return made
        squeezed: SSAValue = c.squeeze(self.emit, made, axes)
        return squeezed

    def _place(self, index: Value | None, extent: Dim, at: int) -> tuple[Dim, Dim, int]:
        """Return the range of one place of an axis, which must be inside for certain."""
        [found] = _checked_ends([index], at)
        assert found is not None, "a place is a number"
        place = found + extent if isinstance(found, int) and found < 0 else found
        known = Knowledge(self.ranges)
        if not (known.at_least(place, 0) and known.at_least(extent, place + 1)):
            raise WrongError(at, f"index {index} may be outside of an axis of {extent}")
        return place, place + 1, 1


_FAR = _LARGEST - 1


def _checked_ends(ends: Sequence[Value | None], at: int) -> list[Dim | None]:
    """Return the ends of a range, which are whole numbers, dimensions, or left out."""
    made: list[Dim | None] = []
    for end in ends:
        if isinstance(end, bool) or not (end is None or isinstance(end, int | DimExpr)):
            raise WrongError(at, "indices are whole numbers or dimensions")
        made.append(end)
    return made


def _ends(ends: Sequence[Value | None], at: int) -> tuple[Dim, Dim, int]:
    """Return start, stop and step of a range, with what was left out filled in."""
    start, stop, step = _checked_ends(ends, at)
    step = 1 if step is None else step
    if isinstance(step, DimExpr) or step == 0:
        raise WrongError(at, f"step {step}, expected a number other than 0")
    first, last_one = (0, _FAR) if step > 0 else (_FAR, -_FAR)
    return first if start is None else start, last_one if stop is None else stop, step


def _number(node: Literal) -> Value:
    if isinstance(node.value, float) and math.isinf(node.value):
        raise WrongError(node.at, "the number is too large")
    return node.value


def tensors_of(values: Sequence[Value]) -> list[SSAValue] | None:
    """Return values that all are tensors, None if one is not."""
    tensors = [value for value in values if isinstance(value, SSAValue)]
    return tensors if len(tensors) == len(values) else None


def children(node: Expression) -> Sequence[Expression]:
    """Return the parts of an expression, in the order they are evaluated."""
    match node:
        case Items():
            return node.items
        case Operation():
            return node.operands
        case Call():
            return (*node.arguments, *(keyword.value for keyword in node.keywords))
        case Index():
            ends = [end for part in node.ranges for end in part[:3] if end is not None]
            return (node.value, *ends)
        case _:
            return ()


def nearest(name: str, known: Sequence[str]) -> str:
    """Return a hint with the nearest known name, if one is near."""
    close = difflib.get_close_matches(name, known, 1)
    return f"did you mean {close[0]!r}?" if close else ""


def from_front(attributes: Mapping[str, object], rank: int) -> dict[str, object]:
    """Return the attributes with axes that count from the end counted from the front."""

    def turned(axis: object) -> object:
        return axis + rank if isinstance(axis, int) and axis < 0 else axis

    made = dict(attributes)
    if "axis" in made:
        made["axis"] = turned(made["axis"])
    axes = made.get("axes")
    if isinstance(axes, tuple):
        made["axes"] = tuple(map(turned, axes))
    return made


def optional_operands(op: type[Op]) -> int:
    """Return how many of the operands may be left out."""
    parameters = inspect.signature(op.infer).parameters.values()
    return sum(p.kind is p.POSITIONAL_OR_KEYWORD and p.default is not p.empty for p in parameters)


def _inferred(
    op: type[Op], specs: Sequence[TensorSpec], attributes: dict[str, object]
) -> tuple[dict[str, object], str | None]:
    """Return the attributes with which an operation takes these operands, or what is wrong.

    Axes that count from the end are turned where the operation does not do so itself.
    """
    rank = specs[0].rank if specs and specs[0].shape is not None else 0
    turned = from_front(attributes, rank + (op.name == "gv.one_hot"))
    error = ""
    for chosen in [attributes] if turned == attributes else [attributes, turned]:
        try:
            op.inferred(specs, chosen)
        except BAD as found:
            error = error or str(found).removeprefix(f"{op.name}: ")
        else:
            return chosen, None
    return attributes, error


def _dtype(value: SSAValue) -> DType:
    return spec_of(value.type).dtype


def _candidates(operands: Sequence[Value]) -> list[DType | None]:
    """Return the element types to try for numbers; None gives each its own."""
    if all(isinstance(value, SSAValue) for value in operands):
        return [None]
    return [*dict.fromkeys(_dtype(v) for v in operands if isinstance(v, SSAValue)), None]


def _spec(value: Value, dtype: DType | None) -> TensorSpec | None:
    """Return the spec of an operand whose numbers have this type, or None if they do not fit."""
    if isinstance(value, SSAValue):
        return spec_of(value.type)
    if isinstance(value, DimExpr):
        return TensorSpec(dtype or d.i64, ()) if dtype is not d.bool_ else None
    leaves = flat(value)
    if leaves is None:
        return None
    wanted = dtype or _own(leaves)
    if not all(fits(leaf, wanted) for leaf in leaves):
        return None
    return TensorSpec(wanted, np.shape(np.array(value)) if isinstance(value, tuple) else ())


def flat(value: Value) -> list[bool | int | float] | None:
    """Return the numbers in lists of equal length, or None where there is something else."""
    if isinstance(value, bool | int | float):
        return [value]
    level: list[Value] = [value]
    while level:
        lists = [x for x in level if isinstance(x, tuple)]
        if len(lists) < len(level):
            break
        if len({len(x) for x in lists}) > 1:
            return None
        level = [y for x in lists for y in x]
    numbers: list[bool | int | float] = [x for x in level if isinstance(x, bool | int | float)]
    return numbers if len(numbers) == len(level) else None


def fits(number: bool | int | float, dtype: DType) -> bool:
    """Say whether a number is a value of an element type."""
    if isinstance(number, bool) or dtype.kind == "b":
        return isinstance(number, bool) and dtype.kind == "b"
    if isinstance(number, int) and dtype.is_integer:
        return bool(dtype.minimum <= number <= dtype.maximum)
    if dtype.is_integer:
        return False
    with np.errstate(over="ignore"):
        rounded = np.array(number, dtype.numpy)
    return not math.isfinite(number) or bool(np.isfinite(rounded))


def as_array(value: Value, dtype: DType) -> Array:
    """Return numbers as an array of a type that they fit."""
    return np.array(value, dtype.numpy)


def _own(leaves: Sequence[object]) -> DType:
    if leaves and all(isinstance(x, bool) for x in leaves):
        return d.bool_
    return d.i64 if all(isinstance(x, int) for x in leaves) and leaves else d.f32


def _unfit(operands: Sequence[Value]) -> str:
    """Return why operands are neither tensors nor numbers that fit them."""
    dtypes = [str(_dtype(v)) for v in operands if isinstance(v, SSAValue)]
    for position, value in enumerate(operands):
        if isinstance(value, SSAValue | DimExpr):
            continue
        if flat(value) is None:
            return f"operand {position} is neither a tensor nor a number"
    return f"a number is not a value of {' or '.join(dtypes) or 'any type'}"
