"""Rules for moves of elements: transpose, reverse, slice, pad, tile, expand, reshape, concat."""

from __future__ import annotations

import math

import numpy as np

from .elementwise import Rule, needs
from .maker import Grower, Value

ENDS = 2**63 - 1


def vector(maker: Grower, numbers: list[int]) -> Value:
    """Return numbers as an operand: a constant."""
    return maker.constant(np.array(numbers, np.int64))


def transposed(maker: Grower, x: Value) -> Value:
    """Return a value with its axes in another order."""
    needs(x.rank > 0)
    order = list(range(x.rank))
    maker.random.shuffle(order)
    return maker.node("Transpose", [x], perm=order)


def sliced(maker: Grower, x: Value) -> Value:
    """Return parts of some axes: forwards, backwards, every other; ends lie inside or beyond."""
    needs(x.rank > 0)
    axes = maker.subset(x) or [maker.axis(x)]
    starts, stops, steps = [], [], []
    for axis in axes:
        size = max(x.shape[axis])
        step = maker.choose([1, 1, 2, 3, -1, -1, -2])
        near, far = maker.number(-size - 1, size + 1), maker.choose([ENDS, -1, size, size - 1, 1])
        if maker.chance(0.6):
            near, far = (0, ENDS) if step > 0 else (-1, -ENDS)
            if maker.chance(0.4):
                near = near + maker.choose([0, 1]) * (1 if step > 0 else -1)
        starts.append(near)
        stops.append(far)
        steps.append(step)
    written = [maker.axis_written(x, axis) for axis in axes]
    return maker.node("Slice", [x, *(vector(maker, n) for n in (starts, stops, written, steps))])


def padded(maker: Grower, x: Value) -> Value:
    """Return a value with more around it: constants, or elements of its own."""
    needs(x.rank > 0 and x.dtype != "bool")
    mode = maker.choose(["constant", "constant", "edge", "reflect", "wrap"])
    needs(mode == "constant" or not x.can_be_empty)
    least = [min(dim) for dim in x.shape]
    low = -1 if mode == "constant" and maker.chance(0.3) else 0
    before, behind = [], []
    for size in least:
        top = 2 if mode != "reflect" else min(size - 1, 2)
        top = min(top, size) if mode == "wrap" else top
        first, last = (maker.number(max(low, -(size // 2)), max(top, 0)) for _ in range(2))
        before.append(first if maker.chance(0.6) else 0)
        behind.append(last if maker.chance(0.6) else 0)
    pads = vector(maker, before + behind)
    fill = maker.drawn(x.dtype, []) if mode == "constant" and maker.chance(0.6) else None
    operands = [x, pads] + ([fill] if fill else [])
    most = max(x.most, fill.most if fill else 0.0)
    step = min(x.step, fill.step) if fill else x.step
    return maker.node("Pad", operands, most=most, step=step, mode=mode)


def tiled(maker: Grower, x: Value) -> Value:
    """Return a value that is repeated."""
    needs(x.rank > 0)
    times = [maker.choose([1, 1, 2, 3, 0 if maker.chance(0.1) else 1]) for _ in x.shape]
    return maker.node("Tile", [x, vector(maker, times)])


def expanded(maker: Grower, x: Value) -> Value:
    """Return a value whose axes of one element are stretched, with more axes before."""
    one = maker.fixed(1)
    known = [dim for value in maker.visible() for dim in value.shape]
    shape = [maker.choose([one, maker.fixed(2), *known]) if d == one else d for d in x.shape]
    if x.rank < 4 and maker.chance(0.3):
        shape.insert(0, maker.choose([maker.fixed(2), *known]))
    target = [one if s == d and maker.chance(0.3) else s for s, d in zip(shape[::-1], x.shape[::-1],
              strict=False)]  # fmt: skip
    target += shape[::-1][x.rank :]
    needs(all(math.prod(d[w] for d in shape) < 3000 for w in range(maker.worlds)))
    return maker.append("Expand", [x, maker.extent(target[::-1])], [tuple(shape)])


def _parts(maker: Grower, x: Value) -> list[tuple[int, ...]]:
    """Return the shape with one axis cut in two, or two made one."""
    shape = list(x.shape)
    if len(shape) > 1 and maker.chance(0.5):
        at = maker.number(0, len(shape) - 2)
        merged = tuple(a * b for a, b in zip(shape[at], shape[at + 1], strict=True))
        return [*shape[:at], merged, *shape[at + 2 :]]
    at = maker.axis(x)
    factor = maker.choose([f for f in (1, 2, 3, 4) if all(size % f == 0 for size in shape[at])])
    outer, inner = maker.fixed(factor), tuple(size // factor for size in shape[at])
    pair = [outer, inner] if maker.chance(0.5) else [inner, outer]
    return [*shape[:at], *pair, *shape[at + 1 :]]


def reshaped(maker: Grower, x: Value) -> Value:
    """Return a value in another shape, of which one size may be left to be found."""
    needs(x.rank > 0)
    shape = _parts(maker, x)
    needs(len(shape) < 6)
    if maker.chance(0.5):
        return maker.append("Reshape", [x, maker.extent(shape)], [tuple(shape)], allowzero=1)
    opened = [n for n, dim in enumerate(shape) if len(set(dim)) > 1]
    needs(len(opened) < 2 and not any(dim == maker.fixed(0) for dim in shape))
    left = opened[0] if opened else maker.number(0, len(shape) - 1)
    others = [
        math.prod(d[w] for n, d in enumerate(shape) if n != left) for w in range(maker.worlds)
    ]
    needs(all(others))
    sizes = [-1 if n == left else dim[0] for n, dim in enumerate(shape)]
    kept = [n for n, size in enumerate(sizes) if n < x.rank and x.shape[n] == shape[n] and size > 0]
    for n in kept:
        sizes[n] = 0 if maker.chance(0.3) else sizes[n]
    return maker.append("Reshape", [x, vector(maker, sizes)], [tuple(shape)])


def flat(maker: Grower, x: Value) -> Value:
    """Return a value as a matrix."""
    needs(not x.can_be_empty)
    return maker.node("Flatten", [x], axis=maker.number(-x.rank, x.rank))


def squeezed(maker: Grower, x: Value) -> Value:
    """Return a value with axes of one element more, or fewer."""
    ones = [n for n, dim in enumerate(x.shape) if dim == maker.fixed(1)]
    if ones and maker.chance(0.5):
        axes = [maker.axis_written(x, n) for n in ones if maker.chance(0.7)] or ones[:1]
        return maker.node("Squeeze", [x, vector(maker, axes)])
    needs(x.rank < 5)
    return maker.node("Unsqueeze", [x, vector(maker, [maker.number(-x.rank - 1, x.rank)])])


def joined(maker: Grower, x: Value) -> Value:
    """Return values one behind the other."""
    needs(x.rank > 0)
    axis = maker.axis(x)

    def fits(v: Value) -> bool:
        others = [n for n in range(x.rank) if n != axis]
        return (v.dtype, v.rank) == (x.dtype, x.rank) and all(
            v.shape[n] == x.shape[n] for n in others
        )

    every = [x]
    for _ in range(maker.number(0, 2)):
        shape = [*x.shape[:axis], maker.fixed(maker.number(0, 3)), *x.shape[axis + 1 :]]
        every.append(maker.pick(fits=fits) if maker.chance(0.6) else maker.operand(x, shape))
    maker.random.shuffle(every)
    return maker.node("Concat", every, axis=maker.axis_written(x, axis))


def split(maker: Grower, x: Value) -> Value:
    """Return one of the parts of a value."""
    needs(x.rank > 0)
    axis = maker.axis(x, fits=lambda dim: len(set(dim)) == 1 and dim[0] > 1)
    size = x.shape[axis][0]
    first = maker.number(0, size)
    shapes = [
        (*x.shape[:axis], maker.fixed(n), *x.shape[axis + 1 :]) for n in (first, size - first)
    ]
    names = len(maker.nodes)
    value = maker.append("Split", [x, vector(maker, [first, size - first])], shapes,
                         axis=maker.axis_written(x, axis))  # fmt: skip
    second = Value(maker.nodes[names].output[1], value.dtype, shapes[1], value.most, value.step,
                   value.noise, value.single)  # fmt: skip
    maker.values.append(second)
    return value


def blocks(maker: Grower, x: Value) -> Value:
    """Return blocks of a picture as channels, or channels as blocks."""
    needs(x.rank == 4 and x.is_float and not x.can_be_empty)
    if maker.chance(0.5):
        needs(all(size % 2 == 0 for dim in x.shape[2:] for size in dim))
        return maker.node("SpaceToDepth", [x], blocksize=2)
    needs(all(size % 4 == 0 for size in x.shape[1]))
    return maker.node("DepthToSpace", [x], blocksize=2, mode=maker.choose(["DCR", "CRD"]))


def triangle(maker: Grower, x: Value) -> Value:
    """Return the upper or lower triangle of matrices."""
    needs(x.rank > 1)
    k = maker.constant(np.array(maker.number(-2, 2), np.int64))
    return maker.node("Trilu", [x, k], upper=maker.number(0, 1))


def centred(maker: Grower, x: Value) -> Value:
    """Return the middle of a value, or more around it."""
    needs(x.rank > 0 and x.dtype != "bool")
    axis = maker.axis(x)
    size = vector(maker, [maker.number(1, max(x.shape[axis]) + 2)])
    return maker.node("CenterCropPad", [x, size], axes=[axis])


def enlarged(maker: Grower, x: Value) -> Value:
    """Return a picture in another size, each element the nearest."""
    needs(x.rank in (3, 4) and x.is_float and not x.can_be_empty)
    scales = [1.0, 1.0, *(maker.choose([1.0, 2.0, 0.5, 3.0]) for _ in range(x.rank - 2))]
    factors = maker.constant(np.array(scales, np.float32))
    needs(
        all(size * scale >= 1 for dim, scale in zip(x.shape, scales, strict=True) for size in dim)
    )
    return maker.node(
        "Resize", [x, None, factors], mode="nearest",
        coordinate_transformation_mode=maker.choose(["asymmetric", "half_pixel"]),
        nearest_mode=maker.choose(["floor", "ceil", "round_prefer_floor"]),
    )  # fmt: skip


def turned(maker: Grower, x: Value) -> Value:
    """Return each sequence turned round as far as it goes."""
    needs(x.rank > 1 and not x.can_be_empty)
    batch = maker.choose([0, 1])
    needs(len(set(x.shape[batch])) == 1)
    low = min(x.shape[1 - batch])
    lengths = vector(maker, [maker.number(1, low) for _ in range(x.shape[batch][0])])
    return maker.node("ReverseSequence", [x, lengths], batch_axis=batch, time_axis=1 - batch)


RULES: tuple[Rule, ...] = (
    transposed, transposed, sliced, sliced, sliced, padded, padded, tiled, tiled, expanded,
    reshaped, reshaped, reshaped, flat, squeezed, squeezed, joined, joined, split, blocks, triangle,
    centred, enlarged, turned,
)  # fmt: skip
