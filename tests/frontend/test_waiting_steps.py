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


def test_waits_inside_of_branches_and_loops_are_compiled_with_them():
    with tf.Graph().as_default():
        data = tf.data.Dataset.from_tensor_slices(X).repeat().batch(4)
        first, second = (v1.data.make_one_shot_iterator(data) for _ in range(2))
        count = v1.get_variable("count", initializer=0)
        chosen = v1.placeholder(tf.bool, [])
        x = tf.cond(chosen, lambda: tf.sin(first.get_next()), second.get_next)

        def turn(i, total):
            with tf.control_dependencies([count.assign_add(1)]):
                return i + 1, total + tf.reduce_sum(tf.sin(first.get_next()))

        with tf.control_dependencies([x]):
            total = tf.while_loop(lambda i, _: i < 3, turn, [0, 0.0])[1]
        with tf.control_dependencies([total]):
            both = [tf.reduce_sum(x), total, count.read_value()]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            for step in range(9):
                found = session.run(both, {chosen: True})
                rows = np.tile(X, (9, 1))[step % 3 * 4 :]  # four batches of three in each step
                wanted = [np.sin(rows[:4]).sum(), np.sin(rows[4:16]).sum(), 3 * step + 3]
                np.testing.assert_allclose(found, wanted, rtol=1e-5)
            assert all(map(is_compiled, pieces(session, both, [chosen])))


def test_variables_of_scopes_are_those_around_in_branches_and_loops():
    def layer(x):
        with v1.variable_scope("layer", reuse=v1.AUTO_REUSE):
            weight = v1.get_variable("weight", initializer=np.full([2, 2], 0.5, np.float32))
        return tf.tanh(tf.matmul(x, weight))

    with tf.Graph().as_default():
        x, deep = tf.constant(X[:4]), v1.placeholder_with_default(True, [])
        once = tf.cond(deep, lambda: layer(layer(x)), lambda: layer(x))
        often = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, layer(y)), [0, x])[1]
        made = tf.cond(deep, lambda: tf.Variable(lambda: 2.0, name="made") + 1.0, lambda: 0.0)
        names = [v.name for v in v1.global_variables()]
        slope = tf.gradients(tf.reduce_sum(often), v1.trainable_variables()[0])[0]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            found = session.run([once, often, made, slope])
    one, two, three = (X[:4] for _ in range(3))
    half = np.full([2, 2], 0.5, np.float32)
    one = np.tanh(X[:4] @ half)
    two = np.tanh(one @ half)
    three = np.tanh(two @ half)
    assert names == ["layer/weight:0", "made:0"]
    np.testing.assert_allclose(found[0], two, rtol=1e-5)
    np.testing.assert_allclose(found[1], three, rtol=1e-5)
    assert found[2] == 3.0
    near = 1e-2 * np.array([[1, 0], [0, 0]], np.float32)
    sums = []
    for weight in (half + near, half - near):
        y = X[:4]
        for _ in range(3):
            y = np.tanh(y @ weight)
        sums.append(y.sum())
    assert found[3][0, 0] == pytest.approx((sums[0] - sums[1]) / 2e-2, rel=1e-2)


def stepped(weight, x):
    loss = tf.reduce_mean(tf.square(tf.tanh(tf.matmul(x, weight))))
    weight.assign_sub(0.1 * tf.reduce_sum(x) * tf.ones([2, 1]))
    return loss


def of_next(weight, iterator):
    return stepped(weight, next(iterator))


def of_loop(weight, iterator):
    total = 0.0
    for _ in tf.range(2):
        total += stepped(weight, next(iterator))
    return total


def of_branch(weight, iterator):
    x = tf.zeros([4, 2])
    if tf.reduce_sum(weight) > -1e9:
        x = next(iterator)
    return stepped(weight, x)


def of_optional(weight, iterator):
    found, loss = iterator.get_next_as_optional(), 0.0
    if found.has_value():
        loss = stepped(weight, found.get_value())
    return loss


def of_queue(weight, iterator):
    queue = QUEUE[0]
    queue.enqueue(next(iterator) + 1.0)
    return stepped(weight, queue.dequeue() - 1.0)


QUEUE = []


@pytest.mark.parametrize("function", [of_next, of_loop, of_branch, of_optional, of_queue])
def test_functions_that_take_from_iterators_and_queues_are_compiled(function):
    QUEUE[:] = [tf.queue.FIFOQueue(4, [tf.float32], [[4, 2]])]
    data = tf.data.Dataset.from_tensor_slices(X).repeat(20).batch(4)
    weight, plain = tf.Variable([[0.5], [0.25]]), tf.Variable([[0.5], [0.25]])
    iterator, other = iter(data), iter(data)
    staged = tf.function(function)
    for _ in range(8):
        found = float(staged(weight, iterator))
        assert found == pytest.approx(float(function(plain, other)), rel=1e-5)
        np.testing.assert_allclose(weight.numpy(), plain.numpy(), rtol=1e-5)
    concrete = staged.get_concrete_function(weight, iterator)
    assert any(isinstance(x, Staged) for x in concrete.graph.whole_plan().compiled.values())


def test_a_function_that_gets_smaller_elements_takes_none_twice():
    data = tf.data.Dataset.range(1, 42).batch(4)  # the last has one element
    iterator, total = iter(data), tf.Variable(0, dtype=tf.int64)

    @tf.function
    def add():
        total.assign_add(1000)
        x = next(iterator)
        total.assign_add(tf.reduce_sum(x))
        return tf.shape(x)[0]

    assert [int(add()) for _ in range(11)] == [4] * 10 + [1]
    assert int(total) == sum(range(42)) + 11000
    with pytest.raises(tf.errors.OutOfRangeError):
        add()
    assert int(total) == sum(range(42)) + 12000  # what stands before it is done


def test_what_a_loop_has_done_stays_done_when_its_iterator_is_at_its_end():
    iterator, total = iter(tf.data.Dataset.range(1, 8)), tf.Variable(0, dtype=tf.int64)

    @tf.function
    def add(count):
        for _ in tf.range(count):
            total.assign_add(next(iterator))

    for _ in range(5):
        add(tf.constant(1))
    assert int(total) == 15
    with pytest.raises(tf.errors.OutOfRangeError):
        add(tf.constant(5))
    assert int(total) == 28
