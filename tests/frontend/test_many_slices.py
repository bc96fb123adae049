"""Many tensors joined, and taken apart, in one step of numpy's."""

from __future__ import annotations

from collections.abc import Callable
from time import process_time

import numpy as np
import pytest

import gravure.tf as tf

MANY = 200
"""More than are remembered one by one."""


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("join", [tf.stack, tf.concat])
def test_many_tensors_are_joined_as_few_are(join: Callable[..., tf.Tensor], axis: int) -> None:
    random = np.random.default_rng(0)
    sizes = [(3, 4)] * MANY if join is tf.stack else [(3, 3)] * MANY
    arrays = [random.random(size) for size in sizes]
    function = np.stack if join is tf.stack else np.concatenate
    for _ in range(3):
        made = join([tf.constant(x) for x in arrays], axis)
        np.testing.assert_array_equal(made.numpy(), function(arrays, axis))


def test_many_tensors_that_do_not_fit_are_refused_as_few_are() -> None:
    row, column = tf.zeros([3]), tf.zeros([4])
    for count in (3, MANY):
        with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of all inputs must match"):
            tf.stack([row] * count + [column])
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            tf.stack([row] * count, 5)
        with pytest.raises((ValueError, TypeError, tf.errors.InvalidArgumentError)):
            tf.concat([row] * count + [tf.zeros([3, 1])], 0)
    assert tf.concat([row, column] * MANY, 0).shape == (7 * MANY,)
    assert tf.stack([row] * MANY + [[1.0, 2.0, 3.0]]).shape == (MANY + 1, 3)
    with tf.GradientTape() as tape:
        tape.watch(row)
        made = tf.reduce_sum(tf.stack([row] * MANY))
    assert tape.gradient(made, row).numpy().tolist() == [MANY] * 3


@pytest.mark.parametrize("axis", [0, 1])
def test_many_slices_have_elements_that_are_theirs(axis: int) -> None:
    x = tf.reshape(tf.range(MANY * MANY), [MANY, MANY])
    for _ in range(4):  # (looked at, noted, carried out)
        made = tf.unstack(x, axis=axis)
        assert len(made) == MANY
        assert isinstance(made, list)
        for i in (0, 7, MANY - 1):
            np.testing.assert_array_equal(made[i].numpy(), np.take(x.numpy(), i, axis))
            assert not np.shares_memory(made[i].numpy(), x.numpy())
    rows = tf.unstack(tf.range(MANY))
    assert rows[5].shape == ()
    assert int(rows[5]) == 5
    np.testing.assert_array_equal(tf.stack(rows).numpy(), np.arange(MANY))


def test_taking_many_slices_compiles_nothing() -> None:
    """Each slice was a step of a program of its own, which took seconds to make."""
    x = tf.zeros([1500, 3])
    start = process_time()
    for _ in range(8):
        tf.unstack(x)
    assert process_time() - start < 1.5
