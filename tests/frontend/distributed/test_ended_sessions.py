"""What tasks keep for sessions, until these end."""

import gc
import threading
import time
from typing import Any

import pytest

from gravure import tf

from .test_servers import ONE_PS, on_tasks

v1 = tf.compat.v1


def built() -> tuple[Any, Any, Any]:
    """Return a graph with a variable and a draw on a parameter server."""
    with tf.Graph().as_default() as graph:
        with tf.device("/job:ps/task:0"):
            v = v1.Variable(2.0, name="kept")
            y = v * tf.random.uniform([], seed=3)
        with tf.device("/job:worker/task:0"):
            z = y + 1.0
    return graph, v, z


def settled(seen: list[Any]) -> tuple[int, int]:
    """Return how many stores and parts the parameter server has, once it has none or a while."""
    [task] = seen
    for _ in range(100):
        if not task.stores and not task.parts:
            break
        time.sleep(0.02)
    return len(task.stores), len(task.parts)


@pytest.mark.parametrize("how", ["closed", "let go", "closed twice"])
def test_tasks_let_go_what_they_keep_for_sessions_that_have_ended(how: str) -> None:
    served: list[Any] = []
    there = threading.Event()

    def work(server: Any, index: int) -> None:
        for _ in range(5):
            graph, v, z = built()
            session = v1.Session(server.target, graph=graph)
            session.run(v.initializer)
            session.run(z)
            if how == "let go":
                del session, graph, v, z
                gc.collect()
            else:
                session.close()
                if how == "closed twice":
                    session.close()
        graph, v, z = built()
        with v1.Session(server.target, graph=graph) as session:
            assert session.run(z) > 1.0  # (variables stay)
            assert len(server.task.stores) == 1
        assert settled([server.task]) == (0, 0)
        there.wait(10)
        assert settled(served) == (0, 0)

    def noted(task: Any) -> None:
        served.append(task)
        there.set()

    on_tasks(ONE_PS, work, noted)


def test_a_step_that_its_session_ends_meanwhile_ends_at_once() -> None:
    def work(server: Any, index: int) -> float:
        with tf.Graph().as_default() as graph, tf.device("/job:ps/task:0"):
            queue = tf.queue.FIFOQueue(1, tf.float32, shapes=[[]])
            got = queue.dequeue()
        session = v1.Session(server.target, graph=graph)
        errors: list[Any] = []

        def waits() -> None:
            try:
                session.run(got)
            except tf.errors.OpError as error:
                errors.append(error)

        threads = [threading.Thread(target=waits) for _ in range(3)]
        for thread in threads:
            thread.start()
        time.sleep(0.3)
        started = time.monotonic()
        session.close()
        for thread in threads:
            thread.join(20)
        assert {type(error).__name__ for error in errors} == {"CancelledError"}
        return time.monotonic() - started

    assert on_tasks(ONE_PS, work)["worker:0"] < 10
