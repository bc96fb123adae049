"""What a back end of another kind makes: something that runs a program in this process."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from .buffer import Array


class Executable(Protocol):
    """A program that is ready to run."""

    def run(self, inputs: Sequence[Array]) -> Sequence[Array]:
        """Return the results of checked inputs in order; several threads may call at once."""
