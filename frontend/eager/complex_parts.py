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
    rooms = [np.empty((count + 1) // 2 * inner, x.dtype) for _ in range(2)]
    _multiply_along(in_a_row(blocks), *map(in_a_row, (*rooms, made)), count, inner)
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
        left = _halve(x, block * size, room, count, inner)
        while left > 1:
            left = _halve(room, 0, other, left, inner)
            left = _halve(other, 0, room, left, inner)
        for i in range(2 * inner):
            made[2 * block * inner + i] = room[i]
    return blocks


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
