"""Layers of the first version that are used at once, without a graph of the first version."""

import gravure.tf as tf


def test_the_variables_of_a_layer_used_at_once() -> None:
    layer = tf.compat.v1.layers.Dense(4, use_bias=False)
    x = tf.ones([3, 2])
    with tf.GradientTape() as tape:
        y = layer(x)
    [kernel] = layer.variables
    assert tape.gradient(y, kernel).numpy().tolist() == [[3.0] * 4] * 2
    assert layer.trainable_variables[0] is kernel
