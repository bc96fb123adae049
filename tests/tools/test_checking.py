"""`gravure check` finds passes that are wrong, and `gravure bisect` makes what it finds small."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.frontend.programs.load import load_program
from gravure.ir import Program
from gravure.ir.program import functions
from gravure.ir.verify import InvalidModuleError
from gravure.passes import constant_fold
from gravure.passes.base import PipelineError, meaning_of, ulps_of
from gravure.passes.check import difference
from gravure.passes.pipelines import LEVELS
from gravure.passes.schedule_memory import ScheduleMemory
from gravure.plugins import load_file, unload
from gravure.tools.checking.widen import is_single, widen

WRONG = Path(__file__).parent / "wrong_passes.py"
TESTS = Path(__file__).parents[1]
MODEL = """model w(x: f32[N, 6], m: bool[N, 6], N in 1..64) -> (y, s, z) {
  a = relu(x * 2.0)
  b = exp(a - 1.0)
  c = tanh(b)
  z = x + 0.0
  d = select(m, x, 0.0)
  e = d / 3.0
  y = c * e
  s = atan(sum(x, axes=[0]))
}
"""
LINES = {line.split(" = ")[0].strip(): number for number, line in enumerate(MODEL.splitlines(), 1)}


@pytest.fixture(autouse=True)
def wrong() -> Iterator[None]:
    plugin = load_file(WRONG)
    yield
    unload(plugin)


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "w.gv"
    path.write_text(MODEL)
    return path


ADVERSARIES = {
    "drops-nan": ("a", "nan", {"", "f64"}),
    "swaps-zero": ("z", "edge", {"", "f64"}),
    "loses-the-rest": ("s", "random, odd sizes", {"", "f64"}),
    "rounds-singles": ("b", "random", {""}),
    "rounds-doubles": ("c", "random", {"f64"}),
    "multiplies-masks": ("d", "random", {"", "f64"}),
    "no-ulp": ("e", "random", {"", "f64"}),
    "crashes": ("", "no", {"", "f64"}),
}
"""Pass -> the name of what it rewrites, on which arguments that shows, and in which types."""


@pytest.mark.parametrize("name", ADVERSARIES)
def test_a_wrong_pass_is_named_with_operation_and_line(
    gravure: Any, model: Path, name: str
) -> None:
    of, arguments, widths = ADVERSARIES[name]
    passes = f"canonicalize,cse,{name},dce"
    found = gravure("check", model, "--passes", passes, "--plugin", WRONG, "--json")
    assert found.status == 1
    rows = found.json["findings"]
    assert {row["width"] or "" for row in rows} == widths
    assert {row["name"] for row in rows} == {name}
    assert rows[0]["arguments"] == arguments
    assert rows[0]["number"] == 3
    assert rows[0]["source"] == (f"w.gv:{LINES[of]}" if of else "w.gv")


@pytest.mark.parametrize("name", ADVERSARIES)
def test_what_is_found_becomes_one_operation_in_a_file(
    gravure: Any, model: Path, tmp_path: Path, name: str
) -> None:
    small = tmp_path / "small.mlir"
    passes = f"canonicalize,cse,{name},dce"
    found = gravure("bisect", model, "--passes", passes, "--plugin", WRONG, "-o", small, "--json")
    assert found.status == 1
    assert found.json["operations"] == 1
    assert small.read_text().startswith(f"// test: {name}\n// plugin: ")
    again = gravure("check", small, "--plugin", WRONG, "--json")
    assert again.status == 1
    assert {row["name"] for row in again.json["findings"]} == {name}


def test_the_file_is_a_text_test_that_fails(model: Path, tmp_path: Path) -> None:
    small = tmp_path / "drops.mlir"
    gv.bisect(model, passes="drops-nan,dce").save(small)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "conftest", "-p", "no:cacheprovider"]
    done = subprocess.run(
        [*command, "--rootdir", str(tmp_path), "-c", os.devnull, str(small)],
        env={**os.environ, "PYTHONPATH": f"{TESTS}:{TESTS.parent}"},
        cwd=TESTS.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1, done.stdout + done.stderr
    assert "pass drops-nan changed result" in done.stdout
    assert "(0.0 instead of nan)" in done.stdout


def test_a_pass_behind_others_that_lower_is_found_at_its_level(
    model: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply = ScheduleMemory.apply

    def swapped(self: ScheduleMemory, program: Program) -> None:
        apply(self, program)
        for function in functions(program.module):
            for op in function.walk():
                if op.name == "gv.sub":
                    op.operands = [op.operands[1], op.operands[0]]
                    self.count("swapped")

    monkeypatch.setattr(ScheduleMemory, "apply", swapped)
    text = b"model m(x: f32[5], y: f32[5]) -> (z) { z = exp(tanh(x - y) * 3.0) }"
    found = gv.bisect(text, level="O1")
    assert found.finding is not None
    assert found.finding.name == "schedule-memory"
    assert found.left == 1
    small = tmp_path / "small.mlir"
    found.save(small)
    assert small.read_text().startswith("// test: schedule-memory\n")
    assert 'gv.level = "fused"' in small.read_text()
    again = gv.check(small)
    assert [each.finding.name for each in again.findings] == ["schedule-memory"]


def test_a_finding_on_given_inputs_only_keeps_them(gravure: Any, tmp_path: Path) -> None:
    model = tmp_path / "m.gv"
    model.write_text("model m(x: f32[3]) -> (y) { y = exp(tanh(x) * 2.0) }\n")
    x = tmp_path / "x.npy"
    np.save(x, np.full(3, 77, np.float32))
    small = tmp_path / "small.mlir"
    passes = ("--passes", "wrong-at-one", "--plugin", WRONG)
    assert gravure("check", model, *passes).status == 0
    found = gravure("bisect", model, *passes, "-i", f"x=@{x}", "-o", small, "--json")
    assert found.status == 1
    assert found.json["finding"]["arguments"] == "given"
    assert found.json["operations"] == 1
    inputs = small.with_suffix(".npz")
    assert next(iter(np.load(inputs).values())).tolist() == [1.0, 1.0, 1.0]
    again = gravure("check", small, "--plugin", WRONG)
    assert again.status == 0
    assert gravure("check", small, "--plugin", WRONG, "-i", f"@{inputs}").status == 1


def test_clean_is_0_and_usage_is_2(gravure: Any, model: Path) -> None:
    assert gravure("check", model).status == 0
    assert gravure("bisect", model, "-o", model.with_suffix(".mlir")).status == 0
    assert not model.with_suffix(".mlir").exists()
    assert gravure("check", model, "--passes", "no-such-pass").status == 2
    assert gravure("check", model, "-i", "x=2x3xf9").status == 2
    assert gravure("check", model, "--no-such-option").status == 2
    assert gravure("check", model.with_name("absent.gv")).status == 66


def test_dimensions_without_bounds_are_bounded() -> None:
    found = gv.check(b"model m(x: f32[N, 3]) -> (y) { y = softmax(x, axis=0) }")
    assert found
    assert found.runs == 2 * 3 * 6


def test_a_wrong_fold_in_a_whole_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    """One of the level's own passes is wrong: it is named, and no other."""
    evaluate = constant_fold.Folder.evaluate

    def wrongly(self: Any, op: Any, arrays: Any) -> Any:
        made = evaluate(self, op, arrays)
        return made if made is None or op.name != "gv.mul" else [x + 1 for x in made]

    monkeypatch.setattr(constant_fold.Folder, "evaluate", wrongly)
    text = b"""model m(x: f32[3, 4]) -> (y) {
      const a: f32[4] = [2.0, 3.0, 4.0, 5.0]
      const b: f32[4] = [3.0, 1.0, 2.0, 7.0]
      y = relu(x) * (a * b) + x
    }"""
    found = gv.check(text)
    assert {each.finding.name for each in found.findings} == {"constant-fold"}
    assert len(LEVELS["O2"]) > 20
    assert gv.bisect(text).left <= 5


def test_widen_makes_f64_of_all_f32() -> None:
    program = load_program(b"""model m(x: f32[2, 3], i: i32[2]) -> (y) {
      weight w: f32[3, 2] = random(seed=1)
      y = cast(cast(x, dtype=f16), dtype=f32) @ w + cast(i, dtype=f32) + 0.1
    }""")
    wide = widen(program)
    assert is_single(program)
    assert not is_single(wide)
    assert {str(array.dtype) for array in wide.weights.values()} == {"float64"}
    assert "f32" not in str(wide.module)
    assert "f16" in str(wide.module)
    assert is_single(program), "the program itself stays"


def test_what_takes_f32_only_is_checked_as_it_is_written() -> None:
    text = b"model m(x: f32[4]) -> (y) { y = bitcast(x, dtype=i32) + 1 }"
    with pytest.raises(InvalidModuleError):
        widen(load_program(text))
    assert gv.check(text).widths == ("",)


@pytest.mark.parametrize(
    ("contract", "found", "wrong"),
    [
        ("exact", 1.0, False),
        ("exact", np.nextafter(np.float32(1), np.float32(2)), True),
        ("ulp:1", np.nextafter(np.float32(1), np.float32(2)), False),
        ("ulp:1", 1 + 3 * 2**-23, True),
        ("ulp:3", 1 + 3 * 2**-23, False),
        ("ulp:3", np.nan, True),
        ("reassociating", 1 + 1e-6, False),
        ("reassociating", 1.01, True),
        ("narrowing", 1.01, False),
    ],
)
def test_contracts(contract: str, found: float, wrong: bool) -> None:
    said = difference(np.float32([1.0]), np.float32([found]), contract)
    assert bool(said) == wrong
    assert meaning_of(contract)


@pytest.mark.parametrize("contract", ["exact", "ulp:4"])
def test_signs_of_zeros_count_and_those_of_nan_do_not(contract: str) -> None:
    assert difference(np.float32([0.0]), np.float32([-0.0]), contract)
    assert difference(np.complex64([1 + 0j]), np.complex64([complex(1, -0.0)]), contract)
    assert not difference(np.float32([np.nan]), np.float32([-np.nan]), contract)


@pytest.mark.parametrize("contract", ["ulp:0", "ulp:", "ulp:x", "ulp:N", "sloppy", "exactly"])
def test_contracts_that_there_are_not(contract: str) -> None:
    with pytest.raises(PipelineError, match="are unknown, expected one of"):
        ulps_of(contract)
