"""Gradients of loops that the host carries out: sizes that change, steps that have effects."""

from __future__ import annotations

import numpy as np
import pytest

from gravure import tf
from gravure.frontend.function.lowering import StagingFrame

pytestmark = pytest.mark.filterwarnings("error")
MATRIX = np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2)


def refusals(function):
    return [concrete.graph.refusal for concrete in function.cache.values()]


def check(function, *cases):
    """Check a function of numbers against itself run at once, compiled for all of them."""
    staged = tf.function(function)
    for _ in range(4):
        for case in cases:
            found, wanted = staged(*map(tf.constant, case)), function(*map(tf.constant, case))
            for one, other in zip(tf.nest.flatten(found), tf.nest.flatten(wanted), strict=True):
                np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-6)
    assert refusals(staged) == [""]


def test_d4_gradients_of_arrays_that_a_loop_writes():
    w = tf.Variable(MATRIX)

    def episode(start, most):
        state, chances = start, tf.TensorArray(tf.float32, 0, dynamic_size=True)
        with tf.GradientTape() as tape:
            for t in tf.range(most):
                chance = tf.nn.softmax(tf.linalg.matvec(w, state, transpose_a=True))
                chances = chances.write(t, chance[0])
                state = tf.tanh(state * 0.5 + chance[1])
                state.set_shape([3])
                if tf.reduce_sum(state) > 2.4:
                    break
            loss = tf.reduce_sum(tf.math.log(chances.stack()) ** 2)
        return loss, tape.gradient(loss, w)

    start = np.array([0.1, -0.3, 0.6], np.float32)
    check(episode, (start, 2), (start, 3), (start * 5, 9))


def test_d4_gradients_of_rows_that_a_loop_appends_and_reads():
    w = tf.Variable(MATRIX)

    def decode(count):
        with tf.GradientTape() as tape:
            rows, i = tf.zeros([1, 2]), tf.constant(0)
            while i < count:
                tf.autograph.experimental.set_loop_options(
                    shape_invariants=[(rows, tf.TensorShape([None, 2]))]
                )
                query = w[i % 3]
                heed = tf.nn.softmax(tf.linalg.matvec(rows, query))
                new = tf.tanh(tf.linalg.matvec(rows, heed, transpose_a=True) + query)
                rows, i = tf.concat([rows, new[None]], 0), i + 1
            loss = tf.reduce_sum(rows**2)
        return loss, tf.convert_to_tensor(tape.gradient(loss, w))

    check(decode, (1,), (3,), (5,))


def test_d4_gradients_of_loops_that_carry_sizes_which_only_the_run_tells():
    v = tf.Variable(2.0)

    def masked(x, most):
        with tf.GradientTape() as tape:
            y = tf.boolean_mask(x * v, x > 0)
            while tf.reduce_sum(y) < most:
                y = y * v + 1.0
            loss = tf.reduce_sum(y)
        return tape.gradient(loss, v)

    x = np.linspace(-1, 2, 5, dtype=np.float32)
    check(masked, (x, 100.0), (x[::-1] + 1, 50.0), (x - 1, 30.0))


def test_d4_python_steps_run_once_though_the_way_back_computes_again():
    v, calls = tf.Variable(2.0), []

    def note(x):
        calls.append(float(x))
        return np.float32(len(calls) % 2 + 1)

    def slope(x, count):
        with tf.GradientTape() as tape:
            y = x * v
            for i in tf.range(count):
                if i > 0:
                    y = y * tf.ensure_shape(tf.numpy_function(note, [y], tf.float32), [])
                y = y * v * tf.ensure_shape(tf.numpy_function(note, [y], tf.float32), [])
            if x > 0:
                y = y * v * tf.ensure_shape(tf.numpy_function(note, [y], tf.float32), [])
        return y, tape.gradient(y, v)

    staged = tf.function(slope)
    for x, count in [(1.0, 1), (1.0, 3), (-1.0, 2), (2.0, 2), (1.0, 4)] * 2:
        calls.clear()
        found = [float(t) for t in staged(tf.constant(x), tf.constant(count))]
        seen = [*calls]
        calls.clear()
        assert found == [float(t) for t in slope(tf.constant(x), tf.constant(count))]
        assert seen == calls
    assert refusals(staged) == [""]


def test_d4_what_is_printed_in_a_branch_or_loop_under_a_tape_is_printed_once(tmp_path):
    v, place = tf.Variable(2.0), f"file://{tmp_path / 'told'}"

    @tf.function
    def slope(count):
        with tf.GradientTape() as tape:
            y = tf.constant(1.0)
            for i in tf.range(count):
                for _ in tf.range(1):
                    tf.print("turn", i, output_stream=place)
                y = y * v
            if count > 1:
                tf.print("more", output_stream=place)
                y = y * v
        return tape.gradient(y, v)

    for count in (1, 2, 2, 1):
        slope(tf.constant(count))
    wanted = {1: ["turn 0"], 2: ["turn 0", "turn 1", "more"]}
    assert (tmp_path / "told").read_text().splitlines() == [
        line for count in (1, 2, 2, 1) for line in wanted[count]
    ]
    assert refusals(slope) == [""]


def test_an_array_of_pythons_numbers_grows_in_a_loop_that_may_end_early():
    """Two of its sizes are open: that of the array, and what Python gives for each turn."""

    def act(a):
        return np.float32([a, 2]), np.int32(a)

    def rewards(state):
        found = tf.TensorArray(tf.int32, 0, dynamic_size=True)
        for t in tf.range(4):
            state, reward = tf.numpy_function(act, [state[0] + 1.0], [tf.float32, tf.int32])
            state.set_shape([2])
            found = found.write(t, reward)
            if tf.reduce_sum(state) > 6.0:
                break
        return found.stack()

    check(rewards, ([1.0, 2.0],), ([4.0, 0.0],))


@pytest.mark.parametrize("checked", [False, True])
def test_d4_arrays_whose_elements_had_no_size_yet_are_compiled(monkeypatch, checked):
    grown, growing_loop = [], StagingFrame.growing_loop

    def noted(frame, loop, carried, fixed):
        grown.append(loop)
        return growing_loop(frame, loop, carried, fixed)

    monkeypatch.setattr(StagingFrame, "growing_loop", noted)
    w = tf.Variable(MATRIX[:2])
    rows = tf.TensorSpec([None, None, 2], tf.float32)

    @tf.function(input_signature=[rows, tf.TensorSpec([None], tf.int32)])
    def run(x, places):
        written = tf.TensorArray(tf.float32, size=tf.shape(x)[1])
        heeded = tf.TensorArray(tf.float32, size=tf.shape(x)[1])
        with tf.GradientTape() as tape:
            h = tf.zeros([tf.shape(x)[0], 2])
            for t in tf.range(tf.shape(x)[1]):
                at = tf.gather(places, t) if checked else t
                h = tf.tanh(x[:, at] @ w + h)
                written = written.write(t, h)
                heeded = heeded.write(t, tf.matmul(x[:, t], h, transpose_b=True))
            loss = tf.reduce_sum(written.stack() ** 2) + tf.reduce_sum(heeded.stack())
        return loss, tape.gradient(loss, w), heeded.stack()

    numbers = np.random.default_rng(3)
    for batch, steps in ((3, 4), (1, 2), (3, 0), (3, 4)):
        x = numbers.random((batch, steps, 2)).astype(np.float32)
        given = tf.constant(x), tf.range(steps)
        wanted = run.python_function(*given) if steps else None
        for found, other in zip(run(*given), wanted or (), strict=False):
            np.testing.assert_allclose(found, other, rtol=1e-4, atol=1e-6)
    assert refusals(run) == [""]
    assert not grown


def test_elements_may_be_read_above_the_line_that_writes_the_first():
    @tf.function
    def doubled(count):
        array = tf.TensorArray(tf.float32, count, clear_after_read=False)
        for i in tf.range(count):
            before = array.read(i - 1) if i > 0 else tf.constant([1.0, 0.5])
            array = array.write(i, before * 2.0)
        return array.stack()

    @tf.function
    def stacked(count):
        stack, depth = tf.TensorArray(tf.float32, 0, True, clear_after_read=False), 0
        for i in tf.range(count):
            if i % 3 == 2:
                made = stack.read(depth - 1) + stack.read(depth - 2)
                depth -= 2
            else:
                made = tf.cast(i, tf.float32)
            stack = stack.write(depth, made)
            depth += 1
        return stack.read(0), stack.read(1), depth

    @tf.function
    def nothing(count):
        return tf.TensorArray(tf.float32, count).read(0)

    for _ in range(12):
        np.testing.assert_array_equal(doubled(tf.constant(3)), [[2, 1], [4, 2], [8, 4]])
        assert [float(x) for x in stacked(tf.constant(6))] == [1.0, 7.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError):
        nothing(tf.constant(3))


def test_what_does_not_fit_into_an_array_is_refused():
    array = tf.TensorArray(tf.int32, 2)
    for value in (1.5, "a"):
        with pytest.raises(tf.errors.InvalidArgumentError, match="dtype is int32"):
            array.write(0, value)
    with pytest.raises(ValueError, match="unstack 3 tensors"):
        array.unstack([1, 2, 3])
    assert tf.TensorArray(tf.int32, 0, True).unstack([1, 2, 3]).size() == 3
    assert tf.TensorArray(tf.float32, 1).write(0, 1).read(0).dtype == tf.float32
