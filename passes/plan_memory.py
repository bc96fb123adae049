"""Lay the buffers of the workspace over each other where their lives do not meet.

    %a = gv.buffer %workspace {offset = 0}            %a = gv.buffer %workspace {offset = 0}
    %b = gv.buffer %workspace {offset = 4096}    =>   %b = gv.buffer %workspace {offset = 0}
    ... %a is not used behind the launch that first writes %b ...

A kernel that reads an operand only at the element that it writes may write over it. Both sides of
a copy are one buffer where they never hold two values that are needed, and then nothing is
copied; so what a loop carries is changed in place where it can be. Buffers are placed largest
first, each at the lowest gap, and in two other orders; the smallest plan is taken. With very many
buffers only the plan by start of life is made, which never looks at all that live at one time. The
peak and the bound that no plan can beat (the largest sum of buffers that live at one time) are
written to the function, and to each launch the launches that it waits for. Needs `bufferise`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from ..ir import Program, erase, operands_of, operations, replace
from ..ir.levels import KIND
from ..ir.ops.control.steps import Steps
from ..ir.ops.structure import Buffer, Launch, View
from ..ir.placement import LOWER_BOUND, WORKSPACE, align
from ..ir.program import functions, ranges_of
from ..ir.types.attributes import integer_attribute, integers_attribute
from ..ir.types.tensor import spec_of
from .analysis.blocks import operations_of
from .analysis.memory.alive import Alive
from .analysis.memory.copies import is_copy
from .analysis.memory.gaps import Gaps
from .analysis.memory.lives import Lives
from .analysis.memory.storage import Sharing, Storage, Waits
from .base import Pass
from .bufferise import highest, within_memory


@dataclass(frozen=True)
class PlanMemory(Pass):
    """Lay the buffers of the workspace over each other."""

    LEVEL = "planned"
    in_place: bool = True

    def apply(self, program: Program) -> None:
        """Plan every function that launches kernels."""
        for function in functions(program.module):
            if KIND not in function.attributes:
                self.plan(program, function)
        erase_unused_copies(program.module)

    def plan(self, program: Program, function: FuncOp) -> None:
        """Plan one function."""
        lives = Lives(function)
        ranges = ranges_of(program.module)
        sizes = {root: align(highest(spec_of(root.type).nbytes, ranges)) for root in lives.lives}
        sharing = Sharing(program.module, lives, sizes)
        sharing.join_copies()
        if self.in_place:
            for launch in lives.steps:
                self.count("in place", sharing.join_in_place(launch))
        for launch in lives.steps:
            if sharing.is_idle(launch):
                erase(launch)
                self.count("copies left out")
        storages = [each for each in sharing.storages() if each.output is None]
        bound = max_live(storages)
        peak, offsets = best_plan(storages)
        within_memory(peak, "what is between kernels")
        for storage, offset in zip(storages, offsets, strict=True):
            storage.offset = offset
        settle(function, sharing)
        function.attributes[WORKSPACE] = IntegerAttr(peak, i64)
        function.attributes[LOWER_BOUND] = IntegerAttr(bound, i64)
        Timeline(sharing).write(function.body.block)
        self.count("peak bytes", peak)
        self.count("max-live bytes", bound)


def erase_unused_copies(module: ModuleOp) -> None:
    """Take away the kernels that copied what is not copied any more."""
    entries = [f for f in functions(module) if KIND not in f.attributes]
    launches = [op for f in entries for op in operations_of(f) if isinstance(op, Launch)]
    used = {op.kernel for op in launches}
    for function in functions(module):
        is_used = function.sym_name.data in used
        if KIND in function.attributes and not is_used and is_copy(function):
            erase(function)


def settle(function: FuncOp, sharing: Sharing) -> None:
    """Write to each buffer where it lies; what lies in an output becomes a view of it."""
    for buffer in [op for op in operations_of(function) if isinstance(op, Buffer)]:
        result = buffer.results[0]
        if sharing.lives.root(result) is None:
            continue  # a weight
        storage = sharing.of.get(result)
        output = storage.output if storage is not None else None
        if output is not None:
            replace(buffer, view_of(output, buffer))
        elif result.first_use is None:
            erase(buffer)
        else:
            buffer.properties["offset"] = integer_attribute(storage.offset if storage else 0)


def view_of(output: SSAValue, buffer: Buffer) -> SSAValue:
    """Return an output as the tensor that a buffer holds."""
    if output.type == buffer.results[0].type:
        return output
    view = View.as_spec(output, buffer.result_specs[0])
    assert buffer.parent is not None, "a buffer stands in a block"
    buffer.parent.insert_op_before(view, buffer)
    return view.results[0]


Order = Callable[[Storage], tuple[int, ...]]
ORDERS: tuple[Order, ...] = (
    lambda s: (-s.size, s.start),
    lambda s: (-(s.end - s.start + 2) // 2 * s.size, s.start),
)
MANY = 1024
"""With more storages only the plan by start of life is made."""


def best_plan(storages: Sequence[Storage]) -> tuple[int, list[int]]:
    """Return the smallest peak of all orders, and the offset of each storage."""
    plans = [place(storages, key) for key in ORDERS] if len(storages) <= MANY else []
    plans.append(place_by_start(storages))
    return min(plans, key=lambda plan: plan[0])


def place_by_start(storages: Sequence[Storage]) -> tuple[int, list[int]]:
    """Return the peak and the offset of each storage, placed when its life starts to its end."""
    gaps, peak = Gaps(), 0
    offsets: dict[Storage, int] = {}
    ends: list[tuple[int, int, int]] = []
    for storage in sorted(storages, key=lambda s: (s.start, -s.size)):
        while ends and ends[0][0] < storage.start:
            _, low, high = heappop(ends)
            gaps.release(low, high)
        at = offsets[storage] = gaps.lowest(storage.size)
        gaps.take(at, at + storage.size)
        heappush(ends, (storage.end, at, at + storage.size))
        peak = max(peak, at + storage.size)
    return peak, [offsets[storage] for storage in storages]


def place(storages: Sequence[Storage], key: Order) -> tuple[int, list[int]]:
    """Return the peak and the offset of each storage, placed in the order of `key`."""
    alive = Alive(1 + max((storage.end for storage in storages), default=0))
    offsets: dict[Storage, int] = {}
    peak = 0
    for storage in sorted(storages, key=key):
        at = 0
        taken = {place for span in storage.spans for place in alive.with_(*span)}
        for low, high in sorted(taken):
            if low - at >= storage.size:
                break
            at = max(at, high)
        offsets[storage] = at
        for span in storage.spans:
            alive.add(*span, (at, at + storage.size))
        peak = max(peak, at + storage.size)
    return peak, [offsets[storage] for storage in storages]


def max_live(storages: Sequence[Storage]) -> int:
    """Return the largest sum of the sizes of storages that live at one time."""
    events: dict[int, int] = {}
    for storage in storages:
        for low, high in storage.spans:
            events[low] = events.get(low, 0) + storage.size
            events[high + 1] = events.get(high + 1, 0) - storage.size
    live = most = 0
    for time in sorted(events):
        live += events[time]
        most = max(most, live)
    return most


class Timeline:
    """Writes to each launch the earlier ones of its block that it waits for.

    A choice or a loop begins when all before it is done, and what stands behind it begins when it
    is done.
    """

    def __init__(self, sharing: Sharing) -> None:
        self.sharing = sharing
        self.now = 0

    def write(self, block: Block) -> None:
        """Go through a block."""
        waits = Waits()
        for op in operations(block):
            if isinstance(op, Launch):
                self.launch(op, waits)
            elif isinstance(op, Steps):
                for inner in op.blocks:
                    self.write(inner)
                waits = Waits()

    def launch(self, launch: Launch, waits: Waits) -> None:
        """Find what a launch waits for."""
        inputs = launch.inputs
        before: set[int] = set()
        for position, operand in enumerate(operands_of(launch)):
            storage = self.sharing.storage_of(operand)
            if storage is not None and storage.output is None:
                span = (storage.offset, storage.offset + storage.size)
                before |= waits.access(span, self.now, write=position >= inputs)
        before.discard(self.now)
        if before:
            launch.properties["after"] = integers_attribute(tuple(sorted(before)))
        self.now += 1
