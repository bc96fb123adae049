"""Batches of what tensors are in following runs, by queues that are filled meanwhile.

Sparse tensors lie in a queue as texts. What is not to be kept of a run, or of its examples, is
left out before: a queue may be given no rows at all.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from ...graph.graph import Graph, Operation
from ..core.bridge import TfTensor
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import InGraph, InvalidShapesError, convert
from ..graph.queues import FIFOQueue, PaddingFIFOQueue, QueueBase, RandomShuffleQueue
from ..graph.state import get_default_graph
from ..nondense.serialised import deserialize_many_sparse, queued
from ..nondense.sparse_tensor import SparseTensor
from ..ops.array_ops import boolean_mask, broadcast_to, expand_dims, shape
from .filling import fill

Make = Callable[[Sequence[object], Sequence[ShapeLike]], QueueBase]
"""Makes a queue for elements of some types and shapes."""


@dataclass(frozen=True)
class Wish:
    """What batches are to be like."""

    size: object
    make: Make
    capacity: int
    many: bool
    """Whether each run has many examples, along the first axis."""
    smaller: bool
    """Whether the last batch may be smaller."""
    name: str
    shapes: Sequence[ShapeLike] | None = None
    """The shapes of elements, if they are stated."""
    keep: object = True
    """Whether a run is kept, or which of its examples are."""
    threads: int = 1
    least: int = 0
    """How many elements stay in the queue, so that they are mixed."""


def batch(
    tensors: object,
    batch_size: object,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what tensors are in following runs."""
    return maybe_batch(
        tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name or "batch",
    )  # fmt: skip


def maybe_batch(
    tensors: object,
    keep_input: object,
    batch_size: object,
    num_threads: int = 1,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what tensors are in runs, or of the examples, that are to be kept."""
    make = _in_order(capacity, shared_name, pads=dynamic_pad)
    label = name or "batch"
    wish = Wish(batch_size, make, capacity, enqueue_many, allow_smaller_final_batch, label,
                shapes, keep_input, num_threads)  # fmt: skip
    return _batched([tensors], wish)


def batch_join(
    tensors_list: Sequence[object],
    batch_size: object,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what several lists of tensors are."""
    return maybe_batch_join(
        tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
        allow_smaller_final_batch, shared_name, name or "batch_join",
    )  # fmt: skip


def maybe_batch_join(
    tensors_list: Sequence[object],
    keep_input: object,
    batch_size: object,
    capacity: int = 32,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    dynamic_pad: bool = False,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what several lists of tensors are in runs that are to be kept."""
    make = _in_order(capacity, shared_name, pads=dynamic_pad)
    label = name or "batch_join"
    wish = Wish(batch_size, make, capacity, enqueue_many, allow_smaller_final_batch, label, shapes,
                keep_input)  # fmt: skip
    return _batched(tensors_list, wish)


def shuffle_batch(
    tensors: object,
    batch_size: object,
    capacity: int,
    min_after_dequeue: int,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what tensors are in following runs, in a random order."""
    return maybe_shuffle_batch(
        tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many,
        shapes, allow_smaller_final_batch, shared_name, name or "shuffle_batch",
    )  # fmt: skip


def maybe_shuffle_batch(
    tensors: object,
    batch_size: object,
    capacity: int,
    min_after_dequeue: int,
    keep_input: object,
    num_threads: int = 1,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what is to be kept, in a random order."""
    make = _shuffled(capacity, min_after_dequeue, seed, shared_name)
    label = name or "shuffle_batch"
    wish = Wish(batch_size, make, capacity, enqueue_many, allow_smaller_final_batch, label, shapes,
                keep_input, num_threads, min_after_dequeue)  # fmt: skip
    return _batched([tensors], wish)


def shuffle_batch_join(
    tensors_list: Sequence[object],
    batch_size: object,
    capacity: int,
    min_after_dequeue: int,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what several lists of tensors are, in a random order."""
    return maybe_shuffle_batch_join(
        tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many, shapes,
        allow_smaller_final_batch, shared_name, name or "shuffle_batch_join",
    )  # fmt: skip


def maybe_shuffle_batch_join(
    tensors_list: Sequence[object],
    batch_size: object,
    capacity: int,
    min_after_dequeue: int,
    keep_input: object,
    seed: int | None = None,
    enqueue_many: bool = False,
    shapes: Sequence[ShapeLike] | None = None,
    allow_smaller_final_batch: bool = False,
    shared_name: str | None = None,
    name: str | None = None,
) -> object:
    """Return batches of what is to be kept of several lists of tensors, in a random order."""
    make = _shuffled(capacity, min_after_dequeue, seed, shared_name)
    label = name or "shuffle_batch_join"
    wish = Wish(batch_size, make, capacity, enqueue_many, allow_smaller_final_batch, label, shapes,
                keep_input, least=min_after_dequeue)  # fmt: skip
    return _batched(tensors_list, wish)


def _in_order(capacity: int, shared_name: str | None, *, pads: bool) -> Make:
    """Return what makes a queue for elements in order; one that pads takes elements of any size."""

    def make(dtypes: Sequence[object], dims: Sequence[ShapeLike]) -> QueueBase:
        if pads:
            return PaddingFIFOQueue(capacity, dtypes, dims, shared_name=shared_name)
        return FIFOQueue(capacity, dtypes, _known(dims), shared_name=shared_name)

    return make


def _shuffled(capacity: int, least: int, seed: int | None, shared_name: str | None) -> Make:
    """Return what makes a queue that gives elements in a random order."""

    def make(dtypes: Sequence[object], dims: Sequence[ShapeLike]) -> QueueBase:
        return RandomShuffleQueue(
            capacity, least, dtypes, _known(dims), seed=seed, shared_name=shared_name
        )

    return make


def _batched(lists: Sequence[object], wish: Wish) -> object:
    """Return what a queue gives that lists of tensors are put into."""
    names = [sorted(each) if isinstance(each, Mapping) else None for each in lists]
    if any(each != names[0] for each in names):
        raise ValueError("All dicts must have the same keys")
    graph: Graph = get_default_graph()
    with InGraph(graph), graph.name_scope(wish.name) as scope:
        parts = [[_part(x) for x in _listed(each)] for each in lists]
        keep = _kept(wish)
        rows = [[_stored(x, many=wish.many) for x in each] for each in parts]
        dims = _dims(parts[0], rows[0], wish)
        queue = wish.make([x.dtype for x in rows[0]], dims)
        ops = [_enqueue(queue, each, keep, many=wish.many) for each in rows] * wish.threads
        fill(queue, ops, wish.capacity, wish.least)
        take = queue.dequeue_up_to if wish.smaller else queue.dequeue_many
        found = take(wish.size, name=scope)
        listed = found if isinstance(found, list) else [found]
        restored = [_restored(x, p, wish) for x, p in zip(listed, parts[0], strict=True)]
    if isinstance(lists[0], Mapping):
        return dict(zip(sorted(lists[0]), restored, strict=True))
    return restored[0] if len(restored) == 1 else restored


def _listed(tensors: object) -> list[object]:
    """Return the tensors of a list or of a dictionary, by its keys in order."""
    if isinstance(tensors, Mapping):
        return [tensors[key] for key in sorted(tensors)]
    return list(tensors) if isinstance(tensors, list | tuple) else [tensors]


def _part(value: object) -> TfTensor | SparseTensor:
    return value if isinstance(value, SparseTensor) else convert(value)


def _kept(wish: Wish) -> TfTensor | None:
    """Return what says what is kept, None where that is all."""
    if wish.keep is True:
        return None
    keep = convert(wish.keep, "bool")
    rank = keep.shape.rank
    if rank is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if rank == 1 and not wish.many:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if rank > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep


def _stored(part: TfTensor | SparseTensor, *, many: bool) -> TfTensor:
    """Return what is put into a queue for a part."""
    return queued(part, many=many) if isinstance(part, SparseTensor) else part


def _restored(found: object, part: TfTensor | SparseTensor, wish: Wish) -> object:
    """Return a batch of a part from what a queue gave."""
    if not isinstance(part, SparseTensor):
        return found
    rank = part.dense_shape.shape.num_elements()
    axes = None if rank is None else rank + (not wish.many)  # those of the batch
    return deserialize_many_sparse(found, part.dtype, axes)


def _enqueue(
    queue: QueueBase, rows: Sequence[TfTensor], keep: TfTensor | None, *, many: bool
) -> Operation | None:
    """Return what puts rows into a queue that are to be kept."""
    if keep is None:
        return queue.enqueue_many(rows) if many else queue.enqueue(rows)
    if keep.shape.rank == 0:
        rows = rows if many else [expand_dims(x, 0) for x in rows]
        keep = broadcast_to(keep, [shape(rows[0])[0]])
    return queue.enqueue_many([boolean_mask(x, keep) for x in rows])


def _dims(
    parts: Sequence[TfTensor | SparseTensor], rows: Sequence[TfTensor], wish: Wish
) -> list[ShapeLike]:
    """Return the shapes of elements: what is stated, or what is known of them."""
    if wish.shapes is not None:
        texts = [isinstance(part, SparseTensor) for part in parts]
        return [(3,) if text else s for text, s in zip(texts, wish.shapes, strict=True)]
    if any(x.shape.rank is None for x in rows):
        raise ValueError(f"Cannot infer Tensor's rank: {rows}")
    return [x.shape[1:] if wish.many else x.shape for x in rows]


def _known(shapes: Sequence[ShapeLike]) -> Sequence[ShapeLike]:
    """Return the shapes of elements as they are; each must be known."""
    for each in map(TensorShape, shapes):
        if not each.is_fully_defined():
            raise InvalidShapesError(
                f"All shapes must be fully defined: {each}; set_shape() states what is known"
            )
    return shapes
