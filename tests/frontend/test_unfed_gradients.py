"""A session runs gradients that ask a placeholder only for its shape without a feed of it."""

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
MATRIX = [[1.0, 2.0], [3.0, 4.0]]
LINEAR: dict[str, tuple[Callable, object]] = {  # TensorFlow gives these without a feed
    "sum": (tf.reduce_sum, [[1, 1], [1, 1]]),
    "mean": (lambda x: tf.reduce_mean(x, [1]), [[0.5, 0.5], [0.5, 0.5]]),
    "itself": (tf.identity, [[1, 1], [1, 1]]),
    "product": (lambda x: x * 3.0, [[3, 3], [3, 3]]),
    "difference": (lambda x: 1.0 - x, [[-1, -1], [-1, -1]]),
    "quotient": (lambda x: x / tf.constant([[2.0], [4.0]]), [[0.5, 0.5], [0.25, 0.25]]),
    "matrices": (lambda x: tf.matmul(x, tf.constant(MATRIX)), [[3, 7], [3, 7]]),
    "slice": (lambda x: x[1:], [[0, 0], [1, 1]]),
    "running": (tf.cumsum, [[2, 2], [1, 1]]),
    "size": (lambda x: x * tf.cast(tf.shape(x)[0], tf.float32), [[2, 2], [2, 2]]),
    "rows": (lambda x: tf.concat([x, x], 0), [[2, 2], [2, 2]]),
    "two steps": (lambda x: tf.reduce_mean(x * 2.0 - 1.0), [[0.5, 0.5], [0.5, 0.5]]),
}


@pytest.mark.parametrize("name", LINEAR)
def test_a_gradient_that_asks_for_the_shape_runs_unfed(name: str) -> None:
    function, wanted = LINEAR[name]
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2, 2])
        [slope] = v1.gradients(function(x), x)
        for _ in range(3):
            np.testing.assert_array_equal(session.run(slope), wanted)
        np.testing.assert_array_equal(session.run(slope, {x: MATRIX}), wanted)


@pytest.mark.parametrize(
    ("function", "shape"),
    [
        (lambda x: x * x, [2, 2]),
        (tf.nn.relu, [2, 2]),
        (lambda x: tf.maximum(x, 0.0), [2, 2]),
        (lambda x: tf.tensor_scatter_nd_max(x, [[0]], tf.zeros([1, 2])), [2, 2]),
        (lambda x: x * 3.0, [None, 2]),
        (tf.reduce_sum, None),
    ],
)
def test_one_that_asks_for_elements_or_for_an_unknown_shape_does_not(
    function: Callable, shape: list[int | None] | None
) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, shape, name="wanted")
        [slope] = v1.gradients(function(x), x)
        for _ in range(2):
            with pytest.raises(tf.errors.InvalidArgumentError, match="'wanted' with dtype float"):
                session.run(slope)


def test_what_else_is_fetched_and_written_counts() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x, y = (v1.placeholder(tf.float32, [2], name=name) for name in "xy")
        count = v1.get_variable("count", [], initializer=v1.zeros_initializer())
        session.run(v1.global_variables_initializer())
        by_x, by_y = v1.gradients(x * y, [x, y])
        counted, kept = count.assign_add(1.0), count.assign(tf.reduce_sum(x))
        assert session.run(by_x, {y: [5.0, 6.0]}).tolist() == [5, 6]
        assert session.run(by_y, {x: [7.0, 8.0]}).tolist() == [7, 8]
        found = session.run([by_x, counted], {y: [5.0, 6.0]})
        assert found[1] == 1
        assert session.run(count) == 1
        for fetches in ([by_x, x], [by_x, kept], [by_x, kept.op], [by_x, by_y]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="placeholder tensor 'x'"):
                session.run(fetches, {y: [5.0, 6.0]})


@pytest.mark.parametrize(
    "asks",
    [
        lambda x: tf.debugging.check_numerics(x, "not finite").op,
        lambda x: tf.identity(x).op,
        lambda x: tf.group(tf.identity(x)),
        v1.assert_positive,
        tf.print,
    ],
)
def test_what_is_only_waited_for_wants_elements_too(asks: Callable) -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, [2], name="x")
        other = asks(x)
        [slope] = v1.gradients(x * 3.0, x)
        with tf.control_dependencies([other]):
            behind = tf.identity(slope)
        assert session.run(slope).tolist() == [3, 3]
        for fetches in (behind, [slope, other]):
            with pytest.raises(tf.errors.InvalidArgumentError, match="placeholder tensor 'x'"):
                session.run(fetches)
