"""Layers of the first version that are used at once, without a graph of the first version."""

import numpy as np
import pytest

import gravure.tf as tf


def test_the_variables_of_a_layer_used_at_once() -> None:
    layer = tf.compat.v1.layers.Dense(4, use_bias=False)
    x = tf.ones([3, 2])
    with tf.GradientTape() as tape:
        y = layer(x)
    [kernel] = layer.variables
    assert tape.gradient(y, kernel).numpy().tolist() == [[3.0] * 4] * 2
    assert layer.trainable_variables[0] is kernel


def test_moments_that_are_given_normalise_with_a_factor_or_without() -> None:
    x = tf.reshape(tf.range(8.0), [1, 2, 2, 2])
    moments = {"mean": tf.constant([1.0, 2.0]), "variance": tf.constant([4.0, 9.0])}
    add, factor = tf.constant([0.5, 0.25]), tf.constant([2.0, 3.0])
    plain = (x.numpy() - [1, 2]) / np.sqrt(np.array([4, 9]) + 1e-3)
    scaled = tf.nn.batch_norm_with_global_normalization(
        x, *moments.values(), add, factor, 1e-3, True
    )
    np.testing.assert_allclose(scaled, plain * [2, 3] + np.array([0.5, 0.25]), rtol=1e-5)
    more = {"beta": add, "gamma": factor, "variance_epsilon": 1e-3}
    found = tf.compat.v1.nn.batch_norm_with_global_normalization(
        input=x, **moments, **more, scale_after_normalization=False
    )
    np.testing.assert_allclose(found, plain + np.array([0.5, 0.25]), atol=1e-6)


def test_options_of_the_optimiser_are_noted_unless_they_change_results() -> None:
    options = tf.config.optimizer
    before = options.get_experimental_options()
    assert before == {"disable_model_pruning": False, "disable_meta_optimizer": False}
    try:
        options.set_experimental_options({"constant_folding": False})
        assert options.get_experimental_options() == {**before, "constant_folding": False}
        with pytest.raises(tf.errors.UnimplementedError, match="'auto_mixed_precision'"):
            options.set_experimental_options({"auto_mixed_precision": True})
        with pytest.raises(ValueError, match="optimiser option 'folding', expected one of"):
            options.set_experimental_options({"folding": True})
        assert options.get_experimental_options() == {**before, "constant_folding": False}
    finally:
        options.set_experimental_options({"constant_folding": True})
