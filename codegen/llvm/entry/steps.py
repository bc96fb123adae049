"""The order of a run: launches of kernels with their arguments, conditions and loops.

A kernel that several threads may share is cut into parts here, at most one for each slot, and
the caller's `parallel_for` only says who does which part. So whatever it does, no two threads
have the same slot, and there are never more slots than the kernel has scratch memory for.

A launch of which all is known ahead of time is one call, and a row of a table that has its numbers:
LLVM takes a quarter of the time, and a run reads less than instructions would take.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ....runtime.artifact import (
    Argument,
    Description,
    If,
    Launch,
    Pointer,
    Repeat,
    Require,
    Scalar,
    Step,
    Tell,
    While,
    launches,
)
from .checks import RunSlots, require_sizes
from .routine import Routine
from .status import SIZES, status

SLOT_BITS = 20
"""The low bits of an argument's word in the table of launches: where in the frame its base is."""

PIECE = 64
"""How many steps make one function: LLVM's time grows faster than the length of a function."""


class StepFunctions:
    """The functions that run steps: one calls the others, of which each does a piece."""

    def __init__(self, model: Description, frame: RunSlots) -> None:
        self.tag = model.tag
        self.frame = frame
        self.demanded = model.demanded
        self.rows: list[int] = []
        """The table of launches that are known whole: see `ROW`."""

    def functions(self, name: str, steps: Sequence[Any]) -> Iterator[tuple[Routine, str]]:
        """Give every function, with its head; the last one, called `name`, does everything."""
        whole = Routine()
        self.name, self.made = name, list[tuple[Routine, str]]()
        self.pieces(whole, steps)
        yield from self.made
        yield whole, f"internal i32 @{self.tag}.{name}(ptr %frame)"

    def pieces(self, routine: Routine, steps: Sequence[Any]) -> None:
        """Make functions of pieces of steps, and call them."""
        for start in range(0, len(steps), PIECE):
            piece = tuple(steps[start : start + PIECE])
            inner = self.frame.routine()
            self.room(inner, piece)
            self.steps(inner, piece)
            name = f"@{self.tag}.{self.name}{len(self.made)}(ptr %frame)"
            self.made.append((inner, f"internal i32 {name}"))
            self.call(routine, name)

    def room(self, routine: Routine, steps: Sequence[Any]) -> None:
        """Reserve what the steps of a piece need on the stack: the arguments of one launch."""
        size = max((len(each.arguments) for each in launches(tuple(steps))), default=0)
        routine.line(f"%slots = alloca [{max(size, 1)} x i64], align 16")

    def call(self, routine: Routine, name: str) -> None:
        """Call the function of a piece; only what is required of sizes goes wrong in it."""
        if self.demanded:
            routine.require_call(name)
        else:
            routine.line(f"call i32 {name}")

    def inside(self, routine: Routine, steps: Sequence[Any]) -> None:
        """Emit the steps of a choice or a loop, as functions of their own if there are many."""
        if len(steps) > PIECE:
            self.pieces(routine, steps)
        else:
            self.steps(routine, steps)

    def steps(self, routine: Routine, steps: Sequence[Any]) -> None:
        """Emit steps one after the other."""
        for step in steps:
            match step:
                case Launch():
                    self.launch(routine, step)
                case If():
                    self.branch(routine, step.condition, step.then, step.otherwise)
                case While():
                    self.loop(routine, step.test, step.condition, step.body)
                case Repeat():
                    self.repeat(routine, step)
                case Require():
                    number = self.demanded.index(step.demand)
                    require_sizes(routine, step.demand, status(SIZES, number))
                case Tell():
                    self.tell(routine, step)

    def launch(self, routine: Routine, launch: Launch) -> None:
        """Put the arguments into the slots of the context, and run the kernel."""
        row = self.row(launch)
        if row is not None:
            place = f"getelementptr (i8, ptr @{self.tag}.rows, i64 {8 * len(self.rows)})"
            self.rows += row
            arguments = f"ptr @{launch.kernel}, ptr {place}, ptr %slots, ptr %frame"
            routine.line(f"call void @{self.tag}.row({arguments})")
            return
        for number, argument in enumerate(launch.arguments):
            kind, value = self.argument(routine, argument)
            routine.store(kind, value, routine.place("%slots", 8 * number))
        count = routine.extent(launch.count)
        arguments = f"ptr @{launch.kernel}, ptr %slots, i64 {count}, i64 {max(launch.grain, 1)}"
        routine.line(f"call void @{self.tag}.launch({arguments}, ptr %frame)")

    def argument(self, routine: Routine, argument: Argument) -> tuple[str, str]:
        """Return type and value of an argument of a kernel."""
        if isinstance(argument, Scalar):
            return "i64", routine.extent(argument.value)
        return "ptr", self.pointer(routine, argument)

    def pointer(self, routine: Routine, pointer: Pointer) -> str:
        """Compute an address."""
        if isinstance(pointer.index, str):
            number = routine.extent(f"8 * ({pointer.index})")
            first = routine.place("%frame", self.frame.bases[pointer.base])
            place = routine.address(first, number)
        else:
            place = routine.place("%frame", self.slot(pointer))
        base = routine.once(f"load ptr, ptr {place}")
        return routine.address(
            base, pointer.offset if pointer.offset == 0 else routine.extent(pointer.offset)
        )

    def row(self, launch: Launch) -> list[int] | None:
        """Return the row that describes a launch; None if it depends on the sizes of a run."""
        if not isinstance(launch.count, int):
            return None
        numbers = [launch.count, max(launch.grain, 1), len(launch.arguments)]
        for argument in launch.arguments:
            if not isinstance(argument, Pointer) or isinstance(argument.index, str):
                return None
            if not isinstance(argument.offset, int):
                return None
            slot = self.slot(argument)
            if slot >= 1 << SLOT_BITS or argument.offset >= 1 << 63 - SLOT_BITS:
                return None
            numbers.append(argument.offset << SLOT_BITS | slot)
        return numbers

    def slot(self, pointer: Pointer) -> int:
        """Return where in the frame the address is that a pointer counts from."""
        assert isinstance(pointer.index, int), "one of several is known in the run"
        return self.frame.bases[pointer.base] + 8 * pointer.index

    def table(self) -> str:
        """Return the table of launches."""
        numbers = ", ".join([f"i64 {number}" for number in self.rows])
        kind = f"[{len(self.rows)} x i64]"
        return f"@{self.tag}.rows = internal constant {kind} [{numbers}]" if self.rows else ""

    def tell(self, routine: Routine, step: Tell) -> None:
        """Give a symbol its value."""
        count = routine.load("i64", self.pointer(routine, step.count))
        most = routine.extent(step.most)
        some = routine.value(f"icmp sgt i64 {count}, 0")
        count = routine.value(f"select i1 {some}, i64 {count}, i64 0")
        fewer = routine.value(f"icmp slt i64 {count}, {most}")
        count = routine.value(f"select i1 {fewer}, i64 {count}, i64 {most}")
        routine.store("i64", count, "%frame", self.frame.symbols[step.symbol])

    def condition(self, routine: Routine, pointer: Pointer) -> str:
        """Load a byte and say whether it is not zero."""
        return routine.value(f"icmp ne i8 {routine.load('i8', self.pointer(routine, pointer))}, 0")

    def branch(
        self, routine: Routine, flag: Pointer, first: Sequence[Any], second: Sequence[Any]
    ) -> None:
        """Emit a choice."""
        then, otherwise, end = (routine.fresh_label() for _ in range(3))
        chosen = self.condition(routine, flag)
        routine.line(f"br i1 {chosen}, label %{then}, label %{otherwise}")
        for label, steps in ((then, first), (otherwise, second)):
            routine.label(label)
            self.inside(routine, steps)
            routine.line(f"br label %{end}")
        routine.label(end)

    def loop(
        self, routine: Routine, first: Sequence[Any], flag: Pointer, second: Sequence[Any]
    ) -> None:
        """Emit a loop on a condition."""
        test, body, end = (routine.fresh_label() for _ in range(3))
        routine.line(f"br label %{test}")
        routine.label(test)
        self.inside(routine, first)
        more = self.condition(routine, flag)
        routine.line(f"br i1 {more}, label %{body}, label %{end}")
        routine.label(body)
        self.inside(routine, second)
        routine.line(f"br label %{test}")
        routine.label(end)

    def repeat(self, routine: Routine, step: Repeat) -> None:
        """Emit a loop that counts; the counter is in the frame."""
        test, body, end = (routine.fresh_label() for _ in range(3))
        place = self.frame.symbols[step.index]
        count = routine.extent(step.count)
        routine.store("i64", 0, "%frame", place)
        routine.line(f"br label %{test}")
        routine.label(test)
        more = routine.value(f"icmp slt i64 {routine.load('i64', '%frame', place)}, {count}")
        routine.line(f"br i1 {more}, label %{body}, label %{end}")
        routine.label(body)
        self.inside(routine, step.body)
        following = routine.value(f"add i64 {routine.load('i64', '%frame', place)}, 1")
        routine.store("i64", following, "%frame", place)
        routine.line(f"br label %{test}")
        routine.label(end)


def counters(steps: Sequence[Step]) -> Iterator[str]:
    """Give the names of all counters of loops, and of the sizes that a run finds."""
    for step in steps:
        match step:
            case If(then=first, otherwise=second) | While(test=first, body=second):
                yield from counters((*first, *second))
            case Repeat(index=index, body=body):
                yield index
                yield from counters(body)
            case Tell(symbol=symbol):
                yield symbol


ROW = """
define hidden void @TAG.row(ptr %kernel, ptr %row, ptr %slots, ptr %frame) nounwind {
entry:
  %count = load i64, ptr %row
  %grain.at = getelementptr i8, ptr %row, i64 8
  %grain = load i64, ptr %grain.at
  %arguments.at = getelementptr i8, ptr %row, i64 16
  %arguments = load i64, ptr %arguments.at
  %first = getelementptr i8, ptr %row, i64 24
  br label %test
test:
  %number = phi i64 [ 0, %entry ], [ %following, %body ]
  %more = icmp slt i64 %number, %arguments
  br i1 %more, label %body, label %done
body:
  %word.at = getelementptr i64, ptr %first, i64 %number
  %word = load i64, ptr %word.at
  %from = and i64 %word, MASK
  %offset = lshr i64 %word, BITS
  %base.at = getelementptr i8, ptr %frame, i64 %from
  %base = load ptr, ptr %base.at
  %address = getelementptr i8, ptr %base, i64 %offset
  %slot = getelementptr ptr, ptr %slots, i64 %number
  store ptr %address, ptr %slot
  %following = add i64 %number, 1
  br label %test
done:
  call void @TAG.launch(ptr %kernel, ptr %slots, i64 %count, i64 %grain, ptr %frame)
  ret void
}
""".replace("MASK", str((1 << SLOT_BITS) - 1)).replace("BITS", str(SLOT_BITS))
"""How a launch is run that a row of the table describes: its units, the fewest that are a part of
them, how many arguments it has; of each where in the frame its base is, below what is added."""

LAUNCH = """
define internal void @TAG.part(ptr %job, i64 %begin, i64 %end, i64 %ignored) nounwind {
entry:
  %kernel = load ptr, ptr %job
  %slots.at = getelementptr i8, ptr %job, i64 8
  %slots = load ptr, ptr %slots.at
  %size.at = getelementptr i8, ptr %job, i64 16
  %size = load i64, ptr %size.at
  %rest.at = getelementptr i8, ptr %job, i64 24
  %rest = load i64, ptr %rest.at
  %low = mul i64 %begin, %size
  %low.longer = icmp ult i64 %begin, %rest
  %low.more = select i1 %low.longer, i64 %begin, i64 %rest
  %lo = add i64 %low, %low.more
  %high = mul i64 %end, %size
  %high.longer = icmp ult i64 %end, %rest
  %high.more = select i1 %high.longer, i64 %end, i64 %rest
  %hi = add i64 %high, %high.more
  call void %kernel(ptr %slots, i64 %lo, i64 %hi, i64 %begin)
  ret void
}
define hidden void @TAG.launch(ptr %kernel, ptr %slots, i64 %count, i64 %grain, ptr %frame)
    nounwind {
entry:
  %job = alloca [4 x i64], align 16
  %parallel.for = load ptr, ptr %frame
  %serial = icmp eq ptr %parallel.for, null
  %small = icmp sle i64 %count, %grain
  %alone = or i1 %serial, %small
  br i1 %alone, label %one, label %several
one:
  %some = icmp sgt i64 %count, 0
  br i1 %some, label %run, label %done
run:
  call void %kernel(ptr %slots, i64 0, i64 %count, i64 0)
  br label %done
several:
  %threads.at = getelementptr i8, ptr %frame, i64 16
  %threads = load i64, ptr %threads.at
  %most = udiv i64 %count, %grain
  %fewer = icmp ult i64 %most, %threads
  %parts = select i1 %fewer, i64 %most, i64 %threads
  %single = icmp ule i64 %parts, 1
  br i1 %single, label %run, label %share
share:
  %size = udiv i64 %count, %parts
  %whole = mul i64 %size, %parts
  %rest = sub i64 %count, %whole
  store ptr %kernel, ptr %job
  %slots.at = getelementptr i8, ptr %job, i64 8
  store ptr %slots, ptr %slots.at
  %size.at = getelementptr i8, ptr %job, i64 16
  store i64 %size, ptr %size.at
  %rest.at = getelementptr i8, ptr %job, i64 24
  store i64 %rest, ptr %rest.at
  %pool.at = getelementptr i8, ptr %frame, i64 8
  %pool = load ptr, ptr %pool.at
  call void %parallel.for(ptr %pool, ptr @TAG.part, ptr %job, i64 %parts)
  br label %done
done:
  ret void
}
"""
"""How one kernel is run: here, or in parts of nearly equal size that others may share."""
