"""Run a program on several ranks by `mpiexec`, and see that all of them end.

The launcher and what it starts form a group of processes of their own. When a rank fails, all are
ended at once; when `mpiexec` does not see to that, they are killed one by one.
"""

from __future__ import annotations

import ctypes
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path

from ... import knobs
from ...errors import GravureError
from ...runtime.comm.progress import checkpoint_of, doing_of, said_of
from ...runtime.comm.protocol import patience
from .lines import Lines

GRACE = 0.3
"""Seconds that `mpiexec` has to end ranks on other machines when one has failed."""
SOON = 0.1
"""Seconds that it has where there are none, and others to say what they see: all are here."""
BEGIN = 60.0
"""Seconds in which all ranks that were started must have begun, at least."""
LOOK = 0.02
"""Seconds between looks at what ranks have noted."""
ENDED = re.compile(r"gravure: rank (\d+) ((?:was killed by|ended with) .*)")
"""What the guard of a rank on another machine prints when that has ended."""


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

    @property
    def grace(self) -> float:
        """Return the seconds that `mpiexec` has to end the others when a rank has failed."""
        return GRACE if self.hosts else SOON

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
    checkpoint: str = ""
    """The last checkpoint that was complete."""


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


def is_open_mpi(mpiexec: str) -> bool:
    """Say whether a launcher is Open MPI's, which has options of its own."""
    asked = subprocess.run([mpiexec, "--version"], capture_output=True, text=True, check=False)
    return "Open MPI" in asked.stdout + asked.stderr or "PRRTE" in asked.stdout


def command_of(job: Job, mpiexec: str, notes: Path) -> tuple[list[str], dict[str, str]]:
    """Return the command of a job, and the environment variables that its `mpiexec` wants."""
    rank = [sys.executable, "-m", "gravure.runtime.comm.guard", str(notes), job.program]
    count, told = ["-n", str(job.ranks)], job.environment(mpiexec)
    if is_open_mpi(mpiexec):
        allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        allowed |= {"PRTE_ALLOW_RUN_AS_ROOT": "1", "PRTE_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
        flags = ["--oversubscribe", "--bind-to", "none", "--output", "tag"]
        flags += [word for name in told for word in ("-x", name)]
        hosts = ["--host", ",".join(job.hosts)] if job.hosts else []
        return [mpiexec, *flags, *hosts, *count, *rank, *job.arguments], {**told, **allowed}
    hosts = ["-hosts", ",".join(job.hosts)] if job.hosts else []
    return [mpiexec, "-prepend-rank", *hosts, *count, *rank, *job.arguments], told


def run_job(job: Job, write: Callable[[str], None], checkpoint: str = "") -> Ended:
    """Run a job once; each line of a rank is written with the name of its task before.

    `checkpoint` is the last one that was complete before.
    """
    mpiexec = find_mpiexec(job.mpiexec)
    # (what ends meanwhile, and is no rank any more, must not keep the job's end from being told)
    made = tempfile.TemporaryDirectory(prefix="gravure-launch-", ignore_cleanup_errors=True)
    with made as folder:
        notes, said = Path(folder), Said(job)
        command, told = command_of(job, mpiexec, notes)

        def line(text: str) -> None:
            said.add(text)
            write(text)

        lines = Lines(notes, job.names(), line)
        process = subprocess.Popen(
            command,
            env={**os.environ, **told},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            preexec_fn=dies_with_parent,  # noqa: PLW1509  (it is one call of the system)
        )
        assert process.stdout is not None, "it was asked for"
        lines.begin(process.stdout.fileno())
        try:
            status, wrong = watch(process, job, notes)
        finally:
            end_all(process, notes, job.grace)
            lines.finish()
            process.stdout.close()
        checkpoint = checkpoint_of(notes) or checkpoint
        left = [job.names()[rank] for rank in vanished(notes)]
        if status == 0 and not left:
            return Ended(0, "", checkpoint)
        ends = "" if status else f"no end of the program came on task {', '.join(left)}"
        why = wrong or said.sentence or ends
        said_why = first_said(notes) is not None  # (`mpiexec` gives how one of the others ended)
        reason = failure(notes, job, status, why)
        return Ended(75 if said_why else status or 75, reason, checkpoint)


def vanished(notes: Path) -> list[int]:
    """Return the ranks of this machine that have begun, and not come to the end of the program.

    The others have been ended then, and `mpiexec` may find nothing wrong with that.
    """
    begun = sorted(int(note.stem) for note in notes.glob("*.pid"))
    return [rank for rank in begun if not (notes / f"{rank}.done").exists()]


def dies_with_parent() -> None:
    """Let this process end when the one that has started it does, however that ends."""
    ctypes.CDLL(None).prctl(1, signal.SIGTERM)  # PR_SET_PDEATHSIG


class Said:
    """What ranks of other machines have said of their ends."""

    def __init__(self, job: Job) -> None:
        self.names, self.sentence = job.names(), ""

    def add(self, line: str) -> None:
        """Look for the first one in a line."""
        match = ENDED.search(line)
        if match is not None and not self.sentence and int(match[1]) < len(self.names):
            self.sentence = f"task {self.names[int(match[1])]} {match[2]}"


def watch(process: subprocess.Popen[bytes], job: Job, notes: Path) -> tuple[int, str]:
    """Wait for the end, if a rank has failed not for long; return the status, and what is wrong."""
    started, failed_at, stopped = time.monotonic(), 0.0, dict[int, float]()
    limit = job.timeout or patience()
    while (status := process.poll()) is None:
        now = time.monotonic()
        if not failed_at and first_said(notes) is not None:
            failed_at = now
        if failed_at and now > failed_at + job.grace:
            return 75, ""
        for rank in range(job.ranks):
            if is_stopped(notes / f"{rank}.pid"):
                if now > stopped.setdefault(rank, now) + limit + 1:
                    return 75, f"task {job.names()[rank]} is stopped, for {limit:g} s and more"
            else:
                stopped.pop(rank, None)
        if now > started + max(limit, BEGIN) and not any(notes.glob("*.pid")):
            return 75, f"no rank has begun within {max(limit, BEGIN):g} s"
        time.sleep(LOOK)
    return status if status >= 0 else 128 - status, ""


def is_stopped(note: Path) -> bool:
    """Say whether the process of a note is one that a signal has stopped."""
    with suppress(OSError, ValueError):
        stat = Path(f"/proc/{int(note.read_text())}/stat").read_text()
        return stat.rpartition(")")[2].split()[0] == "T"
    return False


def end_all(process: subprocess.Popen[bytes], notes: Path, grace: float) -> None:
    """Kill what is left of a job on this machine; `mpiexec` may end it in so many seconds."""
    started = descendants(process.pid)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM if process.poll() is None else signal.SIGKILL)
    try:
        process.wait(grace)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for pid in started:
        with suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    for note in notes.glob("*.pid"):
        pid = int(note.read_text() or 0)
        with suppress(OSError):
            if str(notes).encode() in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
    for note in notes.glob("*.shared"):
        for path in note.read_text().splitlines():
            Path(path).unlink(missing_ok=True)  # (MPI has not, where a rank was killed)


def descendants(parent: int) -> list[int]:
    """Return the processes that a process has started, and that these have, on this machine."""
    children: dict[int, list[int]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            children.setdefault(int(stat.read_text().rpartition(")")[2].split()[1]), []).append(
                int(stat.parent.name)
            )
    found = [parent]
    for pid in found:
        found += children.get(pid, [])
    return found[1:]


def failure(notes: Path, job: Job, status: int, told: str) -> str:
    """Return why a job has failed: what the first rank said, or who has just ended, and where."""
    names, first = job.names(), first_said(notes)
    if first is not None and first.suffix == ".failed":
        return f"task {names[int(first.stem)]}: {first.read_text()}"
    if first is not None:
        told = f"task {names[int(first.stem)]} {first.read_text()}"
    if not any(notes.glob("*.pid")):
        return told or f"no rank was started, mpiexec gives {status}"
    gone = [name for rank, name in enumerate(names) if not (notes / f"{rank}.done").exists()]
    told = told or f"a task was killed, of {', '.join(gone)}; mpiexec gives {status}"
    rows = [(name, doing_of(notes, rank)) for rank, name in enumerate(names)]
    did = [f"task {name} was in {doing}" for name, doing in rows if doing and name in gone]
    return "; ".join([told, *did, said_of(checkpoint_of(notes))])


def first_said(notes: Path) -> Path | None:
    """Return the first note of a rank that has failed, or was ended from outside."""
    said = [note for what in ("ended", "failed") for note in notes.glob(f"*.{what}")]
    return min(said, key=lambda note: note.stat().st_mtime_ns, default=None)


def supervise(
    job: Job, restarts: int, write: Callable[[str], None], tell: Callable[[str], None]
) -> int:
    """Run a job, again after each failure; return its exit status."""
    checkpoint = ""
    with signals_end():
        for number in range(restarts + 1):
            ended = run_job(job, write, checkpoint)
            if not ended.reason:
                return 0
            checkpoint = ended.checkpoint
            tell(f"the job has failed: {ended.reason}")
            if number < restarts:
                tell(f"it is started again, {number + 1} of {restarts}")
    return ended.status if 0 < ended.status < 256 else 75


@contextmanager
def signals_end() -> Iterator[None]:
    """Let signals that end this process end it in order, with all that it has started."""

    def end(number: int, frame: object) -> None:
        raise SystemExit(128 + number)

    before = {number: signal.signal(number, end) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
