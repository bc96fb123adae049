"""Which operations a kernel can read through, without a buffer between.

Code generation answers for these by index (moves) or by expression (element-wise rules), see
`codegen/kernels/read.py`; fusion decides by the same table.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ...ir import Op

MOVES = frozenset({"gv.reshape", "gv.transpose", "gv.broadcast_to", "gv.slice"})
"""Operations whose element is an element of their operand at another, linear index."""

BIJECTIVE_MOVES = frozenset({"gv.reshape", "gv.transpose"})
"""Moves that keep every element once."""

INDEXED = frozenset(
    {"gv.iota", "gv.pad", "gv.extent", "gv.gather", "gv.gather_elements", "gv.gather_nd"}
)
"""Operations that are read in place by a rule of their own."""

CHEAP = MOVES | {"gv.iota", "gv.extent", "gv.constant", "gv.cast"}
"""Operations that are rather computed again in every kernel than stored."""


def is_splat(op: Operation) -> bool:
    """Say whether the operation is a constant with one value for all elements."""
    if op.name != "gv.constant" or not isinstance(op, Op):
        return False
    elements = op.properties["value"].data  # type: ignore[attr-defined]
    return bool(elements.array.size == 1 or elements.is_splat)


def is_elementwise(op: Operation) -> bool:
    """Say whether the operation has a scalar rule."""
    return isinstance(op, Op) and op.has("scalar")


def is_readable(op: Operation) -> bool:
    """Say whether a kernel can read the operation's element in place."""
    return is_elementwise(op) or op.name in MOVES or op.name in INDEXED or is_splat(op)
