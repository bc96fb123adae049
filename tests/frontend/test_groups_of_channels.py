"""A value of each group of channels, read where channels are padded: it lies beside no channel."""

import numpy as np

import gravure.tf as tf

RNG = np.random.default_rng(6)


def by_group(x, groups):
    sizes = [*x.shape[:-1], groups, x.shape[-1] // groups]
    apart = tf.reshape(x, sizes)
    mean, variance = tf.nn.moments(apart, [1, 2, 4], keepdims=True)
    return tf.reshape((apart - mean) * tf.math.rsqrt(variance + 1e-5), x.shape)


def test_weights_before_a_norm_by_groups_have_a_gradient():
    """The gradient of 8 channels is padded to 16, of which 8 belong to groups that are not."""
    x = tf.constant(RNG.normal(size=(6, 24, 24, 1)).astype("f"))
    first = tf.constant(RNG.normal(size=(3, 3, 1, 8)).astype("f"))
    second = tf.constant(RNG.normal(size=(3, 3, 8, 8)).astype("f"))

    def gradients(x, first, second):
        with tf.GradientTape() as tape:
            tape.watch([first, second])
            made = by_group(tf.nn.conv2d(x, first, 1, "SAME"), 4)
            total = tf.reduce_sum(tf.sin(tf.nn.conv2d(made, second, 1, "SAME")))
        return tape.gradient(total, [first, second])

    staged = tf.function(gradients)(x, first, second)
    for mine, expected in zip(staged, gradients(x, first, second), strict=True):
        np.testing.assert_allclose(mine, expected, rtol=2e-3, atol=2e-2)
