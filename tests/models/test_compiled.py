"""Compiled models give what onnxruntime gives, at every level of optimisation."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import gravure as gv

onnxruntime = pytest.importorskip("onnxruntime")
HERE = Path(__file__).parent
RANDOM = np.random.default_rng(7)
Arrays = dict[str, NDArray[np.generic]]


def floats(*shape: int) -> NDArray[np.float32]:
    """Return random numbers."""
    return RANDOM.standard_normal(shape).astype(np.float32)


INPUTS: dict[str, list[Arrays]] = {
    "mlp": [{"x": floats(1, 8)}],
    "mlp_batch": [{"x": floats(n, 8)} for n in (1, 2, 17)],
    "conv_norm": [{"x": floats(1, 3, 9, 11)}],
    "attention": [{"x": floats(1, n, 8)} for n in (1, 5, 33)],
    "embedding": [{"ids": RANDOM.integers(0, 20, (2, 5))}],
    "elementwise": [{"x": floats(3, 1, 5), "y": floats(4, 1)}],
    "digits": [{"image": RANDOM.integers(0, 17, (1, 1, 8, 8)).astype(np.float32)}],
}
DIMS = {"mlp_batch": {"batch": (1, 64)}, "attention": {"length": (1, 64)}}


@pytest.mark.sampled(2)
@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3"])
@pytest.mark.parametrize("name", INPUTS)
def test_results_are_those_of_onnxruntime(name: str, level: str) -> None:
    judge = onnxruntime.InferenceSession(HERE / f"{name}.onnx")
    model = gv.compile(HERE / f"{name}.onnx", level=level, verify=True, dims=DIMS.get(name))
    for inputs in INPUTS[name]:
        for found, wanted in zip(model.run(inputs), judge.run(None, inputs), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", INPUTS)
def test_threads_change_no_bit(name: str) -> None:
    one, three = (
        gv.compile(HERE / f"{name}.onnx", threads=threads, dims=DIMS.get(name))
        for threads in (1, 3)
    )
    for inputs in INPUTS[name]:
        for alone, shared in zip(one.run(inputs), three.run(inputs), strict=True):
            np.testing.assert_array_equal(alone, shared)


def test_saved_model_is_the_compiled_one(tmp_path: Path) -> None:
    model = gv.compile(HERE / "digits.onnx")
    model.save(tmp_path / "digits.so")
    (inputs,) = INPUTS["digits"]
    loaded = gv.load(tmp_path / "digits.so").run(inputs)
    np.testing.assert_array_equal(loaded, model.run(inputs))


@pytest.mark.slow
def test_held_out_digits_are_recognised() -> None:
    held_out = np.load(HERE / "digits_test.npz")
    model = gv.compile(HERE / "digits.onnx")
    guesses = [model(image[None].astype(np.float32)).argmax() for image in held_out["images"]]
    assert np.mean(guesses == held_out["labels"]) >= 0.99
