"""Graphs inside of nodes as regions, which see nothing but their arguments.

The nodes of an inner graph are read as if they stood outside, so that shapes and constants of
the outer graph are known in it. Then the region is closed: what it takes from outside becomes
an argument, constants are copied in.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue

from ...ir import Op
from ...ir.ops.structure import Yield
from ...ir.types.values import Spec


def new_block(specs: Sequence[Spec]) -> Block:
    """Return a block with arguments of these specs."""
    return Block(arg_types=[spec.type for spec in specs])


def finish(block: Block, values: Sequence[SSAValue]) -> None:
    """Let a block yield values."""
    block.add_op(Yield.make(*values))


def close(*blocks: Block) -> list[SSAValue]:
    """Give blocks an argument for each value they take from outside; return those values.

    All blocks get the same arguments. Constants are copied instead.
    """
    captured: dict[SSAValue, None] = {}
    for block in blocks:
        for op in list(block.ops):
            for operand in op.operands:
                if _is_outside(operand, block):
                    captured[operand] = None
    outer = [value for value in captured if not _is_constant(value)]
    for block in blocks:
        for value in captured:
            inner = _copied(block, value)
            if inner is None:
                inner = block.insert_arg(value.type, len(block.args))
                inner.name_hint = value.name_hint
            _replace(block, value, inner)
    return outer


def inline(block: Block, target: Block) -> None:
    """Move the operations of an open block, but for the one that ends it, behind another's."""
    for op in list(block.ops):
        if isinstance(op, Yield):
            block.erase_op(op)
        else:
            block.detach_op(op)
            target.add_op(op)


def size(block: Block) -> int:
    """Return how many operations compute something in a block."""
    return sum(not (isinstance(op, Op) and op.WORKLESS) for op in block.walk())


def has_effects(block: Block) -> bool:
    """Say whether a block must not be carried out where it is not chosen: it may end the run."""
    return any(isinstance(op, Op) and not op.PURE for op in block.walk())


def _is_outside(value: SSAValue, block: Block) -> bool:
    owner = value.owner
    return owner is not block and not (isinstance(owner, Operation) and owner.parent is block)


def _is_constant(value: SSAValue) -> bool:
    return isinstance(value.owner, Op) and value.owner.name == "gv.constant"


def _copied(block: Block, value: SSAValue) -> SSAValue | None:
    """Return a copy of a constant at the head of a block; None of other values."""
    owner = value.owner
    if not (isinstance(owner, Op) and owner.name == "gv.constant"):
        return None
    copy = owner.clone()
    first = block.first_op
    assert first is not None, "a block that is closed ends in gv.yield"
    block.insert_op_before(copy, first)
    return copy.results[0]


def _replace(block: Block, value: SSAValue, inner: SSAValue) -> None:
    for op in block.ops:
        if value in op.operands:
            op.operands = [inner if operand is value else operand for operand in op.operands]
