"""Why operations did not become one kernel: the checks of `fuse`, with words for what failed.

apart(program, Fuse())              before the pass; the program stays as it is
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block, Operation

from ..capabilities import Capabilities
from ..ir import SOURCE, Op, Program
from ..ir.levels import KIND
from ..ir.program import functions
from .analysis.blocks import blocks_of
from .analysis.kernels.kinds import KINDS, Reads, kind_of, takes_any
from .analysis.kernels.reads import is_cheap, is_readable, is_splat
from .analysis.targets import target_of
from .base import Observer, Step
from .fuse import MAX_MEMBERS, MAX_PATHS, Fuse, Group, Grouping


@dataclass(frozen=True)
class Apart:
    """An operation whose result goes through memory to another kernel."""

    operation: str
    source: str
    users: tuple[str, ...]
    reason: str

    def as_json(self) -> dict[str, object]:
        """Return the fields by name."""
        return {**vars(self), "users": list(self.users)}


def apart(program: Program, options: Fuse) -> list[Apart]:
    """Return the operations whose users are in other kernels, in order, each with the reason."""
    found: list[Apart] = []
    for function in functions(program.module):
        if KIND in function.attributes:
            continue
        for block in blocks_of(function):
            grouping = Explained(options, block, target_of(program).can)
            grouping.decide()
            found += reversed(grouping.found)
    return found


class WhyApart(Observer):
    """Looks at a program before its operations are fused."""

    def __init__(self) -> None:
        self.found: list[Apart] = []

    def before(self, step: Step, program: Program) -> None:
        """Note why operations will be apart."""
        if isinstance(step.rewrite, Fuse):
            self.found = apart(program, step.rewrite)


class Explained(Grouping):
    """A grouping that remembers why an operation did not join its users."""

    def __init__(self, options: Fuse, block: Block, can: Capabilities) -> None:
        super().__init__(options, block, can)
        self.found: list[Apart] = []

    def place(self, op: Op) -> None:
        """Place one operation; note if one of its users is not in the same kernel."""
        users = list(dict.fromkeys(use.operation for r in op.results for use in r.uses))
        groups = {id(g): g for user in users for g in self.of.get(user, ())}
        before = [len(g.members) for g in groups.values()]
        super().place(op)
        joined = any(
            len(g.members) > count for g, count in zip(groups.values(), before, strict=True)
        )
        if joined or is_splat(op) or op.name == "gv.reshape" or not users:
            return
        reason = self.why(op, users, list(groups.values()))
        named = tuple(dict.fromkeys(_named(user) for user in users))
        self.found.append(Apart(op.name.removeprefix("gv."), _source(op), named, reason))

    def why(self, op: Op, users: Sequence[Operation], groups: Sequence[Group]) -> str:
        """Return the first check that failed, in words."""
        outside = [user for user in users if user not in self.of]
        if outside:
            names = {user.name for user in outside}
            if "func.return" in names:
                return "its result is a result of the model"
            return f"{_named(outside[0])} is no kernel: it needs the result in memory"
        if any(len(group.members) >= MAX_MEMBERS for group in groups):
            return f"the kernel of its users has {MAX_MEMBERS} operations, the most there are"
        if len(groups) > 1 and not is_cheap(op):
            return f"{len(groups)} kernels use it: it is stored once, not computed in each"
        return (
            self.why_not_read(op, groups) if is_readable(op) else self.why_not_anchor(op, groups[0])
        )

    def why_not_read(self, op: Op, groups: Sequence[Group]) -> str:
        """Say why a kernel cannot compute an operation where it reads it."""
        if not self.options.maps:
            return "the option maps of fuse is off"
        uses = self.uses_by_group(op)
        for group in groups:
            paths = len(self.paths(group, uses[id(group)]))
            if paths > (MAX_PATHS if is_cheap(op) else 1):
                return f"it would be computed {paths} times: its users read it at several places"
        kinds = [g.kind for g in groups if KINDS[g.kind].reads is not Reads.ELEMENTS]
        kind = kinds[0] if kinds else groups[0].kind
        return f"a kernel of kind {kind} walks its operands in memory"

    def why_not_anchor(self, op: Op, group: Group) -> str:
        """Say why the kernel of the users cannot have this operation's loops too."""
        kind = kind_of(op, self.can)
        if kind == "row":
            return self.why_not_row(op, group)
        if kind is None or not takes_any(kind):
            return f"a kernel of kind {kind} stores its result as it is"
        in_place = group.root.results[0] in self.updates
        if in_place or group.kind != "map":
            own = "in place" if in_place else f"of kind {group.kind}, which has loops of its own"
            return f"its user is a kernel {own}"
        if not self.options.epilogues or len(op.results) != 1:
            return "it has several results" if self.options.epilogues else "epilogues are off"
        if not self.on_path(group, op, kind):
            return "what follows does not use each element once, at its own place"
        return "what follows stores another element type"

    def why_not_row(self, op: Op, group: Group) -> str:
        """Say why a reduction is not one more pass over its users' rows."""
        if not self.options.rows:
            return "the option rows of fuse is off"
        if group.kind not in ("map", "row"):
            return f"its user is a kernel of kind {group.kind}, which does not go by rows"
        if group.row is not None:
            return "its users go over rows of another shape"
        return "what follows does not stay in the rows that are reduced"


def _source(op: Operation) -> str:
    source = op.attributes.get(SOURCE)
    return source.data if isinstance(source, StringAttr) else ""


def _named(op: Operation) -> str:
    return _source(op) or op.name.removeprefix("gv.")
