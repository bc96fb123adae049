"""Operations on few elements that numpy takes many steps for, or does too much: written as loops.

`IN_LOOPS` says by operation what makes, of its attributes, a function of floats of 32 or 64 bits.
It is compiled once for all sizes; from some size on, operations have kernels of their own.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from math import isnan, log, prod, sqrt
from typing import TypeVar, cast

import numpy as np

from ...codegen.serial.function import F64s, I64s, serial
from ...ir.op import Array, Op
from ...ir.ops.conv import ConvTranspose
from ...ir.ops.factor import (
    Cholesky,
    Inverse,
    LogDeterminant,
    Solve,
    TriangularSolve,
    factorised,
    inverted,
    refuse_nan,
    solved,
)
from ...ir.ops.pool import AvgPool, MaxPoolGradient
from ...ir.types.dtypes import DType, bf16, f16, f32, f64, of_numpy
from ...ir.types.numerics import round_to
from ...ir.windows import Windows, image

Kernel = Callable[..., "Array | tuple[Array, ...]"]
Make = TypeVar("Make", bound=Callable[..., Kernel])

IN_LOOPS: dict[type[Op], Callable[..., Kernel]] = {}
"""By operation: what is given attributes and returns the function."""
FLOATS = frozenset((f32, f64))
"""The types of what the loops of most operations take."""
LOOPED: dict[type[Op], frozenset[DType]] = {AvgPool: FLOATS | {f16, bf16}}
"""Those of the loops that others take, too."""


def _loops(op: type[Op]) -> Callable[[Make], Make]:
    """Enter a function for an operation."""

    def decorate(make: Make) -> Make:
        IN_LOOPS[op] = make
        return make

    return decorate


@_loops(TriangularSolve)
def triangle(*, lower: bool, transpose: bool) -> Callable[[Array, Array], Array]:
    """Return what solves systems for a triangle."""
    forwards, turned = int(lower != transpose), int(transpose)  # (compiled code takes no truths)

    def substituted(a: Array, b: Array) -> Array:
        """Return the solutions for a triangle; it is divided by zeros of the diagonal."""
        a, b = _of_one_batch(a, b)
        made = np.array(b, np.float64, order="C")
        wide = np.ascontiguousarray(a, np.float64)
        _substitute(wide, made, a.shape[-1], forwards, turned)
        return made.astype(b.dtype, copy=False)

    return substituted


def _of_one_batch(a: Array, b: Array) -> tuple[Array, Array]:
    """Return matrices and right sides in the batches that both broadcast to."""
    if a.shape[:-2] == b.shape[:-2]:
        return a, b
    batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    return np.broadcast_to(a, (*batch, *a.shape[-2:])), np.broadcast_to(b, (*batch, *b.shape[-2:]))


@serial
def _substitute(a: F64s, made: F64s, n: int, forwards: int, turned: int) -> int:
    """Solve systems in the place of their right sides: each row is taken from those behind it."""
    count = len(a) // (n * n)
    columns = len(made) // (count * n)
    for each in range(count):
        top, first = each * n * n, each * n * columns
        for step in range(n):
            i = step if forwards != 0 else n - 1 - step
            here, diagonal = first + i * columns, a[top + i * n + i]
            for column in range(columns):
                made[here + column] /= diagonal
            for behind in range(step + 1, n):
                j = behind if forwards != 0 else n - 1 - behind
                factor = a[top + i * n + j] if turned != 0 else a[top + j * n + i]
                there = first + j * columns
                for column in range(columns):
                    made[there + column] -= factor * made[here + column]
    return count


@_loops(Solve)
def _solution() -> Kernel:
    def solution(a: Array, b: Array) -> Array:
        """Return the solutions; a matrix without an inverse is refused."""
        if not _is_little(a) or not b.size:
            return solved(a, b)
        refuse_nan(a)
        a, b = _of_one_batch(a, b)
        left, made = (np.array(x, np.float64, order="C") for x in (a, b))
        if _solve(left, made, a.shape[-1]) >= 0:
            raise np.linalg.LinAlgError("Singular matrix")
        return made.astype(b.dtype, copy=False)

    return solution


@serial
def _solve(a: F64s, made: F64s, n: int) -> int:
    """Solve systems in the place of their right sides, by the largest pivot of each column.

    It returns which is the first matrix that has no inverse; -1: all have one.
    """
    count = len(a) // (n * n)
    columns = len(made) // (count * n)
    for each in range(count):
        top, first = each * n * n, each * n * columns
        for k in range(n):
            if not _step_of_solution(a, made, each, k, n, columns):
                return each
        for step in range(n):
            i = n - 1 - step
            here, diagonal = first + i * columns, a[top + i * n + i]
            for j in range(i + 1, n):
                factor, there = a[top + i * n + j], first + j * columns
                for column in range(columns):
                    made[here + column] -= factor * made[there + column]
            for column in range(columns):
                made[here + column] /= diagonal
    return -1


def _step_of_solution(a: F64s, made: F64s, each: int, k: int, n: int, columns: int) -> bool:
    """Bring a row to the place of its pivot, and take it from those below; False: it is zero."""
    top, first = each * n * n, each * n * columns
    here, start = top + k * n, first + k * columns
    best = k
    for i in range(k + 1, n):
        if abs(a[top + i * n + k]) > abs(a[top + best * n + k]):
            best = i
    if best != k:
        there, other = top + best * n, first + best * columns
        for j in range(n):
            a[here + j], a[there + j] = a[there + j], a[here + j]
        for column in range(columns):
            one, two = start + column, other + column
            made[one], made[two] = made[two], made[one]
    pivot: float = a[here + k]
    for i in range(k + 1, n):
        row, right = top + i * n, first + i * columns
        factor = a[row + k] / pivot
        for j in range(k + 1, n):
            a[row + j] -= factor * a[here + j]
        for column in range(columns):
            made[right + column] -= factor * made[start + column]
    return pivot != 0.0


@_loops(Cholesky)
def _root() -> Kernel:
    def root(a: Array) -> Array:
        """Return the lower triangles, NaN those of matrices that have none."""
        if not _is_little(a):
            return factorised(a)
        made = np.array(a, np.float64, order="C")
        _roots(made, a.shape[-1])
        return made.astype(a.dtype, copy=False)

    return root


def _is_little(a: Array) -> bool:
    """Say whether LAPACK takes longer around matrices than loops for them."""
    return bool(a.shape[-1] <= FEW or a.size <= LITTLE)


FIT = 64
"""Rows up to which all of a matrix stays next to the processor while it is gone through."""
FEW = 16
"""Up to so many rows it does,"""
LITTLE = 1 << 10
"""and where there are up to so many elements."""


@serial
def _roots(a: F64s, n: int) -> int:
    """Leave lower triangles whose product with their transposes matrices were, row by row."""
    count = len(a) // (n * n)
    for each in range(count):
        top = each * n * n
        for i in range(n):
            row = top + i * n
            _finish_row(a, top, row, i, n)
            for j in range(i + 1, n):
                a[row + j] = 0.0
        if isnan(a[top + n * n - 1]):
            for i in range(n):
                for j in range(i + 1):
                    a[top + i * n + j] = NAN
    return count


def _finish_row(a: F64s, top: int, row: int, i: int, n: int) -> int:
    """Find a row of a triangle from those above it."""
    for j in range(i + 1):
        other, total = top + j * n, a[row + j]
        for k in range(j):
            total -= a[row + k] * a[other + k]
        if j < i:
            a[row + j] = total / a[other + j]
        else:
            a[row + i] = sqrt(total) if total > 0.0 else NAN
    return i


NAN = float("nan")


@_loops(LogDeterminant)
def _logarithm() -> Kernel:
    def logarithm(a: Array) -> tuple[Array, ...]:
        """Return signs of determinants and logarithms of their sizes."""
        if a.shape[-1] > FIT:
            return tuple(LogDeterminant.evaluate(a))
        n, batch = a.shape[-1], a.shape[:-2]
        sign, size = np.empty(batch), np.empty(batch)
        _logarithms(np.array(a, np.float64, order="C"), n, sign, size)
        return sign.astype(a.dtype, copy=False), size.astype(a.dtype, copy=False)

    return logarithm


@serial
def _logarithms(a: F64s, n: int, signs: F64s, sizes: F64s) -> int:
    """Eliminate by the largest pivot of each column; behind one of zero nothing counts."""
    for each in range(len(signs)):
        top, sign, size = each * n * n, 1.0, 0.0
        for k in range(n):
            best, most = k, abs(a[top + k * n + k])
            for i in range(k + 1, n):
                if abs(a[top + i * n + k]) > most:
                    best, most = i, abs(a[top + i * n + k])
            if best != k:
                sign = -sign
                for j in range(k, n):
                    one, other = top + k * n + j, top + best * n + j
                    a[one], a[other] = a[other], a[one]
            here = top + k * n
            pivot = a[here + k]
            if sign != 0.0:
                size = size + log(abs(pivot)) if pivot != 0.0 else -INFINITE
                sign = _sign_with(sign, pivot)
            for i in range(k + 1, n):
                row = top + i * n
                factor = a[row + k] / pivot
                for j in range(k + 1, n):
                    a[row + j] -= factor * a[here + j]
        signs[each], sizes[each] = sign, size
    return n


def _sign_with(sign: float, pivot: float) -> float:
    """Return the sign of a product to which a pivot comes: also of one without end."""
    return sign if pivot > 0.0 else -sign if pivot < 0.0 else abs(pivot)


@_loops(Inverse)
def _inverse() -> Kernel:
    def inverse(a: Array) -> Array:
        """Return the inverses; a matrix without one is refused."""
        n = a.shape[-1]
        if n > FIT:
            return inverted(a)
        refuse_nan(a)
        made = np.array(a, np.float64, order="C")
        if _invert(made, np.empty(n), np.empty(n, np.int64)) >= 0:
            raise np.linalg.LinAlgError("Singular matrix")
        return made.astype(a.dtype, copy=False)

    return inverse


@serial
def _invert(a: F64s, row: F64s, order: I64s) -> int:
    """Leave inverses where matrices were: by the largest pivot of each column, in their place.

    It returns which is the first matrix that has none; -1: all have one.
    """
    n = len(row)
    for each in range(len(a) // (n * n)):
        top = each * n * n
        for k in range(n):
            if not _step_of_inverse(a, top, k, row, order):
                return each
        for back in range(n):
            k = n - 1 - back
            if order[k] != k:
                for i in range(n):
                    one, other = top + i * n + k, top + i * n + order[k]
                    a[one], a[other] = a[other], a[one]
    return -1


def _step_of_inverse(a: F64s, top: int, k: int, row: F64s, order: I64s) -> bool:
    """Bring one row to the place of its pivot, and take it from all others; False: it is zero."""
    n, here = len(row), top + k * len(row)
    best, most = k, abs(a[here + k])
    for i in range(k + 1, n):
        if abs(a[top + i * n + k]) > most:
            best, most = i, abs(a[top + i * n + k])
    order[k] = best
    if best != k:
        there = top + best * n
        for j in range(n):
            a[here + j], a[there + j] = a[there + j], a[here + j]
    pivot: float = a[here + k]
    a[here + k] = 1.0
    for j in range(n):
        row[j] = a[here + j] / pivot
    for j in range(n):
        a[here + j] = row[j]
    for i in range(n):
        if i != k:
            start = top + i * n
            factor = a[start + k]
            a[start + k] = 0.0
            for j in range(n):
                a[start + j] -= factor * row[j]
    return pivot != 0.0


def _laid_out(
    windows: Windows, channels_last: bool
) -> Callable[[tuple[int, ...]], tuple[Array, tuple[int, ...]]]:
    """Return what says how windows lie over images of a shape, and the shape of the results.

    That is rows of three numbers, one for each axis: of images, results, windows, strides,
    dilations, and of what is put before.
    """

    @lru_cache(maxsize=64)
    def known(shape: tuple[int, ...]) -> tuple[Array, tuple[int, ...]]:
        """Return them; where there are less than three axes, the first are of one element."""
        extents = shape[1:-1] if channels_last else shape[2:]
        counts, ones = windows.counts(extents), (1,) * (3 - len(extents))
        rows: list[tuple[object, ...]] = [
            ones + tuple(each)
            for each in (extents, counts, windows.kernel, windows.strides, windows.dilations)
        ]
        rows.append((0,) * len(ones) + tuple(low for low, _ in windows.pads))
        channels = shape[-1 if channels_last else 1]
        made = image(shape[0], channels, counts, channels_last=channels_last)
        return np.array(rows, np.int64), made

    return known


@_loops(AvgPool)
def means(
    *, window: tuple[int, ...], strides: tuple[int, ...], pads: tuple[tuple[int, int], ...],
    dilations: tuple[int, ...], channels_last: bool, count_padding: bool,
) -> Callable[[Array], Array]:  # fmt: skip
    """Return what takes the mean of each window."""
    known = _laid_out(Windows(window, strides, pads, dilations), channels_last)

    def pooled(x: Array) -> Array:
        """Return the means."""
        rows, shape = known(x.shape)
        made = np.empty(shape)
        depth = x.shape[-1] if channels_last else 1
        _means(np.ascontiguousarray(x, np.float64), made, rows, depth, int(count_padding))
        return made if x.dtype == np.float64 else round_to(made, of_numpy(x.dtype))

    return pooled


@serial
def _means(x: F64s, made: F64s, rows: I64s, depth: int, every: int) -> int:
    """Add up what each window sees of its image, tap by tap."""
    height, width, to = rows[1], rows[2], 0
    size, whole = rows[0] * height * width * depth, rows[6] * rows[7] * rows[8]
    for number in range(len(made) // (rows[3] * rows[4] * rows[5] * depth)):
        for deep in range(rows[3]):
            i, i_end, i_step = _seen(rows, deep, 0)
            for high in range(rows[4]):
                j, j_end, j_step = _seen(rows, high, 1)
                for wide in range(rows[5]):
                    k, k_end, k_step = _seen(rows, wide, 2)
                    for channel in range(depth):
                        total, count = 0.0, 0
                        row = i
                        while row < i_end:
                            line = j
                            while line < j_end:
                                at = number * size + ((row * height + line) * width + k) * depth
                                at += channel
                                place = k
                                while place < k_end:
                                    total += x[at]
                                    count += 1
                                    at += k_step * depth
                                    place += k_step
                                line += j_step
                            row += i_step
                        made[to] = total / float(whole if every != 0 else count)
                        to += 1
    return to


def _seen(rows: I64s, place: int, axis: int) -> tuple[int, int, int]:
    """Return where a window begins within its image along an axis, where it ends, and its steps."""
    step = rows[12 + axis]
    first = place * rows[9 + axis] - rows[15 + axis]
    end = min(first + rows[6 + axis] * step, rows[axis])
    if first < 0:
        first += (-first + step - 1) // step * step
    return first, end, step


@_loops(MaxPoolGradient)
def back_to_largest(
    *, window: tuple[int, ...], strides: tuple[int, ...], pads: tuple[tuple[int, int], ...],
    dilations: tuple[int, ...], channels_last: bool,
) -> Callable[[Array, Array], Array]:  # fmt: skip
    """Return what brings each gradient to the first of the largest elements of its window."""
    known = _laid_out(Windows(window, strides, pads, dilations), channels_last)

    def back(x: Array, grad: Array) -> Array:
        """Return what each element gets."""
        rows, _ = known(x.shape)
        made = np.zeros(x.shape, x.dtype)
        depth = x.shape[-1] if channels_last else 1
        _give(np.ascontiguousarray(x), np.ascontiguousarray(grad), made, rows, depth)
        return made

    return back


@serial
def _give(x: Array, grad: Array, made: Array, rows: I64s, depth: int) -> int:
    """Add each gradient to what an element gets; what is no number is the largest.

    The padding is the lowest number: a window that begins in it, and sees no higher one, gives
    its gradient to nothing.
    """
    source, size = 0, rows[0] * rows[1] * rows[2] * depth
    windows = rows[3] * rows[4] * rows[5]
    for number in range(len(grad) // (windows * depth)):
        for window in range(windows):
            for channel in range(depth):
                place = _place_of_largest(x, rows, window, number * size + channel, depth)
                if place >= 0:
                    made[place] += grad[source]
                source += 1
    return source


def _place_of_largest(x: Array, rows: I64s, window: int, start: int, depth: int) -> int:
    """Return where the first of the largest elements of a window is; -1: in the padding."""
    deep, high, wide = window // (rows[4] * rows[5]), window // rows[5] % rows[4], window % rows[5]
    row, i_end, i_step = _seen(rows, deep, 0)
    j, j_end, j_step = _seen(rows, high, 1)
    k, k_end, k_step = _seen(rows, wide, 2)
    is_first = row == deep * rows[9] - rows[15] and j == high * rows[10] - rows[16]
    is_first = is_first and k == wide * rows[11] - rows[17]
    best, place = -INFINITE, -1
    while row < i_end:
        line = j
        while line < j_end:
            column = k
            while column < k_end:
                at = start + ((row * rows[1] + line) * rows[2] + column) * depth
                if is_first or not (x[at] <= best or isnan(best)):
                    best, place, is_first = x[at], at, False
                column += k_step
            line += j_step
        row += i_step
    return place


INFINITE = float("inf")


@lru_cache(maxsize=64)
def _spread_out(
    windows: Windows, more: tuple[int, ...], places: tuple[int, ...]
) -> tuple[Array, tuple[int, ...]]:
    """Return to which place of an image each element of each window goes, and its extents.

    These are numbers of [windows, taps], -1 for what is cut off.
    """
    extents = cast("tuple[int, ...]", windows.spread(places, more))
    kernel = cast("tuple[int, ...]", windows.kernel)
    made = np.zeros((*places, *kernel), np.int64)
    is_in = np.ones(made.shape, np.bool_)
    for axis, (count, taps, extent) in enumerate(zip(places, kernel, extents, strict=True)):
        step, apart, low = windows.strides[axis], windows.dilations[axis], windows.pads[axis][0]
        goals = np.arange(count)[:, None] * step + np.arange(taps) * apart - low
        rank = len(places)
        shape = [1] * axis + [count] + [1] * (rank - 1) + [taps] + [1] * (rank - 1 - axis)
        made = made * extent + goals.reshape(shape)
        is_in &= ((goals >= 0) & (goals < extent)).reshape(shape)
    return np.where(is_in, made, -1).reshape(prod(places), prod(kernel)), extents


@_loops(ConvTranspose)
def spread(
    *, strides: tuple[int, ...], pads: tuple[tuple[int, int], ...], dilations: tuple[int, ...],
    output_pads: tuple[int, ...], groups: int, channels_last: bool,
) -> Callable[[Array, Array], Array]:  # fmt: skip
    """Return what puts a window of weights into the result for each element of an image."""

    def spread_out(x: Array, w: Array) -> Array:
        """Return the image that is made."""
        source = x if channels_last else np.moveaxis(x, 1, -1)
        windows = Windows(w.shape[2:], strides, pads, dilations)
        goals, extents = _spread_out(windows, output_pads, source.shape[1:-1])
        way = _by_products if w.shape[1] >= groups else _side_by_side
        made = way(source, w, goals, prod(extents), groups)
        whole = made.reshape(x.shape[0], *extents, groups * w.shape[1])
        return whole if channels_last else np.ascontiguousarray(np.moveaxis(whole, -1, 1))

    return spread_out


def _by_products(x: Array, w: Array, goals: I64s, size: int, groups: int) -> Array:
    """Multiply each element by all weights at once, and add up what goes to the same place."""
    channels, filters, taps = w.shape[0], w.shape[1], goals.shape[1]
    inner = channels // groups
    columns = x.reshape(-1, groups, inner).transpose(1, 0, 2)
    weights = w.reshape(groups, inner, filters, taps).transpose(0, 1, 3, 2)
    parts = np.matmul(columns, weights.reshape(groups, inner, taps * filters))
    made = np.zeros((x.shape[0], size, groups * filters), x.dtype)
    for group in range(groups):
        sizes = [size, filters, group * filters, groups * filters]
        _put(parts[group], made, goals, np.array(sizes))
    return made


@serial
def _put(parts: Array, made: Array, goals: I64s, sizes: I64s) -> int:
    """Add numbers of [image, window, tap, filter] to where they go in [image, place, channel].

    The sizes are how many places, filters, channels before these, and channels there are.
    """
    at, filters = 0, sizes[1]
    for number in range(len(parts) // (len(goals) * filters)):
        for each in range(len(goals)):
            goal = goals[each]
            if goal >= 0:
                to = (number * sizes[0] + goal) * sizes[3] + sizes[2]
                for k in range(filters):
                    made[to + k] += parts[at + k]
            at += filters
    return at


def _side_by_side(x: Array, w: Array, goals: I64s, size: int, groups: int) -> Array:
    """Go through many groups side by side, each of which has few filters."""
    inner, filters, taps = w.shape[0] // groups, w.shape[1], goals.shape[1]
    columns = x.reshape(-1, groups, inner).transpose(0, 2, 1)
    weights = w.reshape(groups, inner, filters, taps).transpose(3, 2, 1, 0)
    made = np.zeros((x.shape[0], size, filters, groups), x.dtype)
    one, two = np.ascontiguousarray(columns), np.ascontiguousarray(weights)
    _put_side_by_side(one, two, made, goals, np.array([size, filters, inner, groups]))
    return made.swapaxes(-1, -2)


@serial
def _put_side_by_side(x: Array, w: Array, made: Array, goals: I64s, sizes: I64s) -> int:
    """Add x[image, window, channel, group] times w[tap, filter, channel, group] to its place.

    The sizes are how many places, filters, channels and groups there are.
    """
    filters, inner, groups = sizes[1], sizes[2], sizes[3]
    row = inner * groups
    taps: int = len(w) // (row * filters)
    for number in range(len(x) // (len(goals) // taps * row)):
        for each in range(len(goals)):
            goal = goals[each]
            if goal >= 0:
                to = (number * sizes[0] + goal) * filters * groups
                of, tap = (number * (len(goals) // taps) + each // taps) * row, each % taps
                weight = tap * filters * row
                for _ in range(filters):
                    for channel in range(inner):
                        here = of + channel * groups
                        for k in range(groups):
                            made[to + k] += x[here + k] * w[weight + k]
                        weight += groups
                    to += groups
    return taps
