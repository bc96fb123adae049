"""Bessel functions of f32 are polynomials, those of f64 series: both agree."""

from __future__ import annotations

import numpy as np
import pytest

from gravure import tf

NAMES = [f"bessel_{kind}{order}{end}" for kind in "ik" for order in "01" for end in ("", "e")]
ENDS = [0.0, -0.0, 1e-6, 1.9999999, 2.0, 2.0000002, 7.9999995, 8.0, 8.000001, 80.0, np.nan]
POINTS = np.concatenate([np.linspace(-12, 12, 1501), ENDS]).astype(np.float32)


@pytest.mark.parametrize("name", NAMES)
def test_both_ways_to_compute_them_agree(name: str) -> None:
    function = getattr(tf.math.special, name)
    x = POINTS if name[7] == "i" else np.abs(POINTS)
    found, wanted = [], []
    for values, rows in ((x, found), (x.astype(np.float64), wanted)):
        given = tf.constant(values)
        with tf.GradientTape() as tape:
            tape.watch(given)
            result = function(given)
        rows += [result.numpy(), tape.gradient(result, given).numpy()]
    np.testing.assert_allclose(found[0], wanted[0].astype(np.float32), rtol=2.5e-7)
    np.testing.assert_array_equal(np.signbit(found[0]), np.signbit(wanted[0]))
    np.testing.assert_allclose(found[1], wanted[1].astype(np.float32), rtol=2e-5, atol=1e-6)
