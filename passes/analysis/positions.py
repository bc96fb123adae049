"""What is known of values that depend on their position in a matrix: masks of what comes later."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from ...ir import Array, Dim, DimExpr, DType, Op
from ...ir.compose.functions import HIDDEN
from ...ir.ops.compare import Comparison
from ...ir.scalar_math import ScalarMath, UnknownStepError
from ...ir.types.indices import Indices, Linear, NeedSplit, Token, broadcast_index, number, of
from ...ir.types.tensor import spec_of
from .constants import constant_of, scalar_of
from .kernels.reads import is_elementwise
from .rewrite import producer
from .walks import is_move, source_index


class Position(NamedTuple):
    """`row * i + column * j + offset` at row i and column j."""

    row: int
    column: int
    offset: Dim


def hides_later(bias: SSAValue, rows: Dim, columns: Dim) -> bool:
    """Say whether a bias is 0 where `column - row <= columns - rows`, and hides all others."""
    later = columns - rows
    if not _is_natural(later):
        return False
    known = constant_of(bias)
    if known is not None and isinstance(rows, int) and isinstance(columns, int):
        return _hides(known, rows, columns)
    bias = without_axes(bias)
    choice = producer(bias, "select")
    if choice is None:
        return False
    condition, *sides = choice.operands
    numbers = [scalar_of(side) for side in sides]
    if not all(isinstance(n, float) for n in numbers):
        return False
    is_seen = numbers[0] == 0
    seen, hidden = numbers if is_seen else numbers[::-1]
    return bool(seen == 0 and hidden <= HIDDEN and shows_earlier(condition, rows, columns, is_seen))


def shows_earlier(condition: SSAValue, rows: Dim, columns: Dim, is_seen: bool) -> bool:
    """Say whether a condition (or its opposite) is `column - row <= columns - rows`."""
    limit = _limit(condition)
    later = columns - rows
    return limit is not None and _is_natural(later) and limit == (later, is_seen)


def without_axes(value: SSAValue) -> SSAValue:
    """Return a value before leading axes of 1 came or went."""
    while (op := producer(value, "reshape")) is not None:
        if op.specs[0].dims[-2:] != op.result_specs[0].dims[-2:] or op.specs[0].rank < 2:
            break
        value = op.operands[0]
    return value


def _is_natural(dim: Dim) -> bool:
    """Say whether a dimension is surely not negative."""
    if isinstance(dim, DimExpr):
        return all(coefficient > 0 for _, coefficient in dim.terms)
    return dim >= 0


def _hides(bias: Array, rows: int, columns: int) -> bool:
    """Say the same of known numbers."""
    if bias.shape[-2:] != (rows, columns) or bias.size != rows * columns:
        return False
    seen = np.tri(rows, columns, columns - rows, dtype=bool)
    matrix = bias.reshape(rows, columns)
    return bool(np.all(matrix[seen] == 0) and np.all(matrix[~seen] <= HIDDEN))


LIMITS = {"lt": (-1, True), "le": (0, True), "gt": (0, False), "ge": (-1, False)}
"""For x ? 0: the y of `x <= y`, or of its opposite; and which of the two it is."""
MIRRORED = {"lt": "gt", "le": "ge", "gt": "lt", "ge": "le"}


def _limit(condition: SSAValue) -> tuple[Dim, bool] | None:
    """Return d, and True for a condition `column - row <= d`, False for its opposite."""
    condition = without_axes(condition)
    known = constant_of(condition)
    if known is not None:
        return _staircase(known)
    part = producer(condition, "slice")
    if part is not None:
        return _cut(part)
    op = condition.owner
    if not isinstance(op, Comparison) or op.PREDICATE not in LIMITS:
        return None
    name = op.PREDICATE
    one, other = (position(operand) for operand in op.operands)
    if one is None or other is None:
        return None
    row, column, offset = one.row - other.row, one.column - other.column, one.offset - other.offset
    if (row, column) == (1, -1):
        name, column, offset = MIRRORED[name], 1, offset * -1
    elif (row, column) != (-1, 1):
        return None
    least, is_less = LIMITS[name]
    return least - offset, is_less


def _staircase(known: Array) -> tuple[Dim, bool] | None:
    """Return the same of known truths."""
    if known.ndim < 2 or known.size != known.shape[-2] * known.shape[-1] or not known.size:
        return None
    rows, columns = known.shape[-2:]
    matrix = known.reshape(rows, columns)
    for is_seen in (True, False):
        last = int((matrix[0] == is_seen).sum()) - 1
        if np.array_equal(matrix == is_seen, np.tri(rows, columns, last, dtype=bool)):
            return last, is_seen
    return None


def _cut(part: Op) -> tuple[Dim, bool] | None:
    """Return the same of a part of a condition."""
    flags, found = part.plain_attributes(), _limit(part.operands[0])
    if found is None or any(step != 1 for step in flags["steps"][-2:]):
        return None
    row, column = flags["starts"][-2:]
    return found[0] + row - column, found[1]


def position(value: SSAValue) -> Position | None:
    """Return how whole numbers depend on their position; axes before the last two do not count."""
    tokens = [Token(dim) for dim in spec_of(value.type).dims]
    index = tuple(number(0) if t.extent == 1 else of(t) for t in tokens)
    try:
        found = Places(POSITIONS).element(value, index)
    except (UnknownStepError, NeedSplit):
        return None
    steps = dict(found.terms)
    column, row = [*(steps.pop(token, 0) for token in reversed(tokens[-2:])), 0, 0][:2]
    if steps or not isinstance(row, int) or not isinstance(column, int):
        return None
    return Position(row, column, found.constant)


@dataclass(frozen=True)
class Places:
    """A `Reading` whose elements are whole numbers that are linear in an index."""

    math: PlaceMath

    def element(self, value: SSAValue, index: Indices) -> Linear:
        """Return the element at an index by the rules of what makes the value."""
        known, array, op = scalar_of(value), constant_of(value), value.owner
        if isinstance(known, int):
            return number(known)
        if array is not None:
            return counted(array, index)
        if not isinstance(op, Op):
            raise UnknownStepError("an argument")
        return self.made(op, index)

    def made(self, op: Op, index: Indices) -> Linear:
        """Return an element of what an operation makes."""
        made: Linear | None
        if op.has("element_at"):
            made = op.element_at(self, index, *op.operands, **op.plain_attributes())
        elif is_move(op):
            source = source_index(op, index)
            made = None if source is None else self.element(op.operands[0], source)
        elif is_elementwise(op):
            wide = op.result_specs[0]
            places = [broadcast_index(index, spec, wide) for spec in op.specs]
            read = [self.element(v, at) for v, at in zip(op.operands, places, strict=True)]
            made = type(op).scalar(self.math, *read, **op.plain_attributes())
        else:
            made = None
        if made is None:
            raise UnknownStepError(op.name)
        return made

    def counted(self, index: Linear, dtype: DType) -> Linear:
        """Return the index."""
        return index

    def size(self, dim: Dim) -> Linear:
        """Return the dimension."""
        return number(dim)

    def place(self, at: Linear, extent: Dim) -> Linear:
        """Refuse: a clamped number is not linear."""
        raise UnknownStepError("a clamped place")

    def picked(self, at: Linear, extent: Dim) -> Linear:
        """Refuse: a clamped number is not linear."""
        raise UnknownStepError("a clamped index")

    def within(
        self, value: SSAValue, index: Indices, guarded: Sequence[bool], fill: float
    ) -> Linear:
        """Refuse: what is beside an edge is not linear."""
        raise UnknownStepError("a guarded element")


class PlaceMath(ScalarMath):
    """A `ScalarMath` of whole numbers that are linear in an index."""

    def constant(self, value: int, dtype: DType) -> Linear:
        """Return a number."""
        return number(value)

    def cast(self, x: Linear, dtype: DType) -> Linear:
        """Return the number itself, of any type of numbers."""
        if dtype.kind not in "iuf":
            raise UnknownStepError(f"a cast to {dtype}")
        return x

    def add(self, a: Linear, b: Linear) -> Linear:
        """Add."""
        return a + b

    def sub(self, a: Linear, b: Linear) -> Linear:
        """Subtract."""
        return a + b * -1

    def neg(self, a: Linear) -> Linear:
        """Turn the sign."""
        return a * -1


POSITIONS = PlaceMath()


def counted(known: Array, index: Indices) -> Linear:
    """Return the element of numbers that count up along one axis."""
    wide = [axis for axis, extent in enumerate(known.shape) if extent != 1]
    flat = known.reshape(-1)
    if len(wide) != 1 or flat.dtype.kind not in "iu" or not np.all(np.diff(flat) == 1):
        raise UnknownStepError("numbers that do not count up")
    return index[wide[0]] + int(flat[0])
