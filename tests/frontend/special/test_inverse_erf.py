"""Inverses of the error function and the like have all their digits, up to the ends."""

import numpy as np
import pytest

import gravure.tf as tf

# The numbers themselves: recorded from mpmath 1.4.1 at 60 digits.
QUANTILES = {
    1e-300: -37.047096299361200,
    1e-54: -15.535342772841918,
    1e-15: -7.9413453261709970,
    0.3: -0.52440051270804089,
    0.5 + 2**-40: 2.27976513509111146e-12,
    1 - 2**-20: 4.7630010342678139,
    1 - 2**-53: 8.2095361516013872,
}


@pytest.mark.parametrize("p", QUANTILES)
def test_quantiles_of_the_normal_distribution(p) -> None:
    x = tf.constant([p], tf.float64)
    found = tf.math.ndtri(x).numpy()[0]
    assert found == pytest.approx(QUANTILES[p], rel=1e-15, abs=0)
    assert tf.function(tf.math.ndtri)(x).numpy()[0] == found
    normal = tf.compat.v1.distributions.Normal(np.float64(0.0), np.float64(1.0))
    assert normal.quantile(x).numpy()[0] == found
    if p < 0.5:
        assert tf.math.erfcinv(2 * x).numpy()[0] * 2**0.5 == pytest.approx(-found, rel=1e-15, abs=0)
        assert tf.math.ndtri(1 - tf.cast(x, "float32")).dtype == tf.float32
    else:
        assert tf.math.erfinv(2 * x - 1).numpy()[0] * 2**0.5 == pytest.approx(
            found, rel=1e-15, abs=0
        )


def test_ends_and_what_is_beyond() -> None:
    inf, nan = np.inf, np.nan
    np.testing.assert_array_equal(tf.math.ndtri([0.0, 1.0, 0.5, -0.1, 1.5, nan]),
                                  [-inf, inf, 0, nan, nan, nan])  # fmt: skip
    np.testing.assert_array_equal(tf.math.erfinv([-1.0, 1.0, 0.0, 1.5]), [-inf, inf, 0, nan])
    np.testing.assert_array_equal(tf.math.erfcinv([0.0, 2.0, 1.0, -0.5]), [inf, -inf, 0, nan])
    assert tf.math.ndtri(np.float32(1e-28)).numpy() == np.float32(-11.058232)


@pytest.mark.parametrize("name", ["erfinv", "erfcinv", "ndtri"])
def test_slopes_are_finite_in_the_tails(name) -> None:
    function = getattr(tf.math, name)
    x = tf.constant([1e-3 if name == "erfinv" else 1e-10, 0.3, 0.999], tf.float64)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = function(x)
        slope = inner.gradient(y, x)
    half = np.sqrt(np.pi) / 2
    scale, share = {"erfinv": (half, 1), "erfcinv": (-half, 1), "ndtri": (half * 8**0.5, 0.5)}[name]
    np.testing.assert_allclose(slope, scale * np.exp(share * y.numpy() ** 2), rtol=1e-12)
    second = 2 * share * y.numpy() * slope.numpy() ** 2
    np.testing.assert_allclose(outer.gradient(slope, x), second, rtol=1e-11)
