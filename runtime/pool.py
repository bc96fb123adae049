"""Threads for runs: made once for the whole program, asleep when no run is going on.

The code of the pool is in every artefact (see `codegen/llvm/entry/pool.py`); here are the memory
and the threads, which are Python's, so that nothing outside the library is needed. They never take
Python's lock while they work. One pool of each size serves all models: models that are run at the
same time take turns, launch by launch, and who finds it taken works alone meanwhile.

Note [Fork]. A forked process has the memory of the pool but none of its threads. There the pool is
made empty at once, so that runs go on with one thread, and gets new threads at the next run.
"""

from __future__ import annotations

import atexit
import os
import threading

from ..errors import RuntimeInputError
from .buffer import address, aligned_bytes
from .library import Library


class Pool:
    """Some threads, and the memory by which they are given work."""

    def __init__(self, library: Library, threads: int) -> None:
        self.threads = threads
        self.library = library  # the code must stay where it is as long as there are threads
        size = library.function("pool_bytes", "li")(threads)
        self._memory = aligned_bytes(size)
        self.address = address(self._memory)
        self.parallel_for = library.address("pool_parallel_for") or 0
        self.scope = library.address("pool_scope") or 0
        self._init = library.function("pool_init", "vpi")
        self._worker = library.function("pool_worker", "vp")
        self._stop = library.function("pool_stop", "vp")
        self._workers: list[threading.Thread] = []
        self._init(self.address, threads)

    @property
    def is_running(self) -> bool:
        """Say whether the threads were started, and not lost in a fork."""
        return bool(self._workers)

    def start(self) -> None:
        """Start the threads, if there are none."""
        with _PROCESS.lock:
            if self._workers:
                return
            started: list[threading.Thread] = []
            for number in range(1, self.threads):
                worker = threading.Thread(
                    target=self._worker, args=(self.address,), name=f"gravure-{number}", daemon=True
                )
                try:
                    worker.start()
                except RuntimeError as error:
                    self._end(started)
                    raise RuntimeInputError(f"{self.threads} threads: {error}") from error
                started.append(worker)
            self._workers = started

    def stop(self) -> None:
        """End the threads; no run may be going on."""
        with _PROCESS.lock:
            workers, self._workers = self._workers, []
            self._end(workers)

    def _end(self, workers: list[threading.Thread]) -> None:
        """Let threads return, wait for them, and make the pool as it was at first."""
        self._stop(self.address)
        for worker in workers:
            worker.join()
        self._init(self.address, self.threads)

    def forget(self) -> None:
        """Make the pool empty in a process that has not got its threads: see Note [Fork]."""
        self._workers = []
        self._init(self.address, self.threads)


class Process:
    """What belongs to the process as a whole: its threads."""

    def __init__(self) -> None:
        self.pools: dict[int, Pool] = {}
        self.lock = threading.Lock()

    def after_fork(self) -> None:
        """Forget threads, and who held the lock: see Note [Fork]."""
        self.lock = threading.Lock()
        for pool in self.pools.values():
            pool.forget()

    def at_exit(self) -> None:
        """End all threads, as their memory is about to go."""
        for pool in self.pools.values():
            pool.stop()


_PROCESS = Process()


def shared_pool(library: Library, threads: int) -> Pool:
    """Return the pool of this size, with the code of `library` if it is the first to want one."""
    pool = _PROCESS.pools.get(threads)
    if pool is None:
        pool = _PROCESS.pools.setdefault(threads, Pool(library, threads))
    pool.start()
    return pool


os.register_at_fork(after_in_child=_PROCESS.after_fork)
atexit.register(_PROCESS.at_exit)
