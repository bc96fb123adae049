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


def test_the_windows_of_kaiser():
    for window, wanted in (  # (as TensorFlow 2.21 says)
        (tf.signal.kaiser_window(1), [1.0]),
        (tf.signal.kaiser_window(5), [5.2773448e-05, 0.2156727, 1.0, 0.2156727, 5.2773448e-05]),
        (tf.signal.kaiser_window(2, 3.0), [0.20488471, 0.20488471]),
        (tf.signal.kaiser_bessel_derived_window(2), [0.70710677, 0.70710677]),
        (tf.signal.kaiser_bessel_derived_window(4), [0.00726415, 0.9999736, 0.9999736, 0.00726415]),
    ):
        np.testing.assert_allclose(window, wanted, rtol=1e-5)
    assert tf.signal.kaiser_window(3, dtype=tf.float64).dtype == tf.float64


def test_transforms_of_three_axes():
    x = RNG.randn(3, 4, 6).astype(np.float32)
    wide = tf.signal.rfft3d(x)
    np.testing.assert_allclose(wide, np.fft.rfftn(x), rtol=1e-4, atol=1e-5)
    np.testing.assert_allclose(tf.signal.irfft3d(wide), x, atol=1e-5)
    short = tf.signal.rfft3d(x, [2, 4, 5])
    np.testing.assert_allclose(short, np.fft.rfftn(x[:2, :, :5]), rtol=1e-4, atol=1e-5)


OF_OPEN_LENGTH = {
    "added": lambda x: tf.signal.overlap_and_add(tf.signal.frame(x, 6, 3), 3),
    "complex": lambda x: tf.abs(tf.signal.fft(tf.cast(x, tf.complex64))),
    "cosines": lambda x: tf.signal.mdct(x, 16),
    "filled": lambda x: tf.signal.frame(x, 10, 4, pad_end=True, pad_value=1.0),
    "half": lambda x: tf.abs(tf.signal.rfft(x[:, :16], [20])),
    "inverse": lambda x: tf.signal.inverse_stft(tf.signal.stft(x, 16, 8), 16, 8),
    "middle": lambda x: tf.signal.fftshift(x, [1]),
    "pieces": lambda x: tf.signal.frame(x, 10, 4),
    "short": lambda x: tf.abs(tf.signal.stft(x, 16, 8, 32)),
}


@pytest.mark.parametrize("of", OF_OPEN_LENGTH)
def test_signals_of_a_length_that_only_the_run_knows(of):
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = OF_OPEN_LENGTH[of](x)
            total = tf.reduce_sum(y * tf.cos(y))
        return y, tape.gradient(total, x)

    staged = tf.function(both, input_signature=[tf.TensorSpec([None, None])])
    for length in (40, 33, 40, 17):
        x = tf.constant(RNG.randn(2, length).astype(np.float32))
        for found, wanted in zip(staged(x), both(x), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("blank", [0, -1])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_labels_and_scores_of_open_sizes_cost_the_same(blank, count):
    logits = RNG.randn(5, 2, 4).astype(np.float32)
    labels = RNG.randint(1, 3, (2, count)).astype(np.int32)
    lengths, times = np.int32([count, 1]), np.int32([5, 4])
    row = tf.TensorSpec([None], tf.int32)
    signature = [tf.TensorSpec([None, None], tf.int32), tf.TensorSpec([None] * 3), row, row]

    def cost(*given):
        return tf.nn.ctc_loss(*given, blank_index=blank)

    found = tf.function(cost, input_signature=signature)(labels, logits, lengths, times)
    np.testing.assert_allclose(found, cost(labels, logits, lengths, times), rtol=1e-5)


@pytest.mark.parametrize(
    ("kind", "norm"),
    [(1, None), *((kind, norm) for kind in (2, 3, 4) for norm in (None, "ortho"))],
)
def test_cosine_transforms_of_a_length_that_only_the_run_knows(kind, norm):
    x = np.random.default_rng(kind).random((2, 3, 5))

    @tf.function(input_signature=[tf.TensorSpec([None, 3, None], tf.float64)])
    def late(x):
        return tf.signal.dct(x, type=kind, norm=norm)

    np.testing.assert_allclose(late(x), tf.signal.dct(x, type=kind, norm=norm), atol=1e-12)
    np.testing.assert_allclose(
        late(x[..., :2]), tf.signal.dct(x[..., :2], type=kind, norm=norm), atol=1e-12
    )


@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("kind", [1, 4])
def test_long_cosine_transforms_of_all_types_are_not_by_a_matrix(kind, norm):
    """One was made for each call: of 4096 numbers it took 400 times as long as the transform."""
    if kind == 1 and norm:
        return
    x = np.random.default_rng(3).normal(size=(2, 300))
    n = np.arange(300) + (0.5 if kind == 4 else 0.0)
    basis = 2 * np.cos(np.pi * np.outer(n, n) / (300 - (kind == 1)))
    basis[[0, -1]] /= 2 if kind == 1 else 1
    exact = x @ basis / (np.sqrt(600) if norm else 1)
    for function in (tf.signal.dct, tf.function(tf.signal.dct)):
        made = function(tf.constant(x), type=kind, norm=norm)
        np.testing.assert_allclose(made, exact, atol=1e-9)
        narrow = function(tf.constant(x.astype(np.float32)), type=kind, norm=norm)
        assert narrow.dtype == tf.float32
        np.testing.assert_allclose(narrow, exact, atol=1e-3)


def test_lengths_of_cosine_transforms_are_positive():
    with pytest.raises(ValueError, match="n should be a positive integer or None, got -2"):
        tf.signal.dct(np.ones(4), n=-2)
    with pytest.raises(ValueError, match="dimension to be greater than one"):
        tf.signal.dct(np.ones(1), type=1)
