"""Messages speak the language of who called: flags of the shell, or keywords of Python.

What both can meet says it in both (`Advice`), or in neither. Texts are read where they stand in the
source: no message of a library names a flag or a verb of the command, none that the command
prints names a function of Python.
"""

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

import gravure as gv
from gravure.errors import Advice, GravureError
from gravure.tools.cli import main

from .sources import called, nodes

ROOT = Path(__file__).parent.parent
VERBS = [p.stem for p in (ROOT / "tools" / "commands").glob("*.py") if p.stem != "__init__"]
SHELL = re.compile(rf"(?<![\w-])--[a-z][a-z-]+|\bgravure (?:{'|'.join(sorted(VERBS))})\b")
PYTHON = re.compile(
    r"\b(?:gv|gravure|np)\.\w+(?!\w*\.(?:so|h|py))|\b[a-z_]+=(?:[\"'\[{(]|True|False|None)"
)

LIBRARY = ("gravure", "ir", "passes", "codegen", "runtime", "frontend")
CALLED = (
    *("tools/verbs", "tools/checking", "tools/comparing", "tools/inputs.py"),
    "tools/measuring/peers.py",
)
"""What Python calls."""
PRINTED = (
    *("ir", "passes", "codegen", "runtime", *CALLED),
    *(f"frontend/{room}" for room in ("dims", "files", "formats", "models", "onnx", "text")),
    "frontend/programs",
)
"""What is raised where models are read, compiled and run, from the command as well."""

MEANT_FOR_A_SHELL = {
    "frontend/distributed": "ranks are started from a shell: gravure launch",
    "frontend/tf/distribute": "tasks are started from a shell: gravure launch",
    "tools/verbs/ablation.py": "the command's own: it takes what argparse gives",
    "codegen/ptx/assemble.py": "flags of another program",
    "gravure/knobs.py": "variables of a shell",
}
MEANT_FOR_PYTHON = {
    "ir/interpret": "names of operations in IR",
    "ir/ops": "names of operations in IR",
    "ir/types": "names of attributes in IR",
    "ir/text.py": "names of operations in IR",
    "ir/verify.py": "names of operations in IR",
    "passes": "names of operations in IR",
    "codegen/prepare.py": "the name of an attribute in IR",
    "frontend/programs/onnx_backend.py": "a class of Python alone",
    "frontend/programs/compile.py": "keywords that only Python gives",
}


class Said(NamedTuple):
    """A text, and where it stands."""

    place: str
    text: str


def files(folders: tuple[str, ...]) -> Iterator[Path]:
    for name in folders:
        path = ROOT / name
        if path.is_file():
            yield path
        else:
            yield from sorted(path.glob("*.py") if name == "gravure" else path.rglob("*.py"))


def excused(path: Path, reasons: dict[str, str]) -> bool:
    name = str(path.relative_to(ROOT))
    return any(name == each or name.startswith(f"{each}/") for each in reasons)


def text_of(node: ast.AST) -> str:
    """Return a text of the source; what is filled in is a blank."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(text_of(value) or "_" for value in node.values)
    return ""


def left_out(every: list[ast.AST]) -> set[int]:
    """Return the nodes that are no messages: docstrings, notes below names, both forms at once."""
    found: set[int] = set()
    for node in every:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            found.add(id(node.value))
        if isinstance(node, ast.Call) and called(node).endswith("Advice"):
            found |= {id(each) for each in nodes(node)}
        if isinstance(node, ast.JoinedStr):  # its parts are read with it
            found |= {id(each) for each in node.values}
    return found


class Read(NamedTuple):
    """What a file says in a language that may not be that of who is told."""

    flags: list[Said]
    """Texts that name flags or verbs."""
    functions: list[Said]
    """Messages of errors, and hints, that name functions of Python."""
    advice: list[Said]
    """Advice in both languages that mixes them."""


@cache
def read(path: Path) -> Read:
    """Return what a file says."""
    every = nodes(ast.parse(path.read_text()))
    out = left_out(every)
    return Read(
        [said for said in texts(path, every, out) if SHELL.search(said.text)],
        [said for said in messages(path, every, out) if PYTHON.search(said.text)],
        [*mixed_advice(path, every)],
    )


def texts(path: Path, every: list[ast.AST], out: set[int]) -> Iterator[Said]:
    """Give all texts of a file but those that are no messages."""
    for node in every:
        if isinstance(node, ast.Constant | ast.JoinedStr) and id(node) not in out:
            yield Said(f"{path.relative_to(ROOT)}:{node.lineno}", text_of(node))


def messages(path: Path, every: list[ast.AST], out: set[int]) -> Iterator[Said]:
    """Give what errors of a file say, and their hints."""
    for node in every:
        if not isinstance(node, ast.Call) or id(node) in out:
            continue
        is_error = called(node).endswith(("Error", "UnsupportedOp"))
        said = [*node.args] if is_error and "Assertion" not in called(node) else []
        said += [each.value for each in node.keywords if each.arg == "hint"]
        for each in (part for value in said for part in nodes(value)):
            if id(each) not in out and text_of(each):
                yield Said(f"{path.relative_to(ROOT)}:{node.lineno}", text_of(each))


def mixed_advice(path: Path, every: list[ast.AST]) -> Iterator[Said]:
    """Give advice whose text for Python names flags, or the one for the shell functions."""
    for node in every:
        if isinstance(node, ast.Call) and called(node) == "Advice":
            python, shell = (text_of(each) for each in node.args)
            if SHELL.search(python) or re.search(r"\bg(?:v|ravure)\.\w+\(", shell):
                yield Said(f"{path.relative_to(ROOT)}:{node.lineno}", f"{python} {shell}")


def test_libraries_name_no_flag_and_no_verb_of_the_command() -> None:
    wrong = [
        said
        for path in files((*LIBRARY, *CALLED))
        if not excused(path, MEANT_FOR_A_SHELL)
        for said in read(path).flags
    ]
    assert wrong == []


def test_what_the_command_prints_names_no_function_of_python() -> None:
    wrong = [
        said
        for path in files(PRINTED)
        if not excused(path, MEANT_FOR_PYTHON)
        for said in read(path).functions
    ]
    assert wrong == []


def test_the_excused_are_there() -> None:
    for name in (*MEANT_FOR_A_SHELL, *MEANT_FOR_PYTHON):
        assert (ROOT / name).exists(), name


def test_advice_in_both_languages_keeps_to_each() -> None:
    every = files((*LIBRARY, "tools"))
    assert [said for path in every for said in read(path).advice] == []


MODEL = b"model m(x: f32[N, 3]) -> (y) { y = relu(x) }"


@pytest.mark.parametrize(
    ("call", "shell"),
    [
        (lambda: gv.compile(MODEL), ["compile", "m.gv", "-o", "m.so"]),
        (
            lambda: gv.run(MODEL, dims={"K": 3}),
            ["run", "m.gv", "--dim", "N=1..4", "-i", "x=2x3xf32:ones", "--dim", "K=3"],
        ),
        (lambda: gv.quantize(MODEL, "m.onnx"), ["quantize", "m.gv", "-o", "m.onnx"]),
        (lambda: gv.explain("GV9"), ["explain", "GV9"]),
        (
            lambda: gv.bench_peers(MODEL, ["none"], dims={"N": 2}),
            ["bench", "m.gv", "--dim", "N=2", "--peers", "none"],
        ),
        (
            lambda: gv.bench_peers(MODEL, ["none=", "torch"], dims={"N": 2}),
            ["bench", "m.gv", "--dim", "N=2", "--peer", "none="],
        ),
    ],
)  # fmt: skip
def test_each_caller_is_told_in_its_language(
    call, shell: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    (tmp_path / "m.gv").write_bytes(MODEL)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(GravureError) as raised:
        call()
    assert not SHELL.search(str(raised.value)), raised.value
    assert main(shell) != 0
    said = capsys.readouterr().err
    assert said
    assert not re.search(r"\bg(?:v|ravure)\.\w+\(|\b(?:dims|options|layers|target)=", said), said


def test_advice_is_pythons_text_with_the_shells_beside_it() -> None:
    advice = Advice("dims=...", shell="--dim ...")
    assert (str(advice), advice.shell) == ("dims=...", "--dim ...")
