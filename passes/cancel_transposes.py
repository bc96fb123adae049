"""Bring transposes together over what stands between them, so that they merge or vanish.

    %0 = gv.transpose %x [0, 2, 3, 1]
    %1 = gv.relu %0                        =>   %1 = gv.relu %x
    %2 = gv.transpose %1 [0, 3, 1, 2]

Between the two may stand operations that can be computed in the other order as well (see
`rules/layouts.py`), reshapes included, as long as nothing else uses the values on the way and
their other operands are fixed or scalars. Of two transposes, at most one is left.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import Block, SSAValue

from ..ir import Op, Program
from ..ir.program import functions
from .analysis.blocks import blocks_of
from .analysis.constants import Known
from .analysis.rewrite import spec
from .base import Pass
from .choose_layout import Sweep
from .rules import layouts

FARTHEST = 12
"""The most operations between two transposes."""


@dataclass(frozen=True)
class CancelTransposes(Pass):
    """Bring transposes together, so that they merge or vanish."""

    LEVEL = "graph"
    NUMERICS = "reassociating"

    def apply(self, program: Program) -> None:
        """Find the transposes that have another behind them, and sweep each block once."""
        rules = layouts.all_rules()
        for function in functions(program.module):
            for block in blocks_of(function):
                sweep = Cancel(rules)
                sweep.find(block)
                if sweep.starts:
                    sweep.run(block)
                    self.count("brought together", len(sweep.starts))


@dataclass
class Cancel(Sweep):
    """A sweep that starts at transposes and follows certain operations only."""

    starts: dict[Op, None] = field(default_factory=dict)
    followed: dict[Op, None] = field(default_factory=dict)

    def find(self, block: Block) -> None:
        """Find pairs of transposes and what stands between them."""
        self.known = Known()
        for op in block.ops:
            if isinstance(op, Op) and op.name == "gv.transpose" and op not in self.followed:
                path = self.path_to_transpose(op)
                if path:
                    *between, start = path
                    self.starts[start] = None
                    self.followed |= dict.fromkeys([*between, op])

    def path_to_transpose(self, op: Op) -> list[Op]:
        """Return the operations above a transpose up to another, that included; or none."""
        path: list[Op] = []
        value = op.operands[0]
        while len(path) <= FARTHEST:
            owner = value.owner
            if not isinstance(owner, Op) or not value.has_one_use() or owner in self.followed:
                return []
            path.append(owner)
            if owner.name == "gv.transpose":
                return path
            followed = [v for v in owner.operands if not self.is_cheap(v)]
            if len(followed) != 1 or not self.fits(owner, followed[0]):
                return []
            value = followed[0]
        return []

    def is_cheap(self, value: SSAValue) -> bool:
        """Say whether to bring a value into another order costs nothing at run time."""
        return spec(value).size == 1 or self.known.is_fixed(value)

    def fits(self, op: Op, value: SSAValue) -> bool:
        """Say whether an operation can be computed in the order of an operand."""
        rank = max(spec(v).rank for v in op.operands)
        plain = len(op.results) == 1 and not op.regions and op.name in self.rules
        return plain and spec(value).rank == rank

    def visit(self, op: Op) -> None:
        """Start at a transpose, or follow."""
        if op in self.starts:
            self.sources[op.results[0]] = op.operands[0], op.plain_attributes()["order"]
            self.replaced.append(op)
        elif op in self.followed:
            super().visit(op)
