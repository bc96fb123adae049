"""Contrib operators of transformers, beside onnxruntime, which defines them."""

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import onnxruntime
import pytest
from onnx import helper

import gravure as gv
from gravure.frontend.programs.load import load_program

RANDOM = np.random.default_rng(3)


def draw(*shape: int) -> np.ndarray:
    return RANDOM.standard_normal(shape).astype(np.float32) * 0.5


def i32(*values: int) -> np.ndarray:
    return np.array(values, np.int32)


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


B, S, N, D = 2, 4, 2, 6
H = N * D
X = draw(B, S, H)
ANGLES = RANDOM.uniform(-1, 1, (9, 3)).astype(np.float32)
TABLES = {"cos": np.cos(ANGLES), "sin": np.sin(ANGLES)}
QKV = {"w": draw(H, 3 * H), "b": draw(3 * H)}
PACKED = RANDOM.integers(0, 256, (5, 3, 8), np.uint8)
SCALES = np.abs(draw(15)) + 0.1
CACHE = {"pk": draw(B, 1, 3, 16), "pv": draw(B, 1, 3, 16)}
WIDE = RANDOM.uniform(-1, 1, (9, 8)).astype(np.float32)
TURNS = {"cos": np.cos(WIDE), "sin": np.sin(WIDE)}
GQA = {"num_heads": N, "kv_num_heads": 1}

# Name, inputs in order ("" is one left out), outputs, attributes.
CASES: list[tuple[str, dict[str, Any], int, dict[str, Any]]] = [
    ("Gelu", {"x": X}, 1, {}),
    ("BiasGelu", {"x": X, "b": draw(H)}, 1, {}),
    ("FastGelu", {"x": X, "b": draw(H)}, 1, {}),
    ("FastGelu", {"x": X}, 1, {}),
    ("QuickGelu", {"x": X}, 1, {"alpha": 1.5}),
    ("FusedMatMul", {"x": X, "y": draw(B, 5, H)}, 1, {"transB": 1, "alpha": 0.25}),
    ("FusedMatMul", {"x": draw(H), "y": draw(B, H, 5)}, 1, {"transA": 1, "alpha": 0.25}),
    ("FusedMatMul", {"x": X, "y": draw(H)}, 1, {"alpha": 2.0}),
    ("MatMulNBits", {"x": draw(48), "w": PACKED, "s": SCALES}, 1,
     {"K": 48, "N": 5, "bits": 4, "block_size": 16}),
    ("SkipLayerNormalization", {"x": X, "s": draw(B, S, H), "g": draw(H), "b": draw(H),
                                "c": draw(H)}, 4, {"epsilon": 1e-5}),
    ("SkipLayerNormalization", {"x": X, "s": draw(B, S, H), "g": draw(H)}, 1, {}),
    ("SkipSimplifiedLayerNormalization", {"x": X, "s": draw(B, S, H), "g": draw(H)}, 4, {}),
    ("EmbedLayerNormalization", {
        "ids": np.array([[1, 2, 0], [3, 4, 4]], np.int32), "seg": np.ones((2, 3), np.int32),
        "w": draw(5, H), "p": draw(4, H), "k": draw(2, H), "g": draw(H), "b": draw(H),
        "m": np.array([[1, 1, 0], [1, 1, 1]], np.int32)}, 2, {}),
    ("Attention", {"x": X, **QKV}, 1, {"num_heads": N}),
    ("Attention", {"x": X, **QKV, "m": i32(2, 4)}, 1, {"num_heads": N}),
    ("Attention", {"x": X, **QKV, "m": np.array([[1, 1, 1, 0], [0, 1, 1, 1]], np.int32)}, 1,
     {"num_heads": N, "unidirectional": 1}),
    ("Attention", {"x": X, **QKV, "m": np.ones((B, S + 3), np.int32), "p": draw(2, B, N, 3, D)}, 2,
     {"num_heads": N, "unidirectional": 1}),
    ("MultiHeadAttention", {"q": X, "k": draw(B, 5, H), "v": draw(B, 5, H), "b": draw(3 * H)}, 1,
     {"num_heads": N}),
    ("MultiHeadAttention", {"q": X, "k": draw(B, 5, H), "v": draw(B, 5, H), "b": None,
                            "m": np.array([[1, 1, 1, 0, 0], [1, 1, 1, 1, 1]], np.int32),
                            "e": draw(1, N, S, 5)}, 1, {"num_heads": N, "scale": 0.3}),
    ("MultiHeadAttention", {"q": X, "k": draw(B, S, H), "v": draw(B, S, H), "b": None, "m": None,
                            "e": None, "pk": draw(B, N, 3, D), "pv": draw(B, N, 3, D)}, 3,
     {"num_heads": N, "unidirectional": 1}),
    ("RotaryEmbedding", {"x": X, "p": np.array([[0, 1, 2, 3], [2, 3, 4, 5]]), **TABLES}, 1,
     {"num_heads": N}),
    ("RotaryEmbedding", {"x": draw(B, N, S, 6), "p": i64(4), **TABLES}, 1, {"interleaved": 1}),
    ("GroupQueryAttention", {"q": draw(B, S, 32), "k": draw(B, S, 16), "v": draw(B, S, 16),
                             "pk": None, "pv": None, "n": i32(3, 1),
                             "t": np.array(4, np.int32)}, 3, GQA),
    ("GroupQueryAttention", {"q": draw(B, 1, 32), "k": draw(B, 1, 16), "v": draw(B, 1, 16),
                             **CACHE, "n": i32(3, 3), "t": np.array(4, np.int32)}, 3,
     {**GQA, "local_window_size": 2}),
    ("GroupQueryAttention", {"q": draw(B, 1, 64), "k": None, "v": None, **CACHE, "n": i32(3, 3),
                             "t": np.array(4, np.int32), **TURNS}, 3, {**GQA, "do_rotary": 1}),
    ("GroupQueryAttention", {"q": draw(B, S, 32), "k": draw(B, S, 16), "v": draw(B, S, 16),
                             "pk": None, "pv": None, "n": i32(3, 3), "t": np.array(4, np.int32)},
     3, {**GQA, "smooth_softmax": 1, "rotary_interleaved": 0}),
    ("GroupQueryAttention", {"q": draw(B, 1, 32), "k": draw(B, 1, 16), "v": draw(B, 1, 16),
                             **CACHE, "n": i32(3, 3), "t": np.array(4, np.int32), "cos": None,
                             "sin": None, "at": None, "e": draw(B, N, 1, 4), "sink": draw(N)}, 3,
     GQA),
    ("Attention", {"x": X, **QKV, "m": i32(3, 4, 0, 1)}, 1, {"num_heads": N}),
    ("FusedMatMul", {"x": draw(3, B, 4), "y": draw(4, B, 5)}, 1,
     {"transBatchA": 1, "transBatchB": 1}),
    ("FusedGemm", {"a": draw(3, 4), "b": draw(4, 5), "c": draw(5)}, 1,
     {"activation": "LeakyRelu", "activation_alpha": 0.3}),
    ("FusedConv", {"x": draw(1, 3, 6, 6), "w": draw(4, 3, 3, 3), "b": draw(4),
                   "z": draw(1, 4, 4, 4)}, 1, {"activation": "Relu"}),
    ("FusedConv", {"x": draw(1, 3, 6, 6), "w": draw(4, 3, 3, 3)}, 1,
     {"activation": "HardSigmoid", "activation_params": [0.3, 0.4]}),
    ("MatMulNBits", {"a": draw(2, 40), "b": PACKED, "s": SCALES, "z": None,
                     "g": RANDOM.integers(0, 3, 40).astype(np.int32)}, 1,
     {"K": 40, "N": 5, "bits": 4, "block_size": 16}),
    ("MatMulNBits", {"a": draw(2, 40), "b": PACKED, "s": SCALES}, 1,
     {"K": 40, "N": 5, "bits": 4, "block_size": 16}),
    ("MatMulNBits", {"a": draw(2, 40), "b": PACKED, "s": SCALES,
                     "z": RANDOM.integers(0, 256, (5, 2), np.uint8)}, 1,
     {"K": 40, "N": 5, "bits": 4, "block_size": 16}),
    ("MatMulBnb4", {"a": draw(2, 40), "b": RANDOM.integers(0, 256, 100, np.uint8),
                    "s": draw(13)}, 1, {"K": 40, "N": 5, "block_size": 16, "quant_type": 1}),
    ("MatMulBnb4", {"a": draw(2, 40), "b": RANDOM.integers(0, 256, 100, np.uint8),
                    "s": draw(13)}, 1, {"K": 40, "N": 5, "block_size": 16, "quant_type": 0}),
    ("GatherBlockQuantized", {"t": RANDOM.integers(0, 256, (5, 32), np.uint8), "i": i64(3, 0, 3),
                              "s": draw(5, 2)}, 1, {"block_size": 16, "bits": 8}),
    ("GatherBlockQuantized", {"t": RANDOM.integers(0, 256, (5, 24), np.uint8), "i": i64(3, 0),
                              "s": draw(5, 3), "z": RANDOM.integers(0, 256, (5, 2), np.uint8)}, 1,
     {"block_size": 16, "bits": 4}),
    ("GatherBlockQuantized", {"t": PACKED.reshape(5, 24)[:, :11].copy(), "i": i64(3, 0),
                              "s": SCALES[:10].reshape(5, 2),
                              "z": PACKED.reshape(5, 24)[:, 23:].copy()}, 1,
     {"block_size": 16, "bits": 4}),
    ("Trilu", {"x": X}, 1, {"upper": 0}),
    ("GatherND", {"x": X, "i": np.array([[1, 0], [0, 2]])}, 1, {}),
    ("GridSample", {"x": draw(1, 2, 5, 5), "g": draw(1, 3, 3, 2)}, 1, {"align_corners": 1}),
    ("Pad", {"x": draw(2, 3), "p": i64(1, 0, 0, 2)}, 1, {"mode": "constant"}),
    ("Range", {"x": np.array(1, np.float32), "l": np.array(5, np.float32)}, 1, {}),
    ("ExpandDims", {"x": X, "i": np.array(-1, np.int32)}, 1, {}),
    ("Unique", {"x": np.float32([2, 1, 2, 3])}, 3, {}),
    ("Inverse", {"x": np.eye(3, dtype=np.float32) + draw(2, 3, 3) / 4}, 1, {}),
    ("CDist", {"x": draw(3, 4), "y": draw(5, 4)}, 1, {"metric": "euclidean"}),
    ("CDist", {"x": draw(3, 4), "y": draw(5, 4)}, 1, {"metric": "sqeuclidean"}),
]  # fmt: skip


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{'-'.join(case[1])}")
def test_an_operator_is_what_onnxruntime_says(
    case: tuple[str, dict[str, Any], int, dict[str, Any]],
    model: Callable[..., Any],
    same_as_onnxruntime: Callable[..., None],
) -> None:
    operator, operands, count, attributes = case
    given = {name: x for name, x in operands.items() if x is not None}
    moving = {name: x for name, x in given.items() if x.dtype == np.float32}
    fixed = {name: x for name, x in given.items() if name not in moving}
    names = [name if x is not None else "" for name, x in operands.items()]
    outputs = [f"y{i}" for i in range(count)]
    if operator.startswith("Skip") and count == 4:  # mean and deviation are for training
        outputs[1:3] = ["", ""]
    node = helper.make_node(operator, names, outputs, domain="com.microsoft", **attributes)
    inputs = {name: ("f32", x.shape) for name, x in moving.items()}
    made = model([node], inputs, list(filter(None, outputs)), fixed)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    same_as_onnxruntime(made, *moving.values())


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0]}-{'-'.join(case[1])}")
def test_attributes_may_be_given_what_they_are_without(
    case: tuple[str, dict[str, Any], int, dict[str, Any]], model: Callable[..., Any]
) -> None:
    """What onnxruntime fuses and writes has all of them."""
    operator, operands, count, attributes = case
    schemas = importlib.import_module("onnxruntime.capi.onnxruntime_pybind11_state")
    (schema,) = (
        each for each in schemas.get_all_operator_schema()
        if (each.domain, each.name) == ("com.microsoft", operator)
    )  # fmt: skip
    given = {name: x for name, x in operands.items() if x is not None}
    names = [name if x is not None else "" for name, x in operands.items()]
    outputs = ["y0", *(f"y{i}" for i in range(1, count) if not operator.startswith("Skip"))]
    node = helper.make_node(operator, names, outputs, domain="com.microsoft", **attributes)
    for name, attribute in schema.attributes.items():
        if attribute._default_value and name not in attributes:
            node.attribute.add().ParseFromString(attribute._default_value)
    made = model([node], {}, outputs, given)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    load_program(made.SerializeToString())


Q8 = RANDOM.integers(0, 256, (2, 3, 4), np.uint8)
I8 = RANDOM.integers(-64, 65, (2, 3, 4)).astype(np.int8)
"""Of seven bits: without VNNI onnxruntime adds two products in 16 bits, which saturate."""
TWO = {"as": np.float32(0.02), "az": np.uint8(120)}
OUT = {"ys": np.float32(0.05), "yz": np.uint8(100)}

PICTURE = RANDOM.integers(0, 256, (2, 5, 5, 5), np.uint8)

QUANTISED: list[tuple[str, dict[str, Any], dict[str, Any]]] = [
    ("QLinearAdd", {"a": Q8, **TWO, "b": Q8[::-1].copy(), "bs": np.float32(0.03),
                    "bz": np.uint8(128), **OUT}, {}),
    ("QLinearMul", {"a": Q8, **TWO, "b": Q8[::-1].copy(), "bs": np.float32(0.03),
                    "bz": np.uint8(128), **OUT}, {}),
    ("QLinearSigmoid", {"a": Q8, **TWO, "ys": np.float32(1 / 256), "yz": np.uint8(0)}, {}),
    ("QLinearLeakyRelu", {"a": Q8, **TWO, **OUT}, {"alpha": 0.1}),
    ("QLinearGlobalAveragePool", {"a": Q8[:, :, :, None].copy(), **TWO, **OUT}, {}),
    ("QLinearSoftmax", {"a": Q8, **TWO, "ys": np.float32(1 / 256), "yz": np.uint8(0)},
     {"axis": -1, "opset": 13}),
    ("QLinearConcat", {**OUT, "a": Q8, **TWO, "b": Q8[:1], "bs": np.float32(0.1),
                       "bz": np.uint8(7)}, {"axis": 0}),
    ("QGemm", {"a": Q8[0], **TWO, "b": I8[1], "bs": np.float32(0.01), "bz": np.int8(3),
               "c": i32(50, -40, 7), "ys": np.float32(0.2), "yz": np.uint8(100)}, {"transB": 1}),
    ("QGemm", {"a": Q8[0], **TWO, "b": I8[1], "bs": np.float32(0.01), "bz": np.int8(3)},
     {"transB": 1, "alpha": 0.5}),
    ("MatMulIntegerToFloat", {"a": Q8, "b": I8[0].T.copy(), "as": np.float32(0.02),
                              "bs": np.float32(0.01), "az": np.uint8(120), "bz": np.int8(3),
                              "c": draw(3)}, {}),
    ("DynamicQuantizeMatMul", {"x": X, "b": RANDOM.integers(-64, 65, (H, 3)).astype(np.int8),
                               "bs": np.float32(0.01), "bz": np.int8(3), "c": draw(3)}, {}),
    ("QLinearAveragePool", {"a": PICTURE, **TWO, "ys": np.float32(0.0471), "yz": np.uint8(9)},
     {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}),
    ("QLinearAveragePool", {"a": PICTURE, **TWO, "ys": np.float32(0.0471), "yz": np.uint8(9)},
     {"kernel_shape": [3, 2], "channels_last": 1}),
    ("QLinearWhere", {"m": np.array([True, False, True, False]), "a": Q8, **TWO,
                      "b": Q8[::-1].copy(), "bs": np.float32(0.03), "bz": np.uint8(128),
                      **OUT}, {}),
    ("QLinearConv", {"a": PICTURE, **TWO,
                     "w": RANDOM.integers(-64, 65, (4, 5, 2, 2)).astype(np.int8),
                     "ws": np.float32(0.01), "wz": np.int8(0), **OUT}, {"channels_last": 1}),
    ("NhwcMaxPool", {"a": PICTURE}, {"kernel_shape": [2, 2], "strides": [2, 2]}),
    ("QAttention", {"a": Q8, "w": RANDOM.integers(-64, 65, (4, 12)).astype(np.int8),
                    "b": draw(12), "as": np.float32(0.02), "ws": np.float32(0.01),
                    "m": i32(3, 2), "az": np.uint8(120), "wz": np.int8(3)}, {"num_heads": 2}),
]  # fmt: skip


@pytest.mark.parametrize("case", QUANTISED, ids=lambda case: f"{case[0]}-{len(case[1])}")
def test_a_quantised_operator_is_what_onnxruntime_says(
    case: tuple[str, dict[str, Any], dict[str, Any]],
    model: Callable[..., Any],
    same_as_onnxruntime: Callable[..., None],
) -> None:
    operator, operands, attributes = case
    first = next(name for name, x in operands.items() if np.ndim(x))
    kinds = {"uint8": "u8", "float32": "f32", "bool": "bool"}
    node = helper.make_node(operator, [*operands], ["y"], domain="com.microsoft", **attributes)
    x = operands[first]
    fixed = {name: value for name, value in operands.items() if name != first}
    made = model([node], {first: (kinds[x.dtype.name], x.shape)}, ["y"], fixed)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    same_as_onnxruntime(made, x)


def test_rows_of_any_order_have_the_zero_points_of_their_blocks(model: Callable[..., Any]) -> None:
    blocks, zeros = RANDOM.integers(0, 3, 40).astype(np.int32), RANDOM.integers(0, 16, (5, 4))
    packed = (zeros[:, ::2] | zeros[:, 1::2] << 4).astype(np.uint8)
    fixed = {"b": PACKED, "s": SCALES, "z": packed, "g": blocks}
    node = helper.make_node(
        "MatMulNBits", ["a", *fixed], ["y"], domain="com.microsoft", K=40, N=5, bits=4,
        block_size=16,
    )  # fmt: skip
    made = model([node], {"a": ("f32", (2, 40))}, ["y"], fixed)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    levels = np.stack([PACKED & 15, PACKED >> 4], -1).reshape(5, 48)[:, :40].astype(np.float32)
    weights = (levels - zeros[:, blocks]) * SCALES.reshape(5, 3)[:, blocks]
    a = draw(2, 40)
    found = gv.compile(made.SerializeToString()).run([a])
    np.testing.assert_allclose(found[0], a @ weights.T, rtol=1e-4, atol=1e-4)


def test_a_cache_with_room_stays_as_long_as_it_is(model: Callable[..., Any]) -> None:
    new = [draw(B, 1, 32), draw(B, 1, 16), draw(B, 1, 16)]
    node = helper.make_node(
        "GroupQueryAttention", [*"qkv", "pk", "pv", "n", "t"], ["y", "ok", "ov"],
        domain="com.microsoft", **GQA,
    )  # fmt: skip
    results = []
    for length in (3, 9):
        past = [np.zeros((B, 1, length, 16), np.float32) for _ in range(2)]
        for one, other in zip(past, CACHE.values(), strict=True):
            one[:, :, :3] = other
        arrays = [*new, *past]
        inputs = {name: ("f32", x.shape) for name, x in zip(node.input, arrays, strict=False)}
        made = model([node], inputs, [*node.output], {"n": i32(3, 3), "t": np.array(4, np.int32)})
        made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        results.append(gv.compile(made.SerializeToString()).run(arrays))
    (y, k, v), (shared, wide_k, wide_v) = results
    np.testing.assert_allclose(y, shared, rtol=1e-5, atol=1e-6)
    assert k.shape[2] == 4
    for one, wide in ((k, wide_k), (v, wide_v)):
        np.testing.assert_array_equal(wide[:, :, :4], one)
        assert wide.shape[2] == 9
        assert not wide[:, :, 4:].any()


def test_a_simple_norm_stands_in_the_standards_domain(
    model: Callable[..., Any], same_as_onnxruntime: Callable[..., None]
) -> None:
    node = helper.make_node("SimplifiedLayerNormalization", ["x", "g"], ["y"], axis=-1)
    made = model([node], {"x": ("f32", X.shape)}, ["y"], {"g": draw(H)})
    same_as_onnxruntime(made, X)


def test_words_of_quantised_tables_are_what_onnxruntime_says(
    model: Callable[..., Any], same_as_onnxruntime: Callable[..., None]
) -> None:
    ids = np.array([[1, 2, 0], [3, 4, 4]], np.int32)
    tables = {"w": 5, "p": 4, "k": 2}
    fixed = {name: RANDOM.integers(0, 256, (n, H), np.uint8) for name, n in tables.items()}
    fixed |= {name: RANDOM.integers(0, 256, H, np.uint8) for name in "gb"}
    fixed |= {"seg": np.ones((2, 3), np.int32), "m": np.ones((2, 3), np.int32)}
    scales = {f"{name}s": np.float32(0.02) for name in "wpkgb"}
    zeros = {f"{name}z": np.uint8(120) for name in "wpkgb"}
    names = ["x", "seg", *"wpkgb", "m", *scales, *zeros]
    node = helper.make_node("QEmbedLayerNormalization", names, ["y", "n"], domain="com.microsoft")
    made = model([node], {"x": ("i32", ids.shape)}, ["y", "n"], {**fixed, **scales, **zeros})
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    same_as_onnxruntime(made, ids)


@pytest.mark.parametrize("columns", [1, 20], ids=["a scale", "a scale for each column"])
def test_a_layer_of_quantised_weights_is_about_what_onnxruntime_says(
    columns: int, model: Callable[..., Any]
) -> None:
    x = draw(4, 2, 3)
    shape = (2,) if columns == 1 else (2, 20)
    fixed = {"w": RANDOM.integers(-64, 65, (2, 3, 20)).astype(np.int8),
             "r": RANDOM.integers(-64, 65, (2, 5, 20)).astype(np.int8), "b": draw(2, 40) * 0.2,
             "ws": np.full(shape, 0.01, np.float32), "wz": np.zeros(shape, np.int8),
             "rs": np.full(shape, 0.01, np.float32), "rz": np.zeros(shape, np.int8)}  # fmt: skip
    names = ["x", "w", "r", "b", "", "", "", "", "ws", "wz", "rs", "rz"]
    node = helper.make_node(
        "DynamicQuantizeLSTM", names, ["y", "h", "c"], domain="com.microsoft", hidden_size=5,
        direction="bidirectional",
    )  # fmt: skip
    made = model([node], {"x": ("f32", x.shape)}, ["y", "h", "c"], fixed)
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    options = ["CPUExecutionProvider"]
    wanted = onnxruntime.InferenceSession(made.SerializeToString(), providers=options)
    for got, want in zip(
        gv.compile(made.SerializeToString()).run([x]), wanted.run(None, {"x": x}), strict=True
    ):
        np.testing.assert_allclose(got, want, atol=0.02)  # it rounds states to 8 bits


def test_packed_queries_may_be_of_any_length(model: Callable[..., Any]) -> None:
    packed = draw(B, S, 64)
    node = helper.make_node(
        "GroupQueryAttention", ["q", "", "", "", "", "n", "t"], ["y"], domain="com.microsoft", **GQA
    )
    fixed = {"n": i32(3, 3), "t": np.array(4, np.int32)}
    results = []
    for shape in (packed.shape, ("b", "s", 64)):
        made = model([node], {"q": ("f32", shape)}, ["y"], fixed)
        made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
        results.append(
            gv.compile(
                made.SerializeToString(), dims={} if shape[0] == B else {"b": 2, "s": (1, 9)}
            ).run([packed])[0]
        )
    np.testing.assert_allclose(*results, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_words_that_would_repeat_a_run_have_no_chance(model: Callable[..., Any], size: int) -> None:
    node = helper.make_node(
        "NGramRepeatBlock", ["ids", "scores"], ["y"], domain="com.microsoft", ngram_size=size
    )
    made = model([node], {"ids": ("i64", ["b", "l"]), "scores": ("f32", ["b", 4])}, ["y"])
    made.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    data = made.SerializeToString()
    peer = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    found = gv.compile(data, dims={"b": (1, 4), "l": (2, 40)}, level="O1")
    for rows, length in ((2, 5), (1, 2), (3, 40)):
        feed = {"ids": RANDOM.integers(0, 3, (rows, length)), "scores": draw(rows, 4)}
        np.testing.assert_array_equal(found.run(feed)[0], peer.run(None, feed)[0])
