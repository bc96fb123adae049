"""Functions that few programs use, beside what TensorFlow gives (`record.py`)."""

import json
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

from .record import CALLS, arrays

RECORDED = json.loads(Path(__file__).with_name("values.json").read_text())


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
