"""Functions that few programs use, beside what TensorFlow gives (`record.py`)."""

import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

from .record import CALLS, PICTURE, arrays

RECORDED = json.loads(Path(__file__).with_name("values.json").read_text())


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", CALLS)
def test_values_and_gradients_are_tensorflows(name: str) -> None:
    staged = tf.function(lambda: CALLS[name](tf))
    for found in (arrays(CALLS[name], tf), arrays(lambda _: staged(), tf)):
        for array, (dtype, shape, values) in zip(found, RECORDED[name], strict=True):
            assert (str(array.dtype), list(array.shape)) == (dtype, shape)
            near = 1e-5 if dtype == "float32" else 1e-10
            np.testing.assert_allclose(array.ravel(), values, rtol=near, atol=near)


def test_sizes_that_do_not_fit_are_refused() -> None:
    with pytest.raises(ValueError, match="multiple of 4"):
        tf.signal.mdct(tf.ones([32]), 6)
    with pytest.raises(ValueError, match="num_bits is 1"):
        tf.quantization.fake_quant_with_min_max_args([1.0], num_bits=1)
    with pytest.raises(ValueError, match="one axis"):
        tf.quantization.fake_quant_with_min_max_vars_per_channel([1.0], 0.0, 1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="square"):
        tf.linalg.sqrtm(tf.ones([2, 3]))


def test_fake_quantisation_counts_steps_from_zero() -> None:
    step = np.float32(2 / 255)
    found = tf.quantization.fake_quant_with_min_max_vars(tf.linspace(-1.1, 1.1, 1001), -1.0, 1.0)
    counts = np.rint(found / step).astype(np.float32)
    np.testing.assert_array_equal(found, counts * step)  # as in TensorFlow 2.21
    assert (counts.min(), counts.max()) == (-127, 128)


def test_new_functions_refuse_what_tensorflow_refuses() -> None:
    wrong = tf.errors.InvalidArgumentError
    for call, error, words in (
        (lambda: tf.math.sobol_sample(0, 1), wrong, "dim must be at least one"),
        (lambda: tf.math.sobol_sample(21201, 1), wrong, "dim must be at most 21200"),
        (lambda: tf.math.sobol_sample(3, 3, skip=-1), wrong, "skip must be non-negative"),
        (lambda: tf.strings.unicode_script([1 << 40]), wrong, "int32"),
        (lambda: tf.image.adjust_jpeg_quality(PICTURE, 101), wrong, r"\[0,100\]"),
        (lambda: tf.image.random_jpeg_quality(PICTURE, 50, 20), ValueError, "less than"),
        (lambda: tf.image.random_jpeg_quality(PICTURE, 50, 120), ValueError, "between 0 and 100"),
    ):
        with pytest.raises(error, match=words):
            call()
    draw = tf.random.stateless_parameterized_truncated_normal
    with pytest.raises(wrong, match="Invalid parameters"):
        draw([3], [1, 2], 0.0, 1.0, 2.0, -2.0)
    with pytest.raises(wrong, match="must end with"):
        draw([3], [1, 2], 0.0, [1.0, 2.0])
    operator = tf.linalg.LinearOperatorFullMatrix([[1.0]])
    with pytest.raises(ValueError, match="self-adjoint"):
        tf.linalg.experimental.conjugate_gradient(operator, [1.0])


def test_own_gradients_of_unknown_shapes_do_not_ask_what_is_inside() -> None:
    @tf.function(input_signature=[tf.TensorSpec(None)] * 2)
    def slopes(a: tf.Tensor, x: tf.Tensor) -> list[tf.Tensor]:
        with tf.GradientTape() as tape:
            tape.watch([a, x])
            found = tf.math.igamma(a, x) + tf.math.betainc(x, x, x / 9.0)
        return tape.gradient(found, [a, x])

    by_a, by_x = slopes(np.float32(2), np.float32([1, 2]))
    np.testing.assert_allclose(by_a, -0.5702007, rtol=1e-5)
    assert by_x.shape == (2,)


def test_singular_values_alone_have_their_name() -> None:
    found = tf.raw_ops.Svd(input=[[4.0, 1.0], [1.0, 3.0]], compute_uv=False)
    assert found._fields == ("s", "u", "v")
    np.testing.assert_allclose(found.s, [4.618034, 2.381966], rtol=1e-6)


def test_roots_of_matrices_without_an_inverse_or_without_a_real_root():
    nan = np.full((2, 2), np.nan)
    given = np.array(
        [
            [[1, 0], [0, 0]],
            [[-1, 0], [0, 4]],
            [[-1, 1], [0, 4]],
            [[0, 1], [-1, 0]],
            nan,
            nan + np.inf,
        ]
    )
    half = np.sqrt(0.5)
    expected = [[[1, 0], [0, 0]], nan, nan, [[half, half], [-half, half]], nan, nan]
    np.testing.assert_allclose(tf.linalg.sqrtm(given), expected, atol=1e-12)
    np.testing.assert_array_equal(tf.linalg.sqrtm(tf.fill([2, 2], np.inf)), nan)
