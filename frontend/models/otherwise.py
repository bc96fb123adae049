"""Another model for runs that show that what was assumed of sizes does not hold.

Sizes that broadcast are taken to be equal where a model is read, which is how most run fastest. A
run in which one of them is 1 is another model's, which looks in each run: it is made when the first
such run comes, and stays.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import Protocol

from ...errors import GravureError, RuntimeInputError
from ...forks import renewed
from ...runtime.buffer import Array


class OtherModel(Protocol):
    """A model."""

    def run(self, inputs: Sequence[object]) -> list[Array]:
        """Return the results of inputs in order."""


class Otherwise:
    """What is run where sizes are not what was assumed."""

    def __init__(self, make: Callable[[], OtherModel]) -> None:
        self.make, self.lock = make, renewed(Lock())
        self.made: list[OtherModel | None] = []

    def model(self) -> OtherModel | None:
        """Return the other model; None where there is none, which is asked once."""
        with self.lock:
            if not self.made:
                try:
                    self.made.append(self.make())
                except GravureError:  # nothing was assumed that could be otherwise
                    self.made.append(None)
            return self.made[0]

    def run(self, values: Sequence[object], error: RuntimeInputError) -> list[Array]:
        """Run the other model; raise the error where it cannot run either."""
        model = self.model()
        if model is None:
            raise error
        try:
            return model.run(values)
        except RuntimeInputError:
            raise error from None
