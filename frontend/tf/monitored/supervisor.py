"""`Supervisor`: the first version's way to train with checkpoints and summaries."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from ...formats.messages import SessionLog, Summary
from ...function.variable import VariableV2
from ...values.run_errors import AbortedError
from ..core.dimensions import Behaviour
from ..graph.sessions import Session
from ..graph.state import TfGraph, Variable, get_default_graph
from ..program.logging import logger
from ..summary.first import FileWriter, merge_all
from ..train.coordinator import Coordinator, QueueRunner, start_queue_runners
from ..train.reports import report_uninitialized_variables
from ..train.savers import Saver, get_global_step
from .hooks import rate_of
from .manager import SessionManager
from .scaffold import SAVERS, Feeds, Node, Scaffold
from .writing import CHECKPOINT

BEGIN = 1
"""What a log of a session says when it begins."""


class LooperThread(threading.Thread):
    """Calls a function again and again, every so many seconds, until all threads shall stop."""

    def __init__(
        self,
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., object] | None = None,
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(daemon=True)
        self._coord, self._interval = coord, timer_interval_secs
        self._function, self._given, self._named = target, args, kwargs or {}
        coord.register_thread(self)

    @staticmethod
    def loop(
        coord: Coordinator,
        timer_interval_secs: float | None,
        target: Callable[..., object],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> LooperThread:
        """Return a thread that has been started."""
        made = LooperThread(coord, timer_interval_secs, target, args, kwargs)
        made.start()
        return made

    def run(self) -> None:
        """Call it until all shall stop."""
        with self._coord.stop_on_exception():
            self.start_loop()
            following = time.time()
            while not self._coord.wait_for_stop(max(0.0, following - time.time())):
                following += self._interval or 0.0
                self.run_loop()
            self.stop_loop()

    def start_loop(self) -> None:
        """Prepare."""

    def stop_loop(self) -> None:
        """Finish."""

    def run_loop(self) -> None:
        """Call the function."""
        if self._function is not None:
            self._function(*self._given, **self._named)


class Supervisor:
    """Trains: makes the session, saves it, writes summaries, and ends its threads."""

    USE_DEFAULT = object()

    def __init__(
        self,
        graph: TfGraph | None = None,
        ready_op: object = USE_DEFAULT,
        ready_for_local_init_op: object = USE_DEFAULT,
        is_chief: bool = True,
        init_op: object = USE_DEFAULT,
        init_feed_dict: Feeds = None,
        local_init_op: object = USE_DEFAULT,
        logdir: str | None = None,
        summary_op: object = USE_DEFAULT,
        saver: object = USE_DEFAULT,
        global_step: object = USE_DEFAULT,
        save_summaries_secs: float = 120,
        save_model_secs: float = 600,
        recovery_wait_secs: float = 30,
        stop_grace_secs: float = 120,
        checkpoint_basename: str = "model.ckpt",
        session_manager: SessionManager | None = None,
        summary_writer: object = USE_DEFAULT,
        init_fn: Callable[[Session], object] | None = None,
        local_init_run_options: object = None,
    ) -> None:
        self._graph = graph if graph is not None else get_default_graph()
        self._coord, self._recovery, self._grace = (
            Coordinator(),
            recovery_wait_secs,
            stop_grace_secs,
        )
        self._chief, self._init_fn, self._feeds = is_chief, init_fn, init_feed_dict
        with self._graph.as_default():
            kept, given = Scaffold.kept, self._given
            ready = given(ready_op, lambda: kept("ready_op", report_uninitialized_variables))
            before = given(ready_for_local_init_op, lambda: None)
            first = Scaffold()
            self._init_op: Node = given(init_op, lambda: kept("init_op", first.default_init_op))
            local = given(local_init_op, lambda: kept("local_init_op", first.default_local_init_op))
            self._saver: Saver | None = given(saver, lambda: kept(SAVERS, self._default_saver))
            self._summary_op: Node = given(summary_op, lambda: kept("summary_op", merge_all))
            self._global_step: Variable | None = given(global_step, get_global_step)
        self._logdir = logdir
        self._save_path = os.path.join(logdir, checkpoint_basename) if logdir else None
        self._summary_secs, self._model_secs = save_summaries_secs, save_model_secs
        self._writer: FileWriter | None = self._given(
            summary_writer, lambda: FileWriter(logdir) if logdir else None
        )
        self._manager = session_manager or SessionManager(
            local_init_op=local,
            ready_op=ready,
            ready_for_local_init_op=before,
            graph=self._graph,
            recovery_wait_secs=recovery_wait_secs,
            local_init_run_options=local_init_run_options,
        )
        if not is_chief:
            self._check_places()
            self._logdir = self._writer = self._save_path = None
        self._is_written = False
        """Whether the graph is in the file of events."""
        self._graph.finalize()

    def _check_places(self) -> None:
        """Raise where a variable of the first version could be on any task."""
        for op in self._graph.get_operations() if Behaviour.references else ():
            if isinstance(op.kind, VariableV2) and not op.device:
                raise ValueError(
                    f"When using replicas, all Variables must have their device set: {op.name}"
                )

    @classmethod
    def _given(cls, value: object, usual: Callable[[], object]) -> Any:
        return usual() if value is cls.USE_DEFAULT else value

    @staticmethod
    def _default_saver() -> Saver | None:
        from ..graph.graph_lists import global_variables  # noqa: PLC0415

        return Saver() if global_variables() else None

    @property
    def is_chief(self) -> bool:
        """Say whether this task initialises and saves."""
        return self._chief

    @property
    def session_manager(self) -> SessionManager:
        """Return what makes sessions."""
        return self._manager

    @property
    def coord(self) -> Coordinator:
        """Return the coordinator of the threads."""
        return self._coord

    @property
    def init_op(self) -> Node:
        """Return what initialises variables."""
        return self._init_op

    @property
    def saver(self) -> Saver | None:
        """Return what saves."""
        return self._saver

    @property
    def summary_op(self) -> Node:
        """Return all summaries as one."""
        return self._summary_op

    @property
    def summary_writer(self) -> FileWriter | None:
        """Return what writes them."""
        return self._writer

    @property
    def save_path(self) -> str | None:
        """Return where checkpoints are written."""
        return self._save_path

    @property
    def global_step(self) -> Variable | None:
        """Return the count of steps, None if there is none."""
        return self._global_step

    def prepare_or_wait_for_session(
        self,
        master: str = "",
        config: object = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        start_standard_services: bool = True,
    ) -> Session:
        """Return a session that is ready; its services and the graph's queues are started."""
        del wait_for_checkpoint
        self._coord.clear_stop()
        if self._writer is not None:
            self._writer.reopen()
        if not self._chief:
            session = self._manager.wait_for_session(master, config, max_wait_secs)
            start_queue_runners(session, self._coord)
            return session
        session = self._manager.prepare_session(
            master,
            init_op=self._init_op,
            saver=self._saver,
            checkpoint_dir=self._logdir,
            config=config,
            init_feed_dict=self._feeds,
            init_fn=self._init_fn,
        )
        if self._writer is not None:
            self._write_graph(self._writer)
        if start_standard_services and self._logdir:
            self.start_standard_services(session)
        start_queue_runners(session, self._coord)
        return session

    def _write_graph(self, writer: FileWriter) -> None:
        """Write the graph, once."""
        if not self._is_written:
            writer.add_graph(self._graph)
            writer.add_meta_graph(self._graph)
            self._is_written = True

    def start_standard_services(self, sess: Session) -> list[LooperThread]:
        """Start the threads that save, write summaries and count steps; return them."""
        if not self._chief:
            raise RuntimeError("Only chief supervisor can start standard services.")
        if not self._logdir:
            logger().warning("Standard services need a 'logdir' passed to the SessionManager")
            return []
        made = []
        writer, saver, path = self._writer, self._saver, self._save_path
        if self._summary_op is not None and writer is not None and self._summary_secs:
            made.append(self.loop(self._summary_secs, self._write_summaries, (sess, writer)))
        if self._global_step is not None and writer is not None and self._summary_secs:
            self._counted = time.time(), self._now(sess)
            writer.add_session_log(SessionLog(status=BEGIN), self._counted[1])
            given = sess, writer, f"{self._global_step.op.name}/sec"
            made.append(self.loop(self._summary_secs, self._write_rate, given))
        if saver is not None and path is not None and self._model_secs:
            made.append(self.loop(self._model_secs, self._save, (sess, saver, path)))
        return made

    def _now(self, sess: Session) -> int:
        return int(sess.run(self._global_step))

    def _write_summaries(self, sess: Session, writer: FileWriter) -> None:
        if self._global_step is None:
            writer.add_summary(sess.run(self._summary_op))
            return
        found, step = sess.run([self._summary_op, self._global_step])
        writer.add_summary(found, int(step))

    def _write_rate(self, sess: Session, writer: FileWriter, tag: str) -> None:
        (before, steps), now, step = self._counted, time.time(), self._now(sess)
        self._counted = now, step
        rate = rate_of(step - steps, now - before) if step != steps else 0.0
        writer.add_summary(Summary(value=[Summary.Value(tag=tag, simple_value=rate)]), step)

    def _save(self, sess: Session, saver: Saver, path: str) -> None:
        step = None if self._global_step is None else self._now(sess)
        written = saver.save(sess, path, global_step=step)
        if self._writer is not None and step is not None:
            log = SessionLog(status=CHECKPOINT, checkpoint_path=written)
            self._writer.add_session_log(log, step)

    def start_queue_runners(
        self, sess: Session, queue_runners: QueueRunner | Sequence[QueueRunner] | None = None
    ) -> list[threading.Thread]:
        """Start the threads of queues; return them."""
        if queue_runners is None:
            return start_queue_runners(sess, self._coord)
        runners = [queue_runners] if isinstance(queue_runners, QueueRunner) else queue_runners
        return [t for r in runners for t in r.create_threads(sess, self._coord, True, True)]

    def loop(
        self,
        timer_interval_secs: float | None,
        target: Callable[..., object],
        args: Sequence[object] = (),
        kwargs: Mapping[str, object] | None = None,
    ) -> LooperThread:
        """Return a thread that calls a function every so many seconds; it has been started."""
        return LooperThread.loop(self._coord, timer_interval_secs, target, args, kwargs)

    def stop(
        self,
        threads: Sequence[threading.Thread] | None = None,
        close_summary_writer: bool = True,
        ignore_live_threads: bool = False,
    ) -> None:
        """End the services; raise the error of one."""
        self._coord.request_stop()
        try:
            self._coord.join(threads, self._grace, ignore_live_threads)
        finally:
            if close_summary_writer and self._writer is not None:
                self._writer.add_session_log(SessionLog(status=2))
                self._writer.close()
                self._is_written = False  # (the next file has it, too)

    def should_stop(self) -> bool:
        """Say whether the loop shall end."""
        return self._coord.should_stop()

    def request_stop(self, ex: object = None) -> None:
        """Ask for the end."""
        self._coord.request_stop(ex)

    def wait_for_stop(self) -> None:
        """Wait until the end was asked for."""
        self._coord.wait_for_stop()

    def stop_on_exception(self) -> AbstractContextManager[None]:
        """Ask for the end if what is inside raises."""
        return self._coord.stop_on_exception()

    def summary_computed(
        self, sess: Session, summary: object, global_step: int | None = None
    ) -> None:
        """Write a summary that the program has computed."""
        if self._writer is None:
            raise RuntimeError("Writing a summary requires a summary writer.")
        if global_step is None and self._global_step is not None:
            global_step = self._now(sess)
        self._writer.add_summary(summary, global_step)

    @contextmanager
    def managed_session(
        self,
        master: str = "",
        config: object = None,
        start_standard_services: bool = True,
        close_summary_writer: bool = True,
    ) -> Iterator[Session]:
        """Give a session that is ready; when the block is left, the services end."""
        session = self.prepare_or_wait_for_session(
            master, config, start_standard_services=start_standard_services
        )
        try:
            with self._coord.stop_on_exception():
                yield session
        finally:
            try:
                self.stop(close_summary_writer=close_summary_writer)
            finally:
                session.close()

    PrepareSession = prepare_or_wait_for_session
    StartQueueRunners = start_queue_runners
    StartStandardServices = start_standard_services
    Stop, RequestStop, ShouldStop = stop, request_stop, should_stop
    StopOnException, WaitForStop, SummaryComputed = (
        stop_on_exception,
        wait_for_stop,
        summary_computed,
    )
    Loop = loop


def basic_train_loop(
    supervisor: Supervisor,
    train_step_fn: Callable[..., object],
    args: Sequence[object] | None = None,
    kwargs: Mapping[str, object] | None = None,
    master: str = "",
) -> None:
    """Call a function with a session till the supervisor is to stop.

    What it raises ends the loop, but for `AbortedError`: then there is a new session.
    """
    again = True
    while again:
        again = False
        try:
            with supervisor.managed_session(master) as session:
                while not supervisor.should_stop():
                    train_step_fn(session, *(args or ()), **(kwargs or {}))
        except AbortedError:
            again = True
