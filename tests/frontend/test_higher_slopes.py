"""Slopes of slopes: None or zeros as in TensorFlow, at once, traced and in sessions."""

import numpy as np
import pytest

import gravure.tf as tf

NN = tf.nn
X = tf.constant([[-2.3, 0.4, 1.7, 6.5, -0.6, 0.9]])
IMAGE = tf.constant(np.random.RandomState(0).randn(1, 4, 4, 2).astype(np.float32))
LABELS = tf.constant([[0.2, 0.3, 0.5], [0.1, 0.8, 0.1]])
LOGITS = tf.constant([[1.0, 2.0, 0.5], [0.3, -0.2, 1.0]])


def three(function, x):
    with tf.GradientTape() as third:
        third.watch(x)
        with tf.GradientTape() as second:
            second.watch(x)
            with tf.GradientTape() as first:
                first.watch(x)
                y = function(x)
            slope = first.gradient(y, x)
        bend = None if slope is None else second.gradient(slope, x)
    return slope, bend, None if bend is None else third.gradient(bend, x)


def of_graph(function, x):
    with tf.Graph().as_default():
        given = tf.compat.v1.placeholder(x.dtype, x.shape)
        made, found = function(given), []
        for _ in range(3):
            made = None if made is None else tf.gradients(made, given)[0]
            found.append(made)
        with tf.compat.v1.Session() as session:
            return [None if g is None else session.run(g, {given: x.numpy()}) for g in found]


def of_open_sizes(function, x):
    signature = [tf.TensorSpec([None] * len(x.shape), x.dtype)]
    return tf.function(lambda x: three(function, x), input_signature=signature)(x)


WAYS = {
    "at once": three,
    "open": of_open_sizes,
    "traced": lambda f, x: tf.function(lambda x: three(f, x))(x),
    "session": of_graph,
}
ZEROS = [
    (NN.relu, X),
    (NN.relu6, X),
    (NN.crelu, X),
    (lambda x: NN.max_pool2d(x, 2, 2, "SAME"), IMAGE),
    (lambda x: NN.max_pool2d(x, 3, 1, "SAME"), IMAGE),
    (tf.keras.activations.hard_sigmoid, X),
]
NONE = [tf.abs, NN.l2_loss, tf.square, lambda x: tf.maximum(x, 0.5), lambda x: x**2, NN.elu]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize(("function", "x"), ZEROS)
def test_slopes_by_results_that_go_in_steps_are_zeros_however_often(function, x, way):
    slope, bend, more = WAYS[way](function, x)
    assert np.any(slope)
    for found in (bend, more):
        assert np.shape(found) == x.shape
        assert not np.any(found)


@pytest.mark.parametrize("way", WAYS)
def test_slopes_by_operands_that_go_in_steps_are_zeros_once(way):
    slope, bend, more = WAYS[way](NN.leaky_relu, X)
    assert np.allclose(slope, [[0.2, 1.0, 1.0, 1.0, 0.2, 1.0]])
    assert not np.any(bend)
    assert more is None


@pytest.mark.parametrize("way", WAYS)
def test_what_does_not_depend_has_no_slope_and_no_zeros(way):
    assert [sum(g is None for g in WAYS[way](f, X)) for f in NONE] == [1, 1, 1, 2, 0, 0]


LOSSES = {
    "softmax": (NN.softmax_cross_entropy_with_logits, "NF FF"),
    "sigmoid": (NN.sigmoid_cross_entropy_with_logits, "NF FF"),
    "weighted": (lambda t, z: NN.weighted_cross_entropy_with_logits(t, z, 2.0), "NF FF"),
    "squares": (tf.keras.losses.MSE, "FF FF"),
    "poisson": (lambda t, z: tf.keras.losses.poisson(t, NN.softmax(z)), "NF FF"),
}


@pytest.mark.parametrize("traced", [False, True])
@pytest.mark.parametrize("loss", LOSSES)
def test_second_slopes_of_losses_by_labels(loss, traced):
    function, wanted = LOSSES[loss]

    def second(labels, logits):
        both = [labels, logits]
        with tf.GradientTape(persistent=True) as outer:
            outer.watch(both)
            with tf.GradientTape() as inner:
                inner.watch(both)
                y = function(labels, logits)
            slopes = inner.gradient(y, both)
        return [outer.gradient(slope, both) for slope in slopes]

    made = (tf.function(second) if traced else second)(LABELS, LOGITS)
    assert " ".join("".join("N" if g is None else "F" for g in row) for row in made) == wanted
    if loss == "softmax":  # TensorFlow: by logits alone what labels add to the slope is not seen
        assert np.allclose(made[0][1], 3 * NN.softmax(LOGITS) - 1, atol=1e-5)
        assert not np.any(made[1][0])


ROWS = tf.constant(np.random.RandomState(1).rand(2, 3).astype(np.float32))
MOVED = {
    "joined": lambda x: tf.concat([x[:, :1], x[:, 1:] * 2], 1),
    "stacked": lambda x: tf.stack([x, x * x], 1),
    "taken apart": lambda x: tf.stack(tf.unstack(x, 3, axis=1)[::-1], 1),
    "cut": lambda x: tf.split(x, [1, 2], 1)[1],
    "padded": lambda x: tf.pad(x, [[0, 0], [1, 0]]),
    "gathered": lambda x: tf.gather(x, [2, 0, 0], axis=1),
    "repeated": lambda x: tf.tile(x, [1, 2]),
    "saturated": lambda x: tf.image.adjust_saturation(tf.reshape(x, [1, 1, 2, 3]), 1.5),
    "turned": lambda x: tf.roll(tf.reverse(x, [1]), 1, 0),
    "chosen": lambda x: tf.where(x > 0.5, x * x, tf.transpose(tf.transpose(x))),
}


@pytest.mark.parametrize("way", [way for way in WAYS if way != "at once"])
@pytest.mark.parametrize("name", MOVED)
def test_slopes_of_slopes_of_what_is_moved_are_those_at_once(name, way):
    """What was joined had none in graphs: rules that are told shapes alone hide where they go."""

    def cubes(x):
        return MOVED[name](x) ** 3

    wanted = three(cubes, ROWS)
    for found, expected in zip(WAYS[way](cubes, ROWS), wanted, strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_slopes_of_slopes_of_complex_vectors_are_those_at_once_where_sizes_are_open():
    """They were zeros: in gradients of rules nobody saw what numpy computes of complex numbers."""

    def second(x):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = tf.linalg.eig(x)[1]
            slope = inner.gradient(y, x)
        return outer.gradient(slope, x)

    x = tf.constant([[1.5, 0.3], [0.2, 2.5]])
    wanted = second(x)
    assert np.abs(wanted).min() > 0.4
    for shape in ([2, 2], [None, None], None):
        found = tf.function(second, input_signature=[tf.TensorSpec(shape)])(x)
        np.testing.assert_allclose(found, wanted, rtol=1e-4)
