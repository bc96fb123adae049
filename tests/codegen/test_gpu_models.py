"""Small models for GPUs: planned, made into PTX, and assembled where there is an assembler."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import numpy as np
import pytest

import gravure as gv
from gravure.codegen.compile import Compiled, Options
from gravure.codegen.ptx.assemble import assemble, find_ptxas
from gravure.codegen.ptx.listing import ptx_text
from gravure.errors import CompileError
from gravure.frontend.programs.compile import compile_source
from gravure.frontend.programs.emit import EmitError, emit
from gravure.runtime.gpu.emulated import EmulatedDriver
from gravure.target import Target

sys.path.insert(0, str(Path(__file__).parents[1] / "runtime"))
from chosen_device import chosen_driver

pytestmark = pytest.mark.sampled(4)

SMALL = Path(__file__).parent.parent / "models" / "small"
NAMES = ("transformer", "resnet", "gru", "black_scholes")


def compiled_for(name: str, target: str) -> Compiled:
    return compile_source(SMALL / f"{name}.gv", Options(target=target))


@pytest.mark.parametrize("target", ["cuda:sm_80", "cuda:sm_90a"])
@pytest.mark.parametrize("name", NAMES)
def test_kernels_assemble_without_spills(name: str, target: str) -> None:
    plan = compiled_for(name, target).plan
    assert plan is not None
    assert len(plan.modules) == len(plan.kernels)
    for module in plan.modules:
        assert f".entry {module.name}(" in module.ptx
        assert f".target {module.architecture}" in module.ptx
        assert ".extern .func" not in module.ptx
        # indices are divided in 32 bits: in 64, that is a hundred instructions
        assert not re.search(r"\b(div|rem)\.[su]64", module.ptx)
    ptxas = find_ptxas()
    if ptxas is None:
        pytest.skip("nothing assembled: there is no ptxas (wheel nvidia-cuda-nvcc)")
    made = assemble(ptx_text(plan), plan.modules[0].architecture, ptxas)
    assert (made.spilled, made.stack, made.warnings) == (0, 0, ())
    assert made.shared <= 48 << 10


@pytest.mark.parametrize(
    ("name", "target"),
    [(name, "cuda:sm_90a") for name in sorted(path.stem for path in SMALL.glob("*.gv"))]
    + [("transformer", "cuda:sm_80")],
)
def test_models_compute_on_a_gpu_what_they_compute_here(name: str, target: str) -> None:
    """Layers of the models that are compiled in full elsewhere, under a scheduler against them."""
    path, random = SMALL / f"{name}.gv", np.random.default_rng(2)
    here = gv.compile(path)
    there = gv.compile(path, target=target, device=chosen_driver(target[5:], seed=1))
    sizes = {dim.name: 3 for dim in there.dims}
    inputs = [
        random.integers(0, 5, info.shape_for(sizes)).astype(np.int64)
        if info.dtype == "i64"
        else random.standard_normal(info.shape_for(sizes)).astype(np.float32)
        for info in there.inputs
    ]
    for found, wanted in zip(there.run(inputs), here.run(inputs), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-5)


def test_a_processor_is_no_device() -> None:
    with pytest.raises(CompileError, match="is no GPU"):
        gv.compile(SMALL / "mlp.gv", target="x86-64-v3", device=EmulatedDriver())


def test_ptx_is_one_module_of_all_kernels() -> None:
    made = emit(SMALL / "transformer.gv", None, ("ptx",), Options(target="cuda:sm_90"))
    text = made.data.decode()
    assert text.count(".version ") == 1
    assert text.count(".entry ") == 8
    with pytest.raises(EmitError, match="no PTX"):
        emit(SMALL / "mlp.gv", None, ("ptx",), Options(target="x86-64-v3"))


def test_launches_wait_for_what_they_use_and_no_more() -> None:
    text = """model both(x: f32[4, 6]) -> (a, b, c) {
      a = cumsum(x, axis=0)
      b = softmax(x, axis=1)
      c = cumsum(a + b, axis=1)
    }"""
    plan = compile_source(text.encode(), Options(target="cuda:sm_80")).plan
    assert plan is not None
    assert [one.after for one in plan.launches] == [(), (), (0, 1)]


def test_the_same_model_gives_the_same_bytes() -> None:
    first, second = (
        compile_source(SMALL / "mlp.gv", Options(target="cuda:sm_80", cache=False)).plan
        for _ in range(2)
    )
    assert first == second


def test_a_driver_can_be_older_than_the_target() -> None:
    plan = compile_source(SMALL / "mlp.gv", Options(target="cuda:sm_80", mattr="+ptx78")).plan
    assert plan is not None
    assert plan.modules[0].version == (7, 8)
    assert ".version 7.8" in plan.modules[0].ptx
    assert Target.parse("cuda:sm_80").can.turn_weights
