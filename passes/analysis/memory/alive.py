"""Storages by the time in which they live: which of them live together with another.

    alive = Alive(launches)
    alive.add(storage, place)
    alive.with_(start, end)            the places of those that live at some time from start to end

A tree over the launches keeps each life as few whole subtrees, so that neither adding one nor
asking walks through all the others.
"""

from __future__ import annotations

from typing import TypeAlias

Place: TypeAlias = tuple[int, int]
"""The first byte, and the first behind the last."""


class Alive:
    """The lives that were added so far."""

    def __init__(self, times: int) -> None:
        self.leaves = 1 << max(0, times - 1).bit_length()
        self.whole: list[list[Place]] = [[] for _ in range(2 * self.leaves)]
        """For each subtree, what lives in all of it and not in all of the one above."""
        self.starting: list[list[Place]] = [[] for _ in range(times)]

    def add(self, start: int, end: int, place: Place) -> None:
        """Add one that lives from `start` to `end`, both included."""
        self.starting[start].append(place)
        low, high = start + self.leaves, end + self.leaves + 1
        while low < high:
            if low & 1:
                self.whole[low].append(place)
                low += 1
            if high & 1:
                high -= 1
                self.whole[high].append(place)
            low, high = low >> 1, high >> 1

    def with_(self, start: int, end: int) -> list[Place]:
        """Return the places of all that live at some time from `start` to `end`, each once."""
        found: list[Place] = []
        node = start + self.leaves
        while node:
            found += self.whole[node]
            node >>= 1
        for later in self.starting[start + 1 : end + 1]:
            found += later
        return found
