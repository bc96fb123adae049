"""Data for replicas: which rows each one gets, and where in them it is.

Where data is shared out here, all ranks read the same elements, and take their parts of each: so
the place in the data is the same on all, and that of any number of ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol, TypeAlias

import numpy as np

from ....ir.op import Array
from ....runtime.comm.protocol import Comm, broadcast
from ...data.stages import Stage
from ...distributed import collectives
from ...eager.tensor import Tensor
from ...values import dtypes
from ...values.run_errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from ..core.bridge import TfTensor
from ..core.nested import flatten
from ..core.shapes import TensorShape
from ..core.specs import TensorSpec
from ..core.values import convert
from ..data.dataset import Dataset
from ..data.iterators import END, EagerIterator, GraphIterator, StreamState
from ..data.optional import Optional
from ..data.options import AutoShardPolicy, Options
from ..nondense.composite import CompositeSpec
from ..nondense.sparse_places import slice_
from ..nondense.sparse_tensor import SparseTensor, SparseTensorSpec
from ..ops.array_ops import concat, shape
from ..ops.creation import zeros, zeros_like
from ..ops.math_ops import FUNCTIONS, cast
from ..ragged.tensor import RaggedTensor, RaggedTensorSpec
from .replicas import PerReplica, mapped, regrouped


class Replicas(Protocol):
    """What the input asks a strategy for."""

    devices: list[str]
    comm: Comm

    @property
    def num_replicas_in_sync(self) -> int:
        """Return how many replicas there are, in all processes."""

    @property
    def first_replica(self) -> int:
        """Return the number of the first replica of this process."""

    def checkpoint_parts(self) -> dict[str, object]:
        """Return what a checkpoint keeps of it."""


class InputContext:
    """Which part of the input a process reads."""

    def __init__(self, strategy: Replicas) -> None:
        self.num_input_pipelines = strategy.comm.size
        self.input_pipeline_id = strategy.comm.rank
        self.num_replicas_in_sync = strategy.num_replicas_in_sync

    def get_per_replica_batch_size(self, global_batch_size: int) -> int:
        """Return the size of a replica's batch."""
        if global_batch_size % self.num_replicas_in_sync:
            raise ValueError(
                f"a batch of {global_batch_size} for {self.num_replicas_in_sync} replicas: "
                "expected a multiple"
            )
        return global_batch_size // self.num_replicas_in_sync


class DistributedDataset:
    """Batches in parts: each replica has as many rows of each batch as the others, or one less.

    Every rank reads the same batches and takes its part of each, so that who gets which rows
    depends on the number of replicas, not on that of ranks.
    """

    def __init__(self, strategy: Replicas, dataset: object, *, split: bool = True) -> None:
        if not isinstance(dataset, Dataset):
            raise TypeError(f"{type(dataset).__name__}, expected a tf.data.Dataset")
        if split and strategy.comm.size > 1:
            refuse_whole(dataset.options())
        self.strategy, self.dataset, self.split = strategy, dataset, split

    @property
    def element_spec(self) -> object:
        """Return the specs of the replicas' parts of batches: a function's signature has them."""
        count = len(self.strategy.devices)
        return mapped(lambda spec: self._spec(spec, count), self.dataset.element_spec)

    def _spec(self, spec: object, count: int) -> object:
        """Return the spec of what replicas have of one tensor."""
        if self.split and isinstance(spec, OF_ROWS):
            rows, *rest = TensorShape(spec.shape).as_list()
            part, more = divmod(rows or 1, self.strategy.num_replicas_in_sync)
            dims = [None if more or rows is None else part, *rest]
            of_places = isinstance(spec, TensorSpec | SparseTensorSpec)
            spec = type(spec)(dims, spec.dtype) if of_places else spec.as_invariant(dims)
        return PerReplica([spec] * count) if count > 1 else spec

    def __iter__(self) -> DistributedIterator:
        return DistributedIterator(self)

    def looped_in_graph(self) -> DistributedIterator:
        """Return what a loop of a graph takes the batches from."""
        return DistributedIterator(self).looped_in_graph()

    def next_in_graph(self) -> tuple[Tensor, object]:
        """Refuse: a loop takes batches from what `looped_in_graph` gives."""
        raise NotImplementedError("a dataset is not read twice at once: see looped_in_graph")

    def part(self, batch: object, number: int) -> object:
        """Return the rows of one replica of this process."""
        place = self.strategy.first_replica + number
        return mapped(lambda x: rows_of(x, place, self.strategy.num_replicas_in_sync), batch)

    @property
    def fills(self) -> bool:
        """Say whether replicas that have no batch get one without rows: batches differ in size."""
        specs = [x for x in flatten(self.dataset.element_spec) if isinstance(x, OF_ROWS)]
        return all(TensorShape(x.shape).as_list()[:1] == [None] for x in specs)

    def __len__(self) -> int:
        every = 1 if self.split else len(self.strategy.devices)
        return (len(self.dataset) + (every - 1 if self.fills else 0)) // every


DISTRIBUTE = ("distribute", "experimental_distribute")
"""Where options say how a dataset is shared out."""


def refuse_whole(options: Options) -> None:
    """Raise if each process is to read all of a dataset, and not its rows of each batch."""
    said = [getattr(options, name).auto_shard_policy for name in DISTRIBUTE]
    if AutoShardPolicy.OFF in said:
        raise UnimplementedError(
            "auto_shard_policy OFF: ranks take their rows of the same batches; "
            "distribute_datasets_from_function gives each rank a dataset of its own"
        )


def rows_of(x: Any, place: int, every: int) -> object:
    """Return the rows that are one replica's, of as many replicas: the first have one more."""
    [size, *_] = TensorShape(x.shape).as_list()
    if size is not None:
        most, more = divmod(size, every)
        start = place * most + min(place, more)
        return cut(x, start, most + (place < more))
    count = count_of(x)
    each, left = count // every, count % every
    begin = place * each + FUNCTIONS["minimum"](left, place)
    return cut(x, begin, each + cast(place < left, each.dtype))


Rows: TypeAlias = TfTensor | RaggedTensor | SparseTensor
OF_ROWS = TensorSpec, RaggedTensorSpec, SparseTensorSpec
"""What batches are like that are cut."""


def count_of(x: Rows) -> TfTensor:
    """Return how many rows a tensor of any kind has."""
    if isinstance(x, SparseTensor):
        return x.dense_shape[0]
    return x.nrows() if isinstance(x, RaggedTensor) else shape(x)[0]


def cut(x: Rows, begin: TfTensor | int, count: TfTensor | int) -> Rows:
    """Return so many rows of a tensor of any kind."""
    if not isinstance(x, SparseTensor):
        return x[begin : begin + count]
    rest = x.dense_shape[1:]
    first, number = (convert(n, rest.dtype)[None] for n in (begin, count))
    return slice_(x, concat([first, zeros_like(rest)], 0), concat([number, rest], 0))


class DistributedIterator:
    """Takes the elements of a dataset for the replicas; a checkpoint keeps its place."""

    def __init__(
        self, of: DistributedDataset, batches: EagerIterator | GraphIterator | None = None
    ) -> None:
        self.of = of
        self.batches = iter(of.dataset) if batches is None else batches
        comm = of.strategy.comm
        if batches is None and comm.size > 1 and of.split and drawn(of.dataset._stage):
            if not isinstance(self.batches, EagerIterator):
                raise InvalidArgumentError(
                    "ranks would read in different orders: shuffle(seed=...) is the same on all"
                )
            state = StreamState(self.batches)
            state.assign(broadcast(comm, state.value_in(None)))

    def __iter__(self) -> DistributedIterator:
        return self

    @property
    def element_spec(self) -> object:
        """Return the specs of the replicas' parts of batches."""
        return self.of.element_spec

    def __next__(self) -> object:
        if self.of.split:
            return self.given([next(self.batches)])
        assert isinstance(self.batches, EagerIterator), "a graph has other ways to the next batch"
        found = [next(self.batches, None) for _ in self.of.strategy.devices]
        if not self.agreed(np.array(found[0 if self.of.fills else -1] is not None)):
            raise StopIteration
        empty = nothing(self.of.dataset.element_spec)
        return self.given([empty if x is None else x for x in found])

    def agreed(self, there: Any) -> Any:
        """Say on all ranks whether there is another batch: on any where it is filled, else on all.

        Who shares one dataset out need not ask.
        """
        comm, how = self.of.strategy.comm, "max" if self.of.fills else "min"
        if self.of.split or comm.size == 1:
            return there
        if isinstance(there, np.ndarray):
            return bool(comm.all_reduce(there.astype(np.int32).reshape(1), how)[0])
        return collectives.all_reduce(cast(there, dtypes.int32), how) > 0

    def get_next(self) -> object:
        """Return the next batch, or raise `OutOfRangeError`."""
        try:
            return next(self)
        except StopIteration:
            raise OutOfRangeError(END) from None

    def get_next_as_optional(self) -> DistributedOptional:
        """Return the next batch, or that there is none."""
        count = 1 if self.of.split else len(self.of.strategy.devices)
        found = [self.batches.get_next_as_optional() for _ in range(count)]
        there: Any = found[0 if self.of.fills else -1].has_value()
        there = self.agreed(np.asarray(there) if there.eager else there)
        return DistributedOptional(self, found, there)

    def looped_in_graph(self) -> DistributedIterator:
        """Return what a loop of a graph takes the batches from."""
        return DistributedIterator(self.of, self.batches.looped_in_graph())

    def next_in_graph(self) -> tuple[Tensor, object]:
        """Return whether there is another batch, and it, each time that the graph runs."""
        count = 1 if self.of.split else len(self.of.strategy.devices)
        found = [self.batches.next_in_graph() for _ in range(count)]
        there, batches = zip(*found, strict=True)
        if self.of.split or not self.of.fills:
            return self.agreed(there[-1]), self.given(batches)
        rows = [mapped(partial(rows_if, here), batch) for here, batch in found]
        return self.agreed(there[0]), self.given(rows)

    def given(self, batches: Sequence[object]) -> object:
        """Return what the replicas get of a batch, or of a batch for each."""
        if not self.of.split:
            return regrouped(list(batches))
        numbers = range(len(self.of.strategy.devices))
        return regrouped([self.of.part(batches[0], number) for number in numbers])

    def checkpoint_parts(self) -> dict[str, object]:
        """Return what a checkpoint keeps: one state for all ranks, where they read the same.

        Replicas that add up in order go on drawing where they were, too.
        """
        if not isinstance(self.batches, EagerIterator):
            raise InvalidArgumentError("an iterator of a function has no place to be kept")
        if not self.of.split:
            return {"ITERATOR_STATE": RankState(self.batches, self.of.strategy.comm)}
        return {**self.batches.checkpoint_parts(), **self.of.strategy.checkpoint_parts()}


class DistributedOptional:
    """A batch for replicas, or that there is none."""

    def __init__(
        self, iterator: DistributedIterator, found: Sequence[Optional], there: object
    ) -> None:
        self.iterator, self.found, self.there = iterator, found, there

    def has_value(self, name: str | None = None) -> object:
        """Say whether there is a batch for the replicas."""
        return convert(self.there)

    def get_value(self, name: str | None = None) -> object:
        """Return the batch; there must be one."""
        first, *_ = self.found
        here: Any = first.has_value()
        if not here.eager or not bool(self.there):
            return self.iterator.given([each.get_value() for each in self.found])
        empty = nothing(self.iterator.of.dataset.element_spec)
        there = [bool(each.has_value()) for each in self.found]
        pairs = zip(self.found, there, strict=True)
        return self.iterator.given([each.get_value() if here else empty for each, here in pairs])

    @property
    def element_spec(self) -> object:
        """Return what a batch is like."""
        return self.iterator.element_spec


def nothing(spec: object) -> object:
    """Return a batch without rows, of what batches are like."""

    def empty(leaf: Any) -> object:
        if isinstance(leaf, CompositeSpec):
            return leaf.made([convert(x) for x in leaf.without_rows()])
        dims = TensorShape(leaf.shape).as_list()
        return zeros([0 if n is None else n for n in dims], leaf.dtype)

    return mapped(empty, spec)


def rows_if(there: object, x: Rows) -> Rows:
    """Return all rows of a batch, or none."""
    count = count_of(x)
    return cut(x, 0, count * cast(there, count.dtype))


def drawn(stage: Stage) -> bool:
    """Say whether elements come in an order, or are numbers, that each process draws by itself."""
    return stage.options.get("seeds", ()) is None or any(map(drawn, stage.inputs))


class RankState(StreamState):
    """The place in a rank's own data: bytes, behind the number of the rank and that of ranks."""

    def __init__(self, iterator: EagerIterator, comm: Comm) -> None:
        super().__init__(iterator)
        self.place = np.array([comm.rank, comm.size], np.int64)

    def value_in(self, store: object) -> Array:
        """Return the state as an array of bytes."""
        return np.concatenate([self.place.view(np.uint8), super().value_in(store)])

    def assign(self, value: object) -> None:
        """Go on from a state of the same rank."""
        data = np.asarray(value, np.uint8)
        saved = data[:16].view(np.int64)
        if not np.array_equal(saved, self.place):
            raise InvalidArgumentError(
                f"the place in the data of rank {saved[0]} of {saved[1]}, restored on rank "
                f"{self.place[0]} of {self.place[1]}: each rank has a pipeline of its own",
                hint="experimental_distribute_dataset has one place for any number of ranks",
            )
        super().assign(data[16:])
