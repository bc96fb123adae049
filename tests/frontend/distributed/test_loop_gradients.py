"""Gradients of loops, choices and calls whose insides are on several tasks."""

import os
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.values.devices import PlacementError

from .test_servers import CLUSTER, ONE_PS, on_tasks

v1 = tf.compat.v1
TASKS = [*(f"/job:{job}/task:{n}" for job in ("ps", "worker") for n in range(2)), None]
SEEDS = int(os.environ.get("GRAVURE_TEST_SEEDS", "24"))
"""How many random graphs are tried: 200 by hand."""
Places = Callable[[], str | None]


def lively(rng: Any, x: Any, where: Places) -> Any:
    """Return a value times what is drawn, or what a variable has come to be."""
    rates = v1.get_collection("rates")
    with tf.device(where()):
        what = rng.integers(6)
        if what == 0:
            return tf.nn.dropout(x, rate=0.3)
        if what == 1:
            return x * tf.random.uniform(tf.shape(x), 0.5, 1.5)
        rate = rates[rng.integers(len(rates))]
        if what == 2:
            return x * rate
        change = (rate.assign_add, rate.assign_sub, rate.assign)[what - 3]
        changed = change(tf.tanh(0.25 * x if what < 5 else 0.5 * x + rate))
        with tf.control_dependencies([changed]):
            return x * rate.read_value() if rng.integers(2) else x + changed


def smooth(rng: Any, values: list[Any], where: Places, depth: int) -> Any:
    """Return a value of others by an operation that has a gradient, on some task."""
    a, b = (values[i] for i in rng.integers(0, len(values), 2))
    if v1.get_collection("rates") and rng.integers(3) == 0:
        return lively(rng, a, where)
    what = rng.integers(7 if depth else 4)
    variables = v1.trainable_variables()
    with tf.device(where()):
        if variables and rng.integers(3) == 0:
            b = b * tf.convert_to_tensor(variables[rng.integers(len(variables))])
        if what < 4:
            simple = (
                tf.sin(a) + b,
                a * tf.tanh(b),
                tf.concat([a[:1], b[1:]], 0),
                tf.nn.relu(a - b),
            )
            return simple[what]
        if what == 4:
            more, less = (int(n) for n in rng.integers(1000, size=2))
            return tf.cond(
                tf.reduce_sum(a) > 0.0,
                lambda: chain(np.random.default_rng(more), [a, b], where, depth - 1),
                lambda: chain(np.random.default_rng(less), [a, b], where, depth - 1),
            )
        seed, trips = int(rng.integers(1000)), int(rng.integers(4))

        def body(i: Any, x: Any, y: Any) -> Any:
            inner = np.random.default_rng(seed)
            made = chain(inner, [x, y, a], where, depth - 1)
            with tf.device(where()):
                return tf.add(i, 1), tf.clip_by_value(made, -5.0, 5.0), tf.tanh(x)

        return tf.while_loop(lambda i, x, y: i < trips, body, (0, a, b))[1]


def chain(rng: Any, values: list[Any], where: Places, depth: int) -> Any:
    """Return the last of a few values, each of the others."""
    values = list(values)
    for _ in range(3):
        values.append(smooth(rng, values, where, depth))
    return values[-1]


def build(seed: int, where: Places, *, learns: bool = False, lives: bool = False) -> Any:
    """Return a graph, what is fed, and a result with its gradients.

    One that `learns` has variables, and changes them by those; one that `lives` draws random
    numbers and changes variables on its way, also inside of choices and loops.
    """
    rng = np.random.default_rng(seed)
    with tf.Graph().as_default() as graph:
        v1.set_random_seed(seed)
        for name in (f"r{seed}", f"s{seed}") if lives else ():
            with tf.device(where()):
                first = np.float32(rng.normal(size=3))
                rate = v1.get_variable(name, initializer=first, use_resource=True, trainable=False)
            v1.add_to_collection("rates", rate)
        for name in (f"v{seed}", f"w{seed}") if learns or lives else ():  # (tasks share)
            with tf.device(where()):
                first = np.float32(rng.normal(size=3))
                v1.get_variable(name, initializer=first, use_resource=True)
        x, y = v1.placeholder(tf.float32, [3]), v1.placeholder(tf.float32, [3])
        values = [x, y]
        for n in range(4):
            values.append(smooth(rng, values, where, 2 if n else 3))
        loss = tf.reduce_sum(tf.add_n(values[2:]))
        variables, rates = v1.trainable_variables(), v1.get_collection("rates")
        slopes = tf.gradients(loss, [x, y, *variables, *rates], unconnected_gradients="zero")
        with tf.control_dependencies([loss, *slopes]):
            learned = [
                v1.assign_sub(v, 0.1 * d) for v, d in zip(variables, slopes[2:], strict=False)
            ]
            left = [rate.read_value() for rate in rates]
    return graph, [x, y], [loss, *slopes, *learned, *left]


def run(target: str, graph: Any, fed: Any, wanted: Any) -> list[bytes]:
    rows = [np.float32([0.3, -0.8, 1.2]), np.float32([1.1, 0.4, -0.6])]
    with v1.Session(target, graph=graph) as session:
        with graph.as_default():
            session.run(v1.global_variables_initializer())
        found = [session.run(wanted, dict(zip(fed, each, strict=True)))
                 for each in (rows, rows[::-1])]  # fmt: skip
    return [value.tobytes() for row in found for value in row]


@pytest.mark.sweep
@pytest.mark.parametrize("what", ["nothing", "learns", "lives"])
def test_gradients_of_random_loops_over_tasks_are_those_of_one_process(what: str) -> None:
    how = {} if what == "nothing" else {what: True}
    split: list[int] = []

    def work(server: Any, index: int) -> None:
        for seed in range(index, SEEDS, 2):
            rng = np.random.default_rng(seed + 5000)
            over = build(seed, lambda rng=rng: TASKS[rng.integers(len(TASKS))], **how)
            alone = build(seed, lambda: None, **how)
            assert run(server.target, *over) == run("", *alone), seed
            split.append(sum(op.type in ("While", "If") for op in over[0].operations))

    on_tasks(CLUSTER, work)
    assert sum(split) > SEEDS / 2


def test_the_way_back_of_a_loop_over_tasks() -> None:
    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [])
            w = v1.placeholder(tf.float32, [])

            def body(i: Any, y: Any) -> Any:
                with tf.device("/job:ps/task:0"):
                    y = y * w
                with tf.device("/job:worker/task:0"):
                    return i + 1, y + 1.0

            with tf.device("/job:worker/task:0"):
                y = tf.while_loop(lambda i, y: i < 4, body, (0, x))[1]
            slopes = tf.gradients(y, [x, w])
            curve = tf.gradients(slopes[1], w)[0]
        with v1.Session(server.target, graph=graph) as session:
            return [session.run([y, *slopes, curve], {x: 3.0, w: 2.0}) for _ in range(6)]

    rows = on_tasks(ONE_PS, work)["worker:0"]
    # y = x w^4 + w^3 + w^2 + w + 1
    wanted = [63.0, 16.0, 4 * 3 * 8 + 3 * 4 + 2 * 2 + 1, 12 * 3 * 4 + 6 * 2 + 2]
    for row in rows:
        np.testing.assert_array_equal(np.float32(row), np.float32(wanted))


def test_what_cannot_run_once_more_is_refused() -> None:
    def work(server: Any, index: int) -> None:
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [])
            with tf.device("/job:ps/task:0"):
                queue = tf.queue.FIFOQueue(9, [tf.float32], [[]])
                fill = queue.enqueue_many([[1.0, 2.0, 3.0]])

            def body(apart: bool, i: Any, y: Any) -> Any:
                with tf.device("/job:ps/task:0"):
                    y = y * queue.dequeue()
                with tf.device("/job:worker/task:0" if apart else "/job:ps/task:0"):
                    return i + 1, y + 1.0

            made = []
            for apart in (True, False):
                with tf.device("/job:worker/task:0" if apart else "/job:ps/task:0"):
                    turn = partial(body, apart)
                    y = tf.while_loop(lambda i, y: i < 3, turn, (0, x))[1]
                with tf.device("/job:worker/task:0"):
                    made.append(tf.gradients(y * y, x)[0])
        with v1.Session(server.target, graph=graph) as session:
            session.run(fill)
            whys = (
                "runs on one task as its gradient is taken and it has effects inside: '.*Dequeue",
                "would run once more on ps:0, as its gradient is taken in a later stage and it has",
            )
            for slope, why in zip(made, whys, strict=True):
                with pytest.raises(PlacementError, match=why):
                    session.run(slope, {x: 1.0})

    on_tasks(ONE_PS, work)


@pytest.mark.parametrize("apart", [False, True])
def test_python_in_a_branch_is_called_once_or_refused(apart: bool) -> None:
    calls: list[float] = []

    def halved(y: Any) -> Any:
        calls.append(float(y))
        return y * np.float32(0.5)

    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph, tf.device("/job:worker/task:0"):
            x = v1.placeholder(tf.float32, [])

            def taken() -> Any:
                with tf.device("/job:ps/task:0" if apart else None):
                    y = tf.sin(x)
                return x * v1.py_func(halved, [y], tf.float32)

            y = tf.cond(x > 0.0, taken, lambda: x)
            with tf.device("/job:ps/task:0"):
                slope = tf.gradients(y * y, x)[0]
        with v1.Session(server.target, graph=graph) as session:
            assert session.run(y, {x: 1.0}) == np.float32(0.5) * np.sin(np.float32(1.0))
            assert len(calls) == 1
            with pytest.raises(PlacementError, match=r"has effects inside: '.*PyFunc.*' \("):
                session.run(slope, {x: 1.0})
            assert len(calls) == 1

    on_tasks(ONE_PS, work)


def test_a_loop_of_one_task_has_its_effects_once_though_its_gradient_comes_later() -> None:
    def build(ps: str | None, worker: str | None) -> Any:
        with tf.Graph().as_default() as graph:
            v1.set_random_seed(3)
            x = v1.placeholder(tf.float32, [4])
            with tf.device(ps):
                v = v1.get_variable("v", initializer=np.float32(2.0), use_resource=True)

                def body(i: Any, y: Any) -> Any:
                    return i + 1, y * tf.random.uniform([4]) * v.assign_add(1.0)

                y = tf.while_loop(lambda i, y: i < 3, body, (0, x))[1]
            with tf.device(worker):
                loss = tf.reduce_sum(y * y)
            slopes = tf.gradients(loss, [x, v])
            with tf.device(ps), tf.control_dependencies(slopes):
                after = v.read_value()
        return graph, x, v.initializer, [y, loss, *slopes, after]

    def run(target: str, *devices: str | None) -> Any:
        graph, x, first, wanted = build(*devices)
        with v1.Session(target, graph=graph) as session:
            session.run(first)
            return [session.run(wanted, {x: [1.0, 2.0, 3.0, 4.0]}) for _ in range(3)]

    def work(server: Any, index: int) -> Any:
        return run(server.target, "/job:ps/task:0", "/job:worker/task:0")

    over, alone = on_tasks(ONE_PS, work)["worker:0"], run("", None, None)
    for mine, wanted in zip(over, alone, strict=True):
        assert [a.tobytes() for a in mine] == [b.tobytes() for b in wanted]
    assert [float(row[-1]) for row in over] == [5.0, 8.0, 11.0]


def test_draws_of_a_task_go_on_whatever_is_fetched() -> None:
    def run(target: str, device: str | None) -> Any:
        with tf.Graph().as_default() as graph:
            v1.set_random_seed(3)
            with tf.device(device):
                drawn = tf.random.uniform([2])
                chosen = tf.cond(tf.constant(True), lambda: tf.random.normal([2]), lambda: drawn)
            twice = drawn * 2.0
        with v1.Session(target, graph=graph) as session:
            fetches = [[drawn], [twice], [chosen], [drawn, chosen], [chosen, twice]]
            made = [session.run(each) for each in (*fetches, *fetches)]
        return [value.tobytes() for row in made for value in row]

    def work(server: Any, index: int) -> Any:
        return [run(server.target, "/job:ps/task:0") for _ in range(2)]

    first, second = on_tasks(ONE_PS, work)["worker:0"]
    assert first == second == run("", None)
    assert len(set(first)) > len(first) / 2


@pytest.mark.parametrize("keeps", [1.0, 0.7])
def test_the_way_back_of_recurrent_layers_whose_cells_are_on_several_tasks(keeps: float) -> None:
    rows = np.random.default_rng(0).normal(size=(2, 5, 3)).astype(np.float32)
    steps = 6 if keeps == 1.0 else 60

    def build(devices: list[str | None]) -> Any:
        with tf.Graph().as_default() as graph:
            v1.set_random_seed(1)
            x = v1.placeholder(tf.float32, [2, 5, 3])
            cells = [v1.nn.rnn_cell.LSTMCell(4) for _ in devices]
            if keeps < 1.0:
                cells = [v1.nn.rnn_cell.DropoutWrapper(cell, keeps, keeps) for cell in cells]
            apart = [v1.nn.rnn_cell.DeviceWrapper(*pair) if pair[1] else pair[0]
                     for pair in zip(cells, devices, strict=True)]  # fmt: skip
            with tf.device(devices[0]):
                cell = v1.nn.rnn_cell.MultiRNNCell(apart)
                out, _ = v1.nn.dynamic_rnn(cell, x, [5, 3], dtype=tf.float32)
                loss = tf.reduce_mean(tf.square(out))
                train = v1.train.MomentumOptimizer(0.5, 0.9).minimize(loss)
            return graph, x, [loss, train], v1.global_variables_initializer()

    def learned(target: str, devices: list[str | None]) -> list[float]:
        graph, x, fetches, first = build(devices)
        with v1.Session(target, graph=graph) as session:
            session.run(first)
            return [float(session.run(fetches, {x: rows})[0]) for _ in range(steps)]

    def work(server: Any, index: int) -> Any:
        return learned(server.target, ["/job:worker/task:0", "/job:ps/task:0"])

    over = on_tasks(ONE_PS, work)["worker:0"]
    np.testing.assert_allclose(over, learned("", [None, None]), rtol=1e-6)
    assert np.mean(over[-steps // 3 :]) < 0.9 * np.mean(over[: steps // 3])


def test_a_value_that_is_passed_through_has_a_gradient_of_its_own() -> None:
    same = tf.function(lambda x: x)
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [2])
        n = v1.placeholder(tf.int32, [])
        looped = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * 3.0), (0, x))[1]
        called = same(x)
        slopes = [tf.gradients(tf.add_n([x, y, x]), [x, y]) for y in (looped, called)]
    with v1.Session(graph=graph) as session:
        for trips, wanted in ((0, 3.0), (1, 5.0)):
            for _ in range(6):  # interpreted, then compiled
                found = session.run(slopes, {x: [1.0, 2.0], n: trips})
                np.testing.assert_array_equal(found[0], [[wanted] * 2, [1.0] * 2])
                np.testing.assert_array_equal(found[1], [[3.0] * 2, [1.0] * 2])
