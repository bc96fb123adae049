"""Integers of few bits are divided as floats, many at once, and give what integers give."""

import numpy as np
import pytest

from gravure.codegen.single import in_a_row
from gravure.ir import REGISTRY
from gravure.ir.types import dtypes
from gravure.ir.types.dims import parse
from gravure.ir.types.tensor import TensorSpec


@pytest.mark.parametrize("kind", [dtypes.i8, dtypes.i32, dtypes.u16], ids=str)
def test_lanes_are_divided_as_integers_are(kind: dtypes.DType) -> None:
    """All of 8 bits; of more, what is close to a multiple, and the ends."""
    ends, random = np.iinfo(kind.numpy), np.random.default_rng(0)
    if ends.bits == 8:
        x, y = map(np.ravel, np.meshgrid(*[np.arange(ends.min, ends.max + 1)] * 2))
    else:
        y = random.integers(1, 1 << ends.bits // 2 - 1, 20000) * random.choice([-1, 1], 20000)
        x = y * random.integers(0, 1 << ends.bits // 2, 20000) + random.integers(-1, 2, 20000)
        few = np.array([ends.min, ends.min + 1, -1, 1, 2, ends.max - 1, ends.max])
        x, y = np.append(x, np.repeat(few, len(few))), np.append(y, np.tile(few, len(few)))
    fits = (y != 0) & ((x != ends.min) | (y != -1))
    for each in (x, y):
        fits &= (each >= ends.min) & (each <= ends.max)
    x, y = x[fits], y[fits]
    down, rest = np.divmod(x, y)
    toward = down + ((rest != 0) & ((x < 0) != (y < 0)))
    names = ("div", "floor_divide", "mod")
    spec = TensorSpec(kind, (parse("N"),))
    divide = in_a_row(
        lambda emit, a, b: tuple(emit(REGISTRY[f"gv.{name}"], a, b) for name in names),
        [spec, spec],
        1 << 16,
    )
    found = divide(x.astype(kind.numpy), y.astype(kind.numpy))
    for each, wanted in zip(found, (toward, down, rest), strict=True):
        np.testing.assert_array_equal(each, wanted.astype(kind.numpy))
    least, zeros = np.full(64, ends.min, kind.numpy), np.zeros(64, kind.numpy)
    np.testing.assert_array_equal(divide(least, zeros - kind.numpy.type(ends.min < 0))[0], least)
    np.testing.assert_array_equal(divide(zeros + kind.numpy.type(7), zeros)[0], zeros)
