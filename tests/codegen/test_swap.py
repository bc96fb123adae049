"""What rests for long lies in the memory of a GPU's host: less of the device, the same numbers."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import gravure as gv
from gravure.codegen.compile import Options, pipeline_for
from gravure.errors import CompileError
from gravure.frontend.programs.compile import compile_source
from gravure.passes.base import PipelineError
from gravure.passes.pipelines import pipeline_of, swapping
from gravure.runtime.gpu.emulated import EmulatedDriver
from gravure.runtime.gpu.plan import GpuLaunch
from gravure.target import Target

TARGET = "cuda:sm_90a"
LAYERS = 9


@pytest.fixture
def deep(tmp_path: Path) -> Path:
    """Return a network whose layers are used again on the way back, the last one first."""
    lines = ["model deep(x: f32[N, 16], N in 1..16) -> (y) {"]
    lines += [f"  weight w{n}: f32[16, 16] = random(seed={n}, scale=0.3)" for n in range(LAYERS)]
    lines += ["  h0 = tanh(x @ w0)"]
    lines += [f"  h{n} = tanh(h{n - 1} @ w{n})" for n in range(1, LAYERS)]
    lines += [f"  g{LAYERS - 1} = h{LAYERS - 1} * 2.0"]
    lines += [f"  g{n} = (g{n + 1} @ w{n}) * h{n}" for n in reversed(range(LAYERS - 1))]
    path = tmp_path / "deep.gv"
    path.write_text("\n".join([*lines, "  y = g0 + 1.0", "}"]))
    return path


def behind(launches: Sequence[GpuLaunch], number: int) -> set[int]:
    """Return the launches that one waits for, and those that they wait for."""
    found = set(launches[number].after)
    return found.union(*(behind(launches, each) for each in found))


def swapped(words: str) -> str:
    return swapping(pipeline_of("O2")).replace("swap", f"swap{{{words}}}")


@pytest.mark.sweep
@pytest.mark.parametrize("ahead", [0, 40])
def test_less_of_the_device_is_needed_for_the_same_bits(deep: Path, ahead: int) -> None:
    x = np.random.default_rng(0).normal(size=(16, 16)).astype(np.float32)
    plain, moved = (EmulatedDriver(seed=3, races=True) for _ in range(2))
    one = gv.compile(deep, target=TARGET, device=plain)
    passes = swapped(f"least=1024 distance=4 ahead={ahead}")
    other = gv.compile(deep, target=TARGET, device=moved, passes=passes)
    np.testing.assert_array_equal(other(x), one(x))
    np.testing.assert_array_equal(other(x[:5]), one(x[:5]))
    assert plain.on_host == 0
    if ahead < 40:
        assert moved.on_host >= (LAYERS - 4) * 1024
        assert other.workspace_bytes <= one.workspace_bytes / 2


def test_no_more_is_moved_than_must_be(deep: Path) -> None:
    def on_host(words: str) -> int:
        plan = compile_source(deep, Options(target=TARGET, passes=swapped(words))).plan
        assert plan is not None
        return plan.host

    every = on_host("least=1024 distance=4")
    some = on_host("least=1024 distance=4 limit=7000")
    assert 0 < some < every
    assert on_host("least=1024 distance=4 limit=10000000") == 0
    assert on_host("") == 0  # all are small


def test_a_network_of_large_layers_is_compiled_so_by_a_word(tmp_path: Path) -> None:
    lines = ["model wide(x: f32[512, 512]) -> (y) {"]
    lines += [f"  weight w{n}: f32[512, 512] = random(seed={n}, scale=0.1)" for n in range(14)]
    lines += ["  h0 = tanh(x @ w0)", *(f"  h{n} = tanh(h{n - 1} @ w{n})" for n in range(1, 14))]
    lines += ["  g13 = h13 * 2.0"]
    lines += [f"  g{n} = (g{n + 1} @ w{n}) * h{n}" for n in reversed(range(13))]
    path = tmp_path / "wide.gv"
    path.write_text("\n".join([*lines, "  y = tanh(g0 @ w1)", "}"]))
    made = compile_source(path, Options(target=TARGET, swap=True)).plan
    assert made is not None
    assert made.host >= 1 << 20


def test_what_is_taken_from_the_way_back_is_written_before(deep: Path) -> None:
    plan = compile_source(
        deep, Options(target=TARGET, passes=swapped("least=1024 distance=4"))
    ).plan
    assert plan is not None
    there: dict[object, int] = {}
    for number, launch in enumerate(plan.launches):
        for argument in launch.arguments:
            if getattr(argument, "base", "") == "host":
                offset = argument.offset
                if offset in there:  # what comes back waits till it is there
                    assert there[offset] in behind(plan.launches, number)
                else:
                    there[offset] = number
    assert there


def test_where_it_is_not_possible_it_is_refused(deep: Path) -> None:
    with pytest.raises(PipelineError, match="the memory of a GPU goes to its host, found target"):
        compile_source(deep, Options(swap=True))
    with pytest.raises(PipelineError, match="swap and a pipeline of its own") as refused:
        pipeline_for(Options(swap=True, passes="dce"), Target.parse(TARGET))
    assert "before plan-memory" in str(refused.value.hint)
    made = compile_source(deep, Options(target=TARGET, passes=swapped("least=1024 distance=4")))
    with pytest.raises(CompileError, match="swap in a library for GPUs"):
        made.library()
