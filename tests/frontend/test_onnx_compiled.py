"""Models with stored weights, compiled, beside the interpreter: they have kernels of their own."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import helper

import gravure as gv
import gravure.ir as ir
from gravure.frontend.programs.load import load_program

RANDOM = np.random.default_rng(5)
BYTES = RANDOM.integers(0, 256, (2, 4, 9, 8), np.uint8)
WEIGHTS = RANDOM.integers(-128, 128, (6, 4, 3, 3)).astype(np.int8)
STEPS = RANDOM.standard_normal((4, 2, 3)).astype(np.float32)


def gates(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32) * 0.5


CASES: list[tuple[str, str, np.ndarray, dict[str, Any], dict[str, Any]]] = [
    ("", "ConvInteger", BYTES, {"w": WEIGHTS, "z": np.uint8(7)}, {"pads": [1, 0, 1, 1]}),
    ("", "ConvInteger", BYTES, {"w": WEIGHTS[:, :2].copy()}, {"group": 2, "strides": [2, 1]}),
    ("", "MatMulInteger", BYTES[0, 0], {"w": WEIGHTS.reshape(8, 27)}, {}),
    ("", "QLinearConv", BYTES, {
        "xs": np.float32(0.02), "xz": np.uint8(120), "w": WEIGHTS,
        "ws": RANDOM.uniform(0.01, 0.03, 6).astype(np.float32), "wz": np.zeros(6, np.int8),
        "ys": np.float32(0.4), "yz": np.uint8(128)}, {}),
    ("", "LSTM", STEPS, {"w": gates(1, 16, 3), "r": gates(1, 16, 4), "b": gates(1, 32),
                         "l": np.array([2, 4], np.int32)}, {"hidden_size": 4, "clip": 0.5}),
    ("com.microsoft", "MatMulNBits", gates(3, 40), {
        "w": RANDOM.integers(0, 256, (5, 3, 8), np.uint8), "s": np.abs(gates(15))},
     {"K": 40, "N": 5, "bits": 4, "block_size": 16}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[1]}-{'-'.join(case[4])}")
def test_stored_weights_make_no_difference(
    case: tuple[str, str, np.ndarray, dict[str, Any], dict[str, Any]], model: Callable[..., Any]
) -> None:
    domain, operator, x, constants, attributes = case
    kind = {"uint8": "u8", "float32": "f32"}[x.dtype.name]
    node = helper.make_node(operator, ["x", *constants], ["y"], domain=domain, **attributes)
    made = model([node], {"x": (kind, x.shape)}, ["y"], constants)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    data = made.SerializeToString()
    (wanted,) = ir.interpret(load_program(data), [x])
    (found,) = gv.compile(data).run([x])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("numerics", ["fast", "exact"])
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_roots_as_powers_of_what_has_no_root(
    model: Callable[..., Any], numerics: str, dtype: str
) -> None:
    kind = np.float32 if dtype == "f32" else np.float64
    made = model(
        [helper.make_node("Pow", ["x", n], [y]) for n, y in (("up", "y"), ("down", "z"))],
        {"x": (dtype, [6])}, ["y", "z"], {"up": kind(0.5), "down": kind(-0.5)},
    )  # fmt: skip
    x = np.array([-np.inf, -0.0, 0.0, 4.0, np.inf, -1.0], kind)
    y, z = gv.compile(made.SerializeToString(), numerics=numerics).run([x])
    assert str(y) == str(np.array([np.inf, 0, 0, 2, np.inf, np.nan], kind))
    assert str(z) == str(np.array([0, np.inf, np.inf, 0.5, 0, np.nan], kind))
