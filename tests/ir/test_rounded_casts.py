"""How f64 and large integers become narrow floats: as in TensorFlow, and the same on every path."""

from collections.abc import Callable

import ml_dtypes
import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.ir.types.dtypes import DTYPES
from gravure.ir.types.numerics import saturate

TWICE = {"bfloat16": (ml_dtypes.bfloat16, 7), "float16": (np.float16, 10)}
ONCE = {
    "float8_e5m2": (ml_dtypes.float8_e5m2, 2),
    "float8_e4m3fn": (ml_dtypes.float8_e4m3fn, 3),
}


def near_ties(bits: int) -> np.ndarray:
    """Return numbers in the middle between two floats of so many bits, and next to it."""
    random = np.random.default_rng(5)
    powers = 2.0 ** np.arange(-5, 7)
    middle = (1 + (random.integers(0, 1 << bits, (40, 12)) + 0.5) / 2**bits) * powers
    near = [middle + sign * powers * 2.0**-k for k in (24, 25, 40, 52) for sign in (-1, 1)]
    both = np.concatenate([middle, *near]).ravel()
    return np.concatenate([both, -both, [np.nan, np.inf, -np.inf, 0.0, -0.0, 1e300, 1e-300]])


INTEGERS = np.array(
    [s * ((1 << k) + (1 << k - 8) + d) for k in range(26, 62) for d in (-1, 0, 1) for s in (1, -1)]
)


def parts(x: np.ndarray) -> list[np.ndarray]:
    return np.array_split(x, 1 + len(x) // 30)


def compiled(x: np.ndarray, to: tf.DType) -> np.ndarray:
    step = tf.function(lambda v: tf.cast(v * 1, to))
    for _ in range(40):
        made = step(tf.constant(np.tile(x, 20)))
    return made.numpy()[: len(x)]


PATHS: dict[str, Callable[[np.ndarray, object], np.ndarray]] = {
    "few": lambda x, to: np.concatenate([tf.cast(tf.constant(v), to).numpy() for v in parts(x)]),
    "many": lambda x, to: tf.cast(tf.constant(np.tile(x, 40)), to).numpy()[: len(x)],
    "function": lambda x, to: tf.function(lambda v: tf.cast(v, to))(tf.constant(x)).numpy(),
    "compiled": compiled,
}


def nearest(x: np.ndarray, to: type) -> np.ndarray:
    """Return the nearest numbers of a type, of two those of the even code."""
    codes = np.arange(128, dtype=np.uint8)
    every = codes.view(to).astype(np.float64)
    every = every[np.isfinite(every)]
    size = np.abs(x)
    above = np.clip(np.searchsorted(every, size), 1, len(every) - 1)
    low, high = every[above - 1], every[above]
    up = (size - low > high - size) | ((size - low == high - size) & (above % 2 == 0))
    return np.copysign(np.where(up, high, low), x)


def same(found: np.ndarray, wanted: np.ndarray) -> None:
    assert found.dtype == wanted.dtype
    np.testing.assert_array_equal(found.astype(np.float64), wanted.astype(np.float64))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", TWICE)
def test_halves_are_rounded_through_f32_on_each_path(name: str, path: str) -> None:
    to, bits = TWICE[name]
    for x in (near_ties(bits), INTEGERS, np.array([65519.999999999, -65519.999999999] * 4)):
        with np.errstate(all="ignore"):
            wanted = x.astype(np.float32).astype(to)
        same(PATHS[path](x, getattr(tf, name)), wanted)


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize("name", ONCE)
def test_floats_of_eight_bits_are_rounded_once_on_each_path(name: str, path: str) -> None:
    to, bits = ONCE[name]
    x = near_ties(bits)
    found = PATHS[path](x, getattr(tf.dtypes.experimental, name)).astype(np.float64)
    inside = np.abs(x) < 300
    np.testing.assert_array_equal(found[inside], nearest(x[inside], to))
    with np.errstate(all="ignore"):
        wanted = x[~inside].astype(np.float32).astype(to).astype(np.float64)
    np.testing.assert_array_equal(found[~inside], wanted)


@pytest.mark.parametrize("name", [n for n, d in DTYPES.items() if d.is_narrow_float])
def test_all_narrow_floats_are_rounded_once_in_compiled_code(name: str) -> None:
    x = np.concatenate([near_ties(b)[:-7] for b in (1, 2, 3)])
    with np.errstate(all="ignore"):
        wanted = saturate(x, DTYPES[name])
    step = gv.function(lambda v: gv.astype(v, name))
    for _ in range(60):
        found = step(gv.asarray(x))
    assert np.asarray(found).view(np.uint8).tolist() == wanted.view(np.uint8).tolist()
