"""Register tiles compute what they should, stay inside of buffers, and in registers."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.func import FuncOp
from xdsl.parser import Parser

from gravure.codegen.llvm.compile import assembly
from gravure.codegen.llvm.emit.kernel import emit_kernel
from gravure.ir.dialects.kernel import loops_context
from gravure.target import Target

pytestmark = pytest.mark.sampled(2)

Array = np.ndarray[Any, Any]
Both = Callable[..., list[tuple[Array, Array]]]
DTYPES: dict[str, Any] = {"f32": np.float32, "f64": np.float64}


def gemm(kind: str, rows: int, vectors: int, lanes: int, *, masked: bool, accumulate: bool) -> str:
    memref = f"memref<?x{kind}>"
    names = ("lda", "ldb", "ldc", "k", "segments", "as", "bs", "columns", "step")
    sizes = ", ".join(f"%{name}: index" for name in names)
    flags = f"accumulate = {str(accumulate).lower()}, masked = {str(masked).lower()}"
    return f"""
func.func @k(%a: {memref}, %b: {memref}, %c: {memref}, {sizes},
             %lo: index, %hi: index, %slot: index) {{
  %one = arith.constant 1 : index
  %two = arith.constant 2 : index
  gvk.gemm_tile %a[%one] %lda, %b[%two] %ldb, %c[%one] %ldc,
    %k, %segments, %as, %bs, %columns, %step
    {{rows = {rows} : i64, vectors = {vectors} : i64, lanes = {lanes} : i64, {flags}}}
    : {memref}, {memref}, {memref}
  func.return
}}"""


def with_constants(text: str, k: int, segments: int) -> str:
    """Return the kernel with two numbers of the tile in its IR."""
    constants = f"""
  %known_k = arith.constant {k} : index
  %known_segments = arith.constant {segments} : index
  gvk.gemm_tile"""
    text = text.replace("\n  gvk.gemm_tile", constants)
    return text.replace("%k, %segments, %as", "%known_k, %known_segments, %as")


def with_lines_ahead(text: str) -> str:
    """Return the kernel that asks for three lines far behind its buffer of B, and for A's."""
    memref = "memref<?xf32>"
    text = text.replace("%step\n", f"%step ahead %far beside %a : {memref}\n").replace(
        "lanes = ", "lines = 3, lanes = "
    )
    far = "  %far = arith.constant 100000000 : index\n  gvk.gemm_tile"
    return text.replace("  gvk.gemm_tile", far)


def with_an_end(text: str) -> str:
    """Return the kernel that adds a row of A and what A has beside C, and keeps bounds."""
    memref = "memref<?xf32>"
    near = f"beside %a : {memref} bias %a[%two] : {memref}"
    text = text.replace("%step\n", f"%step {near}\n")
    return text.replace("lanes = ", "added = true, low = -0.5 : f64, high = 6.0 : f64, lanes = ")


def check_gemm(
    both: Both,
    target: Target,
    kind: str,
    tile: tuple[int, int],
    sizes: dict[str, int],
    **flags: Any,
) -> None:
    """Compare the tile with the interpreter; all buffers end with what may be touched last."""
    rows, vectors = tile
    lanes = target.lanes if kind == "f32" else target.lanes // 2
    width = vectors * lanes
    k, segments, step = sizes["k"], sizes.get("segments", 1), sizes.get("step", 1)
    columns = sizes.get("columns", width)
    lda = max(1, k * segments * step) + sizes.get("pad", 0)
    ldb, ldc = width + sizes.get("pad", 0), columns + 2
    random = np.random.default_rng(3)

    def matrix(size: int) -> Array:
        return random.standard_normal(max(size, 0)).astype(DTYPES[kind])

    depth = k * segments
    a = matrix(1 + (rows - 1) * lda + (depth - 1) * step + 1 if depth else 0)
    b = matrix(2 + (depth - 1) * ldb + width if depth else 0)
    c = matrix(1 + (rows - 1) * ldc + columns)
    text = gemm(kind, rows, vectors, lanes, **flags)
    if sizes.get("known"):
        text = with_constants(text, k, segments)
    if sizes.get("ahead"):
        text = with_lines_ahead(text)
    if sizes.get("ends"):
        text = with_an_end(text)
    numbers = (lda, ldb, ldc, k, segments, k * step, k * ldb, columns, step)
    expected, found = both(text, a, b, c, *numbers, 0, 1, 0)[2]
    if target.has_fma:
        np.testing.assert_array_equal(found, expected)
    else:
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


TILES = {
    4: [(1, 1), (3, 3), (5, 2), (6, 2)],
    8: [(1, 2), (4, 3), (6, 2)],
    16: [(1, 4), (6, 4), (9, 3)],
}


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("accumulate", [False, True])
@pytest.mark.parametrize("k", [0, 1, 2, 7])
def test_tiles(both: Both, target: Target, kind: str, accumulate: bool, k: int) -> None:
    for tile in TILES[target.lanes]:
        sizes = {"k": k, "pad": 3}
        check_gemm(both, target, kind, tile, sizes, masked=False, accumulate=accumulate)


@pytest.mark.parametrize("accumulate", [False, True])
def test_tiles_with_sizes_in_the_ir(both: Both, target: Target, accumulate: bool) -> None:
    for k in (0, 1, 2, 7, 8):
        for segments in (1, 3):
            sizes = {"k": k, "segments": segments, "known": 1}
            tile = TILES[target.lanes][1]
            check_gemm(both, target, "f32", tile, sizes, masked=False, accumulate=accumulate)


@pytest.mark.parametrize("masked", [False, True])
def test_sums_are_finished(both: Both, target: Target, masked: bool) -> None:
    for rows, vectors in TILES[target.lanes][1:]:
        width = vectors * target.lanes
        columns = width - 1 if masked else width
        sizes = {"k": 4, "ends": 1, "columns": columns, "pad": 2 * width}
        check_gemm(both, target, "f32", (rows, vectors), sizes, masked=masked, accumulate=False)


def test_lines_that_are_asked_for_may_lie_outside(both: Both, target: Target) -> None:
    for k in (0, 1, 7, 8):
        tile = TILES[target.lanes][1]
        sizes = {"k": k, "ahead": 1}
        check_gemm(both, target, "f32", tile, sizes, masked=False, accumulate=False)


@pytest.mark.parametrize("segments", [0, 1, 2, 5])
@pytest.mark.parametrize("accumulate", [False, True])
def test_sums_go_on_over_segments(
    both: Both, target: Target, segments: int, accumulate: bool
) -> None:
    for k in (1, 3, 4):
        sizes = {"k": k, "segments": segments, "step": 2}
        tile = TILES[target.lanes][1]
        check_gemm(both, target, "f32", tile, sizes, masked=False, accumulate=accumulate)


@pytest.mark.parametrize("accumulate", [False, True])
def test_masked_tiles_write_their_columns_only(
    both: Both, target: Target, accumulate: bool
) -> None:
    width = 2 * target.lanes
    for columns in (1, target.lanes - 1, target.lanes, target.lanes + 1, width):
        sizes = {"k": 5, "columns": columns}
        check_gemm(both, target, "f32", (3, 2), sizes, masked=True, accumulate=accumulate)


def module(target: Target, text: str) -> str:
    function = Parser(loops_context(), text).parse_module().body.block.first_op
    assert isinstance(function, FuncOp)
    return emit_kernel(function, target)


@pytest.mark.parametrize(
    ("name", "kind", "tile"),
    [
        *(
            ("x86-64-v4", "f32", tile)
            for tile in ((13, 2), (12, 2), (9, 3), (8, 3), (6, 4), (5, 5), (4, 6), (30, 1))
        ),
        ("x86-64-v4", "f64", (6, 4)),
        *(("x86-64-v3", "f32", tile) for tile in ((6, 2), (4, 3), (2, 5))),
        ("neoverse-v2", "f32", (8, 3)),
    ],
)
def test_tiles_stay_in_registers(name: str, kind: str, tile: tuple[int, int]) -> None:
    target = Target.parse(name)
    lanes = target.lanes if kind == "f32" else target.lanes // 2
    text = gemm(kind, *tile, lanes, masked=False, accumulate=False)
    code = assembly(module(target, text), target).split("\ngv_gemm_")[1].split("\n.Lfunc_end")[0]
    if name.startswith("x86"):
        register = "zmm" if target.lanes == 16 else "ymm"
        spills = re.findall(rf"\(%rsp\).*%{register}|%{register}.*\(%rsp\)", code)
    else:  # saving registers that belong to the caller is done in pairs, spilling is not
        spills = re.findall(r"\b(?:str|ldr)\s+q\d+, \[sp", code)
    assert not spills


def test_one_function_serves_all_calls_of_a_tile() -> None:
    target = Target.parse("x86-64-v3")
    text = gemm("f32", 6, 2, 8, masked=False, accumulate=False)
    start, end = text.index("  gvk.gemm_tile"), text.index("  func.return")
    twice = text[:end] + text[start:]
    code = module(target, twice)
    assert code.count("define internal") == 1
    assert code.count("call void @gv_gemm_float_6x2x8") == 2


def test_too_large_a_tile_is_a_mistake_of_the_template() -> None:
    target = Target.parse("x86-64-v3")
    with pytest.raises(AssertionError, match="needs 17 registers"):
        module(target, gemm("f32", 7, 2, 8, masked=False, accumulate=False))


def pair(kind: str, rows: int, vectors: int, lanes: int) -> str:
    buffers = ("a", "b", "c", "x", "w", "g", "bias")
    memrefs = ", ".join(f"%{name}: memref<?x{kind}>" for name in buffers)
    sizes = ", ".join(f"%{name}: index" for name in ("ldb", "ldx", "ldw", "ldg", "k", "step", "at"))
    operands = (
        "%a, %at, %b, %one, %ldb, %c, %one, %x, %one, %ldx, %w, %one, %ldw, %g, %one, %ldg,"
        " %bias, %one, %k, %step"
    )
    kinds = ", ".join(
        f"memref<?x{kind}>" if name in ("%a", "%b", "%c", "%x", "%w", "%g", "%bias") else "index"
        for name in operands.replace(",", " ").split()
    )
    return f"""
func.func @k({memrefs}, {sizes}, %lo: index, %hi: index, %slot: index) {{
  %one = arith.constant 1 : index
  "gvk.gemm_pair"({operands})
    <{{rows = {rows} : i64, vectors = {vectors} : i64, lanes = {lanes} : i64}}> : ({kinds}) -> ()
  func.return
}}"""


@pytest.mark.parametrize("kind", ["f32", "f64"])
@pytest.mark.parametrize("step", [1, -1])
@pytest.mark.parametrize("k", [0, 1, 6])
def test_two_tiles_in_one_loop(both: Both, target: Target, kind: str, step: int, k: int) -> None:
    lanes = target.lanes if kind == "f32" else target.lanes // 2
    random = np.random.default_rng(3)
    for rows, vectors in ((1, 1), (4, 2), (3, 5)):
        width, depth = vectors * lanes, max(k, 1)
        ldb, ldx, ldw, ldg = width + 3, depth + 2, lanes + 1, 2 * lanes
        counts = (
            1 + depth, 1 + (depth - 1) * ldb + width, 1 + width, 1 + (rows - 1) * ldx + depth,
            1 + (depth - 1) * ldw + lanes, 1 + (rows - 1) * ldg + lanes, 1 + lanes,
        )  # fmt: skip
        arrays = [random.standard_normal(count).astype(DTYPES[kind]) for count in counts]
        numbers = (ldb, ldx, ldw, ldg, k, step, 1 if step > 0 else depth)
        results = both(pair(kind, rows, vectors, lanes), *arrays, *numbers, 0, 1, 0)
        for expected, found in (results[2], results[5]):
            if target.has_fma:
                np.testing.assert_array_equal(found, expected)
            else:
                np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_two_tiles_stay_in_registers() -> None:
    target = Target.parse("x86-64-v4")
    code = assembly(module(target, pair("f32", 14, 14, 16)), target)
    code = code.split("\ngv_pair_")[1].split("\n.Lfunc_end")[0]
    assert not re.findall(r"\(%rsp\).*%zmm|%zmm.*\(%rsp\)", code)
    with pytest.raises(AssertionError, match="needs 33 registers"):
        module(target, pair("f32", 15, 15, 16))


@pytest.mark.parametrize("kind", ["f32", "i32", "f64", "i8", "f16"])
@pytest.mark.parametrize("lanes", [4, 8, 16])
def test_transpose(both: Both, kind: str, lanes: int) -> None:
    memref = f"memref<?x{kind}>"
    text = f"""
func.func @k(%s: {memref}, %d: {memref}, %ls: index, %ld: index, %rows: index, %cols: index,
             %lo: index, %hi: index, %slot: index) {{
  %three = arith.constant 3 : index
  gvk.transpose_tile %s[%three] %ls, %d[%three] %ld, %rows, %cols
    {{lanes = {lanes} : i64}} : {memref}, {memref}
  func.return
}}"""
    dtype = np.dtype({"i32": np.int32, "i8": np.int8, "f16": np.float16, **DTYPES}[kind])
    for rows, columns in ((lanes, lanes), (lanes - 1, lanes), (lanes, 1), (2, 3), (0, 2)):
        ls, ld = columns + 1, rows + 2
        source = np.arange(3 + max(rows - 1, 0) * ls + columns).astype(dtype)
        target = np.zeros(3 + max(columns - 1, 0) * ld + rows, dtype)
        arrays = both(text, source, target, ls, ld, rows, columns, 0, 1, 0)
        np.testing.assert_array_equal(arrays[1][1], arrays[1][0])
