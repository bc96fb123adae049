"""Hooks that write files: checkpoints, summaries, and how many steps a second are made."""

from __future__ import annotations

import os
from collections.abc import Sequence

from ...formats.messages import SessionLog, Summary
from ..graph.sessions import Session
from ..graph.state import get_default_graph
from ..program.logging import logger
from ..summary.first import FileWriter, FileWriterCache
from ..train.coordinator import Coordinator
from ..train.meta_graph import write_graph
from ..train.savers import Saver
from .hooks import (
    SecondOrStepTimer,
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    rate_of,
    read_of_the_global_step,
    the_global_step,
)
from .scaffold import Scaffold

CHECKPOINT = 3
"""The status of a session's log that says that a checkpoint was written."""


class CheckpointSaverListener:
    """What is called around the writing of checkpoints."""

    def begin(self) -> None:
        """Prepare, while the graph may still grow."""

    def before_save(self, session: Session, global_step_value: int) -> None:
        """Take note that a checkpoint is about to be written."""

    def after_save(self, session: Session, global_step_value: int) -> object:
        """Take note that one was written; what is true ends the loop."""
        return None

    def end(self, session: Session, global_step_value: int) -> None:
        """Take note of the end."""


class CheckpointSaverHook(SessionRunHook):
    """Writes checkpoints every so many steps or seconds, at the start and at the end."""

    def __init__(
        self,
        checkpoint_dir: str,
        save_secs: float | None = None,
        save_steps: int | None = None,
        saver: Saver | None = None,
        checkpoint_basename: str = "model.ckpt",
        scaffold: Scaffold | None = None,
        listeners: Sequence[CheckpointSaverListener] | None = None,
        save_graph_def: bool = True,
    ) -> None:
        if saver is not None and scaffold is not None:
            raise ValueError("You cannot provide both saver and scaffold.")
        self._saver, self._scaffold = saver, scaffold
        self._folder = checkpoint_dir
        self._path = os.path.join(checkpoint_dir, checkpoint_basename)
        self._timer = SecondOrStepTimer(save_secs, save_steps)
        self._listeners = list(listeners or [])
        self._graph_too = save_graph_def

    def begin(self) -> None:
        """Find the count of steps."""
        self._writer = FileWriterCache.get(self._folder)
        self._step = read_of_the_global_step("CheckpointSaverHook")
        for listener in self._listeners:
            listener.begin()

    def after_create_session(self, session: Session, coord: Coordinator) -> None:
        """Write the graph and the first checkpoint."""
        now = int(session.run(self._step))
        if self._graph_too:
            self._writer.add_graph(get_default_graph())
            write_graph(get_default_graph(), self._folder, "graph.pbtxt")
        self._save(session, now)
        self._timer.update_last_triggered_step(now)

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the count."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write a checkpoint if it is time; the count may be one behind."""
        if self._timer.should_trigger_for_step(int(run_values.results) + 1):
            now = int(run_context.session.run(self._step))
            if self._timer.should_trigger_for_step(now):
                self._timer.update_last_triggered_step(now)
                if self._save(run_context.session, now):
                    run_context.request_stop()

    def end(self, session: Session) -> None:
        """Write the last one."""
        last = int(session.run(self._step))
        if last != self._timer.last_triggered_step():
            self._save(session, last)
        for listener in self._listeners:
            listener.end(session, last)

    def _save(self, session: Session, step: int) -> bool:
        """Write one; say whether a listener wants the loop to end."""
        for listener in self._listeners:
            listener.before_save(session, step)
        self._the_saver().save(
            session, self._path, global_step=step, write_meta_graph=self._graph_too
        )
        log = SessionLog(status=CHECKPOINT, checkpoint_path=self._path)
        self._writer.add_session_log(log, step)
        wishes = [listener.after_save(session, step) for listener in self._listeners]
        return any(wishes)

    def _the_saver(self) -> Saver:
        if self._saver is not None:
            return self._saver
        if self._scaffold is not None and self._scaffold.saver is not None:
            return self._scaffold.saver
        found = get_default_graph().get_collection("savers")
        if len(found) != 1:
            raise RuntimeError(
                f"{len(found)} savers are in the collection 'savers', expected one: pass saver or "
                "scaffold"
            )
        saver: Saver = found[0]
        return saver


class StepCounterHook(SessionRunHook):
    """Writes how many steps a second are made."""

    def __init__(
        self,
        every_n_steps: int | None = 100,
        every_n_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
    ) -> None:
        if (every_n_steps is None) == (every_n_secs is None):
            raise ValueError("exactly one of every_n_steps and every_n_secs should be provided.")
        self._timer = SecondOrStepTimer(every_n_secs, every_n_steps)
        self._writer, self._folder = summary_writer, output_dir

    def begin(self) -> None:
        """Find the count of steps."""
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._step = read_of_the_global_step("StepCounterHook")
        self._tag = f"{the_global_step('StepCounterHook').op.name}/sec"

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the count."""
        return SessionRunArgs(self._step)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write if it is time."""
        if not self._timer.should_trigger_for_step(int(run_values.results) + 1):
            return
        now = int(run_context.session.run(self._step))
        if not self._timer.should_trigger_for_step(now):
            return
        seconds, steps = self._timer.update_last_triggered_step(now)
        if seconds is not None and steps is not None:
            self._log_and_record(steps, seconds, now)

    def _log_and_record(self, elapsed_steps: int, elapsed_time: float, global_step: int) -> None:
        rate = rate_of(elapsed_steps, elapsed_time)
        if self._writer is not None:
            value = Summary.Value(tag=self._tag, simple_value=rate)
            self._writer.add_summary(Summary(value=[value]), global_step)
        logger().info("%s: %g", self._tag, rate)


class SummarySaverHook(SessionRunHook):
    """Writes summaries every so many steps or seconds."""

    def __init__(
        self,
        save_steps: int | None = None,
        save_secs: float | None = None,
        output_dir: str | None = None,
        summary_writer: FileWriter | None = None,
        scaffold: Scaffold | None = None,
        summary_op: object = None,
    ) -> None:
        if (scaffold is None) == (summary_op is None):
            raise ValueError("Exactly one of scaffold or summary_op must be provided.")
        self._given, self._scaffold = summary_op, scaffold
        self._writer, self._folder = summary_writer, output_dir
        self._timer = SecondOrStepTimer(save_secs, save_steps)

    def begin(self) -> None:
        """Find the count of steps."""
        if self._writer is None and self._folder:
            self._writer = FileWriterCache.get(self._folder)
        self._next: int | None = None
        self._step = read_of_the_global_step("SummarySaverHook")

    def before_run(self, run_context: SessionRunContext) -> SessionRunArgs:
        """Ask for the summaries if it is time."""
        self._due = self._next is None or self._timer.should_trigger_for_step(self._next)
        wanted: dict[str, object] = {"global_step": self._step}
        found = self._given if self._scaffold is None else self._scaffold.summary_op
        if self._due and found is not None:
            wanted["summary"] = found
        return SessionRunArgs(wanted)

    def after_run(self, run_context: SessionRunContext, run_values: SessionRunValues) -> None:
        """Write them."""
        if self._writer is None:
            return
        stale = int(run_values.results["global_step"])
        now = stale + 1
        if self._next is None or self._due:
            now = int(run_context.session.run(self._step))
        if self._next is None:
            log = SessionLog(status=1)
            self._writer.add_session_log(log, now)
        if self._due:
            self._timer.update_last_triggered_step(now)
            if "summary" in run_values.results:
                found = run_values.results["summary"]
                for each in found if isinstance(found, list) else [found]:
                    self._writer.add_summary(each, now)
        self._next = now + 1

    def end(self, session: Session) -> None:
        """Let what was written reach the file."""
        if self._writer is not None:
            self._writer.flush()
