"""A child process of a program in which other threads work: it neither waits for them nor fails."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from gravure.collection import paused
from gravure.forks import across, renewed
from gravure.lazy import cached_property

ROOT = Path(__file__).resolve().parents[2]

COMPILING = """if True:
    import faulthandler, os, sys, threading, time, warnings
    import numpy as np
    import gravure as gv

    warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks with threads
    total = gv.Variable(np.zeros(4, np.float32))
    x = np.ones((5, 5), np.float32)

    def made(k):
        @gv.function
        def f(x):
            y = x
            for i in range(6):
                y = gv.tanh(y @ x + float(k) * i)
            total.assign_add(gv.zeros(4))
            return gv.sum(y)

        return f

    def work(k):
        while True:
            f, k = made(k), k + 7
            for n in (5, 6):
                for _ in range(4):
                    f(np.ones((n, n), np.float32))

    def child(i):
        assert float(shared(x)) == wanted
        assert float(gv.sum(gv.asarray(x) @ gv.asarray(x))) == 125.0
        g = made(-2 - i)
        values = {float(g(x)) for _ in range(4)}
        assert max(values) - min(values) < 1e-5, values
        total.assign_add(gv.ones(4))
        assert total.numpy().tolist() == [1.0] * 4

    shared = made(-1)
    wanted = [float(shared(x)) for _ in range(4)][-1]
    for k in range(3):
        threading.Thread(target=work, args=(k,), daemon=True).start()
    for i in range(int(sys.argv[1])):
        time.sleep(0.03 * (i % 5))
        pid = os.fork()
        if not pid:
            faulthandler.dump_traceback_later(60, exit=True)
            try:
                child(i)
            except BaseException:
                import traceback

                traceback.print_exc()
                os._exit(3)
            os._exit(0)
        _, status = os.waitpid(pid, 0)
        assert not status, f"child {i} ended by {status}"
    print("all ended", flush=True)
    os._exit(0)
"""


def run(code: str, *arguments: str, cache: Path) -> str:
    environment = {**os.environ, "GRAVURE_CACHE": str(cache)}
    command = [sys.executable, "-c", code, *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=300, check=False
    )
    assert not done.returncode, done.stderr
    return done.stdout


@pytest.mark.slow
def test_a_child_works_while_other_threads_compile(tmp_path: Path) -> None:
    assert run(COMPILING, "8", cache=tmp_path) == "all ended\n"


def in_child(work) -> int:
    """Return the exit status of a child that does some work, in so many seconds."""
    pid = os.fork()
    if not pid:
        threading.Timer(20, lambda: os._exit(9)).start()
        os._exit(0 if work() else 1)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


def in_another_thread(enter, leave):
    """Let another thread enter something, and leave it when `leave` is set."""
    begun = threading.Event()

    def work():
        with enter:
            begun.set()
            leave.wait()

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    return thread


@pytest.mark.parametrize("kind", [threading.Lock, threading.RLock, threading.Condition])
def test_a_lock_of_another_thread_is_free_in_the_child(kind) -> None:
    lock, leave = renewed(kind()), threading.Event()
    thread = in_another_thread(lock, leave)
    try:
        assert in_child(lambda: lock.acquire(timeout=5)) == 0
        assert not lock.acquire(blocking=False)
    finally:
        leave.set()
        thread.join()


def test_a_lock_of_the_thread_that_forks_stays_its_own() -> None:
    lock = renewed(threading.RLock())

    def release() -> bool:
        lock.release()
        return True

    with lock:
        assert in_child(release) == 0


def test_a_fork_waits_for_who_holds_a_lock_across_forks() -> None:
    lock, leave, log = threading.RLock(), threading.Event(), []
    across(lambda: [lock])
    thread = in_another_thread(lock, leave)

    def leave_later() -> None:
        time.sleep(0.2)
        log.append("left")
        leave.set()

    threading.Thread(target=leave_later).start()
    assert in_child(lambda: log == ["left"] and lock.acquire(timeout=5)) == 0
    thread.join()
    assert lock.acquire(timeout=5)
    lock.release()


def test_the_collector_works_in_a_child_though_it_was_paused_by_another_thread() -> None:
    leave = threading.Event()
    thread = in_another_thread(paused(), leave)
    try:
        assert not gc.isenabled()
        assert in_child(gc.isenabled) == 0
        with paused():
            assert in_child(lambda: not gc.isenabled()) == 0
    finally:
        leave.set()
        thread.join()
    assert gc.isenabled()


def test_properties_of_two_objects_are_computed_side_by_side() -> None:
    both = threading.Barrier(2, timeout=20)

    class Slow:
        @cached_property
        def value(self) -> int:
            return both.wait()

    found = [Slow(), Slow()]
    threads = [threading.Thread(target=lambda x=x: x.value) for x in found]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(x.value for x in found) == [0, 1]
