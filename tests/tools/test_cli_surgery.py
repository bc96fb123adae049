"""`gravure convert`, `extract`, `rename`, `reshape`, and `opt` to ONNX."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import onnx
import pytest


def test_a_model_goes_through_all_formats_and_back(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    steps = [models / "attention.onnx", *(tmp_path / f"m.{s}" for s in ("gv", "onnx"))]
    for source, output in pairwise(steps):
        found = gravure("convert", source, "-o", output, "--check", "--json")
        assert found.status == 0
        compared = found.json["compared"]["the original"]
        assert all(row["close"] for row in compared.values())
    text = tmp_path / "m.mlir"
    assert gravure("convert", steps[-1], "-o", text, "--dim", "length=1..4", "--check").status == 0
    names = [value.name for value in onnx.load(steps[-1]).graph.input]
    assert names == [value.name for value in onnx.load(steps[0]).graph.input]


@pytest.mark.parametrize("verb", ["convert", "opt"])
@pytest.mark.parametrize(("name", "what"), [("m.xyz", "suffix '.xyz'"), ("m", "no suffix")])
def test_a_suffix_that_names_no_format_is_refused(
    gravure: Any, models: Path, tmp_path: Path, verb: str, name: str, what: str
) -> None:
    output = tmp_path / name
    found = gravure(verb, models / "digits.onnx", "-o", output)
    assert found.status != 0
    assert f"{what} names no format, expected .onnx, .gv, .mlir" in found.err
    assert "--format NAME" in found.err
    assert not output.exists()
    assert gravure(verb, models / "digits.onnx", "-o", output, "--format", "gv").status == 0
    assert output.read_bytes().startswith(b"model")


def test_the_version_of_operators_is_converted(gravure: Any, models: Path, tmp_path: Path) -> None:
    output = tmp_path / "m.onnx"
    found = gravure("convert", models / "digits.onnx", "-o", output, "--opset", "18", "--check")
    assert found.status == 0
    assert [each.version for each in onnx.load(output).opset_import if not each.domain] == [18]
    refused = gravure("convert", models / "digits.onnx", "-o", output, "--opset", "99")
    assert refused.status == 65
    assert "cannot be converted to opset 99" in refused.err


def test_opt_writes_a_smaller_model_for_others(gravure: Any, models: Path, tmp_path: Path) -> None:
    output = tmp_path / "m.onnx"
    found = gravure("opt", models / "digits.onnx", "-o", output, "--check", "--json")
    assert found.status == 0
    assert found.json["notes"] == ["25 operations before, 23 after"]
    before, after = (
        [node.op_type for node in onnx.load(each).graph.node]
        for each in (models / "digits.onnx", output)
    )
    assert before.count("BatchNormalization") == 2
    assert not after.count("BatchNormalization")
    assert len(after) < len(before)
    refused = gravure("opt", models / "mlp.onnx", "--format", "onnx")
    assert refused.status == 2
    assert "no text" in refused.err


def test_a_part_is_cut_out(gravure: Any, models: Path, tmp_path: Path) -> None:
    output = tmp_path / "part.onnx"
    source = models / "digits.onnx"
    found = gravure("extract", source, "-o", output, "--from", "c1", "--to", "x1")
    assert "2 of 10 nodes" in found.out
    part = onnx.load(output).graph
    assert [value.name for value in (*part.input, *part.output)] == ["c1", "x1"]
    assert gravure("run", output).status == 0
    refused = gravure("extract", source, "-o", output, "--to", "x11")
    assert refused.status == 65
    assert "did you mean 'x1'?" in refused.err
    assert gravure("extract", source, "-o", output).status == 2


def test_values_get_other_names(gravure: Any, models: Path, tmp_path: Path) -> None:
    output, source = tmp_path / "named.onnx", models / "digits.onnx"
    found = gravure("rename", source, "image=picture", "logits=scores", "-o", output, "--check")
    assert found.status == 0
    graph = onnx.load(output).graph
    assert [value.name for value in (*graph.input, *graph.output)] == ["picture", "scores"]
    assert gravure("rename", source, "image", "-o", output).status == 2
    taken = gravure("rename", source, "image=c1", "-o", output)
    assert taken.status == 65
    assert "taken" in taken.err


def test_inputs_get_other_shapes(gravure: Any, models: Path, tmp_path: Path) -> None:
    output, source = tmp_path / "free.onnx", models / "digits.onnx"
    found = gravure("reshape", source, "image=N,1,8,8", "-o", output)
    assert "logits: f32[N,10]" in found.out
    assert gravure("run", output, "--dim", "N=3").status == 0
    refused = gravure("reshape", models / "mlp.onnx", "x=2,9", "-o", output)
    assert refused.status == 65
    assert "8" in refused.err
