"""Rules for elements that are found by their place: gather, scatter, the largest, one-hot."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elementwise import Rule, needs
from .maker import Grower, Value


def places(maker: Grower, low: int, shape: list[int], dtype: str = "") -> Value:
    """Return places below a size, some counted from behind."""
    needs(low > 0)
    numbers = [maker.number(-low, low - 1) for _ in range(int(np.prod(shape)))]
    kind = np.dtype(dtype or maker.choose(["int64", "int32"]))
    return maker.constant(np.array(numbers, kind).reshape(shape))


def gathered(maker: Grower, x: Value) -> Value:
    """Return parts of an axis, by constant places or by those that are computed."""
    axis = maker.axis(x)
    low = min(x.shape[axis])
    if maker.chance(0.3):
        found = remainder(maker, x, axis)
    else:
        shape = maker.choose([[], [1], [2], [3], [2, 2], [0], [2, 1]])
        found = places(maker, low, shape)
    return maker.node("Gather", [x, found], step=x.step, most=x.most, noise=x.noise,
                      axis=maker.axis_written(x, axis))  # fmt: skip


def remainder(maker: Grower, x: Value, axis: int) -> Value:
    """Return integers of the graph as places in an axis."""
    needs(min(x.shape[axis]) > 0)
    whole = maker.pick(fits=lambda v: v.dtype in ("int64", "int32") and v.rank < 3)
    size = maker.size(x.shape[axis])
    if whole.dtype == "int32":
        whole = maker.node("Cast", [whole], "int64", to=7)
    return maker.node("Mod", [whole, size], most=max(x.shape[axis]))


def looked_up(maker: Grower, x: Value) -> Value:
    """Return parts of an axis by integers of the graph, which may be out of range."""
    needs(x.rank > 0)
    axis = maker.axis(x)
    found = maker.pick(fits=lambda v: v.dtype in ("int64", "int32") and v.rank < 3)
    return maker.node("Gather", [x, found], x.dtype, most=x.most, step=x.step, noise=x.noise,
                      axis=maker.axis_written(x, axis))  # fmt: skip


def ranged(maker: Grower, x: Value) -> Value:
    """Return the places of an axis, counted up, turned round, or shifted."""
    axis = maker.axis(x)
    count = maker.node("Squeeze", [maker.size(x.shape[axis])])
    zero, one = (maker.constant(np.array(n, np.int64)) for n in (0, 1))
    return maker.append("Range", [zero, count, one], [(x.shape[axis],)], most=float(
        max(x.shape[axis])), step=1.0)  # fmt: skip


def each_gathered(maker: Grower, x: Value) -> Value:
    """Return one element of an axis for each place."""
    needs(x.rank > 0)
    axis = maker.axis(x)
    shape = [maker.number(1, max(min(dim), 1)) for dim in x.shape]
    needs(all(min(dim) > 0 for dim in x.shape))
    shape[axis] = maker.number(0, 3)
    found = places(maker, min(x.shape[axis]), shape)
    place = maker.axis_written(x, axis)
    return maker.node("GatherElements", [x, found], x.dtype, most=x.most, step=x.step, axis=place)


def tuples(maker: Grower, x: Value, depth: int, shape: list[int]) -> Value:
    """Return places in the first axes together."""
    needs(all(min(dim) > 0 for dim in x.shape[:depth]))
    rows = [
        [maker.number(-min(dim), min(dim) - 1) for dim in x.shape[:depth]]
        for _ in range(int(np.prod(shape)))
    ]
    return maker.constant(np.array(rows, np.int64).reshape([*shape, depth]))


def tuples_gathered(maker: Grower, x: Value) -> Value:
    """Return parts by places in several axes."""
    needs(x.rank > 0)
    depth = maker.number(1, x.rank)
    found = tuples(maker, x, depth, maker.choose([[1], [3], [2, 2]]))
    return maker.node("GatherND", [x, found], x.dtype, most=x.most, step=x.step)


def scattered(maker: Grower, x: Value) -> Value:
    """Return a value with other elements at some places."""
    needs(x.rank > 0 and x.dtype != "bool" and not x.can_be_empty)
    way = maker.choose(["none", "add", "max", "min", "mul"])
    if maker.chance(0.5):
        axis = maker.axis(x)
        shape = [maker.number(1, min(dim)) for dim in x.shape]
        found = _different(maker, shape, axis, min(x.shape[axis]))
        more = maker.drawn(x.dtype, [found.shape[n][0] for n in range(x.rank)])
        most, step = _changed(x, more, way)
        return maker.node("ScatterElements", [x, found, more], most=most, step=step, noise=x.noise *
                          max(more.most, 1.0), single=way in ("none", "max", "min"),
                          axis=axis, reduction=way)  # fmt: skip
    depth = maker.number(1, x.rank)
    needs(all(len(set(dim)) == 1 for dim in x.shape[depth:]))
    rest = [dim[0] for dim in x.shape[depth:]]
    first = tuples(maker, x, depth, [1])
    more = maker.drawn(x.dtype, [1, *rest])
    most, step = _changed(x, more, way)
    return maker.node("ScatterND", [x, first, more], most=most, step=step, noise=x.noise *
                      max(more.most, 1.0), single=way in ("none", "max", "min"),
                      reduction=way)  # fmt: skip


def _changed(x: Value, more: Value, way: str) -> tuple[float, float]:
    """Return how large elements are after a scatter, and of what they are multiples."""
    if way == "mul":
        return x.most * max(more.most, 1.0) ** 3, x.step * more.step**3
    return x.most + 4 * more.most, min(x.step, more.step)


def _different(maker: Grower, shape: list[int], axis: int, size: int) -> Value:
    """Return places along an axis of which no two are the same."""
    order = list(range(size))
    maker.random.shuffle(order)
    row = np.array(order[: shape[axis]], np.int64)
    shape[axis] = len(row)
    turned = [1] * len(shape)
    turned[axis] = len(row)
    return maker.constant(np.ascontiguousarray(np.broadcast_to(row.reshape(turned), shape)))


def best(maker: Grower, x: Value) -> Value:
    """Return the largest elements of an axis, or where they are."""
    needs(x.rank > 0 and x.dtype in ("float32", "float64", "int64", "int32"))
    axis = maker.axis(x)
    k = maker.constant(np.array([maker.number(0, max(min(x.shape[axis]), 0))], np.int64))
    options: dict[str, Any] = {"axis": maker.axis_written(x, axis), "largest": maker.number(0, 1)}
    value = maker.node("TopK", [x, k], outputs=2, sorted=1, most=x.most, step=x.step, **options)
    if x.is_exact:
        name = maker.nodes[-1].output[1]
        maker.values.append(Value(name, "int64", value.shape, float(max(x.shape[axis])), 1.0))
    return value


def placed(maker: Grower, x: Value) -> Value:
    """Return where the largest or smallest is."""
    needs(x.rank > 0 and x.is_exact and not x.can_be_empty and x.dtype != "bool")
    axis = maker.axis(x)
    return maker.node(
        maker.choose(["ArgMax", "ArgMin"]), [x], "int64", most=max(x.shape[axis]), step=1.0,
        axis=maker.axis_written(x, axis), keepdims=maker.number(0, 1),
        select_last_index=maker.number(0, 1),
    )  # fmt: skip


def one_hot(maker: Grower, x: Value) -> Value:
    """Return a one for each integer, zeros elsewhere."""
    needs(x.dtype in ("int64", "int32") and x.rank < 4)
    depth = maker.constant(np.array(maker.number(1, 4), np.int64))
    values = maker.drawn(maker.choose(["float32", "int32", "float64"]), [2])
    return maker.node("OneHot", [x, depth, values], values.dtype, most=values.most,
                      step=values.step, axis=maker.number(-1, x.rank))  # fmt: skip


def summed(maker: Grower, x: Value) -> Value:
    """Return the sums of all elements up to each."""
    needs(x.rank > 0 and x.dtype in ("float32", "float64", "int32", "int64"))
    axis = maker.axis(x)
    place = maker.constant(np.array(maker.axis_written(x, axis), np.int64))
    most = x.most * max(1, *x.shape[axis])
    return maker.node("CumSum", [x, place], most=most, step=x.step, noise=x.noise * max(
        1, *x.shape[axis]), single=False, exclusive=maker.number(0, 1),
        reverse=maker.number(0, 1))  # fmt: skip


def kept(maker: Grower, x: Value) -> Value:
    """Return what a constant condition keeps of an axis."""
    needs(x.rank > 0)
    axis = maker.axis(x)
    needs(min(x.shape[axis]) > 0)
    flags = np.array([maker.chance(0.5) for _ in range(min(x.shape[axis]))])
    shape = (*x.shape[:axis], maker.fixed(int(flags.sum())), *x.shape[axis + 1 :])
    return maker.append("Compress", [x, maker.constant(flags)], [shape], x.dtype, most=x.most,
                        step=x.step, axis=axis)  # fmt: skip


RULES: tuple[Rule, ...] = (
    gathered, gathered, gathered, looked_up, ranged, each_gathered, tuples_gathered, scattered,
    best, placed, one_hot, summed, kept,
)  # fmt: skip
