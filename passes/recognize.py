"""Raise chains of operations to the function that they compute.

    %0 = gv.div %x, 1.41421354
    %1 = gv.erf %0
    %2 = gv.add %1, 1.0          =>   %4 = gv.gelu %x
    %3 = gv.mul %x, %2
    %4 = gv.mul %3, 0.5

Exporters write some functions out; the forms looked for are in `patterns/`. Constants must have
the right value within the rounding of the element type. Wants `cse` before it: what is computed
twice is compared by identity.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import SSAValue

from ..ir import REGISTRY, Op, Program
from .analysis.effects import all_operations
from .analysis.rewrite import Rewriter, spec
from .base import Pass
from .patterns import activations, reductions
from .patterns.match import Match, Pattern


@dataclass(frozen=True)
class Recognize(Pass):
    """Raise chains of operations to the function that they compute."""

    LEVEL = "graph"
    NUMERICS = "approximate"

    exact: bool = False
    """Whether element-wise functions stay as they are written."""

    def apply(self, program: Program) -> None:
        """Look at each operation that may give a chain away, in order."""
        patterns = all_patterns(exact=self.exact)
        rewriter = Rewriter({})
        for op in all_operations(program.module):
            for pattern in patterns.get(op.name, ()):
                if op.parent is None or not isinstance(op, Op):
                    break
                match = pattern(op)
                if match is not None and f"gv.{match.name}" in REGISTRY:
                    raise_to(match, rewriter)
                    self.count(match.name)
                    break


def all_patterns(*, exact: bool = False) -> dict[str, Sequence[Pattern]]:
    """Return the patterns by the operation that gives them away."""
    found: dict[str, Sequence[Pattern]] = {}
    for book in (*(() if exact else (activations.PATTERNS,)), reductions.PATTERNS):
        for name, patterns in book.table().items():
            found[name] = (*found.get(name, ()), *patterns)
    return found


def raise_to(match: Match, rewriter: Rewriter) -> None:
    """Put the function in the place of the chain."""
    rewriter.current = match.root
    dtype = spec(match.root.results[0]).dtype
    operands = [
        v if isinstance(v, SSAValue) else rewriter.constant(np.array(v, dtype.numpy))
        for v in match.operands
    ]
    rewriter.replace(match.root, rewriter(match.name, *operands, **match.attributes))
