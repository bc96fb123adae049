"""Parts of images that are cropped to one size which is data, beside onnxruntime."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

import gravure as gv
from gravure.errors import UnsupportedOp
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret

Make = Callable[..., onnx.ModelProto]
INPUTS = {"x": ("f32", ["n", 2, "h", "w"]), "r": ("f32", ["k", 4]), "b": ("i32", ["k"])}


def crops(model: Make, size: np.ndarray | None = None, **rules: object) -> onnx.ModelProto:
    domain = "com.microsoft"
    each = helper.make_node("CropAndResize", [*"xrbs"], ["y"], domain=domain, **rules)
    inputs = {**INPUTS, **({"s": ("i32", [2])} if size is None else {})}
    made = model([each], inputs, [], {} if size is None else {"s": size})
    made.graph.output.append(helper.make_tensor_value_info("y", TensorProto.FLOAT, None))
    made.opset_import.append(helper.make_opsetid(domain, 1))
    return made


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("is_data", [False, True])
def test_parts_of_images(model: Make, mode: str, is_data: bool) -> None:
    random = np.random.default_rng(0)
    fixed = None if is_data else np.int32([3, 1])
    made = crops(model, fixed, mode=mode, extrapolation_value=3.5).SerializeToString()
    peer = onnxruntime.InferenceSession(made, providers=["CPUExecutionProvider"])
    compiled = gv.compile(made, dims=dict.fromkeys("nhwk", (1, 16)))
    program = load_program(made)
    for _ in range(15):
        count = random.integers(1, 4)
        feeds = {
            "x": random.standard_normal((2, 2, 6, 7)).astype(np.float32),
            "r": (random.random((count, 4)) * 1.6 - 0.3).astype(np.float32),
            "b": random.integers(0, 2, count).astype(np.int32),
        }
        feeds |= {"s": random.integers(1, 5, 2).astype(np.int32)} if is_data else {}
        (wanted,) = peer.run(None, feeds)
        for (found,) in (compiled.run(feeds), interpret(program, [*feeds.values()])):
            assert found.shape == wanted.shape
            np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_a_mode_that_there_is_not(model: Make) -> None:
    with pytest.raises(UnsupportedOp, match="mode 'cubic', expected 'bilinear' or 'nearest'"):
        load_program(crops(model, mode="cubic").SerializeToString())
