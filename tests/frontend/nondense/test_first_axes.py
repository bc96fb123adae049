"""What lies along the first axis of rows, or of a sparse tensor: at once as in functions."""

from __future__ import annotations

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.ragged.rows import Rows

ROWS = {
    "uneven": [[1.5, -2.0, 3.0], [], [4.0], [0.5, 9.0, -7.0, 2.0], []],
    "one": [[3.0, 1.0]],
    "empty": [[], []],
}
DEEP = [[[1.0, 2.0], [3.0]], [], [[-4.0], [], [5.0, 6.0, 7.0]]]


@pytest.mark.parametrize("axis", [0, 1, [0, 1]])
@pytest.mark.parametrize("name", ["reduce_max", "reduce_sum", "reduce_min", "reduce_prod"])
@pytest.mark.parametrize("rows", ROWS)
def test_rows_are_laid_over_each_other(rows: str, name: str, axis: int | list[int]) -> None:
    reduce = getattr(tf, name)
    ragged = tf.RaggedTensor.from_row_splits(
        tf.constant([x for row in ROWS[rows] for x in row], tf.float32),
        np.cumsum([0, *map(len, ROWS[rows])]),
    )
    found = reduce(ragged, axis).numpy()
    staged = tf.function(lambda x: reduce(x, axis))(ragged).numpy()
    np.testing.assert_array_equal(found, staged)
    if axis == 0:
        function = {"reduce_max": max, "reduce_min": min, "reduce_sum": sum, "reduce_prod": np.prod}
        longest = max(map(len, ROWS[rows]))
        columns = [[row[i] for row in ROWS[rows] if len(row) > i] for i in range(longest)]
        assert found.tolist() == [function[name](column) for column in columns]


@pytest.mark.parametrize("axis", [0, 1, 2, [0, 1], [1, 2], [0, 2], [0, 1, 2]])
def test_rows_of_rows_are_laid_over_each_other(axis: int | list[int]) -> None:
    ragged = tf.ragged.constant(DEEP)
    found = tf.reduce_max(ragged, axis)
    staged = tf.function(lambda x: tf.reduce_max(x, axis))(ragged)
    assert type(found) is type(staged)
    listed = [x.to_list() if hasattr(x, "to_list") else x.numpy().tolist() for x in (found, staged)]
    assert listed[0] == listed[1]


def test_places_in_rows_stay_within_what_there_is() -> None:
    assert Rows((np.array([0, 2, 2, 5]),), np.arange(5)).offsets().tolist() == [0, 1, 0, 1, 2]
    wrong = Rows((np.array([0, 5, 3]),), np.arange(3))
    assert wrong.offsets().tolist() == [0, 1, 2]


@pytest.mark.parametrize("dims", [(4, 3), (1, 3), (4, 1), (1, 1), (3,), (1,)])
@pytest.mark.parametrize("name", ["mul", "div"])
def test_elements_meet_those_of_a_tensor_that_is_broadcast(
    name: str, dims: tuple[int, ...]
) -> None:
    values = np.arange(1.0, 5.0, dtype=np.float32)
    sparse = tf.sparse.SparseTensor([[0, 0], [1, 2], [3, 0], [3, 1]], values, [4, 3])
    other = tf.constant(np.random.default_rng(0).random(dims, np.float32))
    combine = {"mul": lambda s, y: s * y, "div": lambda s, y: s / y}[name]
    wide = np.broadcast_to(other.numpy(), (4, 3))[[0, 1, 3, 3], [0, 2, 0, 1]]
    expected = values * wide if name == "mul" else values / wide
    found, staged = combine(sparse, other), tf.function(combine)(sparse, other)
    assert found.values.numpy().tolist() == expected.tolist() == staged.values.numpy().tolist()


@pytest.mark.parametrize("shape", [[3, 4], [3, 4, 2], [3, 1]])
def test_slices_that_are_written_are_read_again(shape: list[int]) -> None:
    whole = np.random.default_rng(0).integers(-1, 2, shape)
    whole[1] = 0
    sparse = tf.sparse.from_dense(whole)
    found = tf.io.deserialize_many_sparse(tf.io.serialize_many_sparse(sparse), tf.int64)
    assert found.indices.numpy().tolist() == sparse.indices.numpy().tolist()
    assert found.values.numpy().tolist() == sparse.values.numpy().tolist()
    assert found.dense_shape.numpy().tolist() == shape


def test_no_slices_are_a_tensor_of_none() -> None:
    found = tf.io.deserialize_many_sparse(tf.zeros([0, 3], tf.string), tf.float32)
    assert (found.indices.shape, found.values.shape) == ((0, 1), (0,))
    assert found.dense_shape.numpy().tolist() == [0]
