"""Queues between steps and threads: bounded, blocking, closed by whoever is done.

A queue holds elements, each a tuple of arrays. Taking and putting wait for one another; a closed
queue refuses what is put in, and gives what is left.
"""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable, Sequence
from itertools import count
from types import EllipsisType
from typing import Any

import numpy as np

from ..forks import renewed
from .deadline import DEADLINE
from .tracing import span

Element = tuple[Any, ...]


class ClosedError(Exception):
    """An element was put into a closed queue, or the wait for room was called off."""


class DrainedError(Exception):
    """More was asked for than a closed queue holds."""


class WouldWaitError(Exception):
    """There is no element, or no room, and who asked does not wait for it."""


class Changes:
    """Counts the changes of all queues, so that one thread can wait for any of them."""

    def __init__(self) -> None:
        self.count = 0
        self._changed = renewed(threading.Condition())

    def note(self) -> None:
        """Wake who waits for a change."""
        with self._changed:
            self.count += 1
            self._changed.notify_all()

    def wait(self, seen: int) -> None:
        """Return when the count is not what was seen before, or raise when the time is over."""
        with self._changed:
            DEADLINE.wait_for(self._changed, lambda: self.count != seen)


CHANGES = Changes()
NUMBERS = count()
"""Numbers of queues, for traces."""


class Queue:
    """First in, first out; with a source of random numbers in any order, or by rank.

    What has the lowest rank comes first: the first number of an element.

    `least` elements stay behind while the queue is open, so that what is taken is mixed.
    """

    def __init__(
        self,
        capacity: int,
        least: int = 0,
        random: np.random.Generator | None = None,
        *,
        ranked: bool = False,
    ) -> None:
        self.capacity = capacity if capacity >= 0 else 2**31 - 1
        self.least, self.random, self.ranked = least, random, ranked
        self.elements: list[Element] = []
        self.closed = self.cancelled = self.abandoned = False
        self.closing = False
        """Whether somebody closes it, as soon as those who put something in before have."""
        self._putting: list[deque[Element]] = []
        """What waits for room, the first one first: it goes in as soon as there is some."""
        self.changed = renewed(threading.Condition())
        self.lane = f"queue {next(NUMBERS)}"
        """Where traces show it."""
        self._waiting: list[tuple[object, int]] = []
        """Who waits to take how many, the first one first."""

    def size(self) -> int:
        """Return how many elements there are."""
        with self.changed:
            return len(self.elements)

    def put(self, elements: Sequence[Element], *, wait: bool = True) -> None:
        """Put elements in; wait while the queue is full.

        Without `wait`, all are put in, or there is a `WouldWaitError`.
        """
        with span("queue", "put", self.lane, elements=len(elements)), self.changed:
            if self.closed or self.closing:
                raise ClosedError
            if not wait and len(self.elements) + len(elements) > self.capacity:
                raise WouldWaitError
            left = deque(elements)
            self._putting += [left] if left else []
            try:
                self._notify()
                self._wait(lambda: not left or self.cancelled)
                if left:
                    raise ClosedError
            finally:
                self._putting = [each for each in self._putting if each is not left]
                self._notify()

    def take(self, count: int, *, partial: bool = False, wait: bool = True) -> list[Element]:
        """Take elements out; wait till there are so many, or raise a `WouldWaitError`.

        When the queue is closed and holds less, `partial` takes the rest.
        """
        with span("queue", "take", self.lane, elements=count), self.changed:
            if not wait and (self._waiting or not self._ready(count)):
                raise WouldWaitError
            turn = (object(), count)
            self._waiting.append(turn)
            if count > self.capacity:
                self._notify()
            try:
                self._wait(lambda: self._waiting[0] is turn and self._ready(count))
                found = len(self.elements)
                if self.abandoned:
                    raise ClosedError
                if found < count and not (partial and found):
                    raise DrainedError(f"requested {count}, current size {found}")
                return [self._next() for _ in range(min(count, found))]
            finally:
                self._waiting.remove(turn)
                self._notify()

    def _room(self) -> int:
        """Return how many elements there may be: so many as are waited for, if these are more."""
        return max(self.capacity, self._waiting[0][1] + self.least if self._waiting else 0)

    def _ready(self, count: int) -> bool:
        return self.closed or len(self.elements) >= count + self.least

    def _next(self) -> Element:
        at = 0 if self.random is None else int(self.random.integers(len(self.elements)))
        if self.ranked:
            at = min(range(len(self.elements)), key=lambda i: int(self.elements[i][0]))
        return self.elements.pop(at)

    def _wait(self, ready: Callable[[], bool]) -> None:
        DEADLINE.wait_for(self.changed, ready)

    def close(self, *, cancel: bool = False, wait: bool = True) -> None:
        """Let nothing more in, once all have put in what they wait with.

        With `cancel`, who waits for room fails at once. Without `wait`, it is closed now, or there
        is a `WouldWaitError`.
        """
        with self.changed:
            if self.closed and not cancel:
                raise ClosedError
            self.cancelled = self.cancelled or cancel
            self.closing = True
            self._notify()
            if not cancel and not wait and self._putting:
                raise WouldWaitError
            try:
                self._wait(lambda: self.cancelled or not self._putting)
                self.closed = True
            finally:
                self.closing = False
                self._notify()

    def abandon(self) -> None:
        """Let nobody wait any more, neither for room nor for elements."""
        self.abandoned = True
        self.close(cancel=True)

    def _notify(self) -> None:
        while self._putting and not self.cancelled and len(self.elements) < self._room():
            self.elements.append(self._putting[0].popleft())
            if not self._putting[0]:
                self._putting.pop(0)
        self.changed.notify_all()
        CHANGES.note()


def component(value: object) -> Any:
    """Return a part of an element as an array; texts are objects, which may end in zeros.

    >>> component(b"a")
    array(b'a', dtype=object)
    """
    return np.asarray(value, object if isinstance(value, bytes | str) else None)


def stacked(elements: Sequence[Element]) -> list[Any]:
    """Return the components of several elements, each along a new first axis."""
    return [np.stack([component(x) for x in column]) for column in zip(*elements, strict=True)]


def padded(elements: Sequence[Element]) -> list[Any]:
    """Return the components of several elements, filled up to the greatest extents of them.

    >>> padded([(np.array([1, 2]),), (np.array([3]),)])[0].tolist()
    [[1, 2], [3, 0]]
    >>> padded([(np.int64(4),), (np.int64(5),)])[0].tolist()
    [4, 5]
    """
    made = []
    for column in zip(*elements, strict=True):
        arrays = [component(x) for x in column]
        most = np.max([x.shape for x in arrays], axis=0).astype(int)
        empty = b"" if arrays[0].dtype == object else 0
        whole = np.full((len(arrays), *most), empty, arrays[0].dtype)
        for row, array in enumerate(arrays):
            place: tuple[int | slice | EllipsisType, ...] = (row, *map(slice, array.shape), ...)
            whole[place] = array  # (of a text, not an array of one)
        made.append(whole)
    return made
