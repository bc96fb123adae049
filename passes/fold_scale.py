"""Move the factor of a whole tensor back to a weight.

    %q = gv.matmul %x, %wq                       %w = gv.mul %wq, 0.125
    %s = gv.matmul %q, %k              =>        %q = gv.matmul %x, %w
    %t = gv.mul %s, 0.125                        %t = gv.matmul %q, %k

The factor goes back over products, reshapes, transposes and sums with fixed tensors, if it is
positive over bounds too, where nothing else uses the values on the way, until it meets a fixed
weight, or the fixed factor of a product of integers: multiplying that costs nothing at run time.
Without a weight at the end, the factor stays where it is.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from xdsl.ir import SSAValue

from ..ir import Op, Program, operands_of
from ..ir.facts import Scaling
from ..ir.ops.elementwise import Add, Sub
from .analysis.constants import Known, scalar_of
from .analysis.kernels.linear import find_linear, is_infinite, shaped
from .analysis.rewrite import Rewriter, producer, spec
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
    is_positive: bool = False
    """Whether the factor at hand is known to be above 0."""

    def factor(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """`x * s -> x`, computed with a weight times s."""
        lhs, rhs = operands_of(op)
        for value, scale in ((lhs, rhs), (rhs, lhs)):
            if self.is_factor(value, scale, op) and self.goes_back(value, scale):
                return self.scaled(value, shaped(rewriter, scale, ()), rewriter)
        return None

    def divisor(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """`x / s -> x`, computed with a weight times 1 / s."""
        value, scale = op.operands
        if not self.is_factor(value, scale, op) or not self.goes_back(value, scale):
            return None
        one = rewriter.constant(np.array(1, spec(scale).dtype.numpy))
        return self.scaled(value, rewriter("div", one, shaped(rewriter, scale, ())), rewriter)

    def is_factor(self, value: SSAValue, scale: SSAValue, op: Op) -> bool:
        """Say whether one fixed number multiplies a tensor that is not fixed."""
        return (
            self.known.is_fixed(scale)
            and not self.known.is_fixed(value)
            and spec(scale).size == 1
            and not is_infinite(scale)
            and value.type == op.results[0].type
            and spec(value).dtype.is_float
        )

    def goes_back(self, value: SSAValue, scale: SSAValue) -> bool:
        """Say whether this factor of the value can go back to a weight."""
        known = scalar_of(scale)
        self.is_positive = known is not None and known > 0
        return self.reaches_weight(value, FARTHEST)

    def reaches_weight(self, value: SSAValue, left: int) -> bool:
        """Say whether a factor of the value can go back to a weight."""
        if find_linear(value, self.known) is not None:
            return True
        op = value.owner
        if not isinstance(op, Op) or not value.has_one_use() or not left:
            return False
        if self.factor_of_sum(op) is not None:
            return True
        if op.name in ("gv.reshape", "gv.transpose"):
            return self.reaches_weight(op.operands[0], left - 1)
        if op.name == "gv.matmul":
            return any(self.reaches_weight(v, left - 1) for v in op.operands)
        inner = self.summand(op)
        return inner is not None and self.reaches_weight(op.operands[inner], left - 1)

    def summand(self, op: Op) -> int | None:
        """Return which operand of a sum or bound is not fixed, if all others are."""
        if op.SCALES is Scaling.NONE or (op.SCALES is Scaling.POSITIVE and not self.is_positive):
            return None
        fixed = [self.known.is_fixed(v) for v in op.operands]
        return fixed.index(False) if fixed.count(False) == 1 else None

    def factor_of_sum(self, op: Op) -> int | None:
        """Return which operand is the fixed factor of a product or convolution of integers."""
        if op.name != "gv.mul":
            return None
        for value, factor in ((0, 1), (1, 0)):
            wide = producer(op.operands[value], "cast")
            total = wide.operands[0] if wide is not None else None
            while total is not None and isinstance(total.owner, Add | Sub):
                total = total.owner.operands[0]
            is_sum = total is not None and (producer(total, "matmul") or producer(total, "conv"))
            if is_sum and self.known.is_fixed(op.operands[factor]):
                return factor
        return None

    def scaled(self, value: SSAValue, scale: SSAValue, rewriter: Rewriter) -> SSAValue:
        """Return the value times the factor; `reaches_weight` has said that this goes."""
        linear = find_linear(value, self.known)
        if linear is not None:
            return linear.scaled(rewriter, scale)
        op = value.owner
        assert isinstance(op, Op), "an argument has no weight"
        operands = list(op.operands)
        factor, inner = self.factor_of_sum(op), self.summand(op)
        if factor is not None:
            operands[factor] = rewriter("mul", operands[factor], scale)
            return rewriter("mul", *operands)
        if inner is not None:
            for each in (i for i in range(len(operands)) if i != inner):
                operands[each] = rewriter("mul", operands[each], scale)
        else:
            inner = next(i for i, v in enumerate(operands) if self.reaches_weight(v, FARTHEST))
        operands[inner] = self.scaled(operands[inner], scale, rewriter)
        return rewriter.again(op, *operands)
