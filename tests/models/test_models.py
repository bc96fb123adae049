"""The models the tests share are good models, by a judge that is not ours."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from numpy.typing import NDArray

onnxruntime = pytest.importorskip("onnxruntime")
HERE = Path(__file__).parent


def run(name: str, **inputs: NDArray[np.generic]) -> list[NDArray[np.generic]]:
    """Run a model with onnxruntime."""
    session = onnxruntime.InferenceSession(HERE / f"{name}.onnx")
    return session.run(None, inputs)  # type: ignore[no-any-return]


@pytest.mark.parametrize("path", sorted(HERE.glob("*.onnx")), ids=lambda path: path.stem)
def test_model_is_valid(path: Path) -> None:
    onnx.checker.check_model(onnx.load(path), full_check=True)


def test_digits_are_recognised() -> None:
    held_out = np.load(HERE / "digits_test.npz")
    images = held_out["images"].astype(np.float32)
    session = onnxruntime.InferenceSession(HERE / "digits.onnx")
    guesses = [session.run(None, {"image": image[None]})[0].argmax() for image in images]
    assert len(guesses) == 360
    assert np.mean(guesses == held_out["labels"]) >= 0.99


@pytest.mark.parametrize("name", ["mlp", "mlp_batch"])
def test_mlp_gives_odds(name: str) -> None:
    (odds,) = run(name, x=np.ones((1, 8), np.float32))
    np.testing.assert_allclose(odds.sum(), 1, rtol=1e-6)


def test_elementwise_broadcasts() -> None:
    x = np.linspace(-1, 1, 15, dtype=np.float32).reshape(3, 1, 5)
    y = np.linspace(-1, 1, 4, dtype=np.float32).reshape(4, 1)
    bell, larger = run("elementwise", x=x, y=y)
    np.testing.assert_allclose(bell, np.exp(-((x - y) ** 2)), rtol=1e-6)
    np.testing.assert_allclose(larger, np.maximum(bell, np.tanh(x - y)), rtol=1e-5, atol=1e-7)


def test_attention_takes_any_length() -> None:
    for length in (1, 7):
        (y,) = run("attention", x=np.ones((1, length, 8), np.float32))
        assert y.shape == (1, length, 8)
