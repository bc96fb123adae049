"""The coordinator of a program's threads, and the runner of threads that fill a queue."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ...values.context import default_session
from ...values.run_errors import OpError, OutOfRangeError
from ..graph.graph_lists import add_to_collection


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
        """Ask all threads to stop; an error (or what `sys.exc_info` gives) is kept."""
        error = ex[1] if isinstance(ex, tuple) else ex
        with self._lock:
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
    """Threads that run operations which fill a queue, until it is closed or all shall stop."""

    def __init__(self, queue: Any, enqueue_ops: Sequence[object]) -> None:
        self.queue, self.enqueue_ops = queue, list(enqueue_ops)
        self.exceptions_raised: list[Exception] = []
        self.close_op = queue.close()  # (before the graph is finalized)
        self.endless = False
        """Whether it waits for what others may never give, so that nobody waits for its end."""

    @property
    def name(self) -> str:
        """Return the name of the queue."""
        return str(self.queue.name)

    def _close(self, sess: Any) -> None:
        try:
            sess.run(self.close_op)
        except (RuntimeError, OpError) as error:  # the session is closed, or its tasks are gone
            self.exceptions_raised.append(error)

    def create_threads(
        self, sess: Any, coord: Any = None, daemon: bool = False, start: bool = False
    ) -> list[threading.Thread]:
        """Return a thread for each operation; the queue is closed when the last one is done."""
        left = [len(self.enqueue_ops)]
        lock = threading.Lock()

        def work(op: object) -> None:
            try:
                while coord is None or not coord.should_stop():
                    sess.run(op)
            except OutOfRangeError:
                pass  # what the operation reads is at its end
            except Exception as error:
                if coord is None:
                    self.exceptions_raised.append(error)
                else:
                    coord.request_stop(error)
            finally:
                with lock:
                    left[0] -= 1
                    last = not left[0]
                if last:
                    self._close(sess)

        made = [threading.Thread(target=work, args=(op,), daemon=daemon) for op in self.enqueue_ops]
        for thread in made:
            if coord is not None and not self.endless:
                coord.register_thread(thread)
            if start:
                thread.start()
        return made


def add_queue_runner(qr: QueueRunner, collection: str = "queue_runners") -> None:
    """Let `start_queue_runners` find a runner."""
    add_to_collection(collection, qr)


def start_queue_runners(
    sess: Any = None,
    coord: object = None,
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
    runners = session.graph.get_collection(collection)
    return [t for r in runners for t in r.create_threads(session, coord, daemon, start)]
