"""`gravure opt`: passes on text."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest

from gravure.ir import canonical_hash, parse

TEXT = """
func.func @main(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %0 = gv.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = gv.exp %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %2 = gv.add %0, %1 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  func.return %2 : tensor<2x3xf32>
}
"""


@pytest.fixture
def text(tmp_path: Path) -> Path:
    path = tmp_path / "m.mlir"
    path.write_text(TEXT)
    return path


def test_without_a_pipeline_the_program_is_as_it_was(gravure: Any, text: Path) -> None:
    found = gravure("opt", text)
    assert found.status == 0
    assert canonical_hash(parse(found.out)) == canonical_hash(parse(TEXT))


def test_pipeline_runs(gravure: Any, text: Path) -> None:
    found = gravure("opt", text, "-p", "cse,dce", "--time-passes", "--stats")
    assert found.out.count("gv.exp") == 1
    assert "merged" in found.err
    assert "in all" in found.err


def test_standard_input_to_standard_output(gravure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    found = gravure("opt", "-", "-p", "cse")
    assert found.out.count("gv.exp") == 1


def test_graph_text_comes_out_and_goes_in(gravure: Any, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.gv"
    assert gravure("opt", models / "digits.onnx", "-p", "fold-batch-norm", "-o", out).status == 0
    assert out.read_text().startswith("model digits(")
    assert (tmp_path / "m.safetensors").exists()
    assert gravure("run", out, "--vs", models / "digits.onnx").status == 0
    small = gravure("opt", models / "mlp.onnx", "--format", "gv").out
    assert small.startswith("model mlp(x: f32[1, 8])")


def test_pipeline_of_a_level_up_to_a_stage(gravure: Any, models: Path) -> None:
    found = gravure("opt", models / "mlp.onnx", "-O1", "--to", "graph", "--dump-pass-pipeline")
    assert found.out.startswith(
        "inline-functions,note-requirements,split-complex,require-sizes,canonicalize"
    )
    assert "fuse" not in found.out
    planned = gravure("opt", models / "mlp.onnx", "-O2", "--disable-pass", "recognize")
    assert planned.out.startswith('builtin.module attributes {gv.level = "planned"')


def test_result_as_json_holds_text_and_passes(gravure: Any, text: Path) -> None:
    found = gravure("opt", text, "-p", "cse,dce", "--json").json
    assert [step["pass"] for step in found["passes"]] == ["cse", "dce"]
    assert found["passes"][0]["statistics"]["merged"] == 1
    assert found["text"].count("gv.exp") == 1


def test_check_runs_the_program_before_and_after(gravure: Any, text: Path) -> None:
    assert gravure("opt", text, "-p", "canonicalize,cse,dce", "--check").status == 0


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["-p", "cse", "-O2"], 2, "-p is a pipeline of its own"),
        (["--to", "plannd"], 2, "did you mean 'planned'?"),
        (["-p", "csee"], 2, "did you mean 'cse'?"),
        (["-p", "fuse{epilogus=true}"], 2, "no option 'epilogus'"),
        (["-p", "plan-memory"], 69, "works on level planned"),
        (["--run-reproducer"], 65, "expected a first line"),
        (["--shape", "x=1,2"], 65, "the shapes of IR text stand in the text itself"),
    ],
)
def test_wrong_argument_is_named(
    gravure: Any, text: Path, arguments: list[str], status: int, said: str
) -> None:
    found = gravure("opt", text, *arguments)
    assert (found.status, found.out) == (status, "")
    assert said in found.err


def test_a_reproducer_that_is_no_text_is_refused(gravure: Any, tmp_path: Path) -> None:
    path = tmp_path / "fuse.mlir"
    path.write_bytes(b"// test: cse\n\xa4\0\xff")
    found = gravure("opt", "--run-reproducer", path)
    assert found.status == 65
    assert "byte 13 is not UTF-8" in found.err


def test_all_faults_of_a_text_are_told(gravure: Any, tmp_path: Path) -> None:
    path = tmp_path / "bad.mlir"
    path.write_text(TEXT.replace("tensor<2x3xf32>) -> tensor<2x3xf32>\n", "f32) -> f32\n"))
    found = gravure("opt", path)
    assert found.status == 65
    assert "bad.mlir:3" in found.err
    assert "Traceback" not in found.err
