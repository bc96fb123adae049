"""What the emulator computes, instruction by instruction, against numpy and exact numbers."""

import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gravure.runtime.ptx_emulator import UnsupportedPtx

sys.path.insert(0, str(Path(__file__).parent))
from ptx_cases import apply

Array = np.ndarray[Any, Any]
RNG = np.random.default_rng(5)
COUNT = 96


def integers(dtype: Any, count: int = COUNT) -> Array:
    limits = np.iinfo(dtype)
    values = RNG.integers(limits.min, limits.max, count, dtype, endpoint=True)
    small = RNG.integers(max(limits.min, -5), 6, count).astype(dtype)
    mixed = np.where(RNG.random(count) < 0.5, values, small)
    mixed[:3] = limits.min, limits.max, 0
    return mixed.astype(dtype)


def numbers(dtype: Any, count: int = COUNT) -> Array:
    values = (RNG.standard_normal(count) * 10.0 ** RNG.integers(-3, 4, count)).astype(dtype)
    values[:6] = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0]
    return values


def assert_same(found: Array, expected: Array) -> None:
    """Compare floats of any type; a NaN is the same as a NaN."""
    np.testing.assert_array_equal(found.astype(np.float64), expected.astype(np.float64))


def high_part(x: Array, y: Array) -> Array:
    found: Array = (x.astype(np.int64) * y >> 32).astype(np.int32)
    return found


def products_of_bytes(x: Array, y: Array) -> Array:
    bytes_ = [each.view(np.int8).reshape(-1, 4).astype(np.int32) for each in (x, y)]
    found: Array = (bytes_[0] * bytes_[1]).sum(1, dtype=np.int32)
    return found


INTEGER_CASES: list[tuple[str, int, Callable[..., Any]]] = [
    ("add.s32 $0, $1, $2", 2, lambda x, y: x + y),
    ("sub.u64 $0, $1, $2", 2, lambda x, y: x - y),
    ("mul.lo.s32 $0, $1, $2", 2, lambda x, y: x * y),
    ("mad.lo.u32 $0, $1, $2, $3", 3, lambda x, y, z: x * y + z),
    ("mad.hi.s32 $0, $1, $2, $3", 3, lambda x, y, z: high_part(x, y) + z),
    ("dp4a.s32.s32 $0, $1, $2, $3", 3, lambda x, y, z: products_of_bytes(x, y) + z),
    ("min.s32 $0, $1, $2", 2, np.minimum),
    ("max.u32 $0, $1, $2", 2, np.maximum),
    ("and.b32 $0, $1, $2", 2, lambda x, y: x & y),
    ("xor.b64 $0, $1, $2", 2, lambda x, y: x ^ y),
    ("not.b32 $0, $1", 1, lambda x: ~x),
    ("neg.s64 $0, $1", 1, lambda x: -x),
    ("abs.s32 $0, $1", 1, np.abs),
    ("popc.b32 $0, $1", 1, lambda x: np.bitwise_count(x).astype(np.uint32)),
    ("shl.b32 $0, $1, 5", 1, lambda x: x << x.dtype.type(5)),
    ("shr.s32 $0, $1, 40", 1, lambda x: x >> x.dtype.type(31)),
    ("shr.u32 $0, $1, 40", 1, lambda x: x * x.dtype.type(0)),
]


@pytest.mark.parametrize(
    ("text", "count", "reference"), INTEGER_CASES, ids=[case[0] for case in INTEGER_CASES]
)
def test_integers(text: str, count: int, reference: Callable[..., Any]) -> None:
    kind = text.split(maxsplit=1)[0].rsplit(".", maxsplit=1)[-1]
    dtype = np.dtype({"s": "i", "u": "u", "b": "u"}[kind[0]] + str(int(kind[1:]) // 8))
    inputs = [integers(dtype) for _ in range(count)]
    with np.errstate(over="ignore"):
        expected = reference(*inputs)
    found = apply(text, inputs, expected.dtype)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", ["s32", "u32", "s64", "u64"])
@pytest.mark.parametrize("name", ["div", "rem", "mul.hi"])
def test_quotients_and_high_products(kind: str, name: str) -> None:
    dtype = np.dtype({"s": "i", "u": "u"}[kind[0]] + str(int(kind[1:]) // 8))
    x, y = integers(dtype), integers(dtype)
    y[y == 0] = 3
    found = apply(f"{name}.{kind} $0, $1, $2", [x, y], dtype)
    bits = int(kind[1:])
    for a, b, c in zip(x.tolist(), y.tolist(), found.tolist(), strict=True):
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        exact = {"div": quotient, "rem": a - quotient * b, "mul.hi": a * b >> bits}[name]
        wrapped = (exact + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)
        assert c == (wrapped if kind[0] == "s" else exact % 2**bits)


def test_wide_products() -> None:
    x, y = integers(np.int32), integers(np.int32)
    found = apply("mul.wide.s32 $0, $1, $2", [x, y], np.int64)
    np.testing.assert_array_equal(found, x.astype(np.int64) * y)


@pytest.mark.parametrize("kind", ["u32", "s32"])
def test_extracted_bits(kind: str) -> None:
    x = integers(np.int32)
    start, length = (RNG.integers(0, 40, COUNT).astype(np.uint32) for _ in range(2))
    found = apply(f"bfe.{kind} $0, $1, $2, $3", [x, start, length], np.int32)
    for value, first, size, result in zip(
        x.tolist(), start.tolist(), length.tolist(), found.tolist(), strict=True
    ):
        bits = [value >> min(first + n, 31) & 1 for n in range(32)]
        if kind == "u32":
            bits = [bit if first + n < 32 else 0 for n, bit in enumerate(bits)]
        top = bits[size - 1] if 0 < size <= 32 else (bits[31] if size else 0)
        fill = top if kind == "s32" else 0
        bits = [bit if n < size else fill for n, bit in enumerate(bits)]
        exact = sum(bit << n for n, bit in enumerate(bits))
        assert result & 0xFFFFFFFF == exact, (value, first, size)


def test_inserted_bits() -> None:
    x, y = integers(np.uint32), integers(np.uint32)
    found = apply("bfi.b32 $0, $1, $2, 7, 9", [x, y], np.uint32)
    mask = np.uint32(((1 << 9) - 1) << 7)
    np.testing.assert_array_equal(found, (y & ~mask) | ((x << np.uint32(7)) & mask))


@pytest.mark.parametrize(
    ("text", "half", "function"),
    [
        ("add.s16x2", np.int16, np.add),
        ("add.u16x2", np.uint16, np.add),
        ("max.s16x2", np.int16, np.maximum),
        ("min.u16x2", np.uint16, np.minimum),
    ],
)
def test_pairs_of_short_numbers(text: str, half: Any, function: Any) -> None:
    x, y = integers(np.uint32), integers(np.uint32)
    found = apply(f"{text} $0, $1, $2", [x, y], np.uint32)
    np.testing.assert_array_equal(found.view(half), function(x.view(half), y.view(half)))


def test_permuted_bytes() -> None:
    x, y, selector = (integers(np.uint32) for _ in range(3))
    found = apply("prmt.b32 $0, $1, $2, $3", [x, y, selector], np.uint32)
    for a, b, s, result in zip(
        x.tolist(), y.tolist(), selector.tolist(), found.tolist(), strict=True
    ):
        pool = (a | b << 32).to_bytes(8, "little")
        picks = [s >> 4 * n & 15 for n in range(4)]
        signs = [0xFF if pool[pick & 7] > 127 else 0 for pick in picks]
        parts = [signs[n] if pick & 8 else pool[pick & 7] for n, pick in enumerate(picks)]
        assert result == int.from_bytes(bytes(parts), "little")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("clz.b32 $0, $1", lambda x: 32 - x.bit_length()),
        ("bfind.u32 $0, $1", lambda x: (x.bit_length() - 1) % 2**32),
        ("brev.b32 $0, $1", lambda x: int(f"{x:032b}"[::-1], 2)),
        ("lop3.b32 $0, $1, $1, $1, 0x01", lambda x: ~x % 2**32),
        ("shf.l.wrap.b32 $0, $1, $1, 8", lambda x: (x << 8 | x >> 24) % 2**32),
    ],
)
def test_bits(text: str, expected: Callable[[int], int]) -> None:
    x = integers(np.uint32)
    found = apply(text, [x], np.uint32)
    assert found.tolist() == [expected(value) for value in x.tolist()]


@pytest.mark.parametrize(
    ("text", "reference"),
    [
        ("add.rn.f32 $0, $1, $2", np.add),
        ("sub.f32 $0, $1, $2", np.subtract),
        ("mul.rn.f64 $0, $1, $2", np.multiply),
        ("div.rn.f32 $0, $1, $2", np.divide),
        ("max.f32 $0, $1, $2", np.fmax),
        ("min.NaN.f32 $0, $1, $2", np.minimum),
        ("add.f16 $0, $1, $2", np.add),
        ("mul.bf16 $0, $1, $2", np.multiply),
    ],
)
def test_floats(text: str, reference: Any) -> None:
    kind = text.split(maxsplit=1)[0].rsplit(".", maxsplit=1)[-1]
    dtype = {"f16": np.float16, "f64": np.float64, "bf16": ml_dtypes.bfloat16}.get(kind, np.float32)
    x, y = numbers(dtype), numbers(dtype)
    y[:12] = numbers(dtype)[:12][::-1]
    with np.errstate(all="ignore"):
        expected = reference(x, y)
    assert_same(apply(text, [x, y], dtype), expected)


def test_products_and_sums_are_rounded_once() -> None:
    x, y = (RNG.standard_normal(COUNT).astype(np.float32) for _ in range(2))
    z = (-(x.astype(np.float64) * y) * (1 + 2.0 ** -RNG.integers(20, 60, COUNT))).astype(np.float32)
    found = apply("fma.rn.f32 $0, $1, $2, $3", [x, y, z], np.float32)
    up = apply("fma.rp.f32 $0, $1, $2, $3", [x, y, z], np.float32)
    for a, b, c, result, above in zip(x, y, z, found, up, strict=True):
        exact = Fraction(float(a)) * Fraction(float(b)) + Fraction(float(c))
        gaps = [
            abs(Fraction(float(np.nextafter(result, np.float32(end)))) - exact)
            for end in (-np.inf, np.inf)
        ]
        assert abs(Fraction(float(result)) - exact) <= min(gaps)
        assert Fraction(float(np.nextafter(above, np.float32(-np.inf)))) < exact
        assert Fraction(float(above)) >= exact


def test_pairs_of_halves() -> None:
    x, y = numbers(np.float16, 2 * COUNT), numbers(np.float16, 2 * COUNT)
    found = apply("add.f16x2 $0, $1, $2", [x.view(np.uint32), y.view(np.uint32)], np.uint32)
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(found.view(np.float16), x + y)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("ex2.approx.ftz", np.exp2),
        ("lg2.approx", np.log2),
        ("sin.approx", np.sin),
        ("tanh.approx", np.tanh),
        ("rcp.rn", np.reciprocal),
        ("sqrt.rn", np.sqrt),
        ("rsqrt.approx", lambda x: 1 / np.sqrt(x)),
    ],
)
def test_functions(name: str, reference: Any) -> None:
    x = numbers(np.float32)
    with np.errstate(all="ignore"):
        expected = reference(x)
    if name.endswith(".ftz"):
        expected[np.abs(expected) < np.finfo(np.float32).tiny] = 0
    np.testing.assert_allclose(apply(f"{name}.f32 $0, $1", [x], np.float32), expected, 3e-7)


def test_subnormals_are_flushed_where_asked() -> None:
    x = np.full(32, 1e-40, np.float32)
    assert apply("add.ftz.f32 $0, $1, $1", [x], np.float32).tolist() == [0.0] * 32
    assert (apply("add.f32 $0, $1, $1", [x], np.float32) > 0).all()


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("lt.f32", np.less),
        ("neu.f32", lambda x, y: ~(x == y)),
        ("ne.f32", lambda x, y: (x < y) | (x > y)),
        ("geu.f32", lambda x, y: ~(x < y)),
        ("nan.f32", lambda x, y: np.isnan(x) | np.isnan(y)),
    ],
)
def test_comparisons(name: str, reference: Any) -> None:
    x, y = numbers(np.float32), numbers(np.float32)[::-1].copy()
    y[10:20] = x[10:20]
    text = f"setp.{name} %p1, $1, $2; selp.u32 $0, 1, 0, %p1"
    np.testing.assert_array_equal(apply(text, [x, y], np.uint32), reference(x, y))


def test_pairs_are_compared_apart() -> None:
    x = np.tile(np.array([1.0, 2.0, np.nan, -0.0, 5.0, -7.0, 3.0, 0.0], np.float16), 8)
    y = np.tile(np.array([2.0, 1.0, 0.0, 0.0, 5.5, -8.0, 3.5, np.inf], np.float16), 8)
    text = (
        "setp.lt.f16x2 %p1|%p2, $1, $2; selp.u32 %r1, 1, 0, %p1;"
        " selp.u32 %r2, 2, 0, %p2; or.b32 $0, %r1, %r2"
    )
    found = apply(text, [x.view(np.uint32), y.view(np.uint32)], np.uint32)
    less = x < y
    np.testing.assert_array_equal(found, less[::2] + 2 * less[1::2])


@pytest.mark.parametrize("to", ["s8", "s32", "u32", "s64", "u64"])
def test_floats_become_the_nearest_integer_in_range(to: str) -> None:
    x = numbers(np.float32)
    x[6:12] = [3e9, -3e9, 1e30, -1e30, 2.5, -2.5]
    dtype = np.dtype({"s": "i", "u": "u"}[to[0]] + str(int(to[1:]) // 8))
    wide = np.dtype(dtype.kind + "4") if dtype.itemsize < 4 else dtype
    found = apply(f"cvt.rzi.{to}.f32 $0, $1", [x], wide)
    limits = np.iinfo(dtype)
    of_nan = {"s64": -(1 << 63), "u64": 1 << 63}.get(to, 0)
    expected = [
        of_nan
        if np.isnan(v)
        else int(np.clip(np.trunc(np.float64(v)), limits.min, limits.max))
        if np.isfinite(v) and abs(v) < 2.0**62
        else int(limits.max if v > 0 else limits.min)
        for v in x
    ]
    assert found.tolist() == expected


@pytest.mark.parametrize(
    ("text", "come", "to"),
    [
        ("cvt.rn.f16.f32 $0, $1", np.float32, np.float16),
        ("cvt.f32.f16 $0, $1", np.float16, np.float32),
        ("cvt.rn.bf16.f32 $0, $1", np.float32, ml_dtypes.bfloat16),
        ("cvt.f32.bf16 $0, $1", ml_dtypes.bfloat16, np.float32),
        ("cvt.rn.f32.f64 $0, $1", np.float64, np.float32),
        ("cvt.rn.f32.s32 $0, $1", np.int32, np.float32),
        ("cvt.rn.f32.u64 $0, $1", np.uint64, np.float32),
        ("cvt.u32.u64 $0, $1", np.uint64, np.uint32),
        ("cvt.s64.s32 $0, $1", np.int32, np.int64),
        ("cvt.s64.s16 $0, $1", np.int16, np.int64),
        ("cvt.rni.f32.f32 $0, $1", np.float32, "rint"),
    ],
)
def test_conversions(text: str, come: Any, to: Any) -> None:
    is_integer = np.dtype(come).kind in "iu"
    x = integers(come) if is_integer else numbers(come)
    with np.errstate(all="ignore"):
        expected = np.rint(x) if isinstance(to, str) else x.astype(to)
    assert_same(apply(text, [x], expected.dtype), expected)


def test_packing_two_floats_puts_the_second_low() -> None:
    x, y = numbers(np.float32), numbers(np.float32)
    found = apply("cvt.rn.bf16x2.f32 $0, $1, $2", [x, y], np.uint32)
    pairs = found.view(ml_dtypes.bfloat16).reshape(-1, 2)
    assert_same(pairs[:, 0], y.astype(ml_dtypes.bfloat16))
    assert_same(pairs[:, 1], x.astype(ml_dtypes.bfloat16))


def test_moving_apart_and_together() -> None:
    x = integers(np.uint64)
    text = "mov.b64 {%r1, %r2}, $1; mov.b64 $0, {%r2, %r1}"
    found = apply(text, [x], np.uint64)
    np.testing.assert_array_equal(found, (x >> np.uint64(32)) | (x << np.uint64(32)))


def test_unknown_instructions_are_named_with_their_line() -> None:
    with pytest.raises(UnsupportedPtx, match=r"test, line \d+: instruction 'tex'"):
        apply("tex.1d.v4 $0, $1", [np.zeros(32, np.float32)], np.float32)
    with pytest.raises(UnsupportedPtx, match=r"modifier .sat of mul.u32, in mul.sat.u32"):
        apply("mul.sat.u32 $0, $1, $1", [np.zeros(32, np.uint32)], np.uint32)
