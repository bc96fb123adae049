"""Operations on complex numbers by compiled code, which has the bits of programs.

`products` are loops over pairs of numbers: memory is read in the order in which it lies, where
programs take each pair for one number of twice the bits, which is taken apart and put together.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...codegen.serial.function import F32s, F64s, serial, single
from ...ir.op import Array, Op
from ...ir.ops.elementwise import Mul
from ...ir.types.dims import parse
from ...ir.types.dtypes import DType, c64
from ...ir.types.tensor import TensorSpec

Kernel = Callable[..., Array]


def of_formula(op: type[Op], row: DType) -> Kernel:
    """Return an element-wise operation on arrays of one complex type that broadcast."""
    if op is Mul:
        return products
    made: list[Kernel] = []
    count = len(op.signature().operands)

    def compiled() -> Kernel:
        from ...codegen import single  # noqa: PLC0415  (only who computes needs it)

        def build(emit: Callable[..., object], *values: object) -> object:
            return emit(op, *values)

        return single.of_any_length(build, [TensorSpec(row, (parse("N"),))] * count)

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


def products(x: Array, y: Array) -> Array:
    """Return products of complex numbers of one type that broadcast; each step is rounded."""
    is_narrow = x.dtype == c64.numpy
    part = np.float32 if is_narrow else np.float64
    if x.size == 1 != y.size:
        x, y = y, x
    if y.size == 1 and x.ndim >= y.ndim:
        made, function = np.empty(x.shape, x.dtype), _narrow_scaled if is_narrow else _wide_scaled
        function(*[np.ravel(z).view(part) for z in (x, y)], made.reshape(-1).view(part))
        return made
    if x.shape != y.shape:
        x, y = np.broadcast_arrays(x, y)
    made, function = np.empty(x.shape, x.dtype), _narrow if is_narrow else _wide
    function(*[np.ravel(z).view(part) for z in (x, y)], made.reshape(-1).view(part))
    return made


def opposite(z: Array) -> Array:
    """Return the opposite of complex numbers, part by part: numpy takes one after the other."""
    if not z.flags.c_contiguous:
        return np.asarray(np.negative(z))
    part = np.float32 if z.dtype == c64.numpy else np.float64
    made: Array = np.negative(z.reshape(-1).view(part)).view(z.dtype)
    return made.reshape(z.shape)


@serial
def _narrow(x: F32s, y: F32s, made: F32s) -> int:
    """Multiply; of 32 bits, each product is rounded by itself."""
    count = len(made) // 2
    for i in range(count):
        a, b, c, d = x[2 * i], x[2 * i + 1], y[2 * i], y[2 * i + 1]
        made[2 * i] = single(a * c) - single(b * d)
        made[2 * i + 1] = single(a * d) + single(b * c)
    return count


@serial
def _wide(x: F64s, y: F64s, made: F64s) -> int:
    count = len(made) // 2
    for i in range(count):
        a, b, c, d = x[2 * i], x[2 * i + 1], y[2 * i], y[2 * i + 1]
        made[2 * i] = a * c - b * d
        made[2 * i + 1] = a * d + b * c
    return count


@serial
def _narrow_scaled(x: F32s, y: F32s, made: F32s) -> int:
    """Multiply by one number."""
    count, c, d = len(made) // 2, y[0], y[1]
    for i in range(count):
        a, b = x[2 * i], x[2 * i + 1]
        made[2 * i] = single(a * c) - single(b * d)
        made[2 * i + 1] = single(a * d) + single(b * c)
    return count


@serial
def _wide_scaled(x: F64s, y: F64s, made: F64s) -> int:
    count, c, d = len(made) // 2, y[0], y[1]
    for i in range(count):
        a, b = x[2 * i], x[2 * i + 1]
        made[2 * i] = a * c - b * d
        made[2 * i + 1] = a * d + b * c
    return count
