"""Mutants of a small tree: what is found, what is planted, and which a test notices."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
SPEC = importlib.util.spec_from_file_location("mutants", HERE / "mutants.py")
mutants = importlib.util.module_from_spec(SPEC)
sys.modules["mutants"] = mutants
SPEC.loader.exec_module(mutants)

SOURCE = '''"""A module."""

from __future__ import annotations

LIMIT = 3 + 4


def within(x: int, low: int = 1 - 2) -> bool:
    assert x != 5, f"{x + 1}"
    if x > LIMIT and not x == 9:
        raise ValueError(x + 1)
    return low <= x


def last(items, unused):
    if unused and unused < 3:
        return items[0]
    return items[-1]
'''
TEST = """import sample

def test_within():
    assert sample.within(-1) and not sample.within(-2) and sample.within(7) and sample.within(9)

def test_last():
    assert sample.last([1, 2], 0) == 2

def test_command():
    import subprocess, sys
    code = "import sample; assert sample.last([1, 2], 1) == 1"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
"""


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("a < b", "a <= b"),
        ("a is not None", "a is None"),
        ("a and b", "a or b"),
        ("not a", "a"),
        ("-a", "a"),
        ("a + b", "a - b"),
        ("a[-1]", "a[-2]"),
        ("a[0]", "a[1]"),
        ("a < b < c", None),
        ("'a' + b", None),
        ("a[b]", None),
        ("f(a)", None),
    ],
)
def test_changed(text, wanted):
    found = mutants.changed(mutants.ast.parse(text, mode="eval").body)
    assert (mutants.ast.unparse(found) if found else None) == wanted


def test_what_readers_and_the_import_see_has_no_mutants():
    found = {m.before for m in mutants.mutants_of("sample.py", SOURCE)}
    inside = {"x > LIMIT", "not x == 9", "x == 9", "low <= x", "unused < 3", "items[0]",
              "items[-1]", "-1", "x > LIMIT and not x == 9", "unused and unused < 3"}  # fmt: skip
    assert found == inside


@pytest.mark.slow
def test_mutants_that_no_test_notices_live(tmp_path):
    root, work = tmp_path / "root", tmp_path / "work"
    (root / "tests" / "mutation").mkdir(parents=True)
    for name in ("mutants.py", "server.py", "run.py"):
        shutil.copy(HERE / name, root / "tests" / "mutation")
    (root / "code").mkdir()
    (root / "code" / "sample.py").write_text(SOURCE)
    (root / "tests" / "test_sample.py").write_text(TEST)
    (root / "conftest.py").write_text("import sys\nsys.path.insert(0, 'code')\n")
    environment = {**os.environ, "PYTHONPATH": "code", "PYTEST_ADDOPTS": ""}

    def run(*arguments):
        script = root / "tests" / "mutation" / "run.py"
        command = [sys.executable, script, *arguments[:1], work, *arguments[1:]]
        return subprocess.check_output(command, cwd=root, env=environment, text=True)

    run("note", "tests", "--count", "50", "--jobs", "1", "--folders", "code")
    run("try", "--jobs", "1")
    shown = run("show")
    planted = [m["before"] for m in json.loads((work / "mutants.json").read_text())]
    lived = [line for line in shown.splitlines() if " lives (" in line]
    assert f"all: {len(planted) - len(lived)} of {len(planted)} died" in shown
    assert all(any(f": {text} ->" in line for line in lived) for text in ("unused < 3",))
    assert not any(": low <= x ->" in line or ": items[-1] ->" in line for line in lived)
    assert not any(": items[0] ->" in line for line in lived)
    equivalent = root / "tests" / "mutation" / "equivalent.txt"
    change = lived[0].split(": ", 2)[2]
    equivalent.write_text(f"code/sample.py: {change}\nSo.\n")
    shown = run("show")
    assert "lives (So.): code/sample.py:" in shown
    assert f"all: {len(planted) - len(lived)} of {len(planted) - 1} died" in shown
    assert ", 1 are equivalent" in shown
