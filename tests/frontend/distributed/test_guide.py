"""The guide to several processes, and the programs beside it, run as they are."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "distributed.md").read_text()
SNIPPETS = re.findall(r"```python\n# gravure launch ([^\n]*)\n(.*?)```", GUIDE, re.DOTALL)
pytestmark = pytest.mark.mpi


def launched(options: list[str], program: Path) -> str:
    """Return what a program prints on all ranks, which end well within two minutes."""
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    done = subprocess.run(
        [sys.executable, "-m", "gravure", "launch", "--timeout", "30", *options, str(program)],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("options", "text"), SNIPPETS, ids=[row[0] for row in SNIPPETS])
def test_snippets_of_the_guide_run(tmp_path: Path, options: str, text: str) -> None:
    (tmp_path / "snippet.py").write_text(text)
    launched(options.split(), tmp_path / "snippet.py")


def test_every_snippet_says_how_it_is_launched() -> None:
    assert len(SNIPPETS) == GUIDE.count("```python") == 3


def test_a_network_over_two_tasks() -> None:
    program = ROOT / "tests" / "examples" / "distributed" / "model_parallel.py"
    found = launched(["--cluster", "worker=2"], program).splitlines()
    assert "[worker:0] the loss is less: True" in found
    assert "[worker:1] ran 15 parts of steps" in found
