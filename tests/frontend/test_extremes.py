"""Where extremes are, as TensorFlow 2.21 says it, which passes over what is not a number."""

import numpy as np
import pytest

from gravure import tf

NAN, INF = np.nan, np.inf
PLACES = [
    ([NAN, 1, 2], 2, 1),
    ([1, NAN, 2], 2, 0),
    ([NAN, NAN, NAN], 0, 0),
    ([NAN, -INF, NAN], 0, 1),
    ([NAN, INF, NAN], 1, 0),
    ([-INF, NAN, -INF], 0, 0),
]
"""Rows, and where TensorFlow finds their largest and smallest element."""


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("times", [1, 50], ids=["short", "long"])
@pytest.mark.parametrize(("row", "largest", "smallest"), PLACES)
def test_what_is_no_number_is_passed_over(row, largest, smallest, times, dtype) -> None:
    x = tf.cast(tf.constant([row * times]), dtype)
    for find, place in ((tf.argmax, largest), (tf.argmin, smallest)):
        staged = tf.function(find)
        assert [find(x, 1).numpy()[0], *[staged(x, 1).numpy()[0] for _ in range(3)]] == [place] * 4
        assert find(tf.transpose(x), 0).numpy()[0] == place


def test_what_is_no_number_is_passed_over_in_much() -> None:
    random = np.random.default_rng(0)
    x = random.standard_normal((300, 700)).astype(np.float32)
    x[random.random(x.shape) < 0.3] = NAN
    for axis in (0, 1):
        assert tf.argmax(x, axis).numpy().tolist() == np.nanargmax(x, axis).tolist()
        assert tf.argmin(x, axis).numpy().tolist() == np.nanargmin(x, axis).tolist()
