"""Functions of numbers that Keras asks its backend for, beside numpy's."""

import warnings

import numpy as np
import pytest

import gravure.tf as tf

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    keras = tf.keras

X = np.array([[3.0, 1.0, -2.0], [6.0, 5.0, 4.0], [-9.0, 0.5, 7.0]])


@pytest.mark.parametrize("turns", range(-1, 5))
@pytest.mark.parametrize("axes", [(0, 1), (2, 0)])
def test_planes_are_turned_by_quarters(turns: int, axes: tuple[int, int]) -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    found = np.asarray(keras.ops.rot90(x, turns, axes))
    np.testing.assert_array_equal(found, np.rot90(x, turns, axes))


@pytest.mark.parametrize("rows", [3, 2])
def test_triangles_and_turns_give_the_matrix(rows: int) -> None:
    for x in (X[:rows], np.stack([X[:rows], X[:rows] ** 2])):
        both, turns = map(np.asarray, keras.ops.lu_factor(x))
        for found, order, wanted in zip(
            both.reshape(-1, rows, 3), turns.reshape(-1, rows), x.reshape(-1, rows, 3), strict=True
        ):
            lower, upper = np.tril(found[:, :rows], -1) + np.eye(rows), np.triu(found)
            turned = wanted.copy()
            for at, other in enumerate(order):
                turned[[at, other]] = turned[[other, at]]
            np.testing.assert_allclose(lower @ upper, turned, rtol=1e-6)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("share", [0.3, [0.0, 0.5, 1.0]])
def test_shares_are_of_the_numbers_that_are_there(axis: int | None, share: object) -> None:
    x = X.copy()
    x[1, 1] = x[0, 2] = np.nan
    found = np.asarray(keras.ops.nanquantile(x, share, axis))
    np.testing.assert_allclose(found, np.nanquantile(x, share, axis), rtol=1e-6)
