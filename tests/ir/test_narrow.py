"""Narrow types: every code, and every kind of number, beside what ml_dtypes makes of them."""

from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.frontend.text.reader import read_text
from gravure.ir.narrow import narrowed, widened
from gravure.ir.scalar_math import NumpyMath, Term
from gravure.ir.types.dtypes import DTYPES, NARROW, DType, f8e8m0, i2, i4, u2, u4
from gravure.ir.types.numerics import saturate

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
        wanted = saturate(x, dtype).view(np.uint8)
        theirs = x.astype(dtype.numpy).view(np.uint8)
        found = narrowed(Term(MATH, x), dtype).value
    np.testing.assert_array_equal(found, wanted)
    settled = ~(abs(x) < 2.0**-126) if dtype is f8e8m0 else np.full(x.shape, fill_value=True)
    np.testing.assert_array_equal(theirs[settled], wanted[settled])  # below, versions differ


def test_of_two_powers_that_are_as_near_it_is_the_larger() -> None:
    halves = np.array([1.5 * 2.0**at for at in (-128, -127, -126, 0, 1, 126)], np.float32)
    assert saturate(halves, f8e8m0).view(np.uint8).tolist() == [0, 1, 2, 128, 129, 254]
    some = np.array([2.0**-129, 2.0**-127, 1.25 * 2.0**-127, 1.25 * 2.0**-126], np.float32)
    assert saturate(some, f8e8m0).view(np.uint8).tolist() == [0, 0, 1, 1]
    rest = np.array([0.0, -0.0, -1, np.nan, np.inf, 1.5 * 2.0**127], np.float32)
    assert saturate(rest, f8e8m0).view(np.uint8).tolist() == [255] * 6


@pytest.mark.parametrize("source", [np.float32, np.float64, np.float16, np.int32, np.int64])
@pytest.mark.parametrize("dtype", [i4, u4, i2, u2], ids=str)
def test_the_lower_bits_are_kept_of_what_few_bits_cannot_hold(
    dtype: DType, source: type[np.generic]
) -> None:
    """As ONNX's cases have it, and ml_dtypes before 0.7; from there on it makes 0 of floats."""
    values = np.array([0, 1, -1, 7, 8, -8, -9, 15, 16, 17, 100, -100, 255, -3, 3])
    wanted = values & ((1 << dtype.bits) - 1)
    if dtype.minimum < 0:
        wanted = np.where(wanted > dtype.maximum, wanted - (1 << dtype.bits), wanted)
    found = saturate(values.astype(source), dtype)
    assert found.dtype == dtype.numpy
    np.testing.assert_array_equal(found.astype(np.int32), wanted)


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
