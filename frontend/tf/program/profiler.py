"""`tf.profiler`: traces of what went on, where TensorBoard's folders have them.

A profile is two files in the folder's `plugins/profile/TIME`: `HOST.xplane.pb` for TensorBoard with
its plug-in `tensorboard-plugin-profile`, and `HOST.trace.json.gz` in Chrome's format for Perfetto
and chrome://tracing. `gravure.profile` says more of the same.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from ....codegen.limits import limits_here
from ....runtime.traces.timeline import Timeline
from ....runtime.tracing import Trace, span
from ....runtime.tracing import start as begin
from ....runtime.tracing import stop as end
from ...formats.profiles import write_profile
from ...models.threads import all_threads
from ...values.run_errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    UnavailableError,
    UnimplementedError,
)


@dataclass(frozen=True)
class ProfilerOptions:
    """What a profile is to have; only as much as there is by itself can be asked for."""

    host_tracer_level: int = 2
    python_tracer_level: int = 0
    device_tracer_level: int = 1
    delay_ms: int | None = None

    def __post_init__(self) -> None:
        if self.python_tracer_level:
            raise UnimplementedError(
                f"ProfilerOptions.python_tracer_level = {self.python_tracer_level}: calls of Python"
                " are not traced, use cProfile"
            )
        if self.delay_ms:
            raise UnimplementedError(
                f"ProfilerOptions.delay_ms = {self.delay_ms}: a profile begins when it is started"
            )


class Running:
    """The profile that is being taken, of which there is one in a process."""

    trace: Trace | None = None
    folder = ""


RUNNING = Running()


def start(logdir: str | os.PathLike[str], options: ProfilerOptions | None = None) -> None:
    """Begin to note what goes on."""
    if RUNNING.trace is not None:
        raise AlreadyExistsError("Another profiler is running.")
    del options  # what it can ask for is there anyhow
    if not os.fspath(logdir):
        raise InvalidArgumentError("logdir is empty, expected a folder")
    RUNNING.trace, RUNNING.folder = Trace(), os.fspath(logdir)
    begin(RUNNING.trace)


def stop(save: bool = True) -> None:
    """Note nothing any more, and write what was noted if it is to be saved."""
    if RUNNING.trace is None:
        raise UnavailableError("Cannot export profiling results. No profiler is running.")
    trace, RUNNING.trace = RUNNING.trace, None
    end(trace)
    if save:
        write(trace, Path(RUNNING.folder))


def write(trace: Trace, folder: Path) -> Path:
    """Write a trace where TensorBoard's folders have it; return the file for its plug-in."""
    timeline = Timeline.of(trace, limits_here(all_threads()).least_of)
    return write_profile(timeline, folder)


class Profile:
    """A context that is profiled."""

    def __init__(
        self, logdir: str | os.PathLike[str], options: ProfilerOptions | None = None
    ) -> None:
        self.folder, self.options = logdir, options

    def __enter__(self) -> None:
        start(self.folder, self.options)

    def __exit__(self, *error: object) -> None:
        stop()


@contextmanager
def named(name: str, **details: object) -> Iterator[None]:
    """Show a context in the profile: a step of training."""
    label = f"{name} {details['step_num']}" if "step_num" in details else name
    with span("step", label, "", **details):
        yield


def warmup() -> None:
    """Do nothing: there is nothing to set up."""


def no_server(*_: object, **__: object) -> NoReturn:
    """Refuse to profile other processes."""
    raise UnimplementedError(
        "tf.profiler.experimental.server and client: each process profiles itself, by start and "
        "stop or gravure.profile"
    )
