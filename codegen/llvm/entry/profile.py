"""The order of a run with a clock in it: how long each launch takes, added up in the workspace.

    workspace + offset        ticks at the start of the run
    + 8                       ticks from there to the end
    + 16 + 8 * n              ticks in launch n, added to what is there

A tick is one of the processor's clock, which goes at the same speed whatever the cores do. Reading
it takes about 10 ns, and nothing is measured in between, so that the launches sum to the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ....runtime.artifact import Description, Launch, Step
from .checks import RunSlots
from .routine import Routine
from .steps import StepFunctions

CLOCK = "llvm.readcyclecounter"
HEAD = 16
"""Bytes before those of the first launch."""


class ProfiledSteps(StepFunctions):
    """Steps that say how long they took."""

    def __init__(self, model: Description, frame: RunSlots, offset: int) -> None:
        super().__init__(model, frame)
        self.offset, self.number = offset, 0

    def functions(self, name: str, steps: Sequence[Step]) -> Iterator[tuple[Routine, str]]:
        """Give every function; the one that does everything measures itself."""
        pieces = list(super().functions(name, steps))
        whole, head = pieces[-1]
        calls, whole.lines = whole.lines[1:], whole.lines[:1]
        begin = self.clock(whole)
        whole.lines += calls
        whole.store("i64", begin, self.workspace(whole), self.offset)
        passed = whole.value(f"sub i64 {self.clock(whole)}, {begin}")
        whole.store("i64", passed, self.workspace(whole), self.offset + 8)
        yield from pieces[:-1]
        yield whole, head

    def launch(self, routine: Routine, launch: Launch) -> None:
        """Measure one launch."""
        place = self.offset + HEAD + 8 * self.number
        self.number += 1
        begin = self.clock(routine)
        super().launch(routine, launch)
        passed = routine.value(f"sub i64 {self.clock(routine)}, {begin}")
        workspace = self.workspace(routine)
        before = routine.load("i64", workspace, place)
        total = routine.value(f"add i64 {before}, {passed}")
        routine.store("i64", total, workspace, place)

    def clock(self, routine: Routine) -> str:
        """Read the clock."""
        routine.declare(f"declare i64 @{CLOCK}()")
        return routine.value(f"call i64 @{CLOCK}()")

    def workspace(self, routine: Routine) -> str:
        """Load where the workspace is."""
        return routine.load("ptr", "%frame", self.frame.WORKSPACE)
