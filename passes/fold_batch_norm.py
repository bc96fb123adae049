"""Fold batch normalisation, and factors for each channel, into the weights before them.

    %1 = gv.conv %x, %w                               %1 = gv.mul %w, %factor
    %2 = gv.batch_norm %1, %scale, ...       =>       %2 = gv.conv %x, %1
                                                      %3 = gv.add %2, %offset

With fixed statistics, a batch normalisation is a factor and an offset for each channel. The
factor goes into the weight of a convolution or product, offsets are added up. All that is
made of weights only is left to `hoist-prepare`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import MethodType

import numpy as np
from xdsl.ir import SSAValue

from ..ir import Op, Program, operands_of
from ..ir.types.dtypes import f32
from .analysis.constants import Known
from .analysis.kernels.linear import Linear, find_linear, shaped
from .analysis.rewrite import Rewriter, RuleBook, Rules, producer, spec
from .base import Pass

RULES = RuleBook[Callable[["Folding", Op, Rewriter], SSAValue | None]]()


@dataclass(frozen=True)
class FoldBatchNorm(Pass):
    """Fold what follows a linear operation, channel by channel, into its weight."""

    LEVEL = "graph"
    NUMERICS = "approximate"

    def apply(self, program: Program) -> None:
        """Fold until nothing is left to fold."""
        rewriter = Rewriter(Folding().rules())
        rewriter.run(program)
        for name, hits in rewriter.hits.items():
            self.count(name, hits)


@dataclass
class Folding:
    """The rules, and what they know about values."""

    known: Known = field(default_factory=Known)

    def rules(self) -> Rules:
        """Return the rules by operation."""
        table = RULES.table()
        return {name: [MethodType(rule, self) for rule in rules] for name, rules in table.items()}

    @RULES.on("batch_norm")
    def batch_norm(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """`batch_norm(x, s, b, m, v) -> x * f + (b - m * f)` with `f = s / sqrt(v + epsilon)`."""
        x, *statistics = op.operands
        if not all(map(self.known.is_fixed, statistics)):
            return None
        attributes = op.plain_attributes()
        dtype, axis = spec(x).dtype, attributes["axis"] % spec(x).rank
        shape = (spec(x).dims[axis], *(1 for _ in range(spec(x).rank - axis - 1)))
        if dtype.size < 4:
            statistics = [rewriter("cast", value, dtype=f32) for value in statistics]
        scale, bias, mean, variance = statistics
        wide = spec(variance).dtype
        epsilon = rewriter.constant(np.array(attributes["epsilon"], wide.numpy))
        deviation = rewriter("sqrt", rewriter("add", variance, epsilon))
        factor = rewriter("div", scale, deviation)
        offset = rewriter("sub", bias, rewriter("mul", mean, factor))
        if dtype.size < 4:
            factor, offset = (rewriter("cast", v, dtype=dtype) for v in (factor, offset))
        linear, before = self.linear_and_offset(x)
        if linear is None or linear.axis != axis:
            made = rewriter("mul", x, shaped(rewriter, factor, shape))
            return rewriter("add", made, shaped(rewriter, offset, shape))
        offset = shaped(rewriter, offset, shape)
        if before is not None:
            part = rewriter("mul", before, shaped(rewriter, factor, shape))
            offset = rewriter("add", part, offset)
        return rewriter("add", linear.scaled(rewriter, factor), offset)

    @RULES.on("mul")
    def factor(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """(x @ w + b) * s -> x @ (w * s) + b * s, for convolutions as well."""
        lhs, rhs = operands_of(op)
        for value, scale in ((lhs, rhs), (rhs, lhs)):
            if not self.known.is_fixed(scale) or value.type != op.results[0].type:
                continue
            linear, offset = self.linear_and_offset(value)
            if linear is None or not linear.takes(scale):
                continue
            made = linear.scaled(rewriter, scale)
            if offset is None:
                return made
            return rewriter("add", made, rewriter("mul", offset, scale))
        return None

    @RULES.on("div")
    def divisor(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """(x @ w + b) / s -> (x @ w + b) * (1 / s)."""
        value, scale = op.operands
        linear = self.linear_and_offset(value)[0] if self.known.is_fixed(scale) else None
        if linear is None or not linear.takes(scale):
            return None
        if value.type != op.results[0].type:
            return None
        one = rewriter.constant(np.array(1, spec(scale).dtype.numpy))
        return rewriter("mul", value, rewriter("div", one, scale))

    @RULES.on("sub")
    def negative_offset(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """(x @ w) - b -> (x @ w) + -b."""
        value, offset = op.operands
        if not self.known.is_fixed(offset) or self.linear_and_offset(value)[0] is None:
            return None
        return rewriter("add", value, rewriter("neg", offset))

    @RULES.on("add")
    def offsets(self, op: Op, rewriter: Rewriter) -> SSAValue | None:
        """(x @ w + a) + b -> x @ w + (a + b)."""
        lhs, rhs = operands_of(op)
        for value, second in ((lhs, rhs), (rhs, lhs)):
            if not self.known.is_fixed(second):
                continue
            linear, first = self.linear_and_offset(value)
            if linear is None or first is None:
                continue
            return rewriter("add", linear.op.results[0], rewriter("add", first, second))
        return None

    def linear_and_offset(self, value: SSAValue) -> tuple[Linear | None, SSAValue | None]:
        """Return the linear operation of `x @ w + b`, and b; or of `x @ w`, and None."""
        linear = find_linear(value, self.known)
        add = producer(value, "add")
        if linear is not None or add is None or not value.has_one_use():
            return linear, None
        for inner, offset in (add.operands, tuple(add.operands)[::-1]):
            if self.known.is_fixed(offset) and inner.type == value.type:
                linear = find_linear(inner, self.known)
                if linear is not None:
                    return linear, offset
        return None, None
