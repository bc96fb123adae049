"""Accumulators: sums of what several steps give, taken when there are enough of them.

What was computed from variables that have changed since, by its step, is dropped: so of several
replicas the first ones count, and who is late does not.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...ir.op import Array
from ...ir.types.dtypes import DType, i64
from ...ir.types.tensor import TensorSpec, spec_of_array
from ...runtime.queues import CHANGES, WouldWaitError
from ..values.arrays import as_listed
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

    def stated(self) -> dict[str, object]:
        """Return the attributes of what makes it, by TensorFlow's names."""
        own = {"dtype": self.dtype, "shape": self.spec(), "reduction_type": self.way.encode()}
        return {**super().stated(), **own}

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

    def stated(self) -> Mapping[str, object]:
        """Return what the accumulator was made with, for the operation that stands for it."""
        return self.queue.stated() if self.use is reference else {}

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
    with frame.store.lock:
        if step < held.step:
            return ()
        spec.check(value.shape)
        if held.total is not None and held.total.shape != value.shape:
            raise InvalidArgumentError(
                f"accumulator '{spec.name}': shape {[*value.shape]}, expected that of the first "
                f"value, {[*held.total.shape]}"
            )
        held.total = value.copy() if held.total is None else held.total + value
        held.count += 1
    CHANGES.note()
    return ()


def _fault_of_rows(
    spec: AccumulatorSpec, held: Accumulated, indices: Array, rows: Array, whole: Array
) -> str:
    """Say what is wrong with rows that are given, nothing if they fit."""
    if indices.ndim != 1:
        return f"Input indices should be vector but received shape: {as_listed(indices.shape)}"
    if not rows.ndim:
        return "Values cannot be 0-dimensional."
    if len(rows) != len(indices):
        return f"Expected {len(indices)} non-empty input values, got {len(rows)}"
    known = spec.shape or ()
    found = _misfit("shape", known, whole.tolist()) if len(whole) else ""
    found = found or _outside(known, indices)
    if held.count and rows.ndim != len(held.inner) + 1:
        wrong = f"Shape mismatch: expected values rank {len(held.inner) + 1}, got {rows.ndim}"
        return found or wrong
    expected = (None, *(held.inner if held.count else known[1:]))
    return found or _misfit("values", expected, rows.shape)


def _outside(shape: Sequence[int | None], indices: Array) -> str:
    """Say which index is beyond a shape, nothing if none is."""
    most = shape[0] if shape else None
    beyond = (indices < 0) | (indices >= (np.inf if most is None else most))
    for place in np.flatnonzero(beyond)[:1].tolist():
        return (
            f"Shape mismatch: index of slice {place} exceeded limits of shape; index is "
            f"{indices[place]} exceeded {0 if indices[place] < 0 else most}"
        )
    return ""


def _misfit(what: str, expected: Sequence[int | None], found: Sequence[int]) -> str:
    """Say where a shape does not begin with one that is expected, nothing if it does."""
    if len(expected) > len(found):
        what += " rank"
        return f"Shape mismatch: expected {what} at least {len(expected)}, got {len(found)}"
    for axis, (wanted, size) in enumerate(zip(expected, found, strict=False)):
        if wanted not in (None, size):
            return f"Shape mismatch: expected {what} dim {axis} to be {wanted}, got {size}"
    return ""


def apply_rows(
    spec: AccumulatorSpec, held: Accumulated, frame: Frame, values: Sequence[Array]
) -> Sequence[Array]:
    """Add rows by their indices, unless their step is one that is over."""
    step, indices, rows = int(values[0]), values[1], values[2]
    with frame.store.lock:
        if step < held.step:
            return ()
        fault = _fault_of_rows(spec, held, indices, rows, values[3])
        if fault:
            raise InvalidArgumentError(f"accumulator '{spec.name}': {fault}")
        kinds, places = np.unique(indices, return_inverse=True)
        sums = np.zeros((len(kinds), *rows.shape[1:]), rows.dtype)
        np.add.at(sums, places, rows)
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
    known = ((spec.shape or (None,))[0], *held.inner)
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
