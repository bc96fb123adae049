"""Clusters of tasks: parameter servers and workers, in threads that stand in for processes."""

import os
import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.values.devices import PlacementError
from gravure.runtime.comm.local import run_ranks
from gravure.runtime.comm.protocol import WorldError

v1 = tf.compat.v1
CLUSTER = {"ps": ["h:1", "h:2"], "worker": ["h:3", "h:4"]}
ONE_PS = {"ps": ["h:1"], "worker": ["h:3"]}


def on_tasks(
    cluster: Any, work: Callable[[Any, int], Any], served: Callable[[Any], None] | None = None
) -> dict[str, Any]:
    """Return what a function of the server and its number gives on each worker; others serve.

    `served` is told the task of each of these.
    """
    spec = tf.train.ClusterSpec(cluster)
    tasks = spec.all_tasks()

    def run(comm: Any) -> Any:
        job, index = tasks[comm.rank]
        server = tf.distribute.Server(spec, job, index, comm=comm)
        try:
            if job == "ps":
                if served is not None:
                    served(server.task)
                server.join()
                return server.task.messages
            found = work(server, index)
            server.join()
            return found
        finally:
            server.close()

    return {f"{job}:{n}": x for (job, n), x in zip(tasks, run_ranks(len(tasks), run), strict=True)}


X = np.float32([[1, 2], [3, 4], [5, 6]])


def test_e7_a_graph_runs_over_two_tasks_by_one_message_a_step() -> None:
    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:
            with tf.device("/job:ps/task:0"):
                v = v1.Variable(np.float32([[1, 2], [3, 4]]), name="v")
            x = v1.placeholder(tf.float32, [None, 2])
            with tf.device("/job:worker/task:0"):
                y = tf.matmul(x, v)
            with tf.device("/job:ps/task:0"):
                z = tf.reduce_sum(y) + 1.0
                step = v.assign_add(tf.ones([2, 2]))
        with v1.Session(server.target, graph=graph) as session:
            session.run(v.initializer)
            found = []
            for _ in range(6):
                found.append(session.run([y, z], {x: X}))
                session.run(step)
            names = [device.name for device in session.list_devices()]
        return found, names

    found = on_tasks(ONE_PS, work)
    rows, names = found["worker:0"]
    value = np.float32([[1, 2], [3, 4]])
    for y, z in rows:
        np.testing.assert_array_equal(y, X @ value)
        assert z == (X @ value).sum() + 1
        value = value + 1
    assert found["ps:0"] == 13  # one message for each step that needs it
    assert names == [f"/job:{j}/replica:0/task:0/device:CPU:0" for j in ("worker", "ps")]


def test_between_graph_training_with_parameter_servers() -> None:
    rng = np.random.default_rng(0)
    x_all = rng.normal(size=(64, 3)).astype(np.float32)
    y_all = (x_all @ np.float32([[1], [-2], [3]]) + 0.5).astype(np.float32)

    barrier = threading.Barrier(2)

    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:
            setter = tf.train.replica_device_setter(
                cluster=CLUSTER, worker_device=f"/job:worker/task:{index}"
            )
            with tf.device(setter):
                x, y = v1.placeholder(tf.float32, [None, 3]), v1.placeholder(tf.float32, [None, 1])
                w = v1.get_variable("w", [3, 1], initializer=v1.zeros_initializer())
                b = v1.get_variable("b", [1], initializer=v1.zeros_initializer())
                count = v1.train.get_or_create_global_step()
                loss = tf.reduce_mean((tf.matmul(x, w) + b - y) ** 2.0)
                train = v1.train.AdamOptimizer(0.05).minimize(loss, global_step=count)
                init = v1.global_variables_initializer()
                ready = [v1.is_variable_initialized(v) for v in v1.global_variables()]
        places = [op.device for op in (w.op, b.op, count.op, loss.op)]
        with v1.Session(server.target, graph=graph) as session:
            if index == 0:
                session.run(init)
            while not all(session.run(ready)):
                time.sleep(0.01)
            first = session.run(loss, {x: x_all, y: y_all})
            for n in range(60):
                rows = slice(32 * index, 32 * index + 32) if n % 2 else slice(None)
                session.run(train, {x: x_all[rows], y: y_all[rows]})
            last = session.run(loss, {x: x_all, y: y_all})
            barrier.wait(20)
            return places, float(first), float(last), int(session.run(count))

    found = on_tasks(CLUSTER, work)
    for index in range(2):
        places, first, last, count = found[f"worker:{index}"]
        assert places == ["/job:ps/task:0", "/job:ps/task:1", "/job:ps/task:0",
                          f"/job:worker/task:{index}"]  # fmt: skip
        assert last < 0.2 * max(first, 1.0)
        assert count == 120  # no step was lost


def behind(a: Any, b: Any, state: Any) -> Any:
    with tf.control_dependencies([b]):
        return tf.identity(a)


def loop(a: Any, b: Any, state: Any) -> Any:
    trips = tf.while_loop(lambda i, x: i < 3, lambda i, x: (i + 1, tf.sin(x) + 0.1), (0, a))
    return trips[1]


RULES: list[Callable[[Any, Any, Any], Any]] = [
    lambda a, b, state: tf.sin(a) + b,
    lambda a, b, state: a * b,
    lambda a, b, state: state.read_value() + a,
    lambda a, b, state: state.assign_add(tf.cos(a)),
    lambda a, b, state: tf.cond(tf.reduce_sum(a) > 2.0, lambda: a * 0.5, lambda: b),
    lambda a, b, state: tf.concat([a[:2], b[2:]], 0),
    behind,
    loop,
]


def test_random_graphs_over_tasks_give_what_one_process_gives() -> None:
    tasks = ["/job:ps/task:0", "/job:ps/task:1", "/job:worker/task:0", "/job:worker/task:1"]

    def build(seed: int, places: Any) -> Any:
        """Return what is fed and fetched: numbers, state, order, loops and choices."""
        rng = np.random.default_rng(seed)
        with tf.Graph().as_default() as graph:
            fed = v1.placeholder(tf.float32, [4])
            values: list[Any] = [fed, tf.constant(np.float32([1, 2, 3, 4]))]
            states = []
            for n in range(2):
                with tf.device(places()):
                    states.append(v1.Variable(np.full(4, n + 1.0, np.float32), name=f"v{seed}_{n}"))
            for _ in range(14):
                a, b = (values[i] for i in rng.integers(0, len(values), 2))
                state, what = states[rng.integers(2)], rng.integers(len(RULES))
                with tf.device(places()):
                    made = RULES[what](a, b, state)
                values.append(tf.clip_by_value(made, -9.0, 9.0))
            init = v1.global_variables_initializer()
            wanted = [values[i] for i in rng.integers(2, len(values), 4)]
            return graph, fed, [*wanted, *(v.read_value() for v in states)], init

    def results(target: str, graph: Any, fed: Any, wanted: Any, init: Any) -> list[bytes]:
        with v1.Session(target, graph=graph) as session:
            session.run(init)
            rows = [session.run(wanted, {fed: np.float32([n, 1, -1, 2])}) for n in range(2)]
        return [x.tobytes() for row in rows for x in row]

    def work(server: Any, index: int) -> None:
        for seed in range(index, int(os.environ.get("GRAVURE_TEST_SEEDS", "60")), 2):
            where = np.random.default_rng(seed + 1000)
            over = build(seed, lambda where=where: tasks[where.integers(4)])
            alone = build(seed, lambda: None)
            assert results(server.target, *over) == results("", *alone), seed

    on_tasks(CLUSTER, work)


def test_queues_and_containers_live_in_their_task() -> None:
    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:
            with tf.device("/job:ps/task:1"):
                queue = tf.queue.FIFOQueue(10, tf.float32, shapes=[[]], shared_name="q")
                x = v1.placeholder(tf.float32, [])
                put = queue.enqueue(x)
                take = queue.dequeue()
            with tf.device(f"/job:worker/task:{index}"):
                got = take * 2.0
        with v1.Session(server.target, graph=graph) as session:
            if index == 0:
                for n in range(6):
                    session.run(put, {x: float(n)})
                return None
            return [float(session.run(got)) for _ in range(6)]

    found = on_tasks(CLUSTER, work)
    assert found["worker:1"] == [0.0, 2.0, 4.0, 6.0, 8.0, 10.0]


def test_a_queue_is_used_where_it_was_made() -> None:
    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:
            with tf.device("/job:ps/task:1"):
                queue = tf.queue.FIFOQueue(10, tf.float32, shapes=[[]], shared_name="q")
            x = v1.placeholder(tf.float32, [])
            with tf.device(f"/job:worker/task:{index}"):
                put, got = queue.enqueue(x + 1.0), queue.dequeue() * 2.0
        assert {op.device for op in graph.get_operations() if "Queue" in op.type} == {
            "/job:ps/task:1",
            "/job:ps/task:1/device:CPU:*",
        }
        with v1.Session(server.target, graph=graph) as session:
            if index == 0:
                for n in range(4):
                    session.run(put, {x: float(n)})
                return None
            return [float(session.run(got)) for _ in range(4)]

    assert on_tasks(CLUSTER, work)["worker:1"] == [2.0, 4.0, 6.0, 8.0]


def test_a_queue_without_a_device_is_not_two() -> None:
    def work(server: Any, index: int) -> None:
        with tf.Graph().as_default() as graph:
            queue = tf.queue.FIFOQueue(10, tf.float32, shapes=[[]])
            with tf.device("/job:ps/task:0"):
                put = queue.enqueue(1.0)
            with tf.device("/job:worker/task:0"):
                got = queue.dequeue()
        with v1.Session(server.target, graph=graph) as session:
            for fetch in (put, got):
                with pytest.raises(
                    tf.errors.InvalidArgumentError, match=r"one task.* asks for ps:0, worker:0"
                ):
                    session.run(fetch)

    on_tasks(ONE_PS, work)


def test_python_runs_where_the_session_is_and_nowhere_else() -> None:
    def work(server: Any, index: int) -> None:
        with tf.Graph().as_default() as graph:
            with tf.device("/job:ps/task:0"):
                v = v1.Variable(3.0, name="python")
            with tf.device("/job:worker/task:0"):
                y = tf.py_function(lambda x: x + 1.0, [v], tf.float32)
                y.set_shape([])
            with tf.device("/job:ps/task:0"):
                z = y * 2.0
                w = tf.py_function(lambda x: x, [z], tf.float32, name="far")
        with v1.Session(server.target, graph=graph) as session:
            session.run(v.initializer)
            assert [session.run(z) for _ in range(8)] == [8.0] * 8
            with pytest.raises(ValueError, match=r"far .*cannot run on ps:0, only where the ses"):
                session.run(w)

    on_tasks(ONE_PS, work)


def test_errors_of_a_task_end_the_step_and_name_the_task() -> None:
    def work(server: Any, index: int) -> None:
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [None])
            with tf.device("/job:ps/task:0"):
                v = v1.Variable(1.0, name="unset")
                bad = v + 1.0
                wrong = tf.debugging.check_numerics(x, "odd", name="checked")
            with tf.device("/job:worker/task:0"):
                y = bad * 2.0
                z = tf.identity(wrong)
        with v1.Session(server.target, graph=graph) as session:
            with pytest.raises(tf.errors.FailedPreconditionError, match=r"unset.*\(on ps:0\)"):
                session.run(y)
            with pytest.raises(tf.errors.InvalidArgumentError, match=r"odd.*\(on ps:0\)"):
                session.run(z, {x: [np.nan]})
            np.testing.assert_array_equal(session.run(z, {x: [1.0]}), [1.0])
            session.run(v.initializer)
            assert session.run(y) == 4.0

    on_tasks(ONE_PS, work)


def test_e8_a_task_that_says_nothing_any_more_is_named(monkeypatch: Any) -> None:
    monkeypatch.setenv("GRAVURE_TIMEOUT", "0.5")

    def work(server: Any, index: int) -> None:
        with tf.Graph().as_default() as graph:
            with tf.device("/job:ps/task:0"):
                v = v1.Variable(1.0, name="gone")
            with tf.device("/job:worker/task:0"):
                y = v * 2.0
        with v1.Session(server.target, graph=graph) as session:
            session.run(v.initializer)
            assert known.wait(20)
            server.task.box.send(("stop", 0), None, 0)
            assert stopped.wait(20)
            wait = r"rank 1 has waited .* rank 0 \(ps:0\)"
            with pytest.raises(tf.errors.AbortedError, match=wait):
                session.run(y)
            ended.set()

    known, stopped, ended = (threading.Event() for _ in range(3))

    def run(comm: Any) -> None:
        if comm.rank == 0:
            server = tf.distribute.Server(ONE_PS, "ps", 0, comm=comm)
            handlers = server.task.box.handlers

            def stop(*_: Any) -> None:
                handlers.update(dict.fromkeys(handlers, lambda *_: ended.wait(20)))
                stopped.set()

            handlers["stop"] = stop
            known.set()
            ended.wait(20)
        else:
            server = tf.distribute.Server(ONE_PS, "worker", 0, comm=comm)
            work(server, 0)
        server.close()

    run_ranks(2, run)


def test_a_slow_task_is_waited_for_while_it_answers(monkeypatch: Any) -> None:
    monkeypatch.setenv("GRAVURE_TIMEOUT", "2")

    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph, tf.device("/job:ps/task:0"):
            queue = tf.queue.FIFOQueue(1, tf.float32, shapes=[[]], shared_name="slow")
            put, take = queue.enqueue(1.0), queue.dequeue()
        with v1.Session(server.target, graph=graph) as session:
            if index == 0:
                return float(session.run(take))
            time.sleep(5.0)  # longer than a wait may take
            return session.run(put)

    assert on_tasks(CLUSTER, work)["worker:0"] == 1.0


def test_what_does_not_fit_a_cluster_is_refused() -> None:
    def work(server: Any, index: int) -> None:
        with tf.Graph().as_default() as graph:
            with tf.device("/job:ps/task:7"):
                y = tf.constant(1.0) + 1.0

            def far() -> Any:
                with tf.device("/job:ps/task:0"):
                    return tf.constant(1.0) + 1.0

            with tf.device("/job:worker/task:0"):
                x = v1.placeholder_with_default(1.0, [])
                z = tf.cond(x > 0.0, far, lambda: x * 2.0)
                slope = tf.gradients(z, x)[0]
        with v1.Session(server.target, graph=graph) as session:
            with pytest.raises(PlacementError, match=r"/job:ps/task:7.*devices are \[/job:worker"):
                session.run(y)
            assert (session.run(z), session.run(z, {x: -1.0})) == (2.0, -2.0)
            assert (session.run(slope), session.run(slope, {x: -1.0})) == (0.0, 2.0)
            options = v1.RunOptions(trace_level=v1.RunOptions.FULL_TRACE)
            with pytest.raises(tf.errors.UnimplementedError, match="trace_level"):
                session.run(z, options=options, run_metadata=v1.RunMetadata())

    on_tasks(ONE_PS, work)
    with pytest.raises(WorldError, match="the cluster has 2 tasks, and the world of threads 1 "):
        tf.distribute.Server(ONE_PS, "ps", 0)
    with pytest.raises(ValueError, match="there is no task ps:3"):
        tf.distribute.Server(ONE_PS, "ps", 3)
    with pytest.raises(tf.errors.UnimplementedError, match="tasks talk by MPI"):
        tf.distribute.Server(ONE_PS, "ps", 0, protocol="grpc+verbs")
    with pytest.raises(tf.errors.NotFoundError, match="there is no such server"):
        v1.Session("grpc://nowhere:1")


def test_a_server_of_its_own_has_one_task() -> None:
    server = tf.distribute.Server.create_local_server()
    try:
        for _ in range(2):  # what is in the task stays behind a session
            with tf.Graph().as_default() as graph:
                v = v1.Variable(1.0, name="kept")
                more = v.assign_add(1.0)
            with v1.Session(server.target, graph=graph) as session:
                if _ == 0:
                    session.run(v.initializer)
                found = [float(session.run(more)) for _ in range(6)]
        assert found == [8.0, 9.0, 10.0, 11.0, 12.0, 13.0]
    finally:
        server.close()


def test_devices_by_functions_and_strategies() -> None:
    setter = tf.train.replica_device_setter(ps_tasks=3, worker_device="/job:worker/cpu:0")
    with tf.Graph().as_default(), tf.device(setter):
        made = [v1.Variable(float(n)) for n in range(4)]
        with tf.device("/job:worker/task:2"):
            y = made[0] + 1.0
    assert [v.op.device for v in made] == [f"/job:ps/task:{n}" for n in (0, 1, 2, 0)]
    assert y.op.device == "/job:worker/task:2/device:CPU:0"
    assert made[1].initializer.device == "/job:ps/task:1"
    assert tf.train.replica_device_setter() is None
    chosen = tf.train.replica_device_setter(ps_tasks=2, ps_strategy=lambda op: 1)
    with tf.Graph().as_default(), tf.device(chosen):
        assert v1.Variable(1.0).op.device == "/job:ps/task:1"
