"""Rules of reductions, running sums and places of extremes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from ....ir.ops.reduce import kept_shape
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ....ir.types.shapes import normalize_axes, normalize_axis
from ..node import Node, Value
from ..registry import rule
from ..within import require_index


class Reducing(Protocol):
    """What reduces tensors along the axes of a node."""

    def __call__(self, name: str, x: Value) -> Value:
        """Append the reduction of a name."""

    def count(self, x: Value) -> Value:
        """Return how many elements become one, in the tensor's type."""


@dataclass(frozen=True)
class Along:
    """Axes that are known."""

    node: Node
    axes: tuple[int, ...]
    keep: bool

    def __call__(self, name: str, x: Value) -> Value:
        """Append the reduction of a name; there is a result for no elements, too."""
        make, dtype, shape = self.node.make, self.node.dtype(x), self.node.shape(x)
        if any(shape[axis] == 0 for axis in self.axes):
            if name == "logsumexp":
                return make.log(self("sum", x))
            if name in ("max", "min"):
                lowest = dtype.minimum if name == "max" else dtype.maximum
                left = kept_shape(shape, self.axes, keepdims=self.keep)
                return make.filled(lowest, dtype, left)
        return getattr(make, name)(x, axes=self.axes, keepdims=self.keep)

    def count(self, x: Value) -> Value:
        """Return the number."""
        several = dim_rules.product([self.node.shape(x)[axis] for axis in self.axes])
        return self.node.make.extent_of(several, self.node.dtype(x))


@dataclass(frozen=True)
class AlongData:
    """Axes that are data: a host step for each reduction."""

    node: Node
    axes: Value
    keep: bool
    noop: bool
    """Whether no axes are none; else they are all."""

    def __call__(self, name: str, x: Value) -> Value:
        """Append the reduction of a name."""
        node = self.node
        rank = node.rank(x) - (0 if self.keep else node.count(self.axes, "axes"))
        rules = {"keep": self.keep, "none": self.noop, "sizes": node.unknown(rank)}
        return node.make.reduce_along(x, node.vector(self.axes), kind=name, **rules)

    def count(self, x: Value) -> Value:
        """Return the numbers, of which all are the same."""
        return self("sum", self.node.make.filled(1, self.node.dtype(x), self.node.shape(x)))


Reduce = Callable[[Node, Value, Reducing], Value]


def _plain(name: str) -> Reduce:
    def reduce(node: Node, x: Value, fold: Reducing) -> Value:
        del node
        return fold(name, x)

    return reduce


def _mean(node: Node, x: Value, fold: Reducing) -> Value:
    if node.dtype(x).is_float:
        return fold("mean", x)
    return node.make.div(fold("sum", x), fold.count(x))


def _l1(node: Node, x: Value, fold: Reducing) -> Value:
    return fold("sum", node.make.abs(x))


def _square(node: Node, x: Value, fold: Reducing) -> Value:
    return fold("sum", node.make.mul(x, x))


def _l2(node: Node, x: Value, fold: Reducing) -> Value:
    return _in_float(node, _square(node, x, fold), "sqrt")


def _log_sum(node: Node, x: Value, fold: Reducing) -> Value:
    return _in_float(node, fold("sum", x), "log")


def _log_sum_exp(node: Node, x: Value, fold: Reducing) -> Value:
    make, dtype = node.make, node.dtype(x)
    return make.to(fold("logsumexp", make.to(x, dtype if dtype.is_float else d.f64)), dtype)


def _in_float(node: Node, x: Value, name: str) -> Value:
    """Apply a function of floats; integers are converted there and back."""
    make, dtype = node.make, node.dtype(x)
    apply = getattr(make, name)
    return apply(x) if dtype.is_float else make.to(apply(make.to(x, d.f64)), dtype)


def _extreme(name: str, of_bools: str) -> Reduce:
    def reduce(node: Node, x: Value, fold: Reducing) -> Value:
        return fold(of_bools if node.dtype(x) is d.bool_ else name, x)

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
    may_be_none = bool(node.integer("noop_with_empty_axes", 0))
    if axes is not None and node.is_data(axes):
        return REDUCTIONS[node.op_type](node, x, AlongData(node, axes, keep, may_be_none))
    if axes is not None:
        given = node.integers_of(axes, "axes")
    if not given and may_be_none:
        found: tuple[int, ...] = ()
    else:
        found = normalize_axes(given or None, node.rank(x))
    return REDUCTIONS[node.op_type](node, x, Along(node, found, keep))


@rule("ArgMax", "ArgMin")
def arg_extreme(node: Node, x: Value) -> Value:
    """Return the place of the first or last extreme along an axis."""
    find = node.make.argmax if node.op_type == "ArgMax" else node.make.argmin
    axis = normalize_axis(node.integer("axis", 0), node.rank(x))
    last, keeps = (
        bool(node.integer(*given)) for given in (("select_last_index", 0), ("keepdims", 1))
    )
    shape = kept_shape(node.shape(x), (axis,), keepdims=keeps)
    if 0 in shape:  # of an axis that may be empty, too: there is none to look along
        return node.make.filled(0, d.i64, shape)
    return find(x, axis=axis, keepdims=keeps, last=last)


@rule("CumSum", "CumProd")
def running(node: Node, x: Value, axis: Value) -> Value:
    """Return running sums or products along an axis."""
    make, rank = node.make, node.rank(x)
    scan = make.cumsum if node.op_type == "CumSum" else make.cumprod
    exclusive, reverse = (bool(node.integer(name, 0)) for name in ("exclusive", "reverse"))
    along = None if node.is_data(axis) else node.integers_of(axis, "axis")[0]
    is_certain = node.block is node.emitter.entry  # a branch or a trip need not be taken
    if along is not None and (is_certain or -rank <= along < rank):
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
