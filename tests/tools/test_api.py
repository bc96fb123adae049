"""What the command does is there as functions of Python, and it is the same code (row P24)."""

import doctest
import inspect
import json
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, fields
from pathlib import Path
from typing import Any, get_type_hints

import numpy as np
import pytest

import gravure as gv
from gravure.codegen.compiled import OptionFields
from gravure.errors import InputError, OutputError, unbounded
from gravure.frontend.programs.compile import OWN
from gravure.frontend.programs.load import OptionError
from gravure.tools.cli import main

MODELS = Path(__file__).parents[1] / "models"
VERBS: dict[str, tuple[str, list[str]]] = {
    "bench": ("bench.bench", []),
    "bisect": ("checking.bisect.bisect", []),
    "check": ("checking.check.check", []),
    "bench --peers": ("peers.bench_peers", ["--peers", "onnxruntime"]),
    "compile": ("emit.emit", []),
    "compile --list-stages": ("emit.list_stages", ["--list-stages"]),
    "convert": ("surgery.convert", ["-o", "out.onnx"]),
    "diff": ("diff.diff_models", ["other.gv"]),
    "doctor": ("doctor.doctor", []),
    "explain": ("explain.explain", ["GV2100"]),
    "explain placement": ("explain.explain_placement", ["placement", "m.pb"]),
    "explain shapes": ("explain.explain_shapes", ["shapes", "m.gv"]),
    "extract": ("surgery.extract", ["-o", "out.onnx", "--to", "y"]),
    "inspect": ("inspect.inspect", []),
    "ops": ("lists.list_operations", ["exp"]),
    "lint": ("checking.lint.lint", []),
    "opt": ("optimize.optimize", []),
    "passes": ("lists.list_passes", ["fuse"]),
    "passes --pipeline": ("lists.list_pipeline", ["--pipeline", "O2"]),
    "targets": ("lists.list_targets", ["native"]),
    "reduce": ("reduce.reduce", []),
    "rename": ("surgery.rename_values", ["-o", "out.onnx", "x=z"]),
    "run": ("run.run", []),
    "run --check-numerics": ("run.check_numerics", ["--check-numerics"]),
    "run --onnx-test": ("run.run_onnx_tests", ["--onnx-test"]),
    "reshape": ("surgery.reshape_model", ["-o", "out.onnx", "x=2,3"]),
}
"""Verb -> the function below `tools/verbs`, or `tools`, that it calls, and with what."""
WITHOUT_MODEL = {
    "compile --list-stages", "doctor", "explain", "explain placement", "explain shapes", "ops",
    "passes",
    "passes --pipeline", "targets",
}  # fmt: skip
FUNCTIONS = ["compile", "function", *(where.rpartition(".")[2] for where, _ in VERBS.values())]
OPEN = b"model m(x: f32[N, 3]) -> (y) { y = relu(x) }"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_help_lists_every_parameter(name: str) -> None:
    parameters = [*inspect.signature(getattr(gv, name)).parameters]
    if name == "compile":
        assert parameters[-1] == "more"
        parameters[-1:] = [field.name for field in fields(gv.Options) if field.name != "slots"]
        assert set(OWN) <= set(parameters)
    elif "more" in parameters:
        parameters.remove("more")
    listed = inspect.getdoc(getattr(gv, name)) or ""
    assert [each for each in parameters if f"`{each}`" not in listed] == []


@pytest.mark.parametrize("name", [*FUNCTIONS, "Options"])
def test_examples_of_help_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    [test] = doctest.DocTestFinder(recurse=False).find(
        getattr(gv, name), name, globs={"Options": gv.Options}
    )
    assert test.examples
    assert doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(test).failed == 0


def test_options_are_public_and_frozen() -> None:
    assert {*get_type_hints(OptionFields)} == {field.name for field in fields(gv.Options)}
    with pytest.raises(FrozenInstanceError):
        gv.Options().level = "O3"  # type: ignore[misc]


def test_errors_speak_python_in_python_and_shell_on_the_shell(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(gv.GravureError, match=r'help: give one: dims=\{"N": \(1, 64\)\}'):
        gv.compile(OPEN)
    path = tmp_path / "open.gv"
    path.write_bytes(OPEN)
    assert main(["compile", str(path), "-o", str(path.with_suffix(".so"))]) == 69
    said = capsys.readouterr().err
    assert "help: give one: --dim N=1..64" in said
    assert "dims=" not in said


def shown(capsys: pytest.CaptureFixture[str], *arguments: object) -> str:
    """Return what the command prints."""
    capsys.readouterr()
    assert main([str(each) for each in arguments]) in (0, 1)
    return capsys.readouterr().out


def test_inspect_is_what_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = MODELS / "mlp.onnx"
    found = gv.inspect(model)
    assert shown(capsys, "inspect", model) == f"{found}\n"
    assert json.loads(shown(capsys, "inspect", model, "--json")) == found.as_json()
    library = tmp_path / "mlp.so"
    gv.compile(model).save(library)
    looked = gv.inspect(library)
    assert shown(capsys, "inspect", library) == f"{looked}\n"
    assert json.loads(shown(capsys, "inspect", library, "--json")) == looked.as_json()
    assert gv.inspect(library.read_bytes()).as_json() == looked.as_json()


@pytest.mark.parametrize("verb", VERBS)
def test_the_command_calls_the_function(
    verb: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class CalledError(Exception):
        pass

    def called(*_: object, **__: object) -> None:
        raise CalledError

    where, arguments = VERBS[verb]
    model = () if verb in WITHOUT_MODEL else ("m.gv",)
    monkeypatch.chdir(tmp_path)
    for name in ("m.gv", "other.gv"):
        Path(name).write_bytes(OPEN)
    room = "" if where.count(".") > 1 else "verbs."
    monkeypatch.setattr(f"gravure.tools.{room}{where}", called)
    monkeypatch.setattr("gravure.tools.failures._status_of", _again)
    with pytest.raises(CalledError):
        main([verb.split(maxsplit=1)[0], *model, *arguments])


def _again(error: BaseException, *_: object) -> int:
    raise error


def test_passes_and_differences_are_what_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, small = MODELS / "digits.onnx", tmp_path / "small.onnx"
    made = gv.optimize(model)
    assert shown(capsys, "opt", model, "-o", small) == f"{made.save(tmp_path / 'small.onnx')}\n"
    assert made.after < made.before
    assert shown(capsys, "opt", model, "--to", "fused") == str(gv.optimize(model, to="fused"))
    found = gv.diff_models(model, small)
    assert found
    assert shown(capsys, "diff", model, small) == f"{found}\n"
    assert json.loads(shown(capsys, "diff", model, small, "--json")) == found.as_json()
    assert not gv.diff_models(model, model.read_bytes())


def test_a_program_that_is_optimised_stays_as_it_is() -> None:
    once = gv.optimize(OPEN, "")
    again = gv.optimize(once.program, "canonicalize", level="")
    assert str(gv.optimize(once.program, "")) == str(once)
    assert again.program is not once.program


def test_a_reduced_model_is_what_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = tmp_path / "m.gv"
    model.write_text("model m(x: f32[2]) -> (y) { y = exp(relu(tanh(x))) }")
    found = gv.reduce(model)
    assert not found
    assert shown(capsys, "reduce", model) == f"{found}\n"
    found = gv.reduce(model, test=lambda p: "no" if "gv.relu" in str(p.module) else "")
    assert (found.failure, found.before, found.left) == ("no", 3, 1)
    assert "gv.relu" in found.text()
    test = "sh -c '! grep -q gv.relu {}'"
    said = shown(capsys, "reduce", model, "--test", test, "-o", "-")
    assert said == found.text()


@pytest.mark.parametrize("name", ["bench", "compile", "reduce", "run"])
def test_a_wrong_keyword_is_a_type_error_with_the_nearest(name: str) -> None:
    with pytest.raises(TypeError, match=rf"gravure.{name} has no option 'treads'\n.*'threads'"):
        getattr(gv, name)(OPEN, treads=2)


def test_advice_survives_a_pickle() -> None:
    error = unbounded("N")
    again = pickle.loads(pickle.dumps(error.hint))
    assert (again, again.shell) == (error.hint, error.hint_for_shell)


def test_runs_and_figures_are_what_the_command_prints(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model, same = MODELS / "mlp.onnx", ("--vs", "interp", "-i", "random:3")
    found = gv.run(model, "random:3", against=["interp"])
    assert found.is_close
    assert shown(capsys, "run", model, *same) == f"{found}\n"
    assert json.loads(shown(capsys, "run", model, *same, "--json")) == found.as_json()
    made = gv.compile(model)
    assert np.array_equal(gv.run(made, found.inputs).outputs["y"], found.outputs["y"])
    timed = gv.bench(made, found.inputs, seconds=0.02, warm_up=0.01)
    timed.save(tmp_path / "before.json")
    said = json.loads(
        shown(capsys, "bench", model, "--seconds", "0.02", "--against",
              tmp_path / "before.json", "--json")
    )  # fmt: skip
    again = gv.bench(model, seconds=0.02, warm_up=0.01, against=timed)
    assert again.change is not None
    assert {*said} == {*again.as_json()}
    for name in ("inputs", "threads", "target", "pipeline", "cost", "metrics"):
        assert said[name] == again.as_json()[name]
    assert "half of the calls took less" in str(again)
    with pytest.raises(gv.GravureError, match="launches need the model"):
        gv.bench(gv.load(_library(tmp_path, made)), layers=True)


def _library(folder: Path, model: Any) -> Path:
    model.save(folder / "m.so")
    return folder / "m.so"


LISTS = {
    ("passes",): gv.list_passes,
    ("passes", "fuse", "dce"): lambda: gv.list_passes(["fuse", "dce"]),
    ("passes", "--pipeline", "portable"): lambda: gv.list_pipeline("portable"),
    ("compile", "--list-stages"): gv.list_stages,
    ("ops",): gv.list_operations,
    ("ops", "exp"): lambda: gv.list_operations(["exp"]),
    ("targets",): gv.list_targets,
    ("targets", "native", "--mattr=-fma"): lambda: gv.list_targets(["native"], mattr="-fma"),
    ("explain",): gv.explain,
    ("explain", "GV4220"): lambda: gv.explain(OptionError("nothing")),
}


@pytest.mark.parametrize("words", LISTS, ids=" ".join)
def test_lists_are_what_the_command_prints(
    words: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    found = LISTS[words]()
    assert shown(capsys, *words) == f"{found}\n"
    assert json.loads(shown(capsys, *words, "--json")) == found.as_json()


FILES = {
    "bench": gv.bench,
    "compile": gv.compile,
    "diff": lambda path: gv.diff_models(path, path),
    "emit": gv.emit,
    "inspect": gv.inspect,
    "optimize": gv.optimize,
    "reduce": gv.reduce,
}


@pytest.mark.parametrize("verb", FILES)
def test_a_file_that_is_not_there_is_an_error_of_files(verb: str, tmp_path: Path) -> None:
    for path in (tmp_path / "none.onnx", tmp_path / "none" / "model.onnx", tmp_path):
        with pytest.raises(InputError, match="cannot read") as caught:
            FILES[verb](str(path))
        assert caught.value.location == str(path)


def test_a_folder_that_is_not_there_is_an_error_of_files(tmp_path: Path) -> None:
    model = str(MODELS / "mlp.onnx")
    folder = tmp_path / "none"
    writers: list[Callable[[], object]] = [
        lambda: gv.emit(model, folder / "m.so"),
        lambda: gv.optimize(model).save(folder / "m.mlir"),
        lambda: gv.compile(model).save(folder / "m.so"),
        lambda: gv.convert(model, folder / "m.onnx"),
    ]
    for write in writers:
        with pytest.raises(OutputError, match="cannot write") as caught:
            write()
        assert caught.value.location == str(folder)
