"""Files of events, which TensorBoard reads: records of `Event` messages."""

from __future__ import annotations

import os
import socket
import threading
import time
from itertools import count

from ...forks import renewed
from ..values.run_errors import FailedPreconditionError
from .messages import Event
from .records import RecordWriter

_NUMBERS = count()
VERSION = "brain.Event:2"


class EventFile:
    """Writes events into a new file of a folder; safe to be used by several threads."""

    def __init__(
        self, folder: str, queue: int = 10, seconds: float = 120.0, suffix: str = ""
    ) -> None:
        os.makedirs(folder, exist_ok=True)
        now = time.time()
        parts = (f"{int(now):010d}", socket.gethostname(), str(os.getpid()), str(next(_NUMBERS)))
        self.path = os.path.join(folder, f"events.out.tfevents.{'.'.join(parts)}{suffix}")
        self.queue, self.seconds = queue, seconds
        self.writers = 0
        """How many there are who write into it, where somebody counts them."""
        self._lock = renewed(threading.Lock())
        self._writer: RecordWriter | None = RecordWriter(self.path)
        self._waiting, self._flushed = 0, now
        first = Event(wall_time=now, file_version=VERSION)
        first.source_metadata.writer = "gravure.frontend.formats.events"
        self._put(first)
        self.flush()

    def _put(self, event: Event) -> None:
        if self._writer is None:
            raise FailedPreconditionError(f"{self.path} is closed")
        self._writer.write(event.SerializeToString())
        self._waiting += 1

    @property
    def is_closed(self) -> bool:
        """Say whether nothing more can be written."""
        return self._writer is None

    def add(self, event: Event) -> None:
        """Write an event; it reaches the file when more wait than may, or enough time is over."""
        with self._lock:
            self._put(event)
            late = time.time() - self._flushed > self.seconds
        if late or self._waiting > self.queue:
            self.flush()

    def flush(self) -> None:
        """Let what was written reach the file."""
        with self._lock:
            if self._writer is not None:
                self._writer.flush()
            self._waiting, self._flushed = 0, time.time()

    def close(self) -> None:
        """End the file."""
        with self._lock:
            if self._writer is not None:
                self._writer.close()
                self._writer = None

    def __del__(self) -> None:
        if getattr(self, "_writer", None) is not None:
            self.close()
