"""What is done so that a run needs no more memory than it may; what is said if nothing helps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import gravure as gv
from gravure.codegen.aot.manifest import peak_bytes
from gravure.codegen.compiled import Options
from gravure.errors import CompileError
from gravure.frontend.programs.compile import compile_source
from gravure.frontend.programs.within import ways

SMALL = Path(__file__).parents[1] / "models" / "small"
STEPS = "\n".join(f"a{i + 1} = softmax(a{i}, axis=1)" for i in range(20))
KEPT = f"model m(x: f32[64, 64]) -> (y) {{ a0 = relu(x)\n{STEPS}\ny = a20 * a0 }}".encode()
"""What is kept for the last operation can be computed again from the argument."""
THREADED = (SMALL / "transformer.gv").read_bytes()
"""Its kernels want scratch for every thread."""


def needs(source: bytes, options: Options) -> dict[str, int]:
    return {w: peak_bytes(compile_source(source, o).description) for w, o in ways(options)}


def test_a_run_that_fits_is_compiled_as_asked(tmp_path: Path) -> None:
    made = gv.emit(KEPT, tmp_path / "m.so", limit=1 << 20)
    assert made.made.spared == ""
    assert "spared" not in str(made)


def test_values_are_computed_again_before_threads_are_given_up(tmp_path: Path) -> None:
    found = needs(KEPT, Options(slots=8))
    again = found["cheap values are computed again"]
    assert found[""] - again >= 4 * 64 * 64 - 256, "one value less is kept"
    made = gv.emit(KEPT, tmp_path / "m.so", limit=again, threads=8)
    assert made.made.spared == "cheap values are computed again"
    assert made.as_json()["memory"]["run"] <= again
    x = np.random.default_rng(0).standard_normal((64, 64)).astype(np.float32)
    np.testing.assert_array_equal(gv.load(tmp_path / "m.so")(x), gv.compile(KEPT)(x))


def test_fewer_threads_need_less_scratch(tmp_path: Path) -> None:
    found = needs(THREADED, Options())
    limit = min(found.values())
    made = gv.emit(THREADED, tmp_path / "m.so", limit=limit)
    assert "at most 1 threads" in made.made.spared
    model = gv.load(tmp_path / "m.so")
    inputs = [np.ones(info.shape, np.float32) for info in model.inputs]
    np.testing.assert_allclose(model(*inputs), gv.compile(THREADED)(*inputs), 1e-5, 1e-6)


def test_an_error_says_the_smallest_and_the_tensors_at_fault(tmp_path: Path) -> None:
    least = min(needs(THREADED, Options()).values())
    with pytest.raises(CompileError) as caught:
        gv.emit(THREADED, tmp_path / "m.so", limit=1000)
    text = caught.value.message
    assert f"a run needs {least} bytes of memory at least, expected at most 1000" in text
    assert "9408 bytes: weights" in text
    assert "of which live at launch" in text
    assert "bytes: f32[2, 7, 40]" in text
    assert not (tmp_path / "m.so").exists()


def test_a_pipeline_of_ones_own_stays(tmp_path: Path) -> None:
    passes = "decompose,dce,fuse,outline-kernels,bufferise,plan-memory"
    assert all(o.passes == passes for _, o in ways(Options(passes=passes)))
    with pytest.raises(CompileError, match="at least"):
        gv.emit(KEPT, tmp_path / "m.so", limit=1000, passes=passes)


def test_no_launch_has_scratch_for_more_threads_than_it_has_units(tmp_path: Path) -> None:
    source = b"model m(x: f32[N, 500]) -> (y) { y = argsort(x, axis = 1) }"
    needs = []
    for slots in (1, 3, 64, 256):
        options = Options(slots=slots)
        gv.emit(source, tmp_path / "m.so", dims={"N": (1, 3)}, options=options)
        model = gv.load(tmp_path / "m.so")
        needs.append(model.workspace_bytes)
        for count in (1, 3):
            x = np.random.default_rng(slots).standard_normal((count, 500)).astype(np.float32)
            with gv.load(tmp_path / "m.so", threads=slots) as shared:
                np.testing.assert_array_equal(shared(x), np.argsort(x, axis=1, kind="stable"))
    assert needs[0] < needs[1] == needs[2] == needs[3]
