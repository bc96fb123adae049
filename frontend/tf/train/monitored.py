"""A session that saves itself as it goes on, and goes on where it was stopped."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping

from ..graph.graph_lists import global_variables_initializer
from ..graph.sessions import Session
from .savers import Saver, get_or_create_global_step, latest_checkpoint


class MonitoredTrainingSession:
    """Runs a graph; variables are initialised, or restored from the newest checkpoint, at first.

    A checkpoint is written after so many steps (of the graph's global step) or seconds, and when
    the session ends without an error.
    """

    def __init__(
        self,
        checkpoint_dir: str | None = None,
        save_checkpoint_steps: int | None = None,
        save_checkpoint_secs: float | None = None,
        **_: object,
    ) -> None:
        self._folder = checkpoint_dir
        self._steps, self._seconds = save_checkpoint_steps, save_checkpoint_secs
        self._step = get_or_create_global_step()
        self._saver = Saver() if checkpoint_dir is not None else None
        self._first = global_variables_initializer()
        self._stop = False

    def __enter__(self) -> MonitoredTrainingSession:
        self._session = Session()
        latest = None if self._folder is None else latest_checkpoint(self._folder)
        if latest is not None and self._saver is not None:
            self._saver.restore(self._session, latest)
        else:
            self._session.run(self._first)
        self._saved, self._time = self._now(), time.monotonic()
        return self

    def _now(self) -> int:
        return int(self._session.run(self._step))

    def run(self, fetches: object, feed_dict: Mapping[object, object] | None = None) -> object:
        """Return what the fetches are; save if it is time to."""
        made = self._session.run(fetches, feed_dict)
        step = self._now()
        late = self._seconds is not None and time.monotonic() - self._time >= self._seconds
        if (self._steps is not None and step - self._saved >= self._steps) or late:
            self._save(step)
        return made

    def _save(self, step: int) -> None:
        if self._saver is not None and self._folder is not None and step != self._saved:
            self._saver.save(self._session, os.path.join(self._folder, "model.ckpt"), step)
            self._saved, self._time = step, time.monotonic()

    def should_stop(self) -> bool:
        """Say whether the end was asked for."""
        return self._stop

    def request_stop(self) -> None:
        """Ask for the end."""
        self._stop = True

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self._save(self._now())
        self._session.close()
