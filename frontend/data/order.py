"""Shuffling: elements wait in a buffer, and a random one goes next.

The order for two seeds is TensorFlow's: the words of a Philox generator, one for each element.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.op import Array
from ...ir.ops.random import drawn_key, philox
from ..values.run_errors import InvalidArgumentError
from .stages import INFINITE, UNKNOWN, Element, Run, Stage, State, Stream, integer, known

BLOCKS = 256
"""Counters that are encrypted at once: each gives four words."""


class Words:
    """Words of 32 bits for two seeds, one after the other."""

    def __init__(self, first: int, second: int, used: int = 0) -> None:
        self.seeds, self.used = (first, second), used
        self._words: list[int] = []
        self._start = 0

    def next(self) -> int:
        """Return the next word."""
        at = self._found()
        self.used += 1
        return self._words[at]

    def several(self, count: int) -> list[int]:
        """Return the next words."""
        made: list[int] = []
        while len(made) < count:
            at = self._found()
            found = self._words[at : at + count - len(made)]
            self.used += len(found)
            made += found
        return made

    def _found(self) -> int:
        """Return where the next word is among those at hand, which are made anew if it is not."""
        at = self.used - self._start
        if not 0 <= at < len(self._words):
            block = self.used // 4
            counters = np.arange(BLOCKS, dtype=np.uint64) + np.uint64(block)
            made = philox(drawn_key(self.seeds, 0), counters)
            self._words = np.stack(list(made), axis=1).ravel().tolist()
            self._start = 4 * block
            at = self.used - self._start
        return at

    def state(self) -> dict[str, int]:
        """Return what it takes to go on."""
        return {"first": self.seeds[0], "second": self.seeds[1], "used": self.used}

    @classmethod
    def at(cls, state: Mapping[str, int]) -> Words:
        """Return the words from a state on."""
        return cls(state["first"], state["second"], state["used"])


def chosen_seeds(seeds: Sequence[object] | None = None) -> tuple[int, int]:
    """Return the seeds of an option, or some that nobody knows."""
    if seeds is None:
        return secrets.randbits(63), secrets.randbits(63)
    first, second = seeds
    return integer(first), integer(second)


class Shuffled(Stream):
    """Elements in a random order, each at most a buffer's size before its turn."""

    KEEPS = ("buffer", "waiting", "start", "ended")

    def __init__(
        self, run: Run, stage: Stage, size: object, seeds: Sequence[object] | None, anew: bool
    ) -> None:
        super().__init__(run, stage)
        self.size = integer(size)
        if self.size == UNKNOWN:
            self.size = 1 << 62
        self.words = Words(*self._seeds(run, stage, seeds, anew))
        self.buffer: list[Element] = []
        self.waiting: list[int] = []
        """Where the elements are, if they have places: these wait for them, from `start` on."""
        self.start, self.ended = 0, False
        self.placed = self.upstream is not None and self.upstream.places(0) is not None

    @classmethod
    def check(cls, options: Mapping[str, object]) -> None:
        """Refuse a buffer of nothing."""
        size = known(options["size"])
        if size is not None and size <= 0 and size != UNKNOWN:
            raise InvalidArgumentError(
                f"buffer_size must be greater than zero or UNKNOWN_CARDINALITY, got {size}"
            )

    @staticmethod
    def _seeds(
        run: Run, stage: Stage, seeds: Sequence[object] | None, anew: bool
    ) -> tuple[int, int]:
        """Return the seeds of this turn: the next ones of those of all turns."""
        kept = run.memory(stage)
        if run.is_by_place:
            found: tuple[int, int] = kept.setdefault("seeds of places", chosen_seeds(seeds))
            return found
        source: Words | None = kept.get("seeds")
        if source is None:
            source = kept["seeds"] = Words(*chosen_seeds(seeds))
        return (source.next(), source.next()) if anew else source.seeds

    def __next__(self) -> Element:
        if self.placed:
            row = self._drawn(1)
            if not row:
                raise StopIteration
            return tuple([x[0, ...] for x in self._gathered(row)])
        buffer = self.buffer
        if not self.ended:
            self._fill()
        left = len(buffer) - self.start
        if not left:
            raise StopIteration
        at = self.start + self.words.next() % left
        made = buffer[at]
        buffer[at] = buffer[self.start]
        self.start += 1
        return made

    def _fill(self) -> None:
        """Take elements until the buffer is full, or there are no more."""
        buffer, take = self.buffer, self.take
        while len(buffer) - self.start < self.size:
            try:
                element = take()
            except StopIteration:
                self.ended = True
                return
            if self.start and len(buffer) >= 2 * self.size:
                del buffer[: self.start]
                self.start = 0
            buffer.append(element)

    def rows(self, count: int) -> Sequence[Array] | None:
        """Return rows of what has places: only these wait in the buffer."""
        return self._gathered(self._drawn(count)) if self.placed else None

    def _gathered(self, places: Sequence[int]) -> Sequence[Array]:
        assert self.upstream is not None, "it reads a stream"
        return self.upstream.gathered(places)

    def _drawn(self, count: int) -> list[int]:
        """Return the places of the next elements, fewer at the end.

        The buffer is filled for all of them at once, but each is drawn from `size` places only.
        """
        assert self.upstream is not None, "it reads a stream"
        waiting, start, size = self.waiting, self.start, self.size
        if start > size:
            del waiting[:start]
            start = 0
        asked = size + count - 1 - (len(waiting) - start)
        if not self.ended:
            more = self.upstream.places(asked)
            assert more is not None, "it has places"
            waiting += more
            self.ended = len(more) < asked
        found: list[int] = []
        left = len(waiting) - start
        for word in self.words.several(min(count, left)):
            at = start + word % (size if size < left else left)
            found.append(waiting[at])
            waiting[at] = waiting[start]
            start, left = start + 1, left - 1
        self.start = start
        return found

    def save(self) -> State:
        """Return buffer and generator too."""
        del self.buffer[: self.start], self.waiting[: self.start]
        self.start = 0
        seeds: Words = self.run.memory(self.stage)["seeds"]
        return {**super().save(), "words": self.words.state(), "seeds": seeds.state()}

    def restore(self, state: State) -> None:
        """Go on."""
        super().restore(state)
        self.words = Words.at(state["words"])
        self.run.memory(self.stage)["seeds"] = Words.at(state["seeds"])


def least(counts: Sequence[int]) -> int:
    """Return the smallest of several counts."""
    finite = [c for c in counts if c != INFINITE]
    if not finite:
        return INFINITE
    return UNKNOWN if UNKNOWN in finite else min(finite)


__all__ = ["Shuffled", "Words", "chosen_seeds", "known", "least"]
