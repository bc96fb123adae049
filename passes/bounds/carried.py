"""What is known of indices that loops carry from one turn to the next.

    left = first; for step in 0..n: left += 0 or 1       first <= left <= first + step
    a, b = b, a                                          each is what one of them was at first
    width = 8; repeat: width *= 2                        8 <= width
    at = 0; while ...: at = min(2 * at + 1, last)        0 <= at <= last

The first two follow from one turn with values of which nothing is known. The others are guesses:
those are dropped that do not hold of the next turn where all of them hold of this one.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from xdsl.ir import Block, SSAValue

from .polynomial import ONE, ZERO, Polynomial
from .prover import Prover
from .values import Values

DEEP = 4
"""How many choices within each other are looked through for a limit."""


@dataclass
class Carried:
    """The indices that one loop carries: its arguments, what they are first, and after a turn."""

    values: Values
    body: Block
    arguments: Sequence[SSAValue]
    initial: Sequence[SSAValue]
    following: Sequence[SSAValue]

    @property
    def prover(self) -> Prover:
        """Return what knows the atoms."""
        return self.values.prover

    def find(self, turn: Polynomial | None) -> list[Polynomial]:
        """Name the arguments by what is known of them, and return that of the results.

        `turn` is the number of the turn, if the loop counts.
        """
        self.prover.learn()  # limits are looked for among bounds
        self.first = [self.values.index(value) for value in self.initial]
        self.oldest = len(self.prover.atoms)
        names = [self.prover.new("carried") for _ in self.arguments]
        after = self.one_turn(names)
        shown = [self.shown(i, names, after, turn) for i in range(len(names))]
        found = [
            each or self.guess(first, value)
            for each, first, value in zip(shown, self.first, after, strict=True)
        ]
        while wrong := self.wrong(found, shown):
            for which in wrong:
                found[which] = self.prover.new("carried")
        return [
            self.prover.new("data") if each is not None and value not in names else name
            for name, each, value in zip(found, shown, after, strict=True)
        ]

    def wrong(self, found: Sequence[Polynomial], shown: Sequence[Polynomial | None]) -> list[int]:
        """Return the guesses that do not hold of the turn behind one of which all hold."""
        again = self.one_turn(found)
        guesses = [which for which, each in enumerate(shown) if each is None]
        return [which for which in guesses if not self.holds_of(found[which], again[which])]

    def one_turn(self, names: Sequence[Polynomial]) -> list[Polynomial]:
        """Return what the indices are behind one turn."""
        self.values.indices.update(zip(self.arguments, names, strict=True))
        for op in self.body.ops:
            if not op.regions:
                self.values.follow(op)
        return [self.values.index(value) for value in self.following]

    def shown(
        self, which: int, names: Sequence[Polynomial], after: Sequence[Polynomial],
        turn: Polynomial | None,
    ) -> Polynomial | None:  # fmt: skip
        """Return an index that is handed around, or moves by at most one a turn."""
        prover, first = self.prover, self.first[which]
        if after[which] in names:
            return prover.one_of("select", *dict.fromkeys(self.circle(which, names, after)))
        step = after[which] - names[which]
        if turn is None or any(step.bits & name.bits for name in names):
            return None
        down = next((each for each in (0, -1) if prover.holds(step - each)), None)
        up = next((each for each in (0, 1) if prover.holds(-step + each)), None)
        if down is None or up is None:
            return None
        return self.bounded(first + turn * down, first + turn * up)

    def circle(
        self, which: int, names: Sequence[Polynomial], after: Sequence[Polynomial]
    ) -> Iterator[Polynomial]:
        """Give what an index that is handed around may have been at first."""
        seen: list[int] = []
        while which not in seen:
            seen.append(which)
            yield self.first[which]
            if after[which] not in names:
                yield after[which]
                return
            which = list(names).index(after[which])

    def guess(self, first: Polynomial, after: Polynomial) -> Polynomial:
        """Return an index that never is below what it is at first, or below 0, nor over limits."""
        limits = [limit for limit in self.limits(after) if self.prover.holds(limit - first)]
        low = first if self.prover.holds(after - first) or not limits else ZERO
        return self.bounded(low if self.prover.holds(first - low) else first, *limits)

    def bounded(self, low: Polynomial, *highs: Polynomial) -> Polynomial:
        """Return an index within bounds."""
        made = self.prover.new("carried", low=low)
        row = self.prover.atoms[made.latest]
        row.highs += [(ONE, high) for high in highs]
        self.prover.note_natural(made, low)
        return made

    def limits(self, value: Polynomial, depth: int = DEEP) -> Iterator[Polynomial]:
        """Give what a value is not above, of what was known before the loop."""
        if not value.is_atom or not depth:
            return
        row, before = self.prover.atoms[value.latest], min(value.latest, self.oldest)
        yield from (b for scale, b in row.highs if scale == ONE and b.latest < before)
        for each in row.among:
            yield from self.limits(each, depth - 1)

    def holds_of(self, name: Polynomial, after: Polynomial) -> bool:
        """Say whether what is guessed of an index holds of it after a turn."""
        row = self.prover.atoms[name.latest]
        return all(self.prover.holds(after - low) for _, low in row.lows) and all(
            self.prover.holds(high - after) for _, high in row.highs
        )
