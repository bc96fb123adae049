"""Derivatives of special functions at their ends and bends, the first and the second; 2.21's.

Where TensorFlow gives NaN for a number (`spence` at 1) or another one (`bessel_i0` at 0), what
mathematics says.
"""

import numpy as np
import pytest

import gravure.tf as tf

INF, NAN = np.inf, np.nan
X = [-1.5, 0.0, 1.0]
SLOPES = {
    "expint": ([-0.14875345, INF, 2.7182817], [-0.24792242, NAN, 0.0]),
    "bessel_i0": ([-0.9816664, 0.0, 0.5651591], [0.992279, 0.5, 0.7009069]),
    "bessel_i0e": ([0.14839426, 0.0, -0.25784922], [0.15076223, 0.5, 0.307788]),
    "bessel_j0": ([0.55793655, 0.0, -0.4400506], [-0.13987002, -0.5, -0.3251471]),
    "bessel_k0": ([-INF, -INF, -0.6019073], [NAN, INF, 1.0229318]),
    "bessel_k0e": ([NAN, NAN, -0.49169064], [NAN, NAN, 0.6527724]),
    "bessel_k1": ([NAN, -INF, -1.0229318], [NAN, INF, 2.2267466]),
    "bessel_k1e": ([NAN, -INF, -1.1444631], [NAN, NAN, 2.1278443]),
    "bessel_y0": ([INF, INF, 0.7812128], [INF, NAN, -0.86946976]),
    "bessel_y1": ([-INF, NAN, 0.86946976], [NAN, NAN, -0.86946976]),
    "spence": ([NAN, -INF, -1.0], [NAN, NAN, 0.5]),
}


def slopes(name, x):
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = getattr(tf.math.special, name)(x)
        first = inner.gradient(y, x)
    return first, outer.gradient(first, x)


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("name", SLOPES)
def test_slopes_at_ends_are_not_0(name, staged):
    x = tf.constant(X)
    run = tf.function(slopes) if staged else slopes
    first, second = run(name, x)
    assert np.allclose(first, SLOPES[name][0], rtol=1e-5, equal_nan=True)
    assert np.allclose(second, SLOPES[name][1], rtol=1e-5, equal_nan=True)


@pytest.mark.parametrize("name", SLOPES)
def test_slopes_of_graphs_and_of_directions_are_the_same(name):
    x = tf.constant(X)
    with tf.autodiff.ForwardAccumulator(x, tf.ones_like(x)) as forward:
        y = getattr(tf.math.special, name)(x)
    assert np.allclose(forward.jvp(y), SLOPES[name][0], rtol=1e-5, equal_nan=True)
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x = tf.constant(X)
        found = tf.gradients(getattr(tf.math.special, name)(x), x)
        assert np.allclose(session.run(found[0]), SLOPES[name][0], rtol=1e-5, equal_nan=True)


def test_the_slope_of_spence_near_1_has_all_digits():
    x = tf.constant([0.5, 0.94, 0.999, 1.0, 1.001, 1.06, 1.07, 2.0], tf.float64)
    first, second = slopes("spence", x)
    apart = x.numpy() - 1
    safe = np.where(apart == 0, 1, apart)
    assert np.allclose(first, np.where(apart == 0, -1, -np.log1p(safe) / safe), rtol=1e-14)
    wanted = (np.log1p(safe) - safe / (1 + safe)) / safe**2
    assert np.allclose(second, np.where(apart == 0, 0.5, wanted), rtol=1e-9)
