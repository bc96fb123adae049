"""`gravure compile`: every kind of file, every stage, every wrong way to ask for them."""

from __future__ import annotations

import ctypes
import io
import json
import os
import re
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import gravure as gv
from gravure.codegen.ptx.assemble import find_ptxas
from gravure.frontend.programs.emit import KINDS
from gravure.frontend.programs.load import load_program
from gravure.ir import canonical_hash
from gravure.passes.dce import DCE
from gravure.runtime.elf import EM_AARCH64
from gravure.runtime.gpu import file as gpu_file

X = np.random.default_rng(3).standard_normal((3, 8)).astype(np.float32)
DIM = ("--dim", "batch=1..64")


@pytest.fixture
def model(models: Path) -> Path:
    return models / "mlp_batch.onnx"


@pytest.fixture
def wanted(model: Path) -> Any:
    return gv.compile(model, dims={"batch": (1, 64)})(X)


def test_library_gets_a_header_beside_it(
    gravure: Any, model: Path, tmp_path: Path, wanted: Any
) -> None:
    found = gravure("compile", model, "-o", tmp_path / "m.so", *DIM)
    assert found.status == 0
    assert sorted(p.name for p in tmp_path.iterdir()) == ["m.h", "m.so"]
    np.testing.assert_array_equal(gv.load(tmp_path / "m.so")(X), wanted)
    assert "mlp_batch_run" in (tmp_path / "m.h").read_text()
    assert "batch = 1..64" in found.out
    assert "1.00 of what lives at one time" in found.out


def test_result_as_json_names_files_memory_and_passes(
    gravure: Any, model: Path, tmp_path: Path
) -> None:
    out = tmp_path / "m.so"
    found = gravure("compile", model, "-o", out, *DIM, "--json", "--no-header", "--stats").json
    assert found["schema"] == "gravure.compile/1"
    assert found["files"] == [{"kind": "library", "path": str(out), "bytes": out.stat().st_size}]
    assert found["memory"]["buffers"] >= found["memory"]["max_live"] > 0
    assert found["manifest"]["dims"] == [{"name": "batch", "low": 1, "high": 64}]
    passes = [step["pass"] for step in found["passes"]["passes"]]
    assert passes[-2:] == ["plan-memory", "repeat-layers"]


def test_library_is_named_after_the_model_if_nothing_is_said(
    gravure: Any, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert gravure("compile", models / "mlp.onnx", "-q").out == ""
    assert (tmp_path / "mlp.so").exists()


@pytest.mark.parametrize("stage", ["import", "graph", "fused", "planned", "loops"])
def test_text_of_a_stage_is_accepted_back(
    gravure: Any, model: Path, tmp_path: Path, wanted: Any, stage: str
) -> None:
    text, library = tmp_path / "m.mlir", tmp_path / "m.so"
    assert gravure("compile", model, *DIM, "--to", stage, "-o", text).status == 0
    for start in ((), ("--from", stage)):
        assert gravure("compile", text, "-o", library, *start).status == 0
        np.testing.assert_array_equal(gv.load(library)(X), wanted)


def test_stage_goes_to_the_standard_output(gravure: Any, model: Path) -> None:
    found = gravure("compile", model, *DIM, "--to", "fused")
    assert found.status == 0
    assert found.out.startswith("builtin.module")
    assert "gv.kernel" in found.out
    assert found.err == ""


def test_text_from_a_pipe_has_no_weights_to_compile(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    (tmp_path / "m.mlir").write_text(gravure("compile", models / "mlp.onnx", "--to=graph").out)
    found = gravure("compile", tmp_path / "m.mlir", "-o", tmp_path / "m.so")
    assert found.status == 69
    assert "has no data" in found.err


def test_wrong_stage_of_the_input_is_told(gravure: Any, model: Path, tmp_path: Path) -> None:
    found = gravure("compile", model, *DIM, "--from", "planned", "-o", tmp_path / "m.so")
    assert found.status == 65
    assert "the program is on level graph, stage planned is on level planned" in found.err


def test_every_kind_beside_each_other_and_in_one_file(
    gravure: Any, model: Path, tmp_path: Path
) -> None:
    shown = {name: kind for name, kind in KINDS.items() if name not in ("ptx", "gpu")}
    kinds = ",".join(shown)
    assert gravure("compile", model, *DIM, "--emit", kinds, "-o", tmp_path / "m.so").status == 0
    beside = {p.name.replace("m.", "mlp_batch.", 1) for p in tmp_path.iterdir()}
    archive = tmp_path / "m.zip"
    assert gravure("compile", model, *DIM, "--emit", kinds, "-o", archive).status == 0
    with zipfile.ZipFile(archive) as bundle:
        assert {*bundle.namelist()} == beside
    first = archive.read_bytes()
    gravure("compile", model, *DIM, "--emit", kinds, "-o", archive)
    assert archive.read_bytes() == first
    suffixes = {f".{kind.suffix.split('.')[-1]}" for kind in shown.values()} | {".safetensors"}
    assert {Path(name).suffix for name in beside} == suffixes


def test_files_for_gpus(gravure: Any, model: Path, tmp_path: Path) -> None:
    options = (*DIM, "--target", "cuda:sm_80")
    out = tmp_path / "m.gpu"
    assert gravure("compile", model, *options, "--emit", "gpu,ptx", "-o", out).status == 0
    assert ".entry" in (tmp_path / "m.ptx").read_text()
    assert gravure("run", out, "--device", "emulated").status == 0
    plan, _ = gpu_file.from_bytes(out.read_bytes())
    assert {module.cubin[:4] for module in plan.modules} == {b"\x7fELF" if find_ptxas() else b""}
    found = gravure("run", model, *options, "--device", "emulated", "--vs", "interp")
    assert (found.status, "ok" in found.out) == (0, True)
    assert gravure("compile", model, *options, "-o", tmp_path / "m.so").status == 0
    assert "_create(void *workspace" in (tmp_path / "m.h").read_text()
    said = gravure("inspect", tmp_path / "m.so").out
    assert "of PTX 7.0" in said
    assert "for a run in all, on the GPU" in said
    other = (*options, "--host", "aarch64")
    assert gravure("compile", model, *other, "-o", tmp_path / "m.o").status == 0
    assert (tmp_path / "m.o").read_bytes()[18] == EM_AARCH64
    found = gravure("compile", model, *other, "-o", tmp_path / "a.so")
    assert (found.status, "no shared libraries for aarch64" in found.err) == (69, True)
    mac = (*options, "--host", "arm64-apple-darwin")
    found = gravure("compile", model, *mac, "-o", tmp_path / "a.o")
    assert (found.status, "expected a processor of Linux" in found.err) == (2, True)
    found = gravure("compile", model, *DIM, "-o", tmp_path / "n.gpu")
    assert (found.status, "is a processor, expected a GPU" in found.err) == (69, True)


def test_weights_in_a_file_of_their_own(gravure: Any, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.so"
    assert gravure("compile", models / "digits.onnx", "-o", out, "--weights=file").status == 0
    image = np.ones((1, 1, 8, 8), np.float32)
    model = gv.load(out, weights=tmp_path / "m.weights")
    np.testing.assert_array_equal(model(image), gv.compile(models / "digits.onnx")(image))
    assert gravure("run", out, "--weights-file", tmp_path / "m.weights").status == 0
    lost = gravure("run", out)
    assert lost.status == 65
    assert "help: --weights-file FILE names it" in lost.err
    assert "load(" not in lost.err


def test_weights_as_they_were_given(gravure: Any, tmp_path: Path) -> None:
    random = np.random.default_rng(0)
    weights = {
        name: random.standard_normal((128, 128, 3, 3)).astype(np.float32) / 34 for name in "uv"
    }
    nodes = [
        helper.make_node("Conv", [x, w], [y], pads=[1] * 4)
        for x, w, y in (("x", "u", "m"), ("m", "v", "y"))
    ]
    graph = helper.make_graph(
        nodes, "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 128, 28, 28])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 128, 28, 28])],
        [numpy_helper.from_array(array, name) for name, array in weights.items()],
    )  # fmt: skip
    model = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)]), model)
    x = random.standard_normal((1, 128, 28, 28)).astype(np.float32)
    given, whole = sum(array.nbytes for array in weights.values()), tmp_path / "whole.o"
    assert gravure("compile", model, "-o", whole).status == 0
    out = tmp_path / "m.so"
    assert gravure("compile", model, "-o", out, "--weights", "raw").status == 0
    raw = tmp_path / "m.raw.safetensors"
    assert whole.stat().st_size > 3 * given  # the test is about weights that grow
    assert out.stat().st_size + raw.stat().st_size < 1.1 * given
    wanted = gv.compile(model)(x)
    assert gv.load(out, weights=raw)(x).tobytes() == wanted.tobytes()
    assert gravure("run", out, "--weights-file", raw).status == 0
    assert "m_prepare(" in (tmp_path / "m.h").read_text()


def test_llvm_text_assembles_to_a_whole_object(gravure: Any, model: Path, tmp_path: Path) -> None:
    text, data = tmp_path / "m.ll", tmp_path / "m.o"
    options = ("--tag", "mine")
    assert gravure("compile", model, *DIM, *options, "-o", text).status == 0
    assert gravure("compile", text, "-o", data).status == 0
    assert "mine_run:" in gravure("compile", text, "--emit", "asm").out
    if shutil.which("gcc") is None:
        pytest.skip("no linker")
    library = tmp_path / "linked.so"
    subprocess.run(["gcc", "-shared", "-o", library, data], check=True)
    manifest = ctypes.CDLL(str(library)).mine_workspace_bytes
    manifest.restype = ctypes.c_int64
    assert manifest() >= 64
    wrong = tmp_path / "wrong.ll"
    wrong.write_text("define void @f( {")
    assert gravure("compile", wrong, "-o", data).status == 65


def test_object_for_another_machine(gravure: Any, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.o"
    assert gravure("compile", model, *DIM, "--target", "aarch64", "-o", out).status == 0
    assert out.read_bytes()[18:20] == (183).to_bytes(2, "little")
    found = gravure("compile", model, *DIM, "--target", "riscv64", "-o", tmp_path / "m.so")
    assert found.status == 69
    assert "write an object" in found.err


def test_processor_and_system_are_given_apart(gravure: Any, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.json"
    machine = ("--mcpu", "haswell", "--triple", "x86_64-unknown-none", "--mattr=-fma")
    assert gravure("compile", model, *DIM, *machine, "-o", out).status == 0
    manifest = json.loads(out.read_text())
    assert manifest["triple"] == "x86_64-unknown-none"
    assert "avx2" in manifest["features"]
    assert "fma" not in manifest["features"]


def test_pipeline_can_be_chosen_and_shortened(gravure: Any, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.so"
    options = ("--disable-pass", "recognize,cse", "--disable-pass", "fold-scale", "-O1")
    assert gravure("compile", model, *DIM, "-o", out, *options).status == 0
    passes = "decompose,dce,fuse,outline-kernels,bufferise,plan-memory"
    assert gravure("compile", model, *DIM, "-o", out, "--passes", passes).status == 0
    assert gv.load(out).manifest["pipeline"] == passes
    short = gravure("compile", model, *DIM, "--passes", "decompose", "--to", "fused")
    assert short.status == 69
    assert "does not reach the stage 'fused'" in short.err


def test_ir_is_printed_and_dumped(gravure: Any, model: Path, tmp_path: Path) -> None:
    folder = tmp_path / "dump"
    found = gravure(
        "compile", model, *DIM, "-o", tmp_path / "m.so", "--print-ir-before", "fuse",
        "--print-ir-after", "fuse,cse", "--dump-dir", folder, "--time-passes", "--stats",
        "--function", "main",
    )  # fmt: skip
    assert found.status == 0
    assert found.err.count("// ----- before fuse") == 1
    assert found.err.count("// ----- after cse") >= 2
    assert "in all" in found.err
    names = sorted(path.name for path in folder.iterdir())
    assert names[0] == "00-input.mlir"
    assert names[-1].endswith("-repeat-layers.mlir")
    changes = gravure("compile", model, *DIM, "--to=graph", "--print-ir-after-change").err
    assert "(unchanged)" in changes


def test_report_says_what_became_one_kernel(gravure: Any, model: Path, tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    assert gravure("compile", model, *DIM, "-o", tmp_path / "m.so", "--report", report).status == 0
    data = json.loads(report.read_text())
    rows = data["launches"]
    assert rows[0]["kind"] == "gemm"
    assert rows[0]["sources"] == ["Gemm_h", "Relu_a"]
    assert rows[0]["macs"] == 64 * 8 * 16
    assert all(row["units"] >= 1 for row in rows)
    assert rows[0]["vector_lanes"] > 1
    assert all(("not_vectorised" in row) != (row["vector_lanes"] > 1) for row in rows)
    assert all(("not_parallel" in row) == (row["units"] == 1) for row in rows)
    why = {row["source"]: row["reason"] for row in data["apart"]}
    assert "walks its operands in memory" in why["Relu_a"]


def test_memory_can_be_limited(gravure: Any, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.so"
    found = gravure("compile", model, *DIM, "-o", out, "--max-memory", "1K")
    assert found.status == 69
    assert "expected at most 1024" in found.err
    assert not out.exists()
    assert gravure("compile", model, *DIM, "-o", out, "--max-memory", "1M").status == 0


def test_inputs_are_not_verified_if_so_asked(gravure: Any, model: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.so"
    assert gravure("compile", model, *DIM, "-o", out, "--no-verify-inputs").status == 0
    assert gv.load(out)(X).shape == (3, 4)


def test_shapes_replace_those_of_the_model(gravure: Any, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.so"
    shape = ("--shape", "x=rows,8", "--dim", "rows=2..5")
    assert gravure("compile", models / "mlp.onnx", *shape, "-o", out).status == 0
    assert gv.load(out)(X).shape == (3, 4)


def test_model_comes_from_the_standard_input(
    gravure: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = io.BytesIO(b"model m(x: f32[2]) -> (y) { y = exp(x) }")
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(text))
    out = tmp_path / "m.so"
    assert gravure("compile", "-", "-o", out).status == 0
    np.testing.assert_allclose(gv.load(out)(np.zeros(2, np.float32)), 1.0)


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--emit", "librari"], 2, "did you mean 'library'?"),
        (["--to", "fuse"], 2, "did you mean 'fused'?"),
        (["--target", "znver9"], 2, "did you mean 'znver"),
        (["--target", "znver4", "--mcpu", "znver3"], 2, "--target stands for itself"),
        (["--mattr", "+avx512vnnni"], 2, "did you mean 'avx512vnni'?"),
        (["--passes", "cse,fusse"], 2, "did you mean 'fuse'?"),
        (["--passes", "cse{"], 2, "cannot be read"),
        (["--disable-pass", "fusee"], 2, "did you mean 'fuse'?"),
        (["--print-ir-after", "csee"], 2, "did you mean 'cse'?"),
        (["--shape", "x"], 2, "expected NAME=D,D,..."),
        (["--shape", "x=1,,8"], 2, "expected NAME=D,D,..."),
        (["--shape", "x=1,8,8"], 65, "has rank 2"),
        (["--shape", "x=2,-8"], 65, "is [2, -8], expected sizes or names"),
        (["--shape", "z=1,8"], 65, "there is no input 'z'"),
        (["--dim", "batch=some"], 2, "expected NAME=N, NAME=LOW..HIGH or"),
        (["--dim", "batch=9..3"], 65, "neither a size nor a range"),
        (["--dim", "bach=3"], 65, "did you mean 'batch'?"),
        (["--tag", "1x"], 2, "a letter first"),
        (["--threads", "0"], 2, "is not a number from 1"),
        (["--max-memory", "lots"], 2, "is not a size"),
        (["--budget", "5parsecs"], 2, "expected one like 10s, 1GB or 10s/1GB"),
        (["--report", "r.json", "--to", "fused"], 2, "about compiled programs"),
    ],
)
def test_wrong_argument_is_named(
    gravure: Any, model: Path, tmp_path: Path, arguments: list[str], status: int, said: str
) -> None:
    found = gravure("compile", model, "-o", tmp_path / "out.so", *arguments)
    assert found.status == status
    assert said in found.err
    assert not any(tmp_path.iterdir())


def test_bounds_that_are_missing_are_asked_for(gravure: Any, model: Path, tmp_path: Path) -> None:
    found = gravure("compile", model, "-o", tmp_path / "m.so")
    assert found.status == 69
    assert "--dim batch=1..64" in found.err


def test_output_is_never_the_input_or_a_folder(gravure: Any, model: Path, tmp_path: Path) -> None:
    copy = shutil.copy(model, tmp_path / "m.onnx")
    assert gravure("compile", copy, "-o", copy).status == 2
    assert gravure("compile", copy, "-o", tmp_path).status == 2
    missing = gravure("compile", copy, *DIM, "-o", tmp_path / "no" / "m.so")
    assert missing.status == 73
    assert "cannot write" in missing.err
    assert Path(copy).read_bytes() == model.read_bytes()


def test_full_disk_leaves_the_old_file(models: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.so"
    out.write_bytes(b"old")
    code = (
        "import resource, sys; from gravure.tools.cli import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (20000, 20000))\n"
        f"sys.exit(main(['compile', {str(models / 'digits.onnx')!r}, '-o', {str(out)!r}]))"
    )
    cache = {**os.environ, "GRAVURE_CACHE": str(tmp_path / "cache")}
    found = subprocess.run(
        [sys.executable, "-B", "-c", code], capture_output=True, text=True, check=False, env=cache,
        cwd=Path(__file__).parents[2],
    )  # fmt: skip
    assert found.returncode == 74
    assert "the code in memory: cannot write: file too large" in found.stderr
    assert found.stderr.count("warning: no object cache") == 1
    assert out.read_bytes() == b"old"
    assert {path.name for path in tmp_path.iterdir()} == {"m.so", "cache"}


def test_several_kinds_do_not_fit_into_one_stream(gravure: Any, model: Path) -> None:
    assert gravure("compile", model, *DIM, "--emit=asm,llvm", "-o", "-").status == 2


def test_unsupported_operators_are_all_listed(gravure: Any, tmp_path: Path) -> None:
    node = helper.make_node
    nodes = [
        node("NoSuch", ["x"], ["a"], name="first"),
        node("NorThis", ["x", "c"], ["b"], name="second"),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g",
        [value("x", TensorProto.FLOAT, [4]), value("c", TensorProto.BOOL, [4])],
        [value("a", TensorProto.FLOAT, None), value("b", TensorProto.FLOAT, None)],
    )  # fmt: skip
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)
    found = gravure("compile", path, "-o", tmp_path / "m.so")
    assert found.status == 65
    assert "first" in found.err
    assert "second" in found.err
    seen = gravure("inspect", path)
    assert seen.status == 0
    assert "1 NoSuch, 1 NorThis" in seen.out
    assert gravure("inspect", path, "--check").status == 1


def test_host_steps_are_told_and_go_into_no_library(gravure: Any, tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Unique", ["x"], ["a"], name="find"),
        helper.make_node("Neg", ["a"], ["y"]),
    ]
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        nodes, "g", [value("x", TensorProto.FLOAT, [4])], [value("y", TensorProto.FLOAT, None)]
    )
    path = tmp_path / "m.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 20)]), path)
    for more in ((), ("--to", "fused")):
        found = gravure("compile", path, "-o", tmp_path / "m.so", *more)
        assert found.status == 69
        assert "find (unique)" in found.err
        assert "help: gravure run runs it as it is" in found.err
    assert [*tmp_path.iterdir()] == [path]
    looked = gravure("inspect", path, "--check").out
    assert re.search(r"host steps +find \(unique\)", looked)
    assert "cannot be compiled" in looked
    assert gravure("run", path, "--vs", "interp").status == 0
    assert gravure("bench", path, "--layers", "--seconds", "0.01").status == 2


def test_failing_pass_leaves_a_reproducer_that_fails_the_same(
    gravure: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(self: Any, program: Any) -> None:
        raise ValueError("injected")

    monkeypatch.setattr(DCE, "apply", fail)
    replay = tmp_path / "replay.mlir"
    options = ("-o", tmp_path / "m.so", "--no-cache", "--reproducer", replay)
    first = gravure("compile", model, *DIM, *options)
    assert first.status == 70
    assert str(replay) in first.err
    again = gravure("opt", "--run-reproducer", replay)
    assert again.status == 70
    assert first.err.splitlines()[0].endswith("pass dce failed: ValueError: injected")
    assert again.err.splitlines()[0].endswith("pass dce failed: ValueError: injected")
    monkeypatch.undo()
    assert gravure("opt", "--run-reproducer", replay).status == 0


def test_list_of_stages(gravure: Any) -> None:
    found = gravure("compile", "--list-stages", "--json").json
    assert [*found["stages"]][:3] == ["import", "graph", "fused"]
    assert found["kinds"]["library"]["suffix"] == ".so"
    assert gravure("compile").status == 2


def test_graph_and_onnx_are_written_as_they_were_read(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    source, out = models / "digits.onnx", tmp_path / "m.gv"
    assert gravure("compile", source, "--emit", "graph,onnx,ir@fused", "-o", out).status == 0
    written = sorted(path.name for path in tmp_path.iterdir())
    assert written == [
        "m.fused.mlir", "m.fused.safetensors", "m.gv", "m.onnx", "m.safetensors",
    ]  # fmt: skip
    hashes = {canonical_hash(load_program(path).module) for path in (out, tmp_path / "m.onnx")}
    assert len(hashes) == 1
    for each in (out, tmp_path / "m.onnx"):
        assert gravure("run", each, "--vs", source).status == 0
    assert gravure("compile", source, "--emit", "graph").out.startswith("model digits(")
    assert gravure("compile", source, "--emit", "bundle", "-o", tmp_path / "m.zip").status == 0
    assert {"digits.so", "digits.h"} <= {*zipfile.ZipFile(tmp_path / "m.zip").namelist()}


FUNCTIONS = """
import numpy as np
import gravure as gv

w = gv.Variable(np.arange(12, dtype=np.float32).reshape(4, 3), name="w")

@gv.function
def forward(x):
    return gv.nn.relu(x @ w - 1.0)

def changes(x):
    w.assign_add(w)
    return x

class Net:
    @property
    def broken(self):
        raise RuntimeError("nobody asks for this")

    @gv.function
    def forward(self, x):
        return gv.nn.relu(x @ w - 1.0)

net = Net()
"""


def test_a_python_function_is_a_model(gravure: Any, tmp_path: Path) -> None:
    file, text = tmp_path / "f.py", tmp_path / "f.gv"
    file.write_text(FUNCTIONS)
    shape = ("--shape", "x=2,4")
    assert gravure("compile", f"{file}:forward", *shape, "-o", tmp_path / "f.so").status == 0
    assert gravure("run", f"{file}:net.forward", *shape, "--vs", tmp_path / "f.so").status == 0
    assert gravure("run", f"{file}:forward", *shape, "--vs", "interp").status == 0
    assert gravure("compile", f"{file}:forward", *shape, "-o", text).status == 0
    onnx = tmp_path / "f.onnx"
    assert gravure("convert", f"{file}:forward", *shape, "-o", onnx, "--check").status == 0
    assert gravure("run", onnx, "--vs", text).status == 0
    found = gravure("inspect", f"{file}:forward", *shape, "--json").json
    assert (found["parameters"], found["format"]) == (12, "Python")


@pytest.mark.parametrize(
    ("name", "options", "status", "said"),
    [
        ("forwrd", ("--shape", "x=2,4"), 65, "did you mean 'forward'?"),
        ("net.forwrd", ("--shape", "x=2,4"), 65, "did you mean 'forward'?"),
        ("none.forward", ("--shape", "x=2,4"), 65, "there is no function 'none.forward'"),
        ("forward", (), 65, "argument 'x' has no shape"),
        ("forward", ("--shape", "x=N,4"), 69, "N has no upper bound"),
        ("changes", ("--shape", "x=2"), 65, "it changes variable 'w"),
    ],
)
def test_a_python_function_that_is_none(
    gravure: Any, tmp_path: Path, name: str, options: tuple[str, ...], status: int, said: str
) -> None:
    file = tmp_path / "f.py"
    file.write_text(FUNCTIONS)
    found = gravure("compile", f"{file}:{name}", *options, "-o", tmp_path / "f.so")
    assert (found.status, said in found.err) == (status, True), found.err


@pytest.mark.parametrize("triple", ["aarch64-apple-darwin", "x86_64-pc-windows-msvc"])
def test_system_of_other_objects_is_refused(
    gravure: Any, model: Path, tmp_path: Path, triple: str
) -> None:
    found = gravure("compile", model, *DIM, "--triple", triple, "-o", tmp_path / "m.o")
    assert found.status == 2
    assert f"{triple} wants Mach-O or COFF objects, gravure writes ELF" in found.err


def test_pass_that_others_need_is_named(gravure: Any, model: Path) -> None:
    found = gravure("compile", model, *DIM, "--disable-pass", "fuse", "--to", "planned")
    assert "works on level fused, the program is on level graph" in found.err
    assert "fuse comes before it" in found.err
    found = gravure("opt", model, *DIM, "-p", "canonicalize,cse,fuse")
    assert "has no kernel of its own: decompose comes before fuse" in found.err


def test_python_function_has_open_sizes(gravure: Any, tmp_path: Path) -> None:
    path, out = tmp_path / "m.py", tmp_path / "m.so"
    path.write_text(
        "import gravure.tf as tf\n"
        "signature = [tf.TensorSpec([None, 2]), tf.TensorSpec([None], tf.int32)]\n"
        "@tf.function(input_signature=signature)\n"
        "def f(x, i): return tf.gather(tf.exp(x), i)\n"
        "def g(a, b): return a + b\n"
    )
    f, g = f"{path}:f", f"{path}:g"
    dims = ("--dim", "x_d0=2..5", "--dim", "i_d0=1..3")
    assert gravure("compile", f, *dims, "-o", out).status == 0
    x, i = np.float32([[1, 2], [3, 4], [5, 6]]), np.int32([2, 0])
    np.testing.assert_allclose(gv.load(out)(x, i), np.exp(x)[i], rtol=1e-6)
    named = ("--shape", "x=N,2", "--shape", "i=N", "--dim", "N=2..5")
    assert gravure("compile", f, *named, "-o", out).status == 0
    np.testing.assert_allclose(
        gv.load(out)(x, np.int32([2, 0, 1])), np.exp(x)[[2, 0, 1]], rtol=1e-6
    )
    assert (
        gravure(
            "compile", g, "--shape", "a=?,3", "--shape", "b=3", "--dim", "a_d0=1..4", "-o", out
        ).status
        == 0
    )
    np.testing.assert_array_equal(
        gv.load(out)(np.ones((2, 3), np.float32), np.ones(3, np.float32)), np.full((2, 3), 2)
    )
    assert gravure("run", f, "-i", "x=3x2xf32", "-i", "i=2xi32:zeros", "--vs", "interp").status == 0
    assert "x_d0 = 1.." in gravure("inspect", f).out
    for options, said in (
        ((), "_d0 has no upper bound"),
        (("--dim", "q=3"), "there is no dimension 'q'"),
        (("--shape", "x=3,4"), "not of shape [3, 4]"),
        (("--shape", "z=3"), "there is no argument 'z'"),
    ):
        found = gravure("compile", f, *options, "-o", out)
        assert (found.status != 0, said in found.err) == (True, True), found.err


PRODUCTS = b"""model m(x: f32[64]) -> (y) {
  y = div(mul(mul(x, 0.3), 0.7), 3.0)
}"""


@pytest.mark.parametrize("numerics", ["exact", "ulp:1", "ulp:2", "fast"])
def test_numerics_are_kept_and_said(gravure: Any, tmp_path: Path, numerics: str) -> None:
    """Exact, each operation rounds by itself; otherwise they may be one product."""
    (tmp_path / "m.gv").write_bytes(PRODUCTS)
    found = gravure("compile", tmp_path / "m.gv", "-o", tmp_path / "m.so", "--numerics", numerics)
    assert found.status == 0, found.err
    assert f"Numerics `{numerics}`" in (tmp_path / "m.h").read_text()
    model = gv.load(tmp_path / "m.so")
    assert model.manifest["numerics"] == numerics
    x = np.random.default_rng(1).standard_normal(64).astype(np.float32)
    alone = x * np.float32(0.3) * np.float32(0.7) / np.float32(3)
    assert np.array_equal(model(x), alone) == (numerics in ("exact", "ulp:1"))
    np.testing.assert_allclose(model(x), alone, rtol=1e-6)


def test_exact_numerics_are_refused_where_they_come_too_late(gravure: Any, tmp_path: Path) -> None:
    (tmp_path / "m.gv").write_bytes(PRODUCTS)
    words = "compile", tmp_path / "m.gv", "-o", tmp_path / "m.so", "--numerics", "exact"
    found = gravure(*words, "--passes", "dce")
    assert found.status == 2
    assert "exact numerics and a pipeline of its own, expected one of both" in found.err
    below = tmp_path / "m.fused.mlir"
    assert gravure("compile", tmp_path / "m.gv", "--to", "fused", "-o", below).status == 0
    found = gravure("compile", below, "-o", tmp_path / "m.so", "--numerics", "exact")
    assert found.status == 69
    assert "numerics of a program on level fused, expected one on level graph" in found.err
