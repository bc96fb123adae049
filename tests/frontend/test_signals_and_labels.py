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


@pytest.mark.parametrize(
    ("width", "words", "chances"),  # (as TensorFlow 2.21 says)
    [
        (2, [[2, 1, 2, 1], [2, 0, 2, 3]], [[-4.4301, -4.7412], [-4.66255, -4.7621]]),
        (4, [[2, 1, 2, 3], [2, 0, 2, 3]], [[-3.5103, -3.8973], [-3.7559, -4.4381]]),
    ],
)
def test_a_narrow_search_drops_what_tensorflow_drops(width, words, chances):
    random = np.random.RandomState(1)
    random.randn(36)
    logits = random.randn(6, 2, 5).astype(np.float32)
    [found, _], values = tf.nn.ctc_beam_search_decoder(logits, [6, 6], width, 2)
    assert tf.sparse.to_dense(found, -1).numpy().tolist() == words
    np.testing.assert_allclose(values, chances, atol=1e-4)
