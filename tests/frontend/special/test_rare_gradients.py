"""Gradients that were missing, or NaN, where TensorFlow 2.21 has numbers; its values."""

import numpy as np
import pytest

import gravure.tf as tf

CASES = {
    "sqrtm": (
        lambda x: tf.reduce_sum(tf.linalg.sqrtm(x) * [[1.0, 2.0], [3.0, 4.0]]),
        [[2.0, 1.0], [1.0, 3.0]],
        [[0.20262212, 0.51806074], [0.8429804, 1.0456026]],
    ),
    "bincount": (
        lambda x: tf.reduce_sum(tf.math.bincount([0, 1, 1, 3], weights=x) * [1.0, 2.0, 3.0, 4.0]),
        [1.0, 2.0, 3.0, 5.0],
        [1.0, 2.0, 2.0, 4.0],
    ),
    "bincount cut": (
        lambda x: tf.reduce_sum(tf.math.bincount([0, 1, 1, 3], x, maxlength=2) * [1.0, 2.0]),
        [1.0, 2.0, 3.0, 5.0],
        [1.0, 2.0, 2.0, 0.0],
    ),
    "nextafter": (
        lambda x: tf.reduce_sum(tf.math.nextafter(x, [[2.0], [3.0]]) * [[1.0], [2.0]]),
        [1.0, 2.0],
        [3.0, 3.0],
    ),
    "unsorted_segment_prod": (
        lambda x: tf.reduce_sum(
            tf.math.unsorted_segment_prod(x, [0, 0, 1, 1, 2, 2], 3) * [1.0, 2.0, 3.0]
        ),
        [2.0, 0.0, 3.0, 4.0, 0.0, 0.0],
        [0.0, 2.0, 8.0, 6.0, 0.0, 0.0],
    ),
    "segment_prod": (
        lambda x: tf.reduce_sum(tf.math.segment_prod(x, [0, 0, 0, 1]) * [1.0, 2.0]),
        [2.0, 0.0, 3.0, 4.0],
        [0.0, 6.0, 0.0, 2.0],
    ),
}


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("name", CASES)
def test_a_rare_gradient_is_there(name, staged):
    function, x, wanted = CASES[name]

    def gradient(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return tape.gradient(y, x)

    found = (tf.function(gradient) if staged else gradient)(tf.constant(x))
    assert np.allclose(found, wanted, rtol=1e-4, atol=1e-6)


ODD = {
    "bessel_i1": 0.5,
    "bessel_i1e": 0.5,
    "bessel_j1": 0.5,
    "fresnel_cos": 1.0,
    "fresnel_sin": 0.0,
}


@pytest.mark.parametrize("kind", [tf.float32, tf.float64])
@pytest.mark.parametrize("name", ODD)
def test_an_odd_function_is_as_steep_at_0_as_beside_it(name, kind):
    x = tf.constant([-1e-5, 0.0, 1e-5, 7.0, -7.0, np.nan], kind)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = getattr(tf.math.special, name)(x)
    found = y.numpy()
    assert found[1] == 0.0
    assert found[3] == -found[4]
    assert np.isnan(found[5])
    assert np.allclose(tape.gradient(y, x).numpy()[:3], ODD[name], atol=2e-5)


def test_axes_of_expand_dims_may_be_a_list_of_one():
    assert tf.expand_dims([[1, 2]], axis=[-1]).shape == [1, 2, 1]
    assert tf.function(lambda x: tf.expand_dims(x, [0]))(tf.zeros([3])).shape == [1, 3]
    with pytest.raises(tf.errors.InvalidArgumentError, match="single value"):
        tf.expand_dims([1], [0, 1])


@pytest.mark.parametrize("dims", [(4, 2), (2, 4)])
def test_whole_bases_of_matrices_that_are_not_square(dims):
    x = np.random.default_rng(0).normal(size=dims)
    q, r = tf.linalg.qr(x, full_matrices=True)
    assert q.shape == [dims[0], dims[0]]
    assert np.allclose(q @ r, x)
    assert np.allclose(tf.transpose(q) @ q, np.eye(dims[0]))
    s, u, v = tf.linalg.svd(x, full_matrices=True)
    assert (u.shape, v.shape) == ([dims[0], dims[0]], [dims[1], dims[1]])
    assert np.allclose(u.numpy()[:, :2] * s @ tf.transpose(v).numpy()[:2], x)


def test_the_norm_of_slices_counts_rows_as_they_are_given():
    table = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, [0, 0, 1]) * [[1.0], [2.0], [3.0]])
    grad = tape.gradient(loss, table)
    (clipped,), norm = tf.clip_by_global_norm([grad], 1.0)
    assert np.isclose(norm, 28**0.5)
    assert isinstance(clipped, tf.IndexedSlices)
    assert np.allclose(clipped.values, grad.values / norm)


@tf.custom_gradient
def shaped(x):
    def gradient(grad):
        flat = tf.reshape(grad, [-1]) * tf.reshape(x, [tf.size(x)]) ** 2
        return tf.reshape(flat, tf.shape(x))

    return x**3, gradient


# A shape that is computed in such a gradient is not compiled yet; that is said.
@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")
@pytest.mark.parametrize("dims", [[2, 2], [None, 2], None])
def test_a_gradient_of_ones_own_may_ask_for_shapes_in_a_function(dims):
    @tf.function(input_signature=[tf.TensorSpec(dims)])
    def gradients(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = tf.reduce_sum(shaped(x))
            first = tape.gradient(y, x)
        return first, outer.gradient(first, x)

    for _ in range(3):
        first, second = gradients(tf.constant([[2.0, 1.0], [1.0, 3.0]]))
        assert first.numpy().tolist() == [[4.0, 1.0], [1.0, 9.0]]
        assert second.numpy().tolist() == [[4.0, 2.0], [2.0, 6.0]]
