"""Cut a program where values go from one device to another: parts become functions of a device.

    %0 = gv.exp %x {gv.device = "gpu:0"}        %0 = func.call @gpu0_0(%x)
    %1 = gv.neg %0 {gv.device = "gpu:0"}  =>    %1 = gv.tanh %0
    %2 = gv.tanh %1

An operation without a device stays, for the processor. One that is behind as many edges between
devices as another of its device is in the same part: so there are as few parts as the longest way
has edges. Constants and weights are copied into each part that uses them. What runs a part says
how its operands get there (`frontend/models/pieces.py`). Needs nothing; works on `main` only, so a
choice or a loop is on one device as a whole.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation, SSAValue

from ..ir import DEVICE, Op, Program
from ..ir.host import is_host
from .base import Pass
from .cut_host import Segment, is_source


@dataclass(frozen=True)
class CutDevices(Pass):
    """Cut a program where values go from one device to another."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Cut `main`."""
        block = program.main.body.block
        if all(device_of(op) == "" for op in block.ops):
            return
        last = block.last_op
        assert last is not None, "a block ends in a terminator"
        stages = edges_before(block)
        free = [op for op in block.ops if is_source(op)]
        groups: dict[tuple[int, str], list[Operation]] = {}
        for op in list(block.ops):
            block.detach_op(op)
            if op is not last and not is_source(op):
                groups.setdefault((stages[op], device_of(op)), []).append(op)
        kept = free
        for (_, device), ops in sorted(groups.items(), key=lambda row: row[0]):
            kept += self.outlined(ops, device, program) if device else ops
        block.add_ops([*kept, last])
        for op in kept:
            op.attributes.pop(DEVICE, None)
            if is_source(op) and all(result.first_use is None for result in op.results):
                block.erase_op(op)

    def outlined(self, ops: Sequence[Operation], device: str, program: Program) -> list[Operation]:
        """Make operations a function; return the call of it, and what it needs before."""
        number = self.counts.get("parts", 0)
        self.count("parts")
        group = [op for op in ops if isinstance(op, Op)]
        segment = Segment(f"{device.replace(':', '')}_{number}", group)
        segment.function.attributes[DEVICE] = StringAttr(device)
        for op in segment.function.body.block.ops:
            op.attributes.pop(DEVICE, None)
        program.module.body.block.add_op(segment.function)
        return [*segment.rooms, segment.call]


def device_of(op: Operation) -> str:
    """Return the device that an operation is to run on; none for the processor."""
    row = op.attributes.get(DEVICE)
    found = row.data if isinstance(row, StringAttr) else ""
    return "" if found == "cpu:0" or is_host(op) else found


def edges_before(block: Block) -> dict[Operation, int]:
    """Return for each operation over how many edges between devices its operands have come."""
    found: dict[Operation, int] = {}
    made: dict[SSAValue, Operation] = {}
    for op in block.ops:
        before = [made[operand] for operand in op.operands if operand in made]
        steps = [
            found[each] + (device_of(each) != device_of(op))
            for each in before
            if not is_source(each)
        ]
        found[op] = max(steps, default=0)
        made.update(dict.fromkeys(op.results, op))
    return found
