"""Merge equal operations on equal operands.

    %0 = gv.exp %x
    %1 = gv.exp %x          =>   %0 = gv.exp %x
    %2 = gv.add %0, %1           %2 = gv.add %0, %0

Operations with an effect stay apart, and so do those with regions. An operation in a region
is merged with an equal one before the region, unless the region sees nothing but its arguments.
The order of the operands of a commutative
operation does not matter. The same weight named twice is one. Needs nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from xdsl.ir import Block, Operation

from ..ir import Op, Program, erase, operands_of, operations, replace_uses
from ..ir.ops.structure import Isolated
from ..ir.program import functions
from .analysis.numbers import Numbers
from .base import Pass


@dataclass(frozen=True)
class CSE(Pass):
    """Merge equal operations."""

    KEEPS = frozenset({"cse"})

    def apply(self, program: Program) -> None:
        """Sweep each function once."""
        for function in functions(program.module):
            merger = Merger()
            for block in function.body.blocks:
                merger.sweep(block)
            self.count("merged", merger.merged)


class Merger:
    """Finds equal operations of one function by a key that is cheap to make."""

    def __init__(self) -> None:
        self.known: dict[Any, Operation] = {}
        self.number = Numbers()
        self.merged = 0

    def sweep(self, block: Block) -> None:
        """Merge the operations of a block with those visible there."""
        added = []
        for op in operations(block):
            if op.regions:
                outside = self.known
                self.known = {} if isinstance(op, Isolated) else outside
                for inner in [b for region in op.regions for b in region.blocks]:
                    self.sweep(inner)
                self.known = outside
                continue
            if not isinstance(op, Op) or not op.PURE:
                continue
            key = self.key(op)
            earlier = self.known.get(key)
            if earlier is None:
                self.known[key] = op
                added.append(key)
                continue
            for old, new in zip(op.results, earlier.results, strict=True):
                replace_uses(old, new)
            erase(op)
            self.merged += 1
        for key in added:  # what a region computes is not visible behind it
            del self.known[key]

    def key(self, op: Op) -> Any:
        """Return what equal operations have in common."""
        operands = [id(operand) for operand in operands_of(op)]
        if op.COMMUTATIVE:
            operands.sort()
        properties = op.properties
        if not properties:
            return type(op), *operands
        # Result types follow from operands and properties.
        named = [(name, self.number(properties[name])) for name in sorted(properties)]
        return type(op), *operands, *named
