"""What is known of values that depend on their position in a matrix: masks of what comes later."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
from xdsl.ir import SSAValue

from ...ir import Array, Dim, DimExpr, Op
from ...ir.compose.functions import HIDDEN
from .constants import constant_of, scalar_of
from .rewrite import producer


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


LIMITS = {"less": (-1, True), "less_equal": (0, True), "greater": (0, False),
          "greater_equal": (-1, False)}  # fmt: skip
"""For x ? 0: the y of `x <= y`, or of its opposite; and which of the two it is."""
MIRRORED = {"less": "greater", "less_equal": "greater_equal", "greater": "less",
            "greater_equal": "less_equal"}  # fmt: skip


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
    name = op.name.removeprefix("gv.") if isinstance(op, Op) else ""
    if name not in LIMITS or not isinstance(op, Op):
        return None
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
    number, known, op = scalar_of(value), constant_of(value), value.owner
    if isinstance(number, int):
        return Position(0, 0, number)
    if known is not None:
        return _counted(known)
    return RULES[op.name](op) if isinstance(op, Op) and op.name in RULES else None


def _iota(op: Op) -> Position | None:
    flags = op.plain_attributes()
    return _along(flags["axis"] - len(flags["shape"]), 0)


def _extent(op: Op) -> Position | None:
    values = op.plain_attributes()["values"]
    return Position(0, 0, values[0]) if len(values) == 1 else None


def _same(op: Op) -> Position | None:
    return position(op.operands[0])


def _sum(op: Op) -> Position | None:
    a, b = (position(operand) for operand in op.operands)
    sign = 1 if op.name == "gv.add" else -1
    if a is None or b is None:
        return None
    return Position(a.row + b.row * sign, a.column + b.column * sign, a.offset + b.offset * sign)


def _reshape(op: Op) -> Position | None:
    """Return the position behind a reshape that only adds or drops axes of 1."""
    found, source, dims = position(op.operands[0]), op.specs[0].dims, op.result_specs[0].dims
    wide = [axis - len(dims) for axis, dim in enumerate(dims) if dim != 1]
    before = [axis - len(source) for axis, dim in enumerate(source) if dim != 1]
    if found is None or not wide or wide == before:
        return found
    one = len(wide) == len(before) == 1 and found.row + found.column == 1
    return _along(wide[0], found.offset) if one else None


RULES: Mapping[str, Callable[[Op], Position | None]] = {
    "gv.iota": _iota,
    "gv.extent": _extent,
    "gv.cast": _same,
    "gv.broadcast_to": _same,
    "gv.add": _sum,
    "gv.sub": _sum,
    "gv.reshape": _reshape,
}


def _along(axis: int, offset: Dim) -> Position | None:
    """Return the position along an axis, counted from the end."""
    return {-1: Position(0, 1, offset), -2: Position(1, 0, offset)}.get(axis)


def _counted(known: Array) -> Position | None:
    """Return the position of numbers that count up along one axis."""
    wide = [axis - known.ndim for axis, extent in enumerate(known.shape) if extent != 1]
    flat = known.reshape(-1)
    if len(wide) != 1 or flat.dtype.kind not in "iu" or not np.all(np.diff(flat) == 1):
        return None
    return _along(wide[0], int(flat[0]))
