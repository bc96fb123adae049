"""Variables of Keras that functions make: TensorFlow 2.21 allows it in first calls alone."""

import pytest

import gravure.tf as tf

keras = tf.keras

MAKING = lambda x: keras.layers.Dense(2)(x) + 1.0  # noqa: E731


def test_a_second_optimiser_has_no_variables_in_a_function() -> None:
    @tf.function
    def step(w, optimiser):
        with tf.GradientTape() as tape:
            loss = tf.square(w + 2.0)
        optimiser.apply_gradients([(tape.gradient(loss, w), w)])
        return loss

    w = tf.Variable(2.0)
    assert step(w, keras.optimizers.Adam(0.01)).numpy() == 16.0
    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables created on"):
        step(w, keras.optimizers.Adam(0.1))
    step(w, keras.optimizers.SGD(0.0))  # (it has none for each variable)
    built = keras.optimizers.Adam(0.1)
    built.build([w])
    step(w, built)
    assert float(built.iterations) == 1.0


def test_layers_are_built_in_first_calls() -> None:
    layers = [keras.layers.Dense(2), keras.layers.Dense(2), keras.layers.Dropout(0.5)]

    @tf.function
    def called(i):
        return layers[i](tf.ones((1, 3)))

    assert called(0).shape == (1, 2)
    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables"):
        called(1)
    assert called(2).shape == (1, 3)


def test_no_function_makes_layers_in_each_trace() -> None:
    with pytest.raises(ValueError, match=r"only supports singleton tf\.Variables"):
        tf.function(MAKING)(tf.ones((1, 2)))


def test_a_function_inside_has_a_first_call_of_its_own() -> None:
    kept: list = []

    @tf.function
    def inner(x):
        if not kept:
            kept.append(tf.Variable(1.0))
        return x + kept[0]

    @tf.function
    def outer(x):
        return inner(x) if x.shape.rank else x

    assert outer(tf.constant(1.0)).numpy() == 1.0
    assert outer(tf.constant([1.0])).numpy() == 2.0
    kept.clear()
    with pytest.raises(ValueError, match="only supports singleton"):
        inner(tf.constant([[1.0]]))
