"""Another model for runs that show that what was assumed of sizes does not hold.

Sizes that broadcast are taken to be equal where a model is read, which is how most run fastest. A
run in which one of them is 1 is another model's, which looks in each run: it is made when the first
such run comes, and stays. What fits neither, as a slice from `n - 2` on of one row, is made for the
sizes of that run alone, of a few such runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from threading import Lock
from typing import Protocol, TypeVar

from ...errors import CompileError, GraphError, ParseError, RuntimeInputError, UnsupportedOp
from ...forks import renewed
from ...runtime.arguments import Inputs, numpy_dtype
from ...runtime.artifact import TensorInfo
from ...runtime.buffer import Array
from ...runtime.model import WeightsSource

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
"""For the sizes of how many runs models are made."""
Shapes = tuple[tuple[int, ...], ...]
REFUSALS = (ParseError, GraphError, UnsupportedOp, CompileError)


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
        """The models of the sizes of one run; None where there is none."""
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

    def exactly(self, values: Sequence[object], error: RuntimeInputError) -> OtherModel:
        """Return the model of the sizes of some arguments; raise the error where there is none."""
        shapes = tuple(tuple(getattr(value, "shape", ())) for value in values)
        with self.lock:
            if shapes not in self.exact and len(self.exact) < MOST:
                self.exact[shapes] = None
                with suppress(*REFUSALS):
                    made = self.make_exact(shapes)
                    if self.weights is not None:
                        made.set_weights(self.weights)
                    self.exact[shapes] = made
            found = self.exact.get(shapes)
        if found is None:
            raise error
        return found

    def any_of(
        self, values: Sequence[object], inputs: Sequence[TensorInfo], error: RuntimeInputError,
        use: Callable[[OtherModel], Result],
    ) -> Result:  # fmt: skip
        """Use the first model that takes some arguments; raise the error where none does."""
        if self.tells or 1 in (size for each in values for size in getattr(each, "shape", ())):
            try:
                return use(self.model(error))
            except RuntimeInputError as other:
                cause = other.__cause__ if other is error else other
        else:
            cause = None
        if not are_of_types(values, inputs):
            raise error from cause
        try:
            return use(self.exactly(values, error))
        except RuntimeInputError as other:
            raise error from (cause if other is error else other)

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
        if shape is None or len(shape) != len(info.shape) or dtype != numpy_dtype(info.dtype):
            return False
        pairs = zip(shape, info.shape, strict=True)
        if any(isinstance(wanted, int) and found != wanted for found, wanted in pairs):
            return False
    return True
