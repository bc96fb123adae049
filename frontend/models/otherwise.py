"""Another model for runs that show that what was assumed of sizes does not hold.

Sizes that broadcast are taken to be equal where a model is read, which is how most run fastest. A
run in which one of them is 1 is another model's, which looks in each run: it is made when the first
such run comes, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from threading import Lock
from typing import Protocol

from ...errors import CompileError, ParseError, RuntimeInputError, UnsupportedOp
from ...forks import renewed
from ...runtime.arguments import Inputs
from ...runtime.buffer import Array
from ...runtime.model import WeightsSource


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


class Otherwise:
    """What is run where sizes are not what was assumed."""

    def __init__(self, make: Callable[[], OtherModel]) -> None:
        self.make, self.lock = make, renewed(Lock())
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
            if isinstance(weights, Mapping):
                self.weights, self.refusal = weights, None
            else:
                told = "its weights were prepared for sizes that are equal"
                self.refusal = UnsupportedOp(told)

    def run(self, values: Sequence[object], error: RuntimeInputError) -> list[Array]:
        """Run the other model; raise the error where it cannot run either."""
        with preferring(error):
            return self.model(error).run(values)

    def bind(
        self, values: Sequence[object], outputs: Inputs | None, error: RuntimeInputError,
        *, release: bool | None,
    ) -> Callable[[], list[Array]]:  # fmt: skip
        """Bind the other model; raise the error where it does not take these arrays either."""
        with preferring(error):
            return self.model(error).bind(values, outputs, release=release)


@contextmanager
def preferring(error: RuntimeInputError) -> Iterator[None]:
    """Raise an error in place of others about arguments."""
    try:
        yield
    except RuntimeInputError as other:
        if other is error:
            raise
        raise error from other


def may_be_otherwise(values: Sequence[object]) -> bool:
    """Say whether one of some arguments has a size that is 1."""
    return any(1 in getattr(each, "shape", ()) for each in values)
