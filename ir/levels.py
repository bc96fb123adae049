"""The levels of the ladder, as tables: which operations may stand where.

    graph    gv.* on tensors, and what else is registered, in functions; structured control flow
    fused    gv.kernel regions; outside them constants, weights, views, control flow
    planned  buffers, launches, choices and loops in entry functions; kernel functions on tensors
    loops    kernel functions in upstream dialects and gvk micro-kernels

A module names its level in its attribute `gv.level`; the verifier then holds it to the
row. A function that carries `gv.kind` is a kernel function.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from .op import REGISTRY

LEVELS = ("graph", "fused", "planned", "loops")

KIND = "gv.kind"
"""The attribute that marks a kernel function and names its template."""

STREAMED = "gv.streamed"
"""The attribute of a kernel whose large results only the caller reads: written past the caches."""

BEHIND = "gv.behind"
"""The attribute of a product: bytes of weights of what is launched next, which lie behind its own.

It asks memory for them meanwhile.
"""

_STRUCTURE = frozenset({"builtin.module", "func.func", "func.return", "func.call"})
_NAMES = frozenset({"gv.reshape", "gv.pairs", "gv.of_pairs", "gv.words", "gv.of_words"})
_VALUES = frozenset({"gv.constant", "gv.weight", "gv.told", *_NAMES})
_CONTROL = frozenset({"gv.if", "gv.while", "gv.yield"})
_MEMORY = frozenset({"gv.buffer", "gv.view", "gv.as_parts", "gv.prefix", "gv.following"})
_LAUNCHES = _MEMORY | {"gv.launch", "gv.tell", "gv.choose", "gv.loop", "gv.repeat", "gv.yield"}


@dataclass(frozen=True)
class Rule:
    """What may stand at one level outside and inside of kernels."""

    outside: frozenset[str]
    """Operation names, or dialect prefixes that end in a dot, outside of kernels."""
    inside: frozenset[str]
    """The same inside `gv.kernel` regions and kernel functions."""

    def allows(self, name: str, *, inside: bool) -> bool:
        """Say whether an operation may stand there."""
        allowed = self.inside if inside else self.outside
        dialect = "gv." if name in REGISTRY else f"{name.split('.', maxsplit=1)[0]}."
        return name in allowed or dialect in allowed


_TENSORS = frozenset({"gv."})
_LOOPS = frozenset({"arith.", "math.", "vector.", "scf.", "memref.", "gvk.", "func.return"})

RULES: dict[str, Rule] = {
    "graph": Rule(_STRUCTURE | _TENSORS, frozenset()),
    "fused": Rule(_STRUCTURE | _VALUES | _CONTROL | {"gv.kernel"}, _TENSORS | {"func.return"}),
    "planned": Rule(_STRUCTURE | _LAUNCHES, _TENSORS | {"func.return"}),
    "loops": Rule(_STRUCTURE | _LAUNCHES, _LOOPS),
}

_ONLY_FROM: dict[str, str] = {
    "gv.kernel": "fused",
    "gv.buffer": "planned",
    "gv.view": "planned",
    "gv.launch": "planned",
}


def fault_of_level(op: Operation, level: str) -> str | None:
    """Return why the operation may not stand at this level, or None."""
    rule = RULES.get(level)
    if rule is None:
        return f"level {level!r} is unknown, expected one of {', '.join(LEVELS)}"
    first = getattr(op, "LEVEL", None) or _ONLY_FROM.get(op.name)
    if first is not None and LEVELS.index(first) > LEVELS.index(level):
        return f"may not stand at level {level}, it exists from level {first} on"
    if op.name in ("builtin.module", "func.func"):
        return None
    inside = _in_kernel(op)
    if rule.allows(op.name, inside=inside):
        return None
    return f"may not stand at level {level} {'inside' if inside else 'outside'} of a kernel"


def _in_kernel(op: Operation) -> bool:
    parent = op.parent_op()
    while parent is not None:
        if parent.name == "gv.kernel" or (isinstance(parent, FuncOp) and KIND in parent.attributes):
            return True
        parent = parent.parent_op()
    return False
