"""Variables that each replica has a value of, which become one when they are read between replicas.

Metrics are counted so: each replica adds up what it sees, and nobody waits for another one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from ....runtime.comm.protocol import Comm
from ...distributed import collectives
from ...eager.tensor import Tensor
from ...function.variable import Shared, Spread, Variable
from ...graph.variables import ASSIGN, AssignVariable
from ...values.context import STATE, entered
from ..core.bridge import TfTensor, dressed
from ..core.creators import VariableAggregation
from ..core.values import convert
from ..ops.math_ops import cast
from .replicas import PerReplica, ReduceOp, ReplicaContext


class Strategy(Protocol):
    """What is asked of a strategy."""

    devices: list[str]
    comm: Comm

    @property
    def num_replicas_in_sync(self) -> int:
        """Return how many replicas there are, in all processes."""

    def reduced(self, way: ReduceOp, values: Sequence[object]) -> list[TfTensor]:
        """Return sums or means of values over the replicas of all processes."""


class OnRead(Spread):
    """The values that the replicas of this process have of a variable."""

    def __init__(self, strategy: Strategy, first: Variable, way: VariableAggregation) -> None:
        self.strategy, self.way, self.name = strategy, way, first.name
        value = first.state.value
        with entered(None):
            others = [
                Variable(value, trainable=False, name=f"{first.state.name}/replica_{number}")
                for number in range(1, len(strategy.devices))
            ]
        self.others: Sequence[Variable] = others

    def _part(self, first: Variable) -> Variable:
        """Return the variable of the replica that runs."""
        replica = STATE.replica
        if not isinstance(replica, ReplicaContext) or replica.strategy is not self.strategy:
            raise ValueError(
                f"variable {self.name!r} was made in the scope of another strategy than the one "
                "that runs a replica"
            )
        return first if replica.number == 0 else self.others[replica.number - 1]

    def _one(self) -> None:
        """Raise where replicas' values cannot become one."""
        if self.way is VariableAggregation.NONE:
            raise ValueError(
                f"variable {self.name!r} has aggregation NONE: outside of replicas it has no "
                "value, expected SUM, MEAN or ONLY_FIRST_REPLICA"
            )

    def values(self, first: Variable) -> tuple[TfTensor, ...]:
        """Return the value of each replica of this process."""
        return tuple(dressed(part.read_own()) for part in (first, *self.others))

    def read(self, first: Variable) -> TfTensor:
        """Return the value of the replica that runs; between replicas what they make together."""
        if STATE.replica is not None:
            return dressed(self._part(first).read_own())
        self._one()
        if self.way is VariableAggregation.ONLY_FIRST_REPLICA:
            value = dressed(first.read_own())
            several = self.strategy.comm.size > 1
            return dressed(collectives.broadcast(value)) if several else value
        way = ReduceOp[self.way.name]
        return self.strategy.reduced(way, [PerReplica(self.values(first))])[0]

    def change(
        self, first: Shared, kind: AssignVariable, values: Sequence[Tensor], read: bool
    ) -> Tensor | Shared:
        """Change the value of the replica that runs; between replicas those of all."""
        if STATE.replica is not None:
            made = self._part(first).change_now(kind, *values, read=read)
            return made if isinstance(made, Tensor) and not read else first
        self._one()
        own = values
        if self.way is VariableAggregation.SUM:
            own, values = self._shared(first, kind, *values)
        made = first.change_now(kind, *own, read=read)
        for part in self.others:
            part.change_now(kind, *values, read=False)
        return first if read else made

    def _shared(
        self, first: Variable, kind: AssignVariable, value: Tensor, *_: Tensor
    ) -> tuple[list[Tensor], list[Tensor]]:
        """Return what the first replica of this process and the others get of a sum.

        The very first one gets what is left: thirds do not add up to the whole.
        """
        if kind is not ASSIGN:
            raise ValueError(
                f"{kind.type} of variable {self.name!r} between replicas, whose values add up "
                "(ON_READ, SUM): expected `assign`, or a change in a replica"
            )
        count, whole = self.strategy.num_replicas_in_sync, convert(value)
        part = cast(whole / convert(count, value.dtype), first.spec.dtype)
        rest = whole - part * convert(count - 1, value.dtype)
        return [rest if self.strategy.comm.rank == 0 else part], [part]


def of_each(
    strategy: Strategy, first: Variable, synchronization: object, aggregation: object
) -> OnRead | None:
    """Return the values that replicas have of a variable; None if they share one."""
    if named(synchronization) != "ON_READ" or strategy.num_replicas_in_sync == 1:
        return None
    return OnRead(strategy, first, VariableAggregation[named(aggregation)])


def named(way: object) -> str:
    """Return the name of a way to put values together: Keras writes it small."""
    return str(getattr(way, "name", way) or "NONE").upper()
