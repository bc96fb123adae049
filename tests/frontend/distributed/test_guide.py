"""The guide to several processes, and the programs beside it, run as they are."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
GUIDE = (ROOT / "docs" / "distributed.md").read_text()
SNIPPETS = re.findall(r"```python\n# gravure launch ([^\n]*)\n(.*?)```", GUIDE, re.DOTALL)
EXAMPLES = ROOT / "tests" / "examples" / "distributed"
pytestmark = pytest.mark.mpi


def launched(options: list[str], program: Path, *arguments: str, **environment: str) -> str:
    """Return what a program prints on all ranks, which end well within two minutes."""
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    done = subprocess.run(
        [sys.executable, "-m", "gravure", "launch", "--timeout", "30", *options, str(program),
         *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=120, check=False,
        env=os.environ | environment,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(("options", "text"), SNIPPETS, ids=[row[0] for row in SNIPPETS])
def test_snippets_of_the_guide_run(tmp_path: Path, options: str, text: str) -> None:
    (tmp_path / "snippet.py").write_text(text)
    launched(options.split(), tmp_path / "snippet.py")


def test_every_snippet_says_how_it_is_launched() -> None:
    assert len(SNIPPETS) == GUIDE.count("```python") == 6


def test_a_network_over_two_tasks() -> None:
    program = EXAMPLES / "model_parallel.py"
    found = launched(["--cluster", "worker=2"], program).splitlines()
    assert "[worker:0] the loss is less: True" in found
    assert "[worker:1] ran 15 parts of steps" in found


def test_parts_of_a_batch_follow_each_other_through_two_tasks() -> None:
    # Steps that are carried out one by one would multiply as numpy's library does: here, as on an
    # old processor, in another order than compiled code.
    found = launched(
        ["--cluster", "worker=2"], EXAMPLES / "pipelined.py", "--steps", "6",
        OPENBLAS_CORETYPE="Nehalem",
    )  # fmt: skip
    for parts in (1, 4):
        assert f"[worker:0] in {parts} parts the same weights: True" in found


def test_replicas_of_parameter_servers_go_on_with_another_number(tmp_path: Path) -> None:
    program, folder = EXAMPLES / "replicated_training.py", str(tmp_path)
    found = launched(["--cluster", "ps=2,worker=1"], program, folder, "40").splitlines()
    assert "[worker:0] begins at step 0" in found
    assert "[worker:0] the loss is small: True" in found
    assert len([*tmp_path.glob("model-*-of-00002.safetensors")]) == 2
    found = launched(["--cluster", "ps=1,worker=1"], program, folder, "45").splitlines()
    began = next(int(line.split()[-1]) for line in found if "begins at step" in line)
    assert began == 40


def test_steps_of_one_client_overlap_and_are_as_one_by_one() -> None:
    found = launched(["--cluster", "worker=2"], EXAMPLES / "concurrent_steps.py").splitlines()
    assert "[worker:0] the same results: True steps: 40.0" in found


def test_what_a_step_on_another_task_costs_is_measured() -> None:
    program = EXAMPLES / "measure_steps.py"
    found = launched(["--cluster", "ps=1,worker=1"], program, "--rounds", "1")
    assert re.search(r"the other task costs +-?[\d.]+ +-?[\d.]+", found)
