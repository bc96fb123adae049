"""The pass manager: pipelines as text, what observers see, what a failing pass leaves."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from xdsl.dialects.builtin import StringAttr

from gravure import knobs
from gravure.errors import CompileError, GraphError, OutputError
from gravure.ir import GraphEmit, Program, parse, print_module
from gravure.ir.ops.elementwise import Add, Sub
from gravure.passes import (
    Pass,
    PipelineError,
    available,
    load,
    parse_pipeline,
    print_pipeline,
    run,
)
from gravure.passes.check import Check
from gravure.passes.instruments import DumpDirectory, PrintIR, PrintTimes
from gravure.passes.reproduce import Snapshot, read_reproducer

TEXT = """
func.func @main(%x: tensor<2xf32> {gv.name = "x"}) -> (tensor<2xf32> {gv.name = "y"}) {
  %0 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %1 = gv.exp %x : (tensor<2xf32>) -> tensor<2xf32>
  %2 = gv.sub %0, %1 : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  func.return %2 : tensor<2xf32>
}
func.func @other(%x: tensor<2xf32>) -> tensor<2xf32> {
  func.return %x : tensor<2xf32>
}
"""


@dataclass(frozen=True)
class Options(Pass):
    """Has an option of each kind."""

    limit: int = 8
    share: float = 0.5
    loud_voice: bool = False
    kind: str = "row"
    keep: tuple[str, ...] = ()

    def apply(self, program: Program) -> None:
        """Do nothing."""


@dataclass(frozen=True)
class Break(Pass):
    """Calls what it was given."""

    how: Callable[[Program], None] = lambda program: None

    def apply(self, program: Program) -> None:
        """Break it."""
        self.how(program)


def program() -> Program:
    return Program(parse(TEXT), source="test.onnx")


def test_available_gives_the_first_line_of_each_file_and_no_other_files() -> None:
    found = available()
    assert found["cse"] == "Merge equal operations on equal operands."
    assert not {"manager", "base", "check", "pipelines", "reproduce", "instruments"} & found.keys()


def test_every_pass_is_named_after_its_file_and_says_its_contract() -> None:
    for name in available():
        found = load(name)
        assert found.name == name
        assert found().numerics in ("exact", "reassociating", "approximate")


@pytest.mark.parametrize("text", ["", "cse", "cse,dce", "cse,constant-fold{limit=8},cse"])
def test_pipelines_round_trip(text: str) -> None:
    assert print_pipeline(parse_pipeline(text)) == text


def test_blanks_and_defaults_are_not_printed() -> None:
    assert print_pipeline(parse_pipeline(" cse , constant-fold{ limit=4096 }")) == (
        "cse,constant-fold"
    )


def test_options_of_every_kind_round_trip() -> None:
    texts = {"limit": "9", "share": "0.25", "loud-voice": "true", "kind": '"a b"', "keep": "x,y"}
    made = Options.from_options(texts)
    assert made == Options(9, 0.25, True, "a b", ("x", "y"))
    assert str(made) == ('test-manager{limit=9 share=0.25 loud-voice=true kind="a b" keep=x,y}')


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("csee", "pass 'csee' is unknown\n  help: did you mean 'cse'?"),
        ("manager", "pass 'manager' is unknown"),
        ("base", "pass 'base' is unknown"),
        ("../cse", "cannot be read at '../cse'"),
        ("cse{x=1}", "pass cse has no option 'x', expected none"),
        ("constant-fold{limt=1}", "has no option 'limt', expected limit"),
        ("constant-fold{limit=a}", "option limit of constant-fold is 'a', expected a value of"),
        ("cse,,dce", "cannot be read at ',dce'"),
        ("cse{", "cannot be read at 'cse{'"),
        ("constant-fold{=}", "options of constant-fold cannot be read at '='"),
    ],
)
def test_bad_pipelines_are_errors_that_say_what_is_wrong(text: str, message: str) -> None:
    with pytest.raises(PipelineError) as raised:
        parse_pipeline(text)
    assert message in str(raised.value)


def test_report_has_sizes_and_statistics_and_its_times_sum_up() -> None:
    report = run("cse,dce", program(), observers=[])
    record = json.loads(json.dumps(report.as_json()))
    assert [p["pass"] for p in record["passes"]] == ["cse", "dce"]
    assert record["passes"][0]["ops_before"] - record["passes"][0]["ops_after"] == 1
    assert record["passes"][0]["statistics"] == {"merged": 1}
    parts = sum(p["seconds"] + p["verify_seconds"] for p in record["passes"])
    assert parts + record["other_seconds"] == pytest.approx(record["seconds"], rel=0.05)
    assert "cse  (1 merged)" in report.as_table()


def test_disabled_passes_are_left_out_and_must_exist() -> None:
    assert [s.name for s in run("cse,dce", program(), disable=("cse",), observers=[]).steps] == [
        "dce"
    ]
    with pytest.raises(PipelineError, match="'cze' is unknown"):
        run("cse", program(), disable=("cze",), observers=[])


def test_printing_says_unchanged() -> None:
    said: list[str] = []
    printer = PrintIR(frozenset({"cse"}), frozenset({"*"}), only_changed=True, write=said.append)
    run("cse,dce", program(), observers=[printer])
    heads = [text.split("\n")[0] for text in said]
    assert heads == ["// ----- before cse", "// ----- after cse", "// ----- after dce (unchanged)"]


def test_printing_of_one_function() -> None:
    said: list[str] = []
    run(
        "cse",
        program(),
        observers=[PrintIR(passes_after=frozenset({"cse"}), function="other", write=said.append)],
    )
    assert "@other" in said[0]
    assert "@main" not in said[0]


def test_dump_numbers_its_files_over_several_pipelines(tmp_path: Path) -> None:
    dump = DumpDirectory(tmp_path)
    whole = program()
    run("cse,dce", whole, observers=[dump])
    run("cse", whole, observers=[dump])
    names = sorted(path.name for path in tmp_path.iterdir())
    assert names == ["00-input.mlir", "01-cse.mlir", "02-dce.mlir", "03-cse.mlir"]
    parse((tmp_path / "03-cse.mlir").read_text())


def test_dump_of_changes_only_keeps_the_numbers(tmp_path: Path) -> None:
    run("dce,cse,dce", program(), observers=[DumpDirectory(tmp_path, only_changed=True)])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["00-input.mlir", "02-cse.mlir"]


def test_a_dump_that_cannot_be_written_is_an_error_of_that_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match=r"file/here/00-input\.mlir: cannot write: not a dir"):
        run("cse", program(), observers=[DumpDirectory(tmp_path / "file" / "here")])


def test_environment_asks_for_observers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(knobs.DUMP.name, str(tmp_path))
    monkeypatch.setenv(knobs.CHECK.name, "1")
    run("cse", program())
    assert (tmp_path / "01-cse.mlir").exists()


def test_times_are_printed_on_request() -> None:
    said: list[str] = []
    run("cse", program(), observers=[PrintTimes(said.append)])
    assert "in all" in said[0]


def test_snapshot_restores_the_program_with_its_names_and_attributes() -> None:
    before = program()
    before.module.attributes["gv.level"] = StringAttr("graph")
    text = print_module(before.module)
    snapshot = Snapshot.of(before)
    run("cse", before, observers=[])
    assert print_module(before.module) != text
    assert print_module(snapshot.restore().module) == text


def crash(whole: Program) -> None:
    first = whole.main.body.block.first_op
    assert first is not None
    whole.main.body.block.add_op(first.clone())  # leaves a ruin behind
    raise IndexError("out of reach")


def leave_wrong_ir(whole: Program) -> None:
    block = whole.main.body.block
    last = block.last_op
    assert last is not None
    last.detach()  # type: ignore[no-untyped-call]
    block.insert_op_before(last, block.first_op)  # type: ignore[arg-type]


def refuse(whole: Program) -> None:
    raise GraphError("no")


@pytest.mark.parametrize(
    ("how", "reason"),
    [(crash, "IndexError: out of reach"), (leave_wrong_ir, "it left IR that does not verify")],
)
def test_failing_pass_leaves_a_file_with_the_module_before_it(
    how: Callable[[Program], None], reason: str, tmp_path: Path
) -> None:
    path = tmp_path / "repro.mlir"
    cse, dce = parse_pipeline("cse,dce")
    whole, expected = program(), program()
    run("cse", expected, observers=[])
    with pytest.raises(CompileError) as raised:
        run([cse, Break(how), dce], whole, observers=[], reproducer=path)
    assert "pass test-manager failed" in str(raised.value)
    assert reason in str(raised.value)
    assert str(path) in raised.value.hint
    pipeline, before = read_reproducer(path)
    assert pipeline.endswith(",dce")
    assert print_module(before.module) == print_module(expected.module)
    assert path.read_text().startswith("// test: ")


def test_users_errors_pass_through() -> None:
    with pytest.raises(GraphError, match="no"):
        run([Break(refuse)], program(), observers=[])


def swap(whole: Program) -> None:
    for op in list(whole.main.body.block.ops):
        if isinstance(op, Sub):
            op.results[0].replace_all_uses_with(GraphEmit.before(op)(Add, *op.operands))


def test_check_names_the_pass_that_changes_results() -> None:
    with pytest.raises(CompileError) as raised:
        run([*parse_pipeline("cse"), Break(swap)], program(), observers=[Check()])
    assert "pass test-manager{" in str(raised.value)
    assert "changed result 'y' of @main on random arguments" in str(raised.value)
    assert "made by gv.add" in str(raised.value)


def test_check_takes_the_users_arguments() -> None:
    check = Check({"main": [np.array([0.0, 1.0], np.float32)]})
    run("cse", program(), observers=[check])
    assert [key for key in check.last if key[0] == "main"] == [("main", "given")]


def test_a_pass_refuses_a_program_of_another_level() -> None:
    @dataclass(frozen=True)
    class Low(Pass):
        """Works on the planned level."""

        LEVEL = "planned"

    with pytest.raises(CompileError, match="works on level planned, the program is on level graph"):
        run([Low()], program(), observers=[])


def test_passes_that_would_find_nothing_more_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    ran: list[str] = []
    for each in map(load, ("cse", "dce", "canonicalize")):
        apply = each.apply

        def noted(self: Pass, whole: Program, apply: Any = apply) -> None:
            ran.append(self.name)
            apply(self, whole)

        monkeypatch.setattr(each, "apply", noted)
    whole = program()
    run("cse,dce,cse,dce,canonicalize,cse", whole, observers=[])
    again = program()
    for name in ("cse", "dce", "cse", "dce", "canonicalize", "cse"):
        load(name)().apply(again)
    assert print_module(whole.module) == print_module(again.module)
    assert ran[:3] == ["cse", "dce", "canonicalize"]
