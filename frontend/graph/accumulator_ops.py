"""Accumulators: sums of what several steps give, taken when there are enough of them.

What was computed from variables that have changed since, by its step, is dropped: so of several
replicas the first ones count, and who is late does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from ...ir.op import Array
from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec, spec_of_array
from ...runtime.queues import CHANGES, WouldWaitError
from ..values.run_errors import CancelledError, InvalidArgumentError
from .frame import Frame, OutsideError, Store
from .graph import Kind, Operation, spec_with_unknowns


class AccumulatorSpec:
    """What graphs know of an accumulator."""

    def __init__(
        self,
        name: str,
        dtype: DType,
        shape: Sequence[int | None] | None,
        shared: str = "",
        way: str = "MEAN",
    ) -> None:
        self.name, self.dtype, self.shared, self.way = name, dtype, shared, way
        self.shape = None if shape is None else tuple(shape)

    def spec(self) -> TensorSpec:
        """Return the spec of what is taken."""
        return spec_with_unknowns(self.dtype, self.shape)

    def held(self, store: Store) -> Accumulated:
        """Return what a store has of it, nothing at first."""
        key = self.shared or (self.name if store.by_name else self)
        with store.lock:
            found: Accumulated = store.queues.setdefault(key, Accumulated())
        return found

    def check(self, value: Array) -> None:
        """Raise unless a value has the shape that all have."""
        shape = self.shape
        if shape is not None and (
            len(shape) != value.ndim
            or any(a is not None and a != b for a, b in zip(shape, value.shape, strict=True))
        ):
            raise InvalidArgumentError(
                f"accumulator '{self.name}': shape {[*value.shape]}, expected {[*shape]}"
            )


class Accumulated:
    """The sum of what was given since something was taken."""

    def __init__(self) -> None:
        self.total: Array | None = None
        self.count = self.step = 0
        self.abandoned = False

    def abandon(self) -> None:
        """Let nobody wait for gradients any more."""
        self.abandoned = True
        CHANGES.note()


Use = Callable[[AccumulatorSpec, Accumulated, Frame, Sequence[Array]], Sequence[Array]]
COUNT = spec_of_array(np.array(0, np.int32))


class AccumulatorKind(Kind):
    """One use of an accumulator."""

    stateful = True

    def __init__(self, name: str, accumulator: AccumulatorSpec) -> None:
        self.type, self.queue = name, accumulator
        self.use, specs = USES[name]
        self.specs = [accumulator.spec() if spec is None else spec for spec in specs]
        self.waits = name == "AccumulatorTakeGradient"
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
    spec.check(value)
    with frame.store.lock:
        if step < held.step:
            return ()
        held.total = value.copy() if held.total is None else held.total + value
        held.count += 1
    CHANGES.note()
    return ()


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
            if held.count >= wanted and held.total is not None:
                total, count = held.total, held.count
                held.total, held.count, held.step = None, 0, held.step + 1
                mean = spec.way == "MEAN"
                return (np.asarray(total / count if mean else total, spec.dtype.numpy),)
        if held.abandoned:
            raise CancelledError(f"accumulator '{spec.name}': the session is closed")
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


USES: dict[str, tuple[Use, tuple[TensorSpec | None, ...]]] = {
    "AccumulatorApplyGradient": (apply, ()),
    "AccumulatorTakeGradient": (take, (None,)),
    "AccumulatorSetGlobalStep": (set_step, ()),
    "AccumulatorNumAccumulated": (count, (COUNT,)),
}
"""By type: what is done, and the results; None stands for the accumulator's own spec."""
