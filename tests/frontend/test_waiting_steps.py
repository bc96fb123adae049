"""Steps of sessions that wait for iterators, queues and others: what is between is compiled."""

import threading
import warnings

import numpy as np
import pytest

import gravure.tf as tf
from gravure.errors import PerformanceWarning
from gravure.frontend.function.staged import Staged

v1 = tf.compat.v1

X = np.arange(24, dtype=np.float32).reshape(12, 2) % 7 / 7
Y = (X @ np.array([[2.0], [-1.0]], np.float32)).astype(np.float32)
LOSSES = [
    0.7908163666725159,
    0.027783868834376335,
    0.3541240990161896,
    0.2710786461830139,
    0.09381663054227829,
    0.27385735511779785,
    0.255282461643219,
    0.13663934171199799,
    0.27212488651275635,
]
"""What TensorFlow 2.21 gives in nine steps on these batches."""


def batches():
    return tf.data.Dataset.from_tensor_slices((X, Y)).repeat().batch(4)


def trained(x, y):
    weight = v1.get_variable("weight", initializer=np.zeros([2, 1], np.float32))
    hidden = tf.tanh(tf.matmul(x, weight) * 2.0)
    loss = tf.reduce_mean(tf.square(hidden - y))
    return loss, v1.train.MomentumOptimizer(0.1, 0.9).minimize(loss)


def pieces(session, fetches, feeds=()):
    """Return the pieces of the plan of fetches."""
    plan = session._plan([session.element(x) for x in fetches], [session.element(x) for x in feeds])
    return [part for part in plan.parts.order if not hasattr(part, "kind")]


def is_compiled(piece):
    return any(isinstance(made, Staged) for made in piece.compiled.values())


def from_one_shot():
    return v1.data.make_one_shot_iterator(batches()).get_next(), None, None


def from_initializable():
    iterator = v1.data.make_initializable_iterator(batches())
    return iterator.get_next(), iterator.initializer, None


def from_reinitializable():
    data = batches()
    types = v1.data.get_output_types(data), v1.data.get_output_shapes(data)
    iterator = v1.data.Iterator.from_structure(*types)
    return iterator.get_next(), iterator.make_initializer(data), None


def from_feedable():
    data = batches()
    types = v1.data.get_output_types(data), v1.data.get_output_shapes(data)
    handle = v1.placeholder(tf.string, [])
    found = v1.data.make_one_shot_iterator(data).string_handle()
    return v1.data.Iterator.from_string_handle(handle, *types).get_next(), found, handle


def from_queue():
    queue = v1.FIFOQueue(100, [tf.float32, tf.float32], [[2], [1]])
    fill = queue.enqueue_many([tf.constant(np.tile(X, (3, 1))), tf.constant(np.tile(Y, (3, 1)))])
    return queue.dequeue_many(4), fill, None


SOURCES = [from_one_shot, from_initializable, from_reinitializable, from_feedable, from_queue]


@pytest.mark.parametrize("source", SOURCES)
def test_steps_behind_iterators_and_queues_are_compiled(source):
    with tf.Graph().as_default():
        (x, y), before, handle = source()
        both = trained(x, y)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            given = session.run(before) if before is not None else None
            feeds = {} if handle is None else {handle: given}
            losses = [float(session.run(both, feeds)[0]) for _ in LOSSES]
            [piece] = pieces(session, both, feeds)
            assert is_compiled(piece)
    np.testing.assert_allclose(losses, LOSSES, rtol=1e-5)


def test_queues_between_queues_are_compiled():
    with tf.Graph().as_default():
        x, y = v1.train.slice_input_producer([tf.constant(X), tf.constant(Y)], shuffle=False)
        x, y = v1.train.batch([x * 2.0 - 1.0, y], 4)
        both = trained((x + 1.0) / 2.0, y)
        session, coordinator = v1.Session(), v1.train.Coordinator()
        session.run([v1.global_variables_initializer(), v1.local_variables_initializer()])
        threads = v1.train.start_queue_runners(session, coordinator)
        losses = [float(session.run(both)[0]) for _ in LOSSES]
        assert is_compiled(*pieces(session, both))
        coordinator.request_stop()
        coordinator.join(threads, stop_grace_period_secs=30)  # who waits for room is woken
        session.close()
    np.testing.assert_allclose(losses, LOSSES, rtol=1e-5)


def test_what_is_at_its_end_changes_no_variable_behind_it():
    with tf.Graph().as_default():
        data = tf.data.Dataset.from_tensor_slices(X).repeat(4).batch(4)
        x = v1.data.make_one_shot_iterator(data).get_next()
        total = v1.get_variable("total", initializer=0.0)
        add = total.assign_add(tf.reduce_sum(tf.sin(x)))
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(12):
                session.run(add)
            with pytest.raises(tf.errors.OutOfRangeError):
                session.run(add)
            assert is_compiled(*pieces(session, [add]))
            assert session.run(total) == pytest.approx(4 * np.sin(X).sum(), rel=1e-5)


def test_what_needs_no_room_is_done_while_a_step_waits_for_room():
    with tf.Graph().as_default():
        queue = v1.FIFOQueue(1, [tf.float32], [[]])
        x, count = v1.placeholder(tf.float32, []), v1.get_variable("count", initializer=0.0)
        put, add = queue.enqueue(tf.exp(x) * 2.0), count.assign_add(tf.cos(x) * 0.0 + 1.0)
        take = queue.dequeue()
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for _ in range(8):
                session.run([put, add], {x: 0.0})
                assert session.run(take) == 2.0
            assert all(map(is_compiled, pieces(session, [put, add], [x])))
            session.run(put, {x: 0.0})
            thread = threading.Thread(target=session.run, args=([put, add], {x: 0.0}))
            thread.start()
            while session.run(count) < 9.0:
                assert thread.is_alive()
            session.run(take)
            thread.join()


def test_pieces_before_between_and_behind_waits_give_what_the_operations_give():
    with tf.Graph().as_default():
        first, second = (v1.FIFOQueue(9, [tf.float32], [[3]]) for _ in range(2))
        x, scale = v1.placeholder(tf.float32, [3]), v1.get_variable("scale", initializer=1.0)
        put = first.enqueue(tf.sin(x) * scale)
        with tf.control_dependencies([put]):
            middle = tf.square(first.dequeue()) + x
        with tf.control_dependencies([second.enqueue(middle)]):
            end = tf.reduce_sum(tf.sqrt(second.dequeue() + 1.0))
        slope = tf.gradients(tf.reduce_sum(tf.square(middle)), x)[0]
        grown = scale.assign_add(end * 0.5)
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            wanted = 1.0
            for step in range(9):
                value = np.array([0.1, 0.2, 0.3], np.float32) * step
                inner = np.square(np.sin(value) * wanted) + value
                sum_ = np.sqrt(inner + 1.0).sum()
                found = session.run([end, slope, grown], {x: value})
                np.testing.assert_allclose(found[0], sum_, rtol=1e-5)
                np.testing.assert_allclose(found[1], 2 * inner, rtol=1e-5)
                wanted += sum_ * 0.5
                np.testing.assert_allclose(found[2], wanted, rtol=1e-5)
            parts = pieces(session, [end, slope, grown], [x])
            assert len(parts) == 3
            assert all(map(is_compiled, parts))


def test_a_step_that_waits_beside_single_ways_says_that_it_is_slow():
    with tf.Graph().as_default():
        queue = v1.FIFOQueue(9, [tf.float32], [[]])
        put, x = queue.enqueue(2.0), queue.dequeue()
        no, yes = tf.raw_ops.Switch(data=x, pred=x > 1.0)
        made = tf.raw_ops.Merge(inputs=[no + 1.0, yes * 3.0])[0]
        with v1.Session() as session:
            with pytest.warns(PerformanceWarning, match="ways that are not taken"):
                assert session.run([put, made])[1] == 6.0
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                assert session.run([put, made])[1] == 6.0  # it is said once
