"""Other runtimes side by side with gravure, each in its own process, in turns.

In each round every runtime makes a block of calls, in an order that changes; all others wait
meanwhile. Ratios are taken round by round, so that what disturbs a round disturbs both sides.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from ..console import in_bytes, in_seconds, table
from ..errors import NotInstalledError, UsageError
from .peer_process import KNOWN
from .statistics import Ratio, median_interval, ratio, turns

if TYPE_CHECKING:
    from ...runtime.buffer import Array

WORKER = Path(__file__).with_name("peer_process.py")
ROOT = Path(__file__).parents[3]
BLOCK = 0.03
"""Seconds that a block of calls takes, about."""
ROUNDS = 12
"""Rounds at least."""
OTHERS = tuple(name for name in KNOWN if name != "gravure")


@dataclass(frozen=True)
class Peer:
    """A runtime, and the interpreter that has it."""

    name: str
    runtime: str
    """A name in `peer_process.KNOWN`, or a file that defines `prepare`."""
    python: str = sys.executable


def peers_of(names: Sequence[str], described: Sequence[str]) -> list[Peer]:
    """Return the peers that are named: `onnxruntime`, or `NAME=PYTHON[,FILE.py]`."""
    found = [Peer(name, name) for name in names]
    for text in described:
        name, equals, rest = text.partition("=")
        python, _, file = rest.partition(",")
        if not (name and equals and python):
            raise UsageError(f"peer {text!r}: expected NAME=PYTHON or NAME=PYTHON,FILE.py")
        found.append(Peer(name, file or name, python))
    for peer in found:
        if peer.runtime not in OTHERS and not peer.runtime.endswith(".py"):
            raise UsageError(
                f"peer {peer.runtime!r} is unknown, known are {', '.join(OTHERS)}",
                hint="NAME=PYTHON,FILE.py is one that you describe",
            )
    twice = [peer.name for peer in found if [p.name for p in found].count(peer.name) > 1]
    if twice:
        raise UsageError(
            f"peer {twice[0]!r} is named twice", hint="OTHER=PYTHON gives it another name"
        )
    return found


@dataclass
class Contender:
    """One runtime that is being measured."""

    peer: Peer
    process: subprocess.Popen[str]
    results: Path
    about: dict[str, Any] = field(default_factory=dict)
    blocks: list[float] = field(default_factory=list)
    """The median call of each round, in seconds."""
    samples: list[float] = field(default_factory=list)
    processor: list[float] = field(default_factory=list)
    """The processor's time for a call in each round, all threads together."""
    calls: int = 1

    def ask(self, calls: int) -> dict[str, Any]:
        """Let it make so many calls; return what it answers."""
        _stream(self.process.stdin).write(f"{calls}\n")
        _stream(self.process.stdin).flush()
        return self.answer()

    def answer(self) -> dict[str, Any]:
        """Return the next answer."""
        line = _stream(self.process.stdout).readline()
        if not line:
            status = self.process.wait()
            raise NotInstalledError(f"peer {self.peer.name!r} ended with status {status}")
        data = json.loads(line)
        assert isinstance(data, dict), "an answer is an object"
        return data

    def block(self, *, keep: bool) -> float:
        """Make one block of calls; return the seconds of a call."""
        found = self.ask(self.calls)
        times = [t / 1e9 for t in found["times"]]
        if keep:
            self.blocks.append(float(np.median(times)))
            self.samples += times
            self.processor.append(found["processor"] / 1e9 / len(times))
        return float(np.median(times))

    def arrays(self) -> list[Array]:
        """Return the results of its first call."""
        with np.load(self.results) as file:
            return [file[name] for name in file.files]

    def stop(self) -> None:
        """End the process."""
        if self.process.poll() is None:
            _stream(self.process.stdin).close()
            try:
                self.process.wait(timeout=5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        _stream(self.process.stdout).close()


def _stream(stream: IO[str] | None) -> IO[str]:
    assert stream is not None, "the process was started with pipes"
    return stream


@dataclass(frozen=True)
class Duel:
    """What to compare, and how long."""

    library: Path
    model: str
    inputs: Mapping[str, Array]
    threads: int
    seconds: float


def compare(duel: Duel, peers: Sequence[Peer]) -> tuple[list[Contender], dict[str, str]]:
    """Return gravure and the peers that could be measured, and why others could not."""
    absent: dict[str, str] = {}
    running: list[Contender] = []
    with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
        given = Path(folder) / "inputs.npz"
        np.savez(given, allow_pickle=False, **dict(duel.inputs))
        try:
            for peer in (Peer("gravure", "gravure"), *peers):
                model = str(duel.library if peer.runtime == "gravure" else duel.model)
                made = _start(peer, model, given, duel.threads)
                if "version" in made.about:
                    running.append(made)
                else:
                    absent[peer.name] = _reason(made)
                    made.stop()
            _measure(running, duel.seconds)
            for each in running:
                each.about["results"] = each.arrays()
        finally:
            for each in running:
                each.stop()
    return running, absent


def _reason(made: Contender) -> str:
    if "missing" in made.about:
        return f"not installed for {made.peer.python}: {made.about['missing']}"
    return str(made.about.get("failed", "it did not answer"))


def _start(peer: Peer, model: str, given: Path, threads: int) -> Contender:
    """Start a runtime, and wait until its model is ready."""
    results = given.with_name(f"{peer.name}.npz")
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    environment["PYTHONPATH"] = str(ROOT) if peer.runtime == "gravure" else ""
    command = [peer.python, "-u", str(WORKER), peer.runtime, model, str(given), str(results)]
    try:
        process = subprocess.Popen(
            [*command, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, env=environment,
        )  # fmt: skip
    except OSError as error:
        raise UsageError(f"peer {peer.name!r}: cannot start {peer.python}: {error}") from error
    made = Contender(peer, process, results)
    try:
        made.about = made.answer()
    except NotInstalledError as error:
        made.about = {"failed": error.message}
    return made


def _measure(running: Sequence[Contender], seconds: float) -> None:
    """Warm up, choose how many calls a block has, and go round."""
    for each in running:
        once = min(each.block(keep=False) for _ in range(2))
        each.calls = max(1, int(BLOCK / max(once, 1e-9)))
        each.calls = max(1, int(BLOCK / max(each.block(keep=False), 1e-9)))
    once_round = sum(each.calls * each.block(keep=False) for each in running)
    rounds = max(ROUNDS, int(seconds / max(once_round, 1e-9)))
    for order in turns(len(running), rounds):
        for index in order:
            running[index].block(keep=True)


def rows_of(running: Sequence[Contender], least: float) -> list[dict[str, Any]]:
    """Return a record of each runtime; ratios are gravure's time through the other's.

    `least` are the seconds that gravure's launches take at the machine's limits.
    """
    own = running[0]
    rows = []
    for each in running:
        versus: Ratio | None = None if each is own else ratio(own.blocks, each.blocks)
        low, high = median_interval(each.blocks)
        rows.append(
            {
                "name": each.peer.name,
                "version": each.about["version"],
                "python": each.about["python"],
                "prepare_seconds": each.about["seconds"],
                "peak_bytes": each.about["peak"],
                "p50": float(np.median(each.blocks)),
                "interval": [low, high],
                "minimum": min(each.samples),
                "p90": float(np.quantile(each.samples, 0.9)),
                "p99": float(np.quantile(each.samples, 0.99)),
                "processor": float(np.median(each.processor)),
                "rounds": len(each.blocks),
                "calls": len(each.samples),
                "difference": _difference(own.about["results"], each.about["results"]),
                **({"limit_seconds": least} if versus is None else versus.as_json()),
            }
        )
    return rows


def _difference(own: Sequence[Array], other: Sequence[Array]) -> float | None:
    """Return the largest difference of results, relative to the largest; None if not alike."""
    worst = 0.0
    for a, b in zip(own, other, strict=False):
        if a.shape != b.shape or a.dtype.kind not in "fiub":
            return None
        wide = a.astype(np.float64), b.astype(np.float64)
        scale = float(np.abs(wide[1]).max()) if b.size else 0.0
        far = float(np.abs(wide[0] - wide[1]).max()) if b.size else 0.0
        worst = max(worst, far / scale if scale else far)
    return worst if np.isfinite(worst) else None


def text_of(rows: Sequence[dict[str, Any]], absent: Mapping[str, str]) -> str:
    """Return the comparison for reading."""
    head = ["runtime", "p50", "between", "minimum", "processor", "memory", "gravure / it",
            "differs by"]  # fmt: skip
    lines = [head]
    for row in rows:
        between = " to ".join(in_seconds(t) for t in row["interval"])
        times = [in_seconds(row["p50"]), between, in_seconds(row["minimum"])]
        versus = ""
        if "ratio" in row:
            low, high = row["ratio_interval"]
            versus = f"{row['ratio']:.3f} ({low:.3f} to {high:.3f})"
        differs = "" if "ratio" not in row else _shown(row["difference"])
        lines.append([f"{row['name']} {row['version']}", *times, in_seconds(row["processor"]),
                      in_bytes(row["peak_bytes"]), versus, differs])  # fmt: skip
    notes = [f"{name}: not measured: {reason}" for name, reason in absent.items()]
    rounds, least = rows[0]["rounds"], rows[0]["limit_seconds"]
    near = (
        f"at the machine's limits, measured just now, gravure's launches take {in_seconds(least)}: "
        f"{least / rows[0]['p50']:.0%} of p50"
    )
    meaning = (
        f"{rounds} rounds in turns; p50 is the median of the rounds' medians, below 1 gravure is "
        "faster; processor is its time for a call, all threads together; memory is the most that "
        "its process held, Python and numpy included"
    )
    return "\n".join([table(lines, right="13456"), meaning, near, *notes])


def _shown(difference: float | None) -> str:
    return "other shapes or types" if difference is None else f"{difference:.1e}"
