"""What the proof takes that every access lies inside of its buffer, as a part of compiling.

    python -m gravure.tools.measuring.proof MODEL.onnx ... [--most 512] [--rounds 3]

Processor time, all in one process and without the cache; of several rounds the one whose compiling
took least. What nobody bounds is at most 512. Prints, for each model and for all: seconds to
compile, seconds of the proof, its part, how many kernels there are, and in how many of them
accesses are left to be looked at in the run.
"""

from __future__ import annotations

import argparse
import gc
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import process_time
from typing import TYPE_CHECKING
from unittest import mock

from ...codegen import objects
from ...codegen.kernels.builder import outside
from ...frontend.programs import compile as programs
from ...frontend.programs.load import load_program
from ...ir.interpret.launch import GUARDED
from ..console import table

if TYPE_CHECKING:
    from xdsl.dialects.func import FuncOp


@dataclass
class ProofTime:
    """What compiling took, and the proof of it."""

    compiling: float = 0.0
    proving: float = 0.0
    kernels: int = 0
    unproven: int = 0

    def __add__(self, other: ProofTime) -> ProofTime:
        return ProofTime(
            self.compiling + other.compiling,
            self.proving + other.proving,
            self.kernels + other.kernels,
            self.unproven + other.unproven,
        )

    def row(self, name: str) -> list[str]:
        """Return a line of the table."""
        part = self.proving / max(self.compiling, 1e-9)
        seconds = f"{self.compiling:.2f}", f"{self.proving:.3f}"
        return [name, *seconds, f"{part:.1%}", str(self.kernels), str(self.unproven)]


@contextmanager
def watched(share: ProofTime) -> Iterator[None]:
    """Note what proofs take, as long as this goes on."""

    def guard(loops: FuncOp) -> None:
        begin = process_time()
        outside.guard(loops)
        share.proving += process_time() - begin
        share.kernels += 1
        share.unproven += GUARDED in loops.attributes

    with mock.patch.object(objects, "guard", guard):
        yield


def share_of(path: Path, most: int, rounds: int = 1) -> ProofTime:
    """Return what compiling a model takes, in the quickest of some rounds."""
    found = []
    ranges = load_program(path).ranges.items()
    dims = {name: (low, most) for name, (low, high) in ranges if high is None}
    for _ in range(rounds):
        share = ProofTime()
        gc.collect()
        with watched(share):
            begin = process_time()
            programs.compile(path, dims=dims, cache=False, jobs=1)
            share.compiling = process_time() - begin
        found.append(share)
    return min(found, key=lambda share: share.compiling)


def main(argv: Sequence[str] | None = None) -> None:
    """Print the table."""
    assert __doc__
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("models", nargs="+", type=Path)
    parser.add_argument("--most", type=int, default=512, help="how large open sizes may be")
    parser.add_argument("--rounds", type=int, default=1)
    args = parser.parse_args(argv)
    whole = ProofTime()
    rows = [["model", "compile (s)", "proof (s)", "part", "kernels", "not shown"]]
    for path in args.models:
        share = share_of(path, args.most, args.rounds)
        whole += share
        rows.append(share.row(path.stem))
    print(table([*rows, whole.row("all")]))


if __name__ == "__main__":
    main()
