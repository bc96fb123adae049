"""Record what is carried out, to go backward through it later in the same run."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

import numpy as np

from ...ir import REGISTRY
from ...ir.compose.maker import Maker
from ...ir.gradient.tape import Tape
from ...ir.op import Array, Call, Op
from ...ir.types.tensor import TensorSpec, spec_of_array
from ..values.context import Emitter
from .kernels import evaluate


class Box:
    """An array with an identity of its own: what a recording tells values apart by."""

    __slots__ = ("array", "spec")

    def __init__(self, array: object) -> None:
        self.array: Array = np.asarray(array)
        self.spec: TensorSpec = spec_of_array(self.array)

    def __array__(
        self, dtype: np.dtype[np.generic] | None = None, copy: bool | None = None
    ) -> Array:
        """Return the array."""
        return np.asarray(self.array, dtype)


class Emit:
    """Carries operations out at once on arrays; the results of boxes are boxes."""

    def __call__(
        self, op: type[Op], *operands: object, **attributes: object
    ) -> Array | tuple[Array, ...]:
        """Return the result, or the tuple of several."""
        made = evaluate(op, [np.asarray(x) for x in operands], attributes)
        return made[0] if len(made) == 1 else tuple(made)


EMIT = Emit()


def emit_boxes(op: type[Op], *operands: object, **attributes: object) -> Box | tuple[Box, ...]:
    """Carry an operation out at once; each result is an object of its own."""
    made = evaluate(op, [np.asarray(x) for x in operands], attributes)
    return Box(made[0]) if len(made) == 1 else tuple(map(Box, made))


class Recorded:
    """A recording: values that are watched, what was done with them, and the way back."""

    def __init__(self, emit: Emitter) -> None:
        start = emit_boxes if isinstance(emit, Emit) else emit
        self._tape = Tape(start)
        self._emit = start
        self.inputs: list[object] = []
        self.outputs: list[object] = []
        self.sources: list[tuple[object, object]] = []
        """Variables and their values, of which some were read by another run."""
        self.reads: list[tuple[object, object]] = []
        """Variables and random operations, with the values that this run took, in order."""
        self._latest: dict[int, tuple[object, object]] = {}
        """By variable: the value that was read last, and what it is known as here."""

    @classmethod
    def of(cls, tape: Tape) -> Recorded:
        """Return a recording that goes on with a tape."""
        made = cls(tape.start)
        made._tape = tape
        return made

    @property
    def emit(self) -> Emitter:
        """Carry out an operation and record it."""
        return self._tape.emit

    @property
    def start(self) -> Any:
        """Return what carries operations out, which are not recorded."""
        return self._emit

    @property
    def tape(self) -> Tape:
        """Return the list of what was carried out."""
        return self._tape

    def watch(self, values: Sequence[object]) -> list[object]:
        """Return values that are told apart from all others."""
        self.inputs = []
        for value in values:
            known = any(value is each for each in self.inputs)  # (a loop of no trips gives it back)
            self.inputs.append(self.another(value) if known else boxed(value))
        return self.inputs

    def another(self, value: object) -> object:
        """Return the same value as an object of its own, so that it has a gradient of its own."""
        if self._emit is emit_boxes:
            return Box(unboxed(value))
        return self._emit(REGISTRY["gv.identity"], value)

    def results(self, values: Sequence[object]) -> Sequence[Any]:
        """Take note of the results."""
        self.outputs = [boxed(value) for value in values]
        return self.outputs

    def read(self, variable: object, value: object) -> object:
        """Take note of a value that the run takes from outside."""
        value = self.source(variable, value)
        self.reads.append((variable, value))
        return value

    def source(self, variable: object, value: object) -> object:
        """Take note of a variable's value; it is one value as long as nothing changes it.

        So what depends on it adds up in the order in which compiled code adds.
        """
        latest = self._latest.get(id(variable))
        if latest is not None and latest[0] is value:
            return latest[1]
        made = boxed(value)
        self._latest[id(variable)] = (value, made)
        self.sources.append((variable, made))
        return made

    @property
    def deeper(self) -> list[tuple[object, object]]:
        """Return the variables, with their values, that were read by runs before this one only."""
        read = {id(value) for _, value in self.reads}
        return [each for each in self.sources if id(each[1]) not in read]

    def backward(
        self,
        grads: Sequence[object],
        variables: Sequence[object],
        wanted: Collection[int] | None = None,
    ) -> tuple[list[object], list[object]]:
        """Return the gradients of the inputs and of variables; None where nothing depends.

        Of the inputs, those at the places that are `wanted`; without, of all.
        """
        asked = {id(variable) for variable in variables}
        inputs = [x if wanted is None or i in wanted else None for i, x in enumerate(self.inputs)]
        read = [value if id(variable) in asked else None for variable, value in self.sources]
        sources = [x if x is not None and _is_float(x) else None for x in (*inputs, *read)]
        found = self._tape.backward(self.outputs, grads, sources)
        of_inputs = list(found[: len(self.inputs)])
        totals: dict[int, object] = {}
        pairs = zip(self.sources, found[len(self.inputs) :], strict=True)
        for (variable, _), grad in reversed([*pairs]):
            if grad is not None:
                known = totals.get(id(variable))
                totals[id(variable)] = (
                    grad if known is None else self._emit(REGISTRY["gv.add"], known, grad)
                )
        return of_inputs, [totals.get(id(variable)) for variable in variables]


class InSteps(Op):
    """The first operand, whose slope by the second one is 0, and not none."""

    name = "gv.in_steps"

    @classmethod
    def infer(cls, grad: TensorSpec, x: TensorSpec) -> Sequence[TensorSpec]:
        """Return the spec of the first operand."""
        return (grad,)

    @classmethod
    def evaluate(cls, grad: Array, x: Array) -> Sequence[Array]:
        """Return the first operand."""
        return (grad[...],)

    @classmethod
    def gradient(cls, call: Call, *grads: object) -> Sequence[object]:
        """Return the gradient, and zeros."""
        spec = call.specs[1]
        return (grads[0], Maker(call.emit).filled(0, spec.dtype, spec.dims))


class StepsSeen(Tape):
    """A tape on which slopes that go in steps depend on what they go by."""

    def gradients(
        self, call: Call, received: Sequence[object], wanted: Sequence[bool]
    ) -> Sequence[object]:
        """Return what the operation's rule says, with what it depends on in steps."""
        found = super().gradients(call, received, wanted)
        if not call.op.STEPS:
            return found
        of = call.operands if call.op.STEPS == "operands" else call.results
        return [None if x is None else call.emit(InSteps, x, of[0]) for x in found]


class Looked(Recorded):
    """A recording that is looked at for what depends on what: it is of no values."""

    def __init__(self, emit: Emitter) -> None:
        super().__init__(emit)
        self._tape = StepsSeen(emit)


def boxed(value: object) -> object:
    """Return a value as an object that a recording knows: an array gets an identity.

    Handles of datasets and iterators, which are arrays of objects, have no gradient.
    """
    is_array = isinstance(value, np.ndarray | np.generic) and value.dtype.kind != "O"
    return Box(value) if is_array else value


def unboxed(value: object) -> Any:
    """Return the array of a box; anything else as it is."""
    return value.array if isinstance(value, Box) else value


def _is_float(value: object) -> bool:
    if isinstance(value, np.ndarray):
        return False  # (of objects: the others are in boxes)
    found = getattr(value, "spec", None)
    return not isinstance(found, TensorSpec) or found.dtype.kind in "fc"
