"""Functions that take turns: each runs until it meets the others, then the next one does.

Only one of them runs at a time, and always in the same order, each in a thread of its own with
the same context, tapes and place in the graph as who called.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from ...graph.graph import Graph
from ...values.context import STATE
from ...values.run_errors import InvalidArgumentError


class Parted(BaseException):
    """Ends a function of which another one has failed."""


class Place:
    """Where in a graph, and in which context, a thread adds operations."""

    def __init__(self) -> None:
        self.context, self.recorders, self.device = STATE.context, STATE.recorders, STATE.device
        graph = self.graph = STATE.context if isinstance(STATE.context, Graph) else None
        self.names = "" if graph is None else graph.scope
        self.colocated = () if graph is None else graph.colocated
        self.around = ([], "") if graph is None else (graph.around.control, graph.around.device)

    def enter(self) -> None:
        """Let this thread go on there."""
        STATE.device = self.device
        STATE.set(self.context, self.recorders)
        if self.graph is not None:
            self.graph.scope, self.graph.colocated = self.names, self.colocated
            self.graph.around.control, self.graph.around.device = self.around


class Lockstep:
    """Some functions that run together."""

    def __init__(self, count: int) -> None:
        self.count = count
        self.turn = 0
        self.changed = threading.Condition()
        self.rounds: list[list[object]] = []
        """What each has given, at each meeting."""
        self.met = [0] * count
        """At how many meetings each was."""
        self.ended = [False] * count
        self.error: BaseException | None = None

    def run(self, functions: Sequence[Callable[[], Any]]) -> list[None]:
        """Return what the functions give; the first one runs in this thread."""
        start, results = Place(), [None] * self.count

        def carry_out(number: int) -> None:
            try:
                self._wait(number)
                start.enter()
                results[number] = functions[number]()
            except Parted:
                pass
            except BaseException as error:
                self.error = self.error or error
            finally:
                with self.changed:
                    self.ended[number] = True
                    self.turn = self.turn + 1 if number < self.count - 1 else 0
                    self.changed.notify_all()

        others = [
            threading.Thread(target=carry_out, args=(number,), daemon=True)
            for number in range(1, self.count)
        ]
        for thread in others:
            thread.start()
        carry_out(0)
        for thread in others:
            thread.join()
        start.enter()
        if self.error is not None:
            raise self.error
        return results

    def meet(self, number: int, value: object) -> list[Any]:
        """Give a value; return what all have given, once they have."""
        if self.count == 1:
            return [value]
        at = self.met[number]
        self.met[number] += 1
        if len(self.rounds) <= at:
            self.rounds.append([None] * self.count)
        self.rounds[at][number] = value
        place = Place()
        with self.changed:
            self.turn = (number + 1) % self.count
            self.changed.notify_all()
        self._wait(number)
        if any(count <= at for count in self.met):
            missing = next(n for n, count in enumerate(self.met) if count <= at)
            raise InvalidArgumentError(
                f"replica {number} waits for the others, and replica {missing} has ended",
                hint="all replicas reduce, and change variables, equally often",
            )
        place.enter()
        return self.rounds[at]

    def _wait(self, number: int) -> None:
        with self.changed:
            self.changed.wait_for(lambda: self.turn == number or self.error is not None)
        if self.error is not None:
            raise Parted
