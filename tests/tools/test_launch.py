"""`gravure launch`: ranks that are started, watched, ended and started again."""

import re
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from gravure.tools.commands.launch import cluster_of
from gravure.tools.errors import UsageError
from gravure.tools.launching.jobs import Job
from gravure.tools.launching.lines import tagged

ROOT = Path(__file__).parents[2]
pytestmark = pytest.mark.mpi


def launch(folder: Path, program: str, *options: str, arguments: Any = ()) -> Any:
    """Run a program by the command, within half a minute; return status, output and seconds."""
    pytest.importorskip("mpi4py", reason="several processes need mpi4py: gravure[dist]")
    path = folder / "program.py"
    path.write_text(program)
    started = time.monotonic()
    done = subprocess.run(
        [sys.executable, "-m", "gravure", "launch", *options, str(path), *arguments],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr, time.monotonic() - started


def test_each_rank_has_a_place_and_its_lines_say_which(tmp_path: Path) -> None:
    program = """
import json, os, sys
told = json.loads(os.environ["TF_CONFIG"])
print(sys.argv[1:], *told["task"].values(), told["cluster"])
"""
    given = ["--job={job}", "--task={task}"]
    status, out, err, _ = launch(tmp_path, program, "--cluster", "worker=1,ps=1", arguments=given)
    assert status == 0, err
    cluster = {"ps": ["localhost:2222"], "worker": ["localhost:2223"]}
    assert sorted(out.splitlines()) == [
        f"[ps:0] ['--job=ps', '--task=0'] ps 0 {cluster}",
        f"[worker:0] ['--job=worker', '--task=0'] worker 0 {cluster}",
    ]


def test_an_error_ends_all_and_is_told_with_its_rank(tmp_path: Path) -> None:
    program = """
import time
from gravure.runtime.comm.world import world
if world().rank == 1:
    raise ZeroDivisionError("here")
time.sleep(30)
"""
    status, out, err, seconds = launch(tmp_path, program, "-n", "2")
    assert status == 75
    assert "the job has failed: task 1: ZeroDivisionError: here" in err
    assert "[1] Traceback" in out
    assert seconds < 20


def test_a_rank_that_leaves_its_program_with_status_0_is_a_failure(tmp_path: Path) -> None:
    program = """
import os, time
from gravure.runtime.comm.world import world
if world().rank == 1:
    os._exit(0)
time.sleep(5)
"""
    status, _, err, _ = launch(tmp_path, program, "-n", "2")
    assert status == 75
    assert "task 1 ended with status 0, and not at the end of its program" in err


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSTOP])
def test_c5_a_killed_or_stopped_rank_costs_a_restart_from_the_checkpoint(
    tmp_path: Path, number: int
) -> None:
    program = f"""
import os, sys, pathlib
import numpy as np
from gravure.runtime.comm.world import world
from gravure.runtime.comm.protocol import in_step

folder, comm = pathlib.Path({str(tmp_path)!r}), world()
kept, killed = folder / "state.npy", folder / "killed"
start, state = np.load(kept) if kept.exists() else (0.0, 0.0)
print("begins at", int(start))
for step in range(int(start), 20):
    if step == 13 and comm.rank == 1 and not killed.exists():
        killed.touch()
        os.kill(os.getpid(), {int(number)})
    with in_step(step):
        state = comm.all_reduce(np.float64(state * 1.5 + comm.rank + step))
    if comm.rank == 0 and step % 5 == 4:
        np.save(folder / "new.npy", [step + 1, state])
        os.replace(folder / "new.npy", kept)
print("ends with", float(state))
"""
    options = ("-n", "2", "--restarts", "2", "--timeout", "1")
    status, out, err, _ = launch(tmp_path, program, *options)
    assert status == 0, err
    assert {"[0] begins at 0", "[1] begins at 0", "[0] begins at 10"} <= set(out.splitlines())
    if number == signal.SIGSTOP:
        wait = r"rank 0 has waited 1 s for rank 1 in all_reduce of step 13"
        assert re.search(f"the job has failed: task 0: LateError: {wait}", err)
    else:
        assert "the job has failed: task 1 was killed by signal 9; task 0 was in " in err
    assert "it is started again, 1 of 2" in err
    state = 0.0
    for step in range(20):
        state = sum(state * 1.5 + rank + step for rank in range(2))
    assert f"[0] ends with {state}" in out


def test_what_cannot_be_launched_is_said(tmp_path: Path) -> None:
    for options, text in (
        ((), "no ranks"),
        (("-n", "3", "--cluster", "ps=1,worker=1"), "has 2 tasks"),
        (("-n", "2", "--mpiexec", "/nowhere/mpiexec"), "there is no /nowhere/mpiexec"),
    ):
        status, _, err, _ = launch(tmp_path, "", *options)
        assert status in (2, 69)
        assert text in err
    for wrong in ("ps", "ps=x", "ps=0", "ps=1,ps=2"):
        with pytest.raises(UsageError, match="expected jobs with counts"):
            cluster_of(wrong)


def test_lines_of_both_mpis_are_understood() -> None:
    names = Job("x", cluster={"ps": 1, "worker": 1}, ranks=2).names()
    lines = [tagged(x, names) for x in ("[1] one", "[1,0]<stdout>: two", "from mpiexec")]
    assert lines == ["[worker:0] one", "[ps:0] two", "from mpiexec"]
