"""Which operations a kernel can read through, without a buffer between.

Code generation answers for these by index (moves) or by expression (element-wise rules), see
`codegen/kernels/builder/read.py`; fusion asks for the same rules.
"""

from __future__ import annotations

from xdsl.ir import Operation

from ....ir import Op
from ..walks import is_move


def is_cheap(op: Operation) -> bool:
    """Say whether an operation is rather computed again in every kernel than stored."""
    return is_move(op) or (isinstance(op, Op) and op.CHEAP)


def is_indexed(op: Operation) -> bool:
    """Say whether kernels read through an operation at other indices than its own."""
    return is_move(op) or (isinstance(op, Op) and op.has("element_at"))


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
    if op.name == "gv.constant":
        return is_splat(op)
    return is_elementwise(op) or is_indexed(op)
