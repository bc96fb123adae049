"""What sessions share by names, what they do not, and how it is forgotten."""

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.distributed.tasks import MARKS
from gravure.frontend.tf.runs.graph_messages import graph_message
from gravure.runtime.queues import ClosedError, Queue

from .test_servers import CLUSTER, ONE_PS, on_tasks

v1 = tf.compat.v1
PS = "/job:ps/task:0"


def built(container: str, value: float) -> Any:
    """Return a graph with a variable and a queue that are shared by name in a container."""
    with tf.Graph().as_default() as graph, tf.device(PS), graph.container(container):
        v = v1.Variable(value, name="v")
        queue = v1.FIFOQueue(3, tf.float32, shared_name="q")
        own = v1.FIFOQueue(3, tf.float32, name="own")
        put = [queue.enqueue(value), own.enqueue(value)]
        sizes = [queue.size(), own.size()]
        return graph, [v.initializer, *put], [v1.is_variable_initialized(v), *sizes]


def test_containers_of_tasks_are_apart_and_reset_by_their_names() -> None:
    def work(server: Any, index: int) -> Any:
        graphs = [built(name, n) for n, name in enumerate(("", "a", "b"))]

        def state() -> list[list[object]]:
            found = []
            for graph, _, wanted in graphs:
                with v1.Session(server.target, graph=graph) as session:
                    found.append([x.item() for x in session.run(wanted)])
            return found

        states = [state()]
        for graph, start, wanted in graphs:
            with v1.Session(server.target, graph=graph) as session:
                session.run(start)
                assert session.run(wanted[2]) == 1  # what has no name to share is the session's
        for names in ([], ["a"], None):
            states.append(state())
            v1.Session.reset(server.target, names)
        return [*states, state()]

    none, there = [False, 0, 0], [True, 1, 0]
    assert on_tasks(ONE_PS, work)["worker:0"] == [
        [none, none, none],
        [there, there, there],
        [there, there, there],
        [there, none, there],
        [none, none, there],
    ]


def test_a_session_whose_containers_are_reset_is_over() -> None:
    def work(server: Any, index: int) -> Any:
        graph, start, wanted = built("a", 1.0)
        session = v1.Session(server.target, graph=graph)
        session.run(start)
        v1.Session.reset(server.target, ["b"])
        with pytest.raises(tf.errors.AbortedError, match="containers of its target were reset"):
            session.run(wanted)

    on_tasks(ONE_PS, work)


def test_sessions_of_one_process_are_over_when_containers_are_reset() -> None:
    with tf.Graph().as_default() as graph, graph.container("a"):
        v = v1.Variable(1.0)
    with v1.Session(graph=graph) as session:
        session.run(v.initializer)
        v1.Session.reset("", ["b"])
        with pytest.raises(tf.errors.CancelledError, match="containers were reset"):
            session.run(v)
        with v1.Session(graph=graph) as other:
            assert other.run(v) == 1.0
        v1.Session.reset("", ["a"])


def test_nodes_say_in_which_container_they_are_and_under_what_name() -> None:
    with tf.Graph().as_default() as graph, graph.container("a"):
        v1.Variable(1.0, name="v")
        v1.FIFOQueue(3, tf.float32, shared_name="q").enqueue(1.0, name="put")
    nodes = {node.name: node.attr for node in graph_message(graph).node}
    for name, shared in (("v", b"v"), ("put", b"q")):
        assert (nodes[name]["container"].s, nodes[name]["shared_name"].s) == (b"a", shared)


@pytest.mark.parametrize(
    ("filters", "seen"),
    [
        ([], ["worker:0", "ps:0", "ps:1", "worker:1"]),
        (["/job:ps/task:1", "/job:worker"], ["worker:0", "ps:1", "worker:1"]),
        (["/job:nobody"], ["worker:0"]),
    ],
)
def test_a_session_sees_the_devices_that_it_filters(filters: list[str], seen: list[str]) -> None:
    def work(server: Any, index: int) -> Any:
        if index:
            return None
        with tf.Graph().as_default() as graph:
            with tf.device("/job:ps/task:0"):
                there = tf.constant(1.0) + 1.0
            with tf.device("/job:worker/task:0"):
                here = tf.constant(1.0) + 2.0
        config = v1.ConfigProto(device_filters=filters)
        with v1.Session(server.target, graph=graph, config=config) as session:
            assert session.run(here) == 3.0
            refused = pytest.raises(tf.errors.InvalidArgumentError, match="/job:ps/task:0")
            with refused if filters else nullcontext():
                assert session.run(there) == 2.0
            return [device.name for device in session.list_devices()]

    names = [f"/job:{x.replace(':', '/replica:0/task:')}/device:CPU:0" for x in seen]
    assert on_tasks(CLUSTER, work)["worker:0"] == names


def test_a_server_takes_note_of_so_many_aborted_steps_and_no_more() -> None:
    def served(task: Any) -> None:
        for number in range(MARKS + 50):
            task.give_up((1, -number - 1), "for a test")
        assert len(task.aborted) == MARKS

    def work(server: Any, index: int) -> Any:
        served(server.task)
        server.task.going[2, 0] = type("Going", (), {"give_up": lambda self: None})()
        server.task.give_up((2, 0), "still going")
        served(server.task)
        kept = server.task.aborted.get((2, 0))
        del server.task.going[2, 0]
        return kept

    assert on_tasks(ONE_PS, work, served)["worker:0"] == "still going"


def begun(work: Callable[[], object], until: Callable[[], bool]) -> threading.Thread:
    """Return a thread that works, and has come to where something holds."""
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    while not until():
        thread.join(0.001)
    return thread


def test_a_queue_is_closed_once_all_have_put_in_what_they_wait_with() -> None:
    queue, log = Queue(1), []
    queue.put([(0,)])

    def put() -> None:
        queue.put([(1,)])
        log.append("put")

    def close() -> None:
        queue.close()
        log.append("closed")

    putting = begun(put, lambda: len(queue._putting) == 1)
    closing = begun(close, lambda: queue.closing)
    with pytest.raises(ClosedError):
        queue.put([(2,)])
    assert not queue.closed
    assert queue.take(2) == [(0,), (1,)]
    for thread in (putting, closing):
        thread.join(20)
    assert sorted(log) == ["closed", "put"]
    assert queue.closed
    with pytest.raises(ClosedError):  # (once more)
        queue.close()
    queue.close(cancel=True)


def test_who_closes_a_queue_may_give_up_and_it_stays_open() -> None:
    with tf.Graph().as_default() as graph:
        queue = v1.FIFOQueue(1, tf.int32, shapes=[[]])
        put, close, take = queue.enqueue(1), queue.close(), queue.dequeue()
    with v1.Session(graph=graph) as session:
        session.run(put)
        held = next(iter(session.store.own.values()))
        thread = begun(lambda: session.run(put), lambda: len(held._putting) == 1)
        with pytest.raises(tf.errors.DeadlineExceededError):
            session.run(close, options=v1.RunOptions(timeout_in_ms=50))
        assert session.run(take) == np.int32(1)
        thread.join(20)
        assert session.run([take, put])[0] == 1
