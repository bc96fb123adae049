"""Rules of reductions, running sums and places of extremes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axes, normalize_axis
from ..node import Node, Value
from ..registry import rule
from ..within import require_index

Reduce = Callable[[Node, Any, tuple[int, ...], bool], Any]


def _plain(name: str) -> Reduce:
    def reduce(node: Node, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
        return getattr(node.make, name)(x, axes=axes, keepdims=keep)

    return reduce


def _mean(node: Node, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
    if node.dtype(x).is_float:
        return node.make.mean(x, axes=axes, keepdims=keep)
    total = node.make.sum(x, axes=axes, keepdims=keep)
    count = dim_rules.product([node.shape(x)[axis] for axis in axes])
    return node.make.div(total, node.make.extent_of(count, node.dtype(x)))


def _l1(node: Node, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
    return node.make.sum(node.make.abs(x), axes=axes, keepdims=keep)


def _square(node: Node, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
    return node.make.sum(node.make.mul(x, x), axes=axes, keepdims=keep)


def _l2(node: Node, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
    return _in_float(node, _square(node, x, axes, keep), "sqrt")


def _log_sum(node: Node, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
    return _in_float(node, node.make.sum(x, axes=axes, keepdims=keep), "log")


def _log_sum_exp(node: Node, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
    make, dtype = node.make, node.dtype(x)
    wide = make.to(x, dtype if dtype.is_float else d.f64)
    if any(node.shape(x)[axis] == 0 for axis in axes):
        return _log_sum(node, wide, axes, keep)
    return make.to(make.logsumexp(wide, axes=axes, keepdims=keep), dtype)


def _in_float(node: Node, x: Value, name: str) -> Value:
    """Apply a function of floats; integers are converted there and back."""
    make, dtype = node.make, node.dtype(x)
    apply = getattr(make, name)
    return apply(x) if dtype.is_float else make.to(apply(make.to(x, d.f64)), dtype)


def _extreme(name: str, of_bools: str) -> Reduce:
    def reduce(node: Node, x: Value, axes: tuple[int, ...], keep: bool) -> Value:
        dtype, shape = node.dtype(x), node.shape(x)
        if any(shape[axis] == 0 for axis in axes):
            lowest = dtype.minimum if name == "max" else dtype.maximum
            left = [1 if a in axes else s for a, s in enumerate(shape) if keep or a not in axes]
            return node.make.filled(lowest, dtype, left)
        chosen = of_bools if dtype is d.bool_ else name
        return getattr(node.make, chosen)(x, axes=axes, keepdims=keep)

    return reduce


REDUCTIONS: dict[str, Reduce] = {
    "ReduceSum": _plain("sum"),
    "ReduceProd": _plain("prod"),
    "ReduceMean": _mean,
    "ReduceMax": _extreme("max", "any"),
    "ReduceMin": _extreme("min", "all"),
    "ReduceL1": _l1,
    "ReduceL2": _l2,
    "ReduceSumSquare": _square,
    "ReduceLogSum": _log_sum,
    "ReduceLogSumExp": _log_sum_exp,
}


@rule(*REDUCTIONS)
def reduce_axes(node: Node, x: Value, axes: Value | None = None) -> Value:
    """Reduce the axes of an attribute or an input; without any, all or none."""
    given: Sequence[int] | None = node.integers("axes")
    keep = bool(node.integer("keepdims", 1))
    may_be_none = node.integer("noop_with_empty_axes", 0)
    if axes is not None and node.is_data(axes):
        return _reduced_by(node, x, axes, keep)
    if axes is not None:
        given = node.integers_of(axes, "axes")
    if not given and may_be_none:
        found: tuple[int, ...] = ()
    else:
        found = normalize_axes(given or None, node.rank(x))
    return REDUCTIONS[node.op_type](node, x, found, keep)


def _reduced_by(node: Node, x: Value, axes: Value, keep: bool) -> Value:
    """Reduce axes that are data: a host step brings them together, and another one back."""
    rank = node.rank(x) - (0 if keep else node.count(axes, "axes"))
    matrix, shape = node.make.axes_last(x, node.vector(axes), sizes=node.unknown(2), keep=keep)
    made = REDUCTIONS[node.op_type](node, matrix, (1,), False)
    return node.make.reshape_to(made, shape, sizes=node.unknown(rank), zero=True)


@rule("ArgMax", "ArgMin")
def arg_extreme(node: Node, x: Value) -> Value:
    """Return the place of the first or last extreme along an axis."""
    find = node.make.argmax if node.op_type == "ArgMax" else node.make.argmin
    return find(
        x,
        axis=normalize_axis(node.integer("axis", 0), node.rank(x)),
        keepdims=bool(node.integer("keepdims", 1)),
        last=bool(node.integer("select_last_index", 0)),
    )


@rule("CumSum", "CumProd")
def running(node: Node, x: Value, axis: Value) -> Value:
    """Return running sums or products along an axis."""
    make, rank = node.make, node.rank(x)
    scan = make.cumsum if node.op_type == "CumSum" else make.cumprod
    exclusive, reverse = (bool(node.integer(name, 0)) for name in ("exclusive", "reverse"))
    if not node.is_data(axis):
        (along,) = node.integers_of(axis, "axis")
        places = [normalize_axis(along, rank)]
    else:
        places = [*range(rank)]  # along each of them, of which one is selected
        require_index(node, axis, rank, "axis")
    made = [scan(x, axis=place, exclusive=exclusive, reverse=reverse) for place in places]
    chosen = make.reshape(axis, shape=())
    for place, other in zip(places[1:], made[1:], strict=True):
        count, dtype = len(places), node.dtype(chosen)
        is_this = make.logical_or(
            make.equal(chosen, make.number(place, dtype)),
            make.equal(chosen, make.number(place - count, dtype)),
        )
        made[0] = make.select(is_this, other, made[0])
    return made[0]
