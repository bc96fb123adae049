"""Operations on complex numbers by compiled code, which has the bits of programs."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...ir.op import Array, Op
from ...ir.types.dims import parse
from ...ir.types.dtypes import DType
from ...ir.types.tensor import TensorSpec

Kernel = Callable[..., Array]


def of_formula(op: type[Op], row: DType) -> Kernel:
    """Return an element-wise operation on arrays of one complex type that broadcast."""
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
