"""`gravure inspect`, and the verbs that list things."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import gravure as gv


def test_model_is_counted(gravure: Any, models: Path) -> None:
    found = gravure("inspect", models / "mlp.onnx", "--json").json
    assert found["header"]["opsets"] == {"ai.onnx": 20}
    assert found["operators"] == {"Gemm": 2, "Relu": 1, "Softmax": 1}
    assert found["parameters"] == 16 * 8 + 16 + 4 * 16 + 4
    assert found["cost"]["macs"] == 16 * 8 + 4 * 16
    assert found["inputs"] == [{"name": "x", "dtype": "f32", "shape": [1, 8]}]


def test_dimensions_change_the_cost(gravure: Any, models: Path) -> None:
    path = models / "mlp_batch.onnx"
    cost = gravure("inspect", path, "--dim", "batch=10", "--json").json["cost"]
    assert cost["macs"] == 10 * (16 * 8 + 4 * 16)
    text = gravure("inspect", path, "--dim", "batch=1..64").out
    assert "batch = 1..64" in text
    assert "with batch = 64" in text


@pytest.mark.parametrize("said", ["other=3", "batch=9..2"])
def test_dimensions_that_a_model_has_not_are_no_fault_of_the_model(
    gravure: Any, models: Path, said: str
) -> None:
    name = said.partition("=")[0]
    found = gravure("inspect", models / "mlp_batch.onnx", "--dim", said)
    assert found.status == 65
    assert f"dimension '{name}'" in found.err
    assert "cannot be compiled" not in found.out


def test_shapes_and_positions_are_no_parameters(gravure: Any, models: Path) -> None:
    found = gravure("inspect", models / "attention.onnx", "--params").out
    assert "i64[4]" in found
    assert f"parameters  {4 * 64 + 1}" in found


def test_costs_by_operation(gravure: Any, models: Path) -> None:
    found = gravure("inspect", models / "conv_norm.onnx", "--ops").out
    assert f"conv {5 * 6 * 6 * 27:>17,}".replace(",", " ").split()[1] in found
    assert "batch_norm" in found


@pytest.mark.parametrize("stage", ["fused", "planned", "loops"])
def test_text_of_any_stage_can_be_looked_at(
    gravure: Any, models: Path, tmp_path: Path, stage: str
) -> None:
    path = tmp_path / "m.mlir"
    path.write_text(gravure("compile", models / "mlp.onnx", "--to", stage).out)
    found = gravure("inspect", path, "--json").json
    assert found["level"] == stage
    assert found["inputs"] == [{"name": "x", "dtype": "f32", "shape": [1, 8]}]
    assert found["outputs"] == [{"name": "y", "dtype": "f32", "shape": [1, 4]}]
    assert (found["cost"]["macs"] == 16 * 8 + 4 * 16) is (stage != "loops")


def test_library_says_what_it_is(gravure: Any, models: Path, tmp_path: Path) -> None:
    path = tmp_path / "m.so"
    gv.compile(models / "mlp.onnx").save(path)
    text = gravure("inspect", path).out
    assert "x: f32[1, 8]" in text
    assert "canonicalize" in text
    assert gravure("inspect", path, "--json").json["manifest"]["tag"] == "mlp"
    path.write_bytes(path.read_bytes()[:-1])
    assert gravure("inspect", path).status == 65


def test_names_with_control_characters_are_escaped(gravure: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.gv"
    path.write_text("model m(`a\\x1b[31m`: f32[2]) -> (y) { y = exp(`a\\x1b[31m`) }")
    found = gravure("inspect", path)
    assert found.status == 0
    assert "\x1b" not in found.out
    assert r"a\x1b[31m: f32[2]" in found.out


def test_passes_have_pages_and_pipelines(gravure: Any) -> None:
    assert "limit=4096" in gravure("passes").out
    page = gravure("passes", "cse", "dce").out
    assert "level: any" in page
    assert "results: exact" in page
    assert gravure("passes", "--pipeline=-O0").out.startswith(
        "inline-functions,note-requirements,split-complex"
    )
    assert gravure("passes", "--pipeline", "fast").status == 2
    rows = gravure("passes", "--json").json["passes"]
    assert {"name", "summary", "doc", "options", "level", "numerics"} <= {*rows[0]}
    assert "did you mean 'cse'?" in gravure("passes", "css").err


def test_targets_have_pages(gravure: Any) -> None:
    names = [row["name"] for row in gravure("targets", "--json").json["targets"]]
    assert {"native", "x86-64-v3", "aarch64", "riscv64"} <= {*names}
    page = gravure("targets", "--target", "x86-64-v3", "--mattr=-fma").out
    assert "avx2" in page
    assert "fma" not in page.partition("features")[2].partition("\n")[0]
    assert "another architecture" in gravure("targets", "riscv64-unknown-linux-gnu").out
    assert gravure("targets", "znver44").status == 2


def test_cache_is_listed_and_emptied(
    gravure: Any, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path / "cache"))
    gv.compile(models / "mlp.onnx").save(tmp_path / "m.so")
    count = gravure("cache", "--json").json["entries"]
    assert count > 2
    assert len(gravure("cache", "ls").out.splitlines()) == count
    assert gravure("cache", "trim", "1T").out == "deleted 0 files, 0 bytes\n"
    listed = gravure("cache", "ls", "--json").json["files"]
    assert any(row["what"].startswith("kernel ") for row in listed)
    assert gravure("cache", "trim", str(listed[-1]["bytes"])).out.startswith("deleted")
    assert [row["key"] for row in gravure("cache", "ls", "--json").json["files"]] == [
        listed[-1]["key"]
    ]
    count = 1
    assert gravure("cache", "clear").out == f"deleted {count} files\n"
    assert gravure("cache", "--json").json["entries"] == 0
    monkeypatch.setenv("GRAVURE_CACHE", "off")
    assert gravure("cache").out == "the cache is off\n"


def test_errors_have_pages(gravure: Any) -> None:
    assert "UnsupportedOp, exit status 65" in gravure("explain", "gv2100").out
    assert "GV4200" in gravure("explain", "PipelineError").out
    assert "did you mean 'UnsupportedOp'?" in gravure("explain", "UnsupportedOps").err
    codes = gravure("explain", "--json").json["errors"]
    assert all(row["text"] for row in codes)


def test_operations_have_pages(gravure: Any) -> None:
    assert "transpose_lhs=False" in gravure("ops", "matmul").out
    assert gravure("ops", "gv.conv", "relu").out.count("rules:") == 2
    assert "did you mean 'matmul'?" in gravure("ops", "matmull").err


def test_doctor_tries_everything(gravure: Any) -> None:
    found = gravure("doctor", "--json").json
    assert all(check["good"] for check in found["checks"]), found["checks"]
    assert {"target", "cache", "compiling", "threads", "calls"} == {
        check["name"] for check in found["checks"]
    }


def test_g7_parameters_are_counted_exactly(gravure: Any, tmp_path: Path) -> None:
    path = tmp_path / "figure1.gv"
    path.write_text(
        "model figure1(x: f32[784]) -> (relu) {\n"
        "  weight W: f32[784, 100] = random(seed=1, scale=1)\n"
        "  weight b: f32[100] = random(seed=2, scale=1)\n"
        "  relu = relu(reshape(x, shape=[1, 784]) @ W + b)\n}\n"
    )
    assert gravure("inspect", path, "--json").json["parameters"] == 78_500


class ResNet:
    """The text of ResNet-50 as Keras has it: convolutions with a bias, normalised by statistics."""

    def __init__(self) -> None:
        self.weights: list[str] = []
        self.lines: list[str] = []

    def value(self, text: str) -> str:
        self.lines.append(f"v{len(self.lines)} = {text}")
        return self.lines[-1].partition(" ")[0]

    def weight(self, *shape: int) -> str:
        name = f"w{len(self.weights)}"
        self.weights.append(f"weight {name}: f32[{', '.join(map(str, shape))}] = random(seed=1)")
        return name

    def conv(self, x: str, inputs: int, outputs: int, window: int = 1, stride: int = 1) -> str:
        weight, pad = self.weight(outputs, inputs, window, window), window // 2
        y = self.value(
            f"conv({x}, {weight}, strides=[{stride}, {stride}], pads=[[{pad}, {pad}],"
            f" [{pad}, {pad}]], dilations=[1, 1])"
        )
        y = self.value(f"{y} + reshape({self.weight(outputs)}, shape=[1, {outputs}, 1, 1])")
        vectors = ", ".join(self.weight(outputs) for _ in range(4))
        return self.value(f"batch_norm({y}, {vectors}, axis=1, epsilon=1e-5)")

    def block(self, x: str, inputs: int, width: int, stride: int) -> str:
        y = self.value(f"relu({self.conv(x, inputs, width, 1, stride)})")
        y = self.value(f"relu({self.conv(y, width, width, 3)})")
        y = self.conv(y, width, 4 * width)
        if inputs != 4 * width:
            x = self.conv(x, inputs, 4 * width, 1, stride)
        return self.value(f"relu({x} + {y})")

    def text(self) -> str:
        x, inputs = self.conv("image", 3, 64, 7, 2), 64
        for stage, count in enumerate((3, 4, 6, 3)):
            for place in range(count):
                x = self.block(x, inputs, 64 << stage, 1 if place else 2)
                inputs = 256 << stage
        scores = f"mean({x}, axes=[2, 3]) @ {self.weight(2048, 1000)} + {self.weight(1000)}"
        body = "\n  ".join([*self.weights, *self.lines, f"scores = {scores}"])
        return f"model resnet(image: f32[1, 3, 224, 224]) -> (scores) {{\n  {body}\n}}\n"


def test_g7_parameters_of_a_resnet(gravure: Any, tmp_path: Path) -> None:
    path = tmp_path / "resnet.gv"
    path.write_text(ResNet().text())
    assert "25636712" in gravure("inspect", path, "--params").out.splitlines()[-1]


def test_what_compile_refuses_is_found_by_check(gravure: Any, tmp_path: Path) -> None:
    path = tmp_path / "m.gv"
    path.write_text("model m(x: f32[N]) -> (y) { y = relu(x) }")
    assert gravure("inspect", path).status == 0
    found = gravure("inspect", path, "--check")
    assert (found.status, "N has no upper bound" in found.out) == (1, True)
    assert gravure("compile", path, "-o", tmp_path / "m.so").status != 0
    fine = gravure("inspect", path, "--check", "--dim", "N=1..8")
    assert (fine.status, "cannot be compiled" in fine.out) == (0, False)
    python = tmp_path / "m.py"
    python.write_text("import gravure as gv\n\ndef f(x):\n    return x\n\ngv.no_such_name\n")
    found = gravure("inspect", f"{python}:f")
    assert (found.status, "m.py:6: AttributeError: module 'gravure'" in found.err) == (65, True)
    python.write_text("def f(:\n")
    assert "m.py:1: SyntaxError" in gravure("inspect", f"{python}:f").err
