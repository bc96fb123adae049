"""Accumulators: sums of what several steps give, taken when there are enough of them.

What was computed from variables that have changed since, by its step, is dropped: so of several
replicas the first ones count, and who is late does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...ir.op import Array
from ...ir.types.dtypes import DType, i64
from ...ir.types.tensor import TensorSpec, spec_of_array
from ...runtime.queues import CHANGES, WouldWaitError
from ..values.run_errors import CancelledError, InvalidArgumentError
from .frame import REFERENCE, Frame, OutsideError, SharedByName, Store
from .graph import Kind, Operation, spec_with_unknowns


class AccumulatorSpec(SharedByName):
    """What graphs know of an accumulator."""

    def __init__(
        self,
        name: str,
        dtype: DType,
        shape: Sequence[int | None] | None,
        shared: str = "",
        way: str = "MEAN",
        container: str = "",
    ) -> None:
        super().__init__(name, shared, container)
        self.dtype, self.way = dtype, way
        self.shape = None if shape is None else tuple(shape)

    def spec(self) -> TensorSpec:
        """Return the spec of what is taken."""
        return spec_with_unknowns(self.dtype, self.shape)

    def rows(self) -> TensorSpec:
        """Return the spec of some rows of it."""
        return spec_with_unknowns(self.dtype, self.shape and (None, *self.shape[1:]))

    def held(self, store: Store) -> Accumulated:
        """Return what a store has of it, nothing at first."""
        with store.lock:
            kept, key = self.place(store)
            found: Accumulated = kept.setdefault(key, Accumulated())
        return found

    def check(self, found: Sequence[int | None]) -> None:
        """Raise unless a shape is that of all values."""
        shape = self.shape
        if shape is not None and (
            len(shape) != len(found)
            or any(None not in (a, b) and a != b for a, b in zip(shape, found, strict=True))
        ):
            raise InvalidArgumentError(
                f"accumulator '{self.name}': shape {[*found]}, expected {[*shape]}"
            )


class Accumulated:
    """The sum of what was given since something was taken."""

    def __init__(self) -> None:
        self.total: Array | None = None
        self.rows: dict[int, tuple[Array, int]] = {}
        """By index: the sum of the rows that were given for it, and by how many."""
        self.inner: tuple[int, ...] = ()
        """The shape of these rows, also where there are none."""
        self.count = self.step = 0
        self.abandoned = False

    def abandon(self) -> None:
        """Let nobody wait for gradients any more."""
        self.abandoned = True
        CHANGES.note()


Use = Callable[[AccumulatorSpec, Accumulated, Frame, Sequence[Array]], Sequence[Array]]
INDICES = spec_with_unknowns(i64, (None,))
COUNT = spec_of_array(np.array(0, np.int32))


class AccumulatorKind(Kind):
    """One use of an accumulator."""

    stateful = True

    def __init__(self, name: str, accumulator: AccumulatorSpec) -> None:
        self.type, self.queue = name, accumulator
        self.use, specs = USES[name]
        own = accumulator.rows() if name.startswith("Sparse") else accumulator.spec()
        self.specs = [own if spec is None else spec for spec in specs]
        self.waits = name.endswith("TakeGradient")
        self.line = accumulator, name

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return the specs of the results."""
        return self.specs

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Use what the session, or the task, has."""
        if frame.is_staging:
            raise OutsideError("an accumulator")
        values = [np.asarray(x) for x in inputs]
        return self.use(self.queue, self.queue.held(frame.store), frame, values)

    def gradient(self, op: Operation, grads: Sequence[object], emit: object) -> Sequence[object]:
        """Return nothing: what comes out was put in by another step."""
        return (None,) * len(op.inputs)


def apply(
    spec: AccumulatorSpec, held: Accumulated, frame: Frame, values: Sequence[Array]
) -> Sequence[Array]:
    """Add a value, unless its step is one that is over."""
    step, value = int(values[0]), values[1]
    spec.check(value.shape)
    with frame.store.lock:
        if step < held.step:
            return ()
        if held.total is not None and held.total.shape != value.shape:
            raise InvalidArgumentError(
                f"accumulator '{spec.name}': shape {[*value.shape]}, expected that of the first "
                f"value, {[*held.total.shape]}"
            )
        held.total = value.copy() if held.total is None else held.total + value
        held.count += 1
    CHANGES.note()
    return ()


def apply_rows(
    spec: AccumulatorSpec, held: Accumulated, frame: Frame, values: Sequence[Array]
) -> Sequence[Array]:
    """Add rows by their indices, unless their step is one that is over."""
    step, indices, rows = int(values[0]), values[1], values[2]
    if indices.ndim != 1 or rows.ndim < 1 or len(indices) != len(rows):
        raise InvalidArgumentError(
            f"accumulator '{spec.name}': indices {[*indices.shape]} and rows {[*rows.shape]}, "
            "expected a row for each index"
        )
    whole = tuple(values[3].tolist()) or (None, *rows.shape[1:])
    most = (spec.shape or whole)[0]
    far = indices[(indices < 0) | (indices >= (np.inf if most is None else most))]
    if len(far):
        raise InvalidArgumentError(
            f"accumulator '{spec.name}': index {far[0]}, expected 0 or more"
            + ("" if most is None else f" and less than {most}")
        )
    spec.check((most, *rows.shape[1:]))
    spec.check(tuple(most if n in (None, -1) else n for n in whole))
    kinds, places = np.unique(indices, return_inverse=True)
    sums = np.zeros((len(kinds), *rows.shape[1:]), rows.dtype)
    np.add.at(sums, places, rows)
    with frame.store.lock:
        if step < held.step:
            return ()
        held.inner = rows.shape[1:]
        for index, row in zip(kinds.tolist(), sums, strict=True):
            before, times = held.rows.get(index, (np.zeros_like(row), 0))
            held.rows[index] = before + row, times + 1
        held.count += 1
    CHANGES.note()
    return ()


def taken(spec: AccumulatorSpec, held: Accumulated) -> Sequence[Array]:
    """Return the mean or sum of what there is, and begin the next step."""
    total, rows, count = held.total, held.rows, held.count
    held.total, held.rows, held.count, held.step = None, {}, 0, held.step + 1
    kind, is_mean = spec.dtype.numpy, spec.way == "MEAN"
    if total is not None:
        return (np.asarray(total / count if is_mean else total, kind),)
    indices = sorted(rows)  # each index has the mean of the gradients that had it
    values = [rows[i][0] / rows[i][1] if is_mean else rows[i][0] for i in indices]
    known = spec.shape or (None, *held.inner)
    shape = np.array([-1 if n is None else n for n in known], np.int64)
    made = np.asarray(values, kind).reshape(len(indices), *held.inner)
    return np.array(indices, np.int64), made, shape


def take(
    spec: AccumulatorSpec, held: Accumulated, frame: Frame, values: Sequence[Array]
) -> Sequence[Array]:
    """Return the mean or sum once there are enough, and begin the next step."""
    wanted = int(values[0])
    if wanted < 1:
        raise InvalidArgumentError(f"accumulator '{spec.name}': {wanted} gradients, expected 1 up")
    while True:
        seen = CHANGES.count
        with frame.store.lock:
            if held.count >= wanted:
                return taken(spec, held)
        if held.abandoned:
            raise CancelledError(f"accumulator '{spec.name}' was cancelled, with its session")
        if not frame.patient:
            raise WouldWaitError
        CHANGES.wait(seen)


def set_step(
    spec: AccumulatorSpec, held: Accumulated, frame: Frame, values: Sequence[Array]
) -> Sequence[Array]:
    """Say which step it is; what is of earlier ones is dropped from now on."""
    with frame.store.lock:
        held.step = int(values[0])
    return ()


def count(
    spec: AccumulatorSpec, held: Accumulated, frame: Frame, values: Sequence[Array]
) -> Sequence[Array]:
    """Return how many values have come since something was taken."""
    with frame.store.lock:
        return (np.array(held.count, np.int32),)


def reference(
    spec: AccumulatorSpec, held: Accumulated, frame: Frame, values: Sequence[Array]
) -> Sequence[Array]:
    """Return what refers to it."""
    return (spec.reference(),)


USES: dict[str, tuple[Use, tuple[TensorSpec | None, ...]]] = {
    "ConditionalAccumulator": (reference, (REFERENCE,)),
    "SparseConditionalAccumulator": (reference, (REFERENCE,)),
    "AccumulatorApplyGradient": (apply, ()),
    "AccumulatorTakeGradient": (take, (None,)),
    "AccumulatorSetGlobalStep": (set_step, ()),
    "AccumulatorNumAccumulated": (count, (COUNT,)),
    "SparseAccumulatorApplyGradient": (apply_rows, ()),
    "SparseAccumulatorTakeGradient": (take, (INDICES, None, INDICES)),
}
"""By type: what is done, and the results; None stands for the accumulator's own spec."""
