"""The guides in docs/ run as they stand, and print what they say."""

import os
import re
import shlex
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from gravure.errors import GravureError
from gravure.tools.cli import main
from gravure.tools.verbs.explain import pages

ROOT = Path(__file__).parent.parent
GUIDES = (
    "start",
    "compile",
    "programs",
    "training",
    "keras",
    "profiling",
    "checking",
    "fewer-bits",
    "gpus",
    "passes",
)
MODELS = ("digits.onnx", "mlp_batch.onnx")
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PRINTS = re.compile(r"^ *print\(.*\)\s+# (.*)$", re.MULTILINE)
FILE = re.compile(r"\A(?://|/\*|#) *([\w.]+)(?: \*/)?\n")
SKIPPED = ("pip ", "make ", "eval ", "python -m pytest")
"""Commands that install things, or run all tests."""


class Fence(NamedTuple):
    """A piece of a guide."""

    kind: str
    text: str


def fences(page: str) -> list[Fence]:
    return [Fence(*found) for found in FENCE.findall((ROOT / "docs" / page).read_text())]


def run_python(text: str, file: Path, names: dict[str, object]) -> None:
    """Run a piece of Python that stands in a file: functions are converted from their source."""
    file.write_text(text)
    exec(compile(text, file, "exec"), names)


def run_commands(text: str, capsys: pytest.CaptureFixture[str]) -> str:
    """Run each line as in a shell; return what was printed."""
    printed = ""
    for line in text.replace("\\\n", " ").splitlines():
        command = shlex.split(line, comments=True)
        if not command or line.startswith(SKIPPED):
            continue
        if command[0] == "gravure":
            assert main(command[1:]) == 0, line
            printed += capsys.readouterr().out
        elif shutil.which(command[0]) is None and not Path(command[0]).exists():
            pytest.skip(f"{command[0]} is not installed")
        else:
            environment = {**os.environ, "LD_LIBRARY_PATH": "."}
            done = subprocess.run(
                command, capture_output=True, text=True, check=False, env=environment
            )
            assert done.returncode == 0, f"{line}\n{done.stderr}"
            printed += done.stdout
    return printed


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize("guide", GUIDES)
def test_a_guide_runs(
    guide: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in MODELS:
        shutil.copy(ROOT / "tests" / "models" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    printed = ""
    for number, (kind, text) in enumerate(fences(f"{guide}.md")):
        named = FILE.match(text)
        if named:
            Path(named[1]).write_text(text)
        elif kind == "python":
            run_python(text, tmp_path / f"{guide}_{number}.py", names)
            assert capsys.readouterr().out.splitlines() == PRINTS.findall(text)
        elif kind == "sh":
            printed = run_commands(text, capsys)
        elif kind == "text":
            assert text in printed
        else:
            raise AssertionError(f"{guide}: a {kind} that is in no file")


def test_every_page_can_be_found_and_every_link_leads_somewhere() -> None:
    pages = {path.name for path in (ROOT / "docs").glob("*.md")}
    linked = set(re.findall(r"\(docs/(\w[\w.-]*\.md)\)", (ROOT / "README.md").read_text()))
    for page in sorted(pages):
        text = (ROOT / "docs" / page).read_text()
        links = [link.partition("#")[0] for link in re.findall(r"\]\((?!http)([^)]+)\)", text)]
        assert [each for each in links if each and not (ROOT / "docs" / each).exists()] == [], page
        linked |= {Path(link).name for link in links}
    linked |= set(re.findall(r"docs/(\w[\w.-]*\.md)", (ROOT / "HACKING.md").read_text()))
    assert pages <= linked


ERRORS = re.findall(
    r"^## (GV\d+) (\w+)$\n(.*?)(?=^## |\Z)",
    (ROOT / "docs" / "errors.md").read_text(),
    re.MULTILINE | re.DOTALL,
)
PREPARED = fences("errors.md")[0].text


def test_every_error_has_its_page_in_the_guide() -> None:
    assert [(code, name) for code, name, _ in ERRORS] == [(p.code, p.name) for p in pages()]
    for (_, _, text), page in zip(ERRORS, pages(), strict=True):
        assert " ".join(page.text.split()) in " ".join(text.split()), page.code
        assert f"Exit status {page.exit_status}." in text, page.code


@pytest.mark.sampled(2)
@pytest.mark.slow
@pytest.mark.parametrize(
    ("code", "text"), [(code, text) for code, _, text in ERRORS if "```python" in text]
)
@pytest.mark.filterwarnings("ignore")
def test_what_is_wrong_raises_and_what_is_right_does_not(
    code: str, text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAVURE_CACHE_SIZE", "1G")
    shutil.copy(ROOT / "tests" / "models" / "digits.onnx", tmp_path)
    names: dict[str, object] = {}
    exec(PREPARED, names)
    wrong, right = (fence[1] for fence in FENCE.findall(text))
    with pytest.raises(GravureError) as raised:
        run_python(wrong, tmp_path / "wrong.py", dict(names))
    assert code in {getattr(each, "code", "") for each in type(raised.value).__mro__}
    run_python(right, tmp_path / "right.py", dict(names))
