"""Libraries for GPUs: linked without a compiler, run on the fake driver, refused where none is."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure
from gravure.codegen.compile import Options
from gravure.codegen.export import archive_of, export, header_of
from gravure.errors import ArtifactError
from gravure.frontend.programs.compile import compile_source
from gravure.ir import interpret
from gravure.runtime.arguments import numpy_dtype
from gravure.runtime.buffer import address, aligned_bytes
from gravure.runtime.library import Library

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "models"))
import test_control
from fake_cuda import build, implemented

HERE = Path(__file__).parent
SMALL = HERE.parent / "models" / "small"
COMPILER = shutil.which("cc") or shutil.which("gcc")
HALVES = b"""model halves(x: f16[128, 64], y: f16[128, 64]) -> (z) {
  z = x @ transpose(y, order=[1, 0])
}"""
MODELS = {"mlp": SMALL / "mlp.gv", "gru": SMALL / "gru.gv", "halves": HALVES}


def inputs_of(model: Any) -> list[Any]:
    random = np.random.default_rng(3)
    sizes = {dim.name: 3 for dim in model.dims}
    return [
        random.standard_normal(info.shape_for(sizes)).astype(numpy_dtype(info.dtype))
        for info in model.inputs
    ]


def output_of(command: list[str], **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a program."""
    return subprocess.run(
        command, capture_output=True, text=True, timeout=100, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Return what libraries gave on the fake driver, and what they should have given."""
    if COMPILER is None:
        pytest.skip("there is no C compiler to build the fake library")
    folder = tmp_path_factory.mktemp("libraries")
    wanted: dict[str, list[Any]] = {}
    for name, source in MODELS.items():
        compiled = compile_source(source, Options(target="cuda:sm_90a", tag=name))
        assert compiled.plan is not None
        assert compiled.plan.has_maps == (name == "halves")
        export(compiled, folder / f"{name}.so")
        here = gravure.compile(source)
        given = inputs_of(here)
        np.savez(folder / f"{name}.in.npz", *given)
        wanted[name] = here.run(given)
    nested = compile_source(test_control.made("nested"), Options(target="cuda:sm_80", tag="nested"))
    export(nested, folder / "nested.so")
    given = test_control.inputs("nested", 3)
    np.savez(folder / "nested.in.npz", *given)
    wanted["nested"] = interpret(test_control.made("nested"), given)
    fake = build(folder, implemented(), COMPILER)
    names = [str(folder / f"{name}.so") for name in wanted]
    session, answers = str(HERE / "gpu_library_session.py"), str(folder / "answers.npz")
    path = os.pathsep.join([str(HERE), str(HERE.parents[1]), *filter(None, sys.path)])
    done = output_of([sys.executable, session, str(fake), answers, *names], PYTHONPATH=path)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(Path(answers).with_suffix(".json").read_text())
    with np.load(answers) as results:
        return {"wanted": wanted, "results": dict(results), **found}


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", [*MODELS, "nested"])
def test_a_library_computes_what_the_model_does(session: dict[str, Any], name: str) -> None:
    for trip in range(3):
        for number, wanted in enumerate(session["wanted"][name]):
            found = session["results"][f"{name}_{trip}_{number}"]
            loose = 1e-2 if wanted.dtype == np.float16 else 1e-4
            np.testing.assert_allclose(found, wanted, rtol=loose, atol=loose / 10)


def test_all_memory_of_the_device_is_given_back(session: dict[str, Any]) -> None:
    assert (session["left"], session["left at the end"]) == (0, 0)


def test_data_on_the_device_are_used_where_they_are(session: dict[str, Any]) -> None:
    found = session["device"]
    assert (found["created"], found["ran"], found["same"]) == ("ok", "ok", True)
    calls = [name for name in found["calls"] if name != "cuPointerGetAttribute"]
    inside = {*calls[1:-2]}
    assert (calls[0], calls[-2:]) == (
        "cuCtxPushCurrent_v2", ["cuStreamSynchronize", "cuCtxPopCurrent_v2"],
    )  # fmt: skip
    assert inside == {"cuLaunchKernel"}


def test_what_is_run_again_is_one_graph(session: dict[str, Any]) -> None:
    def kinds(which: str) -> list[str]:
        calls = session["device"][f"calls of the {which}"]
        return [name for name in calls if name.startswith(("cuGraph", "cuLaunch", "cuStream"))]

    begin, *launches, end = kinds("second")[:-4]
    assert (begin, end) == ("cuStreamBeginCapture_v2", "cuStreamEndCapture")
    assert {*launches} == {"cuLaunchKernel"}
    assert kinds("second")[-4:] == [
        *("cuGraphInstantiateWithFlags", "cuGraphDestroy", "cuGraphLaunch", "cuStreamSynchronize"),
    ]
    assert kinds("third") == ["cuGraphLaunch", "cuStreamSynchronize"]


def test_what_is_wrong_is_a_status(session: dict[str, Any]) -> None:
    found = session["device"]
    assert found["not created"] == "workspace: mlp_create was not called on it"
    assert found["destroyed"] == found["not created"]
    assert found["failed"] == "CUDA_ERROR_LAUNCH_FAILED"
    assert found["misaligned"].startswith("output 'logits': an address is null or not aligned")
    assert "gpu:3: CUDA_ERROR_INVALID_DEVICE" in session["no device"]


@pytest.fixture(scope="module")
def mlp(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mlp") / "mlp.so"
    export(compile_source(SMALL / "mlp.gv", Options(target="cuda:sm_90", tag="mlp")), path)
    return path


def test_without_a_driver_there_is_a_status(mlp: Path) -> None:
    code = f"import gravure; gravure.load({str(mlp)!r})"
    done = output_of([sys.executable, "-c", code], PYTHONPATH=str(HERE.parents[1]))
    if done.returncode == 0:
        pytest.skip("there is a driver")
    assert "gpu:0: there is no libcuda.so.1, the driver of a GPU" in done.stderr
    with pytest.raises(ArtifactError, match="runs on this machine, not on emulated"):
        gravure.load(mlp, device="emulated")


def test_a_library_of_a_processor_has_no_device(tmp_path: Path) -> None:
    gravure.compile(SMALL / "mlp.gv").save(tmp_path / "mlp.so")
    with pytest.raises(ArtifactError, match="runs on the processor, not on gpu:1"):
        gravure.load(tmp_path / "mlp.so", device="gpu:1")


def test_a_workspace_is_looked_at_before_it_is_used(mlp: Path) -> None:
    library = Library.load(mlp)
    create = library.function("create", "ippi")
    workspace = aligned_bytes(256)
    for place in (0, address(workspace) + 8):
        said = library.status(create(place, None, 0))
        assert said == "workspace: null or not aligned to 64 bytes"


def test_a_library_has_the_code_and_says_what_it_needs(mlp: Path) -> None:
    data = mlp.read_bytes()
    assert b".version 8.0" in data
    assert b".target sm_90" in data
    older = compile_source(SMALL / "mlp.gv", Options(target="cuda:sm_80", mattr="+ptx78"))
    assert b".version 7.8" in older.library().tobytes()
    again = compile_source(SMALL / "mlp.gv", Options(target="cuda:sm_80", mattr="+ptx78"))
    assert older.library().tobytes() == again.library().tobytes()


@pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")
def test_the_header_and_the_archive_build_a_program(tmp_path: Path) -> None:
    compiled = compile_source(SMALL / "mlp.gv", Options(target="cuda:sm_90", tag="mlp"))
    (tmp_path / "mlp.h").write_bytes(header_of(compiled))
    (tmp_path / "mlp.a").write_bytes(archive_of(compiled))
    source = tmp_path / "main.c"
    source.write_text(
        """#include "mlp.h"
        #include <stdio.h>
        _Alignas(64) static char workspace[MLP_WORKSPACE_BYTES];
        int main(void) {
            int32_t status = mlp_create(workspace, NULL, 0);
            puts(mlp_status(status));
            if (status == 0) mlp_destroy(workspace);
            return (status & 255) != GRAVURE_NO_GPU && status != 0;
        }"""
    )
    program = tmp_path / "main"
    flags = ["-std=c11", "-Wall", "-Wextra", "-Werror", f"-I{tmp_path}"]
    command = [str(COMPILER), *flags, str(source), str(tmp_path / "mlp.a"), "-ldl"]
    subprocess.run([*command, "-o", str(program)], check=True)
    done = output_of([str(program)])
    assert done.returncode == 0
    assert done.stdout.strip() in ("ok", "there is no libcuda.so.1, the driver of a GPU")
