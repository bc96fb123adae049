"""Crosses of features are hashed in one loop: the numbers are TensorFlow's."""

import numpy as np
import pytest

import gravure.tf as tf

TEXTS = np.array([[b"a", b"bc"], [b"", b"x" * 40], [b"q", b"w"]], object)
NUMBERS = np.array([[6, 2, 0], [-4, -4, -9], [-8, -9, -6]])


def sparse(rows):
    places = [[row, column] for row, column, _ in rows]
    return tf.sparse.SparseTensor(places, tf.constant([text for *_, text in rows]), [3, 2])


@pytest.mark.parametrize("staged", [False, True], ids=["at once", "in a function"])
def test_buckets_of_texts_and_numbers_are_those_of_single_crosses(staged):
    features = [tf.constant(TEXTS), tf.constant(NUMBERS)]
    run = lambda: tf.sparse.cross_hashed(features, 1000, 77)  # noqa: E731
    made = (tf.function(run) if staged else run)()
    alone = [
        int(tf.sparse.cross_hashed([[[text]], [[number]]], 1000, 77).values[0])
        for texts, numbers in zip(TEXTS, NUMBERS, strict=True)
        for text in texts
        for number in numbers.tolist()
    ]
    assert made.values.numpy().tolist() == alone
    assert made.indices.numpy().tolist() == [[i, k] for i in range(3) for k in range(6)]


def test_rows_without_values_have_no_crosses_and_rows_may_come_in_any_order():
    one = sparse([(2, 0, b"m"), (0, 0, b"k"), (0, 1, b"l")])
    other = sparse([(0, 0, b"k"), (0, 1, b"l"), (2, 0, b"m")])
    made, wanted = (tf.sparse.cross_hashed([x, x], 100) for x in (one, other))
    assert made.indices.numpy().tolist() == [[0, 0], [0, 1], [0, 2], [0, 3], [2, 0]]
    assert made.values.numpy().tolist() == wanted.values.numpy().tolist() == RECORDED


RECORDED = [99, 80, 38, 61, 57]
"""What TensorFlow gives for them."""


@pytest.mark.parametrize("row", [-1, 3])
def test_a_value_that_is_in_no_row_is_refused(row):
    with pytest.raises(tf.errors.InvalidArgumentError, match="none of 3 rows"):
        tf.sparse.cross_hashed([sparse([(row, 0, b"k")]), TEXTS], 10)


def test_a_count_of_buckets_below_zero_is_refused():
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_buckets is -3"):
        tf.sparse.cross_hashed([TEXTS], -3)


def test_values_of_sparse_features_come_first():
    one = sparse([(0, 0, b"k"), (2, 0, b"m")])
    made = tf.sparse.cross([TEXTS, one])
    assert made.values.numpy().tolist() == [b"k_X_a", b"k_X_bc", b"m_X_q", b"m_X_w"]
    assert tf.sparse.cross_hashed([NUMBERS[:, :1], one], 100).values.numpy().tolist() == [29, 46]
