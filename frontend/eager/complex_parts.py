"""Operations on complex numbers by compiled code, which has the bits of programs.

`products` are loops over pairs of numbers: memory is read in the order in which it lies, where
programs take each pair for one number of twice the bits, which is taken apart and put together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import numpy as np
from xdsl.ir import SSAValue

from ...codegen.serial.function import F64s, Flags, rounded, serial
from ...ir.build import GraphEmit
from ...ir.op import Array, Op
from ...ir.ops.compare import Equal, NotEqual
from ...ir.ops.complex import Imag, Real, ToComplex
from ...ir.ops.elementwise import Div, Mul
from ...ir.ops.reduce import Prod, blocks_along, kept_shape
from ...ir.types.dims import parse
from ...ir.types.dtypes import DType, c64, c128, f64
from ...ir.types.shapes import normalize_axes
from ...ir.types.tensor import TensorSpec

Kernel = Callable[..., Array]


def of_formula(op: type[Op], row: DType) -> Kernel:
    """Return an element-wise operation on arrays of one complex type that broadcast."""
    if op is Mul:
        return products
    if op is Div and row == c128:
        return quotients
    made: list[Kernel] = []
    spec = TensorSpec(row, (parse("N"),))
    specs = [spec] * len(op.signature().operands)
    is_wide = row == c128 and op.infer(*specs)[0].dtype == c128

    def compiled() -> Kernel:
        from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

        if is_wide:
            rows = [TensorSpec(f64, spec.dims)] * (2 * len(specs))
            return partial(in_shares, single.in_a_row(partial(_parts, op), rows, SHARE))
        return single.of_any_length(partial(_applied, op), specs)

    def function(*given: Array) -> Array:
        """Compute it, of all elements in a row."""
        if not made:
            made.append(compiled())
        alike = all(z.shape == given[0].shape for z in given)
        arrays = given if alike else np.broadcast_arrays(*given)
        shape = arrays[0].shape
        if 0 in shape:
            specs = op.infer(*(TensorSpec(row, z.shape) for z in arrays))
            return np.empty(shape, specs[0].dtype.numpy)
        return made[0](*[z.ravel() for z in arrays]).reshape(shape)

    return function


def _applied(op: type[Op], emit: GraphEmit, *values: SSAValue) -> object:
    return emit(op, *values)


def _parts(op: type[Op], emit: GraphEmit, *parts: SSAValue) -> list[object]:
    given = [emit(ToComplex, *both) for both in zip(parts[::2], parts[1::2], strict=True)]
    whole = emit(op, *given)
    return [emit(part, whole) for part in (Real, Imag)]


WHOLE = 16
"""So many products, or so many halved some times, are made at a time."""
SHARE = 1 << 12
"""So many numbers of twice 64 bits stay in a processor's cache with their parts."""


def in_shares(kernel: Kernel, *given: Array) -> Array:
    """Take rows apart for a kernel, and put what it makes together, while all is in the cache."""
    count = len(given[0])
    made = np.empty(count, np.complex128)
    whole, places = [z.view(np.float64) for z in given], made.view(np.float64)
    parts = [np.empty(min(count, SHARE)) for _ in range(2 * len(given))]
    for i in range(0, count, SHARE):
        here, size = slice(2 * i, 2 * (i + SHARE)), min(SHARE, count - i)
        rows = [x[:size] for x in parts]
        for z, real, imag in zip(whole, rows[::2], rows[1::2], strict=True):
            _part(z[here], real, imag)
        _pair(*kernel(*rows), places[here])
    return made


def in_a_row(z: Array) -> Array:
    """Return the parts of complex numbers, one number behind the other."""
    return np.ravel(z).view(np.float32 if z.dtype == c64.numpy else np.float64)


def together(real: Array, imag: Array) -> Array:
    """Return complex numbers of their parts, which broadcast."""
    if real.shape != imag.shape:
        real, imag = np.broadcast_arrays(real, imag)
    made = np.empty(real.shape, np.complex64 if real.dtype == np.float32 else np.complex128)
    _pair(*map(np.ravel, (real, imag)), in_a_row(made))
    return made


def equal(x: Array, y: Array) -> Array:
    """Say where complex numbers of one type that broadcast have equal parts."""
    if x.shape != y.shape:
        x, y = np.broadcast_arrays(x, y)
    made = np.empty(x.shape, np.bool_)
    _equal(in_a_row(x), in_a_row(y), made.reshape(-1))
    return made


def not_equal(x: Array, y: Array) -> Array:
    """Say where complex numbers of one type that broadcast differ."""
    made = equal(x, y)
    return np.logical_not(made, out=made)


COMPARED: dict[type[Op], Kernel] = {Equal: equal, NotEqual: not_equal}
"""By operation: what compares many complex numbers."""


def products(x: Array, y: Array) -> Array:
    """Return products of complex numbers of one type that broadcast; each step is rounded."""
    if x.size == 1 != y.size:
        x, y = y, x
    if y.size == 1 and x.ndim >= y.ndim:
        function = _scale
    else:
        function = _multiply
        if x.shape != y.shape:
            x, y = np.broadcast_arrays(x, y)
    made = np.empty(x.shape, x.dtype)
    function(*map(in_a_row, (x, y, made)))
    return made


def quotients(x: Array, y: Array) -> Array:
    """Return quotients of wide complex numbers that broadcast; each step is rounded."""
    if x.shape != y.shape:
        x, y = np.broadcast_arrays(x, y)
    made = np.empty(x.shape, np.complex128)
    _divide(*map(in_a_row, (x, y, made)))
    return made


def products_along(x: Array, *, axes: Sequence[int], keepdims: bool) -> Array:
    """Return products of the numbers along some axes, in the order of the operation."""
    found = normalize_axes(axes, x.ndim)
    shape = kept_shape(x.shape, found, keepdims=keepdims)
    if not x.size or not found:
        return Prod.evaluate(x, axes=tuple(axes), keepdims=keepdims)[0]
    blocks = blocks_along(x, found)
    outer, count, inner = blocks.shape
    made = np.empty((outer, inner), x.dtype)
    size = max((count + 1) // 2 * inner, WHOLE * WHOLE) + WHOLE
    rows, made_rows = in_a_row(blocks), in_a_row(made)
    rooms = [np.empty(2 * size, rows.dtype) for _ in range(2)]
    if inner == 1:
        turned = np.empty(2 * WHOLE * WHOLE, rows.dtype)
        _multiply_rows(rows, *rooms, turned, made_rows, count)
    else:
        _multiply_along(rows, *rooms, made_rows, count, inner)
    return made.reshape(shape)


def opposite(z: Array) -> Array:
    """Return the opposite of complex numbers, part by part: numpy takes one after the other."""
    if not z.flags.c_contiguous:
        return np.asarray(np.negative(z))
    made: Array = np.negative(in_a_row(z)).view(z.dtype)
    return made.reshape(z.shape)


@serial
def _multiply(x: Array, y: Array, made: Array) -> int:
    """Multiply; each product is rounded by itself."""
    count = len(made) // 2
    for i in range(count):
        a, b, c, d = x[2 * i], x[2 * i + 1], y[2 * i], y[2 * i + 1]
        made[2 * i] = rounded(a * c, made) - rounded(b * d, made)
        made[2 * i + 1] = rounded(a * d, made) + rounded(b * c, made)
    return count


@serial
def _scale(x: Array, y: Array, made: Array) -> int:
    """Multiply by one number."""
    count, c, d = len(made) // 2, y[0], y[1]
    for i in range(count):
        a, b = x[2 * i], x[2 * i + 1]
        made[2 * i] = rounded(a * c, made) - rounded(b * d, made)
        made[2 * i + 1] = rounded(a * d, made) + rounded(b * c, made)
    return count


@serial
def _pair(real: Array, imag: Array, made: Array) -> int:
    for i in range(len(real)):
        made[2 * i] = real[i]
        made[2 * i + 1] = imag[i]
    return len(real)


@serial
def _part(x: Array, real: Array, imag: Array) -> int:
    for i in range(len(real)):
        real[i] = x[2 * i]
        imag[i] = x[2 * i + 1]
    return len(real)


@serial
def _equal(x: Array, y: Array, made: Flags) -> int:
    for i in range(len(made)):
        made[i] = (x[2 * i] == y[2 * i]) & (x[2 * i + 1] == y[2 * i + 1])
    return len(made)


@serial
def _divide(x: F64s, y: F64s, made: F64s) -> int:
    """Divide by numbers scaled by the larger one of their parts."""
    count = len(made) // 2
    for i in range(count):
        a, b, c, d = x[2 * i], x[2 * i + 1], y[2 * i], y[2 * i + 1]
        size = max(abs(c), abs(d))
        c, d = c / size, -(d / size)
        whole = c * c + d * d
        made[2 * i] = (a * c - b * d) / whole / size
        made[2 * i + 1] = (a * d + b * c) / whole / size
    return count


@serial
def _multiply_along(
    x: Array, room: Array, other: Array, made: Array, count: int, inner: int
) -> int:
    """Multiply each half of a block by the other one, and what that makes again."""
    size = 2 * count * inner
    blocks = len(x) // size
    for block in range(blocks):
        _shorten_to_one(x, block * size, room, other, count, inner)
        for i in range(2 * inner):
            made[2 * block * inner + i] = room[i]
    return blocks


@serial
def _multiply_rows(
    x: Array, room: Array, other: Array, turned: Array, made: Array, count: int
) -> int:
    """Do so with rows: what is left of some of them, if it is little, is multiplied at a time."""
    blocks = len(made) // 2
    for first in range(0, blocks, WHOLE):
        rows, left = min(WHOLE, blocks - first), count
        for row in range(rows):
            at, left = 2 * (first + row) * count, count
            if left <= WHOLE:
                _turn(x, at, turned, row, left)
            else:
                left = _shorten(x, at, room, left, 1)
                while left > WHOLE:
                    left = _shorten(room, 0, other, left, 1)
                    left = _shorten(other, 0, room, left, 1)
                _turn(room, 0, turned, row, left)
        _shorten_to_one(turned, 0, room, other, left, WHOLE)
        for i in range(2 * rows):
            made[2 * first + i] = room[i]
    return blocks


def _turn(x: Array, first: int, made: Array, column: int, count: int) -> int:
    """Write numbers that lie side by side below each other."""
    for i in range(count):
        made[2 * (i * WHOLE + column)] = x[first + 2 * i]
        made[2 * (i * WHOLE + column) + 1] = x[first + 2 * i + 1]
    return count


def _shorten_to_one(x: Array, first: int, room: Array, other: Array, count: int, inner: int) -> int:
    """Multiply halves until there is one row, which lies in the first room."""
    left = _shorten(x, first, room, count, inner)
    while left > 1:
        left = _shorten(room, 0, other, left, inner)
        left = _shorten(other, 0, room, left, inner)
    return left


def _shorten(x: Array, first: int, made: Array, count: int, inner: int) -> int:
    """Multiply halves, and twice if there are some rows; return how many are left."""
    if count < 4:
        return _halve(x, first, made, count, inner)
    return _quarter(x, first, made, count, inner)


def _quarter(x: Array, first: int, made: Array, count: int, inner: int) -> int:
    """Multiply both halves, and those of what that makes, which is not written in between.

    Vectors are whole where there is room: what they write too much is written anew, or not read.
    Products are written out in their loop: by `_product` it is not made into vectors, and takes
    five times as long.
    """
    half, kept = count // 2, count - count // 2
    left = kept - kept // 2
    behind, to = first + 2 * kept * inner, first + 2 * left * inner
    beyond, both = to + 2 * kept * inner, (half - left) * inner
    most = min((len(x) - beyond) // 2, len(made) // 2)
    for i in range(min((both + WHOLE - 1) // WHOLE * WHOLE, most)):
        a, b = x[first + 2 * i], x[first + 2 * i + 1]
        c, d = x[behind + 2 * i], x[behind + 2 * i + 1]
        e = rounded(rounded(a * c, made) - rounded(b * d, made), made)
        f = rounded(rounded(a * d, made) + rounded(b * c, made), made)
        a, b = x[to + 2 * i], x[to + 2 * i + 1]
        c, d = x[beyond + 2 * i], x[beyond + 2 * i + 1]
        g = rounded(rounded(a * c, made) - rounded(b * d, made), made)
        h = rounded(rounded(a * d, made) + rounded(b * c, made), made)
        made[2 * i] = rounded(e * g, made) - rounded(f * h, made)
        made[2 * i + 1] = rounded(e * h, made) + rounded(f * g, made)
    for i in range(both, left * inner):  # of an odd number of rows the one in the middle waits
        j = 2 * i
        e, f = _product(x, first + j, behind + j, made)
        if i + left * inner < kept * inner:
            g, h = x[to + j], x[to + j + 1]
            made[j] = rounded(e * g, made) - rounded(f * h, made)
            made[j + 1] = rounded(e * h, made) + rounded(f * g, made)
        else:
            made[j], made[j + 1] = e, f
    return left


def _product(x: Array, at: int, other: int, like: Array) -> tuple[float, float]:
    """Return the product of two numbers of an array; each step is rounded."""
    a, b, c, d = x[at], x[at + 1], x[other], x[other + 1]
    real = rounded(a * c, like) - rounded(b * d, like)
    imag = rounded(a * d, like) + rounded(b * c, like)
    return rounded(real, like), rounded(imag, like)


def _halve(x: Array, first: int, made: Array, count: int, inner: int) -> int:
    """Multiply both halves of what begins somewhere; return how many rows are left."""
    half = (count // 2) * inner
    kept = count * inner - half
    behind = first + 2 * kept
    for i in range(half):
        a, b = x[first + 2 * i], x[first + 2 * i + 1]
        c, d = x[behind + 2 * i], x[behind + 2 * i + 1]
        made[2 * i] = rounded(a * c, made) - rounded(b * d, made)
        made[2 * i + 1] = rounded(a * d, made) + rounded(b * c, made)
    for i in range(2 * half, 2 * kept):
        made[i] = x[first + i]
    return count - count // 2
