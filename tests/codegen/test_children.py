"""Work shared with children: all of it is done once, and none of it is lost with a child."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator

import pytest

from gravure.codegen import children as module
from gravure.codegen.children import MOST, Children, processes


def squares(numbers: Iterator[int]) -> bytes:
    return b"".join((n * n).to_bytes(4, "little") for n in numbers)


def numbers_in(content: bytes) -> list[int]:
    return [int.from_bytes(content[at : at + 4], "little") for at in range(0, len(content), 4)]


def has_ended(child: int) -> bool:
    """Say whether there is no such process any more, not even one that nobody waited for."""
    try:
        os.kill(child, 0)
    except ProcessLookupError:
        return True
    return False


@pytest.mark.parametrize(("several", "count"), [(1, 5), (3, 0), (3, MOST)])
def test_each_number_is_taken_once(several: int, count: int) -> None:
    children = Children(several, count, squares)
    pids = [child for child, _ in children.running]
    own = squares(children.numbers())
    found = [own, *children.sent()]
    assert len(found) == 1 + several
    assert sorted(numbers_in(b"".join(found))) == [n * n for n in range(count)]
    assert all(map(has_ended, pids))


def test_nothing_comes_of_a_child_that_ends_early() -> None:
    def dies(numbers: Iterator[int]) -> bytes:
        next(numbers)
        os.kill(os.getpid(), signal.SIGKILL)
        return b""

    def fails(numbers: Iterator[int]) -> bytes:
        raise ValueError(f"child {next(numbers)}")

    for work in (dies, fails):
        children = Children(1, 1, work)
        assert children.sent() == []


def test_children_are_ended_when_they_are_not_wanted_any_more() -> None:
    def waits(numbers: Iterator[int]) -> bytes:
        threading.Event().wait()
        return b""

    children = Children(2, 3, waits)
    pids = [child for child, _ in children.running]
    children.stop()
    assert all(map(has_ended, pids))


def test_who_cannot_fork_works_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_room() -> int:
        raise BlockingIOError("no room")

    monkeypatch.setattr(os, "fork", no_room)
    children = Children(1, 3, squares)
    assert numbers_in(squares(children.numbers())) == [0, 1, 4]
    assert children.sent() == []


def test_a_process_with_threads_or_one_processor_works_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module.threading, "active_count", lambda: 1)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1, 2})
    assert processes() == 2
    assert processes(3) == 3
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {2})
    assert processes() == 1
    monkeypatch.setattr(module.threading, "active_count", lambda: 2)
    assert processes(3) == 1
