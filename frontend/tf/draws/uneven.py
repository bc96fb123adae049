"""Windows of uneven sizes: their largest elements, their means, and the ways back, as loops.

Images are [batch, height, width, depth]; edges say where the windows along an axis begin, and the
end of the last one. Those that overlap share the elements at their edges.
"""

from __future__ import annotations

from math import isnan

import numpy as np

from ....codegen.serial.function import F32s, F64s, I32s, I64s, serial
from ....ir.op import Array

Edges = tuple[Array, Array]
"""Of rows and of columns."""


def pooled(x: Array, edges: Edges, overlapping: bool, *, mean: bool) -> Array:
    """Return the largest element, or the mean, of each window."""
    rows, columns = (len(along) - 1 for along in edges)
    wide = _in_known_type(x)
    made = np.empty((x.shape[0], rows, columns, x.shape[3]), wide.dtype)
    if not made.size:
        return made.astype(x.dtype)
    SUMS_AND_MOSTS[wide.dtype][not mean](wide, made, *edges, *x.shape[1:], int(overlapping))
    if mean:
        counts = np.repeat(_counts(edges, x, overlapping), x.shape[3], 1)
        flat = made.reshape(-1, *counts.shape)
        if made.dtype.kind == "f":
            np.divide(flat, counts.astype(made.dtype), out=flat)
        else:
            flat[...] = (flat / counts).astype(made.dtype)
    return made.astype(x.dtype, copy=False)


def _counts(edges: Edges, x: Array, overlapping: bool) -> Array:
    """Return how many elements of an image are in each window."""
    ends = (np.minimum(e[1:] + overlapping, n) for e, n in zip(edges, x.shape[1:3], strict=True))
    down, across = (end - e[:-1] for e, end in zip(edges, ends, strict=True))
    return np.outer(down, across)


def _in_known_type(x: Array) -> Array:
    """Return an array without gaps of a type that there are loops for, which holds its elements."""
    if x.dtype in SUMS_AND_MOSTS:
        return np.ascontiguousarray(x)
    is_whole = x.dtype.kind in "iub"
    return np.ascontiguousarray(x, np.int64 if is_whole else np.float32)


def back_to_largest(x: Array, grad: Array, edges: Edges, overlapping: bool) -> Array:
    """Bring each gradient to the first largest element of its window."""
    wide, made = _in_known_type(x), np.zeros(x.shape, np.float64)
    given = np.ascontiguousarray(grad, np.float64)
    if given.size:
        ways_back = BACK_TO_LARGEST[wide.dtype]
        ways_back(wide, given, made, *edges, *x.shape[1:], int(overlapping))
    return made.astype(x.dtype)


def back_to_all(sizes: Array, grad: Array, edges: Edges, overlapping: bool) -> Array:
    """Spread each gradient evenly over its window."""
    made = np.zeros(tuple(sizes.tolist()), np.float64)
    if grad.size:
        counts = _counts(edges, made, overlapping)[None, :, :, None]
        shares = np.ascontiguousarray(grad.astype(np.float64) / counts)
        _spread(shares, made, *edges, *made.shape[1:], int(overlapping))
    return made.astype(grad.dtype)


def _sum_up(
    x: Array, made: Array, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    """Add up the elements of each window, one after the other."""
    rows, columns, to = len(down) - 1, len(across) - 1, 0
    for image in range(len(x) // (height * width * depth)):
        for i in range(rows):
            bottom = min(down[i + 1] + more, height)
            for j in range(columns):
                right = min(across[j + 1] + more, width)
                for k in range(depth):
                    made[to + k] = 0
                for row in range(down[i], bottom):
                    at = ((image * height + row) * width + across[j]) * depth
                    for _column in range(across[j], right):
                        for k in range(depth):
                            made[to + k] += x[at + k]
                        at += depth
                to += depth
    return to


def _take_largest(
    x: Array, made: Array, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    """Find the largest element of each window: what is no number is."""
    rows, columns, to = len(down) - 1, len(across) - 1, 0
    for image in range(len(x) // (height * width * depth)):
        for i in range(rows):
            bottom = min(down[i + 1] + more, height)
            for j in range(columns):
                right = min(across[j + 1] + more, width)
                first = ((image * height + down[i]) * width + across[j]) * depth
                for k in range(depth):
                    made[to + k] = x[first + k]
                for row in range(down[i], bottom):
                    at = ((image * height + row) * width + across[j]) * depth
                    for _column in range(across[j], right):
                        for k in range(depth):
                            found, best = x[at + k], made[to + k]
                            made[to + k] = best if best >= found or isnan(best) else found
                        at += depth
                to += depth
    return to


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
def _sum_up_f32(
    x: F32s, made: F32s, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    return _sum_up(x, made, down, across, height, width, depth, more)


@serial
def _take_largest_f32(
    x: F32s, made: F32s, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    return _take_largest(x, made, down, across, height, width, depth, more)


@serial
def _find_largest_f32(
    x: F32s, grad: F64s, made: F64s, down: I64s, across: I64s, height: int, width: int, depth: int,
    more: int,
) -> int:  # fmt: skip
    return _find_largest(x, grad, made, down, across, height, width, depth, more)


@serial
def _sum_up_f64(
    x: F64s, made: F64s, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    return _sum_up(x, made, down, across, height, width, depth, more)


@serial
def _take_largest_f64(
    x: F64s, made: F64s, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    return _take_largest(x, made, down, across, height, width, depth, more)


@serial
def _find_largest_f64(
    x: F64s, grad: F64s, made: F64s, down: I64s, across: I64s, height: int, width: int, depth: int,
    more: int,
) -> int:  # fmt: skip
    return _find_largest(x, grad, made, down, across, height, width, depth, more)


@serial
def _sum_up_i32(
    x: I32s, made: I32s, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    return _sum_up(x, made, down, across, height, width, depth, more)


@serial
def _take_largest_i32(
    x: I32s, made: I32s, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    return _take_largest(x, made, down, across, height, width, depth, more)


@serial
def _find_largest_i32(
    x: I32s, grad: F64s, made: F64s, down: I64s, across: I64s, height: int, width: int, depth: int,
    more: int,
) -> int:  # fmt: skip
    return _find_largest(x, grad, made, down, across, height, width, depth, more)


@serial
def _sum_up_i64(
    x: I64s, made: I64s, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    return _sum_up(x, made, down, across, height, width, depth, more)


@serial
def _take_largest_i64(
    x: I64s, made: I64s, down: I64s, across: I64s, height: int, width: int, depth: int, more: int
) -> int:
    return _take_largest(x, made, down, across, height, width, depth, more)


@serial
def _find_largest_i64(
    x: I64s, grad: F64s, made: F64s, down: I64s, across: I64s, height: int, width: int, depth: int,
    more: int,
) -> int:  # fmt: skip
    return _find_largest(x, grad, made, down, across, height, width, depth, more)


SUMS_AND_MOSTS = {
    np.dtype(np.float32): (_sum_up_f32, _take_largest_f32),
    np.dtype(np.float64): (_sum_up_f64, _take_largest_f64),
    np.dtype(np.int32): (_sum_up_i32, _take_largest_i32),
    np.dtype(np.int64): (_sum_up_i64, _take_largest_i64),
}
"""By element type."""
BACK_TO_LARGEST = {
    np.dtype(np.float32): _find_largest_f32,
    np.dtype(np.float64): _find_largest_f64,
    np.dtype(np.int32): _find_largest_i32,
    np.dtype(np.int64): _find_largest_i64,
}
"""By element type of the images."""
