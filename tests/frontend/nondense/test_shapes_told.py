"""What is known of the shapes of sparse tensors before they are computed, and what is refused.

The expected shapes and messages are those of TensorFlow 2.21.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure import tf

v1 = tf.compat.v1


def given(*shape: int | None) -> Any:
    """Return whole numbers that are fed, of any rank if no size is named."""
    return v1.placeholder(tf.int64, shape or None)


def sparse(shape: Any) -> Any:
    """Return six elements of a matrix of a shape."""
    return tf.SparseTensor(given(6, 2), v1.placeholder(tf.float32, [6]), shape)


TOLD: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "sizes side by side": (lambda d: sparse([d[0], 6]), [None, 6]),
    "of unknown rank": (lambda d: sparse(tf.stack([given()[0], given()[1]])), [None, None]),
    "joined": (lambda d: sparse(tf.concat([[3], d[:1]], 0)), [3, None]),
    "nothing": (lambda d: sparse(given()), None),
    "in order": (lambda d: tf.sparse.reorder(sparse([5, d[1]])), [5, None]),
    "the open size": (lambda d: tf.sparse.reshape(sparse([4, 6]), [2, d[0]]), [2, 12]),
    "two open sizes": (lambda d: tf.sparse.reshape(sparse([4, 6]), [-1, d[0]]), [None, None]),
    "another shape": (lambda d: tf.sparse.reshape(sparse(given()), [2, 3]), [2, 3]),
    "a larger one": (lambda d: tf.sparse.reset_shape(sparse(d), [4, 7]), [4, 7]),
    "a larger one that is fed": (lambda d: tf.sparse.reset_shape(sparse([4, 6]), d), [None, None]),
    "multiplied": (
        lambda d: tf.sparse.sparse_dense_matmul(sparse(given()), tf.zeros([3, 4])), [None, 4]
    ),
    "whole": (lambda d: v1.sparse_to_dense(given(), [4, 5], 1), [4, 5]),
    "whole, of any rank": (lambda d: v1.sparse_to_dense(given(), given(), 1), None),
    "merged": (lambda d: v1.sparse_merge(sparse_ids(d), sparse(d), 5), [None, 5]),
    "one behind the other": (lambda d: tf.sparse.concat(-2, [sparse([4, 6])] * 2), [8, 6]),
}  # fmt: skip


def sparse_ids(shape: Any) -> Any:
    """Return six numbers of a matrix."""
    return tf.SparseTensor(given(6, 2), given(6), shape)


@pytest.mark.parametrize("what", TOLD)
def test_what_is_known_of_a_shape(what: str) -> None:
    make, expected = TOLD[what]
    with tf.Graph().as_default():
        found = make(given(2)).shape
    assert (None if found.rank is None else found.as_list()) == expected


def test_as_many_elements_as_before_are_known() -> None:
    with tf.Graph().as_default():
        for made in (tf.sparse.reorder, lambda x: tf.sparse.reshape(x, given())):
            assert made(sparse(given())).indices.shape.as_list()[0] == 6
            assert made(sparse(given())).values.shape.as_list() == [6]


MATRIX = tf.sparse.from_dense([[1.0, 0], [2, 3]])
OUTSIDE = tf.SparseTensor([[0, 5]], [1.0], [2, 2])
ROW = tf.SparseTensor([[0]], [1.0], [2])
WRONG: dict[str, tuple[Callable[[], Any], str]] = {
    "added outside": (
        lambda: tf.sparse.add(OUTSIDE, tf.ones([2, 2])),
        r"has an invalid index on dimension 1: a_indices\(0,1\) = 5, dense tensor shape: \[2,2\]",
    ),
    "added to a wider one": (
        lambda: tf.sparse.add(MATRIX, tf.ones([2, 3])), "Dimension 1 does not .* 2 vs dense side 3"
    ),
    "added to another rank": (lambda: tf.sparse.add(MATRIX, tf.ones([2])), "ranks; received: 2"),
    "multiplied outside": (
        lambda: tf.sparse.sparse_dense_matmul(OUTSIDE, tf.ones([2, 2])),
        r"k \(5\) from index\[0,1\] out of bounds \(>=2\)",
    ),
    "turned and multiplied outside": (
        lambda: tf.sparse.sparse_dense_matmul(OUTSIDE, np.ones([2, 2], np.float32), True),
        r"m \(5\) from index\[0,1\] out of bounds \(>=2\)",
    ),
    "put outside": (
        lambda: tf.sparse.to_dense(OUTSIDE, validate_indices=False), r"out of bounds.*\[2,2\]"
    ),
    "other ranks": (lambda: tf.sparse.maximum(MATRIX, ROW), "do not have the same ranks"),
    "other sizes": (
        lambda: tf.sparse.add(MATRIX, tf.SparseTensor([[0, 0]], [1.0], [2, 3])),
        "Operands' shapes do not match: got 2 and 3 for dimension 1",
    ),
    "too small": (lambda: tf.sparse.reset_shape(MATRIX, [1, 2]), "should have dimension sizes"),
    "another number of axes": (lambda: tf.sparse.reset_shape(MATRIX, [3, 2, 2]), "3 and 2"),
    "other elements": (lambda: tf.sparse.reshape(MATRIX, [3, 2]), "4 dense values.* has 6"),
    "two open": (lambda: tf.sparse.reshape(MATRIX, [-1, -1]), "not both 0 and 1"),
    "open beside nothing": (lambda: tf.sparse.reshape(MATRIX, [0, -1]), "cannot infer the missing"),
    "no message": (
        lambda: tf.io.deserialize_many_sparse([["a", "b", "c"]], tf.float32), "Could not parse"
    ),
    "another type": (
        lambda: tf.io.deserialize_many_sparse([tf.io.serialize_sparse(MATRIX)], tf.int64),
        r"of type int64 but SparseTensor\[0\].values.dtype\(\) == float",
    ),
    "ranks of slices": (
        lambda: tf.io.deserialize_many_sparse(
            [tf.io.serialize_sparse(MATRIX), tf.io.serialize_sparse(ROW)], tf.float32
        ),
        r"rank prior to SparseTensor\[1\] was: 2 but rank of SparseTensor\[1\] is: 1",
    ),
    "places of three axes": (lambda: v1.sparse_to_dense([[[1]]], [5], 1), "scalar, vector, or m"),
    "two separators": (
        lambda: tf.sparse.cross([[["a"]], [["b"]]], separator=tf.constant(["_", "-"])),
        "Input separator should be a scalar",
    ),
    "parts of nothing": (tf.sparse.split, "sp_input is required"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_is_wrong_is_said_as_there(what: str) -> None:
    call, text = WRONG[what]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=text):
        call()


def test_graphs_refuse_elements_that_do_not_fit_when_they_are_made() -> None:
    with tf.Graph().as_default():
        for shape, text in (([5, 7], "Cannot reshape a tensor with 24"), ([-1, -1], "At most one")):
            with pytest.raises(ValueError, match=text):
                tf.sparse.reshape(sparse([4, 6]), shape)


def test_graphs_refuse_shapes_that_are_fed_when_they_run() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        new = given()
        made = tf.sparse.reset_shape(tf.SparseTensor([[0, 0]], [1.0], [4, 6]), new)
        for shape, sign in (([4, 6, 1], "=="), ([4, 5], "<=")):
            with pytest.raises(tf.errors.InvalidArgumentError, match=f"x {sign} y did not hold"):
                session.run(made, {new: shape})
        assert session.run(made, {new: [5, 6]}).dense_shape.tolist() == [5, 6]


def test_places_of_any_rank_are_put() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        places, values = given(), v1.placeholder(tf.float32)
        made = v1.sparse_to_dense(places, [3], values)
        for place, value, expected in (
            (1, 5, [0, 5, 0]),
            ([0, 2], [7, 8], [7, 0, 8]),
            ([[0], [2]], 4, [4, 0, 4]),
        ):
            assert session.run(made, {places: place, values: value}).tolist() == expected
        with pytest.raises(tf.errors.InvalidArgumentError, match="should be a scalar, vector"):
            session.run(made, {places: [[[1]]], values: 1})


def test_features_are_joined_by_a_tensor() -> None:
    made = tf.sparse.cross([[["a"]], [["b"]]], separator=tf.constant("-"))
    assert made.values.numpy().tolist() == [b"a-b"]
