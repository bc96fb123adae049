"""The pool of threads: every unit once, whoever takes part, and nothing burnt when idle."""

import ctypes
import os
import threading
import time
from typing import Any

import numpy as np
import pytest

from gravure.runtime.buffer import address, aligned_bytes
from gravure.runtime.library import Library
from gravure.runtime.pool import Pool, shared_pool

TASK = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_int64, ctypes.c_int64, ctypes.c_int64)


@pytest.fixture(scope="module")
def library(kit: Any) -> Library:
    return Library.load(kit.build(kit.rows()).tobytes())


def run(pool: Pool, library: Library, count: int) -> list[tuple[int, int, int]]:
    """Run a task written in Python, and return which units went to which slot."""
    done: list[tuple[int, int, int]] = []
    task = TASK(lambda context, begin, end, slot: done.append((slot, begin, end)))
    parallel_for = library.function("pool_parallel_for", "vpppl")
    parallel_for(pool.address, ctypes.cast(task, ctypes.c_void_p), None, count)
    return sorted(done)


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 10, 1000])
def test_every_unit_is_done_once(library: Library, threads: int, count: int) -> None:
    pool = Pool(library, threads)
    pool.start()
    time.sleep(0.01)
    for _ in range(20):
        parts = run(pool, library, count)
        units = [unit for _, begin, end in parts for unit in range(begin, end)]
        assert units == list(range(count))
        assert len(parts) <= min(threads, max(count, 1))
        assert len({slot for slot, _, _ in parts}) == len(parts)
    pool.stop()


def test_pool_without_workers_works_alone(library: Library) -> None:
    assert run(Pool(library, 4), library, 10) == [(0, 0, 10)]


def test_pool_can_be_stopped_and_started(library: Library) -> None:
    pool = Pool(library, 3)
    for _ in range(5):
        pool.start()
        run(pool, library, 10)
        pool.stop()
        assert run(pool, library, 10) == [(0, 0, 10)]


def test_more_workers_than_places_leave(library: Library) -> None:
    memory = aligned_bytes(library.function("pool_bytes", "li")(2))
    library.function("pool_init", "vpi")(address(memory), 2)
    worker = library.function("pool_worker", "vp")
    threads = [threading.Thread(target=worker, args=(address(memory),)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(100):
        if sum(thread.is_alive() for thread in threads) == 1:
            break
        time.sleep(0.01)
    assert sum(thread.is_alive() for thread in threads) == 1
    library.function("pool_stop", "vp")(address(memory))
    for thread in threads:
        thread.join()


def test_runs_that_overlap_take_turns(library: Library) -> None:
    pool = shared_pool(library, 3)
    parallel_for = library.function("pool_parallel_for", "vpppl")
    scope = library.function("pool_scope", "vpi")
    totals = np.zeros(4, np.int64)

    def work(number: int) -> None:
        lock = threading.Lock()

        def add(context: int, begin: int, end: int, slot: int) -> None:
            with lock:
                totals[number] += end - begin

        task = TASK(add)
        scope(pool.address, 1)
        for _ in range(200):
            parallel_for(pool.address, ctypes.cast(task, ctypes.c_void_p), None, 7)
        scope(pool.address, 0)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert totals.tolist() == [1400] * 4


def test_idle_pool_burns_nothing(library: Library) -> None:
    pool = shared_pool(library, 3)
    run(pool, library, 10)
    time.sleep(0.02)
    before = time.process_time()
    time.sleep(0.2)
    assert time.process_time() - before < 0.02


def test_pools_are_shared(library: Library) -> None:
    assert shared_pool(library, 3) is shared_pool(library, 3)
    assert shared_pool(library, 3) is not shared_pool(library, 2)


def test_fork_while_others_run(library: Library) -> None:
    pool = shared_pool(library, 3)
    stop = threading.Event()

    def work() -> None:
        while not stop.is_set():
            run(pool, library, 9)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        for _ in range(10):
            child = os.fork()
            if child == 0:
                parts = run(pool, library, 9)
                pool.start()
                after = run(pool, library, 9)
                os._exit(0 if parts == [(0, 0, 9)] and after[0][1] == 0 else 1)
            assert os.waitpid(child, 0)[1] == 0
    finally:
        stop.set()
        thread.join()


@pytest.mark.parametrize("threads", [0, -1, -(2**31)])
def test_fewer_threads_than_one_are_one(library: Library, threads: int) -> None:
    assert library.function("pool_bytes", "li")(threads) == 192
    memory = aligned_bytes(1024)
    memory[:] = 0xAA
    library.function("pool_init", "vpi")(address(memory), threads)
    assert memory[:192].view(np.int32).tolist() == [1] + [0] * 47
    assert (memory[192:] == 0xAA).all()
