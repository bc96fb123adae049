"""The command finds its verbs, starts fast, and ends with the right status."""

import subprocess
import sys
from pathlib import Path

import pytest

from gravure.errors import ParseError
from gravure.tools import cli
from gravure.tools.commands import demo

ROOT = Path(__file__).parents[2]


def gravure(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own."""
    command = [sys.executable, "-m", "gravure", *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


def test_every_verb_has_a_name_and_says_what_it_does() -> None:
    found = cli.commands()
    assert len({command.NAME for command in found}) == len(found) > 0
    for command in found:
        first = (command.__doc__ or "").split("\n", 1)[0]
        assert first.endswith("."), f"{command.NAME}: the first line of its docstring"


def test_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from gravure.tools.cli import parser; parser().format_help();"
        "print({'numpy', 'xdsl', 'llvmlite', 'onnx'} & {*sys.modules})"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "set()\n"


def test_unknown_verb_is_wrong_usage() -> None:
    done = gravure("no-such-verb")
    assert (done.returncode, done.stdout) == (2, "")
    assert "no-such-verb" in done.stderr


def test_error_of_the_user_is_one_line_and_its_status(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(args: object) -> int:
        raise ParseError("not a model", location="m.onnx", hint="export it again")

    monkeypatch.setattr(demo, "run", fail)
    assert cli.main(["demo"]) == ParseError.exit_status
    assert capsys.readouterr().err == (
        "gravure demo: m.onnx: not a model\n  help: export it again\n"
    )


def test_interruption_is_a_status(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(args: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setattr(demo, "run", interrupt)
    assert cli.main(["demo"]) == cli.INTERRUPTED


@pytest.mark.slow
def test_demo_recognises_digits_and_keeps_the_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "digits.so"
    assert cli.main(["demo", "-o", str(path)]) == 0
    assert "99.2%: 357 of 360 images" in capsys.readouterr().out
    assert path.stat().st_size > 0


def test_closed_pipe_is_no_error() -> None:
    command = f"{sys.executable} -m gravure demo | true; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=ROOT, capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
