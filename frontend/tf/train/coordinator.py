"""The coordinator of a program's threads, and the runner of threads that fill a queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias
from weakref import WeakKeyDictionary

from ...formats.messages import QueueRunnerDef
from ...graph.graph import GraphTensor, Operation
from ...values.context import default_session
from ...values.run_errors import CancelledError, OpError, OutOfRangeError, by_number
from ..core.creators import name_within
from ..graph.graph_lists import add_to_collection
from ..graph.queues import QueueBase
from ..graph.state import get_default_graph

Named: TypeAlias = "QueueBase | Operation | GraphTensor"
"""What a message says the name of."""


class Coordinator:
    """Lets threads stop together; the first error of one is raised where they are joined."""

    def __init__(self, clean_stop_exception_types: Sequence[type[Exception]] | None = None) -> None:
        self._clean = tuple(clean_stop_exception_types or (OutOfRangeError,))
        self._stop = threading.Event()
        self._lock = threading.Lock()
        self._error: BaseException | None = None
        self._threads: set[threading.Thread] = set()
        self.joined = False

    def request_stop(self, ex: Any = None) -> None:
        """Ask all threads to stop; an error (or what `sys.exc_info` gives) is kept.

        Once they have been joined nobody would come by it: it is raised.
        """
        error = ex[1] if isinstance(ex, tuple) else ex
        with self._lock:
            if self.joined and isinstance(error, BaseException):
                raise error
            if error is not None and not self._stop.is_set() and not isinstance(error, self._clean):
                self._error = error
            self._stop.set()

    @property
    def error(self) -> BaseException | None:
        """Return the first error of a thread, None if there was none."""
        return self._error

    def raise_requested_exception(self) -> None:
        """Raise the first error of a thread."""
        if self._error is not None:
            raise self._error

    def should_stop(self) -> bool:
        """Say whether threads shall stop."""
        return self._stop.is_set()

    def wait_for_stop(self, timeout: float | None = None) -> bool:
        """Wait until threads shall stop; say whether they shall."""
        return self._stop.wait(timeout)

    def clear_stop(self) -> None:
        """Let threads run again, and forget the error."""
        with self._lock:
            self._error, self.joined = None, False
            self._stop.clear()

    def register_thread(self, thread: threading.Thread) -> None:
        """Let `join` wait for a thread too."""
        self._threads.add(thread)

    @contextmanager
    def stop_on_exception(self) -> Iterator[None]:
        """Ask all threads to stop if what is inside raises."""
        try:
            yield
        except Exception as error:
            self.request_stop(error)

    def join(
        self,
        threads: Sequence[threading.Thread] | None = None,
        stop_grace_period_secs: float = 120,
        ignore_live_threads: bool = False,
    ) -> None:
        """Wait for the threads; when they shall stop, for so long. Raise the error of one."""
        waited = [*dict.fromkeys([*self._threads, *(threads or ())])]
        while any(t.is_alive() for t in waited) and not self._stop.wait(0.01):
            pass
        end = time.monotonic() + stop_grace_period_secs
        for thread in waited:
            thread.join(max(0.0, end - time.monotonic()))
        alive = [t.name for t in waited if t.is_alive()]
        self._threads.clear()
        self.joined = True
        if self._error is not None:
            raise self._error
        if alive and not ignore_live_threads:
            raise RuntimeError(f"Coordinator stopped with threads still running: {' '.join(alive)}")


class QueueRunner:
    """Threads that run operations which fill a queue, until it is closed or all shall stop.

    A message describes one by the names of its operations; `queue` is then the operation that
    stands for the queue.
    """

    def __init__(
        self,
        queue: QueueBase | None = None,
        enqueue_ops: Sequence[Named | None] | None = None,
        close_op: Named | None = None,
        cancel_op: Named | None = None,
        queue_closed_exception_types: tuple[type[OpError], ...] | None = None,
        queue_runner_def: QueueRunnerDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        self.exceptions_raised: list[Exception] = []
        self._running: WeakKeyDictionary[object, int] = WeakKeyDictionary()
        """How many threads of each session have not come to their end."""
        self.endless = False
        """Whether it waits for what others may never give, so that nobody waits for its end."""
        if queue_runner_def is not None:
            if queue or enqueue_ops:
                raise ValueError("queue_runner_def and queue are mutually exclusive.")
            self._be_described(queue_runner_def, import_scope)
            return
        if queue is None or not enqueue_ops:
            raise ValueError("queue and enqueue_ops are required.")
        self.queue: Named = queue
        self.enqueue_ops: list[Named | None] = list(enqueue_ops)
        self.queue_closed_exception_types = _closing(queue_closed_exception_types)
        # (before the graph is finalized)
        self.close_op = queue.close() if close_op is None else close_op
        self.cancel_op = (
            queue.close(cancel_pending_enqueues=True) if cancel_op is None else cancel_op
        )

    def _be_described(self, given: QueueRunnerDef, scope: str | None) -> None:
        """Become what a message says: its operations are in the default graph, or in a scope."""
        prefix = f"{scope}/" if scope else ""
        find = get_default_graph().as_graph_element
        self.queue = find(prefix + given.queue_name)
        self.enqueue_ops = [find(prefix + name) for name in given.enqueue_op_name]
        self.close_op = find(prefix + given.close_op_name)
        self.cancel_op = find(prefix + given.cancel_op_name)
        numbers = given.queue_closed_exception_types
        self.queue_closed_exception_types = _closing(tuple(map(by_number, numbers)))

    def to_proto(self, export_scope: str | None = None) -> QueueRunnerDef | None:
        """Return it as a message, None if its queue is outside of a scope that is given."""
        if name_within(self.name, export_scope) is None:
            return None
        made = QueueRunnerDef()

        def within(op: Named | None) -> str:
            assert op is not None, "what closes a queue of a graph is an operation"
            return name_within(op.name, export_scope) or op.name

        made.queue_name = within(self.queue)
        made.enqueue_op_name.extend(map(within, self.enqueue_ops))
        made.close_op_name, made.cancel_op_name = within(self.close_op), within(self.cancel_op)
        numbers = [each.error_code for each in self.queue_closed_exception_types]
        made.queue_closed_exception_types.extend(numbers)
        return made

    @classmethod
    def from_proto(
        cls, queue_runner_def: QueueRunnerDef, import_scope: str | None = None
    ) -> QueueRunner:
        """Return what a message stands for in the default graph."""
        return cls(queue_runner_def=queue_runner_def, import_scope=import_scope)

    @property
    def name(self) -> str:
        """Return the name of the queue."""
        return str(self.queue.name)

    def _close(self, sess: Any, op: object) -> None:
        try:
            sess.run(op)
        except CancelledError:
            pass  # it is closed
        except (RuntimeError, OpError) as error:  # the session is closed, or its tasks are gone
            self.exceptions_raised.append(error)

    def _fill(self, sess: Any, coord: Coordinator | None, op: object) -> None:
        """Run an operation till all shall stop, or what it reads is at its end."""
        try:
            while coord is None or not coord.should_stop():
                sess.run(op)
        except self.queue_closed_exception_types:
            return
        except Exception as error:
            if coord is None:
                self.exceptions_raised.append(error)
            elif not (coord.joined and isinstance(error, CancelledError)):
                coord.request_stop(error)  # else all were waited for, and the session is closed

    def create_threads(
        self,
        sess: Any,
        coord: Coordinator | None = None,
        daemon: bool = False,
        start: bool = False,
    ) -> list[threading.Thread]:
        """Return a thread for each operation; the queue is closed when the last one is done.

        One more lets nobody wait for room in the queue once all shall stop. As long as there are
        threads for the session there are no more.
        """
        if self._running.get(sess):
            return []
        lock = threading.Lock()
        self._running[sess], self.exceptions_raised = len(self.enqueue_ops), []

        def work(op: object) -> None:
            try:
                self._fill(sess, coord, op)
            finally:
                with lock:
                    self._running[sess] -= 1
                    last = not self._running[sess]
                if last:
                    self._close(sess, self.close_op)

        def cancel() -> None:
            assert coord is not None, "somebody says when all shall stop"
            coord.wait_for_stop()
            self._close(sess, self.cancel_op)

        start_of = f"QueueRunnerThread-{self.name}-"
        made = [
            threading.Thread(
                target=work, args=(op,), daemon=daemon, name=start_of + str(getattr(op, "name", op))
            )
            for op in self.enqueue_ops
        ]
        if coord is not None:
            label = f"{start_of}close_on_stop"
            made.append(threading.Thread(target=cancel, daemon=daemon, name=label))
        for thread in made:
            if coord is not None and not self.endless:
                coord.register_thread(thread)
            if start:
                thread.start()
        return made


def _closing(types: object) -> tuple[type[OpError], ...]:
    """Return the errors that say that a queue is closed, or raise `TypeError`."""
    if not types:
        return (OutOfRangeError,)
    if not isinstance(types, tuple) or not all(
        isinstance(each, type) and issubclass(each, OpError) for each in types
    ):
        raise TypeError(
            "queue_closed_exception_types, when provided, must be a tuple of tf.error types, but "
            f"saw: {types}"
        )
    return types


def add_queue_runner(qr: QueueRunner, collection: str = "queue_runners") -> None:
    """Let `start_queue_runners` find a runner."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: Coordinator | None = None,
    daemon: bool = True,
    start: bool = True,
    collection: str = "queue_runners",
) -> list[threading.Thread]:
    """Start the threads of all runners of the graph."""
    session = sess or default_session()
    if session is None:
        raise ValueError(
            "Cannot start queue runners: No default session is registered. Use `with "
            "sess.as_default()` or pass an explicit session."
        )
    if not hasattr(session, "graph"):
        raise TypeError(f"sess must be a `tf.Session` object. Given class: {type(session)}")
    if hasattr(session, "run_step_fn"):
        return []  # a monitored session has started them
    runners = session.graph.get_collection(collection)
    return [t for r in runners for t in r.create_threads(session, coord, daemon, start)]
