"""The blocks of a function: its own, and those of the choices and loops in it."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation

from ...ir.ops.control import Control
from ...ir.ops.steps import Steps


def blocks_of(function: FuncOp) -> list[Block]:
    """Return the blocks of a function, outer ones first, without the insides of kernels."""
    found = list(function.body.blocks)
    for block in found:
        found += [inner for op in block.ops for inner in inner_blocks(op)]
    return found


def inner_blocks(op: Operation) -> list[Block]:
    """Return the blocks of a choice or a loop; none of any other operation."""
    if not op.regions or not isinstance(op, Control | Steps):
        return []
    return [block for region in op.regions for block in region.blocks]


def operations_of(function: FuncOp) -> Iterator[Operation]:
    """Give the operations of all blocks of a function, in the order of its text."""
    waiting = [iter(function.body.block.ops)]
    while waiting:
        op = next(waiting[-1], None)
        if op is None:
            waiting.pop()
            continue
        yield op
        waiting += [iter(block.ops) for block in reversed(inner_blocks(op))]
