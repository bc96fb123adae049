"""Seeds of bodies that are gone through more than once: each time they are those of the first.

TensorFlow traces the body of a loop once. Here a body may be called before, to know what it gives:
in a graph that counts the draws of its loops as its own, the second time goes by the seeds of the
first one; elsewhere, what is drawn for nothing counts for nothing.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from ...values.context import STATE
from ..core.dimensions import Behaviour


class Rehearsed:
    """The draws of one body, but for those of first values of variables."""

    def __init__(self, graph: object) -> None:
        self.graph = graph
        """The one that counts the body's draws; None: they run at once."""
        self.outer = NOW.body
        self.seeds: list[int] = []
        self.place = 0
        self.counts = True

    @contextmanager
    def rehearsal(self) -> Iterator[None]:
        """Go through the body only to know what it gives."""
        self.counts = False
        with self.turn():
            yield
        self.counts = True

    @contextmanager
    def turn(self) -> Iterator[None]:
        """Go through the body."""
        before, NOW.body, self.place = NOW.body, self, 0
        try:
            yield
        finally:
            NOW.body = before

    def next_seed(self, graph: object, count: Callable[[], int]) -> int:
        """Return the seed of the next draw that has none, in the graph that counts it."""
        if graph is not self.graph or STATE.initialising:
            return count()
        around = self.outer
        if graph is not None and Behaviour.one_graph:
            if self.place == len(self.seeds):
                self.seeds.append(count() if around is None else around.next_seed(graph, count))
            self.place += 1
            return self.seeds[self.place - 1]
        if self.counts:
            return count() if around is None else around.next_seed(graph, count)
        self.place += 1
        return self.place - 1


class _Now(threading.local):
    body: Rehearsed | None = None


NOW = _Now()
