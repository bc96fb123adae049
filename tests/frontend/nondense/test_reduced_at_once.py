"""Sums and largest elements of sparse tensors: at once the same bits as in a function."""

from __future__ import annotations

import numpy as np
import pytest

import gravure.tf as tf

NUMBERS = {
    "float32": [1.5, -2.0, np.nan, -0.0, 0.0, -np.inf, 3.0],
    "float64": [-1.5, -2.0, 0.25, -0.0, -7.0, np.inf, np.nan],
    "int32": [-5, 7, -(1 << 31), 3, -1, 0, 2],
    "uint8": [5, 7, 0, 3, 1, 255, 2],
}
PLACES = [[0, 0, 1], [0, 1, 1], [0, 1, 1], [2, 0, 3], [2, 0, 0], [2, 2, 2], [2, 2, 3]]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("axis", [0, -1, [0, 2], [1], [-3, 1], None, [0, 1, 2]])
@pytest.mark.parametrize("dtype", NUMBERS)
@pytest.mark.parametrize("name", ["reduce_max", "reduce_sum"])
def test_a_reduction_at_once_has_the_bits_of_a_function(
    name: str, dtype: str, axis: object, keepdims: bool
) -> None:
    reduce = getattr(tf.sparse, name)
    values = tf.constant(NUMBERS[dtype], dtype)
    sparse = tf.sparse.SparseTensor(PLACES, values, [3, 4, 5])
    staged = tf.function(lambda x: reduce(x, axis, keepdims))
    found, expected = reduce(sparse, axis, keepdims).numpy(), staged(sparse).numpy()
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(np.signbit(found), np.signbit(expected))


def test_where_there_is_nothing_the_largest_element_is_zero() -> None:
    sparse = tf.sparse.SparseTensor(tf.zeros([0, 2], tf.int64), tf.zeros([0]), [2, 3])
    assert tf.sparse.reduce_max(sparse, 0).numpy().tolist() == [0, 0, 0]
    assert tf.sparse.reduce_max(sparse, 1, keepdims=True).numpy().tolist() == [[0], [0]]


@pytest.mark.parametrize("values", [[], [-2.0], [-2.0, -1.0], [-0.0, 3.0], [1.0, np.nan]])
def test_the_largest_of_all_elements_is_that_of_functions(values: list[float]) -> None:
    places = np.array([[0, i] for i in range(len(values))], np.int64).reshape(-1, 2)
    sparse = tf.sparse.SparseTensor(places, np.array(values, np.float32), [2, 3])
    found, staged = tf.sparse.reduce_max(sparse), tf.function(tf.sparse.reduce_max)(sparse)
    np.testing.assert_array_equal(found.numpy(), staged.numpy(), strict=True)
    assert tf.sparse.reduce_max(sparse, keepdims=True).shape == [1, 1]


@pytest.mark.parametrize("dtype", NUMBERS)
def test_elements_are_added_to_a_tensor_in_order(dtype: str) -> None:
    values = tf.constant(NUMBERS[dtype], dtype)
    sparse = tf.sparse.SparseTensor(PLACES, values, [3, 4, 5])
    whole = tf.cast(tf.reshape(tf.range(60), [3, 4, 5]), dtype)
    before = whole.numpy()
    found, staged = tf.sparse.add(sparse, whole), tf.function(tf.sparse.add)(whole, sparse)
    np.testing.assert_array_equal(found.numpy(), staged.numpy(), strict=True)
    np.testing.assert_array_equal(whole.numpy(), before)


@pytest.mark.parametrize("shape", [[2, 2], [4, 2], [2, 2, 1]])
def test_what_does_not_fit_a_tensor_is_refused(shape: list[int]) -> None:
    sparse = tf.sparse.SparseTensor([[0, 0], [3, 1]], [1.0, 2.0], [2, 2])
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
        tf.sparse.add(sparse, tf.zeros(shape))
