"""Draws of a function that is called for one slice after the other.

TensorFlow traces such a function once: each of its draws has one seed, and goes on in each trip
where it ended in the trip before. Where the calls stand one behind the other in a graph, a draw of
a trip says which of how many it is (`Turn`). `AllAtOnce` draws for all slices what the first one
asks for, as `vectorized_map` does, and gives each its row.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence

from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph
from ...values.context import Context
from ..core.bridge import TfTensor
from .seeds import seeds_of

Turn = tuple[int, int]
"""The place of a draw among those that have its seeds and follow each other in a run; and their
number."""
ALONE: Turn = (0, 1)


class CallsInTurn:
    """The calls of one function; `graph` is that which they stand in, None if they run at once."""

    def __init__(self, graph: Graph | None, count: int) -> None:
        self.graph, self.count, self.place = graph, count, -1
        self.outer = turns_now(graph)
        self.seeds: list[tuple[int, int]] = []
        """Those of the draws of the first call, in order."""
        self.drawn = 0
        """How many draws the present call has made."""

    def call(self, function: Callable[..., object], given: Sequence[object]) -> object:
        """Return what the function gives in its next call."""
        self.place, self.drawn, before = self.place + 1, 0, NOW.turns
        NOW.turns = self
        try:
            return function(*given)
        finally:
            NOW.turns = before

    def next_seeds(
        self, seed: int | None, graph: Graph | None = None
    ) -> tuple[tuple[int, int], Turn]:
        """Return the seeds of the next draw, which are those of the first call, and its turn."""
        place, count = self.turn()
        if self.drawn == len(self.seeds):
            self.seeds.append(self._first_seeds(seed, graph or self.graph))
        self.drawn += 1
        return self.seeds[self.drawn - 1], (place, count)

    def _first_seeds(self, seed: int | None, graph: Graph | None) -> tuple[int, int]:
        if self.outer is not None:
            return self.outer.next_seeds(seed, graph)[0]
        return seeds_of(seed, graph, self if graph is self.graph and self.is_apart() else None)

    def is_apart(self) -> bool:
        """Say whether draws are counted apart from those of the graph, as a loop's body does."""
        return True

    def turn(self) -> Turn:
        """Return the place of the present call among all, also those of calls around."""
        place, count = ALONE if self.outer is None else self.outer.turn()
        return place * self.count + self.place, count * self.count


class AllAtOnce(CallsInTurn):
    """The same, where one draw is that of all calls."""

    def __init__(self, graph: Graph | None, count: int) -> None:
        super().__init__(graph, count)
        self.every: list[TfTensor] = []

    def row(self, make: Callable[[], TfTensor]) -> TfTensor:
        """Return the present call's part of what is drawn for all, in the first one."""
        if self.drawn == len(self.every):
            self.every.append(make())
        else:
            self.drawn += 1
        return self.every[self.drawn - 1][self.place]

    def is_apart(self) -> bool:
        """Say whether all runs at once: then it is a function of its own."""
        return self.graph is None

    def turn(self) -> Turn:
        """Return that of the calls around: all draw together."""
        return ALONE if self.outer is None else self.outer.turn()


class _Now(threading.local):
    turns: CallsInTurn | None = None


NOW = _Now()


def turns_now(context: Context | Graph | None) -> CallsInTurn | None:
    """Return the calls that code in a context belongs to; a function that is traced is apart."""
    turns = NOW.turns
    if turns is None or turns.graph is context:
        return turns
    same = isinstance(context, Graph) and turns.graph is not None
    return turns if same and _whole(context) is _whole(turns.graph) else None


def _whole(graph: object) -> object:
    """Return a graph with all choices and loops around it."""
    return graph.enclosing if isinstance(graph, FuncGraph) else graph


def seeds_in_turn(seed: int | None, graph: Graph | None) -> tuple[tuple[int, int], Turn]:
    """Return the seeds of a draw, and its turn."""
    turns = turns_now(graph)
    return (seeds_of(seed, graph), ALONE) if turns is None else turns.next_seeds(seed, graph)
