"""What went on while a program ran, and what it waited for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from ...codegen.compiled import Options
from ...codegen.limits import limits_here
from ...frontend.models.threads import all_threads
from ...runtime.comm.world import world
from ...runtime.files import replacing
from ...runtime.traces.chain import Chain, critical_path
from ...runtime.traces.chrome import chrome_trace
from ...runtime.traces.timeline import Slice, Timeline
from ...runtime.tracing import Trace, listening
from ..console import in_seconds, table
from ..errors import UsageError
from ..talk import FilePath, Progress, Source, silent
from .subject import Wanted, subject_of

SHOWN = 30
"""How many rows of a table are shown."""


@dataclass
class Profiled:
    """What was noted, complete when the program has left the context."""

    trace: Trace
    limits: bool
    """Whether launches are compared with what the machine can do."""
    done: bool = False

    @cached_property
    def timeline(self) -> Timeline:
        """Return all slices: `timeline.slices`."""
        if not self.done:
            raise UsageError("the profile is still being taken, expected the end of its context")
        least = limits_here(all_threads()).least_of if self.limits else None
        return Timeline.of(self.trace, least)

    @cached_property
    def critical_path(self) -> Chain:
        """Return the chain whose links sum to the time from the first slice to the last."""
        return critical_path(self.timeline)

    @property
    def seconds(self) -> float:
        """Return the time from the beginning of the first slice to the end of the last."""
        return self.critical_path.length / 1e9

    def save(self, path: FilePath) -> None:
        """Write the trace, which Perfetto and chrome://tracing open."""
        with replacing(Path(path)) as file:
            file.write(chrome_trace(self.timeline).encode())

    def save_tensorboard(self, folder: FilePath) -> Path:
        """Write the trace into a folder of TensorBoard's, for its plug-in `profile`."""
        from ...frontend.formats.profiles import write_profile

        return write_profile(self.timeline, Path(folder))

    def __str__(self) -> str:
        return self.text(chain=False)

    def text(self, *, chain: bool) -> str:
        """Return what took longest, by kind and name, or what the chain consists of."""
        if chain:
            return self._chain()
        found: dict[tuple[str, str], list[Slice]] = {}
        for each in self.timeline.slices:
            if each.kind != "part":
                found.setdefault((each.kind, each.name), []).append(each)
        rows = sorted(found.items(), key=lambda row: -sum(s.length for s in row[1]))
        lines = [["kind", "times", "total", "share", "of limit", "name"]]
        for (kind, name), those in rows[:SHOWN]:
            total = sum(s.length for s in those)
            share = f"{total / 1e9 / max(self.seconds, 1e-12):.1%}"
            lines.append(
                [kind, str(len(those)), in_seconds(total / 1e9), share, _of_limit(those), name]
            )
        return "\n".join([table(lines, right="1234"), *_more(len(rows)), self._whole()])

    def _chain(self) -> str:
        rows = self.critical_path.by_name()
        lines = [["kind", "times", "total", "share", "link"]]
        for kind, name, count, total in rows[:SHOWN]:
            share = f"{total / max(self.critical_path.length, 1):.1%}"
            lines.append([kind, str(count), in_seconds(total / 1e9), share, name])
        return "\n".join([table(lines, right="123"), *_more(len(rows)), self._whole()])

    def _whole(self) -> str:
        lanes = len({s.lane for s in self.timeline.slices})
        lost = f"; {self.timeline.lost} parts were not noted" if self.timeline.lost else ""
        count = len(self.timeline.slices)
        return f"{in_seconds(self.seconds)} in all, {count} slices in {lanes} lanes{lost}"

    def as_json(self) -> dict[str, Any]:
        """Return the slices and the chain as plain data, times in seconds."""
        slices = [
            {"lane": s.lane, "kind": s.kind, "name": s.name, "start": s.start / 1e9,
             "seconds": s.length / 1e9, "limit_share": s.details.get("limit_share")}
            for s in self.timeline.slices
        ]  # fmt: skip
        return {
            "schema": "gravure.profile/1",
            "seconds": self.seconds,
            "slices": slices,
            "critical_path": self.critical_path.as_json(),
        }


def _of_limit(slices: list[Slice]) -> str:
    """Return the mean share of the machine's limit, by time, where it is known."""
    known = [s for s in slices if "limit_share" in s.details]
    total = sum(s.length for s in known)
    if not total:
        return ""
    return f"{sum(s.details['limit_share'] * s.length for s in known) / total:.0%}"


def _more(count: int) -> list[str]:
    return [f"and {count - SHOWN} more"] if count > SHOWN else []


@contextmanager
def profile(path: FilePath | None = None, *, limits: bool = True) -> Iterator[Profiled]:
    """Note what goes on while the context is open: in all threads, sessions, functions, models.

    - `path`: a file for the trace, which Perfetto (ui.perfetto.dev) and chrome://tracing open; of
      several ranks each writes its own, with its number before the suffix.
    - `limits`: whether launches are compared with what the machine can do, which is measured
      once in a process, in about a second, behind the context.

    There are lanes for threads, launches, queues, streams of GPUs and messages. Of models that were
    compiled in this process every launch is noted with the nodes that it computes; a library from a
    file is one slice a call.

    >>> import gravure as gv
    >>> model = gv.compile(b"model m(x: f32[4]) -> (y) { y = exp(x) }")
    >>> with gv.profile(limits=False) as found:
    ...     y = model([0, 1, 2, 3])
    >>> [(s.kind, s.name) for s in found.timeline.slices if s.kind == "launch"]
    [('launch', '<bytes>:1')]
    """
    found = Profiled(Trace(), limits)
    try:
        with listening(found.trace):
            yield found
    finally:
        found.done = True
        if path is not None:
            found.save(_of_rank(Path(path)))


def _of_rank(path: Path) -> Path:
    """Return the file of this rank, where there are several."""
    here = world()
    if here.size == 1:
        return path
    return path.with_name(f"{path.stem}.{here.rank}{path.suffix}")


def runner(
    source: Source, wanted: Wanted, options: Options, progress: Progress = silent
) -> Callable[[], object]:
    """Return what runs a model on the same arrays each time; it has run once, and is noted."""
    subject = subject_of(source, options, wanted, progress)
    model = subject.model
    with listening(Trace()), progress("running"):
        model.run(subject.inputs)  # what notes its launches is made now
    return lambda: model.run(subject.inputs)
