"""Where a program can be cut so that what it keeps for later is made again from less.

    forward    c0 . . . c1 . . . c2 . . .|                 of each stretch only its first values are
    back                                 |. . . . . . .    kept; a stretch is made again when the
               ^ stretch ^               ^ turn            way back comes to it

The turn is where most is kept: values that were used, and are used again much later. Before it lie
stretches, about as many as leave the least: what is kept at cuts, and one stretch as a whole.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ....ir import Op
from ....ir.ops.structure import Constant, Weight
from ....ir.types import dims
from ....ir.types.dims import Range
from ....ir.types.tensor import spec_of

UNBOUNDED = 1 << 20
"""Counted for a symbol without an upper bound."""
MOST = 64
"""Stretches at most."""
GAIN = 0.8
"""What is kept must become less than this part of it, or nothing is made again."""


def largest_bytes(value: SSAValue, ranges: dict[str, Range]) -> int:
    """Return the bytes of a tensor at the largest symbols."""
    size = spec_of(value.type).nbytes
    if isinstance(size, int):
        return size
    bounds = {s: (low, UNBOUNDED if high is None else high) for s, (low, high) in ranges.items()}
    return dims.bounds(size, bounds)[1] or 0


def is_there(value: SSAValue) -> bool:
    """Say whether a value is in memory all the time."""
    return isinstance(value, BlockArgument) or isinstance(value.owner, Constant | Weight)


def root_of(value: SSAValue) -> SSAValue:
    """Return the value in whose memory another one lies."""
    while isinstance(value.owner, Op) and value.owner.WORKLESS and value.owner.operands:
        value = value.owner.operands[0]
    return value


@dataclass(frozen=True)
class Stretches:
    """Where a block is cut."""

    turn: int
    """The place of the last operation before the way back."""
    cuts: Sequence[int]
    """The places of the last operations of all stretches but the last."""
    kept: frozenset[SSAValue]
    """What stays: values that a later stretch uses."""

    def number(self, place: int) -> int:
        """Return the number of the stretch that a place is in."""
        return bisect_right(self.cuts, place - 1)


class Keeping:
    """What a block keeps, and till when."""

    def __init__(self, block: Block, ranges: dict[str, Range], distance: int) -> None:
        self.ops = list(block.ops)
        self.places = {op: place for place, op in enumerate(self.ops)}
        self.size: dict[SSAValue, int] = {}
        self.uses: dict[SSAValue, list[int]] = {}
        for place, op in enumerate(self.ops):
            for result in op.results:
                root = root_of(result)
                if root is result and not is_there(result):
                    self.size[result] = largest_bytes(result, ranges)
                    self.uses[result] = [place]
            for operand in dict.fromkeys(v for inner in op.walk() for v in inner.operands):
                root = root_of(operand)
                if root in self.uses:
                    self.uses[root].append(place)
        self.gaps = {value: gap for value in self.uses if (gap := self.gap(value, distance))}
        """Between which uses values are kept."""

    def gap(self, value: SSAValue, distance: int) -> tuple[int, int] | None:
        """Return the widest gap between uses of a value, if there is one that is wide enough."""
        pairs = [(b - a, a, b) for a, b in pairwise(self.uses[value])]
        wide, first, last = max(pairs, default=(0, 0, 0))
        return (first, last) if wide > distance and first != self.uses[value][0] else None

    def sums(self, spans: dict[SSAValue, tuple[int, int]]) -> list[int]:
        """Return for each place the bytes of values that live behind it, of some from a to b."""
        changes = [0] * (len(self.ops) + 1)
        for value, (first, last) in spans.items():
            changes[first] += self.size[value]
            changes[last] -= self.size[value]
        for place in range(len(self.ops)):
            changes[place + 1] += changes[place]
        return changes

    def stretches(self) -> Stretches | None:
        """Return where to cut, or that nothing is to be made again."""
        if not self.gaps:
            return None
        live = self.sums(self.gaps)
        turn = max(range(len(live)), key=live.__getitem__)
        held = {v for v, (first, last) in self.gaps.items() if first <= turn < last}
        wide = sum(self.size[value] for value in held)
        found, least = None, GAIN * wide
        forward = {
            value: (uses[0], uses[bisect_right(uses, turn) - 1])
            for value, uses in self.uses.items()
            if uses[0] <= turn
        }
        for count in range(2, min(len(held), MOST) + 1):
            made = self.cut(held, turn, forward, count)
            needed = self.needed(held, made)
            if needed < least:
                found, least = made, needed
        return found

    def cut(
        self, held: set[SSAValue], turn: int, forward: dict[SSAValue, tuple[int, int]], count: int
    ) -> Stretches:
        """Return so many stretches that keep about the same, each cut where little is used later.

        `forward` are the places from which to which values live on the way there.
        """
        made = [0] * (turn + 1)
        for value in held:
            made[self.uses[value][0]] += self.size[value]
        narrow, cuts = self.sums(forward), list[int]()
        windows: list[list[int]] = [[] for _ in range(count + 1)]
        for place, before in enumerate(accumulate(made[:-1])):
            windows[round(before * count / sum(made))].append(place)
        for window in windows[1:-1]:
            if window:
                middle = window[len(window) // 2]
                cuts.append(min(window, key=lambda p: (narrow[p], abs(p - middle))))
        kept = {
            value
            for value, (first, last) in forward.items()
            if (at := bisect_left(cuts, first)) < len(cuts) and cuts[at] < last
        }
        return Stretches(turn, cuts, frozenset(kept))

    def needed(self, held: set[SSAValue], made: Stretches) -> int:
        """Return the bytes that are kept then, with one stretch as a whole."""
        inside: dict[int, int] = {}
        for value in held - made.kept:
            number = made.number(self.uses[value][0])
            inside[number] = inside.get(number, 0) + self.size[value]
        return sum(self.size[value] for value in made.kept) + max(inside.values(), default=0)


def can_be_repeated(op: Operation) -> bool:
    """Say whether an operation gives the same whenever it is carried out."""
    return isinstance(op, Op) and op.PURE and not op.regions
