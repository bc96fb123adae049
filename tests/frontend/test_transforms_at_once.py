"""Transforms of many numbers at once: along several axes, and those of cosines."""

import numpy as np
import pytest

from gravure import tf


def _refuse(*_: object, **__: object) -> None:
    raise AssertionError("numpy transforms what compiled code does in a tenth of the time")


@pytest.mark.parametrize("name", ["fft2d", "ifft2d", "fft3d", "ifft3d"])
@pytest.mark.parametrize("shape", [(1, 64, 256), (4, 128, 64), (16, 32, 64)])
def test_all_axes_are_transformed_by_compiled_code(name, shape, monkeypatch) -> None:
    random = np.random.default_rng(0)
    x = (random.normal(size=shape) + 1j * random.normal(size=shape)).astype(np.complex64)
    axes = (-2, -1) if "2" in name else (-3, -2, -1)
    wanted = (np.fft.ifftn if name[0] == "i" else np.fft.fftn)(x.astype(np.complex128), axes=axes)
    staged = np.asarray(tf.function(getattr(tf.signal, name))(tf.constant(x)))
    for own in ("fftn", "ifftn", *(("fft", "ifft") if shape[0] != 4 else ())):
        monkeypatch.setattr(np.fft, own, _refuse)
    for _ in range(3):
        found = np.asarray(getattr(tf.signal, name)(tf.constant(x)))
        assert np.array_equal(found, staged)
        assert np.abs(found - wanted).max() < 1e-6 * np.abs(wanted).max()


@pytest.mark.parametrize("shape", [(2, 5), (3, 4, 5)])
def test_few_numbers_are_transformed_as_numpy_does(shape) -> None:
    x = np.random.default_rng(0).normal(size=(*shape, 2)).view(np.complex128)[..., 0]
    assert np.array_equal(tf.signal.fft2d(x), np.fft.fftn(x, axes=(-2, -1)))


@pytest.mark.parametrize("kind", [2, 3])
@pytest.mark.parametrize("norm", [None, "ortho"])
@pytest.mark.parametrize("count", [129, 130, 256, 1000])
def test_long_cosine_transforms_are_those_of_functions(kind, norm, count) -> None:
    for dtype, near in (("float32", 1e-6), ("float64", 1e-12)):
        x = tf.constant(np.random.default_rng(0).normal(size=(2, 20, count)), dtype)
        found, staged = (
            each(x, kind, norm=norm).numpy() for each in (tf.signal.dct, tf.function(tf.signal.dct))
        )
        assert found.dtype == dtype
        assert np.abs(found - staged).max() < near * np.abs(staged).max()


def test_long_cosine_transforms_make_no_matrix(monkeypatch) -> None:
    x = tf.ones([1, 20000])
    monkeypatch.setattr("gravure.frontend.tf.ops.signal_ops._basis", _refuse)
    assert np.allclose(tf.signal.idct(tf.signal.dct(x)), 40000 * x.numpy())


def test_gradients_of_long_cosine_transforms_are_their_columns() -> None:
    x = tf.ones([1, 200])
    with tf.GradientTape() as tape:
        tape.watch(x)
        found = tf.signal.dct(x)[0, 3]
    wanted = 2 * np.cos(np.pi * 3 * (np.arange(200) + 0.5) / 200)
    assert np.allclose(tape.gradient(found, x)[0], wanted, atol=1e-5)
