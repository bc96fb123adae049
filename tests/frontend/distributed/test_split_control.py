"""Choices, loops and calls that several tasks carry out together give what one process gives."""

import os
from typing import Any

import numpy as np
import pytest

from gravure import tf

from .test_servers import CLUSTER, ONE_PS, on_tasks

v1 = tf.compat.v1
TASKS = [*(f"/job:{job}/task:{n}" for job in ("ps", "worker") for n in range(2)), None]
SEEDS = int(os.environ.get("GRAVURE_TEST_SEEDS", "24"))
"""How many random graphs are tried: 500 by hand."""
COMPILED = int(os.environ.get("GRAVURE_TEST_COMPILED", "8"))
"""One of so many runs so often that its pieces are compiled: 1 by hand."""


def on(job: str) -> Any:
    return tf.device(f"/job:{job}/task:0")


def test_d6_a_nest_of_loops_and_choices_over_two_tasks_is_what_numpy_gives() -> None:
    def nest(rows: Any) -> Any:
        """Count pairs by a loop in a choice in a loop, each partly on either task."""

        def outer(i: Any, total: Any) -> Any:
            def inner(j: Any, total: Any) -> Any:
                with on("ps"):
                    more = total + rows[i] * tf.cast(j, tf.float32)
                with on("worker"):
                    return tf.add(j, 1), more * 0.5

            def odd() -> Any:
                return tf.while_loop(lambda j, _: j < i + 2, inner, (0, total))[1]

            with on("worker"):
                found = tf.cond(tf.equal(i % 2, 1), odd, lambda: total - 1.0)
            with on("ps"):
                return i + 1, found

        return tf.while_loop(lambda i, _: i < 5, outer, (0, tf.zeros([3])))[1]

    data = np.arange(15, dtype=np.float32).reshape(5, 3)

    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:
            rows = v1.placeholder(tf.float32, [5, 3])
            made = nest(rows)
        with v1.Session(server.target, graph=graph) as session:
            return [session.run(made, {rows: data}) for _ in range(6)]

    wanted = np.zeros(3, np.float32)
    for i in range(5):
        if i % 2:
            for j in range(i + 2):
                wanted = ((wanted + data[i] * np.float32(j)) * np.float32(0.5)).astype(np.float32)
        else:
            wanted = wanted - np.float32(1.0)
    found = on_tasks(ONE_PS, work)
    for row in found["worker:0"]:
        np.testing.assert_array_equal(row, wanted)
    assert found["ps:0"] == 6  # one message a step, however many trips


def test_a_loop_over_tasks_ends_without_a_trip_and_swaps_what_it_carries() -> None:
    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:
            n = v1.placeholder(tf.int32, [])

            def body(i: Any, a: Any, b: Any, same: Any) -> Any:
                with on("ps"):
                    i = tf.add(i, 1)
                with on("worker"):
                    doubled = tf.multiply(a, 2.0)
                return i, b, doubled, same

            made = tf.while_loop(lambda i, *_: i < n, body, (0, 1.0, 10.0, 7.0))
        with v1.Session(server.target, graph=graph) as session:
            return [session.run(made, {n: count}) for count in (0, 1, 2, 5)]

    rows = on_tasks(ONE_PS, work)["worker:0"]
    assert [tuple(map(float, row)) for row in rows] == [
        (0, 1, 10, 7), (1, 10, 2, 7), (2, 2, 20, 7), (5, 40, 8, 7),
    ]  # fmt: skip


def test_variables_change_where_they_are_in_each_trip_and_before_what_follows() -> None:
    def work(server: Any, index: int) -> Any:
        with tf.Graph().as_default() as graph:
            with on("ps"):
                v = v1.get_variable("v", [], initializer=v1.zeros_initializer(), use_resource=True)
            with on("worker"):
                w = v1.get_variable("w", [], initializer=v1.zeros_initializer(), use_resource=True)

            def body(i: Any) -> Any:
                with tf.control_dependencies([v.assign_add(2.0), w.assign_add(3.0)]):
                    return tf.add(i, 1)

            loop = tf.while_loop(lambda i: i < 4, body, [0])
            with tf.control_dependencies(tf.nest.flatten(loop)), on("worker"):
                after = v.read_value() * 10.0 + w.read_value()
            init = v1.global_variables_initializer()
        with v1.Session(server.target, graph=graph) as session:
            session.run(init)
            return [float(session.run(after)) for _ in range(6)]

    rows = on_tasks(ONE_PS, work)["worker:0"]
    assert rows == [80.0 * n + 12.0 * n for n in range(1, 7)]


def test_an_error_inside_of_a_loop_over_tasks_ends_the_step_for_all() -> None:
    def work(server: Any, index: int) -> None:
        with tf.Graph().as_default() as graph:
            x = v1.placeholder(tf.float32, [])

            def body(i: Any, x: Any) -> Any:
                with on("ps"):
                    x = tf.debugging.check_numerics(x * x, "too much", name="checked")
                with on("worker"):
                    return tf.add(i, 1), x + 1.0

            made = tf.while_loop(lambda i, _: i < 4, body, (0, x))[1]
        with v1.Session(server.target, graph=graph) as session:
            for _ in range(2):
                with pytest.raises(tf.errors.InvalidArgumentError, match=r"too much.*\(on ps:0\)"):
                    session.run(made, {x: 1e12})
                assert np.isfinite(session.run(made, {x: 0.0}))

    on_tasks(ONE_PS, work)


class Builder:
    """Makes a graph of numbers, state, order, loops, choices and calls, with random places."""

    def __init__(self, seed: int, *, placed: bool, places: Any = TASKS) -> None:
        self.seed, self.places = seed, places
        self.rng = np.random.default_rng(seed)
        self.where = np.random.default_rng(seed + 1000)
        self.placed = placed

    def place(self) -> Any:
        name = self.places[self.where.integers(len(self.places))]
        return tf.device(name if self.placed else None)

    def value(self, values: list[Any], states: list[Any], depth: int) -> Any:
        """Return one more value, of some that are there."""
        a, b = (values[i] for i in self.rng.integers(0, len(values), 2))
        state = states[self.rng.integers(len(states))]
        rules = [self.wave, self.product, self.read, self.write, self.joined, self.behind]
        rules += [self.loop, self.choice, self.call] if depth < 2 else []
        rule = rules[self.rng.integers(len(rules))]
        with self.place():
            return tf.clip_by_value(rule(a, b, state, values, states, depth), -9.0, 9.0)

    def wave(self, a: Any, b: Any, *_: Any) -> Any:
        return tf.sin(a) + b

    def product(self, a: Any, b: Any, *_: Any) -> Any:
        return a * b

    def read(self, a: Any, b: Any, state: Any, *_: Any) -> Any:
        return state.read_value() + a

    def write(self, a: Any, b: Any, state: Any, *_: Any) -> Any:
        return state.assign_add(tf.cos(a) * 0.1)

    def joined(self, a: Any, b: Any, *_: Any) -> Any:
        return tf.concat([a[:2], b[2:]], 0)

    def behind(self, a: Any, b: Any, *_: Any) -> Any:
        with tf.control_dependencies([b]):
            return tf.identity(a)

    def several(self, values: list[Any], states: list[Any], depth: int) -> list[Any]:
        values = [*values]
        for _ in range(3):
            values.append(self.value(values, states, depth + 1))
        return values[-2:]

    def loop(self, a: Any, b: Any, state: Any, values: Any, states: Any, depth: int) -> Any:
        trips = int(self.rng.integers(0, 4))

        def body(i: Any, x: Any, y: Any) -> Any:
            with self.place():
                return (tf.add(i, 1), *self.several([x, y, a], states, depth))

        def test(i: Any, x: Any, y: Any) -> Any:
            with self.place():
                return tf.less(i, trips)

        found = tf.while_loop(test, body, (0, a, b))
        return found[1] - found[2]

    def choice(self, a: Any, b: Any, state: Any, values: Any, states: Any, depth: int) -> Any:
        ways = [lambda: self.several([a, b], states, depth)[0] for _ in range(2)]
        return tf.cond(tf.reduce_sum(a) > 1.0, *ways)

    def call(self, a: Any, b: Any, state: Any, values: Any, states: Any, depth: int) -> Any:
        def plain(x: Any, y: Any) -> Any:
            return self.several([x, y], states, depth)[1]

        return tf.function(plain)(a, b)

    def graph(self) -> Any:
        """Return the graph, what is fed and fetched, and what initialises it."""
        with tf.Graph().as_default() as graph:
            fed = v1.placeholder(tf.float32, [4])
            values: list[Any] = [fed, tf.constant(np.float32([1, 2, 3, 4]))]
            states = []
            for n in range(2):
                with self.place():
                    first = np.full(4, n + 1.0, np.float32)
                    states.append(v1.Variable(first, name=f"s{self.seed}_{n}", use_resource=True))
            for _ in range(7):
                values.append(self.value(values, states, 0))
            wanted = [values[i] for i in self.rng.integers(2, len(values), 4)]
            with tf.control_dependencies(wanted):
                last = [v.read_value() for v in states]
            return graph, fed, [*wanted, *last], v1.global_variables_initializer()


def results(
    target: str, runs: int, graph: Any, fed: Any, wanted: Any, init: Any, devices: int = 1
) -> list[bytes]:
    config = v1.ConfigProto(device_count={"CPU": devices})
    with v1.Session(target, graph=graph, config=config) as session:
        session.run(init)
        rows = [session.run(wanted, {fed: np.float32([n, 1, -1, 2])}) for n in range(runs)]
    return [x.tobytes() for row in rows for x in row]


@pytest.mark.sweep
def test_random_programs_are_the_same_bits_over_any_tasks() -> None:
    split: list[int] = []

    def work(server: Any, index: int) -> None:
        for seed in range(index, SEEDS, 2):
            over = Builder(seed, placed=True).graph()
            alone = Builder(seed, placed=False).graph()
            with v1.Session(server.target, graph=over[0]) as session:
                session.run(over[3])
                session.run(over[2], {over[1]: np.ones(4, np.float32)})
                split.append(sum(len(cut.split) for cut in session.client.cuts.values()))
            runs = 2 if seed % COMPILED else 7
            assert results(server.target, runs, *over) == results("", runs, *alone), seed

    on_tasks(CLUSTER, work)
    assert sum(split) >= SEEDS // 3  # so many loops, choices and calls were shared out


def test_random_programs_are_the_same_bits_over_devices_of_one_process() -> None:
    places = [*(f"/cpu:{number}" for number in range(4)), None]
    for seed in range(SEEDS):
        over = Builder(seed, placed=True, places=places).graph()
        alone = Builder(seed, placed=False).graph()
        runs = 2 if seed % COMPILED else 7
        assert results("", runs, *over, devices=4) == results("", runs, *alone), seed
