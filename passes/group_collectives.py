"""Let collective operations that do not wait for each other go in one message.

    %0 = gv.all_reduce %a
    %1 = gv.all_reduce %b        =>   %0, %1 = gv.all_reduce %a, %b
    %2 = gv.add %0, %1                %2 = gv.add %0, %1

Reductions of one kind that are behind as many others are put where the last of them stands, as
long as a bucket has room: so many small gradients cost one wait. What is there first is in the
first bucket, so that this one need not wait for the last gradient. Needs nothing; before
`cut-host`, which cuts at each of them. All ranks have the same program, so that they group alike.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Block, Operation

from ..ir import Program, spec_of
from ..ir.ops.host.collective import AllReduce
from ..ir.program import functions
from .analysis.effects import is_pure
from .analysis.walks import ready
from .base import Pass


@dataclass(frozen=True)
class GroupCollectives(Pass):
    """Let several reductions over ranks go in one message."""

    LEVEL = "graph"

    most: int = 25 << 20
    """Bytes of a bucket; a larger operand goes by itself."""

    def apply(self, program: Program) -> None:
        """Group the reductions of each function."""
        for function in functions(program.module):
            block = function.body.block
            for ops in self.buckets(block):
                if len(ops) > 1:
                    self.join(block, ops)

    def buckets(self, block: Block) -> list[list[AllReduce]]:
        """Return the reductions that go together."""
        found: dict[tuple[int, str], list[list[AllReduce]]] = {}
        sizes: dict[int, int] = {}
        places = {op: place for place, op in enumerate(block.ops)}
        behind_of = depths(block)
        reductions = [op for op in places if isinstance(op, AllReduce)]
        for op in sorted(reductions, key=lambda op: ready(op, places)):
            depth = behind_of[op]
            key = (depth, str(op.plain_attributes()["how"]))
            size = sum(bytes_of(operand) for operand in op.operands)
            line = found.setdefault(key, [[]])
            if line[-1] and sizes.get(id(line[-1]), 0) + size > self.most:
                line.append([])
            line[-1].append(op)
            sizes[id(line[-1])] = sizes.get(id(line[-1]), 0) + size
        lines = [ops for line in found.values() for ops in line]
        return [sorted(ops, key=places.__getitem__) for ops in lines]

    def join(self, block: Block, ops: list[AllReduce]) -> None:
        """Put one operation in the place of the last of several; what uses them comes behind it."""
        users = behind(block, ops)
        if not all(map(is_pure, users)):
            return  # effects keep their order
        for op in users:
            block.detach_op(op)
        operands = [operand for op in ops for operand in op.operands]
        made = AllReduce.make(*operands, how=str(ops[0].plain_attributes()["how"]))
        block.insert_ops_after([made, *users], ops[-1])
        for old, new in zip((r for op in ops for r in op.results), made.results, strict=True):
            old.replace_all_uses_with(new)
        for op in ops:
            block.erase_op(op)
        self.count("grouped", len(ops))


def depths(block: Block) -> dict[Operation, int]:
    """Return behind how many reductions, one behind the other, each operation stands."""
    found: dict[Operation, int] = {}
    for op in block.ops:
        owners = [value.owner for inner in op.walk() for value in inner.operands]
        before = [
            found[owner] + isinstance(owner, AllReduce)
            for owner in owners
            if isinstance(owner, Operation) and owner in found
        ]
        found[op] = max(before, default=0)
    return found


def behind(block: Block, ops: list[AllReduce]) -> list[Operation]:
    """Return what stands before the last of some operations and needs one of them."""
    moved: set[Operation] = set(ops)
    found: list[Operation] = []
    for op in list(block.ops):
        if op is ops[-1]:
            break
        owners = {value.owner for inner in op.walk() for value in inner.operands}
        if op not in moved and owners & moved:
            moved.add(op)
            found.append(op)
    return found


def bytes_of(value: object) -> int:
    """Return the size of a value; of one whose size is not known, that of a bucket."""
    spec = spec_of(value.type)  # type: ignore[attr-defined]
    return spec.nbytes if spec.is_static and isinstance(spec.nbytes, int) else 1 << 62
