"""Bring images into the order that kernels want: channels last.

    %0 = gv.conv %x, %w                    %0 = gv.transpose %x [0, 2, 3, 1]
    %1 = gv.relu %0                        %1 = gv.conv %0, %w {channels_last = true}
    %2 = gv.conv %1, %v           =>       %2 = gv.relu %1
    func.return %2                         %3 = gv.conv %2, %v {channels_last = true}
                                           %4 = gv.transpose %3 [0, 3, 1, 2]
                                           func.return %4

Convolutions and pools are computed channels-last, in any number of spatial axes; weights keep
their order. What follows is computed in that order too, as long as it can be (see
`rules/layouts.py`); values go back to the old order where something else needs them, and at
the end. Where operands in both orders meet, the larger ones win.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from xdsl.ir import Block, SSAValue

from ..ir import GraphEmit, Op, Program, erase, operations
from ..ir.program import functions
from .analysis.constants import Known
from .analysis.orders import Order, compose, is_plain, move
from .analysis.rewrite import producer, spec
from .base import Pass
from .rules import layouts


@dataclass(frozen=True)
class ChooseLayout(Pass):
    """Bring images into the order that kernels want: channels last."""

    LEVEL = "graph"
    NUMERICS = "approximate"

    def apply(self, program: Program) -> None:
        """Sweep each block, regions included."""
        rules = layouts.all_rules()
        waiting = [block for f in functions(program.module) for block in f.body.blocks]
        for block in waiting:
            sweep = Sweep(rules)
            sweep.run(block)
            self.count("computed channels last", len(sweep.replaced))
            self.count("transposes", sweep.transposes)
            waiting += [b for op in block.ops for r in op.regions for b in r.blocks]


@dataclass
class Sweep:
    """One way through a block: what is computed in another order, and from what."""

    rules: Mapping[str, layouts.Rule]
    known: Known = field(default_factory=Known)
    sources: dict[SSAValue, tuple[SSAValue, Order]] = field(default_factory=dict)
    """For a value v, u and order with v = transpose(u, order)."""
    made: dict[tuple[SSAValue, Order], SSAValue] = field(default_factory=dict)
    """Values in other orders, by the value and the order."""
    replaced: list[Op] = field(default_factory=list)
    """Operations that something in another order stands for, in their order."""
    transposes: int = 0
    emit: GraphEmit | None = None

    def run(self, block: Block) -> None:
        """Compute what can be in another order, then give the rest what it needs."""
        for op in operations(block):
            if isinstance(op, Op) and len(op.results) == 1 and not op.regions:
                self.visit(op)
        for op in reversed(self.replaced):
            result = op.results[0]
            if result.first_use is not None:
                # Not from `made`: that may stand behind the first use.
                result.replace_all_uses_with(self.back(op))
            erase(op)

    def back(self, op: Op) -> SSAValue:
        """Return the result of a replaced operation in its own order."""
        value, order = self.sources[op.results[0]]
        made = move(GraphEmit.before(op), value, order)
        self.transposes += producer(made, "transpose") is not None
        return made

    def visit(self, op: Op) -> None:
        """Compute one operation in another order, if it is an image's or follows from one."""
        if layouts.is_image_operation(op):
            self.emit = GraphEmit.before(op)
            source = op.operands[0]
            order = layouts.channels_last_order(spec(source).rank)
            moved = layouts.image_rule(op)(layouts.Moving(op, order, source, self, self.emit))
        else:
            rule = self.rules.get(op.name)
            leader = self.leader(op) if rule is not None else None
            if rule is None or leader is None:
                return
            self.emit = GraphEmit.before(op)
            order = self.sources[leader][1]
            moved = rule(layouts.Moving(op, order, leader, self, self.emit))
        if moved is None:
            return
        if is_plain(moved[1]):
            op.results[0].replace_all_uses_with(moved[0])
        else:
            self.sources[op.results[0]] = moved
        self.replaced.append(op)

    def leader(self, op: Op) -> SSAValue | None:
        """Return the operand whose order the operation follows, None if it keeps its own."""
        if not self.sources:
            return None
        moved = [v for v in op.operands if v in self.sources]
        if not moved:
            return None
        rank = max(spec(v).rank for v in op.operands)
        wide = [v for v in moved if spec(v).rank == rank]
        others = [v for v in op.operands if v not in self.sources and self.is_costly(v, rank)]
        if not wide or size(others) > size(wide):
            return None
        return wide[0]

    def is_costly(self, value: SSAValue, rank: int) -> bool:
        """Say whether to bring a value into another order takes time in each call."""
        shape = spec(value).dims
        many = sum(dim != 1 for dim in shape) > 1
        if not many or len(shape) < rank or producer(value, "transpose") is not None:
            return False
        return not self.known.is_fixed(value)

    def version(self, value: SSAValue, order: Order) -> SSAValue:
        """Return the value transposed by an order, from what is at hand."""
        source = self.sources.get(value)
        if source is None and (op := producer(value, "transpose")) is not None:
            source = op.operands[0], op.plain_attributes()["order"]
        if source is None:
            return self.move(value, order)
        return self.move(source[0], compose(source[1], order))

    def move(self, value: SSAValue, order: Order) -> SSAValue:
        """Return the value in another order; each is made once."""
        if is_plain(order):
            return value
        found = self.made.get((value, order))
        if found is None:
            assert self.emit is not None, "values are moved while an operation is visited"
            found = self.made[value, order] = move(self.emit, value, order)
            is_transpose = producer(found, "transpose") is not None
            self.transposes += is_transpose and not self.known.is_fixed(value)
        return found


def size(values: list[SSAValue]) -> int:
    """Return the number of elements; a symbolic dimension counts as one element."""
    total = 0
    for value in values:
        count = 1
        for dim in spec(value).dims:
            count *= dim if isinstance(dim, int) else 1
        total += count
    return total
