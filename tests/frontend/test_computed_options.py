"""Options of operations that are tensors of a function: axes, bounds, fractions."""

import numpy as np
import pytest

import gravure.tf as tf

X = np.arange(12, dtype="f4").reshape(3, 4)
IMAGE = np.random.RandomState(0).rand(1, 6, 6, 3).astype("f4")
SAMPLES = {
    "sum": (lambda s: tf.reduce_sum(X, s), 1),
    "mean of a list": (lambda s: tf.reduce_mean(X, [s]), 1),
    "kept": (lambda s: tf.reduce_max(X, s, keepdims=True), -1),
    "logsumexp": (lambda s: tf.reduce_logsumexp(X, s), 0),
    "argmax": (lambda s: tf.argmax(X, s), 1),
    "softmax": (lambda s: tf.nn.softmax(X, axis=s), 0),
    "running": (lambda s: tf.cumsum(X, s, reverse=True), 1),
    "grown": (lambda s: tf.expand_dims(X, s), 1),
    "reversed": (lambda s: tf.reverse(X, [s]), 1),
    "rolled": (lambda s: tf.roll(X, 1, s), 1),
    "turned": (lambda s: tf.transpose(X, [s, 0]), 1),
    "joined": (lambda s: tf.concat([X, X], s), 1),
    "stacked": (lambda s: tf.stack([X, X], s), 2),
    "parts": (lambda s: tf.split(X, 2, axis=s)[1], 1),
    "taken": (lambda s: tf.gather(X, [2, 0], axis=s), 1),
    "diagonal": (lambda s: tf.linalg.diag_part(X, k=s), 1),
    "above": (lambda s: tf.linalg.diag([1.0, 2.0], k=s), 1),
    "counts": (lambda s: tf.math.bincount([1, 2, 2], minlength=s), 5),
    "of length one": (lambda s: tf.math.l2_normalize(X, epsilon=s), 0.3),
    "hot": (lambda s: tf.one_hot([0, 1], 3, on_value=s, off_value=-s), 3.0),
    "padded": (lambda s: tf.pad(X, [[1, 1], [0, 0]], constant_values=s), 3.0),
    "middle": (lambda s: tf.image.central_crop(IMAGE, s), 0.5),
    "drawn": (lambda s: tf.random.stateless_uniform([3], [1, 2], minval=s, maxval=s + 1), 2.0),
    "drawn integers": (lambda s: tf.random.stateless_uniform([9], [1, 2], 0, s, tf.int32), 7),
    "drawn long": (
        lambda s: tf.random.stateless_uniform([9], [1, 2], s, 5, tf.int64),
        np.int64(-7),
    ),
}


@pytest.mark.parametrize("name", SAMPLES)
def test_what_is_told_in_the_run_does_what_is_told_at_once(name):
    function, value = SAMPLES[name]
    value = tf.constant(value)
    wanted = np.asarray(function(value))
    for form in ((), None):
        spec = tf.TensorSpec(form, value.dtype)
        found = tf.function(function, input_signature=[spec])(value)
        np.testing.assert_array_equal(found, wanted)
    with tf.Graph().as_default():
        fed = tf.compat.v1.placeholder(value.dtype, ())
        made = function(fed)
        with tf.compat.v1.Session() as session:
            np.testing.assert_array_equal(session.run(made, {fed: value.numpy()}), wanted)


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gradients_go_through_axes_that_are_computed(axis):
    x = tf.constant(X)

    def step(x, axis):
        return tf.reduce_sum(tf.reduce_logsumexp(x, axis) ** 2 + tf.reduce_max(tf.cumsum(x, axis)))

    @tf.function
    def staged(axis):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = step(x, axis)
        return tape.gradient(y, x)

    with tf.GradientTape() as tape:
        tape.watch(x)
        y = step(x, axis)
    np.testing.assert_allclose(staged(tf.constant(axis)), tape.gradient(y, x), rtol=1e-6)


def test_shapes_are_known_as_far_as_all_values_agree():
    shapes = {}

    @tf.function
    def look(axis):
        shapes["sum"] = tf.reduce_sum(X, axis).shape.as_list()
        shapes["kept"] = tf.reduce_sum(X, axis, keepdims=True).shape.as_list()
        shapes["cumsum"] = tf.cumsum(X, axis).shape.as_list()
        shapes["joined"] = tf.concat([X, X], axis).shape.as_list()

    look(tf.constant(1))
    assert shapes == {
        "sum": [None],
        "kept": [None, None],
        "cumsum": [3, 4],
        "joined": [None, None],
    }


def test_a_saved_function_has_its_computed_options(tmp_path):
    module = tf.Module()
    module.sum = tf.function(
        tf.reduce_sum,
        input_signature=[tf.TensorSpec([None, 4]), tf.TensorSpec([], tf.int32)],
    )
    tf.saved_model.save(module, str(tmp_path))
    again = tf.saved_model.load(str(tmp_path))
    for axis in (0, 1):
        np.testing.assert_array_equal(again.sum(X, tf.constant(axis)), X.sum(axis))


def test_what_may_not_be_is_refused_in_the_run():
    summed = tf.function(lambda axis: tf.reduce_sum(X, axis))
    with pytest.raises(tf.errors.InvalidArgumentError):
        summed(tf.constant(2))
    drawn = tf.function(lambda top: tf.random.uniform([2], 5, top, tf.int32))
    with pytest.raises(tf.errors.InvalidArgumentError, match="minval < maxval"):
        drawn(tf.constant(5))


def test_stft_takes_lengths_that_are_tensors():
    x = np.ones(16, "f4")
    wanted = tf.signal.stft(x, 4, 2)
    np.testing.assert_array_equal(tf.signal.stft(x, tf.constant(4), tf.constant(2)), wanted)
