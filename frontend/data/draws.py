"""How often functions of elements have drawn: each iteration of a pipeline counts anew."""

from __future__ import annotations

import secrets
from copy import copy

from ..graph.frame import Store
from ..graph.graph import Operation

LARGEST = 2**31 - 1
"""The largest seed that a program gives; operations without one have seeds that are larger."""


class FreshDraws(dict[object, int]):
    """How many counters random operations have used in one iteration of a pipeline.

    Those of seeds begin at none in each iteration, as in TensorFlow, where the next one draws the
    same numbers; those without a seed begin anywhere. What is counted by names goes on.
    """

    def __init__(self, outer: dict[object, int]) -> None:
        super().__init__()
        self.outer = outer

    def get(self, counter: object, default: int = 0) -> int:  # type: ignore[override]
        """Return the count of an operation."""
        if not isinstance(counter, Operation):
            return self.outer.get(counter, default)
        seeds: tuple[int, int] = getattr(counter.kind, "seeds")  # noqa: B009  (draws have them)
        if counter not in self and max(seeds) > LARGEST:
            self[counter] = secrets.randbits(48) << 8
        return super().get(counter, default)

    def __setitem__(self, counter: object, used: int) -> None:
        """Change the count of an operation."""
        if isinstance(counter, Operation):
            super().__setitem__(counter, used)
        else:
            self.outer[counter] = used


def drawing_anew(store: Store) -> Store:
    """Return a store of the same variables that counts draws for itself."""
    made = copy(store)
    made.draws = FreshDraws(store.draws)
    return made
