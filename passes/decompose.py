"""Replace operations that are made of others by these.

    %0 = gv.softmax %x {axis = 1}   =>   %0 = gv.max %x {axes = [1], keepdims = true}
                                         %1 = gv.sub %x, %0
                                         ...

An operation decomposes if that is its only lowering, or its kernel is for other element types;
those named in `keep` stay. What a decomposition is made of decomposes, too. Every operation that is
left has a formula for an element, an iteration space, a kernel template, a host entry, or moves
elements.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation

from ..capabilities import Capabilities
from ..ir import REGISTRY, Op, Program
from .analysis.decomposing import decompose
from .analysis.effects import all_operations
from .analysis.kernels.kinds import kind_of
from .analysis.targets import target_of
from .base import Pass


@dataclass(frozen=True)
class Decompose(Pass):
    """Replace operations by their decomposition."""

    NUMERICS = "approximate"

    keep: tuple[str, ...] = ()
    """Names of operations that stay, gravure's own without `gv.`."""

    def apply(self, program: Program) -> None:
        """Replace, and look again at what was made."""
        wanted = {name for name, op in REGISTRY.items() if only_decomposes(op)}
        wanted -= {name if "." in name else f"gv.{name}" for name in self.keep}
        can = target_of(program).can
        waiting = [
            op
            for op in all_operations(program.module)
            if op.name in wanted or lacks_kernel(op, can)
        ]
        while waiting:
            op = waiting.pop()
            assert isinstance(op, Op), f"{op.name} is in the registry and no operation of ours"
            made = decompose(op)
            more = [inner for inner in made if inner.parent]
            waiting += [x for x in more if x.name in wanted or lacks_kernel(x, can)]
            self.count(op.name.removeprefix("gv."))


def lacks_kernel(op: Operation, can: Capabilities) -> bool:
    """Say whether there is a kernel for an operation, but not for its element type."""
    if not isinstance(op, Op) or op.KERNEL is None or not op.has("decompose"):
        return False
    return kind_of(op, can) is None


def only_decomposes(op: type[Op]) -> bool:
    """Say whether an operation has a decomposition and no other lowering."""
    others = op.has("scalar") or op.has("iteration") or op.KERNEL is not None
    return op.has("decompose") and op.HOST is None and not others
