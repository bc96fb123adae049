"""Narrow types: every code, and every kind of number, beside what ml_dtypes makes of them."""

from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.frontend.text.reader import read_text
from gravure.ir.narrow import narrowed, widened
from gravure.ir.scalar_math import NumpyMath, Term
from gravure.ir.types.dtypes import DTYPES, NARROW, DType

MATH: Any = NumpyMath()
FLOATS = [t for t in NARROW if t.is_narrow_float]


def codes(dtype: DType) -> np.ndarray:
    return np.arange(1 << dtype.bits, dtype=np.uint8)


@pytest.mark.parametrize("dtype", NARROW, ids=str)
def test_every_code_is_read_and_written(dtype: DType) -> None:
    byte = codes(dtype)
    wide = widened(Term(MATH, byte), dtype)
    wanted = byte.view(dtype.numpy).astype(np.float32)
    np.testing.assert_array_equal(wide.value.astype(np.float32), wanted)
    present = ~np.isnan(wanted)
    back = narrowed(Term(MATH, wide.value[present]), dtype).value
    np.testing.assert_array_equal(back, byte[present])


@pytest.mark.parametrize("dtype", FLOATS, ids=str)
def test_any_float_is_rounded_to_the_nearest(dtype: DType) -> None:
    exact = codes(dtype).view(dtype.numpy).astype(np.float32)
    exact = np.sort(exact[np.isfinite(exact)])
    middle = ((exact[1:].astype(np.float64) + exact[:-1]) / 2).astype(np.float32)
    near = [np.nextafter(middle, np.float32(end)) for end in (-np.inf, np.inf)]
    some = (np.arange(1 << 16, dtype=np.uint32) << 16).view(np.float32)
    x = np.concatenate([exact, middle, *near, some])
    with np.errstate(all="ignore"):
        wanted = x.astype(dtype.numpy).view(np.uint8)
        found = narrowed(Term(MATH, x), dtype).value
    np.testing.assert_array_equal(found, wanted)


def test_compiled_code_takes_and_gives_narrow_elements() -> None:
    """Each cast goes through registers: all codes in, all codes out."""
    for dtype, wide in (("f8e4m3fn", "f32"), ("i4", "i32")):
        row = DTYPES[dtype]
        byte = codes(row)
        program = read_text(
            f"model m(x: {dtype}[{len(byte)}]) -> (a, b) {{\n"
            f"  a = cast(x, dtype={wide})\n  b = cast(a, dtype={dtype})\n}}\n"
        )
        a, b = gv.compile(program).run([byte.view(row.numpy)])
        wanted = byte.view(row.numpy).astype(DTYPES[wide].numpy)
        np.testing.assert_array_equal(a, wanted)
        np.testing.assert_array_equal(b.astype(np.float32), byte.view(row.numpy).astype(np.float32))
