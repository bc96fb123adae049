"""One artefact for images of any size: convolutions, pools and joins whose rows are not known."""

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import gravure as gv
from gravure.errors import GraphError, RuntimeInputError

RANDOM = np.random.default_rng(0)


def weight(*shape: int) -> Any:
    """Return small random numbers."""
    return (RANDOM.standard_normal(shape) / 4).astype(np.float32)


def model(
    nodes: list[onnx.NodeProto], weights: dict[str, Any], sizes: tuple[str, str]
) -> onnx.ModelProto:
    """Return a model from an image x of these sizes to y."""
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ("N", 3, *sizes))],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in weights.items()],
    )  # fmt: skip
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def check(made: onnx.ModelProto, shapes: Any, dims: Any, sizes: list[tuple[int, int, int]]) -> None:
    """Compare one artefact with the standard's evaluator at several sizes."""
    compiled = gv.compile(made.SerializeToString(), shapes=shapes, dims=dims, threads=2)
    judge = ReferenceEvaluator(made)
    for count, height, width in sizes:
        x = RANDOM.standard_normal((count, 3, height, width)).astype(np.float32)
        (wanted,) = judge.run(None, {"x": x})
        np.testing.assert_allclose(compiled(x), wanted, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize(
    ("window", "pad", "dilation"), [(3, 1, 1), (5, 2, 1), (3, 2, 2), (2, 0, 1)]
)
def test_rows_of_any_length_are_convolved(
    stride: int, window: int, pad: int, dilation: int
) -> None:
    node = helper.make_node(
        "Conv", ["x", "w", "b"], ["y"], kernel_shape=[window] * 2, pads=[pad] * 4,
        strides=[stride] * 2, dilations=[dilation] * 2,
    )  # fmt: skip
    made = model([node], {"w": weight(20, 3, window, window), "b": weight(20)}, ("H", "W"))
    sizes = [(1, 5, 5), (2, 9, 31), (1, 6, 40), (3, 5, 16)]
    check(made, None, {"N": (1, 4), "H": (5, 40), "W": (5, 40)}, sizes)


def test_what_is_halved_and_doubled_joins_what_was_there() -> None:
    window = {"kernel_shape": [3, 3], "pads": [1] * 4}
    up = helper.make_node(
        "ConvTranspose", ["d", "u"], ["e"], kernel_shape=[2, 2], strides=[2, 2]
    )  # fmt: skip
    nodes = [
        helper.make_node("Conv", ["x", "a"], ["c"], **window),
        helper.make_node("MaxPool", ["c"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Conv", ["p", "b"], ["d"], **window),
        up,
        helper.make_node("Concat", ["c", "e"], ["j"], axis=1),
        helper.make_node("Conv", ["j", "o"], ["y"], kernel_shape=[1, 1]),
    ]
    weights = {"a": weight(8, 3, 3, 3), "b": weight(16, 8, 3, 3), "u": weight(16, 8, 2, 2)}
    made = model(nodes, {**weights, "o": weight(2, 16, 1, 1)}, ("H", "W"))
    dims = {"N": (1, 2), "h": (1, 20), "w": (1, 20)}
    sizes = [(1, 2, 2), (2, 10, 24), (1, 40, 6)]
    check(made, {"x": ("N", 3, "2*h", "2*w")}, dims, sizes)


def test_sizes_that_do_not_halve_are_refused() -> None:
    nodes = [
        helper.make_node("MaxPool", ["x"], ["p"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("ConvTranspose", ["p", "u"], ["e"], kernel_shape=[2, 2], strides=[2, 2]),
        helper.make_node("Concat", ["x", "e"], ["y"], axis=1),
    ]
    made = model(nodes, {"u": weight(3, 3, 2, 2)}, ("H", "W"))
    compiled = gv.compile(made.SerializeToString(), dims={"N": 1, "H": (2, 9), "W": (2, 9)})
    assert compiled(np.ones((1, 3, 4, 6), np.float32)).shape == (1, 6, 4, 6)
    with pytest.raises(gv.GravureError, match=r"with f32\[1, 3, 2\*H_by_2, .*f32\[1, 3, 5, 6\]"):
        compiled(np.ones((1, 3, 5, 6), np.float32))


def test_an_open_batch_that_has_to_be_one_is_one() -> None:
    """An exporter that has traced one image leaves the batch open, and joins it to one row."""
    nodes = [
        helper.make_node("Concat", ["first", "x"], ["a"], axis=2),
        helper.make_node("Relu", ["a"], ["y"]),
    ]
    weights = {"first": weight(1, 3, 1, 4)}
    made = model(nodes, weights, ("H", "W")).SerializeToString()
    with gv.compile(made, dims={"H": (1, 8), "W": 4}) as compiled:
        assert str(compiled.inputs[0]) == "f32[1, 3, H, 4]"
        x = RANDOM.standard_normal((1, 3, 2, 4)).astype(np.float32)
        wanted = np.maximum(np.concatenate([weights["first"], x], axis=2), 0)
        np.testing.assert_array_equal(compiled.run([x])[0], wanted)
        with pytest.raises(RuntimeInputError, match="called with f32"):
            compiled.run([np.ones((2, 3, 2, 4), np.float32)])
    with pytest.raises(GraphError, match=r"dimension 'N' has to be 1: node .* differ beside"):
        gv.compile(made, dims={"N": (1, 4), "H": (1, 8), "W": 4})
