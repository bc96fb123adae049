"""The threads of a task: they take turns in listening, and are no more than what goes on."""

import threading
import time
from typing import Any

import pytest

from gravure.frontend.distributed.crew import Crew
from gravure.runtime.comm.local import run_ranks
from gravure.runtime.comm.mailbox import Mailbox
from gravure.runtime.comm.protocol import AbortedWorldError


def served(asks: Any, *, serving: bool = True) -> tuple[Any, set[str], Crew]:
    """Return what rank 1 finds when it asks rank 0 to do things, and the threads that did them."""
    did: set[str] = set()
    kept: list[Crew] = []
    over = threading.Event()

    def run(comm: Any) -> Any:
        box = Mailbox(comm)
        if comm.rank == 1:
            try:
                return asks(box)
            finally:
                over.set()
        crew = Crew(box)
        kept.append(crew)
        crew.serving = serving
        held = threading.Event()

        def on_ask(source: int, message: Any) -> None:
            def job() -> None:
                did.add(threading.current_thread().name)
                if message[1] == "hold":
                    held.wait(20)
                if message[1] == "free":
                    held.set()
                box.send(("answer", message[1]), threading.get_ident(), source)

            crew.add(job)

        box.handlers["ask"] = on_ask
        crew.start()
        assert over.wait(40)
        crew.close()
        return None

    return run_ranks(2, run)[1], did, kept[0]


@pytest.mark.parametrize("serving", [True, False])
def test_short_things_are_done_by_threads_that_are_kept(*, serving: bool) -> None:
    def asks(box: Mailbox) -> None:
        for number in range(300):
            box.send(("ask", number), number, 0)
            box.receive(("answer", number), "an answer", 0)

    _, did, crew = served(asks, serving=serving)
    assert len(did) <= 8  # 300 if none were kept; a few more where the machine is busy
    assert not crew.listens
    assert not crew.idle


def test_what_takes_long_lets_another_thread_listen() -> None:
    def asks(box: Mailbox) -> list[int]:
        box.send(("ask", 0), "hold", 0)
        first = []
        for number in range(3):
            box.send(("ask", number), number, 0)
            first.append(box.receive(("answer", number), "an answer", 0))
        box.send(("ask", 9), "free", 0)
        box.receive(("answer", "free"), "an answer", 0)
        return [*first, box.receive(("answer", "hold"), "an answer", 0)]

    *others, held = served(asks)[0]
    assert held not in others


def test_as_many_things_as_are_asked_for_go_on_at_once() -> None:
    def asks(box: Mailbox) -> None:
        for _ in range(12):
            box.send(("ask", 0), "hold", 0)
        box.send(("ask", 0), "free", 0)
        for _ in range(12):
            box.receive(("answer", "hold"), "an answer", 0)

    assert len(served(asks)[1]) == 13


def test_a_world_that_has_given_up_is_told_to_who_serves() -> None:
    def run(comm: Any) -> None:
        if comm.rank == 1:
            time.sleep(0.1)
            raise ZeroDivisionError("here")
        crew = Crew(Mailbox(comm))
        crew.start()
        while crew.fault is None:
            time.sleep(0.01)
        crew.close()
        assert isinstance(crew.fault, AbortedWorldError)

    with pytest.raises(ZeroDivisionError):
        run_ranks(2, run)
