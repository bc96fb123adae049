"""Sums over rows that lie far apart in memory: a few are read side by side, in long pieces."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
from onnx import parser

import gravure as gv
from gravure.codegen.kernels.reduce import PAGE, ROWS, STRETCH, Reduce
from gravure.ir import parse
from gravure.ir.program import functions
from gravure.target import Target

sys.path.insert(0, str(Path(__file__).parent))
from kernel_cases import check_kernel

pytestmark = pytest.mark.sampled(2)

WIDE = PAGE // 4
CASES = {
    "even": ((2 * ROWS, WIDE), 0, "sum", "f32"),
    "a row more": ((2 * ROWS + 1, WIDE), 0, "sum", "f32"),
    "an odd width": ((19, WIDE + 5), 0, "sum", "f32"),
    "two pieces": ((17, STRETCH + 131), 0, "sum", "f32"),
    "whole pieces": ((16, 2 * STRETCH), 0, "sum", "f32"),
    "blocks of rows": ((1029, WIDE), 0, "sum", "f32"),
    "a batch": ((3, 18, WIDE), 1, "sum", "f32"),
    "the least": ((21, WIDE + 3), 0, "min", "f32"),
    "doubles": ((20, WIDE // 2), 0, "sum", "f64"),
    "integers": ((20, WIDE), 0, "sum", "i32"),
    "products": ((18, WIDE + 1), 0, "prod", "i64"),
}


def kernel(shape: tuple[int, ...], axis: int, how: str, dtype: str) -> str:
    """Return a kernel that reduces an axis of an element-wise product."""
    left = "x".join(map(str, (*shape, dtype)))
    made = "x".join(map(str, (*shape[:axis], *shape[axis + 1 :], dtype)))
    column = "x".join(map(str, (*shape[:-1], 1, dtype)))
    return f"""func.func @k(%x: tensor<{left}>, %c: tensor<{column}>) -> tensor<{made}>
    attributes {{gv.kind = "reduce"}} {{
  %p = gv.mul %x, %c : (tensor<{left}>, tensor<{column}>) -> tensor<{left}>
  %s = gv.{how} %p {{axes = [{axis}]}} : (tensor<{left}>) -> tensor<{made}>
  %r = gv.abs %s : (tensor<{made}>) -> tensor<{made}>
  func.return %r : tensor<{made}>
}}"""


@pytest.mark.sweep
@pytest.mark.parametrize("name", CASES)
def test_kernels_are_their_evaluation(name: str) -> None:
    text = kernel(*CASES[name])
    (function,) = functions(parse(text))
    assert Reduce(function, Target.parse("x86-64-v4")).is_far
    for target in ("x86-64-v2", "native"):
        check_kernel(text, target=target)


OPEN = {
    "open rows": ("n", 19, WIDE),
    "no rows": ("n", 0, WIDE),
    "fewer rows": ("n", 5, WIDE),
    "rows of blocks": ("n", 1041, WIDE),
    "open columns": (24, 24, "m", 77),
    "few columns": (24, 24, "m", 3),
    "pieces": (24, 24, "m", STRETCH + 77),
    "both": ("n", 37, "m", 177),
    "neither": ("n", 0, "m", 0),
}


@pytest.mark.parametrize(
    ("name", "how"),  # (there is no largest of none)
    [(name, how) for name, row in OPEN.items() for how in ("sum", "max") if row[1] or how == "sum"],
)
def test_open_sizes_may_lie_far_apart(name: str, how: str) -> None:
    rows, count, columns, *more = OPEN[name]
    width = more[0] if more else columns
    named = [str(rows), str(columns)]
    sizes = "x".join("?" if isinstance(n, str) else str(n) for n in (rows, columns))
    left = f'tensor<{sizes}xf32, #gv.dims<"{", ".join(named)}">>'
    column = f'tensor<{sizes.partition("x")[0]}x1xf32, #gv.dims<"{rows}, 1">>'
    made = f'tensor<{sizes.partition("x")[2]}xf32, #gv.dims<"{columns}">>'
    if not isinstance(rows, str):
        column = f"tensor<{rows}x1xf32>"
    if not isinstance(columns, str):
        made = f"tensor<{columns}xf32>"
    known = ", ".join(f'"{n}"' for n in (rows, columns) if isinstance(n, str))
    text = f"""func.func @k(%x: {left}, %c: {column}) -> {made}
    attributes {{gv.symbols = [{known}], gv.kind = "reduce"}} {{
  %p = gv.mul %x, %c : ({left}, {column}) -> {left}
  %s = gv.{how} %p {{axes = [0]}} : ({left}) -> {made}
  func.return %s : {made}
}}"""
    (function,) = functions(parse(text))
    assert Reduce(function, Target.parse("x86-64-v4")).is_far
    check_kernel(text, symbols={"n": count, "m": width})


@pytest.mark.parametrize("shape", [(15, WIDE), (64, WIDE - 8)])
def test_few_rows_and_near_ones_are_added_in_registers(shape: tuple[int, int]) -> None:
    (function,) = functions(parse(kernel(shape, 0, "sum", "f32")))
    assert not Reduce(function, Target.parse("x86-64-v4")).is_far


def test_threads_change_no_bits() -> None:
    x = np.random.default_rng(0).standard_normal((700, 2 * STRETCH + 33)).astype(np.float32)
    model = parser.parse_model(
        '<ir_version: 8, opset_import: ["" : 17]> g (float[R, C] x) => (float[C] y)'
        "{ a = Constant<value = int64[1] {0}>() y = ReduceSum<keepdims = 0>(x, a) }"
    )
    found = []
    for threads in (1, 2, 3):
        shapes = {"x": x.shape}
        with gv.compile(
            model.SerializeToString(), threads=threads, shapes=shapes, cache=False
        ) as compiled:
            found.append(np.asarray(compiled.run([x])[0]))
    np.testing.assert_allclose(found[0], x.sum(0, dtype=np.float64), rtol=1e-4, atol=1e-4)
    assert found[0].tobytes() == found[1].tobytes() == found[2].tobytes()


DTYPES = {"f32": "float", "f64": "double", "f16": "float16", "i32": "int32", "i64": "int64"}
PRODUCTS = {
    "a row": ("MatMul", (1, 130), (130, 1100)),
    "a row of many": ("MatMul", (1, 1100), (1100, 40)),
    "a row, turned": ("Gemm<transB = 1>", (1, 130), (70, 130)),
    "a turned row": ("Gemm<transA = 1>", (130, 1), (130, 70)),
    "a column": ("MatMul", (90, 130), (130, 1)),
    "a turned column": ("Gemm<transB = 1>", (90, 130), (1, 130)),
    "of a turned matrix": ("Gemm<transA = 1>", (130, 90), (130, 1)),
    "a vector": ("MatMul", (90, 130), (130,)),
    "batches": ("MatMul", (3, 2, 1, 33), (3, 2, 33, 20)),
    "batches of columns": ("MatMul", (5, 20, 33), (5, 33, 1)),
    "shared by batches": ("MatMul", (5, 1, 33), (33, 20)),
    "points": ("MatMul", (1, 130), (130, 1)),
    "no depth": ("MatMul", (1, 0), (0, 4)),
    "no columns": ("MatMul", (1, 4), (4, 0)),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_with_vectors(name: str, dtype: str) -> None:
    node, *shapes = PRODUCTS[name]
    random = np.random.default_rng(0)
    kind = np.dtype({"f": "float", "i": "int"}[dtype[0]] + dtype[1:])
    x, w = (random.uniform(-9, 9, shape).astype(kind) for shape in shapes)
    wide = (
        x.astype(np.float64 if kind.kind == "f" else kind),
        w.astype(np.float64 if kind.kind == "f" else kind),
    )
    turned = [v.T if f"trans{side} = 1" in node else v for v, side in zip(wide, "AB", strict=True)]
    wanted = np.maximum(np.matmul(*turned), 0)
    sizes = [",".join(map(str, shape)) for shape in shapes]
    text = (
        f"g ({DTYPES[dtype]}[{sizes[0]}] x, {DTYPES[dtype]}[{sizes[1]}] w) => ({DTYPES[dtype]}[] y)"
    )
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 17]> {text} {{ p = {node}(x, w) y = Relu(p) }}'
    )
    with gv.compile(model.SerializeToString(), cache=False) as compiled:
        found = np.asarray(compiled.run([x, w])[0])
    assert (found.shape, found.dtype) == (wanted.shape, kind)
    near = {"f2": 1e-3, "f4": 1e-5, "f8": 1e-13}.get(kind.str[1:], 0)
    scale = np.abs(wanted).max(initial=1)
    np.testing.assert_allclose(found.astype(wanted.dtype), wanted, rtol=near, atol=near * scale)
