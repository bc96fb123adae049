"""Operations on queues.

Each session has the elements of its own, the process has those of eager code and of functions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from ...ir.types.dtypes import DType
from ...ir.types.tensor import Array, TensorSpec, spec_of_array
from ...runtime.queues import ClosedError, DrainedError, Queue, component, padded, stacked
from ..values.arrays import as_listed
from ..values.run_errors import CancelledError, InvalidArgumentError, OutOfRangeError
from .frame import REFERENCE, Frame, OutsideError, SharedByName, Store
from .graph import Kind, Operation, spec_with_unknowns


class QueueSpec(SharedByName):
    """What graphs know of a queue: its kind, its capacity, and what an element is."""

    def __init__(  # noqa: PLR0913  (as many as a queue has)
        self,
        name: str,
        capacity: int,
        dtypes: Sequence[DType],
        shapes: Sequence[Sequence[int | None] | None] | None,
        *,
        least: int = 0,
        shuffled: bool = False,
        seed: int | None = None,
        shared: str = "",
        ranked: bool = False,
        padded: bool = False,
        container: str = "",
    ) -> None:
        super().__init__(name, shared, container)
        self.capacity, self.dtypes = capacity, tuple(dtypes)
        self.shapes = None if shapes is None else tuple(shapes)
        self.least, self.shuffled, self.seed = least, shuffled, seed
        self.ranked, self.padded = ranked, padded
        """Whether the lowest number comes first, and whether elements are filled up."""
        self.device = ""
        """The device that it was made on in a graph: all that uses it runs there."""

    @property
    def kind(self) -> str:
        """Return the name of the kind of queue."""
        if self.shuffled or self.ranked:
            return "RandomShuffleQueue" if self.shuffled else "PriorityQueue"
        return "PaddingFIFOQueue" if self.padded else "FIFOQueue"

    def stated(self) -> dict[str, object]:
        """Return the attributes of what makes it, by TensorFlow's names."""
        first = int(self.ranked)  # the number that elements are ranked by is not counted
        shapes = [] if self.shapes is None else self.specs()[first:]
        least = {"min_after_dequeue": self.least} if self.shuffled else {}
        types = list(self.dtypes[first:])
        made = {"capacity": self.capacity, "component_types": types, "shapes": shapes}
        return {**super().stated(), **made, **least}

    def specs(self, count: int | None = None) -> list[TensorSpec]:
        """Return the specs of one element, or of several along a first axis (-1: unknown)."""
        front = () if count is None else (None if count < 0 else count,)
        shapes = self.shapes or (None,) * len(self.dtypes)
        return [
            spec_with_unknowns(d, None if s is None else (*front, *s))
            for d, s in zip(self.dtypes, shapes, strict=True)
        ]

    def queue(self, store: Store) -> Queue:
        """Return the queue in a store, made now if there is none."""
        with store.lock:
            kept, key = self.place(store)
            found: Queue | None = kept.get(key)
            if found is None:
                random = np.random.default_rng(self.seed) if self.shuffled else None
                found = kept[key] = Queue(self.capacity, self.least, random, ranked=self.ranked)
                SAID[found] = self.said
        if self.shared and SAID[found] != self.said:
            raise InvalidArgumentError(
                f"Shared queue '{self.shared}' is {SAID[found]}, expected {self.said}"
            )
        return found

    @property
    def said(self) -> str:
        """Return what all that share a queue must say of it."""
        types = ", ".join(map(str, self.dtypes))
        shapes = ", ".join("?" if s is None else as_listed(s) for s in self.shapes or ())
        return (
            f"a {self.kind} with capacity {self.capacity}, component types ({types}) and "
            f"component shapes ({shapes})"
        )

    def check(self, values: Sequence[object], front: int) -> None:
        """Raise unless values have the shapes of elements, behind so many axes."""
        for i, (value, shape) in enumerate(zip(values, self.shapes or (), strict=False)):
            found = np.asarray(value).shape[front:]
            if shape is not None and (
                len(found) != len(shape)
                or any(s is not None and s != f for s, f in zip(shape, found, strict=True))
            ):
                whole = np.asarray(value).shape
                raise InvalidArgumentError(
                    f"Shape mismatch in tuple component {i}. Expected "
                    f"{as_listed((*whole[:front], *shape))}, got {as_listed(whole)}"
                )


SAID: WeakKeyDictionary[Queue, str] = WeakKeyDictionary()
"""What was said of a queue when it was made."""

Step = Callable[["Use", Sequence[Array]], Sequence[Array]]


@dataclass(frozen=True)
class Use:
    """A queue, and whether its user waits for elements or for room."""

    spec: QueueSpec
    queue: Queue
    wait: bool


class QueueKind(Kind):
    """One use of a queue, which may wait for another thread."""

    stateful = True
    waits = True

    def __init__(
        self, name: str, queue: QueueSpec, step: Step, specs: Sequence[TensorSpec]
    ) -> None:
        self.type, self.queue, self.step, self.specs = name, queue, step, list(specs)
        self.home = queue.device
        self.options: dict[str, object] = {}
        """What it was made with, beside the queue."""
        self.line = queue, "Dequeue" in name

    def stated(self) -> Mapping[str, object]:
        """Return what the queue was made with, for the operation that stands for it."""
        return self.queue.stated() if self.type == f"{self.queue.kind}V2" else {}

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the specs of the results."""
        return self.specs

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Use the queue of the session."""
        if frame.is_staging:
            raise OutsideError("a queue")
        use = Use(self.queue, self.queue.queue(frame.store), frame.patient)
        return carry_out(self, use, [component(x) for x in inputs])

    def gradient(self, op: Operation, grads: Sequence[object], emit: object) -> Sequence[object]:
        """Return nothing: what comes out of a queue was put in by another step."""
        return (None,) * len(op.inputs)


class ChosenKind(QueueKind):
    """One use of one of several queues: the first input says of which one."""

    def __init__(self, kinds: Sequence[QueueKind], specs: Sequence[TensorSpec]) -> None:
        first = kinds[0]
        super().__init__(first.type, first.queue, first.step, specs)
        self.kinds, self.options = list(kinds), dict(first.options)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Use the queue of that number."""
        number = int(np.asarray(inputs[0]))
        check_choice(number, len(self.kinds))
        return self.kinds[number].run(frame, op, inputs[1:])


def check_choice(number: int, count: int) -> None:
    """Raise unless there is a queue of a number."""
    if not 0 <= number < count:
        raise InvalidArgumentError(f"index {number} is not in [0, {count})")


def carry_out(kind: QueueKind, use: Use, values: Sequence[Array]) -> Sequence[Array]:
    """Use a queue; what its state forbids is an error by TensorFlow's name."""
    name = kind.queue.name
    try:
        return kind.step(use, values)
    except ClosedError:
        why = "was cancelled, with its session" if use.queue.abandoned else "is closed."
        raise CancelledError(f"{kind.queue.kind} '{name}' {why}") from None
    except DrainedError as error:
        raise OutOfRangeError(
            f"{kind.queue.kind} '{name}' is closed and has insufficient elements ({error})"
        ) from None


def _enqueue(use: Use, values: Sequence[Array]) -> Sequence[Array]:
    use.spec.check(values, 0)
    use.queue.put([tuple(values)], wait=use.wait)
    return ()


def _enqueue_many(use: Use, values: Sequence[Array]) -> Sequence[Array]:
    use.spec.check(values, 1)
    rows = [tuple(map(component, row)) for row in zip(*values, strict=True)]
    use.queue.put(rows, wait=use.wait)
    return ()


def _dequeue(use: Use, values: Sequence[Array]) -> Sequence[Array]:
    return use.queue.take(1, wait=use.wait)[0]


def _many(*, partial: bool) -> Step:
    def step(use: Use, values: Sequence[Array]) -> Sequence[Array]:
        count = int(values[0])
        if not count:
            shapes = zip(use.spec.shapes or (), use.spec.dtypes, strict=True)
            return [np.zeros((0, *(n or 0 for n in s or ())), d.numpy) for s, d in shapes]
        found = use.queue.take(count, partial=partial, wait=use.wait)
        return padded(found) if use.spec.padded else stacked(found)

    return step


def _close(cancel: bool) -> Step:
    def step(use: Use, values: Sequence[Array]) -> Sequence[Array]:
        use.queue.close(cancel=cancel, wait=use.wait)
        return ()

    return step


INT, TRUTH = spec_of_array(np.array(0, np.int32)), spec_of_array(np.array(True))


def reference(queue: QueueSpec) -> QueueKind:
    """Return the operation that stands for the queue itself."""

    def step(use: Use, values: Sequence[Array]) -> Sequence[Array]:
        return (use.spec.reference(),)

    made = QueueKind(f"{queue.kind}V2", queue, step, (REFERENCE,))
    made.waits = False
    made.home = ""  # it is made where its maker says
    return made


def enqueue(queue: QueueSpec) -> QueueKind:
    """Return the operation that puts one element in."""
    return QueueKind("QueueEnqueueV2", queue, _enqueue, ())


def enqueue_many(queue: QueueSpec) -> QueueKind:
    """Return the operation that puts the slices along the first axis in."""
    return QueueKind("QueueEnqueueManyV2", queue, _enqueue_many, ())


def dequeue(queue: QueueSpec) -> QueueKind:
    """Return the operation that takes one element out."""
    return QueueKind("QueueDequeueV2", queue, _dequeue, queue.specs())


def dequeue_many(queue: QueueSpec, count: int, *, partial: bool = False) -> QueueKind:
    """Return the operation that takes several elements out, stacked."""
    name = "QueueDequeueUpToV2" if partial else "QueueDequeueManyV2"
    specs = queue.specs(-1 if partial else count)
    made = QueueKind(name, queue, _many(partial=partial), specs)
    made.options = {"count": count, "partial": partial}
    return made


def mutex_acquire(mutex: QueueSpec) -> QueueKind:
    """Return the operation that waits until nobody has a mutex, and takes it."""
    return QueueKind("MutexAcquire", mutex, _enqueue, ())


def mutex_release(mutex: QueueSpec) -> QueueKind:
    """Return the operation that gives a mutex back."""

    def step(use: Use, values: Sequence[Array]) -> Sequence[Array]:
        if not use.queue.size():
            raise InvalidArgumentError(f"mutex '{use.spec.name}' is given back, but nobody has it")
        use.queue.take(1)
        return ()

    return QueueKind("MutexRelease", mutex, step, ())


def close(queue: QueueSpec, *, cancel: bool) -> QueueKind:
    """Return the operation that lets nothing more in."""
    made = QueueKind("QueueCloseV2", queue, _close(cancel), ())
    made.options = {"cancel": cancel}
    return made


def size(queue: QueueSpec) -> QueueKind:
    """Return the operation that counts the elements."""

    def step(use: Use, values: Sequence[Array]) -> Sequence[Array]:
        return (np.array(use.queue.size(), np.int32),)

    return QueueKind("QueueSizeV2", queue, step, (INT,))


def is_closed(queue: QueueSpec) -> QueueKind:
    """Return the operation that asks whether the queue is closed."""

    def step(use: Use, values: Sequence[Array]) -> Sequence[Array]:
        return (np.array(use.queue.closed),)

    return QueueKind("QueueIsClosedV2", queue, step, (TRUTH,))


MAKERS: dict[str, Callable[..., QueueKind]] = {
    "QueueEnqueueV2": enqueue,
    "QueueEnqueueManyV2": enqueue_many,
    "QueueDequeueV2": dequeue,
    "QueueDequeueManyV2": dequeue_many,
    "QueueDequeueUpToV2": dequeue_many,
    "MutexAcquire": mutex_acquire,
    "MutexRelease": mutex_release,
    "QueueCloseV2": close,
    "QueueSizeV2": size,
    "QueueIsClosedV2": is_closed,
    **dict.fromkeys(
        ("FIFOQueueV2", "PaddingFIFOQueueV2", "PriorityQueueV2", "RandomShuffleQueueV2"), reference
    ),
}
"""By type: what makes the operation of a queue and its options, for graphs that are read."""
