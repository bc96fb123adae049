"""What a library's bytes are, and which operations a model has."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gravure as gv

SMALL = Path(__file__).parents[1] / "models" / "small"


@pytest.mark.parametrize("name", ["digits.onnx", "small/transformer.gv", "small/gru.gv"])
def test_rows_sum_to_the_file(models: Path, tmp_path: Path, name: str) -> None:
    found = gv.size(models / name)
    made = gv.emit(models / name, tmp_path / "m.so")
    assert found.whole == made.paths["library"].stat().st_size
    assert sum(row.whole for row in found.rows) == found.whole
    assert all(row.code >= 0 and row.weights >= 0 for row in found.rows)
    launched = [
        row for row in found.rows if row.kind not in ("entry", "other", "prepare", "shared")
    ]
    weights = made.as_json()["manifest"]["weights_bytes"]
    assert sum(row.weights for row in launched) <= weights
    assert sum(row.weights for row in launched) > 0.9 * weights


def test_weights_are_with_the_operation_that_reads_them(gravure: Any, models: Path) -> None:
    rows = gravure("size", models / "digits.onnx", "--json").json["rows"]
    found = {row["what"]: row["weights"] for row in rows}
    assert found["BatchNormalization_n1, Relu_x1"] == 4 * (16 * 9 + 16)
    assert found["BatchNormalization_n2, Relu_x2"] == 4 * (32 * 16 * 9 + 32)
    text = gravure("size", models / "digits.onnx").out
    assert text.splitlines()[-1].split()[1] == "100.0%"


def test_a_library_has_its_sections(gravure: Any, models: Path, tmp_path: Path) -> None:
    out = tmp_path / "m.so"
    assert gravure("compile", models / "digits.onnx", "-o", out).status == 0
    data = gravure("size", out, "--json").json
    assert data["bytes"] == out.stat().st_size == sum(row["bytes"] for row in data["rows"])
    assert {row["kind"] for row in data["rows"]} >= {".text", "weights", "other"}


def test_layers_are_listed_in_order(gravure: Any, models: Path) -> None:
    found = gravure("inspect", models / "digits.onnx", "--layers")
    lines = found.out.splitlines()
    first = next(n for n, line in enumerate(lines) if line.startswith("layer"))
    words = [line.split()[1] for line in lines[first + 1 :]]
    assert words == [
        *("mul", "conv", "batch_norm", "relu", "conv", "batch_norm", "relu"),
        *("max_pool", "reshape", "matmul", "add"),
    ]
    layers = gravure("inspect", models / "digits.onnx", "--layers", "--json").json["layers"]
    assert layers[1] == {
        "operation": "conv",
        "nodes": ["Conv_c1"],
        "reads": ["f32[1,1,8,8]", "f32[16,1,3,3]"],
        "gives": ["f32[1,16,8,8]"],
    }
    assert "layers" not in gravure("inspect", models / "digits.onnx", "--json").json


def test_layers_of_ir_on_every_level(gravure: Any, models: Path, tmp_path: Path) -> None:
    for stage in ("graph", "fused", "planned"):
        out = tmp_path / f"m.{stage}.mlir"
        assert gravure("compile", models / "digits.onnx", "--to", stage, "-o", out).status == 0
        assert gravure("inspect", out, "--layers").status == 0


def test_x5_a_library_has_no_more_bytes_than_it_may(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    out = tmp_path / "digits.so"
    found = gravure("compile", models / "digits.onnx", "-o", out, "--max-size", "40K")
    assert found.status == 69
    assert "bytes, 52224 of them weights, expected at most 40960" in found.err
    assert "gravure size says what they are; --weights file or --dtype helps" in found.err
    assert not out.exists()
    options = ("-o", out, "--max-size", "40K", "--weights", "file")
    assert gravure("compile", models / "digits.onnx", *options).status == 0
    assert out.stat().st_size <= 40 << 10


def test_x10_memory_is_spared_with_numerics_and_libraries_that_are_asked_for(
    gravure: Any, models: Path, tmp_path: Path
) -> None:
    for more in (("--numerics", "exact"), ("--use-lib", "cblas")):
        out = tmp_path / f"{more[1]}.so"
        options = ("-o", out, "--max-memory", "1K", *more)
        found = gravure("compile", models / "digits.onnx", *options)
        assert found.status == 69
        assert "bytes of memory at least, expected at most 1024" in found.err
