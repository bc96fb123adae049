"""Elements of axes without any, asked for where no run comes by: in loops and choices."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure import tf

GUARDED: dict[str, Callable[[Any, Any], Any]] = {
    "one": lambda x, k: x[k],
    "one of a row": lambda x, k: x[k, 1],
    "part of a row": lambda x, k: x[k, :2],
    "with a new axis": lambda x, k: x[tf.newaxis, k],
    "taken": tf.gather,
    "some taken": lambda x, k: tf.gather(x, [k, k]),
    "a known one taken": lambda x, k: tf.gather(x, [0]),
}


@pytest.mark.parametrize("kind", [np.float32, np.bool_, object])
@pytest.mark.parametrize("name", GUARDED)
def test_what_no_run_asks_for_is_not_refused(name: str, kind: type) -> None:
    take = GUARDED[name]

    @tf.function
    def first(x: tf.Tensor, k: tf.Tensor) -> tf.Tensor:
        return tf.cond(tf.shape(x)[0] > 0, lambda: take(x, k), lambda: tf.zeros_like(take(one, k)))

    one = tf.constant(np.full((1, 3), b"", kind) if kind is object else np.ones((1, 3), kind))
    for _ in range(3):
        wanted = take(one, tf.constant(0))
        assert np.array_equal(first(one, tf.constant(0)), wanted)
        assert first(one[:0], tf.constant(0)).shape == wanted.shape


def test_a_loop_over_nothing_may_take_elements() -> None:
    @tf.function
    def total(x: tf.Tensor) -> tf.Tensor:
        found = 0.0
        for k in tf.range(tf.shape(x)[0]):
            found += x[k]
        return found

    for _ in range(3):
        assert float(total(tf.zeros([0]))) == 0
        assert float(total(tf.ones([3]))) == 3


@pytest.mark.parametrize("take", [lambda x, k: x[k], tf.gather])
def test_a_run_that_asks_for_one_is_refused(take: Callable[[Any, Any], Any]) -> None:
    staged = tf.function(take)
    for _ in range(3):
        with pytest.raises(tf.errors.InvalidArgumentError):
            staged(tf.zeros([0, 3]), tf.constant(0))


@pytest.mark.parametrize("shape", [(0, 3), (4, 0), (2, 3)])
def test_sparse_rows_of_nothing_are_added_up(shape: tuple[int, int]) -> None:
    x = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)

    @tf.function
    def sums(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        found = tf.sparse.from_dense(x)
        wide = tf.ones([shape[1], 2])
        return tf.sparse.reduce_sum(found, 1), tf.sparse.sparse_dense_matmul(found, wide)

    for _ in range(3):
        one, two = sums(tf.constant(x))
        np.testing.assert_array_equal(one, x.sum(1))
        np.testing.assert_array_equal(two, x @ np.ones((shape[1], 2), np.float32))
