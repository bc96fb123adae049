"""Compute products of one tensor with several weights as one product.

    %q = gv.matmul %x, %wq                %w = gv.concat %wq, %wk, %wv
    %k = gv.matmul %x, %wk       =>       %y = gv.matmul %x, %w
    %v = gv.matmul %x, %wv                %q, %k, %v = slices of %y

Offsets that each product alone has are joined, too. It pays where the products are narrow: one
large product uses the machine better and reads the tensor once. Where one of them is wider than
`width` columns already, all stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, SSAValue

from ..ir import REGISTRY, GraphEmit, Op, Program, replace
from ..ir.program import functions
from .analysis.blocks import blocks_of
from .analysis.constants import Known
from .analysis.rewrite import spec
from .base import Pass


@dataclass(frozen=True)
class MergeMatmuls(Pass):
    """Compute products of one tensor with several weights as one product."""

    LEVEL = "graph"
    NUMERICS = "reassociating"

    width: int = 1024
    """Columns from which a product is wide enough by itself."""

    def apply(self, program: Program) -> None:
        """Merge in each function."""
        for function in functions(program.module):
            for block in blocks_of(function):
                self.merge_in(block)

    def merge_in(self, block: Block) -> None:
        """Merge the products of a block."""
        known = Known()
        groups: dict[tuple[object, ...], list[Op]] = {}
        for op in block.ops:
            if op.name == "gv.matmul" and isinstance(op, Op) and self.fits(op, known):
                attributes = op.plain_attributes()
                key = (op.operands[0], *attributes.values(), *spec(op.operands[1]).dims[:-2])
                groups.setdefault(key, []).append(op)
        several = [group for group in groups.values() if len(group) > 1]
        places = {op: place for place, op in enumerate(block.ops)} if several else {}
        for group in several:
            Merger(group, known, places).merge()
            self.count("products", len(group))
            self.count("merged into")

    def fits(self, op: Op, known: Known) -> bool:
        """Say whether a product is narrow, with a fixed matrix on the right."""
        lhs, rhs = op.operands
        columns = spec(op.results[0]).dims[-1]
        return (
            isinstance(columns, int)
            and columns < self.width
            and spec(rhs).rank == 2
            and known.is_fixed(rhs)
            and not known.is_fixed(lhs)
        )


@dataclass
class Merger:
    """Merges products of one tensor."""

    group: Sequence[Op]
    known: Known
    places: dict[Operation, int]

    def merge(self) -> None:
        """Put one product and its slices where the first product was."""
        first = self.group[0]
        offsets = [self.offset(op) for op in self.group]
        emit = GraphEmit.before(first)
        swapped = bool(first.plain_attributes()["transpose_rhs"])
        weights = [self.earlier(op.operands[1], first) for op in self.group]
        weight = emit(REGISTRY["gv.concat"], *weights, axis=0 if swapped else 1)
        made = emit(type(first), first.operands[0], weight, **first.plain_attributes())
        if all(offset is not None for offset in offsets):
            self.add_offsets(emit, made, [o for o in offsets if o is not None])
        else:
            self.cut(emit, made, self.group)

    def offset(self, op: Op) -> Op | None:
        """Return the sum of the product and a fixed row, if that is its only use."""
        user = op.results[0].get_user_of_unique_use()
        if not isinstance(user, Op) or user.name != "gv.add":
            return None
        other = next(v for v in user.operands if v is not op.results[0])
        shape = spec(op.results[0]).dims[-1:]
        same = user.results[0].type == op.results[0].type
        fits = same and spec(other).dims == shape and self.known.is_fixed(other)
        return user if fits else None

    def add_offsets(self, emit: GraphEmit, made: SSAValue, sums: Sequence[Op]) -> None:
        """Add the joined rows, and cut the sum."""
        first = self.group[0]
        rows = [
            self.earlier(next(v for v in add.operands if v is not op.results[0]), first)
            for op, add in zip(self.group, sums, strict=True)
        ]
        joined = emit(REGISTRY["gv.concat"], *rows, axis=0)
        total = emit(REGISTRY["gv.add"], made, joined)
        self.cut(emit, total, sums)
        for op in self.group:
            erase(op)

    def cut(self, emit: GraphEmit, made: SSAValue, replaced: Sequence[Op]) -> None:
        """Let slices of the last axis stand for operations."""
        shape, start, parts = spec(made).dims, 0, []
        for op in replaced:
            width = spec(op.results[0]).dims[-1]
            assert isinstance(width, int), "merged products have known columns"
            starts = (*(0 for _ in shape[:-1]), start)
            stops = (*shape[:-1], start + width)
            attributes = {"starts": starts, "stops": stops, "steps": (1,) * len(shape)}
            parts.append(emit(REGISTRY["gv.slice"], made, **attributes))
            start += width
        for op, part in zip(replaced, parts, strict=True):
            replace(op, part)

    def earlier(self, value: SSAValue, anchor: Op) -> SSAValue:
        """Return the fixed value, moved before the anchor with what it is made of."""
        waiting = [value.owner]
        moved: list[Operation] = []
        while waiting:
            op = waiting.pop()
            if isinstance(op, Op) and self.places.get(op, -1) > self.places[anchor]:
                moved.append(op)
                waiting += [operand.owner for operand in op.operands]
        for op in sorted(set(moved), key=lambda op: self.places[op]):
            block = anchor.parent
            assert block is not None, "the first product stands in a block"
            op.detach()  # type: ignore[no-untyped-call]
            block.insert_op_before(op, anchor)
            self.places[op] = self.places[anchor] - 1
        return value


def erase(op: Op) -> None:
    """Erase an operation that nothing uses any more."""
    assert op.parent is not None, f"{op.name} stands nowhere"
    op.parent.erase_op(op)
