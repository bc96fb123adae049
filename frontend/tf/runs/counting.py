"""Counting: a variable goes up by one with each run, until it is at a limit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NoReturn

import numpy as np

from ...data.host import ArrayKind
from ...function.variable import Variable
from ...graph.frame import Frame, Guarded
from ...graph.graph import Operation
from ...graph.variables import Held, now
from ...values.run_errors import OutOfRangeError


class CountUpTo(ArrayKind):
    """Adds one to a variable and gives what it was, until it has reached a limit."""

    waits = True

    def __init__(self, variable: Variable, limit: int) -> None:
        super().__init__("CountUpTo", self.unused, lambda _: [variable.spec], effect=True)
        self.variable, self.limit = variable, limit

    @staticmethod
    def unused(*arrays: object) -> NoReturn:
        """Say that it runs with a frame only."""
        raise AssertionError("a variable is counted in a session")

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Count."""
        if frame.is_staging:
            return super().run(frame, op, inputs)
        state = now(self.variable.state)
        with Held([state]):
            value = np.array(state.value_in(frame.store))
            if value >= self.limit:
                raise OutOfRangeError(f"Reached limit of {self.limit}")
            frame.write(state, value + value.dtype.type(1))
        return (value,)

    def changed(self, op: Operation) -> Sequence[Guarded]:
        """Return the variable."""
        return (now(self.variable.state),)
