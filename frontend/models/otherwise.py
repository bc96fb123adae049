"""Another model for runs that show that what was assumed of sizes does not hold.

Sizes that broadcast are taken to be equal where a model is read, which is how most run fastest. A
run in which one of them is 1 is another model's, which looks in each run: it is made when the first
such run comes, and stays. What fits neither, as a slice from `n - 2` on of one row, is made for the
sizes of that run alone, and kept for a few of such runs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from threading import Lock
from time import perf_counter
from typing import Protocol, TypeVar

import numpy as np

from ...errors import (
    CompileError,
    GraphError,
    ParseError,
    PerformanceWarning,
    RuntimeInputError,
    UnsupportedOp,
)
from ...forks import renewed
from ...runtime.arguments import Inputs, numpy_dtype
from ...runtime.artifact import TensorInfo
from ...runtime.buffer import Array
from ...runtime.model import WeightsSource
from ...runtime.values import TEXT

Result = TypeVar("Result")


class OtherModel(Protocol):
    """A model."""

    def run(self, inputs: Sequence[object]) -> list[Array]:
        """Return the results of inputs in order."""

    def bind(
        self, inputs: Inputs, outputs: Inputs | None = None, *, release: bool | None = None
    ) -> Callable[[], list[Array]]:
        """Return a function that runs it on these very arrays."""

    def set_weights(self, weights: WeightsSource) -> None:
        """Use other weights from the next run on."""


MOST = 16
"""For the sizes of how many runs models are kept."""
Shapes = tuple[tuple[int, ...], ...]
REFUSALS = (ParseError, GraphError, UnsupportedOp, CompileError)


def shapes_of(values: Sequence[object]) -> Shapes:
    """Return the shapes of arguments."""
    return tuple(tuple(getattr(value, "shape", ())) for value in values)


class Otherwise:
    """What is run where sizes are not what was assumed."""

    def __init__(
        self, make: Callable[[], OtherModel], make_exact: Callable[[Shapes], OtherModel],
        *, tells: bool = False,
    ) -> None:  # fmt: skip
        self.make, self.make_exact, self.lock = make, make_exact, renewed(Lock())
        self.tells = tells
        """Whether data tells sizes, of which one may be 1 too."""
        self.exact: dict[Shapes, OtherModel | None] = {}
        """The models of the sizes of one run, the oldest first; None where there is none."""
        self.seconds, self.has_told = 0.0, False
        """What the last one took, and whether that was told."""
        self.made: list[OtherModel] = []
        self.weights: WeightsSource = None
        """Those that the model was given since."""
        self.refusal: ParseError | UnsupportedOp | CompileError | None = None
        """Why there is none: there are no such sizes, it is not supported, the file has changed."""

    def model(self, error: RuntimeInputError) -> OtherModel:
        """Return the other model; raise the error where there is none, which is asked once."""
        with self.lock:
            if not self.made and self.refusal is None:
                try:
                    made = self.make()
                    if self.weights is not None:
                        made.set_weights(self.weights)
                    self.made.append(made)
                except (ParseError, UnsupportedOp, CompileError) as refusal:
                    self.refusal = refusal
            if self.made:
                return self.made[0]
            assert self.refusal is not None, "there is a model or a refusal"
            if isinstance(self.refusal, UnsupportedOp) and self.refusal.is_needless:
                raise error
            raise error from self.refusal

    def set_weights(self, weights: WeightsSource) -> None:
        """Have the other model use other weights too; what one has prepared is none of another."""
        with self.lock:
            self.made.clear()
            self.exact.clear()
            if isinstance(weights, Mapping):
                self.weights, self.refusal = weights, None
            else:
                told = "its weights were prepared for sizes that are equal"
                self.refusal = UnsupportedOp(told)

    def exactly(self, shapes: Shapes, error: RuntimeInputError) -> OtherModel:
        """Return the model of the sizes of some arguments; raise the error where there is none."""
        with self.lock:
            is_known = shapes in self.exact
            found = self.exact.pop(shapes) if is_known else self._made_for(shapes)
            self.exact[shapes] = found  # the last of those that are kept
        if found is None:
            raise error
        return found

    def _made_for(self, shapes: Shapes) -> OtherModel | None:
        """Return the model of the sizes of a run, None if it is refused; forget the oldest one.

        Sizes that there is none for go first: wrong ones leave those of right runs alone.
        """
        if len(self.exact) == MOST:
            del self.exact[min(self.exact, key=lambda each: self.exact[each] is not None)]
        start = perf_counter()
        try:
            made = self.make_exact(shapes)
        except REFUSALS:
            return None
        if self.weights is not None:
            made.set_weights(self.weights)
        self.seconds = perf_counter() - start
        return made

    def _tell(self, shapes: Shapes, error: RuntimeInputError) -> None:
        """Warn once of what models for the sizes of one run cost."""
        if self.has_told:
            return
        self.has_told = True
        written = ", ".join(map(str, map(list, shapes)))
        warnings.warn(
            f"arguments of the shapes {written} fit no model of open sizes: one is compiled for"
            f" them alone ({self.seconds:.1f} s), as for other such sizes, of which the last {MOST}"
            f" are kept; {error}",
            PerformanceWarning,
            stacklevel=6,
        )

    def any_of(
        self, values: Sequence[object], inputs: Sequence[TensorInfo], error: RuntimeInputError,
        use: Callable[[OtherModel], Result],
    ) -> Result:  # fmt: skip
        """Use the first model that takes some arguments; raise the error where none does."""
        shapes = shapes_of(values)
        if self.tells or any(1 in shape for shape in shapes):
            try:
                return use(self.model(error))
            except RuntimeInputError as other:
                cause = other.__cause__ if other is error else other
        else:
            cause = None
        if not are_of_types(values, inputs):
            raise error from cause
        try:
            made = use(self.exactly(shapes, error))
        except RuntimeInputError as other:
            raise error from (cause if other is error else other)
        self._tell(shapes, error)
        return made

    def run(
        self, values: Sequence[object], inputs: Sequence[TensorInfo], error: RuntimeInputError
    ) -> list[Array]:
        """Run another model; raise the error where none can run either."""
        return self.any_of(values, inputs, error, lambda model: model.run(values))

    def bind(
        self, values: Sequence[object], outputs: Inputs | None, inputs: Sequence[TensorInfo],
        error: RuntimeInputError, *, release: bool | None,
    ) -> Callable[[], list[Array]]:  # fmt: skip
        """Bind another model; raise the error where none takes these arrays either."""
        return self.any_of(
            values, inputs, error, lambda model: model.bind(values, outputs, release=release)
        )


def are_of_types(values: Sequence[object], inputs: Sequence[TensorInfo]) -> bool:
    """Say whether arguments are what a model takes but for sizes that are open."""
    for value, info in zip(values, inputs, strict=True):
        shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
        if shape is None or len(shape) != len(info.shape) or not _is_of_type(dtype, info.dtype):
            return False
        pairs = zip(shape, info.shape, strict=True)
        if any(isinstance(wanted, int) and found != wanted for found, wanted in pairs):
            return False
    return True


def _is_of_type(dtype: object, name: str) -> bool:
    """Say whether numpy's type is that of the elements of a tensor, of which some are texts."""
    if not isinstance(dtype, np.dtype):
        return False
    return dtype.kind in "OSU" if name == TEXT else dtype == numpy_dtype(name)
