"""Ways back of what is linear: the layer is not carried out, values are those of functions."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.eager.kernels import LOOKS
from gravure.runtime.tracing import EARS

RANDOM = np.random.default_rng(3)
IMAGES = tf.constant(RANDOM.random((2, 6, 7, 4)), tf.float32)
DEEP = tf.constant(RANDOM.random((3, 3, 4, 2)), tf.float32)
PLAIN = tf.constant(RANDOM.random((3, 3, 4, 5)), tf.float32)
OF_DEEP = tf.constant(RANDOM.random((2, 6, 7, 8)), tf.float32)
OF_PLAIN = tf.constant(RANDOM.random((2, 3, 4, 5)), tf.float32)
HALF = tf.constant(RANDOM.random((2, 3, 4, 4)), tf.float32)
ONE, TWO = [1, 1, 1, 1], [1, 2, 2, 1]

WAYS = {
    "deep_images": lambda a: tf.nn.depthwise_conv2d_backprop_input(
        [2, 6, 7, 4], DEEP, a, ONE, "SAME"
    ),
    "deep_filters": lambda a: tf.nn.depthwise_conv2d_backprop_filter(
        IMAGES, [3, 3, 4, 2], a, ONE, "SAME"
    ),
    "images": lambda a: tf.raw_ops.Conv2DBackpropInput(
        input_sizes=[2, 6, 7, 4], filter=PLAIN, out_backprop=a, strides=TWO, padding="SAME"
    ),
    "filters": lambda a: tf.raw_ops.Conv2DBackpropFilter(
        input=IMAGES, filter_sizes=[3, 3, 4, 5], out_backprop=a, strides=TWO, padding="SAME"
    ),
    "means": lambda a: tf.raw_ops.AvgPoolGrad(
        orig_input_shape=[2, 6, 7, 4], grad=a, ksize=TWO, strides=TWO, padding="SAME"
    ),
}
GRADS = {"deep_images": OF_DEEP, "deep_filters": OF_DEEP, "images": OF_PLAIN,
         "filters": OF_PLAIN, "means": HALF}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_values_are_those_of_functions_each_time(way):
    function = tf.function(WAYS[way])
    wanted = function(GRADS[way]).numpy()
    for _ in range(4):
        assert WAYS[way](GRADS[way]).numpy().tobytes() == wanted.tobytes()


@pytest.mark.parametrize("way", WAYS)
def test_the_layer_is_not_carried_out(way, monkeypatch):
    seen = []
    monkeypatch.setattr(EARS, "count", 1)
    LOOKS.append(lambda op, *_: seen.append(op.name))
    try:
        WAYS[way](GRADS[way])
    finally:
        LOOKS.pop()
    assert not {"gv.conv", "gv.avg_pool"}.intersection(seen), seen


@pytest.mark.parametrize("way", WAYS)
def test_another_gradient_is_refused(way):
    for _ in range(3):
        with pytest.raises((ValueError, tf.errors.InvalidArgumentError)):
            WAYS[way](GRADS[way][:, 1:])


def test_a_second_way_goes_through_it():
    with tf.GradientTape() as tape:
        tape.watch(OF_DEEP)
        made = WAYS["deep_images"](OF_DEEP)
    found = tape.gradient(made, OF_DEEP, IMAGES)
    wanted = tf.nn.depthwise_conv2d(IMAGES, DEEP, ONE, "SAME")
    np.testing.assert_allclose(found, wanted, rtol=1e-5)
