"""Activation functions: gelu, sigmoid, silu, hard_swish, mish, in terms of other functions."""

from __future__ import annotations

from math import pi, sqrt

from xdsl.ir import SSAValue

from ...ir import Op
from ..analysis.constants import is_scalar
from ..analysis.rewrite import RuleBook, producer
from .match import Match, Pattern, Polynomial, argument_of, root_of

PATTERNS = RuleBook[Pattern]()

HALF_OF_BOTH: Polynomial = {(1, 0): 0.5, (1, 1): 0.5}
"""x/2 + x*y/2."""
PRODUCT: Polynomial = {(1, 1): 1.0}
"""x*y."""
SCALED_CUBIC: Polynomial = {(1, 0): sqrt(2 / pi), (3, 0): sqrt(2 / pi) * 0.044715}


@PATTERNS.on("erf")
def erf_form(op: Op) -> Match | None:
    """`x/2 * (1 + erf(x / sqrt(2))) -> gelu(x)`."""
    x = argument_of(op.operands[0], {(1, 0): sqrt(0.5)})
    root = None if x is None else root_of(op.results[0], HALF_OF_BOTH, x)
    return None if x is None or root is None else Match(root, "gelu", [x])


@PATTERNS.on("tanh")
def tanh_form(op: Op) -> Match | None:
    """`x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))) -> gelu(x, tanh)`."""
    x = argument_of(op.operands[0], SCALED_CUBIC)
    root = None if x is None else root_of(op.results[0], HALF_OF_BOTH, x)
    if x is None or root is None:
        return None
    return Match(root, "gelu", [x], {"approximate": "tanh"})


@PATTERNS.on("exp")
def logistic(op: Op) -> Match | None:
    """`1 / (1 + exp(-x)) -> sigmoid(x)`, and `x / (1 + exp(-x)) -> silu(x)`."""
    negative = producer(op.operands[0], "neg")
    total = op.results[0].get_user_of_unique_use()
    if negative is None or not isinstance(total, Op) or total.name != "gv.add":
        return None
    x, quotient = negative.operands[0], total.results[0].get_user_of_unique_use()
    if not any(is_scalar(v, 1) for v in total.operands) or not isinstance(quotient, Op):
        return None
    if quotient.results[0].type != x.type or quotient.operands[-1] is not total.results[0]:
        return None
    above = quotient.operands[0]
    if quotient.name == "gv.reciprocal" or (quotient.name == "gv.div" and is_scalar(above, 1)):
        return Match(quotient, "sigmoid", [x])
    return Match(quotient, "silu", [x]) if quotient.name == "gv.div" and above is x else None


@PATTERNS.on("sigmoid")
def product_with_sigmoid(op: Op) -> Match | None:
    """`x * sigmoid(x) -> silu(x)`."""
    return product_with_argument(op, "silu")


def product_with_argument(op: Op, name: str) -> Match | None:
    """`x * f(x) -> g(x)`."""
    x = op.operands[0]
    root = root_of(op.results[0], PRODUCT, x)
    return None if root is None else Match(root, name, [x])


@PATTERNS.on("hard_sigmoid")
def hard_swish_of_hard_sigmoid(op: Op) -> Match | None:
    """`x * hard_sigmoid(x) -> hard_swish(x)`, for a slope of 1/6 and an offset of 1/2."""
    attributes = op.plain_attributes()
    if abs(attributes["alpha"] - 1 / 6) > 1e-6 or attributes["beta"] != 0.5:
        return None
    return product_with_argument(op, "hard_swish")


@PATTERNS.on("clip")
def clipped(op: Op) -> Match | None:
    """`x * clip(x + 3, 0, 6) / 6 -> hard_swish(x)`."""
    shifted, low, high = op.operands
    if not is_scalar(low, 0) or not is_scalar(high, 6):
        return None
    x = argument_of(shifted, {(1, 0): 1.0, (0, 0): 3.0})
    root = None if x is None else root_of(op.results[0], {(1, 1): 1 / 6}, x)
    return None if x is None or root is None else Match(root, "hard_swish", [x])


@PATTERNS.on("tanh")
def tanh_of_softplus(op: Op) -> Match | None:
    """`x * tanh(softplus(x)) -> mish(x)`."""
    inner = producer(op.operands[0], "softplus")
    if inner is None:
        return None
    x: SSAValue = inner.operands[0]
    root = root_of(op.results[0], PRODUCT, x)
    return None if root is None else Match(root, "mish", [x])


@PATTERNS.on("exp")
def log_of_exp(op: Op) -> Match | None:
    """`log(1 + exp(x)) -> softplus(x)`, and so `log1p(exp(x))`."""
    x, total = op.operands[0], op.results[0].get_user_of_unique_use()
    if not isinstance(total, Op):
        return None
    if total.name == "gv.log1p":
        return Match(total, "softplus", [x])
    if total.name != "gv.add" or not any(is_scalar(v, 1) for v in total.operands):
        return None
    log = total.results[0].get_user_of_unique_use()
    if not isinstance(log, Op) or log.name != "gv.log" or log.results[0].type != x.type:
        return None
    return Match(log, "softplus", [x])
