"""Queues that are filled while a session runs: names of files, slices, batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ....ir.types.tensor import TensorSpec
from ...graph.graph import Graph
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.nested import flatten, pack_sequence_as
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import InGraph, convert
from ..draws.ops import shuffle as shuffled
from ..graph.graph_lists import LOCAL
from ..graph.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from ..graph.state import Variable, get_default_graph
from ..ops.array_ops import shape
from ..ops.creation import range_
from ..ops.gathering import gather
from ..ops.math_ops import identity
from ..train.coordinator import QueueRunner, add_queue_runner


def count_up_to(ref: Variable, limit: int, name: str | None = None) -> TfTensor:
    """Add one to a variable and return what it was; `OutOfRangeError` at the limit."""
    return ref.count_up_to(limit, name)


def limit_epochs(
    tensor: object, num_epochs: int | None = None, name: str | None = None
) -> TfTensor:
    """Return a tensor that can be had so often, then raises `OutOfRangeError`."""
    if num_epochs is None:
        return convert(tensor)
    if num_epochs <= 0:
        raise ValueError(f"num_epochs must be > 0 not {num_epochs}.")
    graph = get_default_graph()
    with InGraph(graph), graph.name_scope(name or "limit_epochs"):
        epochs = Variable(np.int64(0), trainable=False, name="epochs", collections=[LOCAL])
        counter = count_up_to(epochs, num_epochs)
        with graph.control_dependencies([counter]):
            return identity(convert(tensor))


def input_producer(
    input_tensor: object,
    element_shape: object = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: object = None,
    name: str | None = None,
    cancel_op: object = None,
) -> FIFOQueue:
    """Return a queue that is filled with the rows of a tensor, again and again."""
    graph = get_default_graph()
    with InGraph(graph), graph.name_scope(name or "input_producer"):
        rows = convert(input_tensor)
        if rows.shape.rank == 0:
            raise ValueError("input_tensor must have at least one axis")
        element = rows.shape[1:] if element_shape is None else element_shape
        if shuffle:
            rows = shuffled(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(capacity, [rows.dtype], [element], shared_name=shared_name, name=name or
                          "input_producer")  # fmt: skip
        enqueue = queue.enqueue_many([rows])
        add_queue_runner(QueueRunner(queue, [enqueue]))
    return queue


def string_input_producer(
    string_tensor: Any,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
    cancel_op: object = None,
) -> FIFOQueue:
    """Return a queue of texts: the names of files, for a reader."""
    if not hasattr(string_tensor, "spec") and not len(string_tensor):
        raise ValueError("string_input_producer requires a non-null input tensor")
    graph = get_default_graph()
    with InGraph(graph):
        texts = convert(string_tensor, "string")
    return input_producer(texts, [], num_epochs, shuffle, seed, capacity, shared_name, None,
                          name or "input_producer")  # fmt: skip


def range_input_producer(
    limit: object,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> FIFOQueue:
    """Return a queue of the numbers below a limit."""
    with InGraph(get_default_graph()):
        numbers = range_(limit)
    return input_producer(numbers, [], num_epochs, shuffle, seed, capacity, shared_name, None,
                          name or "input_producer")  # fmt: skip


def slice_input_producer(
    tensor_list: Sequence[object],
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    name: str | None = None,
) -> list[object]:
    """Return one row of each tensor, another one in each run."""
    with InGraph(get_default_graph()):
        tensors = [convert(each) for each in tensor_list]
        queue = range_input_producer(
            shape(tensors[0])[0], num_epochs, shuffle, seed, capacity, shared_name, name
        )
        index = queue.dequeue()
        return [gather(each, index) for each in tensors]


def batch(
    tensors: object,
    batch_size: object,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: object = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what tensors are in following runs."""
    make = _queue_of(capacity, shared_name, pads=dynamic_pad)
    many = enqueue_many, allow_smaller_final_batch
    return _batched([tensors], batch_size, num_threads, many, shapes, make, name or "batch")


def batch_join(
    tensors_list: Sequence[object],
    batch_size: int | None,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: object = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what several lists of tensors are."""
    make = _queue_of(capacity, shared_name, pads=dynamic_pad)
    many = enqueue_many, allow_smaller_final_batch
    return _batched(tensors_list, batch_size, 1, many, shapes, make, name or "batch_join")


def _queue_of(capacity: int, shared_name: str | None, *, pads: bool) -> Callable[..., QueueBase]:
    """Return what makes a queue for elements in order; one that pads takes elements of any size."""

    def make(dtypes: object, dims: Sequence[ShapeLike]) -> QueueBase:
        if pads:
            return PaddingFIFOQueue(capacity, dtypes, dims, shared_name=shared_name)
        return FIFOQueue(capacity, dtypes, _known(dims), shared_name=shared_name)

    return make


def shuffle_batch(
    tensors: object,
    batch_size: object,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: object = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what tensors are in following runs, in a random order."""

    def make(dtypes: DTypeLike | None, dims: Sequence[ShapeLike]) -> RandomShuffleQueue:
        return RandomShuffleQueue(
            capacity, min_after_dequeue, dtypes, _known(dims), seed=seed, shared_name=shared_name
        )

    many = enqueue_many, allow_smaller_final_batch
    return _batched([tensors], batch_size, num_threads, many, shapes, make, name or "shuffle_batch")


def _batched(
    lists: Sequence[object], size: object, threads: int, many: tuple[bool, bool], shapes: Any,
    make: Any, name: str,
) -> object:  # fmt: skip
    graph: Graph = get_default_graph()
    with InGraph(graph), graph.name_scope(name):
        rows = [[convert(x) for x in flatten(_plain(each))] for each in lists]
        dims = [_dims(x, many[0]) for x in rows[0]] if shapes is None else list(shapes)
        queue = make([x.dtype for x in rows[0]], dims)
        ops = [
            queue.enqueue_many(each) if many[0] else queue.enqueue(each) for each in rows
        ] * threads  # fmt: skip
        add_queue_runner(QueueRunner(queue, ops))
        found = queue.dequeue_up_to(size) if many[1] else queue.dequeue_many(size)
    listed = found if isinstance(found, list) else [found]
    plain = _plain(lists[0])
    made = pack_sequence_as(plain, listed)
    return made[0] if isinstance(lists[0], list | tuple) and len(listed) == 1 and not isinstance(
        made, Mapping) else made  # fmt: skip


def _plain(tensors: object) -> object:
    return list(tensors) if isinstance(tensors, tuple) else tensors


def _dims(tensor: TfTensor, many: bool) -> tuple[int | None, ...] | None:
    """Return what is known of the shape of an element."""
    dims = tensor.shape._dims
    return dims[1:] if dims is not None and many else dims


def _known(shapes: Sequence[ShapeLike]) -> Sequence[ShapeLike]:
    """Return the shapes of elements as they are; each must be known."""
    for each in map(TensorShape, shapes):
        if not each.is_fully_defined():
            raise InvalidArgumentError(
                f"All shapes must be fully defined: {each}; set_shape() states what is known"
            )
    return shapes


__all__ = ["TensorSpec", "batch", "string_input_producer"]
