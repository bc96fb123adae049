"""Operations of graphs that are a function of arrays: files, text, pictures, pipelines.

They are carried out by the host, at once or as nodes of a graph; they have no gradient.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, TypeVar

import numpy as np

from ...ir.types.tensor import Array, TensorSpec
from ..graph.frame import Frame, OutsideError
from ..graph.graph import Kind, Operation

Compute: TypeAlias = "Callable[..., Sequence[Array]]"
"""What a step does with arrays."""
Make = TypeVar("Make", bound=Callable[..., Compute])
STEPS: dict[str, Callable[..., Compute]] = {}
"""What makes steps of what they hold, by the names under which graphs are written."""


def stored(name: str) -> Callable[[Make], Make]:
    """Let graphs be written with the steps that a function makes."""

    def decorate(make: Make) -> Make:
        assert name not in STEPS, f"two kinds of steps are stored as {name!r}"
        STEPS[name] = make
        return make

    return decorate


@dataclass(frozen=True)
class Step:
    """The form of a step outside of this process: the name of what makes it, what it holds."""

    name: str
    held: Mapping[str, object]

    @cached_property
    def compute(self) -> Compute:
        """Return what the step does."""
        return STEPS[self.name](**self.held)

    def __call__(self, *arrays: Array) -> Sequence[Array]:
        """Do it."""
        return self.compute(*arrays)

    def as_stored(self) -> Step:
        """Return the step itself."""
        return self


Infer = Callable[[Sequence[TensorSpec]], Sequence[TensorSpec]]


class ArrayKind(Kind):
    """A function of arrays, and what is known of its results before it runs."""

    def __init__(
        self,
        type_: str,
        compute: Callable[..., Sequence[object]],
        infer: Infer,
        *,
        effect: bool = False,
    ) -> None:
        self.type, self.compute, self.inferred, self.stateful = type_, compute, infer, effect
        self.is_numbers = not effect and type(self) is ArrayKind

    def infer(
        self, specs: Sequence[TensorSpec], attributes: dict[str, object]
    ) -> Sequence[TensorSpec]:
        """Return what is known."""
        return self.inferred(specs)

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Call the function; one with an effect is called as Python is, once in a run."""
        if self.stateful and type(self) is ArrayKind:
            return frame.host(self.compute, inputs, [x.spec.dtype for x in op.outputs])
        if frame.is_staging:
            raise OutsideError(self.type)
        made: Sequence[object] = self.compute(*[np.asarray(x) for x in inputs])
        return made

    def gradient(self, op: Operation, grads: Sequence[object], emit: object) -> Sequence[object]:
        """Return nothing."""
        return (None,) * len(op.inputs)
