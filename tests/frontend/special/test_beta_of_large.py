"""The incomplete beta function of large numbers, beside values of fifty digits and its mirror."""

import numpy as np
import pytest

import gravure.tf as tf

KNOWN = [  # computed by a hypergeometric series in sixty digits
    (1e5, 1e-3, 0.9999980926429192, 0.0012615230986953148),
    (1e4, 1e-2, 0.9999, 0.002216232767091688),
    (20.1, 20.1, 1e-8, 1.251705694349363e-150),
    (50.0, 1e4, 1e-8, 3.7153186083005724e-265),
    (1e5, 1e5, 0.499, 0.18554674455755676),
    (1e5, 300.0, 0.997, 0.4716420427934324),
    (1e-3, 1e5, 1e-9, 0.9914031147163669),
    (1e5, 1e-3, 0.9999999999990905, 0.015514956747137277),
    (300.0, 1e5, 0.0025, 0.0013478157872875481),
    (1e4, 1e4, 0.5, 0.5),
    (0.5, 0.5, 0.999999999999999, 0.9999999798763621),
    (1e5, 20.0, 0.9999, 0.9965402426456834),
    (1e-3, 1e-3, 1e-300, 0.25059402842244355),
    (1e5, 2.0, 0.9999, 0.0004991495735490728),
]


@pytest.mark.parametrize(("a", "b", "x", "wanted"), KNOWN)
def test_few_of_the_digits_are_lost(a: float, b: float, x: float, wanted: float) -> None:
    given = [tf.constant(each, tf.float64) for each in (a, b, x)]
    np.testing.assert_allclose(tf.math.betainc(*given), wanted, rtol=2e-12)
    staged = tf.function(tf.math.betainc)
    assert staged(*given).numpy() == tf.math.betainc(*given).numpy()


def test_it_grows_and_its_mirror_is_the_rest() -> None:
    ends = [1e-3, 0.1, 1, 5, 19.9, 20.0, 20.1, 100, 1e3, 1e5]
    places = [0, 1e-300, 1e-20, 1e-8, 2**-20, 0.0625, 0.25, 0.5, 0.75, 1 - 2**-20, 1 - 2**-50, 1]
    a, b, x = np.meshgrid(ends, ends, places, indexing="ij")
    found = tf.math.betainc(*map(tf.constant, (a, b, x))).numpy()
    assert (found[..., 0] == 0).all()
    assert (found[..., -1] == 1).all()
    assert (np.diff(found) > -1e-13).all()
    exact = (1 - (1 - x)) == x
    mirror = tf.math.betainc(*map(tf.constant, (b, a, 1 - x))).numpy()
    np.testing.assert_allclose((found + mirror)[exact], 1, rtol=1e-13)
