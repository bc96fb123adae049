"""Inverses and their kin on matrices that need pivots, evaluated and decomposed."""

from typing import Any

import numpy as np
import pytest

from gravure.ir import REGISTRY, Call, EagerEmit, spec, spec_of_array
from gravure.ir.types import dims, dtypes

RNG = np.random.default_rng(0)
PIVOTED = np.array([[0.0, 2.0, 1.0], [1.0, 0.0, 3.0], [2.0, 1.0, 0.0]])
BATCH = RNG.normal(size=(4, 5, 5))
POSITIVE = BATCH @ BATCH.transpose(0, 2, 1) + np.eye(5)


def both(name: str, *operands: Any) -> tuple[Any, Any]:
    """Return what an operation evaluates to and what it decomposes to."""
    op = REGISTRY[f"gv.{name}"]
    specs = [spec_of_array(x) for x in operands]
    results = op.inferred(specs, {})
    call = Call(op, operands, (), {}, specs, EagerEmit(), results)
    return op.evaluate(*operands)[0], op.decompose(call)


@pytest.mark.parametrize("matrix", [PIVOTED, BATCH, np.eye(1), np.eye(4)[[2, 0, 3, 1]]])
def test_elimination_finds_pivots(matrix: Any) -> None:
    for found in both("inverse", matrix):
        np.testing.assert_allclose(found @ matrix, np.broadcast_to(np.eye(len(matrix[0])),
                                   matrix.shape), atol=1e-9)  # fmt: skip
    for found in both("determinant", matrix):
        np.testing.assert_allclose(found, np.linalg.det(matrix), rtol=1e-9)
    right = RNG.normal(size=(*matrix.shape[:-1], 2))
    for found in both("solve", matrix, right):
        np.testing.assert_allclose(matrix @ found, right, atol=1e-9)


def test_a_singular_matrix_has_determinant_0_at_the_last_pivot() -> None:
    matrix = np.array([[1.0, 2.0], [2.0, 4.0]])
    for found in both("determinant", matrix):
        assert found == pytest.approx(0.0)


def test_a_matrix_of_equal_rows_has_determinant_0_whatever_is_behind_a_pivot_of_zero() -> None:
    with np.errstate(all="ignore"):
        for matrix in (np.ones((4, 4)), np.zeros((3, 3)), np.diag([1.0, 0, 2])):
            assert [float(found) for found in both("determinant", matrix)] == [0, 0]


@pytest.mark.parametrize("size", [3, 120])
def test_determinants_that_have_no_float_have_a_logarithm(size: int) -> None:
    op, matrix = REGISTRY["gv.log_determinant"], 1e9 * RNG.normal(size=(2, size, size))
    specs = [spec_of_array(matrix)]
    call = Call(op, (matrix,), (), {}, specs, EagerEmit(), op.inferred(specs, {}))
    for sign, logarithm in (op.evaluate(matrix), op.decompose(call)):
        wanted = np.linalg.slogdet(matrix)
        np.testing.assert_array_equal(sign, wanted[0])
        np.testing.assert_allclose(logarithm, wanted[1])


def test_a_singular_matrix_has_no_logarithm_but_one_that_is_unknown_is() -> None:
    op = REGISTRY["gv.log_determinant"]
    matrix = np.array([[[0.0, 0, 0], [0, 1, 2], [0, 3, 4]], [[1, 2, 3], [np.nan, 1, 2], [4, 5, 7]]])
    specs = [spec_of_array(matrix)]
    call = Call(op, (matrix,), (), {}, specs, EagerEmit(), op.inferred(specs, {}))
    with np.errstate(all="ignore"):
        both_ways = op.evaluate(matrix), op.decompose(call)
    for sign, logarithm in both_ways:
        np.testing.assert_array_equal(sign, [0, np.nan])
        np.testing.assert_array_equal(logarithm, [-np.inf, np.nan])


@pytest.mark.parametrize("matrix", [PIVOTED, BATCH, np.eye(1), np.eye(4)[[2, 0, 3, 1]]])
def test_triangles_of_matrices_give_their_rows_back(matrix: Any) -> None:
    op, n = REGISTRY["gv.lu"], matrix.shape[-1]
    specs = [spec_of_array(matrix)]
    call = Call(op, (matrix,), (), {}, specs, EagerEmit(), op.inferred(specs, {}))
    for both, order in (op.evaluate(matrix), op.decompose(call)):
        product = (np.tril(both, -1) + np.eye(n)) @ np.triu(both)
        np.testing.assert_allclose(product, np.take_along_axis(matrix, order[..., None], -2),
                                   atol=1e-12)  # fmt: skip
        assert (np.abs(np.tril(both, -1)) <= 1).all()


def test_roots_of_matrices_give_them_back() -> None:
    for found in both("cholesky", POSITIVE):
        np.testing.assert_allclose(found, np.tril(found))
        np.testing.assert_allclose(found @ found.transpose(0, 2, 1), POSITIVE, rtol=1e-9)


def test_the_gradient_of_a_root_is_the_slope_along_symmetric_matrices() -> None:
    op, step = REGISTRY["gv.cholesky"], 1e-6
    weight = np.tril(RNG.normal(size=(4, 5, 5)))
    direction = RNG.normal(size=(4, 5, 5))
    direction = direction + direction.transpose(0, 2, 1)
    (lower,) = op.evaluate(POSITIVE)
    specs = [spec_of_array(POSITIVE)]
    call = Call(op, (POSITIVE,), (lower,), {}, specs, EagerEmit(), specs)
    (grad,) = op.gradient(call, weight)
    up, down = (op.evaluate(POSITIVE + s * step * direction)[0] for s in (1, -1))
    slope = np.sum(weight * (up - down)) / (2 * step)
    assert np.sum(grad * direction) == pytest.approx(slope, rel=1e-6)


@pytest.mark.parametrize("shape", [(3,), (2, 3), (dims.symbol("N"), dims.symbol("N"))])
def test_matrices_are_square_and_of_a_known_size(shape: Any) -> None:
    with pytest.raises(TypeError, match=r"gv.inverse: .*expected"):
        REGISTRY["gv.inverse"].inferred([spec(dtypes.f32, *shape)], {})
