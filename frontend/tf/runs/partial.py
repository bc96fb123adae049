"""Steps of sessions in parts: each goes on from where the one before it has stopped.

    handle = session.partial_run_setup([first, second], [a, b])
    x = session.partial_run(handle, first, {a: 1})
    session.partial_run(handle, second, {b: x})

What is fetched and fed is said beforehand. No operation is carried out twice.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from ....forks import renewed
from ...graph.execute import Plan, needed
from ...graph.frame import Frame, Store
from ...graph.graph import GraphTensor, Operation
from ...values.run_errors import InvalidArgumentError

Fetch = GraphTensor | Operation


class PartialRun:
    """A step that is carried out in parts."""

    def __init__(self, plan: Plan, store: Store) -> None:
        self.plan, self.frame = plan, Frame(store)
        self.env: dict[GraphTensor, object] = {}
        self.done: set[Operation] = set()
        self.fetched: set[Fetch] = set()
        self.making = renewed(threading.RLock())
        """Held while a part is carried out."""

    def go_on(self, fetches: Sequence[Fetch], feeds: Mapping[GraphTensor, object]) -> list[object]:
        """Return what fetches are; None for operations. What is fed stays so."""
        with self.making:
            self.check(fetches, feeds)
            for tensor, value in feeds.items():
                self.env[tensor] = value
                self.frame.bind(tensor, value)
            ops = [op for op in needed(fetches, self.plan.feeds) if op not in self.done]
            self.check_fed(fetches, ops)
            for op in ops:
                self.plan.step(self.frame, op, self.env)
                self.done.add(op)
            self.fetched.update(fetches)
            return [None if isinstance(f, Operation) else self.env[f] for f in fetches]

    def check(self, fetches: Sequence[Fetch], feeds: Mapping[GraphTensor, object]) -> None:
        """Raise unless feeds and fetches are what was said, and each is so for the first time."""
        known, wanted = set(self.plan.feeds), set(self.plan.fetches)
        for tensor in feeds:
            if tensor not in known:
                raise _refused("feed", tensor, "was not specified in partial_run_setup.")
            if tensor in self.env:
                raise _refused("feed", tensor, "has already been fed.")
        for fetch in fetches:
            if fetch not in wanted:
                raise _refused("fetch", fetch, "was not specified in partial_run_setup.")
            if fetch in self.fetched:
                raise _refused("fetch", fetch, "has already been fetched.")

    def check_fed(self, fetches: Sequence[Fetch], ops: Sequence[Operation]) -> None:
        """Raise where something is needed that was not fed yet."""
        taken = {tensor for op in ops for tensor in op.inputs} | {*fetches}
        missing = [tensor for tensor in self.plan.feeds if tensor in taken - self.env.keys()]
        if missing:
            names = ", ".join(fetch.name for fetch in fetches)
            raise InvalidArgumentError(
                f"Fetch {names} can't be computed from the feeds that have been fed so far: "
                f"{missing[0].name} is missing."
            )


def _refused(kind: str, what: Fetch, why: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"The {kind} {what.name} {why}")
