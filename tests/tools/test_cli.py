"""What holds for every verb: help, errors, exit statuses, streams."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import gravure as gv
from gravure.counting import counted, tell
from gravure.tools import cli
from gravure.tools.commands import ops
from gravure.tools.console import Console

VERBS = list(cli.verbs())
RELU = b"model m(x: f32[2]) -> (y) { y = exp(relu(tanh(x))) }"
HEAVY = {"numpy", "xdsl", "llvmlite", "onnx", "lark", "ml_dtypes", "argcomplete", "rich"}
ROOT = Path(__file__).parents[2]


def start(*arguments: str, **more: Any) -> subprocess.Popen[str]:
    """Start the command as a process of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "gravure", *arguments],
        cwd=ROOT,
        text=True,
        stdout=more.pop("stdout", subprocess.PIPE),
        stderr=subprocess.PIPE,
        **more,
    )


def test_help_lists_every_verb(gravure: Any) -> None:
    found = gravure("--help")
    assert found.status == 0
    assert {"compile", "opt", "inspect", "run", "bench", "passes", "targets"} <= {*VERBS}
    assert all(re.search(rf"^    {verb}\s", found.out, re.MULTILINE) for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_verb_is_named_after_its_file_and_has_three_examples(gravure: Any, verb: str) -> None:
    assert verb == cli.command(verb).NAME
    found = gravure(verb, "--help")
    assert found.status == 0
    assert len(re.findall(rf"^    gravure {verb}\b", found.out, re.MULTILINE)) >= 3
    assert "--json" in found.out


def numbers_of(verb: str) -> list[str]:
    """Return the options of a verb that ask for a number."""
    [parts] = [a for a in cli.parser([verb])._actions if isinstance(a.choices, dict)]
    actions = parts.choices[verb]._actions  # type: ignore[index,call-overload]
    assert not [a.dest for a in actions if a.type in (int, float) and not a.choices]
    return [a.option_strings[-1] for a in actions if a.type is not None and a.type is not Path]


@pytest.mark.parametrize("verb", VERBS)
def test_numbers_that_cannot_be_are_wrong_usage(gravure: Any, verb: str) -> None:
    """Seconds that are no number and counts below zero went on as far as they could."""
    for option in numbers_of(verb):
        for text in ("nan", "-1", "inf", "", "1e400"):
            found = gravure(verb, f"{option}={text}", "nothing")
            assert found.status == 2, (option, text, found.err)


def test_help_imports_nothing_heavy() -> None:
    code = "import sys; from gravure.tools.cli import main; main(['compile', '--help'])"
    code += "; print('MODULES', *{name.split('.')[0] for name in sys.modules})"
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=True)
    loaded = out.stdout.decode().rpartition("MODULES")[2].split()
    assert not HEAVY & {*loaded}


def test_version_is_printed(gravure: Any) -> None:
    assert re.fullmatch(r"gravure \d+\.\d+\.\d+\n", gravure("--version").out)


def test_nothing_to_do_is_wrong_usage(gravure: Any) -> None:
    found = gravure()
    assert (found.status, found.out) == (2, "")
    assert "gravure --help lists the verbs" in found.err


def test_misspelt_verb_gets_a_suggestion(gravure: Any) -> None:
    found = gravure("inspec", "m.onnx")
    assert found.status == 2
    assert "did you mean 'inspect'?" in found.err


@pytest.mark.parametrize(
    "arguments", [["ops", "--nonsense"], ["cache", "burn"], ["compile", "-O7"]]
)
def test_unknown_argument_is_wrong_usage(gravure: Any, arguments: list[str]) -> None:
    found = gravure(*arguments)
    assert found.status == 2
    assert found.err.startswith(f"gravure {arguments[0]}: error: ")
    assert f"gravure {arguments[0]} --help" in found.err


@pytest.mark.parametrize("verb", ["compile", "opt", "inspect", "run", "bench"])
def test_missing_folder_and_empty_input(gravure: Any, tmp_path: Path, verb: str) -> None:
    (tmp_path / "empty.onnx").touch()
    (tmp_path / "text.onnx").write_text("what is this?")
    missing = gravure(verb, tmp_path / "emty.onnx")
    assert missing.status == 66
    assert "no such file" in missing.err
    assert "did you mean" in missing.err
    folder = gravure(verb, tmp_path)
    assert folder.status == 66
    assert "this is a folder" in folder.err
    empty = gravure(verb, tmp_path / "empty.onnx")
    assert empty.status == 65
    assert "empty.onnx: the file is empty" in empty.err
    text = gravure(verb, tmp_path / "text.onnx")
    assert text.status == 65
    assert "Traceback" not in text.err


def test_error_as_json_goes_to_the_standard_output(gravure: Any) -> None:
    found = gravure("inspect", "no/such.onnx", "--json")
    assert (found.status, found.err) == (66, "")
    assert found.json["error"]["code"] == "GV9100"
    assert found.json["error"]["location"] == "no/such.onnx"


def test_error_shows_the_line_of_a_text(gravure: Any, tmp_path: Path) -> None:
    (tmp_path / "m.mlir").write_text("func.func @main() {\n  gv.nonsense\n}\n")
    found = gravure("opt", tmp_path / "m.mlir")
    assert found.status == 65
    assert found.err.splitlines()[1:3] == ["  }", "  ^"]


def test_mistake_of_ours_leaves_a_report(gravure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ops, "run", lambda args: 1 // 0)
    found = gravure("ops")
    assert found.status == 70
    assert "internal error: ZeroDivisionError" in found.err
    [path] = re.findall(r"\S+report\.txt", found.err)
    report = Path(path).read_text()
    assert report.startswith("gravure ops\n")
    assert "Traceback" in report


def test_traceback_is_shown_when_asked_for(gravure: Any) -> None:
    assert "Traceback" in gravure("inspect", "no.onnx", "-v").err


def test_control_characters_are_escaped(gravure: Any) -> None:
    found = gravure("explain", "\x1b[31mGV")
    assert "\x1b" not in found.err
    assert r"\x1b[31mGV" in found.err


@pytest.mark.parametrize(
    ("error", "status", "said"),
    [
        (KeyboardInterrupt(), 130, "interrupted"),
        (PermissionError(13, "Permission denied", "/x/m.so"), 73, "/x/m.so: cannot write"),
        (OSError(28, "No space left on device"), 74, "no space left on device"),
        (MemoryError(), 69, "out of memory"),
    ],
)
def test_exit_status_of_what_happens_outside(error: BaseException, status: int, said: str) -> None:
    code = (
        "import sys; from gravure.tools import cli; from gravure.tools.commands import ops\n"
        f"def run(args): raise {error!r}\n"
        "ops.run = run; sys.exit(cli.main(['ops']))"
    )
    if isinstance(error, OSError):
        code = code.replace(
            repr(error), f"OSError({error.errno}, {error.strerror!r}, {error.filename!r})"
        )
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert found.returncode == status
    assert said in found.stderr.decode()


def test_python_m_gravure_is_the_command() -> None:
    process = start("ops", "relu")
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert out.startswith("relu(x)")


def test_closed_pipe_is_quiet() -> None:
    process = start("ops", "--json")
    assert process.stdout is not None
    process.stdout.close()
    _, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (141, "")


@pytest.mark.parametrize("closed", [(0,), (1,), (2,), (0, 1, 2)])
def test_streams_that_are_closed_are_no_mistake_of_ours(
    tmp_path: Path, closed: tuple[int, ...]
) -> None:
    """What is printed goes nowhere, and not into a file that has got the stream's number."""
    path, made = tmp_path / "m.gv", tmp_path / "m.so"
    path.write_bytes(RELU)
    line = ["compile", str(path), "-o", str(made), "--no-cache"]
    shut = " ".join(f"{number}>&-" for number in closed)
    command = [sys.executable, "-m", "gravure", *line]
    done = subprocess.run(
        ["bash", "-c", f'exec "$@" {shut}', "bash", *command], cwd=ROOT, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, "")
    assert gv.load(made)(np.zeros(2, np.float32)).tolist() == [1.0, 1.0]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
@pytest.mark.parametrize("arguments", [["ops"], ["ops", "--help"]])
def test_full_device_is_an_io_error(arguments: list[str]) -> None:
    with open("/dev/full", "w") as full:
        process = start(*arguments, stdout=full)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 74
    assert "no space left on device" in err


def test_interrupt_ends_with_130(models: Path) -> None:
    code = (
        "import signal, sys\n"  # what runs in the background may be deaf to interrupts
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from gravure.tools import cli; from gravure.tools.commands import bench\n"
        "inner = bench.run\n"
        "def run(args): print('ready', flush=True); return inner(args)\n"
        f"bench.run = run; sys.exit(cli.main(['bench', {str(models / 'mlp.onnx')!r}, "
        "'--seconds', '60']))"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", code], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"ready\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert b"Traceback" not in err


def test_an_interrupt_before_anything_was_begun_ends_with_130(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted() -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "accept_any_text", interrupted)
    assert cli.main(["ops"]) == 130
    assert capsys.readouterr().err == "interrupted\n"


INTERRUPTED_BY_ITSELF = """
import os, runpy, signal, sys

class Counting:
    left = int(sys.argv[1])

    def find_spec(self, name, path=None, target=None):
        if "gravure.interrupts" in sys.modules:  # what comes before is Python's
            self.left -= 1
            if not self.left:
                os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Counting())
sys.argv = ["gravure", "passes"]
runpy.run_module("gravure", run_name="__main__", alter_sys=True)
"""


@pytest.mark.parametrize("number", [1, 2, 3, 10, 50, 100, 200, 300, 400, 500])
def test_an_interrupt_while_modules_are_imported_ends_with_130(number: int) -> None:
    made = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_BY_ITSELF, str(number)],
        cwd=ROOT, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (made.returncode, made.stderr) == (130, "interrupted\n")


LOST = {
    "made of it another": (
        "class Named:\n"
        "    def __set_name__(self, owner, name):\n"
        "        signal.raise_signal(signal.SIGINT)\n"
        "class Owner:\n"
        "    named = Named()\n"
    ),
    "only printed it": (
        "class Dropped:\n"
        "    def __del__(self): signal.raise_signal(signal.SIGINT)\n"
        "Dropped()\n"
        "time.sleep(30)\n"
    ),
    "was done": "atexit.register(signal.raise_signal, signal.SIGINT); return 0\n",
}


@pytest.mark.parametrize("lost", LOST.values(), ids=LOST)
def test_an_interrupt_is_one_where_python_lost_it(lost: str) -> None:
    body = "".join(f"    {line}\n" for line in lost.splitlines())
    code = (
        "import atexit, signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from gravure.tools.commands import ops\n"
        f"def run(args):\n{body}\n"
        "ops.run = run; sys.argv = ['gravure', 'ops']\n"
        "from gravure.__main__ import main; sys.exit(main())"
    )
    made = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=20,
        check=False,
    )  # fmt: skip
    assert (made.returncode, made.stderr) == (130, "interrupted\n")


def test_a_command_leaves_interrupts_of_its_process_alone() -> None:
    before = signal.getsignal(signal.SIGINT), sys.unraisablehook
    assert cli.main(["ops", "--json"]) == 0
    assert (signal.getsignal(signal.SIGINT), sys.unraisablehook) == before


def test_isolated_work_may_crash_alone() -> None:
    code = (
        "import os, sys; from gravure.tools import cli; from gravure.tools.commands import ops\n"
        "ops.run = lambda args: os.abort()\n"
        "sys.exit(cli.main(['ops']))"
    )
    found = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT, capture_output=True, check=False, env={**os.environ, "GRAVURE_ISOLATE": "1"},
    )  # fmt: skip
    assert found.returncode == 70
    assert b"was ended by SIGABRT" in found.stderr


def test_quiet_and_colour(gravure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "\x1b" not in gravure("explain", "X").err
    assert "\x1b[31;1merror" in gravure("explain", "X", "--color", "always").err
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b" in gravure("explain", "X").err
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in gravure("explain", "X").err


def test_completion_knows_every_argument() -> None:
    parser = cli.parser(VERBS)
    actions = next(a for a in parser._actions if a.choices is not None and "run" in a.choices)
    assert actions.choices is not None
    assert "--vs" in actions.choices["run"].format_help()  # type: ignore[index]


@pytest.mark.parametrize("verb", ["passes", "targets", "ops", "explain", "cache", "doctor"])
def test_json_is_one_object_with_a_schema(gravure: Any, verb: str) -> None:
    found = gravure(verb, "--json")
    assert found.status == 0
    assert re.fullmatch(r"gravure\.[\w-]+/\d+", json.loads(found.out)["schema"])


def test_binary_does_not_go_to_a_terminal(
    gravure: Any, models: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with (tmp_path / "m.so").open("wb") as file:
        process = start("compile", str(models / "mlp.onnx"), "-o", "-", stdout=file)
        assert process.communicate(timeout=60)[1] == ""
    assert gravure("inspect", tmp_path / "m.so").status == 0
    monkeypatch.setattr("gravure.tools.console.is_terminal", lambda stream: True)
    found = gravure("compile", models / "mlp.onnx", "-o", "-")
    assert (found.status, found.out) == (2, "")
    assert "binary to a terminal" in found.err


def test_progress_is_shown_on_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    outer, inner = os.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with open(inner, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        for console in (Console(), Console(quiet=True)):
            with console.progress("working"):
                time.sleep(0.8)
        monkeypatch.setenv("TERM", "dumb")
        with Console().progress("working"):
            time.sleep(0.6)
    shown = os.read(outer, 10000).decode()
    os.close(outer)
    assert shown.startswith("\rworking 0.")
    assert shown.endswith("\r\x1b[K")


def test_progress_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    outer, inner = os.openpty()
    monkeypatch.setenv("TERM", "xterm")
    with open(inner, "w") as terminal:
        monkeypatch.setattr(sys, "stderr", terminal)
        with Console().progress("compiling m.onnx"):
            tell("kernel", 3, 40)
            time.sleep(0.8)
        tell("kernel", 4, 40)
    shown = os.read(outer, 10000).decode()
    os.close(outer)
    assert shown.startswith("\rcompiling m.onnx, kernel 3 of 40, 0.")
    assert "kernel 4" not in shown


@pytest.mark.parametrize(
    ("work", "wanted"),
    [
        (lambda m: gv.compile(m / "mlp.onnx", cache=False), ("pass", "kernel")),
        (lambda m: gv.optimize(m / "mlp.onnx", "canonicalize,dce"), ("pass",)),
        (lambda m: gv.run(m / "mlp.onnx", against=["interp"]), ("operation",)),
        (lambda m: gv.bench(m / "mlp.onnx", seconds=0.01), ("sample",)),
        (lambda m: gv.reduce(RELU, test=lambda p: "relu" * ("relu" in str(p.module))), ("try",)),
    ],
)
def test_what_takes_long_says_how_far_it_is(
    models: Path, work: Callable[[Path], object], wanted: tuple[str, ...]
) -> None:
    told: dict[str, list[tuple[int, int]]] = {}
    with counted(lambda what, done, whole: told.setdefault(what, []).append((done, whole))):
        work(models)
    for what in wanted:
        counts = told[what]
        assert counts
        assert all(done <= whole for done, whole in counts if whole)
