"""Weights in fewer bits: less memory, an error within rounding, the same bits for any threads."""

from pathlib import Path

import numpy as np
import pytest

import gravure as gv
from gravure.errors import GravureError
from gravure.frontend.programs.load import load_program

TEXT = """
model narrow(x: f32[N, 96], N in 1..16) -> (y) {
  weight w1: f32[96, 160] = random(seed=1, scale=0.1)
  weight b1: f32[160] = random(seed=2, scale=0.1)
  weight w2: f32[50, 160] = random(seed=3, scale=0.1)
  h = relu(x @ w1 + b1)
  y = h @ transpose(w2, order=[1, 0])
}
"""
X = np.random.default_rng(0).standard_normal((16, 96)).astype(np.float32)
STEPS = {"bf16": 2.0**-8, "i8": 1 / 127, "i4": 1 / 8}
"""How far a stored weight may be off, relative to the largest of its column."""


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """Return a file with a perceptron of two layers."""
    made = tmp_path / "narrow.gv"
    made.write_text(TEXT)
    return made


@pytest.mark.parametrize("dtype", STEPS)
@pytest.mark.parametrize("rows", [1, 5, 16])
def test_results_are_off_by_what_weights_are(path: Path, dtype: str, rows: int) -> None:
    (wanted,) = (gv.compile(path, level="O0")(X[:rows]),)
    found = gv.compile(path, dtype=dtype, verify=True)(X[:rows])
    error = np.abs(found - wanted).max() / np.abs(wanted).max()
    assert 0 < error <= 2 * STEPS[dtype]


def test_weights_take_less_memory(path: Path) -> None:
    sizes = [gv.compile(path, dtype=dtype).compiled.description.weights for dtype in ("", *STEPS)]
    assert sizes[0] > 1.8 * sizes[1] > 1.8**2 * 0.9 * sizes[2] > 1.8**2 * 0.9 * 1.5 * sizes[3]


@pytest.mark.parametrize("dtype", STEPS)
def test_threads_change_no_bit(path: Path, dtype: str) -> None:
    one, two = (gv.compile(path, dtype=dtype, threads=n)(X) for n in (1, 2))
    np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("dtype", ["i8", "i4"])
def test_a_column_of_zeros_stays_zero(tmp_path: Path, dtype: str) -> None:
    path = tmp_path / "zero.gv"
    path.write_text(
        "model zero(x: f32[1, 64]) -> (y) {\n"
        "  weight w: f32[64, 32] = random(seed=1, scale=0)\n  y = x @ w\n}\n"
    )
    np.testing.assert_array_equal(gv.compile(path, dtype=dtype)(X[:1, :64]), np.zeros((1, 32)))


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("target", ["native", "x86-64-v3"])
def test_blocks_of_four_bits_lose_what_rounding_weights_loses(
    tmp_path: Path, rows: int, target: str
) -> None:
    path = tmp_path / "blocks.gv"
    path.write_text(
        f"model blocks(x: f32[{rows}, 96]) -> (y) {{\n"
        "  weight w: f32[96, 50] = random(seed=1, scale=0.1)\n  y = x @ w\n}\n"
    )
    (weight,) = load_program(path).weights.values()
    parts = weight.reshape(3, 32, 50)
    high, low = parts.max(1, keepdims=True), parts.min(1, keepdims=True)
    scale = np.where(high > -low, high, low) / -8
    stored = (np.clip(np.round(parts / scale), -8, 7) * scale).reshape(96, 50)
    model = gv.compile(path, dtype="i4", target=target, verify=True)
    wanted = X[:rows] @ stored
    np.testing.assert_allclose(model(X[:rows]), wanted, atol=1e-4 * np.abs(wanted).max())
    assert model.compiled.description.weights < 96 * 64


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"dtype": "i8", "level": "O0"}, "level O0 keeps weights as they are"),
        ({"dtype": "i3"}, "dtype 'i3', expected one of bf16, i8, i4"),
    ],
)
def test_what_cannot_be_is_refused(path: Path, options: dict[str, str], message: str) -> None:
    with pytest.raises(GravureError, match=message):
        gv.compile(path, **options)
