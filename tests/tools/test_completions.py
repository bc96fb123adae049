"""Scripts of shells: each is read by its shell, and completes what there is."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from gravure.tools import cli
from gravure.tools.completion import SHELLS, described

TRY = """
source "$1"; shift
COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
_gravure
printf '%s\\n' "${COMPREPLY[@]}"
"""


@pytest.fixture
def script(gravure: Any, tmp_path: Path) -> Any:
    def written(shell: str) -> Path:
        found = gravure("completions", shell)
        assert found.status == 0
        path = tmp_path / f"gravure.{shell}"
        path.write_text(found.out)
        return path

    return written


def test_every_option_of_every_verb_is_described() -> None:
    parser = cli.parser([*cli.verbs()])
    found = {verb.name: {n for o in verb.options for n in o.names} for verb in described(parser)}
    assert [*found] == [*cli.verbs()]
    for name, options in found.items():
        assert options == {n for n in cli._options(parser, name) if n.startswith("-")}


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "wanted"),
    [
        (["ru"], {"run"}),
        (["run", "--ve"], {"--verify-each", "--verbose"}),
        (["run", "--color", "a"], {"always", "auto"}),
        (["opt", "--disable-pass", "fu"], {"fuse"}),
        (["compile", "--target", "=", "haswe"], {"haswell"}),
        (["passes", "fus"], {"fuse"}),
        (["explain", "GV000"], {"GV0000"}),
        (["run", "my m"], {"my model.onnx"}),
    ],
)
def test_bash_completes(script: Any, tmp_path: Path, words: list[str], wanted: set[str]) -> None:
    path = script("bash")
    (tmp_path / "my model.onnx").touch()
    command = ["bash", "-c", TRY, "bash", str(path), "gravure", *words]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert set(done.stdout.splitlines()) == wanted


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_reads_its_script(script: Any, shell: str) -> None:
    path = script(shell)
    text = path.read_text()
    assert all(word in text for word in ("winograd", "disable-pass", "znver4", "GV0000"))
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", path], capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_a_shell_that_is_not_known_is_refused(gravure: Any) -> None:
    found = gravure("completions", "ksh")
    assert found.status == 2
    assert "expected one of bash, zsh, fish" in found.err
