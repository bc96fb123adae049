"""Accumulators of gradients: what they take, and what they refuse as TensorFlow does."""

from typing import Any

import numpy as np
import pytest

from gravure import tf

v1 = tf.compat.v1


def test_values_of_other_shapes_are_not_spread_over_the_sum() -> None:
    with tf.Graph().as_default():
        accumulator = v1.ConditionalAccumulator(tf.float32)
        x = v1.placeholder(tf.float32)
        add, take = accumulator.apply_grad(x), accumulator.take_grad(1)
        with v1.Session() as session:
            session.run(add, {x: [1.0, 2.0]})
            with pytest.raises(tf.errors.InvalidArgumentError, match="that of the first value"):
                session.run(add, {x: [3.0]})
            assert session.run(take).tolist() == [1.0, 2.0]
            session.run(accumulator.apply_grad(x, local_step=1), {x: [3.0]})
            assert session.run(take).tolist() == [3.0]


def test_a_shape_that_is_known_to_be_wrong_is_refused_at_once() -> None:
    with tf.Graph().as_default():
        accumulator = v1.ConditionalAccumulator(tf.float32, shape=(2,))
        with pytest.raises(ValueError, match="are incompatible"):
            accumulator.apply_grad(tf.ones([3]))


@pytest.mark.parametrize(
    ("dtype", "error"),
    [
        ("int32", tf.errors.InvalidArgumentError),
        ("complex64", tf.errors.InvalidArgumentError),
        ("bool", TypeError),
        ("string", TypeError),
    ],
)
def test_only_floating_numbers_have_a_mean(dtype: str, error: Any) -> None:
    with tf.Graph().as_default(), pytest.raises(error, match=r"floating|cannot be computed"):
        v1.ConditionalAccumulator(tf.as_dtype(dtype))


def test_ways_are_written_large() -> None:
    with tf.Graph().as_default(), pytest.raises(ValueError, match="expected 'MEAN' or 'SUM'"):
        v1.ConditionalAccumulator(tf.float32, reduction_type="mean")


def test_no_rows_have_a_shape_as_well() -> None:
    with tf.Graph().as_default():
        accumulator = v1.SparseConditionalAccumulator(tf.float32)
        empty = np.zeros((0, 2), np.float32)
        add = accumulator.apply_grad(np.zeros(0, np.int64), empty)
        take = accumulator.take_grad(1)
        with v1.Session() as session:
            session.run(add)
            indices, rows, shape = session.run(take)
    assert (indices.shape, rows.shape, shape.tolist()) == ((0,), (0, 2), [-1, 2])
