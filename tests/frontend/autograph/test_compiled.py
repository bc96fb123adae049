"""Sizes and indices in functions that are compiled."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.graph.tolls import Account


@pytest.fixture(autouse=True)
def at_once(monkeypatch):
    monkeypatch.setattr(Account, "is_due", lambda *_: True)


def refusals(function):
    return [c.graph.refusal for c in function.cache.values() if c.graph.refusal]


@pytest.mark.parametrize(
    ("made", "shape"),
    [
        (lambda x: tf.random.normal([tf.shape(x)[0], 3]), (4, 3)),
        (lambda x: tf.range(tf.shape(x)[0]), (4,)),
        (lambda x: tf.zeros([tf.shape(x)[0] * 2, 3]), (8, 3)),
        (lambda x: tf.reshape(x, [tf.shape(x)[0] // 2, -1]), (2, 4)),
        (lambda x: tf.tile(x, [1, tf.shape(x)[1]]), (4, 4)),
        (lambda x: tf.one_hot(tf.range(tf.shape(x)[0]), tf.shape(x)[1]), (4, 2)),
    ],
)
@pytest.mark.parametrize("signature", [None, [tf.TensorSpec([None, None])]])
def test_sizes_that_are_computed_of_shapes_are_known(made, shape, signature):
    f = tf.function(made, input_signature=signature)
    assert tuple(f(tf.ones([4, 2])).shape) == shape
    assert not refusals(f)


def test_an_element_is_taken_at_a_place_that_only_the_run_tells():
    @tf.function
    def f(x, i, j):
        return x[i], x[..., j], x[i, j], x[i, None, 1:], x[:, i, j]

    array = np.arange(24).reshape(2, 3, 4).astype(np.float32)
    for i, j in ((1, 2), (-1, -2), (0, 0)):
        found = f(tf.constant(array), tf.constant(i), tf.constant(j))
        wanted = array[i], array[..., j], array[i, j], array[i, None, 1:], array[:, i, j]
        assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))
    assert not refusals(f)
    with pytest.raises(tf.errors.InvalidArgumentError, match="dimension 0 out of bounds"):
        f(tf.constant(array), tf.constant(2), tf.constant(0))


def test_the_gradient_of_an_element_is_dense():
    @tf.function
    def f(x, i):
        return x[i] * x[0]

    x = tf.constant([1.0, 2.0, 3.0])
    for _ in range(3):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x, tf.constant(2))
        assert np.array_equal(tape.gradient(y, x), [3.0, 0.0, 1.0])


@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")  # its sizes are data
def test_a_slice_by_numbers_that_are_tensors_keeps_its_rank():
    @tf.function(input_signature=[tf.TensorSpec([4, 5, 6]), tf.TensorSpec([], tf.int32)])
    def f(x, n):
        made = x[1:n, ..., None, 2], x[:, n:, 0], x[n, :n]
        assert [y.shape.as_list() for y in made] == [[None, 5, 1], [4, None], [None, 6]]
        return made

    array = np.arange(120.0, dtype=np.float32).reshape(4, 5, 6)
    found = f(tf.constant(array), tf.constant(3))
    wanted = array[1:3, ..., None, 2], array[:, 3:, 0], array[3, :3]
    assert all(np.array_equal(a, b) for a, b in zip(found, wanted, strict=True))


def test_the_way_back_knows_how_long_a_list_has_become():
    """From the third call on it asked for a size that only the way forward knew."""

    @tf.function
    def function(x, count):
        made = []
        for _ in tf.range(count):
            made.append(x * x)
            x = x + 1.0
        return tf.reduce_sum(tf.stack(made))

    x = tf.constant(2.0)
    for count, value, slope in ((3, 29, 18), (3, 29, 18), (3, 29, 18), (3, 29, 18), (1, 4, 4)):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x, tf.constant(count))
        assert (float(y), float(tape.gradient(y, x))) == (value, slope)
