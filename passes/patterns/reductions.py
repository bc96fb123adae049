"""Functions with reductions inside: layer_norm, rms_norm, softmax, log_softmax."""

from __future__ import annotations

from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.types.dims import Dim
from ...ir.types.shapes import normalize_axes
from ..analysis.constants import is_scalar, scalar_of
from ..analysis.rewrite import RuleBook, producer, spec
from .match import Match, Pattern, climb

PATTERNS = RuleBook[Pattern]()


def reduction(value: SSAValue, name: str) -> tuple[SSAValue, tuple[int, ...]] | None:
    """Return what `gv.<name>` reduces, and the axes, if the value has 1 in their places."""
    op = producer(value, name)
    if op is None:
        reshaped = producer(value, "reshape")
        op = None if reshaped is None else producer(reshaped.operands[0], name)
    if op is None:
        return None
    shape = spec(op.operands[0]).dims
    axes = normalize_axes(op.plain_attributes()["axes"], len(shape))
    kept = tuple(1 if i in axes else dim for i, dim in enumerate(shape))
    return (op.operands[0], axes) if spec(value).dims == kept else None


def other(op: Op, value: SSAValue) -> SSAValue | None:
    """Return the other operand of an operation on two, None if both are the value."""
    lhs, rhs = op.operands
    if lhs is value:
        return rhs if rhs is not value else None
    return lhs


def number_added(op: Op) -> tuple[SSAValue, float] | None:
    """Return x and c of `x + c`."""
    for value, constant in (op.operands, tuple(op.operands)[::-1]):
        number = scalar_of(constant)
        if isinstance(number, int | float) and not isinstance(number, bool):
            return value, float(number)
    return None


def square(value: SSAValue) -> SSAValue | None:
    """Return x, if the value is x * x or x ** 2."""
    op = value.owner
    if not isinstance(op, Op) or op.name not in ("gv.mul", "gv.pow"):
        return None
    lhs, rhs = op.operands
    if op.name == "gv.mul":
        return lhs if lhs is rhs else None
    return lhs if is_scalar(rhs, 2) else None


@PATTERNS.on("sqrt", "rsqrt")
@PATTERNS.on("pow")
def norm(op: Op) -> Match | None:
    """`d / sqrt(mean(d**2) + e) * s + b -> layer_norm(x)` if `d = x - mean(x)`, else rms_norm."""
    if op.name == "gv.pow" and not any(is_scalar(op.operands[1], p) for p in (0.5, -0.5)):
        return None
    total = producer(op.operands[0], "add")
    added = None if total is None else number_added(total)
    if added is None:
        return None
    variance, epsilon = added
    mean = reduction(variance, "mean")
    base = None if mean is None else square(mean[0])
    if mean is None or base is None:
        return None
    rank, axes = spec(base).rank, mean[1]
    if axes != tuple(range(axes[0], rank)) or not axes:
        return None
    root = normalised(op, base)
    return None if root is None else with_scale(root, base, axes, epsilon)


def normalised(op: Op, base: SSAValue) -> Op | None:
    """Return the operation that divides `base` by the root that `op` takes."""
    inverse = op.name == "gv.rsqrt" or (op.name == "gv.pow" and is_scalar(op.operands[1], -0.5))
    for user in climb(op.results[0]):
        if user.name == "gv.div" and not inverse:
            lhs, rhs = user.operands
            if lhs is base:
                return user
            if rhs is not op.results[0] or not is_scalar(lhs, 1):
                return None
            inverse = True
        elif user.name == "gv.reciprocal" and not inverse:
            inverse = True
        elif user.name == "gv.mul" and inverse:
            return user if base in tuple(user.operands) else None
        else:
            return None
    return None


def with_scale(root: Op, base: SSAValue, axes: tuple[int, ...], epsilon: float) -> Match:
    """Return the match, taking the factor and the offset behind it along if they fit."""
    shape = spec(base).dims[axes[0] :]
    centred = centre(base, axes)
    scale: SSAValue | float = 1.0
    bias: SSAValue | float = 0.0
    user = root.results[0].get_user_of_unique_use()
    if isinstance(user, Op) and user.name == "gv.mul":
        factor = other(user, root.results[0])
        if factor is not None and fits(factor, shape) and user.results[0].type == base.type:
            root, scale = user, factor
            user = root.results[0].get_user_of_unique_use()
    attributes = {"axis": axes[0], "epsilon": epsilon}
    if centred is None:
        return Match(root, "rms_norm", [base, scale], attributes)
    if isinstance(user, Op) and user.name == "gv.add":
        offset = other(user, root.results[0])
        if offset is not None and fits(offset, shape) and user.results[0].type == base.type:
            root, bias = user, offset
    return Match(root, "layer_norm", [centred, scale, bias], attributes)


def centre(base: SSAValue, axes: tuple[int, ...]) -> SSAValue | None:
    """Return x, if the value is `x - mean(x)`."""
    difference = producer(base, "sub")
    if difference is None:
        return None
    x, mean = difference.operands
    return x if reduction(mean, "mean") == (x, axes) else None


def fits(value: SSAValue, shape: tuple[Dim, ...]) -> bool:
    """Say whether a factor runs along the normalised axes only."""
    found = spec(value).dims
    return len(found) <= len(shape) and all(
        a in (1, b) for a, b in zip(found, shape[len(shape) - len(found) :], strict=True)
    )


@PATTERNS.on("exp")
def exp_over_sum(op: Op) -> Match | None:
    """`e / sum(e) -> softmax(x)`, with `e = exp(x - max(x))`."""
    difference = producer(op.operands[0], "sub")
    if difference is None:
        return None
    x, largest = difference.operands
    found = reduction(largest, "max")
    if found is None or found[0] is not x or len(found[1]) != 1:
        return None
    result = op.results[0]
    for use in result.uses:
        user = use.operation
        if user.name != "gv.div" or not isinstance(user, Op) or user.operands[0] is not result:
            continue
        if reduction(user.operands[1], "sum") == (result, found[1]):
            return Match(user, "softmax", [x], {"axis": found[1][0]})
    return None


@PATTERNS.on("log")
def log_of_softmax(op: Op) -> Match | None:
    """`log(softmax(x)) -> log_softmax(x)`."""
    inner = producer(op.operands[0], "softmax")
    if inner is None or not op.operands[0].has_one_use():
        return None
    return Match(op, "log_softmax", [inner.operands[0]], inner.plain_attributes())
