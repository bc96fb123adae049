"""Queues by TensorFlow's names: `tf.queue.FIFOQueue` and `tf.queue.RandomShuffleQueue`."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import reduce
from itertools import count
from typing import Any, TypeAlias, TypeVar

from ....ir.types.tensor import Array
from ....runtime.queues import component
from ...function.traces import ACTIVE
from ...graph import queue_ops as q
from ...graph.graph import Graph, Kind, Operation
from ...values.context import STATE
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, dressed, row_of, wrap
from ..core.names import device
from ..core.shapes import ShapeLike, TensorShape
from ..core.values import InGraph, convert, graph_of, static

_NUMBERS = count()
Made = TypeVar("Made")
Done: TypeAlias = Operation | Sequence[Array]
"""What a step on a queue is in a graph, or what it gave at once."""
Element: TypeAlias = TfTensor | list[TfTensor] | dict[str, TfTensor]
"""An element of a queue: one tensor, several, or several by their names."""


def tensors_in(made: Done) -> Sequence[TfTensor]:
    """Return what a step on a queue gives."""
    if isinstance(made, Operation):
        return [dressed(x) for x in made.outputs]
    return [wrap(component(x)) for x in made]


class QueueBase:
    """A queue of elements, each of one or several tensors."""

    _shuffled = _padded = _on_processor = False

    def __init__(
        self,
        capacity: int,
        dtypes: Any,
        shapes: object = None,
        names: Any = None,
        shared_name: str | None = None,
        name: str = "queue",
        **more: Any,
    ) -> None:
        single = not isinstance(dtypes, list | tuple)
        self.dtypes = [dtypes] if single else list(dtypes)
        listed = None if shapes is None else _shapes(shapes, len(self.dtypes))
        self.names = [names] if isinstance(names, str) else names
        self.shapes = [TensorShape(s) for s in listed or [None] * len(self.dtypes)]
        context = STATE.context
        self._graph = context if isinstance(context, Graph) else None
        self._name = name if self._graph is None else self._graph.unique_name(name)
        self._label = f"_{next(_NUMBERS)}_{self._name}"
        rows_ = [row_of(d) for d in self.dtypes]
        self._spec = q.QueueSpec(
            self._label, capacity, [r for r in rows_ if r is not None], listed,
            shuffled=self._shuffled, shared=shared_name or "",
            container=self._graph.container_name if self._graph is not None else "", **more,
        )  # fmt: skip
        if self._graph is not None:
            self._spec.device = self._graph.device_of(q.size(self._spec))
        with device("CPU") if self._on_processor else nullcontext():
            self._ref = self._do(q.reference(self._spec), [], f"{self._name}/")

    @property
    def queue_ref(self) -> TfTensor:
        """Return what stands for the queue."""
        return tensors_in(self._ref)[0]

    @property
    def name(self) -> str:
        """Return the name of the queue."""
        return self._name

    @staticmethod
    def from_list(index: object, queues: Sequence[QueueBase]) -> QueueBase:
        """Return the queue of a number among several, which a run may say."""
        if not queues or not all(isinstance(each, QueueBase) for each in queues):
            raise TypeError("A list of queues expected")
        return ChosenQueue(index, queues)

    def _values(self, vals: object, *, many: bool) -> list[TfTensor]:
        if self.names and not isinstance(vals, dict):
            raise ValueError("You must enqueue a dictionary in a Queue with names")
        if isinstance(vals, dict):
            if not self.names:
                raise ValueError("a queue must have names for a dictionary to be put in")
            if sorted(vals) != sorted(self.names):
                raise ValueError(
                    f"{sorted(vals)} do not match names of Queue, which are {self.names}"
                )
            listed = [vals[n] for n in self.names]
        elif isinstance(vals, list | tuple):
            listed = list(vals)[: len(self.dtypes)]  # (what is beyond them is passed over)
        else:
            listed = [vals]
        if len(listed) != len(self.dtypes):
            raise ValueError(f"Expected {len(self.dtypes)} components, got {len(listed)}")
        made = [convert(v, t) for v, t in zip(listed, self.dtypes, strict=True)]
        count = TensorShape([None])
        for value, shape in zip(made, self.shapes, strict=True):
            if many and value.shape.rank == 0:
                raise ValueError("several elements are slices of a tensor, but one has rank 0")
            given = value.shape[1:] if many else value.shape
            if not given.is_compatible_with(shape):
                raise ValueError(f"Shapes {given} and {shape} are incompatible")
            count = count.merge_with(value.shape[:1]) if many and value.shape.rank else count
        return made

    def _do(self, kind: q.QueueKind, values: Sequence[object], name: str | None) -> Done:
        graph = graph_of(list(values)) or self._graph
        if graph is not None:
            with InGraph(graph):
                made: Kind = kind
                return graph.add(made, [graph.owned(convert(v)) for v in values], name=name)
        arrays = [component(v.numpy() if hasattr(v, "numpy") else v) for v in values]
        use = q.Use(self._spec, self._spec.queue(ACTIVE[-1]), wait=True)
        return q.carry_out(kind, use, arrays)

    def _given(self, made: Done) -> Element:
        found: Sequence[TfTensor] = tensors_in(made)
        if self.names:
            return dict(zip(self.names, found, strict=True))
        return found[0] if len(found) == 1 else list(found)

    def _put(
        self, kind: q.QueueKind, vals: object, name: str | None, *, many: bool = False
    ) -> Operation | None:
        with InGraph(graph_of([vals]) or self._graph):
            made = self._do(kind, self._values(vals, many=many), name)
        return made if isinstance(made, Operation) else None

    def enqueue(self, vals: object, name: str | None = None) -> Operation | None:
        """Put one element in; wait while the queue is full."""
        return self._put(q.enqueue(self._spec), vals, name or self._called("enqueue"))

    def enqueue_many(self, vals: object, name: str | None = None) -> Operation | None:
        """Put the slices along the first axis in."""
        named = name or self._called("EnqueueMany")
        return self._put(q.enqueue_many(self._spec), vals, named, many=True)

    def dequeue(self, name: str | None = None) -> Element:
        """Take one element out; wait till there is one."""
        named = name or self._called("Dequeue")
        return self._given(self._do(q.dequeue(self._spec), (), named))

    def dequeue_many(self, n: object, name: str | None = None) -> Element:
        """Take so many elements out, stacked; wait till there are so many."""
        return self._take(n, name, partial=False)

    def dequeue_up_to(self, n: object, name: str | None = None) -> Element:
        """Take so many elements out, or what a closed queue has left."""
        return self._take(n, name, partial=True)

    def _take(self, n: object, name: str | None, *, partial: bool) -> Element:
        open_ = any(s._dims is None or None in s._dims for s in self.shapes)
        if open_ and not self._padded:
            raise InvalidArgumentError(
                f"{self._spec.kind} '{self._label}': several elements are taken only of a queue "
                "with specified shapes"
            )
        known = static(n)
        kind = q.dequeue_many(self._spec, known if isinstance(known, int) else -1, partial=partial)
        named = name or self._called("DequeueUpTo" if partial else "DequeueMany")
        with InGraph(self._graph):
            return self._given(self._do(kind, [convert(n, "int32")], named))

    def size(self, name: str | None = None) -> TfTensor:
        """Return how many elements there are."""
        return self._first(self._do(q.size(self._spec), (), name or self._called("Size")))

    def is_closed(self, name: str | None = None) -> TfTensor:
        """Return whether the queue is closed."""
        named = name or self._called("Is_Closed")
        return self._first(self._do(q.is_closed(self._spec), (), named))

    def _first(self, made: Done) -> TfTensor:
        return tensors_in(made)[0]

    def close(
        self, cancel_pending_enqueues: bool = False, name: str | None = None
    ) -> Operation | None:
        """Let nothing more in."""
        named = name or self._called("Close")
        made = self._do(q.close(self._spec, cancel=cancel_pending_enqueues), (), named)
        return made if isinstance(made, Operation) else None

    def _called(self, does: str) -> str:
        """Return the name of an operation on the queue: that of the queue is in front."""
        return f"{self._name.rpartition('/')[2]}_{does}"


def _shapes(shapes: Any, count_: int) -> list[Any]:
    """Return the shape of each component: one shape by itself is that of the only one."""
    if isinstance(shapes, TensorShape):
        return [shapes._dims]
    listed = list(shapes)
    if count_ == 1 and not (len(listed) == 1 and isinstance(listed[0], list | tuple | TensorShape)):
        return [TensorShape(listed)._dims]
    return [TensorShape(s)._dims for s in listed]


class ChosenQueue(QueueBase):
    """One of several queues of the same components: which one a run says."""

    def __init__(self, index: object, queues: Sequence[QueueBase]) -> None:
        first = queues[0]
        for each in queues[1:]:
            if [*map(row_of, each.dtypes)] != [*map(row_of, first.dtypes)]:
                raise TypeError("Queues do not have matching component dtypes.")
            if each.names != first.names:
                raise TypeError("Queues do not have matching component names.")
        self.dtypes, self.names, self._graph = first.dtypes, first.names, first._graph
        pairs = zip(*(each.shapes for each in queues), strict=True)
        self.shapes = [reduce(TensorShape.most_specific_compatible_shape, x) for x in pairs]
        self._index, self._queues = convert(index, "int32"), list(queues)
        self._name, self._label, self._padded = first._name, first._label, first._padded
        self._spec, self._ref = first._spec, first._ref

    def _do(self, kind: q.QueueKind, values: Sequence[object], name: str | None) -> Done:
        kinds = [q.MAKERS[kind.type](each._spec, **kind.options) for each in self._queues]
        if self._graph is not None:
            return super()._do(q.ChosenKind(kinds, kind.specs), [self._index, *values], name)
        number = int(self._index)
        q.check_choice(number, len(kinds))
        return self._queues[number]._do(kinds[number], values, name)


class FIFOQueue(QueueBase):
    """First in, first out."""

    _on_processor = True

    def __init__(
        self,
        capacity: int,
        dtypes: object,
        shapes: object = None,
        names: object = None,
        shared_name: str | None = None,
        name: str = "fifo_queue",
    ) -> None:
        super().__init__(capacity, dtypes, shapes, names, shared_name, name)


class PaddingFIFOQueue(QueueBase):
    """First in, first out; several that are taken at once are filled up to the greatest."""

    _padded = True

    def __init__(
        self,
        capacity: int,
        dtypes: object,
        shapes: object,
        names: object = None,
        shared_name: str | None = None,
        name: str = "padding_fifo_queue",
    ) -> None:
        if shapes is None:
            raise ValueError(
                "When providing partial shapes, a list of shapes must be provided: elements are "
                "filled up"
            )
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, padded=True)
        if any(s._dims is None for s in self.shapes):
            raise ValueError("each shape must have a defined rank: elements are filled up")


class PriorityQueue(QueueBase):
    """The lowest number first: each element has one, in front of its components."""

    def __init__(
        self,
        capacity: int,
        types: Sequence[object],
        shapes: Sequence[ShapeLike] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        name: str = "priority_queue",
    ) -> None:
        types = list(types) if isinstance(types, list | tuple) else [types]
        own = [()] * len(types) if shapes is None else _shapes(shapes, len(types))
        listed = [(), *own]
        every = ["int64", *types]
        super().__init__(capacity, every, listed, names, shared_name, name, ranked=True)


class Mutex(QueueBase):
    """A lock that operations take and give back: a queue with room for one."""

    def __init__(self, shared_name: str | None = None, name: str = "mutex") -> None:
        super().__init__(1, [], None, None, shared_name, name)

    def acquire(self, name: str | None = None) -> Operation | None:
        """Wait until nobody has it, and take it."""
        return self._effect(q.mutex_acquire(self._spec), name)

    def release(self, name: str | None = None) -> Operation | None:
        """Give it back."""
        return self._effect(q.mutex_release(self._spec), name)

    def _effect(self, kind: q.QueueKind, name: str | None) -> Operation | None:
        made = self._do(kind, (), name)
        return made if isinstance(made, Operation) else None


class RandomShuffleQueue(QueueBase):
    """Elements come out in a random order; while it is open some stay, so that they are mixed."""

    _shuffled = True

    def __init__(
        self,
        capacity: int,
        min_after_dequeue: int,
        dtypes: object,
        shapes: object = None,
        names: object = None,
        seed: int | None = None,
        shared_name: str | None = None,
        name: str = "random_shuffle_queue",
    ) -> None:
        more = {"least": min_after_dequeue, "seed": seed}
        super().__init__(capacity, dtypes, shapes, names, shared_name, name, **more)


class CriticalSection:
    """A part of a program that only one thread is in at a time.

    Operations of one graph follow the order in which they were made, so that of two parts of a
    graph one is over before the other one begins.
    """

    def __init__(
        self,
        name: str | None = None,
        shared_name: str | None = None,
        critical_section_def: object = None,
        import_scope: str | None = None,
    ) -> None:
        if critical_section_def is not None or import_scope is not None:
            raise ValueError("critical_section_def and import_scope are not here, expected None")
        self.name = shared_name or name or "critical_section"
        self._lock = threading.RLock()

    def execute(
        self,
        fn: Callable[[], Made],
        exclusive_resource_access: bool = True,
        name: str | None = None,
    ) -> Made:
        """Return what a function gives, while no other thread is in the section."""
        with self._lock:
            return fn()
