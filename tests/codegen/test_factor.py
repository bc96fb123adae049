"""The kernels of triangles, determinants and square roots of matrices: as in `test_solve`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import Array, check_kernel, tensor

from gravure import tf
from gravure.codegen import single
from gravure.ir import REGISTRY, TensorSpec
from gravure.ir.types.dtypes import DType, f32, f64, i64

RANDOM = np.random.default_rng(6)
OPS = ("determinant", "log_determinant", "cholesky", "lu")
TOLERANCE: dict[DType, float] = {f32: 5e-4, f64: 1e-11}


def factors(op: str, *shape: int | str, dtype: DType = f32) -> str:
    """Return the kernel function of an operation on matrices."""
    a = tensor(*shape, dtype=dtype)
    each = tensor(*shape[:-2], dtype=dtype)
    rows = tensor(*shape[:-1], dtype=i64)
    made = {
        "cholesky": [a],
        "determinant": [each],
        "log_determinant": [each, each],
        "lu": [a, rows],
    }[op]
    several, results = f"({', '.join(made)})", ", ".join(f"%r#{i}" for i in range(len(made)))
    known = 'gv.symbols = ["B"], ' if "B" in shape else ""
    return (
        f'func.func @k(%a: {a}) -> {several} attributes {{{known}gv.kind = "factor"}} {{\n'
        f"  %r:{len(made)} = gv.{op} %a : ({a}) -> {several}\n"
        f"  func.return {results} : {', '.join(made)}\n}}"
    )


def matrices(*shape: int, dtype: DType = f32) -> Array:
    """Return matrices whose largest elements stand anywhere."""
    n = shape[-1]
    made = RANDOM.uniform(-1, 1, shape) + np.sqrt(n) * np.eye(n)[RANDOM.permutation(n)]
    return made.astype(dtype.numpy)


def positive(*shape: int, dtype: DType = f32) -> Array:
    """Return symmetric positive matrices, beside whose lower part something else stands."""
    made = RANDOM.uniform(-1, 1, shape)
    made = made @ np.swapaxes(made, -1, -2) + np.eye(shape[-1])
    return np.where(np.tri(shape[-1], dtype=bool), made, np.nan).astype(dtype.numpy)


@pytest.mark.sweep
@pytest.mark.parametrize("dtype", [f32, f64], ids=str)
@pytest.mark.parametrize("shape", [(1, 1), (2, 2), (16, 16), (2, 19, 19), (3, 2, 5, 5), (90, 90)])
def test_kernels_are_their_evaluation(shape: tuple[int, ...], dtype: DType) -> None:
    given = {"cholesky": positive(*shape, dtype=dtype)}
    for op in OPS:
        a = given.get(op, matrices(*shape, dtype=dtype))
        check_kernel(factors(op, *shape, dtype=dtype), [a], rtol=TOLERANCE[dtype])


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("target", ["x86-64-v2", "x86-64-v3"])
def test_processors_without_fused_products_or_with_short_vectors(op: str, target: str) -> None:
    make = positive if op == "cholesky" else matrices
    check_kernel(factors(op, 2, 9, 9), [make(2, 9, 9)], rtol=5e-4, target=target)


@pytest.mark.parametrize("op", OPS)
def test_how_many_matrices_may_be_known_in_the_run_only(op: str) -> None:
    make = positive if op == "cholesky" else matrices
    check_kernel(factors(op, "B", 6, 6), [make(5, 6, 6)], symbols={"B": 5}, rtol=5e-4)


def kernel(op: str, *shape: int) -> Any:
    return single.whole(REGISTRY[f"gv.{op}"], [TensorSpec(f32, shape)], {})


def test_behind_a_pivot_of_zero_nothing_counts() -> None:
    singular = np.ones((4, 4), np.float32)
    late = np.diag(np.float32([1, 0, 2, 3]))
    for matrix in (singular, np.zeros((3, 3), np.float32), late):
        assert kernel("determinant", *matrix.shape)(matrix) == 0
        found = tf.function(tf.linalg.slogdet)(tf.constant(matrix))
        assert [float(x) for x in found] == [0, -np.inf]
    late[3, 3] = np.nan
    assert kernel("determinant", 4, 4)(late) == 0
    late[1, 1] = 1
    assert np.isnan(kernel("determinant", 4, 4)(late))


def test_triangles_stop_at_no_unknown_number() -> None:
    """A number is a better pivot than NaN; NaN in the first place stays there."""
    late = np.eye(4, dtype=np.float32)
    late[1, 1], late[2, 1] = np.nan, 2.0
    first = np.array([[np.nan, 1], [2, 3]], np.float32)
    for matrix in (late, first, np.diag(np.float32([1, 0, 2, 3])), np.zeros((3, 3), np.float32)):
        found, wanted = kernel("lu", *matrix.shape)(matrix), REGISTRY["gv.lu"].evaluate(matrix)
        for got, want in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(got, want)


def test_the_triangles_of_one_matrix_are_those_of_it_in_a_batch() -> None:
    a = matrices(3, 70, 70)
    both, order = kernel("lu", 3, 70, 70)(a)
    for i, each in enumerate(a):
        one, rows = kernel("lu", 70, 70)(each)
        np.testing.assert_array_equal(one, both[i])
        np.testing.assert_array_equal(rows, order[i])
        lower, upper = np.tril(one, -1) + np.eye(70), np.triu(one)
        np.testing.assert_allclose(lower @ upper, each[rows], atol=1e-4)


@pytest.mark.parametrize("wrong", [-1.0, 0.0, np.nan])
@pytest.mark.parametrize("place", [0, 7, 19])
def test_a_matrix_that_is_not_positive_has_no_triangle(wrong: float, place: int) -> None:
    pair = np.array([np.eye(20), np.eye(20)], np.float32)
    pair[0, place, place] = wrong
    found = kernel("cholesky", 2, 20, 20)(pair)
    np.testing.assert_array_equal(found[0], np.where(np.tri(20, dtype=bool), np.nan, 0))
    np.testing.assert_array_equal(found[1], np.eye(20))


@pytest.mark.parametrize("shape", [(0, 3, 3), (2, 0, 0), (0, 0)])
def test_no_rows_and_no_matrices(shape: tuple[int, ...]) -> None:
    empty = tf.zeros(shape)
    for make in (tf.linalg.det, tf.linalg.cholesky, lambda x: tf.linalg.slogdet(x)[1]):
        wanted, found = make(empty), tf.function(make)(empty)
        np.testing.assert_array_equal(found, wanted)
