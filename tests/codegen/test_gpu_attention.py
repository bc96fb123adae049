"""Attention on GPUs, on the emulator of PTX: in any type, and on tensor cores."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import gravure as gv
from gravure.frontend.models.gpu import DeviceModel
from gravure.frontend.programs.load import load_program
from gravure.ir import interpret
from gravure.runtime.ptx_emulator import KernelFault

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
from chosen_device import chosen_driver
from gpu_cases import (
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
Shape = tuple[int, ...]
NUMPY = {"f32": np.float32, "f16": np.float16, "bf16": ml_dtypes.bfloat16}
ERROR = {"f32": 1e-5, "f16": 2e-3, "bf16": 1.5e-2}
PLAIN = {"scale": 0.2, "softcap": 0.0, "causal": False, "zeros": False, "hiding": False}


def attention(shapes: tuple[Shape, ...], dtype: str, **flags: Any) -> tuple[str, list[Array]]:
    """Return a module that is one attention, and operands."""
    random = np.random.default_rng(5)
    arrays = [random.standard_normal(shape).astype(NUMPY[dtype]) for shape in shapes]
    return module_of("gv.attention", arrays, **{**PLAIN, **flags}), arrays


@pytest.mark.parametrize(
    ("shapes", "flags"),
    [
        (((40, 12), (40, 12), (40, 33), (40, 40)), {"softcap": 2.0}),
        (((20, 4), (40, 4), (40, 64)), {"causal": True}),
        (((2, 9, 5), (1, 9, 5), (1, 9, 4), (2, 1, 9)), {"causal": True}),
        (((2, 3, 4), (2, 280, 4), (2, 280, 20)), {}),  # few queries: warps share the keys
        (((2, 4, 1, 8), (2, 1, 90, 8), (2, 1, 90, 64)), {}),  # heads share keys
    ],
)
def test_in_single_products(shapes: tuple[Shape, ...], flags: dict[str, Any]) -> None:
    text, arrays = attention(shapes, "f32", **flags)
    check_text(text, arrays, rtol=ERROR["f32"], seed=1)


def test_heads_that_share_keys_share_a_block() -> None:
    text, _ = attention(((2, 4, 1, 16), (2, 1, 90, 16), (2, 1, 90, 64)), "bf16")
    plan = plan_of(compiled_text(text))
    assert plan.launches[0].grid == (2, 1, 1)


@pytest.mark.parametrize(
    ("shapes", "dtype", "flags", "blocks"),
    [
        (((2, 3, 8), (2, 700, 8), (2, 700, 20)), "f32", {}, 6),
        (((1, 4, 1, 64), (1, 1, 600, 64), (1, 1, 600, 64)), "bf16", {}, 3),  # heads share keys
        (((5, 8), (520, 8), (520, 24)), "f16", {"causal": True, "softcap": 2.0}, 3),
    ],
)
def test_blocks_share_the_keys_of_few_queries(
    shapes: tuple[Shape, ...], dtype: str, flags: dict[str, Any], blocks: int
) -> None:
    text, arrays = attention(shapes, dtype, **flags)
    plan = check_text(text, arrays, rtol=ERROR[dtype], seed=1)
    assert len(plan.launches) == 2
    assert plan.launches[0].grid == (blocks, 1, 1)


def test_parts_of_keys_that_are_hidden_or_missing() -> None:
    text, arrays = attention(((1, 4), (600, 4), (600, 4), (1, 600)), "f32", zeros=True)
    arrays[3][:, :300] = -np.inf
    check_text(text, arrays, rtol=ERROR["f32"])
    arrays[3][:] = -np.inf
    assert (run_plan(compiled_text(text), arrays)[0] == 0).all()
    text = text.replace("zeros = true", "zeros = false")
    assert np.isnan(run_plan(compiled_text(text), arrays)[0]).all()


@pytest.mark.parametrize(("dtype", "queries"), [("f32", 20), ("f32", 1), ("f16", 40)])
@pytest.mark.parametrize("target", ["cuda:sm_80", "cuda:sm_90a"])
def test_heads_are_put_side_by_side_where_they_are_written(
    dtype: str, queries: int, target: str
) -> None:
    """Moves behind an attention are part of its kernel."""
    q, k = f"{dtype}[2, 3, {queries}, 16]", f"{dtype}[2, 3, 70, 16]"
    text = f"""model m(q: {q}, k: {k}, v: {k}) -> (y) {{
      a = softmax(q @ transpose(k, order=[0, 1, 3, 2]) * 0.25, axis=3) @ v
      y = reshape(transpose(a, order=[0, 2, 1, 3]), shape=[2, {queries}, 48])
    }}""".encode()
    random = np.random.default_rng(2)
    arrays = [random.standard_normal((2, 3, n, 16)).astype(NUMPY[dtype]) for n in (queries, 70, 70)]
    there = gv.compile(text, target=target, device=chosen_driver(target[5:], seed=1))
    assert isinstance(there, DeviceModel)
    assert len(there.plan.kernels) == 1
    [wanted] = interpret(load_program(text), arrays)
    np.testing.assert_allclose(there(*arrays), wanted, rtol=ERROR[dtype], atol=ERROR[dtype])


@pytest.mark.parametrize(
    ("shapes", "dtype"),
    [
        (((4, 8), (40, 8), (40, 16), (4, 40)), "f32"),  # single products
        (((1, 4), (600, 4), (600, 4), (1, 600)), "f32"),  # blocks share the keys
        (((33, 16), (70, 16), (70, 32), (33, 70)), "f16"),  # tensor cores
    ],
)
@pytest.mark.parametrize("wrong", [np.nan, np.inf])
def test_what_is_hidden_may_be_any_number(
    shapes: tuple[Shape, ...], dtype: str, wrong: float
) -> None:
    text, arrays = attention(shapes, dtype, hiding=True)
    arrays[1][-3:] = wrong
    arrays[3][:] = 0
    arrays[3][:, -3:] = -np.inf
    plan = check_text(text, arrays, rtol=ERROR[dtype])
    assert plan.launches
    (found,) = run_plan(compiled_text(text), arrays)
    assert np.isfinite(found).all()


def test_any_number_of_keys_is_shared() -> None:
    text = b"""model some(q: f32[2, 1, 8], k: f32[2, T, 8], v: f32[2, T, 16], T in 1..999) -> (y) {
      y = softmax(q @ transpose(k, order=[0, 2, 1]), axis=2) @ v
    }"""
    model = gv.compile(text, target="cuda:sm_80", device=chosen_driver("sm_80"))
    random = np.random.default_rng(1)
    for keys in (1, 513):
        shapes = ((2, 1, 8), (2, keys, 8), (2, keys, 16))
        q, k, v = (random.standard_normal(shape).astype(np.float32) for shape in shapes)
        weights = np.exp(np.einsum("bsd,btd->bst", q, k))
        wanted = np.matmul(weights / weights.sum(axis=2, keepdims=True), v)
        np.testing.assert_allclose(model(q, k, v), wanted, atol=1e-5)


@pytest.mark.parametrize(
    ("shapes", "dtype", "flags"),
    [
        (((2, 64, 32), (2, 128, 32), (2, 128, 16)), "bf16", {}),
        (((2, 70, 16), (1, 130, 16), (1, 130, 48)), "f16", {"causal": True}),
        (((2, 33, 16), (2, 40, 16), (2, 40, 32), (2, 1, 40)), "bf16", {"softcap": 2.0}),
        (((20, 16), (75, 16), (75, 16)), "f16", {"scale": -0.3}),
    ],
)
def test_on_tensor_cores(shapes: tuple[Shape, ...], dtype: str, flags: dict[str, Any]) -> None:
    text, arrays = attention(shapes, dtype, **flags)
    plan = check_text(text, arrays, rtol=ERROR[dtype], seed=2)
    assert "mma.sync" in plan.modules[0].ptx
    assert "cp.async" in plan.modules[0].ptx


@pytest.mark.parametrize(
    ("shapes", "dtype", "flags"),
    [
        (((1, 128, 64), (1, 256, 64), (1, 256, 64)), "f16", {}),
        (((1, 70, 64), (1, 150, 64), (1, 150, 128)), "bf16", {"causal": True}),
    ],
)
def test_by_warpgroups(shapes: tuple[Shape, ...], dtype: str, flags: dict[str, Any]) -> None:
    text, arrays = attention(shapes, dtype, **flags)
    plan = check_text(text, arrays, rtol=ERROR[dtype], target="cuda:sm_90a", seed=1)
    assert "wgmma.mma_async" in plan.modules[0].ptx
    assert plan.kernels[0].block == (256, 1, 1)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "f16"])
def test_queries_that_see_no_key(dtype: str, zeros: bool) -> None:
    """With fewer keys than queries, the first ones of a causal attention see none."""
    text, arrays = attention(((40, 16), (30, 16), (30, 16)), dtype, causal=True, zeros=zeros)
    (found,) = run_plan(compiled_text(text), arrays)
    assert np.isnan(found[:10]).all() != zeros
    assert not np.isnan(found[10:]).any()
    if zeros:
        assert (found[:10] == 0).all()


def test_keys_that_are_not_awaited_show() -> None:
    text, arrays = attention(((64, 32), (256, 32), (256, 32)), "f16")
    compiled = compiled_text(text)
    (module,) = plan_of(compiled).modules
    hasty = replace(module, ptx=module.ptx.replace("wait_group \t0", "wait_group \t1"))
    assert hasty != module
    early = replace(compiled, plan=replace(plan_of(compiled), modules=(hasty,)))
    with pytest.raises(KernelFault, match="shared memory"):
        run_wrong(early, arrays)


@pytest.mark.parametrize(
    ("dtype", "target", "rows"),
    [("bf16", "cuda:sm_80", 64), ("bf16", "cuda:sm_90a", 128), ("f32", "cuda:sm_80", 32)],
)
def test_large_heads_assemble(dtype: str, target: str, rows: int) -> None:
    shape, bias = (4, 512, 128), (4, 1, 512)
    text, _ = attention((shape, shape, shape, bias), dtype, causal=True)
    plan = plan_of(compiled_text(text, target))
    assert plan.launches[0].grid == (4 * 512 // rows, 1, 1)
    check_assembled(plan)
