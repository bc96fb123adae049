"""Templates for GPUs, in all their forms, on the emulator of PTX."""

from __future__ import annotations

import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import FunctionType, IndexType, MemRefType, f32
from xdsl.dialects.func import FuncOp

from gravure.codegen.compile import Options
from gravure.codegen.ptx.emit import emit_gpu_kernel
from gravure.codegen.ptx.products import warpgroup
from gravure.codegen.ptx.products.shape import (
    FLAT_WARPS,
    LARGE,
    LARGE_WARPS,
    MIDDLE,
    MIDDLE_WARPS,
    SMALL,
    choose_tile,
    choose_warp_tile,
)
from gravure.errors import CompileError
from gravure.frontend.programs.compile import compile_source
from gravure.ir.types import dtypes
from gravure.passes.base import PipelineError
from gravure.runtime.ptx_emulator import KernelFault
from gravure.target import Target
from gravure.tools.bench_gpu import cases

sys.path.insert(0, str(Path(__file__).parent))
from gpu_cases import (
    TARGET,
    check_assembled,
    check_text,
    compiled_text,
    module_of,
    plan_of,
    run_plan,
    run_wrong,
)

pytestmark = pytest.mark.sampled(4)

Array = np.ndarray[Any, Any]
NUMPY = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "bf16": ml_dtypes.bfloat16,
    "i8": np.int8, "u8": np.uint8,
}  # fmt: skip


CONV = {"strides": (1, 1), "pads": ((0, 0), (0, 0)), "dilations": (1, 1), "groups": 1}


def kind(*shape: int, dtype: str = "f32") -> str:
    return f"tensor<{'x'.join([*map(str, shape), dtype])}>"


def function(arguments: dict[str, str], body: str, result: str) -> str:
    given = ", ".join(f"%{name}: {kind_}" for name, kind_ in arguments.items())
    return f"func.func @main({given}) -> {result} {{\n{body}\n  func.return %r : {result}\n}}"


def draw(*shapes: tuple[int, ...], dtype: str = "f32") -> list[Array]:
    random = np.random.default_rng(3)
    return [random.standard_normal(shape).astype(NUMPY[dtype]) for shape in shapes]


def product(
    left: tuple[int, ...], right: tuple[int, ...], dtype: str = "f32", flip: str = ""
) -> tuple[str, list[Array]]:
    """Return a product of matrices with something behind it, and operands."""
    m, k = left[-2:]
    n = right[-2] if flip == "right" else right[-1]
    m = k if flip == "left" else m
    x, w = kind(*left, dtype=dtype), kind(*right, dtype=dtype)
    y = kind(*left[:-2], m, n, dtype=dtype)
    flags = f"{{transpose_lhs = {'true' if flip == 'left' else 'false'},"
    flags += f" transpose_rhs = {'true' if flip == 'right' else 'false'}}}"
    body = f"  %m = gv.matmul %x, %w {flags} : ({x}, {w}) -> {y}\n  %r = gv.relu %m : ({y}) -> {y}"
    return function({"x": x, "w": w}, body, y), draw(left, right, dtype=dtype)


@pytest.mark.parametrize(
    ("left", "right", "flip"),
    [
        ((70, 33), (33, 50), ""),  # nothing comes out even
        ((2, 40, 36), (2, 36, 64), ""),
        ((36, 40), (36, 64), "left"),
        ((3, 20), (130, 20), "right"),
        ((2, 1, 70), (2, 70, 44), ""),  # few rows: columns are neighbours
        ((5, 33), (33, 41), ""),
        ((1, 72), (50, 72), "right"),  # depths are neighbours
    ],
)
def test_products_of_elements(left: tuple[int, ...], right: tuple[int, ...], flip: str) -> None:
    check_text(*product(left, right, flip=flip))


def test_products_of_doubles() -> None:
    check_text(*product((20, 19), (19, 24), "f64"), rtol=1e-13)


@pytest.mark.parametrize(
    ("left", "right", "flip", "dtype"),
    [
        ((70, 48), (48, 33), "", "f16"),
        ((72, 40), (40, 72), "", "bf16"),
        ((12, 100), (100, 64), "", "bf16"),
        ((40, 40), (72, 40), "right", "f16"),
        ((64, 40), (64, 56), "left", "bf16"),
    ],
)
def test_products_of_matrices_by_warps(
    left: tuple[int, ...], right: tuple[int, ...], flip: str, dtype: str
) -> None:
    text, arrays = product(left, right, dtype, flip)
    plan = check_text(text, arrays, rtol=1e-2 if dtype == "bf16" else 2e-3)
    assert "mma.sync" in plan.modules[0].ptx
    assert "ldmatrix" in plan.modules[0].ptx


@pytest.mark.parametrize(
    ("left", "right", "flip", "kinds"),
    [
        ((40, 72), (72, 24), "", ("f32", "f32")),  # words of tf32, one by one
        ((70, 100), (40, 100), "right", ("f32", "f32")),
        ((33, 41), (41, 20), "", ("f32", "f32")),  # nothing to copy as it lies
        ((20, 160), (48, 160), "right", ("u8", "i8")),
        ((64, 48), (48, 32), "", ("i8", "i8")),  # transposed on the way
        ((2, 17, 40), (2, 40, 24), "", ("bf16", "bf16")),
    ],
)
def test_products_with_wide_sums(
    left: tuple[int, ...], right: tuple[int, ...], flip: str, kinds: tuple[str, str]
) -> None:
    random = np.random.default_rng(1)
    arrays = [
        random.integers(-90, 90, shape).astype(np.int64).astype(NUMPY[kind_])
        if kind_.endswith("8")
        else random.standard_normal(shape).astype(NUMPY[kind_])
        for shape, kind_ in zip((left, right), kinds, strict=True)
    ]
    flags = {"transpose_lhs": False, "transpose_rhs": flip == "right"}
    plan = check_text(module_of("gv.matmul_wide", arrays, **flags), arrays, rtol=1e-6, seed=1)
    assert "mma.sync" in plan.modules[0].ptx


@pytest.mark.parametrize("seed", [None, 3])
def test_operands_are_copied_while_others_are_multiplied(seed: int | None) -> None:
    """Nine tiles of depth go through four stages; what is awaited too late or early shows."""
    text, arrays = product((64, 264), (72, 264), "f16", "right")
    plan = check_text(text, arrays, rtol=2e-3, seed=seed)
    assert plan.modules[0].ptx.count("cp.async.wait_group") == 1  # unrolled, it would spill
    assert plan.kernels[0].shared == 4 * (64 + 64) * (32 + 8) * 2


def test_a_copy_that_is_not_awaited_shows() -> None:
    text, arrays = product((64, 264), (72, 264), "f16", "right")
    compiled = compiled_text(text)
    (module,) = plan_of(compiled).modules
    hasty = replace(module, ptx=module.ptx.replace("wait_group \t2", "wait_group \t3"))
    assert hasty != module
    early = replace(compiled, plan=replace(plan_of(compiled), modules=(hasty,)))
    with pytest.raises(KernelFault, match="race"):
        run_wrong(early, arrays)


@pytest.mark.parametrize(
    ("dtype", "instruction", "error"),
    [("bf16", "m16n8k16.row.col.f32.bf16", 2e-2), ("tf32", "m16n8k8.row.col.f32.tf32", 4e-3)],
)
def test_products_of_f32_are_multiplied_as_asked(
    dtype: str, instruction: str, error: float
) -> None:
    text = b"""model m(x: f32[24, 64]) -> (y) {
      weight w: f32[64, 96] = random(seed=1)
      y = relu(x @ w)
    }"""
    compiled = compile_source(text, Options(target=TARGET, dtype=dtype, cache=False))
    (x,) = draw((24, 64))
    (wanted,) = run_plan(compile_source(text, Options(target=TARGET)), [x])
    (found,) = run_plan(compiled, [x])
    assert any(instruction in module.ptx for module in plan_of(compiled).modules)
    np.testing.assert_allclose(found, wanted, atol=error * np.abs(wanted).max())
    assert (found != wanted).any()


def test_tf32_is_of_gpus() -> None:
    with pytest.raises(PipelineError, match="tf32 is a type of GPUs"):
        compile_source(b"model m(x: f32[4]) -> (x) {\n}", Options(dtype="tf32"))


@pytest.mark.parametrize(
    ("left", "right", "flip", "seed"),
    [
        ((200, 136), (72, 136), "right", None),
        ((136, 200), (200, 72), "", 1),  # the right operand is turned
        ((72, 200), (72, 136), "left", 1),  # both are
    ],
)
def test_products_by_warpgroups(
    left: tuple[int, ...], right: tuple[int, ...], flip: str, seed: int | None
) -> None:
    """Tiles are brought by tensor maps; what lies outside of the matrices is zero."""
    text, arrays = product(left, right, "f16", flip)
    plan = check_text(text, arrays, rtol=2e-3, target="cuda:sm_90a", seed=seed)
    assert "wgmma.mma_async" in plan.modules[0].ptx
    assert plan.kernels[0].block == (384, 1, 1)
    assert plan.kernels[0].shared > 48 << 10


def test_blocks_of_warpgroups_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two blocks compute six tiles of two products; their stages go on from tile to tile."""
    monkeypatch.setattr(warpgroup, "PROCESSORS", 2)
    text, arrays = product((2, 66, 136), (2, 260, 136), "bf16", "right")
    plan = check_text(text, arrays, rtol=1e-2, target="cuda:sm_90a", seed=1)
    assert plan.launches[0].grid == (2, 1, 1)
    assert "cp.async.bulk.tensor.3d" in plan.modules[0].ptx


@pytest.mark.parametrize(
    ("left", "right", "flip", "sizes", "choice", "seed"),
    [
        ((200, 136), (264, 136), "right", "1_256_512_256", 3, None),
        ((136, 200), (200, 264), "", "1_256_512_256", 2, 2),  # the right operand is turned
        ((2, 260, 64), (2, 264, 64), "right", "2_512_512_64", 2, 1),  # pairs that are not full
    ],
)
def test_blocks_in_pairs_bring_half_of_an_operand_each(
    monkeypatch: pytest.MonkeyPatch, left: tuple[int, ...], right: tuple[int, ...], flip: str,
    sizes: str, choice: int, seed: int | None,
) -> None:  # fmt: skip
    monkeypatch.setattr(warpgroup, "PROCESSORS", 4)
    text, arrays = product(left, right, "f16", flip)
    record = f"warpgroups_f16_{sizes}={choice}"
    plan = check_text(text, arrays, rtol=2e-3, target="cuda:sm_90a", seed=seed, mattr=record)
    assert "multicast::cluster" in plan.modules[0].ptx
    assert plan.launches[0].grid == (4, 1, 1)


@pytest.mark.parametrize(
    ("right", "wrong", "message"),
    [
        (r"(mapa.*), 1;", r"\1, 0;", "race|deadlock"),  # one gives a stage back twice
        (r"barrier\.cluster\.wait\.aligned;(?=\s+ret;)", "", "has ended"),
        (r"(mov\.b16\s+%rs\d+), 3;", r"\1, 1;", "deadlock"),  # only the first block has all
    ],
)
def test_what_pairs_of_blocks_do_wrong_shows(
    monkeypatch: pytest.MonkeyPatch, right: str, wrong: str, message: str
) -> None:
    monkeypatch.setattr(warpgroup, "PROCESSORS", 2)
    text, arrays = product((256, 640), (128, 640), "f16", "right")
    compiled = compiled_text(text, "cuda:sm_90a", mattr="warpgroups_f16_1_256_128_1024=3")
    (module,) = plan_of(compiled).modules
    ptx = re.sub(right, wrong, module.ptx)
    assert ptx != module.ptx
    plan = replace(plan_of(compiled), modules=(replace(module, ptx=ptx),))
    with pytest.raises(KernelFault, match=message):
        run_wrong(replace(compiled, plan=plan), arrays, seed=0)


@pytest.mark.parametrize("columns", [264, 260])
def test_results_go_by_a_tensor_map_where_they_can(
    monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    """A row of 260 halves is no multiple of 16 bytes: such results go from registers."""
    monkeypatch.setattr(warpgroup, "PROCESSORS", 3)
    text, arrays = product((2, 136, 64), (2, columns, 64), "bf16", "right")
    plan = check_text(text, arrays, rtol=1e-2, target="cuda:sm_90a", seed=2)
    assert ("tensor.3d.global.shared" in plan.modules[0].ptx) == (columns == 264)


def test_a_panel_that_is_not_awaited_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(warpgroup, "PROCESSORS", 1)
    text, arrays = product((128, 64), (256, 64), "f16", "right")
    compiled = compiled_text(text, "cuda:sm_90a")
    (module,) = plan_of(compiled).modules
    hasty = module.ptx.replace("wait_group.read \t1", "wait_group.read \t9")
    assert hasty != module.ptx
    plan = replace(plan_of(compiled), modules=(replace(module, ptx=hasty),))
    (found,) = run_wrong(replace(compiled, plan=plan), arrays)
    assert (found != run_plan(compiled, arrays)[0]).any()


@pytest.mark.parametrize(
    ("rows", "depth", "columns", "sizes", "dtype", "target", "instruction"),
    [
        (90, 20, 40, [40, 0, 33, 10], "f32", "cuda:sm_80", "fma.rn.f32"),
        (100, 40, 72, [-3, 0, 70, 90], "bf16", "cuda:sm_80", "mma.sync"),
        (5, 16, 24, [2, 1, 1], "f16", "cuda:sm_80", "mma.sync"),
        (200, 136, 72, [170, 0, 33], "f16", "cuda:sm_90a", "wgmma.mma_async"),
        (260, 64, 264, [70], "bf16", "cuda:sm_90a", "wgmma.mma_async"),
    ],
)
def test_products_of_groups_of_rows(
    monkeypatch: pytest.MonkeyPatch, rows: int, depth: int, columns: int, sizes: list[int],
    dtype: str, target: str, instruction: str,
) -> None:  # fmt: skip
    """How many rows a group has is data; one launch has all, and blocks go from tile to tile."""
    monkeypatch.setattr(warpgroup, "PROCESSORS", 2)
    shapes = ((rows, depth), (len(sizes), depth, columns))
    arrays = [*draw(*shapes, dtype=dtype), np.array(sizes)]
    text = module_of("gv.matmul_grouped", arrays)
    plan = check_text(text, arrays, rtol=2e-5 if dtype == "f32" else 1e-2, target=target, seed=1)
    assert len(plan.launches) == 1
    assert instruction in plan.modules[0].ptx


def test_a_stage_that_is_given_back_early_shows() -> None:
    """What multiplies reads its operands when it is awaited: the next ones, if that is too late."""
    text, arrays = product((128, 520), (128, 520), "f16", "right")
    compiled = compiled_text(text, "cuda:sm_90a")
    (module,) = plan_of(compiled).modules
    late = module.ptx.replace("wgmma.wait_group.sync.aligned 1", "wgmma.fence.sync.aligned")
    assert late != module.ptx
    modules = (replace(module, ptx=late),)
    early = replace(compiled, plan=replace(plan_of(compiled), modules=modules))
    assert (run_wrong(early, arrays)[0] != run_plan(compiled, arrays)[0]).any()


@pytest.mark.parametrize("choice", [0, 2])
@pytest.mark.parametrize("flip", ["", "right"])
def test_the_largest_product_of_warpgroups_assembles(flip: str, choice: int) -> None:
    text, _ = product((4096, 64), (2304, 64) if flip else (64, 2304), "bf16", flip)
    record = f"warpgroups_bf16_1_4096_4096_64={choice}"
    plan = plan_of(compiled_text(text, "cuda:sm_90a", mattr=record))
    assert plan.launches[0].grid == (132, 1, 1)
    assert "m64n256k16" in plan.modules[0].ptx
    check_assembled(plan)


def test_what_warpgroups_cannot_take_goes_by_warps() -> None:
    small, _ = product((16, 128), (128, 128), "f16", "right")
    crooked, _ = product((128, 100), (128, 100), "f16", "right")
    for text in (small, crooked):
        ptx = plan_of(compiled_text(text, "cuda:sm_90a")).modules[0].ptx
        assert "wgmma" not in ptx
        assert "mma.sync" in ptx


def test_products_do_not_depend_on_the_order_of_warps() -> None:
    check_text(*product((40, 50), (50, 40)), seed=1)
    check_text(*product((40, 48), (48, 40), "f16"), seed=2, rtol=2e-3)


def test_large_products_have_large_tiles() -> None:
    assert choose_tile(1, 4096, 4096, dtypes.f32) is LARGE
    assert choose_tile(1, 1024, 1024, dtypes.f32) is MIDDLE
    assert choose_tile(1, 128, 128, dtypes.f32) is SMALL
    assert choose_tile(1, 4096, 4096, dtypes.f64) is MIDDLE
    assert choose_warp_tile(1, 4096, 4096) == LARGE_WARPS
    assert choose_warp_tile(1, 512, 512) == MIDDLE_WARPS
    assert choose_warp_tile(1, 16, 512) == FLAT_WARPS


@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_large_tiles_assemble(dtype: str) -> None:
    text, _ = product((2048, 256), (256, 2048), dtype)
    plan = plan_of(compiled_text(text))
    assert plan.kernels[0].block == (256, 1, 1)
    assert plan.launches[0].grid == (256, 1, 1)
    check_assembled(plan)


@pytest.mark.parametrize(
    ("image", "weight", "flags"),
    [
        ((1, 5, 6, 8), (20, 8, 3, 3), {"pads": ((1, 1), (1, 1))}),
        ((2, 6, 5, 16), (16, 8, 3, 3), {"pads": ((0, 1), (1, 0)), "strides": (2, 2), "groups": 2}),
        ((1, 5, 5, 4), (4, 1, 3, 3), {"groups": 4}),  # windows, not products
    ],
)
@pytest.mark.parametrize("last", [True, False])
def test_convolutions(
    image: tuple[int, ...], weight: tuple[int, ...], flags: dict[str, Any], last: bool
) -> None:
    shape = image if last else (image[0], image[3], *image[1:3])
    module = module_of("gv.conv", draw(shape, weight), **{**CONV, **flags}, channels_last=last)
    check_text(module, draw(shape, weight))


@pytest.mark.parametrize(
    "shape",
    [(3, 7), (5, 64), (3, 200), (2, 1030), (1500, 33), (2, 20000)],
    ids=["short", "even", "two-warps", "block", "warps", "long"],
)
def test_softmax_over_rows(shape: tuple[int, ...]) -> None:
    x = kind(*shape)
    body = f"  %r = gv.softmax %x {{axis = 1 : i64}} : ({x}) -> {x}"
    check_text(function({"x": x}, body, x), draw(shape))


@pytest.mark.parametrize("shape", [(1, 5000), (40, 6, 5), (7, 300)])
def test_reductions_of_rows(shape: tuple[int, ...]) -> None:
    x, y = kind(*shape), kind(shape[0])
    axes = ", ".join(map(str, range(1, len(shape))))
    body = f"  %r = gv.sum %x {{axes = array<i64: {axes}>, keepdims = false}} : ({x}) -> {y}"
    check_text(function({"x": x}, body, y), draw(shape))


def test_long_sums_are_shared_by_blocks() -> None:
    x, y = kind(40960), kind()
    body = f"  %r = gv.sum %x {{axes = array<i64: 0>, keepdims = false}} : ({x}) -> {y}"
    plan = check_text(function({"x": x}, body, y), draw((40960,)))
    assert [one.grid[0] for one in plan.launches] == [80, 1]


@pytest.mark.parametrize(
    ("shape", "axes"),
    [((40, 70), "0"), ((3, 5, 9), "1"), ((70, 2, 3), "0, 1"), ((1, 200, 32), "1")],
)
def test_rows_that_lie_across_memory(shape: tuple[int, ...], axes: str) -> None:
    x = kind(*shape)
    y = kind(*(1 if str(a) in axes.split(", ") else d for a, d in enumerate(shape)))
    flags = f"{{axes = array<i64: {axes}>, keepdims = true}}"
    body = f"""  %m = gv.sum %x {flags} : ({x}) -> {y}
  %d = gv.sub %x, %m : ({x}, {y}) -> {x}
  %q = gv.mul %d, %d : ({x}, {x}) -> {x}
  %s = gv.sum %q {flags} : ({x}) -> {y}
  %r = gv.add %d, %s : ({x}, {y}) -> {x}"""
    plan = check_text(function({"x": x}, body, x), draw(shape), seed=1)
    assert len(plan.launches) == 1


def test_a_chain_of_hundred_softmaxes_is_hundred_launches() -> None:
    case = next(case for case in cases(small=False) if "launches" in case.name)
    plan = compile_source(case.text.encode(), Options(target=TARGET)).plan
    assert plan is not None
    assert (len(plan.kernels), len(plan.launches)) == (2, 100)


@pytest.mark.parametrize(
    ("name", "shape", "flags"),
    [
        ("gv.cumsum", (2, 700), {}),
        ("gv.cumsum", (3, 600), {"exclusive": True, "reverse": True}),
        ("gv.cumprod", (11, 70), {}),  # short rows: a warp each
        ("gv.cumprod", (9, 40), {"exclusive": True}),
        ("gv.cumsum", (5, 7, 9), {"axis": 1, "reverse": True}),  # across memory
    ],
)
def test_scans(name: str, shape: tuple[int, ...], flags: dict[str, Any]) -> None:
    (x,) = draw(shape)
    x = 1 + x / 64 if name == "gv.cumprod" else x
    given = {"axis": len(shape) - 1, "exclusive": False, "reverse": False, **flags}
    check_text(module_of(name, [x], **given), [x], seed=1)


def test_convolutions_are_copied_while_others_are_multiplied() -> None:
    """Windows that reach beyond the image are filled with zeros."""
    arrays = draw((1, 9, 7, 16), (3, 3, 16, 24), dtype="f16")
    flags = {**CONV, "pads": ((1, 1), (1, 1)), "strides": (2, 1)}
    plan = check_text(module_of("gv.conv_turned", arrays, **flags), arrays, rtol=2e-3, seed=1)
    assert "cp.async" in plan.modules[0].ptx


@pytest.mark.parametrize(
    ("shape", "order", "dtype"),
    [
        ((70, 40), (1, 0), "f32"),
        ((2, 33, 5, 36), (0, 3, 1, 2), "bf16"),
        ((3, 40, 18), (2, 0, 1), "i8"),
    ],
)
def test_moves_across_memory_turn_squares(
    shape: tuple[int, ...], order: tuple[int, ...], dtype: str
) -> None:
    x = np.arange(np.prod(shape)).reshape(shape).astype(NUMPY[dtype])
    plan = check_text(module_of("gv.transpose", [x], order=order), [x], rtol=0, seed=1)
    assert plan.kernels[0].block == (256, 1, 1)
    assert "bar.sync" in plan.modules[0].ptx


@pytest.mark.parametrize("dtype", ["f32", "f16", "i8"])
def test_threads_read_16_bytes_at_a_time(dtype: str) -> None:
    x = kind(512, 8, dtype=dtype)
    body = f"  %r = gv.add %a, %b : ({x}, {x}) -> {x}"
    text = function({"a": x, "b": x}, body, x)
    ptx = plan_of(compiled_text(text)).modules[0].ptx
    loads = re.findall(r"ld\.global\S*", ptx)
    assert [load.rpartition(".v")[2] for load in loads] == ["4.b32", "4.b32"]


def test_more_arguments_than_a_launch_takes_are_refused() -> None:
    given = [*[MemRefType(f32, [1])] * 512, *[IndexType()] * 3]
    kernel = FuncOp("joins", FunctionType.from_lists(given, []))
    with pytest.raises(CompileError, match="joins takes 4104 bytes of arguments, expected 4096"):
        emit_gpu_kernel(kernel, Target.parse(TARGET))
