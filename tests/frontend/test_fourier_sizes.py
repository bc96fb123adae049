"""Transforms of few numbers, of matrices that compiled code takes whole, and of those between."""

from __future__ import annotations

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.eager.fourier import is_compiled

SHAPES = [
    (0, 3),
    (1, 1),
    (2, 5),
    (10, 100),
    (128, 100),
    (100, 128),
    (20, 2048),
    (7, 3000),
    (3, 64, 128),
]
TOLERANCES = {"complex64": 3e-7, "complex128": 1e-14}


@pytest.mark.parametrize("dtype", TOLERANCES)
@pytest.mark.parametrize("shape", SHAPES)
def test_transforms_along_two_axes_are_those_of_numpy(shape: tuple[int, ...], dtype: str) -> None:
    random = np.random.default_rng(0)
    x = (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(dtype)
    for ours, numpys in (
        (tf.signal.fft2d, np.fft.fft2),
        (tf.signal.ifft2d, np.fft.ifft2),
        (tf.signal.fft, np.fft.fft),
        (tf.signal.ifft, np.fft.ifft),
    ):
        wide = numpys(x.astype(np.complex128)) if x.size else x
        for given in (x, np.asfortranarray(x)):
            for _ in range(3):
                made = ours(tf.constant(given))
            staged = tf.function(ours)(tf.constant(given))
            assert made.dtype == dtype
            limit = TOLERANCES[dtype] * np.abs(wide).max(initial=0) * 8
            assert np.abs(made.numpy() - wide).max(initial=0) <= limit
            if ours in (tf.signal.fft2d, tf.signal.ifft2d):
                assert staged.numpy().tobytes() == made.numpy().tobytes()


def test_some_of_the_matrices_are_compiled_whole() -> None:
    whole = [s for s in SHAPES if is_compiled(s, s[-1]) and is_compiled(s[::-1], s[0])]
    assert (128, 100) in whole
    assert (10, 100) not in whole


def test_few_numbers_go_straight_to_what_transforms_them(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(np.fft, "fft", None)
    assert tf.signal.fft(tf.constant([1.0 + 0j, 0j])).numpy().tolist() == [1, 1]
