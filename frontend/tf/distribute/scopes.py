"""Scopes of strategies: what is made in them is made for all replicas.

with strategy.scope():              strategy.scope().__enter__()     # from here on, for good
w = tf.Variable(...)            w = tf.Variable(...)
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Generic, TypeVar

from ...values.context import STATE, Creating
from ..core.names import device
from .replicas import CONTEXTS

Made = TypeVar("Made", bound=Creating)


class StrategyScope(Generic[Made]):
    """The scope of a strategy, which can be entered again, also while one is in it.

    What it has to leave is kept by the thread, so that nobody has to keep the scope itself.
    """

    def __init__(self, strategy: Made, place: str | None = None) -> None:
        self.strategy, self.place = strategy, place

    def __enter__(self) -> Made:
        if CONTEXTS.replica is not None:
            raise RuntimeError(
                "a replica is running: a scope is entered between the replicas, see `merge_call`"
            )
        other = CONTEXTS.strategies[-1] if CONTEXTS.strategies else self.strategy
        if other is not self.strategy:
            raise RuntimeError(
                f"Mixing different tf.distribute.Strategy objects: {other} is not {self.strategy}"
            )
        leave = ExitStack()
        if self.place is not None:
            leave.enter_context(device(self.place))
        leave.callback(setattr, STATE, "creating", STATE.creating)
        leave.callback(CONTEXTS.strategies.pop)
        STATE.creating = self.strategy
        CONTEXTS.strategies.append(self.strategy)
        CONTEXTS.entered.append((self, leave))
        return self.strategy

    def __exit__(self, *_: object) -> None:
        last = next((each for each in CONTEXTS.entered[::-1] if each[0] is self), None)
        if last is None:
            raise RuntimeError(f"the scope of {self.strategy} is left, and was not entered")
        CONTEXTS.entered.remove(last)
        last[1].close()
