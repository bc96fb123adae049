"""The README's Python runs as it stands, and prints what its comments say."""

import re
from pathlib import Path
from shutil import copy

import pytest

from gravure.tools.cli import main

ROOT = Path(__file__).parent.parent
BLOCKS = re.findall(r"^```python\n(.*?)^```$", (ROOT / "README.md").read_text(), re.M | re.S)
PRINTS = re.compile(r"^ *print\(.*\)\s+# (.*)$", re.MULTILINE)


@pytest.mark.slow
def test_python_of_the_readme(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("digits.onnx", "mlp_batch.onnx"):
        copy(ROOT / "tests" / "models" / name, tmp_path)
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in BLOCKS:
        exec(block, names)
    wanted = [line for block in BLOCKS for line in PRINTS.findall(block)]
    assert capsys.readouterr().out.splitlines() == wanted


@pytest.mark.parametrize("page", ["README.md", "HACKING.md"])
def test_every_link_leads_somewhere(page: str) -> None:
    links = re.findall(r"\]\((?!http)([^)]+)\)", (ROOT / page).read_text())
    assert [link for link in links if not (ROOT / link).exists()] == []


COMMANDS = re.findall(r"^gravure ([^#\n]*)", (ROOT / "HACKING.md").read_text(), re.M)


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_for_those_who_work_on_it(command: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    assert main(command.split()) == 0
