"""Cosine transforms, labels without places, gradients beside differences."""

import numpy as np
import pytest

import gravure.tf as tf

RNG = np.random.RandomState(0)


@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_cosine_transforms_are_undone(kind):
    x = tf.constant(RNG.randn(3, 8))
    back = tf.signal.idct(tf.signal.dct(x, kind), kind)
    assert np.allclose(back / (14 if kind == 1 else 16), x)
    if kind != 1:
        ortho = tf.signal.idct(tf.signal.dct(x, kind, norm="ortho"), kind, norm="ortho")
        assert np.allclose(ortho, x)


def test_labels_without_places_are_summed_over_all_their_places():
    logits = tf.constant(RNG.randn(3, 1, 3), tf.float32)
    chance = tf.nn.softmax(logits)[:, 0].numpy()
    ways = [(1, 1, 2), (1, 2, 2), (0, 1, 2), (1, 0, 2), (1, 2, 0)]
    wanted = sum(chance[0, a] * chance[1, b] * chance[2, c] for a, b, c in ways)
    found = tf.nn.ctc_loss([[1, 2]], logits, [2], [3])
    assert float(np.exp(-found[0])) == pytest.approx(wanted, rel=1e-5)
    nothing = tf.nn.ctc_loss([[1, 2]], logits, [0], [3])
    assert float(np.exp(-nothing[0])) == pytest.approx(np.prod(chance[:, 0]), rel=1e-5)


def test_gradients_of_graphs_are_checked_by_differences():
    v1 = tf.compat.v1
    with tf.Graph().as_default(), v1.Session():
        x = tf.constant(RNG.randn(2, 3))
        y = tf.reduce_sum(x**3, 1)
        exact, near = v1.test.compute_gradient(x, [2, 3], y, [2], x_init_value=np.ones((2, 3)))
        assert exact.shape == near.shape == (6, 2)
        assert v1.test.compute_gradient_error([x], [[2, 3]], y, [2]) < 1e-4
    with pytest.raises(ValueError, match="default session"):
        v1.test.compute_gradient(x, [2, 3], y, [2])
