"""Bring each operation into its simplest form.

    %0 = gv.reshape %x
    %1 = gv.reshape %0          =>   %0 = gv.reshape %x
    %2 = gv.mul %1, 1                func.return %0
    func.return %2

The rules are in `rules/`; each is an equation that holds for every number, zeros of both
signs included. Pipelines give the same results without this pass. Needs nothing; leaves no unused
operation behind.
"""

from __future__ import annotations

from dataclasses import dataclass

from ..ir import Program
from .analysis.rewrite import Rewriter, Rule, Rules
from .base import Pass
from .rules import arithmetic, shape


@dataclass(frozen=True)
class Canonicalize(Pass):
    """Apply equations from left to right until none applies."""

    def apply(self, program: Program) -> None:
        """Visit every operation, and again what changes."""
        rewriter = Rewriter(all_rules())
        rewriter.run(program)
        for name, hits in rewriter.hits.items():
            self.count(name, hits)


def all_rules() -> Rules:
    """Return the rules of each operation: those of its own first."""
    found: dict[str, tuple[Rule, ...]] = {}
    for book in (arithmetic.RULES, shape.RULES, shape.LAST):
        for name, rules in book.table().items():
            found[name] = (*found.get(name, ()), *rules)
    return found
