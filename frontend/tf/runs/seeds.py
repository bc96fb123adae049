"""Seeds of random operations by TensorFlow's rules, and by what their draws are counted."""

from __future__ import annotations

import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from random import Random
from typing import ClassVar
from weakref import WeakKeyDictionary, WeakSet

from ....ir.types.dims import Dim
from ...eager.remembered import depends_on_state
from ...function.traces import ACTIVE
from ...graph.frame import DRAWN_AS, EVEN, NamedDraw, counter_of
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph, Operation
from ...values.context import STATE
from ..core.dimensions import Behaviour

MOST = 2**31 - 1
UNSEEDED = 87654321
"""TensorFlow's seed of a graph that has none, for an operation that has one."""
COUNTS: WeakKeyDictionary[object, dict[int | None, int]] = WeakKeyDictionary()
"""How many operations of a graph that has a seed were given one of their own, by replica."""
APART = 0x3243F6A9
"""By so much the seeds of one replica differ from those of the next."""
PLACES: WeakKeyDictionary[Graph, Counter[NamedDraw]] = WeakKeyDictionary()
"""How many operations of a graph are counted by the same, but for their places."""


class Seeds:
    """The seed of the process, and what eager draws have used since it was set."""

    value: int | None = None
    numbers: ClassVar[Random] = Random()
    """Gives seeds to eager draws that have none."""
    of_replicas: ClassVar[dict[int, Random]] = {}
    """The same for replicas that draw by their numbers."""
    used: ClassVar[dict[tuple[int | None, str, str, tuple[int, int]], int]] = {}
    """How many counters were used, by the replica, the kind of draw and its seeds."""
    ordered: ClassVar[WeakSet[object]] = WeakSet()
    """Strategies in whose checkpoints is how far was drawn: as long as there are some, functions
    count by names."""


def set_seed(seed: int | None) -> None:
    """Set the seed; draws begin anew."""
    graph = STATE.context
    if isinstance(graph, Graph):
        graph.seed = seed
        return
    Seeds.value, Seeds.numbers = seed, Random(seed)
    Seeds.used.clear()
    Seeds.of_replicas.clear()
    ACTIVE[-1].draws.clear()


def seeds_of(seed: int | None, graph: Graph | None, apart: object = None) -> tuple[int, int]:
    """Return the two seeds of a draw by TensorFlow's rule; without any, new ones.

    Replicas that draw by their numbers have seeds that do not depend on what others draw. What is
    `apart` counts its draws by itself, as the body of a loop does.
    """
    if graph is None:
        depends_on_state()
    base = Seeds.value
    number = running()
    if graph is not None and (graph.seed is not None or not isinstance(graph, FuncGraph)):
        base = graph.seed
    if base is None:
        if seed is None:
            return divmod(secrets.randbits(128), 1 << 64)
        base = UNSEEDED
    if seed is None:
        counts_itself = apart is not None and not Behaviour.one_graph
        seed = _next_seed(apart if counts_itself else graph, number)
    if number is not None:
        seed += (number + 1) * APART
    found = int(base % MOST), int(seed % MOST)  # TensorFlow takes fractions, and cuts them
    return found if any(found) else (0, MOST)


def running() -> int | None:
    """Return the replica that runs, if it draws by its number."""
    return None if STATE.replica is None else STATE.replica.draws_as


def own_seeds(seeds: tuple[int, int], replica: int | None) -> tuple[int, int]:
    """Return the seeds that a replica's draw has without replicas."""
    return seeds if replica is None else (seeds[0], (seeds[1] - (replica + 1) * APART) % MOST)


def counted_as(type_: str, seeds: tuple[int, int], graph: Graph) -> dict[str, object]:
    """Return the attribute by which a draw is counted in all processes, if it is to be."""
    replica, settled = running(), max(seeds) <= MOST  # (those that nobody has set are longer)
    if not settled or (replica is None and not (Seeds.ordered and isinstance(graph, FuncGraph))):
        return {}
    names: list[str] = []
    outer: Graph | None = graph
    while isinstance(outer, FuncGraph):
        names, outer = [outer.counted_by, *names], outer.outer
    made = NamedDraw(replica, "/".join(names), type_, own_seeds(seeds, replica), 0)
    same = PLACES.setdefault(graph, Counter())
    same[made] += 1
    return {DRAWN_AS: made._replace(place=same[made] - 1)}


def used_up(op: Operation, counters: Dim) -> Dim:
    """Return how many counters an operation uses up for a draw."""
    counter = counter_of(op)
    even = isinstance(counter, NamedDraw) and counter.replica is not None
    return -(-counters // EVEN) * EVEN if even else counters


def counting(graph: object) -> object:
    """Return the graph that counts the draws of one: a function counts for itself."""
    if Behaviour.one_graph and isinstance(graph, FuncGraph):
        return graph if isinstance(graph.enclosing, FuncGraph) else graph.enclosing
    return graph


class Rehearsed:
    """The draws of one body that is gone through more than once, but for first values of variables.

    TensorFlow traces the body of a loop once. Here a body may be called before, to know what it
    gives: in a graph that counts the draws of its loops as its own, the second time goes by the
    seeds of the first one; elsewhere, what is drawn for nothing counts for nothing.
    """

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


def body_here() -> Rehearsed:
    """Return what holds the seeds of a body that is to be called here, and then traced."""
    context = STATE.context
    return Rehearsed(counting(context if isinstance(context, Graph) else None))


def _next_seed(graph: object, number: int | None) -> int:
    """Return the seed of an operation that has none: in a graph, in what is apart, or at once."""
    graph = counting(graph)
    count = partial(_counted, graph, number)
    return count() if NOW.body is None else NOW.body.next_seed(graph, count)


def _counted(graph: object, number: int | None) -> int:
    if graph is not None:
        counts = COUNTS.setdefault(graph, {})
        counts[number] = counts.get(number, 0) + 1
        return counts[number] - 1
    if number is None:
        return Seeds.numbers.randint(0, MOST)
    return Seeds.of_replicas.setdefault(number, Random(Seeds.value)).randint(0, MOST)
