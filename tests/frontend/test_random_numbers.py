"""Random operations draw the same numbers eagerly, in functions and ahead of time."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.ir.ops.random import drawn_key, key_of

SHAPE = (300, 70)
CALLS = 5
"""The first ones are interpreted, the last ones compiled."""


def uniform() -> Any:
    return tf.random.uniform(SHAPE, -1.0, 1.0, seed=7)


def normal() -> Any:
    return tf.random.normal(SHAPE, seed=7)


@pytest.mark.parametrize("draw", [uniform, normal], ids=lambda draw: draw.__name__)
def test_functions_draw_what_eager_code_draws(draw: Any) -> None:
    tf.random.set_seed(3)
    eager = [draw().numpy() for _ in range(CALLS)]
    tf.random.set_seed(3)
    step = tf.function(draw)
    staged = [step().numpy() for _ in range(CALLS)]
    for one, other in zip(eager, staged, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-6, atol=2e-6)
    assert not np.allclose(eager[0], eager[1])
    if draw is uniform:
        np.testing.assert_array_equal(eager, staged)


@pytest.mark.parametrize("draw", [uniform, normal], ids=lambda draw: draw.__name__)
def test_libraries_draw_the_same_on_any_number_of_threads(draw: Any, tmp_path: Path) -> None:
    tf.random.set_seed(3)
    eager = [draw().numpy() for _ in range(2)]
    tf.function(draw).get_concrete_function().save(tmp_path / "draw.so")
    keys = [drawn_key(key_of((3, 7, 0)), count) for count in range(2)]
    one, many = ([], [])
    for threads, found in ((1, one), (3, many)):
        with gv.load(tmp_path / "draw.so", threads=threads) as model:
            found += [model(key) for key in keys]
    np.testing.assert_array_equal(one, many)
    np.testing.assert_allclose(one, eager, rtol=2e-6, atol=2e-6)


def test_draws_in_loops_and_branches_are_compiled() -> None:
    def walk(n: Any) -> Any:
        def step(i: Any, s: Any) -> Any:
            return i + 1, s + tf.random.normal([2], seed=3)

        far = tf.while_loop(lambda i, s: i < n, step, (0, tf.zeros([2])))[1]
        return far + tf.cond(n > 2, lambda: tf.random.uniform([2], seed=5), lambda: 0.0 * far)

    def draws(count: int) -> list[Any]:
        tf.random.set_seed(7)
        staged = tf.function(walk)
        found = [staged(tf.constant(n)).numpy() for n in (3, 2, 3, 4, 3)[:count]]
        [concrete] = staged.cache.values()
        assert concrete.graph.refusal == ""
        return found

    interpreted, together = draws(2), draws(5)
    np.testing.assert_allclose(together[:2], interpreted, rtol=2e-6, atol=2e-6)
    assert len({tuple(x) for x in np.round(together, 4)}) == 5
    eager = tf.random.set_seed(7) or [walk(tf.constant(n)).numpy() for n in (3, 2, 3, 4, 3)]
    np.testing.assert_allclose(together, eager, rtol=2e-5, atol=2e-6)


def test_a_gradient_of_a_gradient_sees_the_draw_that_was_drawn() -> None:
    @tf.function
    def noisy(x: Any) -> Any:
        return tf.reduce_sum(x**3 * tf.random.uniform([3], 1.0, 2.0, seed=1))

    @tf.function
    def twice(x: Any) -> Any:
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = noisy(x)
            slope = inner.gradient(y, x)
        return y, slope, outer.gradient(slope, x)

    for _ in range(5):
        y, slope, second = twice(tf.constant([1.0, 1.0, 1.0]))
        np.testing.assert_allclose(tf.reduce_sum(slope), 3 * y, rtol=1e-5)
        np.testing.assert_allclose(tf.reduce_sum(second), 6 * y, rtol=1e-5)
    [concrete] = twice.cache.values()
    assert concrete.graph.refusal == ""


def test_stateless_draws_are_those_of_tensorflow() -> None:
    draw, bell = tf.random.stateless_uniform, tf.random.stateless_normal
    for found, expected in (
        (draw([2], [1, 2]), [0.84406042, 0.19204533]),
        (draw([2], [1, 2], dtype=tf.float64), [0.7524837538451801, 0.9697857725627486]),
        (draw([3], [1, 2], minval=0, maxval=10, dtype=tf.int32), [0, 9, 4]),
        (draw([2], [1, 2], None, None, tf.int32), [1105988140, 1738052849]),
        (bell([2], [3, 4]), [-0.17393383, 1.67235470]),
        (tf.function(lambda seed: draw([2], seed))(tf.constant([1, 2])), [0.84406042, 0.19204533]),
    ):
        np.testing.assert_allclose(found, expected, rtol=2e-6)
