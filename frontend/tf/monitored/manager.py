"""`SessionManager`: makes sessions whose variables have values."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from ...graph.graph import Graph
from ...values.run_errors import DeadlineExceededError, FailedPreconditionError
from ..graph.sessions import Session
from ..graph.state import get_default_graph
from ..program.logging import logger
from ..train.checkpoint_state import get_checkpoint_state
from ..train.savers import Saver
from .scaffold import Feeds, Node


class SessionManager:
    """Makes sessions: variables are restored from the newest checkpoint, or initialised."""

    def __init__(
        self,
        local_init_op: Node = None,
        ready_op: Node = None,
        ready_for_local_init_op: Node = None,
        graph: Graph | None = None,
        recovery_wait_secs: float = 30,
        local_init_run_options: object = None,
        local_init_feed_dict: Feeds = None,
    ) -> None:
        if ready_for_local_init_op is not None and local_init_op is None:
            raise ValueError(
                "If you pass a ready_for_local_init_op you must also pass a local_init_op , "
                f"ready_for_local_init_op [{ready_for_local_init_op}]"
            )
        self._local_init_op, self._ready_op = local_init_op, ready_op
        self._before_local = ready_for_local_init_op
        self._graph = get_default_graph() if graph is None else graph
        self._wait, self._options = recovery_wait_secs, local_init_run_options
        self._local_feeds = local_init_feed_dict

    def _session(self, master: str, config: object) -> Session:
        return Session(master, self._graph, config)

    def _restored(
        self,
        session: Session,
        saver: Saver | None,
        folder: str | None,
        file: str | None,
        seconds: float = 0.0,
    ) -> bool:
        """Restore a checkpoint, if there is one or comes in some seconds; say whether there was."""
        if folder and file:
            raise ValueError(
                "Can not provide both checkpoint_dir and checkpoint_filename_with_path."
            )
        if saver is None or not (folder or file):
            return False
        if file:
            saver.restore(session, file)
            return True
        end = time.monotonic() + seconds
        found = get_checkpoint_state(folder or "")
        while found is None and time.monotonic() + self._wait < end:
            time.sleep(self._wait)
            found = get_checkpoint_state(folder or "")
        if found is None or not found.model_checkpoint_path:
            return False
        saver.restore(session, found.model_checkpoint_path)
        saver.recover_last_checkpoints(list(found.all_model_checkpoint_paths))
        return True

    def prepare_session(
        self,
        master: str,
        init_op: Node = None,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: object = None,
        init_feed_dict: Feeds = None,
        init_fn: Callable[[Session], object] | None = None,
    ) -> Session:
        """Return a session that is ready, or raise `RuntimeError`."""
        session = self._session(master, config)
        files = checkpoint_dir, checkpoint_filename_with_path
        seconds = max_wait_secs if wait_for_checkpoint else 0.0
        if not self._restored(session, saver, *files, seconds):
            if init_op is None and init_fn is None and self._local_init_op is None:
                raise RuntimeError(
                    "Model is not initialized and no init_op or init_fn or local_init_op was given"
                )
            if init_op is not None:
                session.run(init_op, feed_dict=init_feed_dict)
            if init_fn is not None:
                init_fn(session)
        wrong = self._local(session)
        if wrong:
            raise RuntimeError(
                f"Init operations did not make model ready for local_init.  Init op: "
                f"{getattr(init_op, 'name', None)}, init fn: {init_fn}, error: {wrong}"
            )
        wrong = self._missing(session, self._ready_op)
        if wrong:
            raise RuntimeError(
                f"Init operations did not make model ready.  Init op: "
                f"{getattr(init_op, 'name', None)}, init fn: {init_fn}, local_init_op: "
                f"{getattr(self._local_init_op, 'name', None)}, error: {wrong}"
            )
        return session

    def recover_session(
        self,
        master: str,
        saver: Saver | None = None,
        checkpoint_dir: str | None = None,
        checkpoint_filename_with_path: str | None = None,
        wait_for_checkpoint: bool = False,
        max_wait_secs: float = 7200,
        config: object = None,
    ) -> tuple[Session, bool]:
        """Return a session, and whether it could be restored and is ready."""
        session = self._session(master, config)
        files = checkpoint_dir, checkpoint_filename_with_path
        seconds = max_wait_secs if wait_for_checkpoint else 0.0
        there, wrong = self._restored(session, saver, *files, seconds), self._local(session)
        if not there:
            return session, False
        wrong = wrong or self._missing(session, self._ready_op)
        if wrong:
            logger().info("Restoring did not make the model ready: %s", wrong)
        return session, not wrong

    def wait_for_session(
        self, master: str, config: object = None, max_wait_secs: float = float("inf")
    ) -> Session:
        """Return a session when another process has made the model ready."""
        end = time.monotonic() + max_wait_secs
        while True:
            session = self._session(master, config)
            wrong = self._local(session) or self._missing(session, self._ready_op)
            if not wrong:
                return session
            session.close()
            if time.monotonic() + self._wait > end:
                raise DeadlineExceededError(
                    f"Session was not ready after waiting {max_wait_secs} secs."
                )
            time.sleep(self._wait)

    def _local(self, session: Session) -> str:
        """Initialise local variables; say what is missing for that."""
        if self._local_init_op is None:
            return ""
        wrong = self._missing(session, self._before_local)
        if not wrong:
            session.run(self._local_init_op, feed_dict=self._local_feeds, options=self._options)
        return wrong

    @staticmethod
    def _missing(session: Session, ready: Node) -> str:
        """Return which variables have no value."""
        if ready is None:
            return ""
        try:
            made = session.run(ready)
        except FailedPreconditionError as error:
            if "uninitialized" not in str(error):
                raise
            return str(error)
        if made is None or np.asarray(made).dtype == np.int32:  # what raises where it is not ready
            return ""
        found = np.ravel(made)
        names = ", ".join(n.decode() if isinstance(n, bytes) else str(n) for n in found)
        return f"Variables not initialized: {names}" if names else ""
