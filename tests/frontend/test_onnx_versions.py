"""Operators whose meaning or form changed between versions, beside onnxruntime."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from onnx import helper

RANDOM = np.random.default_rng(7)
X234 = RANDOM.standard_normal((2, 3, 4)).astype(np.float32)
IMAGE = RANDOM.standard_normal((1, 4, 7, 8)).astype(np.float32)
WEIGHTS = RANDOM.standard_normal((6, 2, 3, 3)).astype(np.float32)
SEQUENCE = RANDOM.standard_normal((5, 2, 3)).astype(np.float32)
GRID = RANDOM.uniform(-1.3, 1.3, (1, 3, 5, 2)).astype(np.float32)
STATE = RANDOM.standard_normal((1, 2, 4)).astype(np.float32)
PEEP = RANDOM.standard_normal((1, 12)).astype(np.float32)
ROIS = np.array([[1, 2, 9, 13.5], [0, 0, 3, 4]], np.float32)
SIGNAL = RANDOM.standard_normal((2, 64, 1)).astype(np.float32)
Q8 = RANDOM.integers(0, 256, (1, 2, 6, 8), np.uint8)
W8 = RANDOM.integers(-64, 65, (3, 2, 3, 3)).astype(np.int8)
"""Of seven bits: without VNNI onnxruntime adds two products in 16 bits, which saturate."""
INT = np.arange(24, dtype=np.int64).reshape(2, 3, 4)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def f32(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def gates(count: int, ways: int = 1) -> dict[str, Any]:
    """Return weights of a recurrent layer of 4 units on 3 inputs."""
    shapes = {"w": (ways, count * 4, 3), "r": (ways, count * 4, 4), "b": (ways, count * 8)}
    return {n: RANDOM.standard_normal(s).astype(np.float32) * 0.5 for n, s in shapes.items()}


# Operator, versions to try, operands that are inputs, operands that are constants, attributes.
CASES: list[tuple[str, tuple[int, ...], list[Any], dict[str, Any], dict[str, Any]]] = [
    ("Softmax", (7, 12, 13, 17), [X234], {}, {"axis": 1}),
    ("Softmax", (7, 13), [X234], {}, {}),
    ("LogSoftmax", (11, 13), [X234], {}, {"axis": 1}),
    ("Hardmax", (11, 13), [X234], {}, {"axis": 1}),
    ("Clip", (7,), [X234], {}, {"min": -0.5, "max": 0.25}),
    ("Clip", (7,), [X234], {}, {"max": 0.25}),
    ("Clip", (11, 13), [X234], {"low": np.float32(-0.5)}, {}),
    ("Slice", (7,), [X234], {}, {"starts": [0, -3], "ends": [2, -1], "axes": [0, 2]}),
    ("Slice", (7,), [X234], {}, {"starts": [1], "ends": [1 << 40]}),
    ("Slice", (10, 13), [X234], {"s": i64(0, -1), "e": i64(9, -9), "a": i64(0, 2),
                                 "t": i64(1, -2)}, {}),
    ("Pad", (7,), [X234], {}, {"pads": [0, 1, 0, 1, 0, 2], "value": 1.5}),
    ("Pad", (11, 13), [X234], {"p": i64(0, 1, 0, 1, 0, 2), "v": np.float32(1.5)}, {}),
    ("Pad", (11,), [X234], {"p": i64(0, 1, 2, 0, 1, 1)}, {"mode": "reflect"}),
    ("Pad", (11,), [X234], {"p": i64(0, -1, 0, 1, 0, -2)}, {"mode": "edge"}),
    ("Pad", (19,), [X234], {"p": i64(0, -1, 3, 1, 0, -2)}, {"mode": "wrap"}),
    ("Pad", (19,), [X234, i64(0, -1, 3, 1, 0, -2)], {}, {"mode": "wrap"}),
    ("Squeeze", (7, 11), [X234[:1]], {}, {"axes": [0]}),
    ("Squeeze", (13, 17), [X234[:1]], {"a": i64(-3)}, {}),
    ("Squeeze", (13,), [X234[:1, :1]], {}, {}),
    ("Unsqueeze", (7, 11), [X234], {}, {"axes": [0, 4]}),
    ("Unsqueeze", (13,), [X234], {"a": i64(-1, 1)}, {}),
    ("Split", (7, 11), [X234], {}, {"axis": 2, "split": [1, 3]}),
    ("Split", (13,), [X234], {"s": i64(3, 1)}, {"axis": -1}),
    ("Split", (11, 13), [X234], {}, {"axis": 2}),
    ("ReduceSum", (7, 11), [X234], {}, {"axes": [1], "keepdims": 0}),
    ("ReduceSum", (13, 17), [X234], {"a": i64(1, -1)}, {}),
    ("ReduceSum", (13,), [X234], {}, {"noop_with_empty_axes": 1}),
    ("ReduceMean", (7, 13, 17), [X234], {}, {"axes": [0, 2]}),
    ("ReduceMean", (18,), [X234], {"a": i64(2)}, {"keepdims": 0}),
    ("ReduceL2", (13,), [X234], {}, {"axes": [1]}),
    ("ReduceLogSumExp", (13,), [X234], {}, {"axes": [1]}),
    ("Upsample", (7,), [IMAGE], {}, {"scales": [1.0, 1.0, 2.0, 3.0], "mode": "nearest"}),
    ("Upsample", (9,), [IMAGE], {"s": f32(1, 1, 2, 2)}, {"mode": "linear"}),
    ("Resize", (10,), [IMAGE], {"s": f32(1, 1, 0.6, 1.7)}, {"mode": "nearest"}),
    ("Resize", (13,), [IMAGE], {"r": f32(), "s": f32(1, 1, 2, 2)}, {"mode": "linear"}),
    ("Resize", (13,), [IMAGE], {"r": f32(), "s": f32(), "z": i64(1, 4, 9, 5)},
     {"mode": "linear", "coordinate_transformation_mode": "align_corners"}),
    ("Resize", (13,), [IMAGE], {"r": f32(), "s": f32(1, 1, 2, 2)},
     {"mode": "nearest", "coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}),
    ("Resize", (13,), [IMAGE], {"r": f32(), "s": f32(1, 1, 1.5, 0.7)}, {"mode": "cubic"}),
    *(("Resize", (11, 18), [IMAGE], {"r": f32(), "s": f32(), "z": i64(1, 4, *sizes)},
       {"mode": "nearest", "coordinate_transformation_mode": "tf_half_pixel_for_nn",
        "nearest_mode": "floor"}) for sizes in ((14, 18), (3, 4), (5, 11))),
    ("TopK", (7,), [X234], {}, {"k": 2, "axis": 2}),
    ("TopK", (10, 11), [X234], {"k": i64(2)}, {}),
    ("TopK", (11,), [X234], {"k": i64(2)}, {"largest": 0, "axis": 1}),
    ("Dropout", (7, 10, 12), [X234], {}, {}),
    ("BatchNormalization", (7, 9, 14), [IMAGE], {n: RANDOM.random(4, np.float32) + 0.5
                                                for n in "sbmv"}, {"epsilon": 1e-3}),
    ("Conv", (7, 11), [IMAGE], {"w": WEIGHTS, "b": f32(*range(6))},
     {"group": 2, "strides": [2, 1], "auto_pad": "SAME_UPPER"}),
    ("Conv", (11,), [IMAGE], {"w": WEIGHTS}, {"group": 2, "dilations": [2, 1],
                                              "pads": [2, 0, 1, 1]}),
    ("Conv", (11,), [IMAGE], {"w": WEIGHTS}, {"group": 2, "strides": [3, 2],
                                              "auto_pad": "SAME_LOWER"}),
    ("ConvTranspose", (11,), [IMAGE], {"w": WEIGHTS[:4]}, {"strides": [2, 2], "pads": [1, 0, 1, 1],
                                                          "output_padding": [1, 0]}),
    ("ConvTranspose", (11,), [IMAGE], {"w": WEIGHTS[:4]}, {"strides": [2, 2],
                                                          "output_shape": [14, 16]}),
    ("MaxPool", (8, 12), [IMAGE], {}, {"kernel_shape": [3, 2], "strides": [2, 2],
                                        "pads": [1, 0, 1, 1]}),
    ("MaxPool", (12,), [IMAGE], {}, {"kernel_shape": [3, 3], "strides": [2, 2], "ceil_mode": 1}),
    ("MaxPool", (12,), [IMAGE], {}, {"kernel_shape": [2, 2], "dilations": [2, 2]}),
    ("AveragePool", (7, 11), [IMAGE], {}, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1]}),
    ("AveragePool", (11,), [IMAGE], {}, {"kernel_shape": [3, 3], "pads": [1, 1, 1, 1],
                                         "count_include_pad": 1}),
    ("AveragePool", (19,), [IMAGE], {}, {"kernel_shape": [3, 3], "strides": [2, 3],
                                         "ceil_mode": 1}),
    ("GlobalAveragePool", (7,), [IMAGE], {}, {}),
    ("LRN", (7,), [IMAGE], {}, {"size": 3, "alpha": 0.1, "beta": 0.5, "bias": 2.0}),
    ("InstanceNormalization", (7,), [IMAGE], {"s": f32(1, 2, 3, 4), "b": f32(4, 3, 2, 1)}, {}),
    ("LayerNormalization", (17,), [X234], {"s": f32(1, 2, 3, 4)}, {"axis": -1}),
    ("Gemm", (7, 11), [X234[0], X234[1]], {"c": f32(1, 2, 3)}, {"transB": 1, "alpha": 0.5,
                                                                 "beta": 2.0}),
    ("Gemm", (11,), [X234[0], X234[1]], {}, {"transA": 1}),
    ("MatMul", (9,), [X234[0, 0], X234[1].T], {}, {}),
    ("MatMul", (9,), [X234, f32(1, 2, 3, 4)], {}, {}),
    ("MatMul", (9,), [X234, X234[0].T], {}, {}),
    ("Flatten", (9, 13), [X234], {}, {"axis": 2}),
    ("Tile", (6, 13), [X234], {"r": i64(1, 2, 3)}, {}),
    ("Expand", (8,), [X234[:, :1]], {"s": i64(1, 1, 5, 1)}, {}),
    ("Pow", (7,), [np.abs(X234), X234[0]], {}, {}),
    ("Pow", (12, 15), [X234], {"y": np.int64(3)}, {}),
    ("Mod", (10,), [INT], {"y": i64(-3, 5, 7, 2)}, {}),
    ("Mod", (10,), [X234], {"y": f32(0.3)}, {"fmod": 1}),
    ("Div", (7, 14), [INT - 11], {"y": i64(-3, 5, 7, 2)}, {}),
    ("CumSum", (11,), [X234], {"a": np.int64(-2)}, {"exclusive": 1, "reverse": 1}),
    ("OneHot", (9, 11), [i64(0, 2, -1, 9)], {"d": i64(4), "v": f32(-1, 1)}, {"axis": 0}),
    ("Gather", (7, 13), [X234], {"i": np.array([[0, -1], [2, 1]])}, {"axis": 1}),
    ("GatherElements", (11,), [X234], {"i": np.array([[[0, 1, -1, 0]]])}, {"axis": 1}),
    ("GatherND", (11, 12), [X234], {"i": np.array([[0, 1], [1, -1]])}, {}),
    ("ScatterElements", (11,), [X234], {"i": np.zeros((2, 3, 1), np.int64),
                                        "u": np.ones((2, 3, 1), np.float32)}, {"axis": 2}),
    ("ScatterND", (11,), [X234], {"i": np.array([[1]]), "u": np.ones((1, 3, 4), np.float32)}, {}),
    ("Trilu", (14,), [X234], {"k": np.int64(1)}, {"upper": 0}),
    ("EyeLike", (9,), [X234[0]], {}, {"k": 1}),
    ("DepthToSpace", (7, 11), [IMAGE], {}, {"blocksize": 2}),
    ("DepthToSpace", (11,), [IMAGE], {}, {"blocksize": 2, "mode": "CRD"}),
    ("SpaceToDepth", (7,), [IMAGE[:, :, :6]], {}, {"blocksize": 2}),
    ("ReverseSequence", (10,), [X234], {"l": i64(3, 1)}, {"time_axis": 1, "batch_axis": 0}),
    ("PRelu", (7, 9), [X234], {"s": f32(0.1, 0.2, 0.3, 0.4)}, {}),
    ("Shrink", (9,), [X234], {}, {"lambd": 0.5, "bias": 0.25}),
    ("LpNormalization", (7,), [X234], {}, {"axis": 1, "p": 2}),
    ("MeanVarianceNormalization", (9,), [IMAGE], {}, {}),
    ("GroupNormalization", (18,), [IMAGE], {"s": f32(1, 2), "b": f32(4, 3)}, {"num_groups": 2}),
    ("GroupNormalization", (21,), [IMAGE], {"s": f32(1, 2, 3, 4), "b": f32(4, 3, 2, 1)},
     {"num_groups": 2}),
    ("Max", (8, 13), [X234, X234[0]], {"c": f32(0.1)}, {}),
    ("Mean", (8, 13), [X234, X234[0]], {"c": f32(0.1)}, {}),
    ("LSTM", (7, 14), [SEQUENCE], gates(4), {"hidden_size": 4}),
    ("LSTM", (7,), [SEQUENCE], gates(4, 2), {"hidden_size": 4, "direction": "bidirectional"}),
    ("GRU", (7, 14), [SEQUENCE], gates(3), {"hidden_size": 4, "linear_before_reset": 1}),
    ("GRU", (7,), [SEQUENCE], gates(3), {"hidden_size": 4, "direction": "reverse"}),
    ("RNN", (7, 14), [SEQUENCE], gates(1), {"hidden_size": 4}),
    ("RNN", (7,), [SEQUENCE], gates(1), {"hidden_size": 4, "activations": ["Relu"]}),
    ("QuantizeLinear", (10, 13), [X234], {"s": np.float32(0.02), "z": np.uint8(128)}, {}),
    ("QuantizeLinear", (13,), [X234], {"s": f32(0.02, 0.1, 0.5), "z": np.int8([0, 3, -4])},
     {"axis": 1}),
    ("DequantizeLinear", (10, 13), [np.arange(24, dtype=np.uint8).reshape(2, 3, 4)],
     {"s": np.float32(0.1), "z": np.uint8(7)}, {}),
    ("QLinearConv", (10,), [Q8], {
        "xs": np.float32(0.02), "xz": np.uint8(120), "w": W8, "ws": f32(0.01, 0.02, 0.03),
        "wz": np.int8([0, 0, 0]), "ys": np.float32(0.3), "yz": np.uint8(128),
        "b": i32(100, -200, 5)}, {"pads": [1, 0, 1, 1], "strides": [2, 1]}),
    ("QLinearMatMul", (10, 21), [Q8], {
        "xs": np.float32(0.02), "xz": np.uint8(120), "w": W8.reshape(-1)[:24].reshape(8, 3),
        "ws": np.float32(0.01), "wz": np.int8(3), "ys": np.float32(0.1), "yz": np.uint8(128)}, {}),
    ("ConvInteger", (10,), [Q8], {"w": W8.view(np.uint8), "xz": np.uint8(7), "wz": np.uint8(9)},
     {"dilations": [2, 1]}),
    ("DynamicQuantizeLinear", (11,), [X234], {}, {}),
    ("QuantizeLinear", (21,), [X234], {"s": np.abs(X234[:, :2]) + 0.01,
                                       "z": np.full((2, 2, 4), 3, np.uint8)},
     {"axis": 1, "block_size": 2}),
    ("DequantizeLinear", (21,), [Q8[0]], {"s": np.abs(IMAGE[0, :2, :6, :4]) + 0.1,
                                          "z": Q8[0, :, :6, :4]}, {"axis": 2, "block_size": 2}),
    ("GridSample", (16, 20), [IMAGE, GRID], {}, {"padding_mode": "border"}),
    ("GridSample", (16,), [IMAGE, GRID], {}, {"mode": "nearest", "padding_mode": "reflection"}),
    ("GridSample", (16,), [IMAGE, GRID], {}, {"mode": "bicubic", "align_corners": 1}),
    ("GridSample", (16,), [IMAGE, 2 * GRID], {}, {"mode": "bicubic", "padding_mode": "border"}),
    ("DFT", (17,), [SEQUENCE[..., None]], {}, {"axis": 1, "onesided": 1}),
    ("DFT", (17,), [SEQUENCE[..., :2]], {"n": np.int64(3)}, {"axis": 0, "inverse": 1}),
    ("Col2Im", (18,), [RANDOM.standard_normal((2, 12, 12)).astype(np.float32)],
     {"i": i64(5, 6), "b": i64(2, 3)}, {"strides": [1, 2], "pads": [0, 1, 0, 0]}),
    ("LSTM", (7, 14), [SEQUENCE], gates(4) | {"l": i32(3, 5), "h": STATE, "c": STATE, "p": PEEP},
     {"hidden_size": 4}),
    ("LSTM", (14,), [SEQUENCE], gates(4) | {"l": i32(2, 4)}, {
        "hidden_size": 4, "clip": 0.4, "direction": "reverse", "input_forget": 1,
        "activations": ["HardSigmoid", "LeakyRelu", "Softsign"], "activation_alpha": [0.3, 0.05],
        "activation_beta": [0.4]}),
    ("GRU", (14,), [SEQUENCE], gates(3, 2) | {"l": i32(5, 2)},
     {"hidden_size": 4, "direction": "bidirectional"}),
    ("GRU", (14,), [SEQUENCE], gates(3) | {"l": i32(1, 2)},
     {"hidden_size": 4, "linear_before_reset": 1, "activations": ["Sigmoid", "ScaledTanh"],
      "activation_alpha": [0.7], "activation_beta": [0.6]}),
    ("RNN", (14,), [SEQUENCE], gates(1), {"hidden_size": 4, "activations": ["Affine"],
                                          "activation_alpha": [0.5], "activation_beta": [0.1]}),
    ("Resize", (18,), [IMAGE], {"r": f32(), "s": f32(1, 1, 0.6, 0.7)},
     {"mode": "linear", "antialias": 1}),
    ("Resize", (18,), [IMAGE], {"r": f32(), "s": f32(), "z": i64(1, 4, 3, 5)},
     {"mode": "cubic", "antialias": 1, "cubic_coeff_a": -0.5}),
    ("Resize", (13,), [IMAGE], {"r": f32(0, 0, 0.2, -0.1, 1, 1, 0.7, 0.8), "s": f32(),
                                "z": i64(1, 4, 3, 5)},
     {"mode": "linear", "coordinate_transformation_mode": "tf_crop_and_resize",
      "extrapolation_value": 7.5}),
    ("RoiAlign", (10, 16), [IMAGE], {"r": ROIS, "b": i64(0, 0)},
     {"output_height": 3, "output_width": 2, "sampling_ratio": 2, "spatial_scale": 0.5}),
    ("RoiAlign", (10, 16), [IMAGE], {"r": ROIS, "b": i64(0, 0)},
     {"output_height": 2, "output_width": 2}),
    ("RoiAlign", (10, 16), [IMAGE, ROIS], {"b": i64(0, 0)},
     {"output_height": 3, "output_width": 2}),
    ("MaxRoiPool", (1,), [IMAGE], {"r": np.pad(ROIS, [(0, 0), (1, 0)])},
     {"pooled_shape": [3, 2], "spatial_scale": 0.5}),
    ("MaxPool", (8, 12), [IMAGE], {}, {"kernel_shape": [3, 2], "strides": [2, 1],
                                       "pads": [1, 0, 1, 1], "storage_order": 1}),
    ("MaxPool", (12,), [IMAGE[:, :, 0]], {}, {"kernel_shape": [2], "dilations": [3],
                                              "ceil_mode": 1}),
    ("MaxUnpool", (9, 11), [IMAGE[:, :1, :2, :2]], {"i": np.array([[[[1, 3], [12, 15]]]]),
                                                    "o": i64(1, 1, 5, 4)},
     {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("STFT", (17,), [SIGNAL], {"s": np.int64(7), "w": np.hanning(16).astype(np.float32)}, {}),
    ("STFT", (17,), [SIGNAL], {"s": np.int64(5), "w": np.ones(15, np.float32),
                               "l": np.int64(15)}, {"onesided": 0}),
    ("MelWeightMatrix", (17,), [], {"n": np.int64(8), "d": np.int64(64), "s": np.int64(8192),
                                    "l": np.float32(0), "u": np.float32(4096)}, {}),
    ("Det", (11,), [X234[:, :, :3]], {}, {}),
    ("MatMulInteger", (10,), [np.arange(12, dtype=np.uint8).reshape(3, 4)],
     {"b": np.arange(8, dtype=np.uint8).reshape(4, 2), "z": np.uint8(5)}, {}),
]  # fmt: skip

OUTPUTS = {"LSTM": 3, "GRU": 2, "RNN": 2, "TopK": 2, "MaxPool": 2,
           "DynamicQuantizeLinear": 3}  # fmt: skip


def case_name(case: tuple[Any, ...]) -> str:
    operator, versions, _, _, attributes = case
    return f"{operator}-{versions[0]}-{'-'.join(attributes)}"


@pytest.mark.parametrize("case", CASES, ids=case_name)
def test_operator_means_what_its_version_says(
    case: tuple[Any, ...],
    model: Callable[..., Any],
    same_as_onnxruntime: Callable[..., None],
) -> None:
    operator, versions, operands, constants, attributes = case
    names = [f"x{i}" for i in range(len(operands))]
    kinds = {"float32": "f32", "int64": "i64", "uint8": "u8"}
    inputs = {n: (kinds[x.dtype.name], x.shape) for n, x in zip(names, operands, strict=True)}
    outputs = [f"y{i}" for i in range(OUTPUTS.get(operator, 1))]
    if operator == "Split":
        outputs = ["y0", "y1"]
    node = helper.make_node(operator, [*names, *constants], outputs, **attributes)
    for version in versions:
        made = model([node], inputs, outputs, constants, opset=version)
        same_as_onnxruntime(made, *operands)


def test_sequences_are_gone_when_a_model_is_read(
    model: Callable[..., Any], same_as_onnxruntime: Callable[..., None]
) -> None:
    node = helper.make_node
    made = model(
        [
            node("SplitToSequence", ["x", "sizes"], ["parts"], axis=2),
            node("SequenceAt", ["parts", "last"], ["end"]),
            node("SequenceInsert", ["parts", "end", "zero"], ["more"]),
            node("SequenceErase", ["more", "last"], ["fewer"]),
            node("SequenceLength", ["fewer"], ["count"]),
            node("ConcatFromSequence", ["fewer"], ["joined"], axis=-1),
            node("SequenceConstruct", ["x", "x"], ["twice"]),
            node("ConcatFromSequence", ["twice"], ["stacked"], axis=1, new_axis=1),
        ],
        {"x": ("f32", [2, 3, 4])},
        ["joined", "stacked", "count"],
        {"sizes": i64(1, 1, 2), "zero": np.int64(0), "last": np.int64(-1)},
        opset=13,
    )
    same_as_onnxruntime(made, X234)


@pytest.mark.parametrize(
    ("operator", "version", "second", "attributes", "expected"),
    [
        ("Add", 6, f32(1, 2, 3), {"broadcast": 1, "axis": 1}, X234 + f32(1, 2, 3)[:, None]),
        ("Mul", 1, f32(1, 2, 3, 4), {"broadcast": 1}, X234 * f32(1, 2, 3, 4)),
        ("Less", 6, X234[::-1].copy(), {}, X234[::-1] > X234),
        ("Reshape", 1, None, {"shape": [0, -1]}, X234.reshape(2, 12)),
        ("Cast", 1, None, {"to": "INT32"}, X234.astype(np.int32)),
        ("Clip", 6, None, {"min": 0.0, "max": 0.5}, X234.clip(0, 0.5)),
        ("Pad", 1, None, {"paddings": [0, 0, 1, 0, 0, 0]}, np.pad(X234, [(0, 0), (0, 0), (1, 0)])),
        ("PRelu", 6, f32(1, 2, 3), {}, np.where(X234 < 0, X234 * f32(1, 2, 3)[:, None], X234)),
        ("Concat", 1, X234, {}, np.concatenate([X234, X234], 1)),
        ("Dropout", 6, None, {"is_test": 1}, X234),
        ("Split", 1, None, {"axis": 2, "split": [4]}, X234),
        ("LeakyRelu", 6, None, {"alpha": 0.5}, np.where(X234 < 0, X234 / 2, X234)),
    ],
)
def test_first_versions(
    model: Callable[..., Any],
    run_onnx: Callable[..., Any],
    operator: str,
    version: int,
    second: Any,
    attributes: dict[str, Any],
    expected: np.ndarray,
) -> None:
    constants = {} if second is None else {"c": second}
    node = helper.make_node(operator, ["x", *constants], ["y"], **attributes)
    made = model([node], {"x": ("f32", X234.shape)}, ["y"], constants, opset=version)
    (found,) = run_onnx(made, X234)
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("operator", ["Abs", "Exp", "LeakyRelu", "Selu", "Sqrt"])
def test_what_the_first_version_says_of_memory_means_nothing(
    model: Callable[..., Any], run_onnx: Callable[..., Any], operator: str
) -> None:
    nodes = [
        helper.make_node(operator, ["x"], ["y"], consumed_inputs=[0]),
        helper.make_node(operator, ["x"], ["z"]),
    ]
    found, expected = run_onnx(model(nodes, {"x": ("f32", X234.shape)}, ["y", "z"], opset=1), X234)
    np.testing.assert_array_equal(found, expected)


def test_constants_may_be_texts(model: Callable[..., Any], run_onnx: Callable[..., Any]) -> None:
    nodes = [
        helper.make_node("Constant", [], ["a"], value_strings=["one", "two"]),
        helper.make_node("Constant", [], ["b"], value_string="three"),
    ]
    a, b = run_onnx(model(nodes, {}, ["a", "b"], opset=13))
    assert (a.tolist(), b.tolist()) == (["one", "two"], "three")
