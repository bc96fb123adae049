"""`gravure reduce` and `gravure diff`."""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.codegen import kernels
from gravure.frontend.programs.load import load_program
from gravure.frontend.programs.reduce import signature


def chain(length: int) -> str:
    """Return a model of many operations, of which one in the middle is an atan."""
    lines = ["v0 = exp(x)"]
    for number in range(1, length):
        what = {0: "v{} + x", 1: "tanh(v{})", 2: "v{} * w"}[number % 3]
        lines.append(f"v{number} = {'atan(v{})' if number == length // 2 else what}")
        lines[-1] = lines[-1].format(number - 1)
    body = "\n".join(lines)
    return (
        f"model m(x: f32[4, 8]) -> (y) {{\nweight w: f32[8] = random(seed=1)\n{body}\n"
        f"y = v{length - 1}\n}}"
    )


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "m.gv"
    path.write_text(chain(200).replace(f"y = v{199}\n", "").replace("-> (y)", "-> (y = v199)"))
    return path


@pytest.fixture
def broken_atan(monkeypatch: pytest.MonkeyPatch) -> None:
    lower = kernels.lower

    def fail(kernel: Any, target: Any) -> Any:
        if any(op.name == "gv.atan" for op in kernel.walk()):
            raise ValueError("no atan today")
        return lower(kernel, target)

    monkeypatch.setattr(kernels, "lower", fail)


@pytest.mark.usefixtures("broken_atan")
def test_two_hundred_operations_become_one(gravure: Any, model: Path, tmp_path: Path) -> None:
    small = tmp_path / "small.mlir"
    found = gravure("reduce", model, "-o", small, "-O1", "--json").json
    assert found["failure"] == "ValueError: no atan today"
    assert found["operations"] == 1
    ops = [op.name for op in load_program(small).main.body.block.ops]
    assert ops == ["gv.atan", "func.return"]
    assert gravure("compile", small, "-o", tmp_path / "m.so", "--no-cache").status == 70


def test_crash_is_reduced_too(
    gravure: Any, model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower = kernels.lower

    def crash(kernel: Any, target: Any) -> Any:
        if any(op.name == "gv.atan" for op in kernel.walk()):
            os.kill(os.getpid(), signal.SIGKILL)
        return lower(kernel, target)

    monkeypatch.setattr(kernels, "lower", crash)
    found = gravure("reduce", model, "-o", tmp_path / "small.mlir", "-O1", "--only-compile")
    assert found.status == 0
    assert "ended by SIGKILL" in found.out
    assert "1 of 2" in found.out


def test_weights_that_matter_are_kept(gravure: Any, model: Path, tmp_path: Path) -> None:
    script = tmp_path / "test.py"
    script.write_text("import sys; sys.exit('gv.weight' in open(sys.argv[1]).read())")
    small = tmp_path / "small.mlir"
    found = gravure("reduce", model, "-o", small, "--test", f"{sys.executable} {script} {{}}")
    assert found.status == 0
    program = load_program(small)
    np.testing.assert_array_equal(program.weights["w"], load_program(model).weights["w"])
    assert [op.name for op in program.main.body.block.ops][:2] == ["gv.weight", "gv.mul"]


def test_model_that_works_is_a_no(gravure: Any, models: Path, tmp_path: Path) -> None:
    found = gravure("reduce", models / "mlp.onnx", "-o", tmp_path / "s.mlir")
    assert (found.status, found.out) == (1, "the model does not fail\n")
    assert not (tmp_path / "s.mlir").exists()


def test_failures_are_told_apart_by_kind() -> None:
    first = signature(ValueError("axis 3 of 'x' is missing: expected 4"))
    assert first == signature(ValueError("axis 5 of 'some' is missing: expected 6"))
    assert first != signature(TypeError("axis 3 of 'x' is missing: expected 4"))


def test_same_programs_do_not_differ(gravure: Any, models: Path, tmp_path: Path) -> None:
    same = gravure("diff", models / "mlp.onnx", models / "mlp.onnx")
    assert (same.status, same.out) == (0, "no difference\n")
    gravure("opt", models / "mlp.onnx", "-o", tmp_path / "m.mlir")
    assert gravure("diff", models / "mlp.onnx", tmp_path / "m.mlir").status == 0


def test_programs_that_differ_are_shown(gravure: Any, models: Path) -> None:
    found = gravure("diff", models / "mlp.onnx", models / "mlp_batch.onnx", "--text")
    assert found.status == 1
    assert "function @main" in found.out
    assert "+func.func @main" in found.out
    rows = gravure("diff", models / "mlp.onnx", models / "attention.onnx", "--json").json
    assert any(row["what"] == "gv.transpose" for row in rows["differences"])
    assert any(row["what"] == "weight 'w1'" for row in rows["differences"])


def test_libraries_differ_by_what_they_say(gravure: Any, models: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "a.so", tmp_path / "b.so"
    gv.compile(models / "mlp.onnx").save(one)
    gv.compile(models / "mlp.onnx", level="O0").save(two)
    found = gravure("diff", one, two)
    assert found.status == 1
    assert "pipeline" in found.out
    assert gravure("diff", one, one).status == 0
    assert gravure("diff", one, models / "mlp.onnx").status == 2


def test_records_differ_field_by_field(gravure: Any, tmp_path: Path) -> None:
    one, two = tmp_path / "a.json", tmp_path / "b.json"
    one.write_text(json.dumps({"a": {"b": 1}, "c": 2}))
    two.write_text(json.dumps({"a": {"b": 3}, "c": 2}))
    rows = gravure("diff", one, two, "--json").json["differences"]
    assert rows == [{"what": "a.b", "first": "1", "second": "3"}]
    two.write_text("{")
    assert gravure("diff", one, two).status == 65
