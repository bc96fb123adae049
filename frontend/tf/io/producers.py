"""Queues that are filled while a session runs: names of files, numbers, slices."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.bridge import TfTensor
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import InGraph, convert
from ..draws.ops import shuffle as shuffled
from ..graph.debugging import Assert
from ..graph.graph_lists import LOCAL
from ..graph.queues import FIFOQueue
from ..graph.state import Variable, get_default_graph
from ..ops.array_ops import shape, size
from ..ops.creation import range_
from ..ops.gathering import gather
from ..ops.math_ops import identity
from .files import matching_files
from .filling import fill


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


def match_filenames_once(pattern: object, name: str | None = None) -> Variable:
    """Return a local variable of the names of files that a pattern names when it begins."""
    graph = get_default_graph()
    with InGraph(graph), graph.name_scope(name or "matching_filenames"):
        found = matching_files(pattern)
        return Variable(found, False, name="matching_filenames", collections=[LOCAL])


def input_producer(
    input_tensor: object,
    element_shape: ShapeLike = None,
    num_epochs: int | None = None,
    shuffle: bool = True,
    seed: int | None = None,
    capacity: int = 32,
    shared_name: str | None = None,
    summary_name: str | None = None,
    name: str | None = None,
    cancel_op: object = None,
) -> FIFOQueue:
    """Return a queue that is filled with the rows of a tensor, again and again."""
    graph = get_default_graph()
    with InGraph(graph), graph.name_scope(name or "input_producer"):
        rows = convert(input_tensor)
        if rows.shape.rank == 0:
            raise ValueError("input_tensor must have at least one axis")
        element = rows.shape[1:].merge_with(TensorShape(element_shape))
        if not element.is_fully_defined():
            raise ValueError(
                "Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                "specified"
            )
        if shuffle:
            rows = shuffled(rows, seed=seed)
        rows = limit_epochs(rows, num_epochs)
        queue = FIFOQueue(capacity, [rows.dtype], [element], shared_name=shared_name, name=name or
                          "FIFOQueueV2")  # fmt: skip
        fill(queue, [queue.enqueue_many([rows])], capacity, summary_name=summary_name)
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
    empty = "string_input_producer requires a non-null input tensor"
    if not hasattr(string_tensor, "spec") and not len(string_tensor):
        raise ValueError(empty)
    graph = get_default_graph()
    with InGraph(graph), graph.name_scope(name or "input_producer") as scope:
        texts = convert(string_tensor, "string")
        with graph.control_dependencies([Assert(size(texts) > 0, [empty])]):
            texts = identity(texts)
        return input_producer(texts, [], num_epochs, shuffle, seed, capacity, shared_name, None,
                              scope)  # fmt: skip


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
    graph = get_default_graph()
    with InGraph(graph), graph.name_scope(name or "input_producer") as scope:
        numbers = range_(limit)
        return input_producer(numbers, [], num_epochs, shuffle, seed, capacity, shared_name, None,
                              scope)  # fmt: skip


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
    graph = get_default_graph()
    with InGraph(graph), graph.name_scope(name or "input_producer"):
        tensors = [convert(each) for each in tensor_list]
        queue = range_input_producer(
            shape(tensors[0])[0], num_epochs, shuffle, seed, capacity, shared_name
        )
        index = queue.dequeue()
        return [gather(each, index) for each in tensors]
