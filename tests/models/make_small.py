"""Write the small ONNX models the tests share, with seeded weights, next to this file.

    python tests/models/make_small.py

Each is a few kilobytes and shows one thing; `tests/models/test_models.py` runs them all with
onnxruntime, so that they are known to be good models before anything of ours reads them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import NodeProto, TensorProto, helper, numpy_helper

HERE = Path(__file__).parent
Shape = Sequence[int | str]
Array = NDArray[np.generic]
F32, I64 = TensorProto.FLOAT, TensorProto.INT64


def model(
    nodes: Sequence[NodeProto],
    inputs: Mapping[str, tuple[int, Shape]],
    outputs: Mapping[str, tuple[int, Shape]],
    constants: Mapping[str, Array],
) -> onnx.ModelProto:
    """Return a checked model; inputs and outputs are (element type, shape) by name."""
    for node in nodes:
        node.name = f"{node.op_type}_{node.output[0]}"
    graph = helper.make_graph(
        nodes,
        "main",
        [helper.make_tensor_value_info(n, *spec) for n, spec in inputs.items()],
        [helper.make_tensor_value_info(n, *spec) for n, spec in outputs.items()],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)], ir_version=10)
    made.producer_name = "make_small.py"
    onnx.checker.check_model(made, full_check=True)
    return made


def weights(seed: int, **shapes: Sequence[int]) -> dict[str, Array]:
    """Return float32 weights, scaled by the number of terms of a dot product."""
    random = np.random.default_rng(seed)
    return {
        name: (random.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        for name, shape in shapes.items()
    }


def mlp(batch: int | str) -> onnx.ModelProto:
    """Return softmax(relu(x w1' + b1) w2' + b2), for a fixed or a symbolic batch."""
    node = helper.make_node
    return model(
        [
            node("Gemm", ["x", "w1", "b1"], ["h"], transB=1),
            node("Relu", ["h"], ["a"]),
            node("Gemm", ["a", "w2", "b2"], ["z"], transB=1),
            node("Softmax", ["z"], ["y"], axis=-1),
        ],
        {"x": (F32, [batch, 8])},
        {"y": (F32, [batch, 4])},
        weights(1, w1=[16, 8], b1=[16], w2=[4, 16], b2=[4]),
    )


def conv_norm() -> onnx.ModelProto:
    """Return a strided convolution with bias, batch norm and relu, then a mean over the image."""
    node = helper.make_node
    norm = weights(3, scale=[6], shift=[6], mean=[6])
    spread = np.linspace(0.5, 2, 6, dtype=np.float32)
    return model(
        [
            node("Conv", ["x", "w", "b"], ["c"], strides=[2, 2], pads=[1, 1, 1, 1]),
            node("BatchNormalization", ["c", "scale", "shift", "mean", "variance"], ["n"]),
            node("Relu", ["n"], ["r"]),
            node("GlobalAveragePool", ["r"], ["y"]),
        ],
        {"x": (F32, [1, 3, 9, 11])},
        {"y": (F32, [1, 6, 1, 1])},
        {**weights(2, w=[6, 3, 3, 3], b=[6]), **norm, "variance": spread},
    )


def attention() -> onnx.ModelProto:
    """Return two heads of softmax(q k' / sqrt(d)) v for a symbolic sequence length."""
    node = helper.make_node
    heads = np.array([0, 0, 2, 4], np.int64)
    merged = np.array([0, 0, 8], np.int64)
    projections = [
        part
        for name in ("q", "k", "v")
        for part in (
            node("MatMul", ["x", f"w{name}"], [f"{name}_flat"]),
            node("Reshape", [f"{name}_flat", "heads"], [f"{name}_heads"]),
        )
    ]
    return model(
        [
            *projections,
            node("Transpose", ["q_heads"], ["q"], perm=[0, 2, 1, 3]),
            node("Transpose", ["k_heads"], ["k"], perm=[0, 2, 3, 1]),
            node("Transpose", ["v_heads"], ["v"], perm=[0, 2, 1, 3]),
            node("MatMul", ["q", "k"], ["raw"]),
            node("Mul", ["raw", "scale"], ["scores"]),
            node("Softmax", ["scores"], ["odds"], axis=-1),
            node("MatMul", ["odds", "v"], ["mixed"]),
            node("Transpose", ["mixed"], ["back"], perm=[0, 2, 1, 3]),
            node("Reshape", ["back", "merged"], ["joined"]),
            node("MatMul", ["joined", "wo"], ["projected"]),
            node("Add", ["projected", "x"], ["y"]),
        ],
        {"x": (F32, [1, "length", 8])},
        {"y": (F32, [1, "length", 8])},
        {
            **weights(4, wq=[8, 8], wk=[8, 8], wv=[8, 8], wo=[8, 8]),
            "heads": heads,
            "merged": merged,
            "scale": np.array(0.5, np.float32),
        },
    )


def embedding() -> onnx.ModelProto:
    """Return rows of a table by integer index, normalised and summed over the sequence."""
    node = helper.make_node
    return model(
        [
            node("Gather", ["table", "ids"], ["rows"], axis=0),
            node("LayerNormalization", ["rows", "scale", "shift"], ["n"], axis=-1),
            node("ReduceSum", ["n", "axis"], ["y"], keepdims=0),
        ],
        {"ids": (I64, [2, 5])},
        {"y": (F32, [2, 12])},
        {**weights(5, table=[20, 12], scale=[12], shift=[12]), "axis": np.array([1], np.int64)},
    )


def elementwise() -> onnx.ModelProto:
    """Return two outputs of a chain of broadcast element-wise operations."""
    node = helper.make_node
    return model(
        [
            node("Sub", ["x", "y"], ["d"]),
            node("Mul", ["d", "d"], ["square"]),
            node("Neg", ["square"], ["minus"]),
            node("Exp", ["minus"], ["bell"]),
            node("Tanh", ["d"], ["t"]),
            node("Max", ["bell", "t"], ["larger"]),
        ],
        {"x": (F32, [3, 1, 5]), "y": (F32, [4, 1])},
        {"bell": (F32, [3, 4, 5]), "larger": (F32, [3, 4, 5])},
        {},
    )


MODELS = {
    "mlp": mlp(1),
    "mlp_batch": mlp("batch"),
    "conv_norm": conv_norm(),
    "attention": attention(),
    "embedding": embedding(),
    "elementwise": elementwise(),
}

if __name__ == "__main__":
    for name, made in MODELS.items():
        onnx.save(made, HERE / f"{name}.onnx")
