"""Quantised products as integers: what they compute without optimisation, by other instructions."""

from collections.abc import Sequence
from typing import Any

import ml_dtypes
import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import gravure as gv

pytestmark = pytest.mark.sampled(2)

Array = np.ndarray[Any, Any]
RANDOM = np.random.default_rng(0)
TYPES = {np.uint8: TensorProto.UINT8, np.int8: TensorProto.INT8, np.float32: TensorProto.FLOAT}
TYPES[np.int32] = TensorProto.INT32


def levels(dtype: Any, *shape: int) -> Array:
    """Return random integers of 8 bits."""
    low, high = np.iinfo(dtype).min, np.iinfo(dtype).max
    return RANDOM.integers(low, high + 1, shape).astype(dtype)


def model(
    nodes: Sequence[onnx.NodeProto], x: Array, made: Any, constants: dict[str, Array]
) -> bytes:
    """Return a model of one input and one result."""
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TYPES[x.dtype.type], x.shape)],
        [helper.make_tensor_value_info("y", TYPES[made], None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()


def check(data: bytes, x: Array, *, exact: bool, quads: bool = True) -> None:
    """Compare with what unoptimised code gives, and look for grouped panels."""
    wanted, found = gv.compile(data, level="O0"), gv.compile(data, verify=True)
    a, b = wanted(x), found(x)
    if exact:
        np.testing.assert_array_equal(a, b)
    else:
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-5 * float(np.abs(a).max()))
    assert ("x4xi8>" in gv.ir.print_module(found.compiled.program.module)) == quads


@pytest.mark.parametrize("left", [np.uint8, np.int8])
@pytest.mark.parametrize("right", [np.uint8, np.int8])
@pytest.mark.parametrize("zeros", [(), (0,), (0, 1)])
def test_integers_are_multiplied_exactly(left: Any, right: Any, zeros: tuple[int, ...]) -> None:
    x = levels(left, 7, 24)
    kinds = [left, right]
    points = {f"z{n}": levels(kinds[n], *(() if n == 0 else (16,))) for n in zeros}
    node = helper.make_node("MatMulInteger", ["x", "w", *points], ["y"])
    data = model([node], x, np.int32, {"w": levels(right, 24, 16), **points})
    check(data, x, exact=True)


@pytest.mark.parametrize("right", [np.uint8, np.int8])
def test_a_quantised_product_is_quantised_again(right: Any) -> None:
    x = levels(np.uint8, 5, 32)
    names = ["x", "sx", "zx", "w", "sw", "zw", "sy", "zy"]
    constants = {
        "sx": np.float32(0.02), "zx": np.uint8(119), "w": levels(right, 32, 16),
        "sw": np.float32(0.01), "zw": right(3), "sy": np.float32(0.7), "zy": np.uint8(128),
    }  # fmt: skip
    data = model(
        [helper.make_node("QLinearMatMul", names, ["y"])], x, np.uint8,
        {name: np.asarray(value) for name, value in constants.items()},
    )  # fmt: skip
    check(data, x, exact=True)


def test_halves_are_rounded_before_the_zero_point_is_added() -> None:
    """Found by `gravure fuzz graphs`: behind an odd one, halves went to odd levels."""
    constants = {
        "s": np.float32(0.5), "one": np.float32(1), "zero": np.uint8(0), "odd": np.uint8(1),
        "w": np.ones((1, 1), np.uint8),
    }  # fmt: skip
    names = ["x", "s", "zero", "w", "one", "zero", "one", "odd"]
    x = np.arange(6, dtype=np.uint8).reshape(6, 1)
    data = model(
        [helper.make_node("QLinearMatMul", names, ["y"])], x, np.uint8,
        {name: np.asarray(value) for name, value in constants.items()},
    )  # fmt: skip
    [found] = gv.compile(data).run([x])
    assert found.ravel().tolist() == [1, 1, 2, 3, 3, 3]  # 0, 0.5, 1, 1.5, 2, 2.5 to even, and 1


@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
def test_floats_between_quantised_values_are_left_out(per_column: bool, transposed: bool) -> None:
    x = RANDOM.standard_normal((6, 24)).astype(np.float32)
    shape = (16, 24) if transposed else (24, 16)
    axis = 0 if transposed else 1
    scale = np.full(16, 0.013, np.float32) + np.arange(16, dtype=np.float32) / 1000
    constants = {
        "s": np.array(0.03, np.float32), "z": np.array(117, np.uint8), "w": levels(np.int8, *shape),
        "t": scale if per_column else scale[0], "b": np.ones(16, np.float32),
    }  # fmt: skip
    flat = {"axis": axis} if per_column else {}
    nodes = [
        helper.make_node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        helper.make_node("DequantizeLinear", ["q", "s", "z"], ["a"]),
        helper.make_node("DequantizeLinear", ["w", "t"], ["v"], **flat),
        helper.make_node("Gemm", ["a", "v", "b"], ["y"], transB=int(transposed)),
    ]
    data = model(nodes, x, np.float32, {k: np.asarray(v) for k, v in constants.items()})
    check(data, x, exact=False)


def test_a_dynamically_quantised_product_is_one_of_integers() -> None:
    x = RANDOM.standard_normal((3, 16)).astype(np.float32)
    nodes = [
        helper.make_node("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        helper.make_node("MatMulInteger", ["q", "w", "z"], ["p"]),
        helper.make_node("Cast", ["p"], ["f"], to=TensorProto.FLOAT),
        helper.make_node("Mul", ["f", "s"], ["y"]),
    ]
    data = model(nodes, x, np.float32, {"w": levels(np.int8, 16, 16)})
    check(data, x, exact=False)


def test_a_depth_that_four_does_not_divide_is_filled_up() -> None:
    x = levels(np.uint8, 3, 10)
    node = helper.make_node("MatMulInteger", ["x", "w"], ["y"])
    check(model([node], x, np.int32, {"w": levels(np.int8, 10, 16)}), x, exact=True)


WINDOWS: Sequence[tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = (
    ((2, 8, 7, 9), (20, 8, 3, 3), {"pads": [1, 1, 1, 1]}),
    ((1, 3, 9, 8), (16, 3, 3, 3), {"pads": [1, 0, 1, 1], "strides": [2, 2]}),
    ((1, 16, 5, 5), (24, 16, 1, 1), {}),
    ((1, 16, 6, 7), (16, 1, 3, 3), {"pads": [1, 1, 1, 1], "group": 16}),
    ((1, 16, 5, 5), (8, 4, 3, 3), {"pads": [2, 2, 2, 2], "dilations": [2, 2], "group": 4}),
    ((1, 8, 19), (16, 8, 3), {"pads": [1, 1]}),
    ((1, 4, 4, 3, 5), (16, 4, 2, 3, 3), {"pads": [1, 1, 1, 0, 1, 1]}),
    ((1, 4, 5, 5), (6, 2, 3, 3), {"group": 2, "pads": [1, 1, 1, 1]}),
)
"""Image, weights and attributes: planes, few channels, points, each channel alone, groups of
channels, rows, volumes, and groups that four does not divide."""


@pytest.mark.parametrize("case", range(len(WINDOWS)))
@pytest.mark.parametrize("kinds", [(np.uint8, np.int8), (np.int8, np.uint8)])
def test_integers_are_convolved_exactly(case: int, kinds: tuple[Any, Any]) -> None:
    image, weights, attributes = WINDOWS[case]
    x = levels(kinds[0], *image)
    zero = {np.int8: 3, np.uint8: 130}[kinds[1]] if attributes.get("group", 1) == 1 else 0
    constants = {
        "w": levels(kinds[1], *weights), "z": np.array(7, kinds[0]), "v": np.array(zero, kinds[1])
    }  # fmt: skip
    node = helper.make_node("ConvInteger", ["x", "w", "z", "v"], ["y"], **attributes)
    quads = kinds[1] is np.int8 and case not in (3, 7)
    data = model([node], x, np.int32, constants)
    check(data, x, exact=True, quads=quads or attributes.get("group", 1) == 1)


@pytest.mark.parametrize("case", [0, 3])
@pytest.mark.parametrize("level", ["O1", "O2"])
@pytest.mark.parametrize("target", ["native", "x86-64-v3"])
def test_convolutions_between_quantised_values_agree(case: int, level: str, target: str) -> None:
    """Scales are powers of two, so that sums of f32 are exact too."""
    image, weights, attributes = WINDOWS[case]
    x = RANDOM.standard_normal(image).astype(np.float32)
    filters = weights[0]
    constants = {
        "s": np.array(1 / 32, np.float32), "z": np.array(-5, np.int8),
        "w": levels(np.int8, *weights), "sw": 2.0 ** -RANDOM.integers(5, 9, filters),
        "b": levels(np.int8, filters).astype(np.float32) / 64,
        "sy": np.array(0.25, np.float32), "zy": np.array(-128, np.int8),
        "sa": np.array(0.3, np.float32), "za": np.array(2, np.int8),
    }  # fmt: skip
    constants["sw"] = constants["sw"].astype(np.float32)
    make = helper.make_node
    nodes = [
        make("QuantizeLinear", ["x", "s", "z"], ["q"]),
        make("DequantizeLinear", ["q", "s", "z"], ["a"]),
        make("DequantizeLinear", ["w", "sw"], ["v"], axis=0),
        make("Conv", ["a", "v", "b"], ["c"], **attributes),
        make("Relu", ["c"], ["r"]),
        make("QuantizeLinear", ["r", "sy", "zy"], ["p"]),
        make("DequantizeLinear", ["p", "sy", "zy"], ["f"]),
        make("MaxPool", ["f"], ["m"], kernel_shape=[3, 3], pads=[1, 1, 1, 1]),
        make("QuantizeLinear", ["m", "sy", "zy"], ["mq"]),
        make("DequantizeLinear", ["mq", "sy", "zy"], ["mf"]),
        make("Add", ["mf", "f"], ["t"]),
        make("QuantizeLinear", ["t", "sa", "za"], ["y"]),
    ]
    data = model(nodes, x, np.int8, constants)
    wanted = ReferenceEvaluator(onnx.load_from_string(data)).run(None, {"x": x})[0]  # type: ignore[index]
    found = gv.compile(data, level=level, target=target, verify=True)
    np.testing.assert_array_equal(found(x), wanted)


def bits(numbers: Array) -> Array:
    """Return bytes of two numbers each."""
    return np.asarray(numbers[..., 0::2] | (numbers[..., 1::2] << 4), np.uint8)


@pytest.mark.parametrize("block", [32, 64, 16])
@pytest.mark.parametrize("zeros", [False, True])
def test_products_with_weights_of_four_bits(block: int, zeros: bool) -> None:
    x = RANDOM.standard_normal((2, 128)).astype(np.float32)
    numbers = RANDOM.integers(0, 16, (24, 128 // block, block)).astype(np.uint8)
    scale = (RANDOM.random((24, 128 // block)) + 0.1).astype(np.float32)
    zero = RANDOM.integers(0, 16, scale.shape).astype(np.uint8) if zeros else np.full_like(scale, 8)
    weight = ((numbers - zero[..., None].astype(np.float32)) * scale[..., None]).reshape(24, 128)
    constants = {"w": bits(numbers), "s": scale.reshape(-1)}
    if zeros:
        constants["z"] = bits(zero).reshape(-1)
    node = helper.make_node(
        "MatMulNBits", ["x", *constants], ["y"], domain="com.microsoft", N=24, K=128, bits=4,
        block_size=block,
    )  # fmt: skip
    check_blocks(model([node], x, np.float32, constants), x, x @ weight.T, fits=block != 16)


@pytest.mark.parametrize("dtype", [ml_dtypes.int4, ml_dtypes.uint4])
@pytest.mark.parametrize("axis", [0, 1])
def test_blocks_are_dequantised_in_the_product(dtype: Any, axis: int) -> None:
    x = RANDOM.standard_normal((3, 64)).astype(np.float32)
    shape, blocks = ((64, 20), (2, 20)) if axis == 0 else ((20, 64), (20, 2))
    constants = {
        "w": RANDOM.integers(0, 8, shape).astype(dtype),
        "s": (RANDOM.random(blocks) + 0.1).astype(np.float32),
        "z": RANDOM.integers(0, 8, blocks).astype(dtype),
    }
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "s", "z"], ["v"], axis=axis, block_size=32),
        helper.make_node("Gemm", ["x", "v"], ["y"], transB=axis),
    ]
    data = model(nodes, x, np.float32, constants)
    wanted = ReferenceEvaluator(onnx.load_from_string(data)).run(None, {"x": x})[0]  # type: ignore[index]
    check_blocks(data, x, wanted, fits=True)


def check_blocks(data: bytes, x: Array, wanted: Any, *, fits: bool) -> None:
    """Compare products with weights in blocks, which the left operand's 16 bits are near to."""
    found = gv.compile(data, verify=True)
    np.testing.assert_allclose(found(x), wanted, atol=1e-4 * float(np.abs(wanted).max()))
    assert ("gv.matmul_blocked" in gv.ir.print_module(found.compiled.program.module)) == fits


@pytest.mark.parametrize("dtype", ["f16", "f64"])
def test_scales_of_other_types_than_f32(dtype: str) -> None:
    """Levels may be scaled by numbers of any type: those that cannot hold sums stay as they are."""
    text = f"""model q(x: {dtype}[2, 1, 4, 4]) -> (y, p) {{
      weight w: {dtype}[16, 4] = random(seed=1)
      wq = cast(cast(clip(round(w * 32.0), -127.0, 127.0), dtype=i8), dtype={dtype}) * 0.03125
      q = cast(clip(round(x / 0.03125) + 119.0, 0.0, 255.0), dtype=u8)
      a = cast(cast(q, dtype=i32) - 119, dtype={dtype}) * 0.03125
      y = reshape(a, shape=[2, 16]) @ wq
      p = max_pool(a, window=[2, 2], strides=[2, 2], pads=[[0, 0], [0, 0]], dilations=[1, 1])
    }}"""
    found = gv.run(text.encode(), against=["interp"])
    assert found.is_close, str(found)


def given_in_runs(node: onnx.NodeProto, x: Array, w: Array, points: dict[str, Array]) -> None:
    """Compile a product whose weights are an input, and compare it with what O0 gives."""
    shapes = {"x": x, "w": w}
    graph = helper.make_graph(
        [node], "g",
        [helper.make_tensor_value_info(n, TYPES[a.dtype.type], a.shape) for n, a in shapes.items()],
        [helper.make_tensor_value_info("y", TensorProto.INT32, None)],
        [numpy_helper.from_array(value, name) for name, value in points.items()],
    )  # fmt: skip
    opsets = [helper.make_opsetid("", 21)]
    data = helper.make_model(graph, opset_imports=opsets, ir_version=10).SerializeToString()
    found = gv.compile(data, verify=True)
    quads = w.shape[1] > 1  # each channel's own filter has none to add up
    assert ("x4xi8>" in gv.ir.print_module(found.compiled.program.module)) == quads
    np.testing.assert_array_equal(found(x, w), gv.compile(data, level="O0")(x, w))


@pytest.mark.parametrize("left", [np.uint8, np.int8])
@pytest.mark.parametrize("right", [np.uint8, np.int8])
@pytest.mark.parametrize("depth", [24, 22])
def test_products_with_weights_of_the_run_add_up_groups(left: Any, right: Any, depth: int) -> None:
    points = {"z": levels(left), "p": levels(right, 16)}
    node = helper.make_node("MatMulInteger", ["x", "w", "z", "p"], ["y"])
    given_in_runs(node, levels(left, 7, depth), levels(right, depth, 16), points)


@pytest.mark.parametrize(("left", "right"), [(np.uint8, np.int8), (np.int8, np.uint8)])
@pytest.mark.parametrize(("inner", "groups"), [(8, 1), (6, 1), (1, 8)])
def test_convolutions_with_weights_of_the_run_add_up_groups(
    left: Any, right: Any, inner: int, groups: int
) -> None:
    points = {"z": levels(left), "p": np.array(0 if groups > 1 else 9, right)}
    node = helper.make_node("ConvInteger", ["x", "w", "z", "p"], ["y"], pads=[1] * 4, group=groups)
    image, weights = levels(left, 1, inner * groups, 9, 9), levels(right, 8, inner, 3, 3)
    given_in_runs(node, image, weights, points)


def test_what_was_an_image_of_one_pixel_is_multiplied_in_groups() -> None:
    """Behind a pool over all pixels and a flatten stands the last product of a network."""
    x, w = levels(np.uint8, 1, 24, 1, 1), levels(np.int8, 24, 16)
    zero, flat = levels(np.uint8), np.array([1, 24], np.int64)
    nodes = [
        helper.make_node("Reshape", ["x", "flat"], ["row"]),
        helper.make_node("MatMulInteger", ["row", "w", "zero"], ["y"]),
    ]
    check(model(nodes, x, np.int32, {"w": w, "zero": zero, "flat": flat}), x, exact=True)
