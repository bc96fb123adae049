"""Emit accesses of a GPU's kernels that are looked at in the run: one outside ends the launch.

br i1 %inside, label %go, label %stop       stop: call void @llvm.trap()
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.ir import Operation

from ....passes.bounds.blocks import reaches_of
from .checked import OPERATIONS, Ends
from .emitter import Emit


class Traps(Ends):
    """Looks at the accesses of one kernel; nothing behind one that is outside is done."""

    def emit(self, op: Operation, emit: Emit) -> None:
        """Emit an access behind the question whether it is inside."""
        for inside in self.looked(op):
            self.stop_unless(inside)
        emit(self.e, op)

    def looked(self, op: Operation) -> Iterator[str]:
        """Give for each part of an access whether it is inside."""
        if op.name in OPERATIONS:
            yield OPERATIONS[op.name](self, op)[2]
            return
        names = self.e.names
        for each in reaches_of(op):
            first = names[each.at]
            last = self.value(f"add i64 {first}, {each.length - 1}")
            inside = self.inside(each.buffer, first, last)
            if each.given is not None:
                nothing = self.value(f"icmp eq i64 {names[each.given]}, 0")
                inside = self.value(f"or i1 {nothing}, {inside}")
            yield inside

    def stop_unless(self, inside: str) -> None:
        """End the launch unless something holds."""
        text = self.e.text
        text.declare("declare void @llvm.trap()")
        go, stop = text.fresh_label(), text.fresh_label()
        text.line(f"br i1 {inside}, label %{go}, label %{stop}")
        text.label(stop)
        text.line("call void @llvm.trap()")
        text.line("unreachable")
        text.label(go)
