"""Functions with gradients of their own: of values of several tensors, and such that raise."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure import tf

v1 = tf.compat.v1


def rows() -> Any:
    return tf.ragged.constant([[1.0, 2.0], [3.0]])


@tf.custom_gradient
def squared(x: Any) -> Any:
    return x * x, lambda grad: 3 * grad


@tf.custom_gradient
def both(x: Any, y: Any) -> Any:
    return (x * x, 2 * y), lambda first, second: (3 * first, 4 * second)


@pytest.mark.parametrize("ways", [lambda f: f, tf.function])
def test_ragged_values_have_ragged_gradients(ways: Callable[[Any], Any]) -> None:
    x, y = rows(), tf.ragged.constant([[4.0], [5.0, 6.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch((x, y))
        one, (two, three) = ways(squared)(x), ways(both)(x, y)
    assert one.to_list() == [[1, 4], [9]]
    assert tape.gradient(one, x).to_list() == [[3, 3], [3]]
    assert [z.to_list() for z in (two, three)] == [[[1, 4], [9]], [[8], [10, 12]]]
    first, second = tape.gradient((two, three), (x, y))
    assert (first.to_list(), second.to_list()) == ([[3, 3], [3]], [[4], [4, 4]])
    assert tape.gradient(one, x.values).numpy().tolist() == [3, 3, 3]


def test_sparse_values_have_gradients_too() -> None:
    x = tf.SparseTensor([[0, 1]], [2.0], [2, 2])
    own = tf.custom_gradient(lambda x: (x.with_values(x.values * 5), lambda g: g))
    with tf.GradientTape() as tape:
        tape.watch(x.values)
        y = own(x)
    assert tape.gradient(y.values, x.values).numpy().tolist() == [1]


@pytest.mark.parametrize("own", [lambda x: x * x, squared])
def test_functions_give_values_of_several_tensors_under_a_tape(own: Callable[[Any], Any]) -> None:
    x = rows()
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = tf.function(own)(x)
    assert isinstance(made, tf.RaggedTensor)
    assert made.to_list() == [[1, 4], [9]]


def test_what_a_gradient_raises_is_heard_where_it_is_asked_for() -> None:
    def refuse(_: Any) -> Any:
        raise RuntimeError("not this way")

    own = tf.custom_gradient(lambda x: (x * 2, refuse))
    assert float(tf.function(own)(tf.constant(3.0))) == 6
    with tf.Graph().as_default():
        x = tf.constant(3.0)
        y = own(x)
        with v1.Session() as session:
            assert session.run(y) == 6
        with pytest.raises(RuntimeError, match="not this way"):
            tf.gradients(y, x)


def test_rows_of_a_tensor_of_unknown_shape_stay_rows() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32)
        given = tf.IndexedSlices(v1.placeholder(tf.float32), v1.placeholder(tf.int32))
        (found,) = tf.gradients(tf.identity(x), x, grad_ys=given)
        feeds = {x: [1.0], given.indices: [0], given.values: [2.0]}
        assert session.run(found, feeds).values.tolist() == [2]
        whole = tf.IndexedSlices(given.values, given.indices, tf.constant([3]))
        (found,) = tf.gradients(x * 2, x, grad_ys=whole)
        feeds[x] = np.ones(3)
        assert session.run(found, feeds).tolist() == [4, 0, 0]


def test_what_is_computed_once_more_may_have_integers() -> None:
    a, b = tf.constant(1), tf.constant(1.0)
    with tf.GradientTape() as tape:
        tape.watch(b)
        made = tf.recompute_grad(lambda a, b: (2 * a, 2 * b))(a, b)
    assert float(tape.gradient(made, b)) == 2


@pytest.mark.parametrize("shape", [(2, 2), None])
def test_there_are_no_second_derivatives_of_the_identity(shape: Any) -> None:
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, shape)
        with pytest.raises(ValueError, match="None values not supported"):
            tf.hessians(x, x)


def test_gradients_of_nothing_have_the_shape_of_what_they_are_of() -> None:
    wrong = tf.custom_gradient(lambda x: (tf.identity(x), tf.transpose))
    with pytest.raises(ValueError, match=r"expected \(0, 3\), got \(3, 0\)"):
        tf.test.compute_gradient(wrong, [tf.zeros([0, 3])])
    assert [x[0].shape for x in tf.test.compute_gradient(tf.identity, [tf.zeros([0, 3])])] == [
        (0, 0)
    ] * 2
    with tf.Graph().as_default(), v1.Session():
        x = tf.zeros([0, 3])
        with pytest.raises(ValueError, match="Empty gradient has wrong shape"):
            v1.test.compute_gradient(x, [0, 3], wrong(x), [0, 3])
