"""Steps of a session overlap, and calls of Python within a step; what is changed takes turns."""

import gc
import os
import signal
import threading
import time
from typing import Any

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.graph.variables import Held
from gravure.trees import expression_of, module_of

v1 = tf.compat.v1
TIMES = 8
"""So often a step is run: first operation by operation, then compiled."""


def together(*functions: Any) -> list[Any]:
    """Return what functions give that are called in threads, within half a minute."""
    found: list[Any] = [None] * len(functions)

    def call(place: int) -> None:
        try:
            found[place] = functions[place]()
        except BaseException as error:
            found[place] = error

    threads = [threading.Thread(target=call, args=(n,), daemon=True) for n in range(len(functions))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not any(thread.is_alive() for thread in threads), "they wait for each other"
    for each in found:
        if isinstance(each, BaseException):
            raise each
    return found


def test_h5_python_functions_of_a_step_run_at_once() -> None:
    meeting = threading.Barrier(2)

    def slow(x: Any) -> Any:
        meeting.wait(20)  # each waits until the other one is here
        return np.sin(x)

    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [3])
        a = tf.py_function(slow, [x * 2.0], tf.float32)
        first = tf.exp(a)
        b = tf.py_function(slow, [x + 1.0], tf.float32)
        a.set_shape([3])
        b.set_shape([3])
        y = first + tf.cos(b)
        with v1.Session() as session:
            for n in range(TIMES):
                given = np.float32([n, 1, 2])
                expected = np.exp(np.sin(given * 2)) + np.cos(np.sin(given + 1))
                np.testing.assert_allclose(session.run(y, {x: given}), expected, rtol=1e-5)
            [plan] = session._plans.values()
            assert any(not isinstance(made, int) for made in plan.compiled.values())
            assert plan.refusal == ""


@pytest.mark.parametrize("threads", [0, 1])
def test_functions_are_in_the_order_that_is_asked_for(threads: int) -> None:
    seen: list[str] = []
    at_once: list[int] = [0, 0]
    lock = threading.Lock()

    def noted(name: str) -> Any:
        def call(x: Any) -> Any:
            with lock:
                at_once[0] += 1
                at_once[1] = max(at_once)
            seen.append(name)
            with lock:
                at_once[0] -= 1
            return x + 1.0

        return call

    with tf.Graph().as_default():
        a = tf.py_function(noted("a"), [1.0], tf.float32)
        with tf.control_dependencies([a]):
            b = tf.py_function(noted("b"), [2.0], tf.float32)
        c = tf.py_function(noted("c"), [b], tf.float32)
        for each in (a, b, c):
            each.set_shape([])
        total = a + b + c
        config = v1.ConfigProto(inter_op_parallelism_threads=threads)
        with v1.Session(config=config) as session:
            for _ in range(TIMES):
                assert session.run(total) == 9.0
    assert seen == ["a", "b", "c"] * TIMES
    assert at_once[1] == 1


def with_two_calls(noted: Any) -> Any:
    """Return a step of a session with two functions of Python that may go on at once."""
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [])

        def called(a: Any) -> Any:
            noted.append(threading.current_thread())
            return a + np.float32(1)

        y = tf.add_n([v1.py_func(called, [x], tf.float32) for _ in range(2)])
    session = v1.Session(graph=graph)
    return lambda number: float(session.run(y, {x: number}))


def test_threads_that_have_made_a_call_make_others() -> None:
    noted: list[threading.Thread] = []
    step = with_two_calls(noted)
    assert [step(n) for n in range(40)] == [2.0 * n + 2.0 for n in range(40)]
    assert len(noted) == 80
    assert len(set(noted)) < 40, "a new thread for each call"


def test_short_functions_are_called_by_who_needs_them() -> None:
    noted: list[threading.Thread] = []
    step = with_two_calls(noted)
    for number in range(100):
        assert step(number) == 2.0 * number + 2.0
    assert noted.count(threading.current_thread()) > 100


def test_functions_that_were_short_may_wait_for_each_other() -> None:
    meeting: list[threading.Barrier] = []

    def called(x: Any) -> Any:
        for each in meeting:
            each.wait(20)  # until the other one is here
        return x + np.float32(1)

    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [])
        both = [v1.py_func(called, [x], tf.float32) for _ in range(2)]
        unknown = [v1.py_func(called, [x], tf.float32, name=name) for name in ("a", "b")]
        with v1.Session() as session:
            for fetched in (tf.add_n(both), unknown):  # compiled, and one by one
                meeting.clear()
                for number in range(40):
                    session.run(fetched, {x: number})
                meeting.append(threading.Barrier(2))
                for number in range(TIMES):
                    assert np.sum(session.run(fetched, {x: number})) == 2.0 * number + 2.0


def test_a_child_process_has_threads_of_its_own() -> None:
    step = with_two_calls([])
    assert [step(n) for n in range(TIMES)] == [2.0 * n + 2.0 for n in range(TIMES)]
    child = os.fork()
    if not child:
        os._exit(0 if step(3.0) == 8.0 else 1)
    end = time.monotonic() + 30
    while not (done := os.waitpid(child, os.WNOHANG))[0]:
        if time.monotonic() > end:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            pytest.fail("the child waits for a thread that it does not have")
        time.sleep(0.01)
    assert done[1] == 0


def test_an_error_of_one_is_that_of_the_step() -> None:
    done: list[float] = []

    def fails(x: Any) -> Any:
        raise ZeroDivisionError("here")

    def works(x: Any) -> Any:
        done.append(float(x))
        return x

    with tf.Graph().as_default():
        bad = tf.py_function(fails, [1.0], tf.float32, name="bad")
        good = tf.py_function(works, [2.0], tf.float32)
        with v1.Session() as session:
            for _ in range(TIMES):
                with pytest.raises(tf.errors.OpError, match="node 'bad': ZeroDivisionError: here"):
                    session.run([bad, good])
    assert done == [2.0] * TIMES  # it was not left behind


def test_steps_that_change_other_variables_do_not_wait() -> None:
    with tf.Graph().as_default():
        v, w = v1.Variable(0.0), v1.Variable(0.0)
        more, other, plain = v.assign_add(1.0), w.assign_add(1.0), tf.constant(1.0) + 1.0
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            late = v1.RunOptions(timeout_in_ms=20)
            for _ in range(TIMES):
                with Held([v.state]):
                    together(lambda: session.run(other), lambda: session.run(plain))
                    with pytest.raises(tf.errors.DeadlineExceededError):
                        together(lambda: session.run(more, options=late))
            assert session.run([v, w]) == [0.0, float(TIMES)]


@pytest.mark.parametrize("size", [1, 1 << 14])
def test_b7_steps_that_change_the_same_variables_take_turns(size: int) -> None:
    with tf.Graph().as_default():
        v, w = v1.Variable(tf.ones([size])), v1.Variable(tf.zeros([size]))
        one = v.assign_add(w * 0.0 + 1.0)
        two = w.assign_add(v * 0.0 + 1.0)
        both = tf.group(v.assign_add(tf.ones([size])), w.assign_add(tf.ones([size])))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())

            def steps(step: Any) -> Any:
                return lambda: [session.run(step) for _ in range(100)]

            together(*map(steps, (one, two, both, both, one)))
            found = session.run([v, w])
    np.testing.assert_array_equal(found[0], np.full(size, 401.0))
    np.testing.assert_array_equal(found[1], np.full(size, 300.0))


def test_variables_in_a_container_take_turns_over_graphs() -> None:
    def steps() -> None:
        graph = tf.Graph()
        with graph.as_default(), graph.container("turns"):
            v = v1.Variable(tf.zeros([1 << 12]), name="v")
            step = v.assign_add(tf.ones([1 << 12]))
        with v1.Session(graph=graph) as session:
            for _ in range(100):
                session.run(step)

    graph = tf.Graph()
    with graph.as_default(), graph.container("turns"):
        v = v1.Variable(tf.zeros([1 << 12]), name="v")
    try:
        with v1.Session(graph=graph) as session:
            session.run(v.initializer)
            together(steps, steps, steps)
            np.testing.assert_array_equal(session.run(v), np.full(1 << 12, 300.0))
    finally:
        v1.Session.reset("", ["turns"])


def test_steps_at_once_draw_different_numbers() -> None:
    with tf.Graph().as_default():
        y = tf.random.uniform([], seed=3)
        with v1.Session() as session:
            found = together(*[lambda: [float(session.run(y)) for _ in range(50)]] * 4)
        with v1.Session() as session:
            alone = [float(session.run(y)) for _ in range(200)]
    drawn = [x for row in found for x in row]
    assert sorted(drawn) == sorted(alone)


def test_whether_a_variable_has_a_value_is_seen_in_each_step() -> None:
    with tf.Graph().as_default():
        v = v1.Variable(1.0)
        ready = v1.is_variable_initialized(v)
        with v1.Session() as session:
            assert not any(session.run(ready) for _ in range(TIMES))
            session.run(v.initializer)
            assert all(session.run(ready) for _ in range(TIMES))


@pytest.mark.parametrize("runs", [1, TIMES])
def test_each_device_of_a_process_has_a_queue_of_its_own(runs: int) -> None:
    together = threading.Barrier(2)
    order: list[str] = []
    other_has_run = threading.Event()
    busy = threading.Semaphore(1)

    def first(x: Any) -> Any:
        assert busy.acquire(blocking=False), "two at once on a device of one thread"
        together.wait(20)  # with the one on the other device, or never
        assert other_has_run.wait(20)
        order.append("first")
        busy.release()
        return x + 1.0

    def second(x: Any) -> Any:
        assert busy.acquire(blocking=False), "two at once on a device of one thread"
        order.append("second")
        busy.release()
        return x + 2.0

    def beside(x: Any) -> Any:
        together.wait(20)
        return x + 3.0

    def behind(x: Any) -> Any:
        order.append("other")
        other_has_run.set()  # though two wait for the thread of the first device
        return x + 4.0

    with tf.Graph().as_default():
        with tf.device("/cpu:0"):
            made = [tf.numpy_function(f, [np.float32(1)], tf.float32) for f in (first, second)]
        with tf.device("/cpu:1"):
            made += [tf.numpy_function(f, [np.float32(1)], tf.float32) for f in (beside, behind)]
        for each in made:
            each.set_shape([])
        total = tf.add_n(made)
        config = v1.ConfigProto(device_count={"CPU": 2}, inter_op_parallelism_threads=1)
        with v1.Session(config=config) as session:
            for _ in range(runs):
                other_has_run.clear()
                assert session.run(total) == 14.0
    assert order == ["other", "first", "second"] * runs


def test_queues_of_devices_are_those_of_all_steps() -> None:
    at_once = [0, 0]
    lock = threading.Lock()

    def counted(x: Any) -> Any:
        with lock:
            at_once[0] += 1
            at_once[1] = max(at_once)
        time.sleep(0.002)
        with lock:
            at_once[0] -= 1
        return x

    with tf.Graph().as_default():
        made = [tf.numpy_function(counted, [np.float32(n)], tf.float32) for n in range(6)]
        config = v1.ConfigProto(inter_op_parallelism_threads=2)
        with v1.Session(config=config) as session:
            threads = [threading.Thread(target=session.run, args=(made,)) for _ in range(4)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
    assert at_once == [0, 2]


@pytest.mark.parametrize("threads", [0, 1, 2])
def test_how_many_functions_go_on_is_asked_for_once(threads: int) -> None:
    threading_of = tf.config.threading
    at_once = [0, 0]
    lock = threading.Lock()

    def counted(x: Any) -> Any:
        with lock:
            at_once[0] += 1
            at_once[1] = max(at_once)
        time.sleep(0.01)
        with lock:
            at_once[0] -= 1
        return x

    before = threading_of.get_inter_op_parallelism_threads()
    threading_of.set_inter_op_parallelism_threads(threads)
    try:
        assert threading_of.get_inter_op_parallelism_threads() == threads
        with tf.Graph().as_default():
            made = [tf.numpy_function(counted, [np.float32(n)], tf.float32) for n in range(6)]
            with v1.Session() as session:
                for _ in range(4):
                    session.run(made)
    finally:
        threading_of.set_inter_op_parallelism_threads(before)
    assert at_once[1] > 2 if threads == 0 else at_once[1] <= threads
    with pytest.raises(tf.errors.InvalidArgumentError, match="-1 threads"):
        threading_of.set_inter_op_parallelism_threads(-1)


class Late:
    """Lets another thread go on when it is collected."""

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        time.sleep(0)


def test_threads_that_read_sources_at_once_are_stopped_in_the_middle() -> None:
    text = "\n".join(
        f"def f{n}(x, y=lambda z: z + {n}):\n    return [x, (y, -x), {{1: x}}]" for n in range(40)
    )

    def read() -> int:
        count = 0
        for _ in range(20):
            Late()
            count += len(module_of(text).body)
            Late()
            expression_of("max(N // 2, M) * (K + 3)")
        return count

    before = gc.get_threshold()
    gc.set_threshold(20)
    try:
        assert together(*[read] * 4) == [800] * 4
    finally:
        gc.set_threshold(*before)
