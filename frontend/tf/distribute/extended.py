"""What a strategy can be asked for by those who extend it: `tf.distribute.StrategyExtended`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from weakref import WeakSet

from ....runtime.comm.protocol import Comm
from ...function.variable import Variable
from ...graph.variables import VariableState
from ...values.devices import parse_device
from ..core.bridge import EagerTensor
from .replicas import CONTEXTS, PerReplica, being, chosen

HERE = parse_device("/job:localhost/replica:0/task:0")


class StrategyExtended:
    """The further functions of a strategy: here they are the strategy's own."""

    devices: list[str]
    comm: Comm
    made: WeakSet[VariableState]
    """The variables that were made in its scope."""

    def reduce(self, reduce_op: object, value: object, axis: object = None) -> object:
        """Return what the replicas' values add up to, or their mean."""
        raise NotImplementedError

    @property
    def worker_devices(self) -> tuple[str, ...]:
        """Return the full names of the devices of this process's replicas."""
        return tuple(str(HERE.merge(parse_device(name))) for name in self.devices)

    @property
    def parameter_devices(self) -> tuple[str, ...]:
        """Return the full names of the devices that variables are on: each replica reaches them."""
        return self.worker_devices

    @property
    def should_checkpoint(self) -> bool:
        """Say whether this process writes checkpoints: the first one does."""
        return self.comm.rank == 0

    @property
    def should_save_summary(self) -> bool:
        """Say whether this process writes summaries: the first one does."""
        return self.comm.rank == 0

    def variable_created_in_scope(self, v: object) -> bool:
        """Say whether a variable was made in the scope of this strategy."""
        return isinstance(v, Variable) and v.state in self.made

    def value_container(self, value: object) -> object:
        """Return what a replica's part of a variable is a part of: the variable itself."""
        return value

    def read_var(self, v: Variable) -> object:
        """Return the value of a variable, as it is between replicas."""
        return v.read_own() if v.spread is None else v.spread.read(v)

    def update(
        self,
        var: Variable,
        fn: Callable[..., object],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        group: bool = True,
    ) -> object:
        """Call a function that changes a variable once, between replicas, for all of them.

        In a replica it is called once all have come so far, with what they give: the same.
        """
        if CONTEXTS.replica is not None:

            def merged(strategy: StrategyExtended, *many: object, **named: object) -> object:
                return strategy.update(var, fn, many, named)

            return CONTEXTS.replica.merge_call(merged, args, kwargs)
        for each in (*args, *(kwargs or {}).values()):
            refuse_different(var, each)
        with being(None):
            return fn(var, *chosen(tuple(args), 0), **chosen(dict(kwargs or {}), 0))

    def reduce_to(
        self, reduce_op: object, value: object, destinations: object, options: object = None
    ) -> object:
        """Return what replicas' values add up to, or their mean: each destination reaches it."""
        return self.reduce(reduce_op, value)

    def batch_reduce_to(
        self,
        reduce_op: object,
        value_destination_pairs: Sequence[tuple[object, object]],
        options: object = None,
    ) -> list[object]:
        """Return what each of several values of replicas adds up to, or their means."""
        return [self.reduce(reduce_op, value) for value, _ in value_destination_pairs]

    def broadcast_to(self, tensor: object, destinations: object) -> object:
        """Return a tensor for all replicas."""
        return tensor

    @contextmanager
    def colocate_vars_with(self, colocate_with_variable: Variable) -> Iterator[None]:
        """Let variables be made where another one is: those of a strategy are together."""
        if not self.variable_created_in_scope(colocate_with_variable):
            raise ValueError(
                "`colocate_vars_with` must only be passed a variable created in this "
                f"tf.distribute.Strategy.scope(), not: {colocate_with_variable!r}"
            )
        yield


def refuse_different(variable: Variable, value: object) -> None:
    """Raise if replicas have different values of what one variable is to be changed by."""
    if not isinstance(value, PerReplica) or variable.spread is not None:
        return
    first, *others = (x.numpy().tobytes() if isinstance(x, EagerTensor) else b"" for x in value)
    if any(other != first for other in others):
        raise ValueError(
            f"variable {variable.name!r} is shared by the replicas, which have values of their "
            f"own: {value!r}\n  help: `reduce_to` makes one of them"
        )
