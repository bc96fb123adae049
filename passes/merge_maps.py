"""Compute element-wise kernels of one shape together, where one reads what the other makes.

    %a = gv.kernel %x ({ exp }) {kind = "map"}             %a, %b = gv.kernel %x, %y ({
    %b = gv.kernel %a, %y ({ add }) {kind = "map"}    =>       exp, add; yield both
                                                           }) {kind = "map"}

`fuse` gives a kernel one result, so that what has several users is stored first and read again
by each. The merged kernel stands where the reader stood: everything else that uses the first
result must stand behind, so that no cycle can arise. Results that only the reader used are not
stored any more. What moves elements across the memory of a processor stays by itself, as `fuse` has
left it. Needs `fuse`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Attribute, Block, Operation, SSAValue

from ..ir import (
    SOURCE,
    Op,
    Program,
    block_for,
    erase,
    move_operations,
    operands_of,
    operations,
    replace_uses,
    uses_of,
)
from ..ir.ops.structure import Kernel, Yield
from ..ir.program import functions
from .analysis.blocks import blocks_of
from .analysis.kernels.reads import turns
from .analysis.memory.in_place import is_aligned
from .analysis.targets import target_of
from .base import Pass

MAX_MEMBERS = 96
"""A kernel with more operations would spill registers and take long to compile."""


@dataclass(frozen=True)
class MergeMaps(Pass):
    """Compute element-wise kernels of one shape together."""

    LEVEL = "fused"

    def apply(self, program: Program) -> None:
        """Merge in every function, from the first kernel to the last."""
        alone = target_of(program).can.walk_vectors
        for block in [b for f in functions(program.module) for b in blocks_of(f)]:
            order: Order = {op: number for number, op in enumerate(operations(block))}
            for op in list(order):
                reader = op
                while isinstance(reader, Kernel):
                    maker = find_maker(reader, order, alone=alone)
                    if maker is None:
                        break
                    made = merge(maker, reader, block)
                    order[made], reader = order[reader], made
                    self.count("merged")


Order: TypeAlias = dict[Operation, int]
"""The place of each operation of a block; what stands elsewhere has none."""


def find_maker(reader: Kernel, order: Order, *, alone: bool) -> Kernel | None:
    """Return a kernel that can be computed together with the reader of its result.

    Those that only move across memory stay `alone`.
    """
    if reader.kind == "map":
        for operand in operands_of(reader):
            maker = operand.owner
            if not isinstance(maker, Kernel) or maker not in order:
                continue
            turned = alone and any(isinstance(op, Op) and turns(op) for op in maker.body.ops)
            if not turned and fits(maker, reader, order):
                return maker
    return None


def fits(maker: Kernel, reader: Kernel, order: Order) -> bool:
    """Say whether a kernel and the map that reads it can be one."""
    if maker.kind != "map":
        return False
    dims = reader.result_specs[0].dims
    if any(spec.dims != dims for spec in (*maker.result_specs, *reader.result_specs)):
        return False
    place = order[reader]
    users = [use._operation for use in uses_of(maker)]
    if any(order.get(user, -1) <= place and user is not reader for user in users):
        return False
    if len(operations(maker.body)) + len(operations(reader.body)) > MAX_MEMBERS:
        return False
    for operand, argument in zip(operands_of(reader), reader.body.args, strict=True):
        if operand.owner is maker and not is_aligned(argument, dims):
            return False
    return True


def merge(
    maker: Kernel, reader: Kernel, block: Block, kind: str = "map", *, keep: bool = False
) -> Kernel:
    """Replace two kernels by one of a kind that stands where the reader stood.

    It also gives what others need of the first one's results, or all of them, to `keep` them.
    """
    read_too = [v for v in operands_of(reader) if v.owner is not maker]
    operands = list(dict.fromkeys([*operands_of(maker), *read_too]))
    body = block_for(operands)
    outer: dict[SSAValue, SSAValue] = dict(zip(operands, body.args, strict=True))
    made = move_body(maker, outer, body)
    outer.update(zip(maker.results, made, strict=True))
    read = move_body(reader, outer, body)
    users = [{use._operation for use in result.uses} for result in maker.results]
    kept = [r for r, of in zip(maker.results, users, strict=True) if keep or of - {reader}]
    body.add_op(Yield.create(operands=[*(outer[r] for r in kept), *read]))
    kernel = Kernel.make_from(operands, body, kind)
    sources = merged_sources(maker, reader)
    if sources:
        kernel.attributes[SOURCE] = ArrayAttr(sources)
    block.insert_op_before(kernel, reader)
    for old, new in zip([*kept, *reader.results], kernel.results, strict=True):
        new.name_hint = old.name_hint
        replace_uses(old, new)
    erase(reader)
    erase(maker)
    return kernel


def move_body(kernel: Kernel, outer: dict[SSAValue, SSAValue], body: Block) -> Sequence[SSAValue]:
    """Move a kernel's operations into a block; return what it yields."""
    for argument, operand in zip(kernel.body.args, operands_of(kernel), strict=True):
        replace_uses(argument, outer[operand])
    made, last = kernel.yielded, kernel.body.last_op
    assert last is not None, "the body of a kernel ends in gv.yield"
    erase(last)
    move_operations(kernel.body, body)
    return made


def merged_sources(*kernels: Kernel) -> Sequence[Attribute]:
    """Return the source nodes of all kernels, each once."""
    rows = [kernel.attributes.get(SOURCE) for kernel in kernels]
    return list(dict.fromkeys(s for row in rows if isinstance(row, ArrayAttr) for s in row.data))
