"""Stretches of the workspace: which buffers share one, and who waits for whom because of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import islice

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ....ir import operands_of
from ....ir.ops.structure import Buffer, Launch
from ....ir.program import by_name
from .copies import is_copy
from .in_place import overwritable
from .lives import Access, Life, Lives, Span


@dataclass(eq=False)
class Storage:
    """A stretch of bytes that one or more buffers use, one after the other."""

    size: int
    life: Life
    buffers: list[SSAValue] = field(default_factory=list)
    """Buffers in the workspace, and at most one output."""
    offset: int = 0
    output: SSAValue | None = None
    """The output that it is, if it is one and lies in no workspace."""

    def __post_init__(self) -> None:
        self.output = next((b for b in self.buffers if not isinstance(b.owner, Buffer)), None)

    @property
    def spans(self) -> Sequence[Span]:
        """Return when it is in use."""
        return self.life.spans

    @property
    def start(self) -> int:
        """Return the first point where it is in use."""
        return self.spans[0][0]

    @property
    def end(self) -> int:
        """Return the last point where it is in use."""
        return self.spans[-1][1]


class Sharing:
    """Finds buffers that can be one storage: what is copied, and what is written over."""

    def __init__(self, module: ModuleOp, lives: Lives, sizes: dict[SSAValue, int]) -> None:
        self.kernels = by_name(module)
        self.lives = lives
        self.of: dict[SSAValue, Storage] = {
            root: Storage(sizes[root], life, [root])
            for root, life in lives.lives.items()
            if sizes[root] and life.spans
        }
        self._copies: dict[str, bool] = {}
        self._over: dict[tuple[str, int], list[int]] = {}

    def storages(self) -> list[Storage]:
        """Return the storages, in the order of their first use."""
        return sorted(dict.fromkeys(self.of.values()), key=lambda storage: storage.start)

    def storage_of(self, value: SSAValue) -> Storage | None:
        """Return where a value lies; None for inputs, weights, and what has no elements."""
        root = self.lives.root(value)
        return None if root is None else self.of.get(root)

    def join_copies(self) -> None:
        """Let both sides of copies be one storage where they can, those in most loops first."""
        writes = {
            access.launch: access
            for life in self.lives.lives.values()
            for access in life.writes
            if self.is_copy(access.launch)
        }
        order = sorted(writes.values(), key=lambda access: (-access.depth, -access.step))
        for access in order:
            source, target = map(self.storage_of, access.launch.operands)
            if source is not None and target is not None:
                self.joins(source, target)

    def is_idle(self, launch: Launch) -> bool:
        """Say whether a launch copies a storage to itself, and not an argument to an output."""
        if not self.is_copy(launch) or self.lives.is_argument(launch.operands[0]):
            return False
        source, target = map(self.storage_of, launch.operands)
        return source is target is not None

    def join_in_place(self, launch: Launch) -> int:
        """Let results lie where operands lay that end here; return how many."""
        inputs = launch.inputs
        return sum(
            self._lies_over(launch, self.storage_of(result), number)
            for number, result in enumerate(operands_of(launch)[inputs:])
        )

    def _lies_over(self, launch: Launch, result: Storage | None, number: int) -> bool:
        if result is None or result.output is not None:
            return False
        for index in self.overwritable(launch, number):
            operand = self.storage_of(operands_of(launch)[index])
            if operand is None or operand.output is not None or operand is result:
                continue
            if self.joins(operand, result):
                return True
        return False

    def joins(self, a: Storage, b: Storage) -> bool:
        """Make one storage of two if they never hold two values that are needed."""
        if a is b:
            return True
        fixed = a.output is not None and b.output is not None
        if fixed or a.size != b.size or self.clash(a, b) or self.clash(b, a):
            return False
        if len(a.life.reads) + len(a.life.writes) < len(b.life.reads) + len(b.life.writes):
            a, b = b, a
        for buffer in b.buffers:
            self.of[buffer] = a
        a.buffers += b.buffers
        a.output = a.output or b.output
        a.life.take(b.life)
        return True

    def clash(self, written: Storage, other: Storage) -> bool:
        """Say whether a write of one would destroy what is needed of the other."""
        writes = written.life.writes
        first = bisect_left(writes, other.start // 2, key=lambda access: access.step)
        for access in islice(writes, first, None):
            if access.step > other.end // 2:
                break
            if self._destroys(access, other.life):
                return True
        return False

    def _destroys(self, access: Access, other: Life) -> bool:
        step = access.step
        if other.covers(2 * step + 1):
            return not (step in other.reads and self.is_copy(access.launch))
        read = other.reads.get(step, ())
        return not set(read) <= set(self.overwritable(access.launch, access.result))

    # -- kernels --------------------------------------------------------------------------

    def is_copy(self, launch: Launch) -> bool:
        """Say whether a launch does nothing but copy."""
        name = launch.kernel
        if name not in self._copies:
            self._copies[name] = is_copy(self.kernels[name])
        return self._copies[name]

    def overwritable(self, launch: Launch, result: int) -> list[int]:
        """Return the operands that a result may be written over."""
        key = launch.kernel, result
        if key not in self._over:
            self._over[key] = overwritable(self.kernels[launch.kernel], result)
        return self._over[key]


@dataclass
class _Segment:
    high: int
    writer: int
    readers: list[int]


class Waits:
    """For each byte of the workspace, who wrote it last and who has read it since."""

    def __init__(self) -> None:
        self.lows: list[int] = []
        """The first byte of each segment."""
        self.segments: list[_Segment] = []

    def access(self, span: tuple[int, int], now: int, *, write: bool) -> set[int]:
        """Record an access; return the launches that must be done before."""
        found: set[int] = set()
        first, last = self._cut(*span)
        for segment in self.segments[first:last]:
            if segment.writer >= 0:
                found.add(segment.writer)
            if write:
                found.update(segment.readers)
            else:
                segment.readers.append(now)
        if write:
            self.lows[first:last] = [span[0]]
            self.segments[first:last] = [_Segment(span[1], now, [])]
        return found

    def _cut(self, low: int, high: int) -> tuple[int, int]:
        """Split segments at both ends; return the first of those inside and the one behind."""
        return self._split(low), self._split(high)

    def _split(self, point: int) -> int:
        """Let a segment end at a point, if one goes over it; return which is the first behind."""
        index = bisect_left(self.lows, point)
        before = self.segments[index - 1] if index else None
        if before is not None and point < before.high:
            rest = _Segment(before.high, before.writer, before.readers.copy())
            before.high = point
            self.lows.insert(index, point)
            self.segments.insert(index, rest)
        return index
