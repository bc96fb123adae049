"""Operations on few elements that numpy takes many steps for, or does too much: written as loops.

`IN_LOOPS` says by an operation's name what makes, of its attributes, a function of floats of 32 or
64 bits. It is compiled once for all sizes; from some size on, operations have kernels of their own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...codegen.serial.function import F64s, serial
from ...ir.op import Array

Kernel = Callable[..., Array]


def _triangle(*, lower: bool, transpose: bool) -> Kernel:
    forwards = lower != transpose

    def solved(a: Array, b: Array) -> Array:
        """Return the solutions for a triangle; it is divided by zeros of the diagonal."""
        batch = a.shape[:-2]
        if batch != b.shape[:-2]:
            batch = np.broadcast_shapes(batch, b.shape[:-2])
            a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
        made = np.array(b, np.float64, order="C")
        wide = np.ascontiguousarray(a, np.float64)
        _substitute(wide, made, a.shape[-1], forwards, transpose)
        return made.astype(b.dtype, copy=False)

    return solved


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


IN_LOOPS: dict[str, Callable[..., Kernel]] = {"gv.triangular_solve": _triangle}
"""By the names of operations: what makes a function of their attributes."""
