"""The blocks of a function: its own, and those of the choices and loops in it."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from ...ir import operations
from ...ir.ops.control.control import Control
from ...ir.ops.control.steps import Steps


def blocks_of(function: FuncOp) -> list[Block]:
    """Return the blocks of a function, outer ones first, without the insides of kernels."""
    found = list(function.body.blocks)
    for block in found:
        found += [inner for op in operations(block) if op.regions for inner in inner_blocks(op)]
    return found


def inner_blocks(op: Operation) -> list[Block]:
    """Return the blocks of a choice or a loop; none of any other operation."""
    if not op.regions or not isinstance(op, Control | Steps):
        return []
    return [block for region in op.regions for block in region.blocks]


def operations_of(function: FuncOp) -> Iterator[Operation]:
    """Give the operations of all blocks of a function, in the order of its text."""
    waiting = [function.body.block.first_op]
    while waiting:
        op = waiting.pop()
        if op is None:
            continue
        waiting.append(op._next_op)
        yield op
        if op.regions:
            waiting += [block.first_op for block in reversed(inner_blocks(op))]
