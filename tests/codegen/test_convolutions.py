"""Convolutions by a loop over the rows of windows: of large windows, and in groups of channels."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator

import gravure as gv
from gravure.codegen.kernels import lower
from gravure.codegen.kernels.sliding_rows import SlidingRows, way_of
from gravure.ir import Op, parse
from gravure.ir.ops.laid_out.conv_groups import panels_of
from gravure.ir.program import functions
from gravure.ir.types import dims
from gravure.passes.bounds.accesses import Accesses
from gravure.target import Target

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel

pytestmark = pytest.mark.sampled(4)

SIZES = {"H": 6, "W": 11, "N": 2}
"""The numbers that stand for symbols."""
LARGE: dict[str, dict[str, Any]] = {
    "convnext": dict(size=(2, 8, 12), c=24, k=(7, 7), p=((3, 3), (3, 3))),
    "few pixels": dict(size=(1, 3, 2), c=16, k=(7, 7), p=((3, 3), (3, 3))),
    "strides": dict(size=(1, 16, 29), c=8, k=(7, 7), s=(2, 3), p=((3, 2), (1, 3))),
    "dilated": dict(size=(1, 13, 22), c=9, k=(5, 7), p=((4, 4), (9, 9)), d=(2, 3)),
    "few channels": dict(size=(2, 8, 9), c=3, k=(7, 5), p=((3, 3), (2, 2))),
    "one channel": dict(size=(1, 9, 30), c=1, k=(7, 7), p=((0, 0), (3, 3))),
    "long edges": dict(size=(1, 2, 50), c=5, k=(1, 41), p=((0, 0), (40, 39))),
    "no padding": dict(size=(1, 12, 26), c=24, k=(11, 11), p=((0, 0), (0, 0))),
    "nothing seen": dict(size=(1, 2, 2), c=3, k=(5, 5), p=((6, 6), (6, 6))),
    "open": dict(size=("N", "H", "W"), c=5, k=(7, 7), p=((3, 3), (3, 3))),
    "open strides": dict(size=(1, "H", "W"), c=8, k=(5, 7), s=(2, 2), p=((2, 1), (3, 0))),
    "open width": dict(size=(1, 10, "W"), c=4, k=(7, 5), p=((9, 9), (8, 8)), d=(2, 2)),
}  # fmt: skip


def tensor(*shape: Any, dtype: str = "f32") -> str:
    sizes = "".join(f"{'?' if isinstance(d, str) else d}x" for d in shape)
    named = ", ".join(map(str, shape))
    rest = f', #gv.dims<"{named}">' if any(isinstance(d, str) for d in shape) else ""
    return f"tensor<{sizes}{dtype}{rest}>"


def made_of(case: dict[str, Any]) -> list[Any]:
    """Return the result's sizes, without channels."""
    strides, dilations = case.get("s", (1, 1)), case.get("d", (1, 1))
    rows = zip(case["size"][1:], case["k"], strides, case["p"], dilations, strict=True)
    made = [
        ((dims.symbol(n) if isinstance(n, str) else n) + (sum(p) - (k - 1) * d - 1)) // s + 1
        for n, k, s, p, d in rows
    ]
    return [case["size"][0], *(n if isinstance(n, int) else str(n) for n in made)]


def flags_of(case: dict[str, Any]) -> str:
    def array(values: Any) -> str:
        return f"array<i64: {', '.join(map(str, values))}>"

    return (
        f"strides = {array(case.get('s', (1, 1)))}, dilations = {array(case.get('d', (1, 1)))},"
        f" pads = [{', '.join(map(array, case['p']))}]"
    )


def kernel(kind: str, body: str, given: dict[str, str], result: str) -> str:
    arguments = ", ".join(f"%{name}: {each}" for name, each in given.items())
    open_sizes = [f'"{name}"' for name in SIZES if f"{name}," in given["x"]]
    known = f"gv.symbols = [{', '.join(open_sizes)}], " if open_sizes else ""
    return (
        f'func.func @k({arguments}) -> {result} attributes {{{known}gv.kind = "{kind}"}} {{'
        f"\n{body}\n  func.return %r : {result}\n}}"
    )


def check(text: str, **options: Any) -> None:
    """Check results, and that all accesses are shown to lie inside."""
    check_kernel(text, symbols=SIZES, **options)
    (function,) = functions(parse(text))
    loops = lower(function, Target.parse(options.get("target", "native")))
    assert [str(fault) for fault in Accesses(loops).prove()] == []


def anchor_of(text: str) -> Op:
    (function,) = functions(parse(text))
    return next(op for op in function.body.block.ops if isinstance(op, Op))


def depthwise(case: dict[str, Any], dtype: str = "f32") -> str:
    c = case["c"]
    x, w, b = (tensor(*s, dtype=dtype) for s in ((*case["size"], c), (*case["k"], c), (c,)))
    y = tensor(*made_of(case), c, dtype=dtype)
    body = (
        f"  %c = gv.depthwise_packed %x, %w {{{flags_of(case)}}} : ({x}, {w}) -> {y}\n"
        f"  %s = gv.add %c, %b : ({y}, {b}) -> {y}\n  %r = gv.relu %s : ({y}) -> {y}"
    )
    return kernel("depthwise", body, {"x": x, "w": w, "b": b}, y)


@pytest.mark.parametrize("case", LARGE.values(), ids=LARGE.keys())
def test_windows_of_many_taps(case: dict[str, Any]) -> None:
    text = depthwise(case)
    assert way_of(anchor_of(text)) is SlidingRows
    check(text)


GROUPS: dict[str, dict[str, Any]] = {
    "resnext": dict(size=(1, 5, 14), c=16, o=16, g=4, w=8),
    "two channels": dict(size=(1, 4, 9), c=16, o=16, g=8, w=8),
    "a vector": dict(size=(1, 3, 13), c=16, o=16, g=2, w=8),
    "vectors": dict(size=(1, 3, 9), c=32, o=32, g=2, w=8, s=(2, 2), p=((0, 1), (1, 0))),
    "a rest": dict(size=(1, 4, 8), c=24, o=24, g=2, w=8),
    "less than a vector": dict(size=(2, 4, 6), c=6, o=12, g=2, w=8),
    "three channels": dict(size=(1, 4, 6), c=6, o=6, g=2, w=4),
    "a part of a panel": dict(size=(1, 4, 11), c=20, o=20, g=5, w=8),
    "more results": dict(size=(1, 5, 7), c=8, o=32, g=8, w=8, d=(1, 2), p=((1, 1), (2, 2))),
    "fewer results": dict(size=(1, 5, 7), c=32, o=16, g=4, w=8, k=(3, 2), p=((0, 0), (3, 0))),
    "a result": dict(size=(1, 4, 5), c=6, o=3, g=3, w=1),
    "a pixel": dict(size=(1, 4, 21), c=12, o=24, g=3, w=8, k=(1, 1), p=((0, 0), (0, 0))),
    "strides": dict(size=(1, 9, 25), c=8, o=8, g=2, w=8, k=(5, 3), s=(2, 3)),
    "open": dict(size=("N", "H", "W"), c=16, o=16, g=4, w=8),
    "open rest": dict(size=(1, "H", "W"), c=8, o=24, g=2, w=8, s=(2, 2)),
}  # fmt: skip


def grouped(case: dict[str, Any], dtype: str = "f32") -> str:
    case = {"k": (3, 3), "p": ((1, 1), (1, 1)), **case}
    groups, columns, width = case["g"], case["o"], case["w"]
    rows, across = case["k"]
    count, _ = panels_of(columns // groups, columns, width)
    x, y = (
        tensor(*s, dtype=dtype) for s in ((*case["size"], case["c"]), (*made_of(case), columns))
    )
    w = tensor(count, rows, case["c"] // groups, across, width, dtype=dtype)
    b = tensor(columns, dtype=dtype)
    flags = f"columns = {columns} : i64, groups = {groups} : i64, {flags_of(case)}"
    body = (
        f"  %c = gv.conv_groups_packed %x, %w {{{flags}}} : ({x}, {w}) -> {y}\n"
        f"  %s = gv.add %c, %b : ({y}, {b}) -> {y}\n  %r = gv.relu %s : ({y}) -> {y}"
    )
    return kernel("conv_groups", body, {"x": x, "w": w, "b": b}, y)


@pytest.mark.parametrize("case", GROUPS.values(), ids=GROUPS.keys())
def test_groups_of_few_channels(case: dict[str, Any]) -> None:
    check(grouped(case))


@pytest.mark.parametrize("filters", [1, 2, 4])
@pytest.mark.parametrize(("dtype", "lanes"), [("f32", 8), ("f64", 4)])
def test_groups_of_each_depth(filters: int, dtype: str, lanes: int) -> None:
    """Channels of the groups in a vector of results: 8 // 4 * 9 are no vector of a processor."""
    for depth in (1, 2, 3, 5, 9, 16, 20, 64):
        case = dict(size=(1, 2, 3), c=depth * 8, o=filters * 8, g=8, w=lanes)
        check(grouped(case, dtype), rtol=1e-4 if dtype == "f32" else 1e-12)


def test_code_does_not_grow_with_the_depth_of_groups() -> None:
    """64 channels to one took 15 seconds to compile: each channel had code of its own."""
    counts = []
    for depth in (9, 64):
        case = dict(size=(1, 2, 3), c=depth * 8, o=8, g=8, w=8)
        (function,) = functions(parse(grouped(case)))
        counts.append(sum(1 for _ in lower(function, Target.parse("x86-64-v3")).walk()))
    assert counts[0] == counts[1]


def test_groups_of_doubles_and_of_halves_of_a_register() -> None:
    check(grouped({**GROUPS["resnext"], "w": 4}, "f64"), rtol=1e-12)
    check(grouped({**GROUPS["resnext"], "w": 4}))


@pytest.mark.parametrize("filters", [1, 2, 4])
@pytest.mark.parametrize("depth", [2, 3, 5, 9, 16])
def test_groups_of_any_depth(depth: int, filters: int) -> None:
    random = np.random.default_rng(depth)
    x = random.standard_normal((1, 8 * depth, 5, 6)).astype(np.float32)
    w = random.standard_normal((8 * filters, depth, 3, 3)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], group=8, pads=[1] * 4)
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    made = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([node], "g", given, made, [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    wanted = ReferenceEvaluator(model).run(None, {"x": x})[0]
    [found] = gv.compile(model.SerializeToString(), cache=False).run([x])
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-4)


MODELS = {
    "depthwise": (16, 16, 16, (7, 7), [2, 1]),
    "groups of four": (32, 32, 8, (3, 3), [2, 1]),
    "groups of twelve": (24, 24, 2, (3, 3), [2, 1]),
    "more results": (8, 32, 4, (5, 3), [2, 1]),
    "groups of many": (64, 128, 2, (3, 3), [1, 1]),
}


@pytest.mark.parametrize("name", MODELS)
def test_threads_change_no_bits(name: str) -> None:
    channels, filters, groups, window, strides = MODELS[name]
    random = np.random.default_rng(0)
    x = random.standard_normal((2, channels, 11, 17)).astype(np.float32)
    inner = channels // groups
    w = random.standard_normal((filters, inner, *window)).astype(np.float32) / np.float32(inner)
    pads = [k // 2 for k in window] * 2
    node = helper.make_node("Conv", ["x", "w"], ["y"], group=groups, pads=pads, strides=strides)
    given = [helper.make_tensor_value_info("x", TensorProto.FLOAT, x.shape)]
    made = [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)]
    graph = helper.make_graph([node], "g", given, made, [numpy_helper.from_array(w, "w")])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)])
    wanted = ReferenceEvaluator(model).run(None, {"x": x})[0]
    found = []
    for threads in (1, 2, 3):
        with gv.compile(model.SerializeToString(), threads=threads, cache=False) as compiled:
            found.append(np.asarray(compiled.run([x])[0]))
    np.testing.assert_allclose(found[0], wanted, rtol=1e-4, atol=1e-4)
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()
