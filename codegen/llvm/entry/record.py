"""The order of a run with a notebook in it: when each part of a launch began and ended, and where.

    workspace + offset            how many parts were noted
    + 64 + 32 * n                 of part n: launch | slot << 32, thread, first tick, last tick

Each launch calls its kernel through a function of its own, which knows the launch's number. Parts
that are noted when there is no room left are counted, and not kept. A thread is told by the address
of its control block; with the GNU C library that is its identity, too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ....runtime.artifact import Description, Launch, Pointer, Step
from ....runtime.traces.recorder import EVENT, EVENTS
from .checks import RunSlots
from .routine import Routine
from .steps import StepFunctions


class RecordedSteps(StepFunctions):
    """Steps that note when they were carried out, and by whom."""

    def __init__(self, model: Description, frame: RunSlots, place: Mapping[str, int]) -> None:
        super().__init__(model, frame)
        self.notebook = Pointer("workspace", 0, place["offset"])
        self.capacity = place["capacity"]
        self.wrapped: list[str] = []
        """A function for each launch."""
        self.listens = True

    def functions(self, name: str, steps: Sequence[Step]) -> Iterator[tuple[Routine, str]]:
        """Give every function; what prepares weights notes nothing."""
        self.listens = name == "steps"
        yield from super().functions(name, steps)

    def launch(self, routine: Routine, launch: Launch) -> None:
        """Launch a kernel through a function that notes when."""
        if not self.listens:
            super().launch(routine, launch)
            return
        number = len(self.wrapped)
        name = f"{self.tag}.noted{number}"
        self.wrapped.append(
            f"define internal void @{name}(ptr %slots, i64 %lo, i64 %hi, i64 %slot) nounwind {{\n"
            f"  call void @{self.tag}.note(ptr @{launch.kernel}, i64 {number}, "
            f"i64 {len(launch.arguments)}, ptr %slots, i64 %lo, i64 %hi, i64 %slot)\n  ret void\n}}"
        )
        arguments = (*launch.arguments, self.notebook)
        super().launch(routine, replace(launch, kernel=name, arguments=arguments))

    def room(self, routine: Routine, piece: Sequence[Step]) -> None:
        """Reserve room for one argument more."""
        super().room(routine, piece)
        routine.lines[-1] = widened(routine.lines[-1])

    def table(self) -> str:
        """Return the table of launches, and the functions that note."""
        note = NOTE.replace("TAG", self.tag).replace("CAPACITY", str(self.capacity))
        return "\n".join([super().table(), *self.wrapped, note])


def widened(line: str) -> str:
    """Return the line that reserves room for arguments, with room for one more.

    >>> widened("  %slots = alloca [3 x i64], align 16")
    '  %slots = alloca [4 x i64], align 16'
    """
    before, _, rest = line.partition("[")
    count, _, after = rest.partition(" ")
    return f"{before}[{int(count) + 1} {after}"


NOTE = f"""
declare i64 @llvm.readcyclecounter()
declare ptr @llvm.thread.pointer()
define i64 @TAG_ticks() nounwind {{
  %now = call i64 @llvm.readcyclecounter()
  ret i64 %now
}}
define internal void @TAG.note(ptr %kernel, i64 %launch, i64 %place, ptr %slots, i64 %lo, i64 %hi,
    i64 %slot) nounwind {{
entry:
  %begin = call i64 @llvm.readcyclecounter()
  call void %kernel(ptr %slots, i64 %lo, i64 %hi, i64 %slot)
  %end = call i64 @llvm.readcyclecounter()
  %notebook.at = getelementptr ptr, ptr %slots, i64 %place
  %notebook = load ptr, ptr %notebook.at
  %mine = atomicrmw add ptr %notebook, i64 1 monotonic
  %fits = icmp ult i64 %mine, CAPACITY
  br i1 %fits, label %keep, label %done
keep:
  %behind = mul i64 %mine, {EVENT}
  %offset = add i64 %behind, {EVENTS}
  %row = getelementptr i8, ptr %notebook, i64 %offset
  %above = shl i64 %slot, 32
  %which = or i64 %above, %launch
  store i64 %which, ptr %row
  %thread = call ptr @llvm.thread.pointer()
  %who = ptrtoint ptr %thread to i64
  %who.at = getelementptr i8, ptr %row, i64 8
  store i64 %who, ptr %who.at
  %begin.at = getelementptr i8, ptr %row, i64 16
  store i64 %begin, ptr %begin.at
  %end.at = getelementptr i8, ptr %row, i64 24
  store i64 %end, ptr %end.at
  br label %done
done:
  ret void
}}
"""
