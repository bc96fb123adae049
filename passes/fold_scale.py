"""Move the factor of a whole tensor back to a weight.

    %q = gv.matmul %x, %wq                       %w = gv.mul %wq, 0.125
    %s = gv.matmul %q, %k              =>        %q = gv.matmul %x, %w
    %t = gv.mul %s, 0.125                        %t = gv.matmul %q, %k

The factor goes back over products, reshapes, transposes and sums with fixed tensors, where
nothing else uses the values on the way, until it meets a fixed weight: multiplying that costs
nothing at run time. Without a weight at the end, the factor stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import SSAValue

from ..ir import Op, Program
from .analysis.constants import Known
from .analysis.linear import find_linear, is_infinite, shaped
from .analysis.rewrite import Rewriter, spec
from .base import Pass

FARTHEST = 12
"""The most operations that a factor goes back over."""


@dataclass(frozen=True)
class FoldScale(Pass):
    """Move the factor of a whole tensor back to a weight."""

    LEVEL = "graph"
    NUMERICS = "approximate"

    def apply(self, program: Program) -> None:
        """Move every factor that can be."""
        moving = Moving()
        rewriter = Rewriter({"gv.mul": (moving.factor,), "gv.div": (moving.divisor,)})
        rewriter.run(program)
        for name, hits in rewriter.hits.items():
            self.count(name, hits)


@dataclass
class Moving:
    """The rules, and what they know about values."""

    known: Known = field(default_factory=Known)

    def factor(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """`x * s -> x`, computed with a weight times s."""
        for value, scale in (op.operands, tuple(op.operands)[::-1]):
            if self.is_factor(value, scale, op) and self.reaches_weight(value, FARTHEST):
                return self.scaled(value, shaped(rewriter, scale, ()), rewriter)
        return None

    def divisor(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """`x / s -> x`, computed with a weight times 1 / s."""
        value, scale = op.operands
        if not self.is_factor(value, scale, op) or not self.reaches_weight(value, FARTHEST):
            return None
        one = rewriter.constant(np.array(1, spec(scale).dtype.numpy))
        return self.scaled(value, rewriter("div", one, shaped(rewriter, scale, ())), rewriter)

    def is_factor(self, value: SSAValue, scale: SSAValue, op: Op) -> bool:
        """Say whether one fixed number multiplies a tensor that is not fixed."""
        return (
            spec(scale).size == 1
            and not is_infinite(scale)
            and value.type == op.results[0].type
            and spec(value).dtype.is_float
            and self.known.is_fixed(scale)
            and not self.known.is_fixed(value)
        )

    def reaches_weight(self, value: SSAValue, left: int) -> bool:
        """Say whether a factor of the value can go back to a weight."""
        if find_linear(value, self.known) is not None:
            return True
        op = value.owner
        if not isinstance(op, Op) or not value.has_one_use() or not left:
            return False
        if op.name in ("gv.reshape", "gv.transpose"):
            return self.reaches_weight(op.operands[0], left - 1)
        if op.name == "gv.matmul":
            return any(self.reaches_weight(v, left - 1) for v in op.operands)
        inner = self.summand(op)
        return inner is not None and self.reaches_weight(op.operands[inner], left - 1)

    def summand(self, op: Op) -> int | None:
        """Return which operand of a sum is not fixed, if the other one is."""
        if op.name not in ("gv.add", "gv.sub"):
            return None
        fixed = [self.known.is_fixed(v) for v in op.operands]
        return fixed.index(False) if fixed.count(True) == 1 else None

    def scaled(self, value: SSAValue, scale: SSAValue, rewriter: Rewriter) -> SSAValue:
        """Return the value times the factor; `reaches_weight` has said that this goes."""
        linear = find_linear(value, self.known)
        if linear is not None:
            return linear.scaled(rewriter, scale)
        op = value.owner
        assert isinstance(op, Op), "an argument has no weight"
        operands = list(op.operands)
        if op.name in ("gv.add", "gv.sub"):
            inner = self.summand(op)
            assert inner is not None, "a sum on the way to a weight has one fixed operand"
            operands[1 - inner] = rewriter("mul", operands[1 - inner], scale)
        else:
            inner = next(i for i, v in enumerate(operands) if self.reaches_weight(v, FARTHEST))
        operands[inner] = self.scaled(operands[inner], scale, rewriter)
        return rewriter(op.name.removeprefix("gv."), *operands, **op.plain_attributes())
