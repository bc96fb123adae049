"""A model in several runtimes, side by side."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ...codegen.compiled import Compiled, OptionFields, Options
from ...codegen.limits import Limits
from ...codegen.work import launches_of
from ...frontend.programs.compile import options_with
from ...passes.base import Observer
from ..console import to_json
from ..errors import UsageError
from ..inputs import Inputs
from ..machine import machine, now, versions
from ..measuring.peers import Duel, Peer, compare, peers_of, rows_of, text_of
from ..options import is_library
from ..talk import FilePath, Progress, Source, silent
from .bench import keep
from .subject import Wanted, subject_of

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption


@dataclass(frozen=True)
class SideBySide:
    """What several runtimes took for the same model, gravure first."""

    model: str
    time: str
    inputs: Mapping[str, tuple[str, tuple[int, ...]]]
    """Element types and shapes by name."""
    threads: int
    runtimes: tuple[Mapping[str, Any], ...]
    """A row each: name, version, times, memory, and gravure's time through its own (`ratio`)."""
    absent: Mapping[str, str]
    """Which could not be measured, and why."""
    machine: Mapping[str, Any]
    versions: Mapping[str, str]

    def __str__(self) -> str:
        return text_of([dict(row) for row in self.runtimes], self.absent)

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        return {
            "schema": "gravure.peers/1",
            "model": self.model,
            "time": self.time,
            "inputs": {name: [kind, list(shape)] for name, (kind, shape) in self.inputs.items()},
            "threads": self.threads,
            "runtimes": [dict(row) for row in self.runtimes],
            "absent": dict(self.absent),
            "machine": dict(self.machine),
            "versions": dict(self.versions),
        }

    def save(self, path: FilePath) -> None:
        """Write the record."""
        keep(path, to_json(self.as_json()))


def bench_peers(  # noqa: PLR0913  (each option is its own)
    source: Source,
    peers: Sequence[str | Peer],
    inputs: Inputs = None,
    *,
    threads: int = 1,
    seconds: float = 1.0,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    options: Options | None = None,
    progress: Progress = silent,
    **more: Unpack[OptionFields],
) -> SideBySide:
    """Measure a model in several runtimes, each in a process of its own, in turns.

    - `source`: the model's file, which the others read, too.
    - `peers`: names of runtimes, such as `onnxruntime` and `openvino`, or `NAME=PYTHON[,FILE.py]`
      for what another interpreter has.
    - `inputs`: as for `gravure.bench`; `seconds`: of sampling, at least; `threads`: of each.
    - `shapes`, `dims`, `options` and further keywords: as for `gravure.compile`.
    - `progress`: is told what goes on.

    A runtime that is not there is named in `absent`, with the reason.

    >>> import gravure as gv
    >>> gv.bench_peers("model.onnx", ["onxruntime"])
    Traceback (most recent call last):
    gravure.tools.errors.UsageError: peer 'onxruntime' is unknown, known are ...
    """
    own = ("peers", "inputs", "threads", "seconds", "shapes", "dims", "options", "progress")
    made = options_with("bench_peers", options, more, threads=threads, own=own)
    if isinstance(source, bytes) or is_library(source):
        raise UsageError("other runtimes need the model's file, not bytes or a library of it")
    names = [each for each in peers if isinstance(each, str) and "=" not in each]
    told = [each for each in peers if isinstance(each, str) and "=" in each]
    chosen = [*peers_of(names, told), *(each for each in peers if isinstance(each, Peer))]
    # The program is wanted, so it is not taken from the cache.
    wanted = Wanted(inputs, threads, shapes, dims, observers=[Observer()])
    subject = subject_of(source, made, wanted, progress)
    compiled = subject.compiled
    if compiled is None:
        raise UsageError("a model with host steps is not measured beside others")
    with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
        library = Path(folder) / "model.so"
        subject.model.save(library)
        with progress("measuring"):
            duel = Duel(library, str(source), subject.inputs, threads, seconds)
            running, absent = compare(duel, chosen)
    rows = rows_of(running, _least(compiled, subject.sizes, threads))
    kinds = {name: (str(a.dtype), tuple(a.shape)) for name, a in subject.inputs.items()}
    return SideBySide(
        subject.name, now(), kinds, threads, tuple(rows), absent, machine(), versions()
    )


def _least(compiled: Compiled, sizes: dict[str, int], threads: int) -> float:
    """Return the seconds that the machine's limits leave for a run: its launches, its weights."""
    assert compiled.program is not None, "what is compiled now has its program"
    limits = Limits.measured(threads)
    launches = limits.least(info.cost for info in launches_of(compiled.program, sizes))
    return max(launches, limits.moving(compiled.description.weights))
