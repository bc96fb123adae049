"""Lay the buffers of the workspace over each other where their lives do not meet.

    %a = gv.buffer %workspace {offset = 0}            %a = gv.buffer %workspace {offset = 0}
    %b = gv.buffer %workspace {offset = 4096}    =>   %b = gv.buffer %workspace {offset = 0}
    ... %a is not used behind the launch that first writes %b ...

A kernel that reads an operand only at the element that it writes may write over it. Buffers
are placed largest first, each at the lowest gap; a second plan by start of life is tried
and the smaller one taken. The peak and the bound that no plan can beat (the largest sum of
buffers that live at one time) are written to the function, and to each launch the launches
that it waits for. Needs `bufferise`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ..ir import Program
from ..ir.attributes import to_attribute
from ..ir.levels import KIND
from ..ir.ops.structure import Buffer, Launch, View
from ..ir.placement import LOWER_BOUND, WORKSPACE, align
from ..ir.program import by_name, functions, ranges_of
from .analysis.alive import Alive
from .analysis.in_place import overwritable
from .analysis.storage import Storage, Waits
from .base import Pass
from .bufferise import highest


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

    def plan(self, program: Program, function: FuncOp) -> None:
        """Plan one function."""
        storages = Lives(self, program, function).storages()
        bound = max_live(storages)
        plans = [place(storages, key) for key in ORDERS]
        peak, offsets = min(plans, key=lambda plan: plan[0])
        for storage, offset in zip(storages, offsets, strict=True):
            storage.offset = offset
            for buffer in storage.buffers:
                buffer.properties["offset"] = to_attribute(offset)
        function.attributes[WORKSPACE] = IntegerAttr(peak, i64)
        function.attributes[LOWER_BOUND] = IntegerAttr(bound, i64)
        waits(function, storages)
        self.count("peak bytes", peak)
        self.count("max-live bytes", bound)


class Lives:
    """Finds the storages of one function's workspace, and when each lives."""

    def __init__(self, rewrite: PlanMemory, program: Program, function: FuncOp) -> None:
        self.rewrite, self.kernels = rewrite, by_name(program.module)
        self.ranges = ranges_of(program.module)
        self.launches = [op for op in function.body.block.ops if isinstance(op, Launch)]
        self.number = {launch: i for i, launch in enumerate(self.launches)}
        self.found: dict[SSAValue, Storage] = {}

    def storages(self) -> list[Storage]:
        """Return the storages in order of their first write."""
        order: list[Storage] = []
        for launch in self.launches:
            for position, operand in enumerate(launch.operands):
                buffer = _buffer(operand)
                if buffer is None:
                    continue
                storage = self.found.get(buffer.results[0])
                if storage is None and buffer.result_specs[0].size == 0:
                    buffer.properties["offset"] = to_attribute(0)
                    continue
                if storage is None:
                    storage = self.start(launch, position, buffer)
                    if len(storage.buffers) == 1:
                        order.append(storage)
                    self.found[buffer.results[0]] = storage
                storage.end = max(storage.end, self.number[launch])
        return order

    def start(self, launch: Launch, position: int, buffer: Buffer) -> Storage:
        """Return the storage of a buffer at its first write: an operand's, or a new one."""
        result = position - launch.plain_attributes()["inputs"]
        assert result >= 0, "a buffer is read before it is written"
        size = align(highest(buffer.result_specs[0].nbytes, self.ranges))
        storage = self.reused(launch, result, size) if self.rewrite.in_place else None
        if storage is None:
            now = self.number[launch]
            return Storage(size, now, now, [buffer])
        storage.buffers.append(buffer)
        self.rewrite.count("in place")
        return storage

    def reused(self, launch: Launch, result: int, size: int) -> Storage | None:
        """Return the storage of an operand that dies here and that the result may overwrite."""
        kernel = self.kernels[str(launch.plain_attributes()["kernel"])]
        for index in overwritable(kernel, result):
            value = launch.operands[index]
            operand = _buffer(value)
            storage = self.found.get(operand.results[0]) if operand is not None else None
            if storage is None or storage.size != size:
                continue
            dies = last_use(operand, self.number) <= self.number[launch]
            if dies and self.uses(launch, storage) == 1:
                return storage
        return None

    def uses(self, launch: Launch, storage: Storage) -> int:
        """Return how many operands of a launch lie in a storage, views of it included."""
        buffers = [_buffer(value) for value in launch.operands]
        return sum(b is not None and self.found.get(b.results[0]) is storage for b in buffers)


def last_use(buffer: Buffer | None, number: dict[Launch, int]) -> int:
    """Return the number of the last launch that uses a buffer or a view of it."""
    assert buffer is not None, "the buffer of an operand"
    last, values = -1, [buffer.results[0]]
    while values:
        for use in values.pop().uses:
            op = use.operation
            if isinstance(op, Launch):
                last = max(last, number[op])
            elif isinstance(op, View):
                values.append(op.results[0])
    return last


def _buffer(value: SSAValue) -> Buffer | None:
    """Return the buffer in the workspace behind a value, through views."""
    owner = value.owner
    while isinstance(owner, View):
        owner = owner.operands[0].owner
    if not isinstance(owner, Buffer) or owner.operands[0].name_hint == "weights":
        return None
    return owner


Order = Callable[[Storage], tuple[int, ...]]
ORDERS: tuple[Order, ...] = (
    lambda s: (-s.size, s.start),
    lambda s: (s.start, -s.size),
    lambda s: (-(s.end - s.start) * s.size, s.start),
)


def place(storages: Sequence[Storage], key: Order) -> tuple[int, list[int]]:
    """Return the peak and the offset of each storage, placed in the order of `key`."""
    alive = Alive(1 + max((storage.end for storage in storages), default=0))
    offsets: dict[Storage, int] = {}
    peak = 0
    for storage in sorted(storages, key=key):
        at = 0
        for low, high in sorted(alive.with_(storage.start, storage.end)):
            if low - at >= storage.size:
                break
            at = max(at, high)
        offsets[storage] = at
        alive.add(storage.start, storage.end, (at, at + storage.size))
        peak = max(peak, at + storage.size)
    return peak, [offsets[storage] for storage in storages]


def max_live(storages: Sequence[Storage]) -> int:
    """Return the largest sum of the sizes of storages that live at one time."""
    events: dict[int, int] = {}
    for storage in storages:
        events[storage.start] = events.get(storage.start, 0) + storage.size
        events[storage.end + 1] = events.get(storage.end + 1, 0) - storage.size
    live = most = 0
    for time in sorted(events):
        live += events[time]
        most = max(most, live)
    return most


def waits(function: FuncOp, storages: Sequence[Storage]) -> None:
    """Write to each launch the launches that it waits for."""
    of = {buffer: storage for storage in storages for buffer in storage.buffers}
    timeline = Waits()
    launches = [op for op in function.body.block.ops if isinstance(op, Launch)]
    for now, launch in enumerate(launches):
        inputs = launch.plain_attributes()["inputs"]
        before: set[int] = set()
        for position, operand in enumerate(launch.operands):
            buffer = _buffer(operand)
            storage = of.get(buffer) if buffer is not None else None
            if storage is not None:
                span = (storage.offset, storage.offset + storage.size)
                before |= timeline.access(span, now, write=position >= inputs)
        before.discard(now)
        if before:
            launch.properties["after"] = to_attribute(tuple(sorted(before)))
