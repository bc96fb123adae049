"""Windows of uneven sizes: their largest elements, their means, and the ways back, as loops.

Images are [batch, height, width, depth]; edges say where the windows along an axis begin, and the
end of the last one. Those that overlap share the elements at their edges.
"""

from __future__ import annotations

import math
from math import isnan

import numpy as np

from ....codegen.serial.function import F64s, I64s, serial, single
from ....ir.op import Array

TYPES = [np.dtype(x) for x in (np.float32, np.float64, np.int32, np.int64)]
"""The element types of images that are gone through as they are."""
Edges = tuple[Array, Array]
"""Of rows and of columns."""


def pooled(x: Array, edges: Edges, overlapping: bool, *, mean: bool) -> Array:
    """Return the largest element, or the mean, of each window."""
    rows, columns = (len(along) - 1 for along in edges)
    wide = _in_known_type(x)
    made = np.empty((x.shape[0], rows, columns, x.shape[3]), wide.dtype)
    if not made.size:
        return made.astype(x.dtype)
    most = max(np.diff(edges[1]).tolist()) + overlapping
    is_narrow = most <= NARROW and x.shape[3] < DEEP
    lines = np.empty((most if is_narrow else 1) * math.prod(x.shape[2:]), wide.dtype)
    _pool(wide, made, lines, *edges, *x.shape[1:], int(overlapping), int(mean))
    if mean and made.dtype.kind == "f":
        _share(made, *edges, *x.shape[1:], int(overlapping))
    elif mean:
        flat = made.reshape(len(made), rows, columns, -1)
        flat[...] = (flat / _counts(edges, x, overlapping)[:, :, None]).astype(made.dtype)
    return made.astype(x.dtype, copy=False)


NARROW = 2
"""Windows of so many columns or fewer are put together whole lines at a time, ..."""
DEEP = 16
"""... unless their elements have so many channels, which are a line themselves."""


def _counts(edges: Edges, x: Array, overlapping: bool) -> Array:
    """Return how many elements of an image are in each window."""
    ends = (np.minimum(e[1:] + overlapping, n) for e, n in zip(edges, x.shape[1:3], strict=True))
    down, across = (end - e[:-1] for e, end in zip(edges, ends, strict=True))
    return np.outer(down, across)


def _in_known_type(x: Array) -> Array:
    """Return an array without gaps of a type that there are loops for, which holds its elements."""
    if x.dtype in TYPES:
        return np.ascontiguousarray(x)
    is_whole = x.dtype.kind in "iub"
    return np.ascontiguousarray(x, np.int64 if is_whole else np.float32)


def back_to_largest(x: Array, grad: Array, edges: Edges, overlapping: bool) -> Array:
    """Bring each gradient to the first largest element of its window."""
    wide, made = _in_known_type(x), np.zeros(x.shape, np.float64)
    given = np.ascontiguousarray(grad, np.float64)
    if given.size:
        _find_largest(wide, given, made, *edges, *x.shape[1:], int(overlapping))
    return made.astype(x.dtype)


def back_to_all(sizes: Array, grad: Array, edges: Edges, overlapping: bool) -> Array:
    """Spread each gradient evenly over its window."""
    made = np.zeros(tuple(sizes.tolist()), np.float64)
    if grad.size:
        counts = _counts(edges, made, overlapping)[None, :, :, None]
        shares = np.ascontiguousarray(grad.astype(np.float64) / counts)
        _spread(shares, made, *edges, *made.shape[1:], int(overlapping))
    return made.astype(grad.dtype)


@serial
def _pool(
    x: Array, made: Array, lines: Array, down: I64s, across: I64s, height: int, width: int,
    depth: int, more: int, mean: int,
) -> int:  # fmt: skip
    """Put the rows of windows together, each as long as an image is wide, then their columns.

    Of the lines, the first one is the rows of a window; in each other one the elements are put
    together with those of another column behind them: few are for windows of few columns.
    """
    line, to = width * depth, 0
    most = len(lines) // line
    for image in range(len(x) // (height * line)):
        for i in range(len(down) - 1):
            at = (image * height + down[i]) * line
            last = min(down[i + 1] + more, height)
            if last > down[i] + 1:
                for e in range(line):
                    one, other = x[at + e], x[at + line + e]
                    best = one if one >= other or isnan(one) else other
                    lines[e] = one + other if mean != 0 else best
                at += line
            else:
                for e in range(line):
                    lines[e] = x[at + e]
            for _row in range(down[i] + 2, last):
                at += line
                for e in range(line):
                    one, other = lines[e], x[at + e]
                    best = one if one >= other or isnan(one) else other
                    lines[e] = one + other if mean != 0 else best
            for column in range(1, most):
                before, own, apart = (column - 1) * line, column * line, column * depth
                for e in range(line - apart):
                    one, other = lines[before + e], lines[apart + e]
                    best = one if one >= other or isnan(one) else other
                    lines[own + e] = one + other if mean != 0 else best
            to = _pool_columns(made, to, lines, across, width, depth, more, mean)
    return to


def _pool_columns(
    made: Array, to: int, lines: Array, across: I64s, width: int, depth: int, more: int, mean: int
) -> int:
    """Take what is known of each window's columns out of a line, and add what is not."""
    line = width * depth
    most = len(lines) // line
    for j in range(len(across) - 1):
        size = min(across[j + 1] + more, width) - across[j]
        known = min(size, most)
        at = (known - 1) * line + across[j] * depth
        for k in range(depth):
            made[to + k] = lines[at + k]
        for column in range(across[j] + known, across[j] + size):
            at = column * depth
            for k in range(depth):
                one, other = made[to + k], lines[at + k]
                best = one if one >= other or isnan(one) else other
                made[to + k] = one + other if mean != 0 else best
        to += depth
    return to


@serial
def _find_largest(
    x: Array, grad: F64s, made: F64s, down: I64s, across: I64s, height: int, width: int, depth: int,
    more: int,
) -> int:  # fmt: skip
    rows, columns, source = len(down) - 1, len(across) - 1, 0
    for image in range(len(x) // (height * width * depth)):
        for i in range(rows):
            bottom = min(down[i + 1] + more, height)
            for j in range(columns):
                right = min(across[j + 1] + more, width)
                for k in range(depth):
                    place = ((image * height + down[i]) * width + across[j]) * depth + k
                    for row in range(down[i], bottom):
                        at = ((image * height + row) * width + across[j]) * depth + k
                        for _column in range(across[j], right):
                            best = x[place]
                            place = place if best >= x[at] or isnan(best) else at
                            at += depth
                    made[place] += grad[source]
                    source += 1
    return source


@serial
def _spread(
    shares: F64s, made: F64s, down: I64s, across: I64s, height: int, width: int, depth: int,
    more: int,
) -> int:  # fmt: skip
    rows, columns, source = len(down) - 1, len(across) - 1, 0
    for image in range(len(made) // (height * width * depth)):
        for i in range(rows):
            bottom = min(down[i + 1] + more, height)
            for j in range(columns):
                right = min(across[j + 1] + more, width)
                for row in range(down[i], bottom):
                    at = ((image * height + row) * width + across[j]) * depth
                    for _column in range(across[j], right):
                        for k in range(depth):
                            made[at + k] += shares[source + k]
                        at += depth
                source += depth
    return source


@serial
def _share(
    made: Array, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    """Divide what the elements of each window come to by how many they are."""
    rows, columns, to = len(down) - 1, len(across) - 1, 0
    for _image in range(len(made) // (rows * columns * depth)):
        for i in range(rows):
            high = min(down[i + 1] + more, height) - down[i]
            for j in range(columns):
                columns_seen = min(across[j + 1] + more, width) - across[j]
                count = single(float(high * columns_seen))  # (no window has 2^24 elements)
                for k in range(depth):
                    made[to + k] = made[to + k] / count
                to += depth
    return to
