"""What a function does on its first call it does on all of them, and from any thread."""

import threading
import time

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf

V1 = tf.compat.v1


def test_what_an_assignment_returns_is_read_where_it_is_used():
    a = tf.Variable(5.0)

    @tf.function
    def step():
        return [a.assign_add(1.0) for _ in range(3)]

    for _ in range(4):
        a.assign(5.0)
        assert [float(x) for x in step()] == [8, 8, 8]


def test_what_an_assignment_returns_can_be_waited_for():
    a = tf.Variable(5.0)

    @tf.function
    def step(x):
        with tf.control_dependencies([a.assign(x)]):
            y = a.read_value()
        tf.group(a.assign_add(1.0))
        a.assign_add(1.0, read_value=False)
        return y, a.assign_sub(3.0) * 2

    for _ in range(4):
        assert [float(x) for x in step(tf.constant(2.0))] == [2, 2]


CHECKED = {
    "max": lambda x: gv.max(x, axis=1),
    "min": lambda x: gv.min(x, axis=1),
    "argmax": lambda x: gv.argmax(x, axis=1),
}


@pytest.mark.parametrize("name", CHECKED)
def test_what_is_refused_does_not_depend_on_what_ran_before(name):
    empty = gv.asarray(np.zeros((2, 0), np.float32))
    for _ in range(3):
        with pytest.raises(gv.GravureError):
            CHECKED[name](empty)
        CHECKED[name](gv.asarray(np.ones((2, 3), np.float32)))


def test_threads_call_a_function_that_was_not_traced():
    errors, made = [], []
    start = threading.Barrier(8)

    @gv.function
    def double(x):
        return x * 2 + 1

    def call():
        start.wait()
        try:
            made.append(double(gv.asarray(np.ones(3))).numpy().tolist())
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=call) for _ in range(8)]
    [t.start() for t in threads]
    [t.join() for t in threads]
    assert not errors
    assert made == [[3, 3, 3]] * 8
    assert double.traced == 1


def test_a_variable_is_made_in_a_branch_or_a_loop():
    made = {}

    def weight(name):
        if name not in made:
            made[name] = tf.Variable(2.0)
        return made[name]

    @tf.function(autograph=False)
    def f(x):
        x = tf.cond(x > 0, lambda: weight("branch") * x, lambda: x)
        return tf.while_loop(lambda i, y: i < 2, lambda i, y: (i + 1, y * weight("loop")), (0, x))[
            1
        ]

    for _ in range(4):
        assert float(f(tf.constant(3.0))) == 24
        assert float(f(tf.constant(-3.0))) == -12
    assert len(made) == 2


WRONG = {
    "division": lambda: tf.constant(1) // tf.constant(0),
    "gather": lambda: tf.gather(tf.constant([1, 2]), tf.constant(7)),
    "power": lambda: tf.pow(tf.constant(2), tf.constant(-1)),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_in_a_branch_is_an_error_when_it_is_taken(name):
    @tf.function(autograph=False)
    def f(x):
        return tf.cond(x > 0, WRONG[name], lambda: tf.constant(3))

    for _ in range(4):
        assert int(f(tf.constant(-1.0))) == 3
        with pytest.raises(gv.GravureError):
            f(tf.constant(1.0))
    [concrete] = f.cache.values()
    assert concrete.graph.refusal == ""


def test_closing_a_session_wakes_who_waits():
    with tf.Graph().as_default():
        taken = V1.FIFOQueue(3, [tf.float32], shapes=[[]]).dequeue()
        s, found, begun = V1.Session(), [], threading.Event()

        def run():
            begun.set()
            try:
                s.run(taken)
            except tf.errors.CancelledError as error:
                found.append(error)

        thread = threading.Thread(target=run, daemon=True)
        thread.start()
        begun.wait()
        until = time.monotonic() + 30
        while not s.store.own and time.monotonic() < until:
            time.sleep(0.001)
        s.close()
        thread.join(10)
        assert len(found) == 1


def test_python_in_a_step_may_wait_for_another_step():
    with tf.Graph().as_default(), V1.Session() as s:
        other = tf.constant(1.0) + 1

        def waits(x):
            found = []
            thread = threading.Thread(target=lambda: found.append(s.run(other)), daemon=True)
            thread.start()
            thread.join(10)
            return np.float32(found[0] + x)

        assert s.run(V1.py_func(waits, [1.0], tf.float32)) == 3


ZEROS = np.array([0.0, -0.0, 0.0, -0.0, -1.0, 1.0, np.nan], np.float32)
OTHERS = np.array([-0.0, 0.0, 0.0, -0.0, 1.0, -1.0, 0.0], np.float32)
SIGNS = {
    "maximum": gv.maximum,
    "minimum": gv.minimum,
    "sign": lambda x, y: gv.sign(x),
    "remainder": lambda x, y: gv.remainder(x, y + gv.sign(y) * 2 + 1),
    "where": lambda x, y: gv.where(x > y, gv.asarray(np.float32(-0.0)), gv.asarray(np.float32(0))),
}


@pytest.mark.parametrize("name", SIGNS)
def test_the_signs_of_zeros_are_the_same_at_once_and_compiled(name):
    x, y = gv.asarray(ZEROS), gv.asarray(OTHERS)
    expected = SIGNS[name](x, y).numpy()
    function = gv.function(SIGNS[name])
    for _ in range(4):
        made = function(x, y).numpy()
        assert np.array_equal(made, expected, equal_nan=True)
        known = ~np.isnan(expected)
        assert np.array_equal(np.signbit(made)[known], np.signbit(expected)[known])
