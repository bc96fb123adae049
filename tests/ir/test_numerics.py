"""Integers and conversions against Python's exact arithmetic."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gravure.ir import DTYPES, REGISTRY, Call, DType, EagerEmit, spec, spec_of_array
from gravure.ir.scalar_math import NumpyMath, Term
from gravure.ir.types import numerics
from gravure.ir.types.dtypes import bf16, c64, c128, f16, f32, f64, i8, i32, i64, u8, u64
from gravure.ir.types.numerics import round_to, saturate

pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")
"""Who evaluates silences numpy: here nobody does."""


def wrap(number: int, dtype: DType) -> int:
    """Return the value of the lowest bits."""
    low = number & ((1 << dtype.bits) - 1)
    return low - (1 << dtype.bits) if low > dtype.maximum else low


def truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1) if b else 0


def power(a: int, b: int) -> int:
    if b >= 0:
        return int(a**b)
    return int(a ** (-b % 2)) if abs(a) == 1 else 0


INTEGER_RULES: dict[str, Callable[[int, int], int]] = {
    "gv.add": lambda a, b: a + b,
    "gv.sub": lambda a, b: a - b,
    "gv.mul": lambda a, b: a * b,
    "gv.div": truncated,
    "gv.floor_divide": lambda a, b: a // b if b else 0,
    "gv.mod": lambda a, b: a % b if b else 0,
    "gv.fmod": lambda a, b: a - truncated(a, b) * b if b else 0,
    "gv.pow": power,
    "gv.minimum": min,
    "gv.maximum": max,
}


@pytest.mark.parametrize("dtype", [i8, u8], ids=str)
@pytest.mark.parametrize("name", INTEGER_RULES)
def test_integers_of_one_byte_are_exact_and_wrap(name: str, dtype: DType) -> None:
    values = range(dtype.minimum, dtype.maximum + 1, 3 if name == "gv.pow" else 1)
    a, b = (x.ravel() for x in np.meshgrid(np.array(values, dtype.numpy), values, indexing="ij"))
    pairs = a, b.astype(dtype.numpy)
    rule = INTEGER_RULES[name]
    wanted = np.array(
        [wrap(rule(int(x), int(y)), dtype) for x, y in zip(*pairs, strict=True)], dtype.numpy
    )
    np.testing.assert_array_equal(REGISTRY[name].evaluate(*pairs)[0], wanted)
    np.testing.assert_array_equal(REGISTRY[name].scalar(NumpyMath(), *pairs), wanted)


@pytest.mark.parametrize("dtype", [i8, u8, i64, u64], ids=str)
def test_shifts_by_any_amount_are_defined(dtype: DType) -> None:
    values = [v for v in (dtype.minimum, -77, -1, 0, 1, 77, dtype.maximum) if v >= dtype.minimum]
    amounts = [v for v in (-1, 0, 1, dtype.bits - 1, dtype.bits, 100) if v >= dtype.minimum]
    for value in values:
        for amount in amounts:
            x, y = np.array(value, dtype.numpy), np.array(amount, dtype.numpy)
            shift = amount if 0 <= amount < dtype.bits else dtype.bits
            left = REGISTRY["gv.shift_left"].evaluate(x, y)[0]
            right = REGISTRY["gv.shift_right"].evaluate(x, y)[0]
            assert left == wrap(value << shift, dtype)
            assert right == value >> shift


@pytest.mark.parametrize("dtype", [t for t in DTYPES.values() if t.is_integer], ids=str)
@pytest.mark.parametrize("source", [f64, f32, f16, bf16], ids=str)
def test_float_to_integer_truncates_and_saturates(source: DType, dtype: DType) -> None:
    values = [0.0, -0.0, 0.9, -0.9, 1.5, -1.5, 100.7, 254.9, 300.0, -300.0, 3e9, -3e9, 1e19, -1e19]
    edges = [float(dtype.minimum), float(dtype.maximum), 2.0**63, 2.0**64, -(2.0**63)]
    x = round_to(np.array([*values, *edges]), source)
    wanted = [
        0 if not np.isfinite(v) else min(max(math.trunc(float(v)), dtype.minimum), dtype.maximum)
        for v in np.where(np.isinf(x.astype(f64.numpy)), 0, x)
    ]
    kept = np.isfinite(x.astype(f64.numpy))
    assert [int(v) for v in saturate(x, dtype)[kept]] == np.array(wanted, object)[kept].tolist()
    odd = saturate(np.array([np.nan, np.inf, -np.inf], source.numpy), dtype)
    assert odd.tolist() == [0, dtype.maximum, dtype.minimum]


def test_narrower_integers_drop_the_upper_bits() -> None:
    x = np.array([300, -1, 2**31, -(2**63)], np.int64)
    assert saturate(x, i8).tolist() == [44, -1, 0, 0]
    assert saturate(x, u8).tolist() == [44, 255, 0, 0]
    assert saturate(x, i32).tolist() == [300, -1, -(2**31), 0]


def test_bool_is_whether_it_is_not_zero() -> None:
    x = np.array([0.0, -0.0, 1e-45, np.nan, np.inf], np.float32)
    assert saturate(x, DTYPES["bool"]).tolist() == [False, False, True, True, True]


def nearest(number: Fraction, bits: int) -> float:
    """Return a positive number rounded to so many significant bits, ties to even."""
    exponent = number.numerator.bit_length() - number.denominator.bit_length()
    scale = Fraction(2) ** (bits - exponent)
    while number * scale >= 2**bits:
        scale /= 2
    return float(round(number * scale) / scale)


def test_doubles_are_rounded_to_bfloat16_once() -> None:
    random = np.random.default_rng(3)
    ties = 1.0 + (2 * random.integers(0, 128, 200) + 1) / 256.0
    x = np.concatenate([ties, ties + 2.0**-40, ties - 2.0**-40, random.uniform(0.5, 4.0, 400)])
    wanted = [nearest(Fraction(float(v)), 8) for v in x]
    assert round_to(x, bf16).astype(f64.numpy).tolist() == wanted
    assert round_to(-x, bf16).astype(f64.numpy).tolist() == [-v for v in wanted]


def test_doubles_next_to_the_middle_are_rounded_once_where_numbers_are_few() -> None:
    few = np.array([3, 3 + 2.0**-30, 3 - 2.0**-30, 1, 1 - 2.0**-30, 6.5]) * 2.0**-134
    for x in (few, *few[:, None], few[5:].reshape(())):
        found = round_to(x, bf16).astype(f64.numpy) * 2.0**133
        wanted = dict(zip(few.tolist(), [2, 2, 1, 0, 0, 3], strict=True))
        assert found.ravel().tolist() == [wanted[v] for v in x.ravel().tolist()]


def test_special_doubles_stay_special_as_bfloat16() -> None:
    x = round_to(np.array([np.nan, np.inf, -np.inf, 1e300, 1e-300, -0.0]), bf16)
    assert x.dtype == ml_dtypes.bfloat16
    assert str(x.astype(np.float64).tolist()) == "[nan, inf, -inf, inf, 0.0, -0.0]"


def test_evaluation_rounds_narrow_floats_once() -> None:
    x = np.linspace(-3, 3, 200).astype(np.float16)
    found = REGISTRY["gv.sigmoid"].evaluate(x)[0]
    wanted = 1 / (1 + np.exp(-x.astype(np.float64)))
    np.testing.assert_array_equal(found, wanted.astype(np.float16))


def test_sum_of_halves_does_not_stop_growing() -> None:
    ones = np.ones(5000, np.float16)
    total = REGISTRY["gv.sum"].evaluate(ones, axes=(0,), keepdims=False)[0]
    assert total == np.float16(5000)


def test_mean_of_halves_does_not_overflow() -> None:
    x = np.full(1000, 60000, np.float16)
    assert REGISTRY["gv.mean"].evaluate(x, axes=(0,), keepdims=False)[0] == np.float16(60000)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("name", ["gv.argmax", "gv.argmin"])
def test_place_of_an_extreme_is_the_first_or_last_of_equal_ones(name: str, last: bool) -> None:
    x = np.array([[1, 2, 2, 1], [5, 5, 5, 5]], np.int32)
    wanted = {"gv.argmax": [[1, 0], [2, 3]], "gv.argmin": [[0, 0], [3, 3]]}[name][last]
    found = REGISTRY[name].evaluate(x, axis=1, keepdims=False, last=last)[0]
    assert found.tolist() == wanted


def test_extremes_of_nan_are_nan_and_its_place() -> None:
    x = np.array([1.0, np.nan, 3.0, np.nan], np.float32)
    assert np.isnan(REGISTRY["gv.max"].evaluate(x, axes=(0,), keepdims=False)[0])
    assert np.isnan(REGISTRY["gv.min"].evaluate(x, axes=(0,), keepdims=False)[0])
    assert REGISTRY["gv.argmax"].evaluate(x, axis=0, keepdims=False, last=False)[0] == 1
    assert REGISTRY["gv.argmin"].evaluate(x, axis=0, keepdims=False, last=True)[0] == 3


def test_numbers_beside_a_term_take_its_type() -> None:
    x = Term(NumpyMath(), np.array([1, 2], np.int8))
    for made in (x + 1, 1 - x, x * 2, -x):
        assert made.value.dtype == np.int8
    half = Term(NumpyMath(), np.array([1.0], np.float16))
    assert (1 / half).value.dtype == np.float16


@pytest.mark.parametrize(
    ("op", "operands", "message"),
    [
        ("gv.sqrt", [i32], "element type i32, expected a float or a complex number"),
        ("gv.logical_and", [f32, f32], "element type f32, expected bool"),
        ("gv.bitwise_or", [f32, f32], "element type f32, expected an integer"),
        ("gv.add", [DTYPES["bool"]] * 2, "element type bool, expected a number"),
        ("gv.less", [DTYPES["c64"]] * 2, "element type c64, expected an integer or a float"),
        ("gv.mul", [f32, f64], "element types differ: f32 and f64"),
        ("gv.select", [f32, f32, f32], "element type f32, expected bool"),
        ("gv.select", [DTYPES["bool"], f32, i32], "element types differ: f32 and i32"),
    ],
)
def test_element_types_are_checked(op: str, operands: list[DType], message: str) -> None:
    with pytest.raises(TypeError) as raised:
        REGISTRY[op].infer(*(spec(dtype, 2) for dtype in operands))
    assert str(raised.value) == message


def test_attributes_are_checked() -> None:
    x = spec(f32, 3, 0)
    for op, attributes, message in (
        ("gv.max", {"axes": (1,)}, "axis 1 is empty, expected at least one element"),
        ("gv.argmax", {"axis": -1}, "axis -1 is empty, expected at least one element"),
        ("gv.sum", {"axes": (0, -2)}, "axes (0, -2) name an axis twice"),
        ("gv.sum", {"axes": (2,)}, "axis 2 is out of range for rank 2"),
        ("gv.cumsum", {"axis": 2}, "axis 2 is out of range for rank 2"),
        ("gv.gelu", {"approximate": "erf"}, "approximate is 'erf', expected 'none' or 'tanh'"),
        ("gv.celu", {"alpha": 0.0}, "alpha is 0, expected another number"),
    ):
        with pytest.raises(TypeError) as raised:
            REGISTRY[op].infer(x, **attributes)
        assert str(raised.value) == message


def test_the_gradient_of_complex_numbers_takes_conjugates() -> None:
    x, grad = (np.array([z], np.complex64) for z in (2 - 1j, 1 + 3j))
    for name, slope in (("neg", -1), ("exp", np.exp(x)), ("reciprocal", -1 / (x * x))):
        op = REGISTRY[f"gv.{name}"]
        call = Call(op, [x], op.evaluate(x), {}, [spec_of_array(x)], EagerEmit())
        (found,) = op.gradient(call, grad)
        np.testing.assert_allclose(found, grad * np.conj(slope), rtol=1e-6)


def emit_count(op: str, *shapes: tuple[int, ...]) -> list[str]:
    """Return what the gradient of an operation emits, by name."""
    arrays: list[Any] = [np.ones(shape, np.float32) for shape in shapes]
    names: list[str] = []

    def emit(made: Any, *operands: Any, **attributes: Any) -> Any:
        names.append(made.name)
        return EagerEmit()(made, *operands, **attributes)

    (result,) = REGISTRY[op].evaluate(*arrays)
    call = Call(REGISTRY[op], arrays, [result], {}, list(map(spec_of_array, arrays)), emit)
    grads = REGISTRY[op].gradient(call, np.ones_like(result))
    assert [g.shape for g in grads] == list(shapes)
    return names


def test_gradient_sums_only_what_was_broadcast() -> None:
    assert emit_count("gv.add", (2, 3), (2, 3)) == []
    assert emit_count("gv.add", (2, 3), (3,)) == ["gv.sum"]
    assert emit_count("gv.add", (2, 3), (2, 1)) == ["gv.sum"]
    assert emit_count("gv.add", (4, 2, 3), (2, 1)) == ["gv.sum", "gv.reshape"]


@pytest.mark.parametrize("dtype", [i8, u8], ids=str)
def test_quotients_and_remainders_of_all_integers_of_8_bits_are_pythons(dtype: DType) -> None:
    every = np.arange(dtype.minimum, dtype.maximum + 1).astype(dtype.numpy)
    x, y = every[:, None], every[None]
    wide = [(int(a), int(b)) for a in every for b in every]
    for function, exact in (
        (numerics.floor_divide, lambda a, b: a // b),
        (numerics.floor_remainder, lambda a, b: a % b),
        (numerics.truncated_divide, truncated),
        (numerics.truncated_remainder, lambda a, b: a - b * truncated(a, b)),
    ):
        wanted = [wrap(exact(a, b), dtype) if b else 0 for a, b in wide]
        np.testing.assert_array_equal(function(x, y).ravel(), wanted)


@pytest.mark.parametrize("row", [f16, bf16, f64, c64, c128])
def test_one_element_everywhere_has_its_bits(row: DType) -> None:
    for value in (1.5, -0.0, np.nan):
        one = np.array(value).astype(row.numpy)
        wanted = np.full((3, 4), one, row.numpy)
        spread = np.broadcast_to(one, (3, 4))
        made = numerics.own(spread)
        assert made.flags.writeable
        assert made.tobytes() == wanted.tobytes()
        numerics.fill(made, value)
        assert made.tobytes() == wanted.tobytes()
    assert numerics.own(one).tobytes() == one.tobytes()
    assert numerics.own(np.broadcast_to(one, (0, 2))).shape == (0, 2)
    assert numerics.own(made.T).tobytes() == made.T.tobytes()
