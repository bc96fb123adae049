"""Compute attention without the matrix of its scores.

    %s = gv.matmul %q, %k {transpose_rhs}
    %t = gv.add (gv.mul %s, 0.125), %mask      =>   %y = gv.attention %q, %k, %v, %mask
    %p = gv.softmax %t                                   {scale = 0.125}
    %y = gv.matmul %p, %v

Between the first product and the softmax may stand factors, a softcap c tanh(x / c), and biases or
masks, in this order. What a mask chooses, and does not add, hides whatever the product is. A bias
that hides by position what comes later makes it causal: then those scores are not computed at all.
Rows without anything to see may be replaced by zero behind the softmax: then they are behind the
attention, for a product of theirs may be no number. For f32, on GPUs also f16 and bf16, and widths
that are numbers. Weights that are kept in f32, and multiply values brought to f32, are rounded to
the type of scores and values on GPUs.

Wants `fold-scale` before it, which may move the factor into a weight; stands before `decompose`.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.ir import SSAValue

from ..ir import GraphEmit, Op, Program, replace
from ..ir.compose.functions import HIDDEN
from ..ir.compose.maker import Maker
from ..ir.program import functions
from ..ir.types.dims import Dim
from ..ir.types.dtypes import DType, bf16, f16, f32
from .analysis.blocks import operations_of
from .analysis.constants import constant_of, is_scalar, scalar_of
from .analysis.kernels.reads import is_elementwise
from .analysis.positions import hides_later, shows_earlier
from .analysis.rewrite import producer, spec
from .analysis.targets import target_of
from .base import Pass

HALVES = (f16, bf16)


@dataclass(frozen=True)
class Attention(Pass):
    """Compute attention without the matrix of its scores."""

    LEVEL = "graph"
    NUMERICS = "approximate"

    def apply(self, program: Program) -> None:
        """Look at each product in every function."""
        can = target_of(program).can
        floats = (f32, *HALVES) if can.attend_halves else (f32,)
        for function in functions(program.module):
            for op in list(operations_of(function)):
                if not isinstance(op, Op) or op.name != "gv.matmul":
                    continue
                fits = op.specs[1].dtype in floats
                found = Found.of(op, may_narrow=can.multiply_wide) if fits else None
                if found is not None:
                    replace(found.root, found.emit())
                    self.count("causal" if found.causal else "attentions")


@dataclass
class Found:
    """An attention, found from its last product backwards."""

    root: Op
    value: SSAValue
    """What is left to look behind, on the way from the softmax to the first product."""
    values: SSAValue
    """What is weighed."""
    scale: float = 1.0
    softcap: float = 0.0
    causal: bool = False
    guard: SSAValue | None = None
    """Which rows see nothing and are zero, if there may be such."""
    biases: list[Bias] = field(default_factory=list)

    @classmethod
    def of(cls, root: Op, *, may_narrow: bool = False) -> Found | None:
        """Return the attention whose last product this is."""
        weights, values = root.operands
        widths = (*spec(values).dims[-2:], spec(weights).dims[-2])
        if root.plain_attributes()["transpose_lhs"] or 0 in widths:
            return None
        guard, weights = without_guard(weights)
        softmax = producer(weights, "softmax")
        if softmax is None or not weights.has_one_use():
            return None
        scores = softmax.operands[0]
        if may_narrow:
            scores, values = narrowed(scores, values)
        found = cls(root, scores, values, guard=None if guard is None else guard.condition)
        last = spec(found.value).rank - 1
        if softmax.plain_attributes()["axis"] != last or not found.reaches_product():
            return None
        if guard is not None and [bias.given for bias in found.biases] != [guard.bias]:
            return None
        later = [bias.hides_later(*spec(found.value).dims[-2:]) for bias in found.biases]
        if later == [True] and guard is None:
            found.causal, found.biases = True, []
        return found

    def reaches_product(self) -> bool:
        """Go back from the scores to the first product; say whether it is there."""
        dims = spec(self.value).dims
        while (found := bias_of(self.value)) is not None and self.steps_to(found[0]):
            self.biases.append(found[1])
        cap = softcap_of(self.value)
        if cap is not None and self.steps_to(cap[0]):
            self.scale, self.softcap = cap[1] * cap[2], cap[2]
        while (factor := scaled(self.value)) is not None and self.steps_to(factor[0]):
            self.scale *= factor[1]
        first = producer(self.value, "matmul")
        if first is None or not self.value.has_one_use() or spec(self.value).dims != dims:
            return False
        flags = first.plain_attributes()
        depth = first.specs[0].dims[-2 if flags["transpose_lhs"] else -1]
        width = self.root.result_specs[0].dims[-1]
        return isinstance(depth, int) and isinstance(width, int) and depth * width > 0

    def steps_to(self, value: SSAValue) -> bool:
        """Go back to a value that is as large; say whether what it makes is used only here."""
        fits = self.value.has_one_use() and value.type == self.value.type
        self.value = value if fits else self.value
        return fits

    def emit(self) -> SSAValue:
        """Make the operation in the place of the last product."""
        make, first = Maker(GraphEmit.before(self.root)), self.value.owner
        assert isinstance(first, Op), "the raw scores are a product"
        flags, v = first.plain_attributes(), self.values
        q, k = (self.unscaled(operand) for operand in first.operands)
        q = turned(make, q) if flags["transpose_lhs"] else q
        k = k if flags["transpose_rhs"] else turned(make, k)
        v = turned(make, v) if self.root.plain_attributes()["transpose_rhs"] else v
        biases: list[SSAValue] = []
        for each in reversed(self.biases):  # from the product on: what hides takes what was added
            biases = [each.make(make, *biases)]
        attended = make.attention(
            q, k, v, *biases, scale=self.scale, softcap=self.softcap, causal=self.causal,
            hiding=any(each.given is None for each in self.biases),
        )  # fmt: skip
        if self.guard is not None:
            zero = make.number(0, spec(attended).dtype)
            attended = make.select(self.guard, zero, attended)
        made: SSAValue = make.to(attended, self.root.result_specs[0].dtype)
        return made

    def unscaled(self, value: SSAValue) -> SSAValue:
        """Take the factor of an operand of the first product into the scale."""
        found = scaled(value)
        if found is None or found[0].type != value.type:
            return value
        self.scale *= found[1]
        return found[0]


@dataclass(frozen=True)
class Bias:
    """What is added to scores: a value, or a low number where a condition does not hold."""

    given: SSAValue | None
    condition: SSAValue | None = None
    low: float = 0.0
    dtype: DType = f32
    is_seen: bool = True
    """Whether the condition says what is seen; else it says what is hidden."""

    def make(self, make: Maker, *before: SSAValue) -> SSAValue:
        """Return the value, together with that of the bias before it if there is one."""
        if self.given is not None:
            total: SSAValue = make.add(*before, self.given) if before else self.given
            return total
        seen = before[0] if before else make.number(0, self.dtype)
        hidden = make.number(self.low, self.dtype)
        sides = (seen, hidden) if self.is_seen else (hidden, seen)
        made: SSAValue = make.select(self.condition, *sides)
        return made

    def hides_later(self, rows: Dim, columns: Dim) -> bool:
        """Say whether this is a causal mask."""
        if self.given is not None:
            return hides_later(self.given, rows, columns)
        assert self.condition is not None, "a bias is given, or made from a condition"
        return shows_earlier(self.condition, rows, columns, self.is_seen)


def narrowed(scores: SSAValue, values: SSAValue) -> tuple[SSAValue, SSAValue]:
    """Return scores and values as they are before they are brought to f32 from one type."""
    casts = [producer(value, "cast") for value in (scores, values)]
    before = [cast.operands[0] for cast in casts if cast is not None]
    kinds = {spec(value).dtype for value in before}
    if len(before) < len(casts) or len(kinds) != 1 or kinds.isdisjoint(HALVES):
        return scores, values
    return (before[0], before[1]) if scores.has_one_use() else (scores, values)


def turned(make: Maker, value: SSAValue) -> SSAValue:
    """Return matrices with rows and columns exchanged."""
    rank = spec(value).rank
    made: SSAValue = make.transpose(value, order=(*range(rank - 2), rank - 1, rank - 2))
    return made


@dataclass(frozen=True)
class Guard:
    """Rows of which a bias hides all are zero."""

    condition: SSAValue
    bias: SSAValue


def without_guard(weights: SSAValue) -> tuple[Guard | None, SSAValue]:
    """Return the guard of `select(max(b) == -inf, 0, x)` over rows, and x; None, x for only x."""
    choice = producer(weights, "select")
    if choice is None or not weights.has_one_use() or not is_scalar(choice.operands[1], 0):
        return None, weights
    condition, _, kept = choice.operands
    known = constant_of(condition)
    if known is not None and not known.any():
        return None, kept
    test = producer(condition, "equal")
    most = None if test is None else producer(test.operands[0], "max")
    if test is None or most is None or not is_scalar(test.operands[1], -float("inf")):
        return None, weights
    flags, bias = most.plain_attributes(), most.operands[0]
    fits = flags["axes"] == (spec(bias).rank - 1,) and flags["keepdims"]
    return (Guard(condition, bias), kept) if fits else (None, weights)


def bias_of(value: SSAValue) -> tuple[SSAValue, Bias] | None:
    """Return x and the bias b of `x + b`, or of a choice between x and what hides."""
    total, choice = producer(value, "add"), producer(value, "select")
    if total is not None:
        for x, bias in (total.operands, tuple(total.operands)[::-1]):
            if x.type == value.type and is_shaped_product(x):
                return x, Bias(bias)
    if choice is None:
        return None
    condition, *sides = choice.operands
    for here, x in ((1, sides[0]), (0, sides[1])):
        low = scalar_of(sides[here])
        if isinstance(low, float) and low <= HIDDEN and x.type == value.type:
            return x, Bias(None, condition, low, spec(x).dtype, bool(here))
    return None


def is_shaped_product(value: SSAValue) -> bool:
    """Say whether a value is a product, or one that was scaled, capped, hidden or added to."""
    waiting = [value]
    while waiting:
        op = waiting.pop().owner
        if not isinstance(op, Op) or not op.results[0].has_one_use():
            continue
        if op.name == "gv.matmul":
            return True
        if is_elementwise(op):
            waiting += [x for x in op.operands if x.type == value.type]
    return False


def softcap_of(value: SSAValue) -> tuple[SSAValue, float, float] | None:
    """Return x, a and c of `c tanh(a x)`."""
    outer = scaled(value)
    inner = None if outer is None else producer(outer[0], "tanh")
    if outer is None or inner is None or not outer[0].has_one_use() or not outer[1]:
        return None
    (x,) = inner.operands
    factor = scaled(x) if x.has_one_use() else None
    return (*(factor or (x, 1.0)), outer[1])


def scaled(value: SSAValue) -> tuple[SSAValue, float] | None:
    """Return x and c of `x * c` or `x / (1 / c)`, for a finite number c."""
    product, quotient = producer(value, "mul"), producer(value, "div")
    if product is not None:
        for x, factor in (product.operands, tuple(product.operands)[::-1]):
            number = scalar_of(factor)
            if isinstance(number, float) and abs(number) < -HIDDEN:
                return x, number
    if quotient is not None:
        number = scalar_of(quotient.operands[1])
        if isinstance(number, float) and number and abs(number) < -HIDDEN:
            return quotient.operands[0], 1 / number
    return None
