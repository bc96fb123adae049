"""Matrices that are small enough for loops, and those just beyond: inverses, determinants."""

from __future__ import annotations

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.eager.in_loops import FEW, FIT, IN_LOOPS
from gravure.ir.op import Array
from gravure.ir.ops.factor import Inverse, LogDeterminant, Solve


def drawn(n: int, dtype: str, *batch: int) -> Array:
    """Return matrices whose pivots lie anywhere."""
    return np.random.default_rng(n).normal(size=(*batch, n, n)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, 17, 40, FIT, FIT + 1])
def test_inverses_and_determinants_are_those_of_lapack(n: int, dtype: str) -> None:
    tolerance = 1e-3 if dtype == "float32" else 1e-8
    for x in (drawn(n, dtype), drawn(n, dtype, 2, 3)):
        np.testing.assert_allclose(
            IN_LOOPS[Inverse]()(x), np.linalg.inv(x), rtol=tolerance, atol=tolerance
        )
        for one, other in zip(IN_LOOPS[LogDeterminant]()(x), np.linalg.slogdet(x), strict=True):
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("n", [1, 2, 3, FEW, FEW + 1, 40])
def test_solutions_are_those_of_lapack(n: int, dtype: str) -> None:
    tolerance = 1e-3 if dtype == "float32" else 1e-8
    b = np.random.default_rng(7).normal(size=(2, 3, n, 2)).astype(dtype)
    for x in (drawn(n, dtype), drawn(n, dtype, 3), drawn(n, dtype, 2, 3)):
        for right in (b, b[0, :, :, :1], b[:, :, :, :0]):
            found = IN_LOOPS[Solve]()(x, right)
            wanted = np.linalg.solve(x, right)
            assert found.dtype == wanted.dtype
            np.testing.assert_allclose(found, wanted, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("n", [2, FEW, 40])
def test_systems_without_one_solution_are_refused(n: int) -> None:
    batch, b = drawn(n, "float64", 3), np.ones((3, n, 2))
    batch[1, :, n // 2] = 0
    for _ in range(4):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            tf.linalg.solve(tf.constant(batch), b)
    batch[1] = np.nan
    with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
        tf.linalg.solve(tf.constant(batch), b)
    batch[1] = np.eye(n) * 2
    np.testing.assert_array_equal(tf.linalg.solve(tf.constant(batch), b)[1], b[1] / 2)


@pytest.mark.parametrize("n", [1, 2, 40, FIT + 1])
def test_matrices_without_an_inverse_are_refused(n: int) -> None:
    batch = drawn(n, "float64", 3)
    batch[1, :, n // 2] = 0
    for x in (batch, batch[1]):
        for _ in range(4):
            with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
                tf.linalg.inv(tf.constant(x))
    batch[1] = np.nan
    for _ in range(4):
        with pytest.raises(tf.errors.InvalidArgumentError, match="not invertible"):
            tf.linalg.inv(tf.constant(batch))
    batch[1] = np.eye(n) * 2
    assert np.isfinite(tf.linalg.inv(tf.constant(batch)).numpy()).all()


@pytest.mark.parametrize("n", [1, 3, 40, FIT + 1])
def test_pivots_without_end_have_a_sign_and_those_of_zero_have_none(n: int) -> None:
    endless, none = np.eye(n), np.eye(n)
    endless[n // 2, n // 2] = -np.inf
    none[0, 0] = np.inf if n <= FIT else 2  # (LAPACK's blocks multiply it by zeros)
    none[-1, -1] = 0
    unknown = np.eye(n) * -2
    unknown[-1, -1] = np.nan
    for _ in range(3):
        sign, size = tf.linalg.slogdet(tf.constant([endless, none, unknown]))
        np.testing.assert_array_equal(sign, [-1, 0, np.nan])
        np.testing.assert_array_equal(size, [np.inf, -np.inf, np.nan])
