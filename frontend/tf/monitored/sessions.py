"""Sessions that begin, save and stop by themselves: `MonitoredSession` and its relatives."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Sequence
from types import TracebackType
from typing import Any, Self, TypeAlias

from ...formats.messages import RunMetadata
from ...graph.graph import Graph
from ...values.run_errors import AbortedError, OutOfRangeError, UnavailableError
from ..graph.sessions import Session
from ..graph.state import get_default_graph
from ..program.logging import logger
from ..train.coordinator import Coordinator, start_queue_runners
from .hooks import (
    SessionRunArgs,
    SessionRunContext,
    SessionRunHook,
    SessionRunValues,
    asked,
)
from .manager import SessionManager
from .scaffold import Feeds, Scaffold
from .writing import CheckpointSaverHook, StepCounterHook, SummarySaverHook

Often: TypeAlias = int | float | None
USUAL = -1
"""What stands for an argument that was not given."""
ENDINGS = (OutOfRangeError, StopIteration)
"""What ends a loop without being an error."""
LOST = (AbortedError, UnavailableError)
"""After these a new session goes on from the newest checkpoint."""


class SessionCreator:
    """Makes sessions."""

    def create_session(self) -> Session:
        """Return a new session."""
        raise NotImplementedError("create_session is not implemented")


class ChiefSessionCreator(SessionCreator):
    """Makes sessions that restore or initialise the variables."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: object = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        self._scaffold = scaffold or Scaffold()
        self._master, self._config = master, config
        self._folder, self._file = checkpoint_dir, checkpoint_filename_with_path
        self._manager: SessionManager | None = None

    def _made(self) -> SessionManager:
        self._scaffold.finalize()
        if self._manager is None:
            known = self._scaffold
            self._manager = SessionManager(
                local_init_op=known.local_init_op,
                local_init_feed_dict=known.local_init_feed_dict,
                ready_op=known.ready_op,
                ready_for_local_init_op=known.ready_for_local_init_op,
                graph=get_default_graph(),
            )
        return self._manager

    def create_session(self) -> Session:
        """Return a new session."""
        manager, known = self._made(), self._scaffold
        return manager.prepare_session(
            self._master,
            saver=known.saver,
            checkpoint_dir=self._folder,
            checkpoint_filename_with_path=self._file,
            config=self._config,
            init_op=known.init_op,
            init_feed_dict=known.init_feed_dict,
            init_fn=known.init_fn,
        )


class WorkerSessionCreator(ChiefSessionCreator):
    """Makes sessions that wait until the chief has given the variables values."""

    def __init__(
        self,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: object = None,
        max_wait_secs: float = 30 * 60,
    ) -> None:
        super().__init__(scaffold, master, config)
        self._longest = max_wait_secs

    def create_session(self) -> Session:
        """Return a new session."""
        return self._made().wait_for_session(
            self._master, config=self._config, max_wait_secs=self._longest
        )


class StepContext:
    """What a function of `run_step_fn` is given."""

    def __init__(self, session: Session, run: Callable[..., object]) -> None:
        self._session, self._run = session, run

    @property
    def session(self) -> Session:
        """Return the session, which calls no hooks."""
        return self._session

    def run_with_hooks(self, *args: object, **options: object) -> object:
        """Run a step with the hooks."""
        return self._run(*args, **options)

    def request_stop(self) -> None:
        """End the loop."""
        raise StopIteration("step_fn has requested the iterations to stop.")


class HookedSession:
    """Runs steps with hooks; `recovers`: it goes on in a new session when one is lost."""

    recovers = True

    def __init__(
        self,
        session_creator: SessionCreator | None = None,
        hooks: Sequence[SessionRunHook] | None = None,
        stop_grace_period_secs: float = 120,
    ) -> None:
        self._graph = get_default_graph()
        self._was_final = self._graph.finalized
        self._hooks = list(hooks or [])
        self._grace = stop_grace_period_secs
        self._creator = session_creator or ChiefSessionCreator()
        for hook in self._hooks:
            hook.begin()
        self._session: Session | None = None
        self._begin()

    def _begin(self) -> None:
        """Make a session; if it is lost at once, another one."""
        while self._session is None:
            try:
                self._session = self._creator.create_session()
                self._coordinator = Coordinator(clean_stop_exception_types=[])
                start_queue_runners(self._session, self._coordinator)
                self._stop = False
                for hook in self._hooks:
                    hook.after_create_session(self._session, self._coordinator)
            except LOST as error:
                if not self.recovers:
                    raise
                logger().info("A session was lost before its first step: %s", error)
                if self._session is not None:
                    self._session.close()
                self._session = None

    def _renew(self, error: BaseException) -> None:
        """Make a session in the place of one that was lost."""
        logger().info("The session is made anew: %s", error)
        try:
            self._end_session()
        except LOST as again:
            logger().info("An error while the lost session was closed: %s", again)
        self._begin()

    @property
    def graph(self) -> Graph | None:
        """Return the graph, None when the session is closed."""
        return None if self._session is None else self._session.graph

    def run(
        self,
        fetches: object,
        feed_dict: Feeds = None,
        options: object = None,
        run_metadata: object = None,
    ) -> Any:
        """Return what the fetches are; hooks are called before and behind."""
        return self._kept(lambda: self._step(fetches, feed_dict, options, run_metadata))

    def _kept(self, step: Callable[[], object]) -> object:
        """Make a step, in a new session if the present one was lost."""
        while True:
            try:
                return self._checked(step)
            except LOST as error:
                if not self.recovers:
                    raise
                self._renew(error)

    def _checked(self, step: Callable[[], object]) -> object:
        """Make a step; raise the error of a thread if that is what ended it."""
        try:
            return step()
        except (*LOST, *ENDINGS):
            raise
        except Exception:
            self._coordinator.raise_requested_exception()
            raise

    def _step(self, fetches: object, feeds: Feeds, options: object, run_metadata: object) -> object:
        if self._session is None:
            raise RuntimeError("Attempted to use a closed session.")
        if self.should_stop():
            raise RuntimeError("Run called even after should_stop requested.")
        context = SessionRunContext(SessionRunArgs(fetches, feeds, options), self._session)
        wanted, given, options = asked(self._hooks, context)
        if options is not None and run_metadata is None:
            run_metadata = RunMetadata()
        values = self._session.run(
            {"caller": fetches, "hooks": [*wanted.values()]}, given, options, run_metadata
        )
        found = dict(zip(wanted, values["hooks"], strict=True))
        for hook in self._hooks:
            hook.after_run(context, SessionRunValues(found.get(hook), options, run_metadata))
        self._stop = self._stop or context.stop_requested
        return values["caller"]

    def run_step_fn(self, step_fn: Callable[..., object]) -> object:
        """Call a function with what makes steps with hooks and without.

        It may ask for the end by `StopIteration`, which goes on to the caller.
        """
        names = (*inspect.signature(step_fn).parameters,)
        if names not in (("step_context",), ("self", "step_context")):
            raise ValueError(
                "`step_fn` may either have one `step_context` argument, or `self` and "
                f"`step_context` arguments if it's an instance method. Got {names} instead."
            )

        def step() -> object:
            if self._session is None:
                raise RuntimeError("Attempted to use a closed session.")

            def run(fetches: object, feed_dict: Feeds = None, **more: object) -> object:
                return self._step(fetches, feed_dict, more.get("options"), more.get("run_metadata"))

            return step_fn(StepContext(self._session, run))

        return self._kept(step)

    def should_stop(self) -> bool:
        """Say whether the loop shall end: also by an error of a thread, which `close` raises."""
        if self._session is None or self._stop:
            return True
        error = self._coordinator.error
        if isinstance(error, LOST) and self.recovers:
            self._renew(error)
        return self._coordinator.should_stop()

    def raw_session(self) -> Session | None:
        """Return the session that calls no hooks."""
        return self._session

    def close(self) -> None:
        """End the session; hooks finish."""
        self._close(failed=False)

    def _close(self, *, failed: bool) -> None:
        if self._session is None:
            raise RuntimeError("Session is already closed.")
        try:
            if not failed:
                for hook in self._hooks:
                    hook.end(self._session)
        finally:
            self._end_session()
            self._graph.finalized = self._was_final

    def _end_session(self) -> None:
        """Let threads end, and the session be closed."""
        session, self._session = self._session, None
        assert session is not None, "it was not closed"
        self._coordinator.request_stop()
        try:
            self._coordinator.join(stop_grace_period_secs=self._grace, ignore_live_threads=True)
        finally:
            session.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> bool:
        ended = kind is not None and issubclass(kind, ENDINGS)
        if self._session is not None or kind is None:
            self._close(failed=kind is not None and not ended)
        return ended


class MonitoredSession(HookedSession):
    """Makes steps with hooks; when the session is lost, a new one goes on."""

    StepContext = StepContext


class SingularMonitoredSession(HookedSession):
    """Makes steps with hooks, and does not survive the loss of its session."""

    recovers = False

    def __init__(
        self,
        hooks: Sequence[SessionRunHook] | None = None,
        scaffold: Scaffold | None = None,
        master: str = "",
        config: object = None,
        checkpoint_dir: str | None = None,
        stop_grace_period_secs: float = 120,
        checkpoint_filename_with_path: str | None = None,
    ) -> None:
        creator = ChiefSessionCreator(
            scaffold, master, config, checkpoint_dir, checkpoint_filename_with_path
        )
        super().__init__(creator, hooks, stop_grace_period_secs)


def _often(
    steps: Often, seconds: Often, usual_steps: int | None, usual_seconds: float | None
) -> tuple[int | None, float | None]:
    """Return after how many steps or seconds something is done; the usual if nothing is said."""
    if steps == USUAL and seconds == USUAL:
        return usual_steps, usual_seconds
    count = None if steps is None or steps == USUAL else int(steps)
    return count, None if seconds == USUAL else seconds


def MonitoredTrainingSession(  # noqa: N802  (TensorFlow's)
    master: str = "",
    is_chief: bool = True,
    checkpoint_dir: str | None = None,
    scaffold: Scaffold | None = None,
    hooks: Sequence[SessionRunHook] | None = None,
    chief_only_hooks: Sequence[SessionRunHook] | None = None,
    save_checkpoint_secs: Often = USUAL,
    save_summaries_steps: Often = USUAL,
    save_summaries_secs: Often = USUAL,
    config: object = None,
    stop_grace_period_secs: float = 120,
    log_step_count_steps: int | None = 100,
    max_wait_secs: float = 7200,
    save_checkpoint_steps: Often = USUAL,
    summary_dir: str | None = None,
    save_graph_def: bool = True,
) -> MonitoredSession:
    """Return a session that trains: it saves itself and writes summaries, if it is the chief."""
    steps, seconds = _often(save_summaries_steps, save_summaries_secs, 100, None)
    save_steps, save_seconds = _often(save_checkpoint_steps, save_checkpoint_secs, None, 600)
    known, every = scaffold or Scaffold(), list(hooks or [])
    if not is_chief:
        worker = WorkerSessionCreator(known, master, config, max_wait_secs)
        return MonitoredSession(worker, every, stop_grace_period_secs)
    every += list(chief_only_hooks or [])
    folder = summary_dir or checkpoint_dir
    added: list[SessionRunHook] = []
    if folder and log_step_count_steps:
        added.append(StepCounterHook(log_step_count_steps, output_dir=folder))
    if folder and (steps or seconds):
        added.append(SummarySaverHook(steps, seconds, folder, scaffold=known))
    if checkpoint_dir and (save_steps or save_seconds):
        saving = CheckpointSaverHook(
            checkpoint_dir,
            save_seconds,
            save_steps,
            scaffold=known,
            save_graph_def=save_graph_def,
        )
        added.append(saving)
    chief = ChiefSessionCreator(known, master, config, checkpoint_dir)
    return MonitoredSession(chief, [*every, *added], stop_grace_period_secs)
