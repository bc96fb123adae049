"""What is done with a `TensorShape` is remembered as with a tuple of its extents."""

from __future__ import annotations

import numpy as np

import gravure.tf as tf
from gravure.frontend.eager import remembered

CALLS = 4


def test_a_shape_is_told_apart_by_its_extents() -> None:
    calls = []

    @remembered.remembered
    def function(x: object, shape: object) -> object:
        calls.append(shape)
        return tf.broadcast_to(x, shape)

    for _ in range(CALLS):
        for dims in ([], [2], [3, 2], [2, 3, 2]):
            found = function(tf.constant(1.5), tf.TensorShape(dims))
            np.testing.assert_array_equal(found, np.full(dims, 1.5, "float32"))
    assert len(calls) == 8, "each shape once as it is, and once to take notes"


def test_a_shape_that_is_partly_unknown_is_refused_each_time() -> None:
    for shape in (tf.TensorShape([2, None]), tf.TensorShape(None)):
        refused = 0
        for _ in range(CALLS):
            try:
                tf.reshape(tf.range(4), shape)
            except (TypeError, ValueError):
                refused += 1
        assert refused == CALLS


def test_arrays_of_one_shape_have_one_shape() -> None:
    """To make one took as long as all else that is asked of it."""
    one, other = tf.zeros([3, 2]).shape, tf.ones([3, 2], tf.int32).shape
    assert one is other
    assert one.as_list() == [3, 2]
