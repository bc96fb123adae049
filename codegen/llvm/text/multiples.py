"""What an index is a multiple of, so that vectors are loaded and stored with their alignment."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, SSAValue

MOST = 16
"""More is not asked for: the bytes that one thread loads at most."""

_SMALLER = frozenset(
    {"arith.addi", "arith.subi", "arith.minsi", "arith.maxsi", "arith.remui", "arith.remsi"}
)
"""Operations whose result is a multiple of what both operands are multiples of."""


def multiple_of(value: SSAValue, depth: int = 12) -> int:
    """Return a power of two, `MOST` at most, that an index is always a multiple of."""
    owner = value.owner
    if isinstance(owner, Block):
        loop = owner.parent_op()
        if isinstance(loop, scf.ForOp) and value is owner.args[0] and depth:
            return min(multiple_of(loop.operands[i], depth - 1) for i in (0, 2))
        return 1
    if isinstance(owner, arith.ConstantOp):
        number = owner.value.value.data if isinstance(owner.value, IntegerAttr) else 1
        assert isinstance(number, int)
        return min(MOST, number & -number) if number else MOST
    if not depth or owner.name not in (*_SMALLER, "arith.muli", "arith.select"):
        return 1
    parts = [multiple_of(operand, depth - 1) for operand in owner.operands[-2:]]
    if owner.name == "arith.muli":
        return min(MOST, parts[0] * parts[1])
    return min(parts)
