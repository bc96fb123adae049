"""`tf.vectorized_map`: what its slices and its results may be."""

from typing import Any

import pytest

import gravure.tf as tf


def test_tensors_of_one_slice_go_with_those_of_several() -> None:
    def both(pair: Any) -> Any:
        return pair[0] + pair[1]

    wide, one = tf.reshape(tf.range(6.0), [3, 2]), tf.constant([[10.0, 20.0]])
    want = [[10, 21], [12, 23], [14, 25]]
    assert tf.vectorized_map(both, (wide, one)).numpy().tolist() == want
    assert tf.vectorized_map(both, (one, wide)).numpy().tolist() == want
    assert tf.function(lambda a, b: tf.vectorized_map(both, (a, b)))(wide, one).shape == (3, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected 3 or one"):
        tf.vectorized_map(both, (wide, tf.ones([2, 2])))


def test_results_that_are_none_sparse_or_ragged() -> None:
    kept, none = tf.vectorized_map(lambda x: (x * 2, None), tf.constant([1, 2]))
    assert (kept.numpy().tolist(), none) == ([2, 4], None)
    sparse = tf.vectorized_map(
        lambda i: tf.SparseTensor([[i]], [i * 2], [5]), tf.range(3, dtype=tf.int64)
    )
    assert sparse.indices.numpy().tolist() == [[0, 0], [1, 1], [2, 2]]
    assert sparse.values.numpy().tolist() == [0, 2, 4]
    assert sparse.dense_shape.numpy().tolist() == [3, 5]
    ragged = tf.ragged.constant([[[1], [2, 3]], [[4]]])
    assert tf.vectorized_map(lambda x: x * 2, ragged).to_list() == [[[2], [4, 6]], [[8]]]


def test_rows_of_ragged_tensors_are_slices_and_not_their_elements() -> None:
    found = tf.vectorized_map(tf.reduce_sum, tf.ragged.constant([[1, 2], [3]]))
    assert found.numpy().tolist() == [3, 3]


def test_no_slices_give_results_of_their_shape() -> None:
    found = tf.vectorized_map(lambda x: (x * 2, x[:2] > 0), tf.ones([0, 3]))
    assert [(x.shape.as_list(), x.dtype) for x in found] == [
        ([0, 3], tf.float32),
        ([0, 2], tf.bool),
    ]


def test_a_number_has_no_slices() -> None:
    with pytest.raises(ValueError, match="not scalars"):
        tf.vectorized_map(lambda x: x, tf.constant(3))
