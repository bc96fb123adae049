"""Rows of a table are added up where they lie, with the bits that other ways have."""

from __future__ import annotations

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.nondense import embeddings, sparse_functions


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("width", [1, 3, 16, 37])
@pytest.mark.parametrize("how", ["sum", "mean", "sqrtn"])
def test_rows_of_a_table_are_combined_with_the_same_bits(dtype: str, width: int, how: str) -> None:
    random, count = np.random.default_rng(0), 300
    table = tf.constant(random.normal(size=(50, width)).astype(dtype))
    lines, places = np.sort(random.integers(0, 40, count)), random.integers(0, 50, count)
    spots = np.stack([lines, np.arange(count)], 1)
    ids = tf.sparse.SparseTensor(spots, tf.constant(places), [41, count])

    def looked_up(table: object) -> tf.Tensor:
        return tf.nn.embedding_lookup_sparse(table, ids, None, combiner=how)

    expected = looked_up(table).numpy()
    for given in ([table], tf.Variable(table)):
        np.testing.assert_array_equal(looked_up(given).numpy(), expected)
    staged = tf.function(looked_up)
    assert staged(table).numpy().tobytes() == expected.tobytes()
    combine = getattr(tf.sparse, f"segment_{how.replace('sqrtn', 'sqrt_n')}")
    found = combine(table, places.astype(np.int32), lines.astype(np.int32))
    assert found.numpy().tobytes() == expected.tobytes()


def test_what_lies_outside_of_the_table_is_refused() -> None:
    table = tf.ones([3, 2])
    for places, lines in (([0, 3], [0, 1]), ([0, -1], [0, 1]), ([0, 1], [1, 0])):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.sparse.segment_sum(table, tf.constant(places), tf.constant(lines))
    assert sparse_functions.rows_at_once(table, tf.constant([3]), tf.constant([0]), "sum") == ()


def test_no_table_of_looked_up_rows_is_made(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows were written down before they were added."""
    ids = tf.sparse.SparseTensor([[0, 0], [2, 0]], tf.constant([1, 2]), [3, 1])
    monkeypatch.setattr(embeddings, "combined_rows", None)
    found = tf.nn.embedding_lookup_sparse(tf.ones([3, 2]), ids, None, combiner="mean")
    assert found.numpy().tolist() == [[1, 1], [0, 0], [1, 1]]
