"""Second derivatives of decompositions in functions of open sizes are those of known sizes."""

from collections.abc import Callable

import numpy as np
import pytest

from gravure import tf

RANDOM = np.random.default_rng(0)
SQUARE = RANDOM.random((2, 3, 3)) + 2.0 * np.eye(3)
TALL = RANDOM.random((4, 2)) + np.eye(4, 2)
CASES: dict[str, tuple[Callable[..., tf.Tensor], np.ndarray]] = {
    "values": (lambda a: tf.linalg.svd(a)[0], SQUARE),
    "vectors": (lambda a: tf.abs(tf.linalg.svd(a)[1]), TALL),
    "values alone": (lambda a: tf.linalg.svd(a, compute_uv=False), TALL),
    "inverse": (tf.linalg.pinv, TALL),
    "root": (tf.linalg.sqrtm, SQUARE),
    "least squares": (lambda a: tf.linalg.lstsq(a, a[..., :1] + 1.0), TALL),
}


def slopes(make: Callable[..., tf.Tensor], a: tf.Tensor) -> list[tf.Tensor]:
    """Return first and second derivatives of what a function makes."""
    with tf.GradientTape() as outer:
        outer.watch(a)
        with tf.GradientTape() as inner:
            inner.watch(a)
            made = tf.reduce_sum(make(a) ** 3)
        first = inner.gradient(made, a)
    return [first, outer.gradient(first, a)]


@pytest.mark.parametrize("name", CASES)
def test_open_sizes_have_the_slopes_of_known_ones(name: str) -> None:
    make, a = CASES[name]
    spec = tf.TensorSpec([None] * a.ndim, tf.float64)
    wanted = slopes(make, tf.constant(a))
    found = tf.function(lambda x: slopes(make, x), input_signature=[spec])(tf.constant(a))
    for one, other in zip(wanted, found, strict=True):
        np.testing.assert_allclose(other, one, 1e-7, 1e-9)


def test_all_vectors_are_made_where_sizes_are_open() -> None:
    whole = lambda a: tf.linalg.svd(a, full_matrices=True)[1]  # noqa: E731
    found = tf.function(whole, input_signature=[tf.TensorSpec([None, None], tf.float64)])
    assert found(tf.constant(TALL)).shape == (4, 4)
    np.testing.assert_allclose(found(tf.constant(SQUARE[0])), whole(tf.constant(SQUARE[0])))


def test_vectors_beyond_the_values_want_known_sizes() -> None:
    spec = tf.TensorSpec([None, None], tf.float64)
    make = lambda a: tf.abs(tf.linalg.svd(a, full_matrices=True)[1])  # noqa: E731
    with pytest.raises(NotImplementedError, match="when full_matrices is True"):
        tf.function(lambda x: slopes(make, x), input_signature=[spec])(tf.constant(TALL))
