"""Ranks that work together: worlds of threads, and of processes that `mpiexec` starts."""

import threading
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import ml_dtypes
import numpy as np
import pytest

from gravure.runtime.comm import protocol
from gravure.runtime.comm.local import run_ranks
from gravure.runtime.comm.mailbox import Mailbox
from gravure.runtime.comm.protocol import (
    AbortedWorldError,
    LateError,
    Wait,
    WorldError,
    all_gather,
    barrier,
    broadcast,
    in_step,
)
from gravure.runtime.comm.world import world


@pytest.fixture
def hasty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAVURE_TIMEOUT", "0.2")


def everything(comm: Any) -> list[Any]:
    """Return what the collective operations give, as plain data that is the same in any world."""
    mine = np.arange(3.0) * (comm.rank + 1)
    half = mine.astype(ml_dtypes.bfloat16)
    large = np.full(40_000, comm.rank + 1.0)  # goes in pieces
    vast = np.arange(300_000.0).reshape(3, -1)  # more than a room
    found = [
        comm.all_reduce(mine),
        comm.all_reduce(mine, "max"),
        comm.all_reduce(np.int32(comm.rank + 2), "prod"),
        comm.all_reduce(half).astype(np.float64),
        comm.all_reduce(mine[::-1]),
        comm.all_reduce(large)[[0, -1]],
        large[[0, -1]] - comm.rank,  # as it was
        *(x[..., -1] for x in comm.all_reduce_each([large, mine[:0, None], vast, mine], "sum")),
        *all_gather(comm, np.full(comm.rank + 1, comm.rank)),
        broadcast(comm, np.array([b"text", comm.rank], object), 1),
    ]
    barrier(comm)
    return [x.tolist() for x in found]


WANTED = [
    *([0, 3, 6], [0, 2, 4], 6, [0, 3, 6], [6, 3, 0]),
    *([3, 3], [1, 1], 3, [], [199_998, 399_998, 599_998], 6),
    *([0], [1, 1], [b"text", 1]),
]


def test_ranks_reduce_gather_and_send_to_all() -> None:
    assert run_ranks(2, everything) == [WANTED] * 2
    [alone] = run_ranks(1, lambda comm: comm.all_reduce(np.ones(2)).tolist())
    assert alone == [1, 1]


def test_the_sum_is_in_order_of_the_ranks() -> None:
    values = np.float32([1e8, 1.0, -1e8, 1.0])
    found = run_ranks(4, lambda comm: comm.all_reduce(values[comm.rank]))
    assert {float(x) for x in found} == {float(((values[0] + 1) - np.float32(1e8)) + 1)}


def test_messages_wait_for_who_wants_them() -> None:
    def run(comm: Any) -> Any:
        box, other = Mailbox(comm), 1 - comm.rank
        for number in range(3):
            box.send(("x", number), np.full(2, number), other)
        return [box.receive(("x", n), "a test", other).tolist() for n in (2, 0, 1)], box.counted

    assert run_ranks(2, run) == [([[2, 2], [0, 0], [1, 1]], 48)] * 2


def test_threads_of_a_rank_each_get_what_they_wait_for() -> None:
    def run(comm: Any) -> list[int]:
        box, other, found = Mailbox(comm), 1 - comm.rank, [0] * 8

        def take(place: int) -> None:
            found[place] = box.receive(("k", place), "a test", other)

        threads = [threading.Thread(target=take, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for number in reversed(range(8)):
            box.send(("k", number), 10 * number, other)
        for thread in threads:
            thread.join()
        return found

    assert run_ranks(2, run) == [[10 * n for n in range(8)]] * 2


@pytest.mark.parametrize(
    "wait",
    [
        barrier,
        lambda comm: Mailbox(comm).receive("key", "barrier", 1),
    ],
)
def test_who_waits_in_vain_says_for_whom(hasty: None, wait: Callable[[Any], Any]) -> None:
    def run(comm: Any) -> None:
        if comm.rank == 0:
            with in_step(7):
                wait(comm)

    started = time.monotonic()
    text = r"rank 0 has waited 0\.2 s for rank 1 in barrier of step 7"
    with pytest.raises(LateError, match=text) as caught:
        run_ranks(2, run)
    assert time.monotonic() - started < 2.2
    assert caught.value.code == "GV6210"


def test_nobody_sleeps_where_each_look_does_a_part_of_the_work(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    naps: list[float] = []
    monkeypatch.setattr(protocol.time, "sleep", naps.append)
    clock = count()
    monkeypatch.setattr(protocol.time, "monotonic", lambda: next(clock) / 100)
    looks = iter([None] * (protocol.SPINS + 20 * protocol.LOOKS) + [True])
    assert Wait("a test", "nobody", busy=1.0).until(lambda: next(looks))
    assert not naps
    looks = iter([None] * (protocol.SPINS + 20 * protocol.LOOKS) + [True])
    assert Wait("a test", "nobody").until(lambda: next(looks))
    assert naps


def test_an_error_on_one_rank_ends_the_others() -> None:
    others: list[str] = []

    def run(comm: Any) -> None:
        if comm.rank == 2:
            raise ZeroDivisionError("by rank 2")
        try:
            barrier(comm)
        except AbortedWorldError as error:
            others.append(str(error))
            raise

    with pytest.raises(ZeroDivisionError, match="by rank 2"):
        run_ranks(3, run)
    assert sorted(others) == [
        f"rank {n} gives up because of rank 2: ZeroDivisionError: by rank 2" for n in (0, 1)
    ]


def test_what_ranks_do_not_agree_on_is_named() -> None:
    with pytest.raises(WorldError, match=r"rank 0 gives float64\[1\], rank 1 gives float64\[2\]"):
        run_ranks(2, lambda comm: comm.all_reduce(np.ones(comm.rank + 1)))
    with pytest.raises(AbortedWorldError, match=r"rank 0 in barrier, rank 1 in all_gather"):
        run_ranks(2, lambda c: all_gather(c, np.ones(1)) if c.rank else barrier(c))
    with pytest.raises(WorldError, match="reduction 'mean', expected one of sum, prod, min, max"):
        run_ranks(2, lambda comm: comm.all_reduce(np.ones(1), "mean"))
    with pytest.raises(WorldError, match="broadcast from rank 5, there are 2 ranks"):
        run_ranks(2, lambda comm: broadcast(comm, np.ones(1), 5))


def test_a_process_by_itself_is_a_world_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    assert (world().rank, world().size) == (0, 1)
    assert run_ranks(3, lambda comm: world() is comm) == [True] * 3
    for text in ("soon", "nan", "inf", "0"):
        monkeypatch.setenv("GRAVURE_TIMEOUT", text)
        said = f"GRAVURE_TIMEOUT='{text}', expected a number of seconds"
        with pytest.raises(WorldError, match=said):
            run_ranks(2, barrier)


@pytest.mark.mpi
def test_processes_do_what_threads_do(mpiexec: Any) -> None:
    text = mpiexec(
        2,
        """
        from gravure.runtime.comm.world import world
        from gravure.runtime.comm.mailbox import Mailbox
        from gravure.runtime.comm.protocol import WorldError
        from tests_runtime_comm import everything, WANTED

        comm = world()
        assert (comm.size, comm.kind) == (2, "MPI")
        assert everything(comm) == WANTED
        shared, comm.rooms = comm.rooms, None  # as it is on several machines
        assert shared is not None
        assert everything(comm) == WANTED
        comm.rooms = shared
        try:
            comm.all_reduce_each([np.ones(3, np.float32)] * (comm.rank + 1), "max")
        except WorldError as error:
            said = [f"{n} arrays of float32 in {64 * n} bytes by max" for n in (1, 2)]
            assert str(error) == f"all_reduce: rank 0 gives {said[0]}, rank 1 gives {said[1]}"
        else:
            raise AssertionError("not refused")
        for rooms in (shared, None):  # shapes that lie in as many bytes there
            comm.rooms = rooms
            for shapes in (((2,), (3,)), ((2, 3), (3, 2))):
                try:
                    comm.all_reduce(np.ones(shapes[comm.rank], np.float32))
                except WorldError as error:
                    which = "another rank" if comm.rank else "rank 1"
                    own = f"rank {comm.rank} gives float32 {list(shapes[comm.rank])}"
                    assert str(error) == f"all_reduce: {which} gives other types or shapes; {own}"
                else:
                    raise AssertionError("not refused")
            assert everything(comm) == WANTED
        comm.rooms = shared
        box = Mailbox(comm)
        big = np.arange(100_000.0)
        box.send(("big", comm.rank), big + comm.rank, 1 - comm.rank)
        box.send("small", "text", 1 - comm.rank)
        assert box.receive("small", "a test", 1 - comm.rank) == "text"
        found = box.receive(("big", 1 - comm.rank), "a test", 1 - comm.rank)
        assert (found == big + 1 - comm.rank).all()
        print(f"well {comm.rank} ", flush=True)
        """,
        tests_runtime_comm=__file__,
    )
    assert "well 0 " in text
    assert "well 1 " in text


@pytest.mark.mpi
def test_a_process_that_says_nothing_is_late(mpiexec: Any) -> None:
    text = mpiexec(
        2,
        """
        from gravure.runtime.comm.world import world
        from gravure.runtime.comm.protocol import barrier, in_step
        import time
        if world().rank:
            time.sleep(5)
        with in_step(3):
            barrier(world())
        """,
        environment={"GRAVURE_TIMEOUT": "0.5"},
        status=1,
    )
    assert "rank 0 has waited 0.5 s for rank 1 in barrier of step 3" in text


@pytest.mark.mpi
def test_a_launcher_of_another_mpi_is_named(mpiexec: Any) -> None:
    text = mpiexec(
        1,
        "from gravure.runtime.comm.world import world; world()",
        environment={"GRAVURE_WORLD_SIZE": "3", "GRAVURE_LAUNCHER": "/opt/mpiexec"},
        status=1,
    )
    assert "/opt/mpiexec has started 3 ranks, and the library of mpi4py (" in text
