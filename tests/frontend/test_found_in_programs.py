"""What programs that were tried again found: values, gradients and refusals, as TensorFlow's."""

from typing import Any

import numpy as np
import pytest

import gravure.tf as tf


def test_a_complex_number_alone_stays_without_axes() -> None:
    number = tf.constant(1.5 + 2j, tf.complex64)

    @tf.function
    def real(z: Any) -> Any:
        return tf.cast(z, tf.float32)

    for made in (tf.cast(number, tf.float32), real(number), real(number)):
        assert made.shape == ()
        assert made.numpy() == 1.5


FUNCTIONS = {
    "cast": lambda x: tf.math.real(tf.cast(x, tf.complex64) * (2 + 1j)),
    "abs": lambda x: tf.abs(tf.cast(tf.cos(x), tf.complex64) * (1 + 2j)) ** 2,
    "parts": lambda x: tf.math.imag(tf.complex(x, x * x) * tf.complex(x, 1.0)),
    "waves": lambda x: tf.abs(tf.signal.fft(tf.cast(tf.stack([x, x * x, 1.0]), tf.complex64))),
}


@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")  # numpy does these
@pytest.mark.parametrize("name", FUNCTIONS)
def test_tapes_go_through_functions_on_complex_numbers(name: str) -> None:
    at_once = FUNCTIONS[name]
    function = tf.function(at_once)
    slopes = []
    for each in (at_once, function, function, function, function):
        x = tf.constant(0.7)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = each(x)
        slopes.append(tape.gradient(y, x))
    assert all(slope.shape == () for slope in slopes)
    assert abs(slopes[0]) > 0.05
    np.testing.assert_allclose([s.numpy() for s in slopes[1:]], slopes[0].numpy(), rtol=1e-5)


def test_ones_of_sizes_of_a_run_may_be_of_any_type() -> None:
    @tf.function(input_signature=[tf.TensorSpec([None])])
    def made(x: Any) -> Any:
        count = tf.shape(x)[0]
        types = (tf.bool, tf.int8, tf.complex64, tf.float16)
        return [f([count], t) for f in (tf.ones, tf.zeros) for t in types], tf.zeros(
            [count], "string"
        )

    numbers, texts = made(tf.zeros(2))
    assert [x.numpy().tolist() for x in numbers] == [
        *([True, True], [1, 1], [1, 1], [1, 1]),
        *([False, False], [0, 0], [0, 0], [0, 0]),
    ]
    assert texts.numpy().tolist() == [b"", b""]


def test_averages_are_kept_of_the_variables_of_layers() -> None:
    layer = tf.keras.layers.Dense(1, kernel_initializer="ones")
    layer.build((None, 2))
    weights = [v.value for v in layer.trainable_variables]
    average = tf.train.ExponentialMovingAverage(0.5)

    @tf.function
    def step() -> None:
        for weight in weights:
            weight.assign_add(tf.ones_like(weight))
        average.apply(weights)

    average.apply(weights)
    for _ in range(3):
        step()
    kept = [average.average(weight).numpy().tolist() for weight in weights]
    assert kept == [[[3.125], [3.125]], [2.125]]


def doubled_by_python(grad: Any) -> Any:
    return tf.numpy_function(lambda g: g * 2, [grad], tf.float32)


def limited(grad: Any) -> Any:
    below = tf.debugging.assert_less(tf.abs(grad), 100.0, message="too large")
    with tf.control_dependencies([below]):
        return tf.identity(grad)


@pytest.mark.filterwarnings("ignore::gravure.PerformanceWarning")
@pytest.mark.parametrize("place", ["plain", "choice", "loop"])
def test_gradients_of_ones_own_may_call_python_and_check(place: str) -> None:
    def gradient(rule: Any) -> Any:
        own = tf.custom_gradient(lambda x: (x * 1.0, rule))

        @tf.function
        def slope(x: Any, factor: Any) -> Any:
            with tf.GradientTape() as tape:
                tape.watch(x)
                if place == "choice":
                    y = tf.cond(x > 0.0, lambda: own(x), lambda: x)
                elif place == "loop":
                    y = tf.while_loop(
                        lambda i, _: i < 1, lambda i, v: (i + 1, own(v)), (tf.constant(0), x)
                    )[1]
                else:
                    y = own(x)
                y = y * factor
            return tape.gradient(y, x)

        return slope

    one, far = tf.constant(1.0), tf.constant(1000.0)
    by_python, checked = gradient(doubled_by_python), gradient(limited)
    for _ in range(4):
        assert by_python(one, one).numpy() == 2.0
        assert checked(one, one).numpy() == 1.0
        with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
            checked(one, far)
