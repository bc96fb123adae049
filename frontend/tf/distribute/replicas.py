"""Values that each replica has one of, and what a replica can do with the others."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from enum import Enum
from typing import Any, NoReturn

import numpy as np

from ....runtime.comm import protocol
from ...distributed import collectives
from ...eager.tensor import Tensor, as_tensor
from ...function.variable import Variable
from ...graph.variables import ASSIGN, SCATTER, SCATTER_ADD, SCATTER_SUB
from ...values import nest
from ...values.context import STATE, record, unrecorded
from ...values.dtypes import DataType
from ...values.given import TensorLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, dressed
from ..core.creators import VariableAggregation
from ..core.nested import flatten, pack_sequence_as
from ..core.specs import Specified, TensorSpec, TypeSpec
from ..core.values import convert, static
from ..ops.array_ops import concat, reshape, shape, transpose
from ..ops.creation import range_
from ..ops.gathering import gather
from .lockstep import Lockstep


class ReduceOp(Enum):
    """How values of replicas become one."""

    SUM = "SUM"
    MEAN = "MEAN"

    @staticmethod
    def of(value: object) -> ReduceOp:
        """Return the way that is meant."""
        try:
            return value if isinstance(value, ReduceOp) else ReduceOp(str(value).upper())
        except ValueError:
            raise ValueError(f"reduce_op {value!r}, expected 'SUM' or 'MEAN'") from None


class PerReplica(nest.Several):
    """A value for each replica of this process; functions that are traced see them all."""

    __slots__ = ()

    @property
    def values(self) -> tuple[Any, ...]:
        """Return the values in order of the replicas."""
        return tuple(self)

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(
            f"replicas have a value each, which operations do not take: {self!r}\n  help: "
            "`strategy.run` gives each replica its own; `reduce` and `gather` make one of them"
        )

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __truediv__ = _refuse
    __matmul__ = __pow__ = __neg__ = _refuse

    @property
    def dtype(self) -> DataType:
        """Return the element type."""
        found: DataType = self.values[0].dtype
        return found

    def __repr__(self) -> str:
        if all(isinstance(each, TensorSpec) for each in self):
            return f"PerReplicaSpec({', '.join(map(repr, self))})"
        rows = ",\n".join(f"  {number}: {value!r}" for number, value in enumerate(self.values))
        return f"PerReplica:{{\n{rows}\n}}"


def regrouped(results: Sequence[object], *, apart: bool = True) -> Any:
    """Return the results of replicas: in their structure, with a value for each replica.

    Where they are not to be kept `apart`, what is one object on all replicas stays one.
    """
    if len(results) == 1:
        return results[0]
    rows = [flatten(result) for result in results]
    columns = [
        PerReplica(column) if apart or any(x is not column[0] for x in column) else column[0]
        for column in zip(*rows, strict=True)
    ]
    return pack_sequence_as(results[0], columns)


def mapped(function: Callable[[object], object], value: Any) -> object:
    """Return a structure of what a function gives for values; those of replicas are one.

    So are those that are made of several tensors, and what says what these are like.
    """
    if isinstance(value, PerReplica | Specified | TypeSpec) or not nest.is_nested(value):
        return function(value)
    if isinstance(value, Mapping):
        made = {key: mapped(function, each) for key, each in value.items()}
        return made if type(value) is dict else type(value)(made)  # type: ignore[call-arg]
    return nest.pack_level(value, [mapped(function, each) for each in value])


def chosen(value: object, number: int) -> Any:
    """Return a structure with what one replica has."""
    return mapped(lambda x: x.values[number] if isinstance(x, PerReplica) else x, value)


def is_zero(value: object) -> bool:
    """Say whether a value that is no tensor is zero: as many of it as there are add up to it."""
    is_number = not isinstance(value, Tensor | Variable | None)
    return is_number and not np.asarray(value).any()


def one_value(value: object, count: int) -> ValueError:
    """Return the error for one value that is to be added up over replicas."""
    return ValueError(
        f"{value!r} is one value, and there are {count} replicas: only what each of them has is "
        "added up"
    )


@dataclass(frozen=True)
class Told:
    """What a replica assigns to a variable, as it was given: a leaf."""

    value: object


def refuse_one(told: object) -> None:
    """Raise if all replicas assign one object, which is to be added up."""
    given = [x.value for x in told if isinstance(x, Told)] if isinstance(told, PerReplica) else []
    if given and all(x is given[0] for x in given) and not is_zero(given[0]):
        raise one_value(given[0], len(given))


class Contexts(threading.local):
    """The strategies whose scopes a thread has entered, and the replica that it runs."""

    def __init__(self) -> None:
        self.strategies: list[Any] = []
        self.entered: list[tuple[object, ExitStack]] = []
        """The scopes that were entered, each with what leaves it."""
        self.replica: ReplicaContext | None = None


CONTEXTS = Contexts()


@contextmanager
def being(replica: ReplicaContext | None) -> Iterator[None]:
    """Let a thread run a replica; None: none, but what is between them."""
    before = CONTEXTS.replica, STATE.replica
    CONTEXTS.replica = STATE.replica = replica
    try:
        yield
    finally:
        CONTEXTS.replica, STATE.replica = before


class ReplicaContext:
    """One replica of a step that runs."""

    def __init__(self, strategy: Any, number: int, steps: Lockstep) -> None:
        self.strategy, self.number, self.steps = strategy, number, steps
        self.context = STATE.context
        self.told: object = 0
        """What is about to be assigned to a variable, before it is a tensor; zero if unknown."""

    @property
    def num_replicas_in_sync(self) -> int:
        """Return how many replicas there are, in all processes."""
        return int(self.strategy.num_replicas_in_sync)

    @property
    def replica_id_in_sync_group(self) -> int:
        """Return the number of the replica among those of all processes."""
        return int(self.strategy.first_replica + self.number)

    @property
    def draws_as(self) -> int | None:
        """Return the replica's number, where what it draws is the same on any number of ranks."""
        return self.replica_id_in_sync_group if self.strategy.ordered else None

    @property
    def devices(self) -> list[str]:
        """Return the device of the replica."""
        return [self.strategy.devices[self.number]]

    def merge_call(
        self,
        merge_fn: Callable[..., object],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> Any:
        """Call a function once for all replicas, with the values of each.

        What is one object on all replicas is that, and no value of each.
        """
        return self._met(merge_fn, args, kwargs, apart=False)

    def _met(
        self,
        merge_fn: Callable[..., object],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
        *,
        apart: bool = True,
    ) -> Any:
        """Call a function once for all replicas, with a value of each."""
        if self.steps.count > 1 and STATE.context is not self.context:
            where = getattr(STATE.context, "name", "eager code")
            raise RuntimeError(
                f"merge_call in {where}: replicas meet where `run` has called them, not in a "
                "function, branch or loop of their own; give `run` the tf.function, or put `run` "
                "into it"
            )
        given = self.steps.meet(self.number, (tuple(args), dict(kwargs or {})))
        made = None
        if self.number == 0:
            many, named = (regrouped([row[n] for row in given], apart=apart) for n in (0, 1))
            with being(None):
                made = merge_fn(self.strategy, *many, **named)
        return chosen(self.steps.meet(self.number, made)[0], self.number)

    def all_reduce(self, reduce_op: object, value: object, options: object = None) -> Any:
        """Return what the replicas' values add up to, or their mean, on each replica."""
        way = ReduceOp.of(reduce_op)
        found = [convert(x) for x in flatten(value)]
        tapes = STATE.recorders
        with unrecorded():
            total = self._met(lambda s, *xs: s.reduced(way, xs), found)
            if self.steps.count > 1:  # (each replica has its own: they are kept apart)
                total = [x.alias() if isinstance(x, Tensor) else x for x in total]
        if tapes:
            total = [dressed(as_tensor(x).alias()) for x in total]
            record("all_reduce", found, total, lambda *grads: self._back(way, grads, total))
        return pack_sequence_as(value, list(total))

    def _back(
        self, way: ReduceOp, grads: Sequence[object], like: Sequence[TfTensor]
    ) -> list[object]:
        """Return the gradients of values: what all replicas' results have, in the same way."""
        given = [
            np.zeros(x.shape, x.spec.dtype.numpy) if g is None else g
            for g, x in zip(grads, like, strict=True)
        ]
        return list(self.all_reduce(way, given))

    def all_gather(self, value: object, axis: TensorLike, options: object = None) -> object:
        """Return the replicas' values behind each other, on an axis."""
        found, at = [convert(x) for x in flatten(value)], int(static(convert(axis)))
        tapes = STATE.recorders
        with unrecorded():
            made = self._gathered(found, at)
        if tapes:
            made = [dressed(as_tensor(x).alias()) for x in made]
            record("all_gather", found, made, lambda *grads: self._own(grads, made, found, at))
        return pack_sequence_as(value, made)

    def _gathered(self, values: Sequence[object], axis: int) -> list[TfTensor]:
        """Return values of all replicas behind each other: each replica has its own."""
        made = self._met(lambda s, *xs: [s.gather(x, axis) for x in xs], values)
        return [dressed(as_tensor(x).alias()) for x in made]

    def _own(
        self,
        grads: Sequence[object],
        like: Sequence[TfTensor],
        values: Sequence[TfTensor],
        axis: int,
    ) -> list[object]:
        """Return the gradients of values: the own share of what all replicas' results have."""
        totals = self._back(ReduceOp.SUM, grads, like)
        counts = [shape(x)[axis] for x in values]
        every = self._gathered([reshape(count, [1]) for count in counts], 0)
        shares: list[object] = []
        for total, count, counted in zip(totals, counts, every, strict=True):
            before = range(self.replica_id_in_sync_group)
            first = sum((counted[n] for n in before), start=count * 0)
            shares.append(gather(total, range_(first, first + count), axis=axis))
        return shares

    def change(self, variable: Any, kind: object, values: Sequence[object], read: bool) -> object:
        """Change a variable once for all replicas, by what its `aggregation` makes of theirs.

        One that was made outside of the strategy is changed by each replica in turn. Where each
        replica has made one of its own in the step, all of them change alike.
        """
        told, self.told = self.told, 0
        if variable.state not in self.strategy.made:
            return variable.change_now(kind, *values, read=read)
        way = getattr(variable, "aggregation", VariableAggregation.NONE)

        def changed(strategy: Any, told: object, own: object, *columns: object) -> object:
            if way is VariableAggregation.SUM and variable.state not in strategy.weights:
                refuse_one(told)
            rows = self._together(variable, kind, columns)
            if rows is None:
                rows = [x.values[0] if isinstance(x, PerReplica) else x for x in columns]
                if strategy.comm.size > 1 and way is VariableAggregation.ONLY_FIRST_REPLICA:
                    rows = [collectives.broadcast(x) for x in rows]
            made = variable.change_now(kind, *rows, read=read)
            each = [x.value for x in own.values] if isinstance(own, PerReplica) else [variable]
            others = {id(x): x for x in each if x is not variable}
            if not others:
                return made
            found = {id(variable): made} | {
                number: x.change_now(kind, *rows, read=read) for number, x in others.items()
            }
            return PerReplica([found[id(x)] for x in each])

        return self._met(changed, (Told(told), Told(variable), *values))

    def _together(
        self, variable: Any, kind: object, columns: Sequence[object]
    ) -> Sequence[object] | None:
        """Return what replicas' values are together; None where only those of one count."""
        strategy = self.strategy
        way = getattr(variable, "aggregation", VariableAggregation.NONE)
        weight = strategy.weights.get(variable.state)
        if kind is SCATTER:
            self.refuse_rows(variable, "scatter_update")
        if weight is None and way not in ADDED_UP:
            return None
        found: Sequence[object]
        if kind in ROWS_CHANGED:
            found = strategy.rows_of_all(variable, columns)
        elif weight is None:
            found = strategy.reduced(ReduceOp[way.name], columns)
        elif kind is ASSIGN:  # by their changes: weights may not add up to one exactly
            old = dressed(variable.read_own())
            found = [old + strategy.weighed(each_minus(x, old), weight) for x in columns]
        else:
            found = [strategy.weighed(x, weight) for x in columns]
        return found

    def refuse_rows(self, variable: Any, what: str) -> None:
        """Raise `NotImplementedError` where replicas' rows together are not what each one makes."""
        way = getattr(variable, "aggregation", VariableAggregation.NONE)
        if variable.state in self.strategy.made and way in ADDED_UP:
            raise NotImplementedError(
                f"{what} is only supported for mirrored variables with NONE or "
                f"ONLY_FIRST_REPLICA aggregation, got: {way}"
            )

    def apply(
        self,
        applied: Callable[[object], object],
        pairs: Sequence[Any],
    ) -> object:
        """Change variables once, by the sums of the replicas' gradients."""
        variables = [variable for _, variable in pairs]

        def merged(strategy: Any, *grads: object) -> object:
            totals = strategy.reduced(ReduceOp.SUM, grads)
            return applied(list(zip(totals, variables, strict=True)))

        return self._met(merged, [convert(grad) for grad, _ in pairs])


ADDED_UP = (VariableAggregation.SUM, VariableAggregation.MEAN)
ROWS_CHANGED = (SCATTER_ADD, SCATTER_SUB)
"""Changes that are told indices beside values: only the values may be added up."""


def each_minus(value: object, old: TfTensor) -> object:
    """Return by how much values of replicas are more than one."""
    if isinstance(value, PerReplica):
        return PerReplica([convert(x) - old for x in value])
    return convert(value) - old


def local_sum(value: object) -> Any:
    """Return the sum over the replicas of this process, in their order; all have one shape."""
    parts = value.values if isinstance(value, PerReplica) else (value,)
    specs = [x.spec for x in parts if isinstance(x, Tensor) and x.spec.shape is not None]
    kinds = {spec.dtype.name for spec in specs if spec.dtype.kind not in "iufc"}
    if kinds and len(parts) > 1:
        raise InvalidArgumentError(f"replicas give {', '.join(kinds)}: only numbers are added up")
    shapes = [spec.shape for spec in specs if spec.is_static]
    if any(shape != shapes[0] for shape in shapes):
        text = ", ".join(map(str, shapes))
        raise InvalidArgumentError(f"replicas give {text}: only values of one shape are added up")
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total


def over_ranks(value: TfTensor, comm: protocol.Comm) -> TfTensor:
    """Return the sum over the ranks."""
    return dressed(collectives.all_reduce(value)) if comm.size > 1 else value


def joined(value: object, axis: int, comm: protocol.Comm) -> object:
    """Return values of all replicas behind each other."""
    parts = list(value.values) if isinstance(value, PerReplica) else [value]
    own = concat(parts, axis) if len(parts) > 1 else convert(parts[0])
    if comm.size == 1:
        return own
    if STATE.context is None:
        found = comm.exchange(np.asarray(own), "all_gather")
        return concat([convert(x) for x in found], axis)
    rank = own.spec.rank
    at = axis % rank
    front = [at, *(n for n in range(rank) if n != at)]
    back = sorted(range(rank), key=lambda n: front[n])
    return transpose(dressed(collectives.all_gather(transpose(own, front))), back)
