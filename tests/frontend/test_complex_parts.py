"""Functions of complex numbers by compiled code on their parts: numpy's values, by C's rules."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.eager import compiled_notes, complex_parts
from gravure.frontend.eager.complex_parts import Kernel, of_formula, products_along
from gravure.ir import REGISTRY
from gravure.ir.types.dtypes import of_numpy
from gravure.ir.types.numerics import complex_absolute, complex_divide, complex_multiply

NAMES = ("exp", "log", "sin", "cos", "sqrt", "tanh", "tan", "sinh", "cosh", "expm1", "log1p")
ENDS = (0.0, -0.0, 1.5, -2.5, np.inf, -np.inf, np.nan)
TYPES = (np.complex64, np.complex128)


def drawn(dtype: object, count: int, scale: float = 3.0) -> np.ndarray:
    rng = np.random.default_rng(count)
    return (rng.normal(size=count) + 1j * rng.normal(size=count)).astype(dtype) * scale


def formula(name: str, dtype: type) -> Kernel:
    return of_formula(REGISTRY[f"gv.{name}"], of_numpy(dtype))


def precise(name: str, z: np.ndarray) -> np.ndarray:
    with np.errstate(all="ignore"):
        return getattr(np, name)(z.astype(np.clongdouble))


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", NAMES)
def test_functions_are_near_the_true_ones(name: str, dtype: type) -> None:
    z = np.concatenate([drawn(dtype, 3000), drawn(dtype, 500, 1e-4), drawn(dtype, 500, 15.0)])
    found, wanted = formula(name, dtype)(z), precise(name, z)
    assert found.dtype == dtype
    error = np.abs(found - wanted) / np.abs(wanted)
    assert error.max() < 40 * np.finfo(dtype).eps


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("name", ["exp", "sin", "cos", "sqrt", "tanh", "sinh", "cosh", "log"])
def test_values_that_are_not_finite_are_those_of_c(name: str, dtype: type) -> None:
    z = np.array([complex(a, b) for a, b in itertools.product(ENDS, ENDS)], dtype)
    found = formula(name, dtype)(z)
    with np.errstate(all="ignore"):
        wanted = getattr(np, name)(z)
    for part in ("real", "imag"):
        a, b = getattr(found, part), getattr(wanted, part)
        same = np.isclose(a, b, rtol=1e-5) | (np.isnan(a) & np.isnan(b)) | (a == b)
        # a zero's or an infinity's sign that C leaves open, and what it lets be NaN or not
        loose = np.isnan(z.real) | np.isnan(z.imag) | (np.isinf(z.real) & np.isinf(z.imag))
        assert (same | loose).all(), [
            (x, y, w) for x, y, w, s in zip(z, found, wanted, same | loose, strict=True) if not s
        ]


@pytest.mark.parametrize("dtype", TYPES)
def test_large_values_do_not_overflow_before_their_time(dtype: type) -> None:
    top = {np.complex64: 88.9, np.complex128: 710.0}[dtype]
    z = np.array([complex(top, 0.785), complex(0.785, top), complex(-0.785, -top)], dtype)
    for name in ("exp", "sin", "cos", "sinh", "cosh"):
        found, wanted = formula(name, dtype)(z), precise(name, z)
        np.testing.assert_allclose(found, wanted.astype(dtype), rtol=2e-4)
    huge = np.array([complex(1e300, 1e300), complex(3e-308, 4e-308)], np.complex128)
    np.testing.assert_allclose(formula("sqrt", np.complex128)(huge), np.sqrt(huge), rtol=1e-14)
    np.testing.assert_allclose(formula("log", np.complex128)(huge), np.log(huge), rtol=1e-14)


def test_logarithms_near_1_are_precise() -> None:
    z = 1 + drawn(np.complex128, 1000, 1e-7)
    found, wanted = formula("log", np.complex128)(z), precise("log", z)
    assert (np.abs(found.real - wanted.real) <= 1e-9 * np.abs(wanted.real) + 1e-22).all()


@pytest.mark.parametrize("dtype", TYPES)
def test_powers(dtype: type) -> None:
    z, w = drawn(dtype, 500, 1.0), drawn(dtype, 500, 1.0)
    power = formula("pow", dtype)
    np.testing.assert_allclose(power(z, w), precise("log", z) * 0 + np.power(z, w), rtol=2e-6)
    zero = np.zeros(3, dtype)
    found = power(zero, np.array([0, 2, 0.5], dtype))
    assert found.tolist() == [1, 0, 0]


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (), (0, 3), (4097,)])
def test_quotients_and_products_have_one_kind_of_bits(dtype: type, shape: tuple[int, ...]) -> None:
    count = int(np.prod(shape))
    a, b = drawn(dtype, count).reshape(shape), drawn(dtype, count + 1)[1:].reshape(shape)
    found = formula("div", dtype)(a, b)
    with np.errstate(all="ignore"):
        assert np.array_equal(found, complex_divide(a, b))
    assert np.array_equal(formula("mul", dtype)(a, b), complex_multiply(a, b))


@pytest.mark.parametrize("dtype", TYPES)
def test_sizes_have_one_kind_of_bits(dtype: type) -> None:
    z = drawn(dtype, 999)
    ends = np.array([complex(a, b) for a, b in itertools.product(ENDS, ENDS)], dtype)
    for each in (z, ends, z[:0]):
        with np.errstate(all="ignore"):
            steps = complex_absolute(each)
        found = formula("abs", dtype)(each)
        assert found.dtype == steps.dtype
        assert np.array_equal(found, steps, equal_nan=True)
        np.testing.assert_allclose(found, np.abs(each), rtol=4 * np.finfo(dtype).eps)


SPOTS = [((40, 30), (1,)), ((40, 30), (0,)), ((7, 4, 9, 3), (1, 3)), ((7, 4, 9, 3), (-3, -2)),
         ((2, 1), (1,)), ((0, 4), (0,)), ((4, 0), (0,)), ((4, 0), (1,)), ((5,), (0,)),
         ((19, 61), (1,)), ((3, 1000), (1,)), ((35, 5), (0,)), ((17, 16), (1,))]  # fmt: skip


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize(("shape", "axes"), SPOTS)
def test_products_along_axes_have_the_bits_of_the_operation(
    shape: tuple[int, ...], axes: tuple[int, ...], dtype: type
) -> None:
    z = drawn(dtype, int(np.prod(shape)), 1.0).reshape(shape)
    for keepdims in (True, False):
        (wanted,) = REGISTRY["gv.prod"].evaluate(z, axes=axes, keepdims=keepdims)
        found = products_along(z, axes=axes, keepdims=keepdims)
        assert found.shape == wanted.shape
        assert found.tobytes() == wanted.tobytes()
        staged = tf.function(lambda x: tf.reduce_prod(x, axes, keepdims))  # noqa: B023
        assert found.tobytes() == staged(z).numpy().tobytes() == staged(z).numpy().tobytes()
        at_once = tf.reduce_prod(tf.constant(z), axes, keepdims)
        assert found.tobytes() == at_once.numpy().tobytes()
        by_numpy = np.multiply.reduce(z, axis=axes, keepdims=keepdims)
        np.testing.assert_allclose(found, by_numpy, rtol=1e-4)


@pytest.mark.parametrize("dtype", TYPES)
@pytest.mark.parametrize("count", [3, 100, 4096, 4097, 9000])
def test_many_are_put_together_and_compared_like_few(count: int, dtype: type) -> None:
    z, w = drawn(dtype, count), drawn(dtype, count + 1)[1:]
    z[::7] = w[::7]
    z[1], w[1] = complex(np.nan, 1), complex(np.nan, 1)
    z[2], w[2] = complex(-0.0, 1), complex(0.0, 1)
    ends = {"equal": np.equal, "not_equal": np.not_equal}
    for name, by_numpy in ends.items():
        compared = getattr(tf, name)
        for other in (w, w[:1]):
            assert compared(tf.constant(z), tf.constant(other)).numpy().tolist() == (
                by_numpy(z, other).tolist()
            )
    real, imag = tf.constant(z.real), tf.constant(w.imag)
    made = tf.complex(real, imag).numpy()
    assert made.dtype == dtype
    assert made.real.tobytes() == z.real.tobytes()
    assert made.imag.tobytes() == w.imag.tobytes()
    assert (tf.complex(real[:, None], imag[:2]).numpy().imag == w.imag[:2]).all()


@pytest.mark.parametrize("count", [5, 4096, 4097, 9000])
def test_wide_functions_are_the_same_however_many_there_are(count: int) -> None:
    z, w = drawn(np.complex128, count), drawn(np.complex128, count + 1)[1:]
    quotients, roots = formula("div", np.complex128), formula("sqrt", np.complex128)
    assert quotients(z, w).tobytes() == complex_divide(z, w).tobytes()
    assert quotients(z, w[:1]).tobytes() == complex_divide(z, w[:1]).tobytes()
    with np.errstate(all="ignore"):
        assert np.isnan(quotients(z[:2], w[:2] * 0)).all()
    one_by_one = np.concatenate([roots(z[i : i + 1]) for i in (0, count // 2, count - 1)])
    assert roots(z)[[0, count // 2, count - 1]].tobytes() == one_by_one.tobytes()


def test_a_compiled_product_is_what_is_written() -> None:
    function = complex_parts._multiply_along
    for dtype, part in zip(TYPES, (np.float32, np.float64), strict=True):
        z = drawn(dtype, 2 * 7 * 3, 1.0).view(part)
        made = [np.empty(2 * 2 * 3, part) for _ in range(2)]
        for each, run in zip(made, (function, function.function), strict=True):
            run(z, np.empty(24, part), np.empty(24, part), each, 7, 3)
        assert made[0].tobytes() == made[1].tobytes()


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_sums_of_many_numbers_are_compiled_part_by_part(dtype, monkeypatch):
    called = []
    parts = compiled_notes._of_parts
    monkeypatch.setattr(
        compiled_notes, "_of_parts", lambda *given: called.append(1) or parts(*given)
    )
    random = np.random.default_rng(4)
    whole = random.standard_normal((3, 400, 500)) + 1j * random.standard_normal((3, 400, 500))
    xs = [tf.constant(x.astype(dtype)) for x in whole]
    xs[1] = tf.transpose(tf.constant(np.ascontiguousarray(xs[1].numpy().T)))
    for _ in range(4):
        found = tf.add_n(xs)
        assert found.dtype == dtype
        assert (
            found.numpy().tobytes() == ((xs[0].numpy() + xs[1].numpy()) + xs[2].numpy()).tobytes()
        )
    assert called
