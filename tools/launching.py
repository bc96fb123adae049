"""Run a program on several ranks by `mpiexec`, and see that all of them end.

The launcher and what it starts form a group of processes of their own. When a rank fails, all are
ended at once; when `mpiexec` does not see to that, they are killed one by one.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import IO

from .. import knobs
from ..errors import GravureError

GRACE = 2.0
"""Seconds that `mpiexec` has to end the others when a rank has failed."""
TAGS = re.compile(r"^\[(?:\d+,)?(\d+)\](?:<std\w+>:)? ?")
"""What MPICH and Open MPI put before a line of a rank."""


class LaunchError(GravureError):
    """Ranks cannot be started: there is no `mpiexec`, or no mpi4py, or they are not enough."""

    code = "GV9400"
    exit_status = 69


@dataclass(frozen=True)
class Job:
    """What is to be run, and how."""

    program: str
    arguments: tuple[str, ...] = ()
    ranks: int = 1
    cluster: Mapping[str, int] = field(default_factory=dict)
    """Tasks of each job; none: all ranks are workers."""
    hosts: tuple[str, ...] = ()
    timeout: float | None = None
    """Seconds that a rank waits for another one."""
    mpiexec: str | None = None
    bits: int | None = None
    """In how many bits `float32` values go between devices."""

    def names(self) -> list[str]:
        """Return what each rank is called in the output."""
        if not self.cluster:
            return [str(rank) for rank in range(self.ranks)]
        return [f"{job}:{n}" for job in sorted(self.cluster) for n in range(self.cluster[job])]

    def environment(self, launcher: str) -> dict[str, str]:
        """Return what the ranks are told by environment variables."""
        told = {knobs.WORLD_SIZE.name: str(self.ranks), knobs.LAUNCHER.name: launcher}
        if self.timeout is not None:
            told[knobs.TIMEOUT.name] = str(self.timeout)
        if self.bits is not None:
            told[knobs.TRANSFER_BITS.name] = str(self.bits)
        if self.cluster:
            hosts = self.hosts or ("localhost",)
            ports = iter(range(2222, 2222 + self.ranks))
            tasks = {
                job: [f"{hosts[n % len(hosts)]}:{next(ports)}" for n in range(self.cluster[job])]
                for job in sorted(self.cluster)
            }
            told[knobs.CLUSTER.name] = json.dumps(tasks)
        return told


@dataclass(frozen=True)
class Ended:
    """How a run of all ranks has ended."""

    status: int
    reason: str
    """Why it has failed, with the rank that was the first to say so; nothing if it has not."""


def find_mpiexec(wanted: str | None = None) -> str:
    """Return the path of `mpiexec`: the one that is wanted, or beside Python, or in the path."""
    if find_spec("mpi4py") is None:
        raise LaunchError("mpi4py is not installed", hint="pip install 'gravure[dist]'")
    places = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"
    found = shutil.which(wanted or "mpiexec", path=places)
    if found is None:
        hint = "pip install 'gravure[dist]', or --mpiexec PATH"
        raise LaunchError(f"there is no {wanted or 'mpiexec'}", hint=hint)
    return found


def command_of(job: Job, mpiexec: str, notes: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command of a job, and the environment variables that its `mpiexec` wants."""
    asked = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False)
    rank = [sys.executable, "-m", "gravure.runtime.comm.rank", str(notes), job.program]
    count, told = ["-n", str(job.ranks)], job.environment(mpiexec)
    if "Open MPI" in asked.stdout + asked.stderr or "PRRTE" in asked.stdout:
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        allowed |= {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        flags = ["--oversubscribe", "--bind-to", "none", "--output", "tag"]
        flags += [word for name in told for word in ("-x", name)]
        hosts = ["--host", ",".join(job.hosts)] if job.hosts else []
        return [mpiexec, *flags, *hosts, *count, *rank, *job.arguments], {**told, **allowed}
    hosts = ["-hosts", ",".join(job.hosts)] if job.hosts else []
    return [mpiexec, "-prepend-rank", *hosts, *count, *rank, *job.arguments], told


def run_job(job: Job, write: Callable[[str], None]) -> Ended:
    """Run a job once; each line of a rank is written with the name of its task before."""
    mpiexec = find_mpiexec(job.mpiexec)
    with tempfile.TemporaryDirectory(prefix="gravure-launch-") as folder:
        notes = Path(folder)
        command, told = command_of(job, mpiexec, notes)
        process = subprocess.Popen(
            command,
            env={**os.environ, **told},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        assert process.stdout is not None, "it was asked for"
        reader = Thread(target=forward, args=(process.stdout, job.names(), write), daemon=True)
        reader.start()
        try:
            status = watch(process, notes)
        finally:
            end_all(process, notes)
            reader.join(GRACE)
        return Ended(status, "" if status == 0 else failure(notes, job, status))


def watch(process: subprocess.Popen[str], notes: Path) -> int:
    """Wait for the end; if a rank has failed, not for long."""
    failed_at = None
    while (status := process.poll()) is None:
        if failed_at is None and any(notes.glob("*.failed")):
            failed_at = time.monotonic()
        if failed_at is not None and time.monotonic() > failed_at + GRACE:
            return 75
        time.sleep(0.02)
    return status if status >= 0 else 128 - status


def end_all(process: subprocess.Popen[str], notes: Path) -> None:
    """Kill what is left of a job on this machine."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM if process.poll() is None else signal.SIGKILL)
    try:
        process.wait(GRACE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for note in notes.glob("*.pid"):
        pid = int(note.read_text() or 0)
        with suppress(OSError):
            if str(notes).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)


def failure(notes: Path, job: Job, status: int) -> str:
    """Return why a job has failed: what the first rank said, or which ranks have just ended."""
    names = job.names()
    said = sorted(notes.glob("*.failed"), key=lambda note: note.stat().st_mtime_ns)
    if said:
        return f"task {names[int(said[0].stem)]}: {said[0].read_text()}"
    gone = [name for rank, name in enumerate(names) if not (notes / f"{rank}.done").exists()]
    started = any(notes.glob("*.pid"))
    if not started:
        return f"no rank was started, mpiexec gives {status}"
    return f"a task was killed, of {', '.join(gone)}; mpiexec gives {status}"


def forward(stream: IO[str], names: Sequence[str], write: Callable[[str], None]) -> None:
    """Write the lines of all ranks, each with the name of its task."""
    for line in stream:
        match = TAGS.match(line)
        rank = int(match[1]) if match else -1
        if match and 0 <= rank < len(names):
            write(f"[{names[rank]}] {line[match.end() :].rstrip()}")
        else:
            write(line.rstrip())


def supervise(
    job: Job, restarts: int, write: Callable[[str], None], tell: Callable[[str], None]
) -> int:
    """Run a job, again after each failure; return its exit status."""
    for number in range(restarts + 1):
        ended = run_job(job, write)
        if not ended.reason:
            return 0
        tell(f"the job has failed: {ended.reason}")
        if number < restarts:
            tell(f"it is started again, {number + 1} of {restarts}")
    return ended.status if 0 < ended.status < 256 else 75
