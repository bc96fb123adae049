"""Batches whose elements are computed where they lie: nothing that is held is written again."""

import gc
import threading

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.data import programs, slabs

SIZE = 5
SHAPE = (64, 64, 8)


@pytest.fixture(autouse=True)
def _compile_at_once(monkeypatch):
    monkeypatch.setattr(programs, "PATIENCE", 0.0)


@pytest.fixture
def found(monkeypatch):
    """Count which batches were there already, and which were copied."""
    made = {True: 0, False: 0}
    whole = slabs.Slabs.whole

    def counted(column):
        """Return what it returns."""
        batch = whole(column)
        made[batch is not None] += 1
        return batch

    monkeypatch.setattr(slabs.Slabs, "whole", staticmethod(counted))
    return made


def large(i):
    """Return an element that is worth its while, and a number."""
    return tf.fill(SHAPE, tf.cast(i, tf.float32)) * 2.0 + 1.0, i


def expected(numbers):
    """Return the batch of elements of these numbers."""
    ones = np.ones((1, *SHAPE), np.float32)
    return np.concatenate([ones * (2.0 * i + 1.0) for i in numbers])


@pytest.mark.parametrize("calls", [None, 2])
def test_batches_are_where_their_elements_were_computed(found, calls):
    data = tf.data.Dataset.range(23).map(large, num_parallel_calls=calls).batch(SIZE)
    for _ in range(3):
        for number, (x, i) in enumerate(data):
            at = range(number * SIZE, min(23, number * SIZE + SIZE))
            np.testing.assert_array_equal(i, at)
            np.testing.assert_array_equal(x, expected(at))
    assert found[True] >= 10


@pytest.mark.parametrize("calls", [None, 2])
def test_what_is_held_is_not_written_again(calls):
    data = tf.data.Dataset.range(40).map(large, num_parallel_calls=calls).batch(4).prefetch(2)
    held = []
    for _ in range(3):
        for number, (x, _) in enumerate(data):
            kinds = (x, x.numpy(), x[1:], x.numpy()[2], memoryview(x.numpy()))
            held.append((number, kinds[number % len(kinds)], number % len(kinds)))
    for number, kept, kind in held:
        whole = expected(range(4 * number, 4 * number + 4))
        part = {2: whole[1:], 3: whole[2]}.get(kind, whole)
        np.testing.assert_array_equal(np.asarray(kept), part)


def test_memory_is_used_again_when_nobody_holds_it():
    pool = slabs.Recycled()
    first = pool.taken(slabs.BIG)
    place = first.ctypes.data
    view = first[10:]
    del first
    second = pool.taken(slabs.BIG)
    assert second.ctypes.data != place
    del view
    gc.collect()
    assert pool.taken(slabs.BIG).ctypes.data == place
    assert pool.taken(2 * slabs.BIG).nbytes == 2 * slabs.BIG


def test_no_more_memory_is_kept_than_was_agreed_on(monkeypatch):
    monkeypatch.setattr(slabs, "KEPT", 3 * slabs.BIG)
    pool = slabs.Recycled()
    held = [pool.taken(slabs.BIG) for _ in range(5)]
    assert len({x.ctypes.data for x in held}) == 5
    assert len(pool.kept) == 3


def test_two_iterators_of_a_pipeline_do_not_share_memory():
    data = tf.data.Dataset.range(60).map(large, num_parallel_calls=2).batch(SIZE)
    wrong, ended = [], []

    def batch(number):
        """Return a batch as it is to be."""
        return expected(range(number * SIZE, number * SIZE + SIZE))

    def read():
        """Go over all of it, two times, a batch behind."""
        for _ in range(2):
            last = []
            for number, (x, _) in enumerate(data):
                wrong.extend(n for n, y in last if not np.array_equal(y, batch(n)))
                last = [(number, x)]
        ended.append(True)

    threads = [threading.Thread(target=read) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert len(ended) == 3


def test_elements_that_fail_leave_no_hole(found):
    def refuse(i):
        """Refuse every seventh."""
        with tf.control_dependencies([tf.debugging.assert_none_equal(i % 7, np.int64(3))]):
            return large(tf.identity(i))

    data = tf.data.Dataset.range(30).map(refuse).ignore_errors().batch(4)
    good = [i for i in range(30) if i % 7 != 3]
    for number, (x, i) in enumerate(data):
        np.testing.assert_array_equal(i, good[4 * number : 4 * number + 4])
        np.testing.assert_array_equal(x, expected(good[4 * number : 4 * number + 4]))
    stream = iter(tf.data.Dataset.range(12).map(refuse).batch(4))
    with pytest.raises(tf.errors.InvalidArgumentError):
        next(stream)


def test_shapes_that_are_not_those_of_the_first_element():
    rows = tf.data.Dataset.range(8).map(lambda i: tf.zeros([300 + i // 4, 128]) + 1.0)
    for _ in range(2):
        stream = iter(rows.batch(4))
        assert [x.shape[1] for x in stream] == [300, 301]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Cannot batch tensors"):
            list(rows.batch(8))


def test_results_that_are_inputs_constants_or_the_same_twice():
    source = np.arange(6 * 32768, dtype=np.float32).reshape(6, 32768)
    table = tf.constant(np.full(32768, 7.0, np.float32))
    data = tf.data.Dataset.from_tensor_slices(source)
    data = data.map(lambda x: (x, table, x + 1.0, tf.identity(x + 1.0), table * 1.0)).batch(3)
    for _ in range(3):
        for number, (x, t, y, z, u) in enumerate(data):
            part = source[3 * number : 3 * number + 3]
            np.testing.assert_array_equal(x, part)
            np.testing.assert_array_equal(y, part + 1.0)
            np.testing.assert_array_equal(z, part + 1.0)
            np.testing.assert_array_equal(t, np.full((3, 32768), 7.0))
            np.testing.assert_array_equal(u, t)
    np.testing.assert_array_equal(source.ravel(), np.arange(6 * 32768))


def test_a_state_goes_on_in_the_middle(tmp_path):
    data = tf.data.Dataset.range(30).map(large, num_parallel_calls=2).batch(4)
    list(data)
    stream = iter(data)
    seen = [next(stream)[0] for _ in range(2)]
    checkpoint = tf.train.Checkpoint(stream=stream)
    saved = checkpoint.save(tmp_path / "state")
    turns = []
    for _ in range(2):
        turns.append([x for x, _ in stream])
        checkpoint.restore(saved)
    for rest in turns:
        np.testing.assert_array_equal(np.concatenate([*seen, *rest]), expected(range(30)))


def test_variables_are_written_beside_rows():
    calls = tf.Variable(np.int64(0))

    def count(i):
        """Count the elements."""
        calls.assign_add(1)
        return tf.fill(SHAPE, tf.cast(i, tf.float32)) * 2.0 + 1.0

    data = tf.data.Dataset.range(12).map(count).batch(4)
    for turn in range(3):
        for number, x in enumerate(data):
            np.testing.assert_array_equal(x, expected(range(4 * number, 4 * number + 4)))
        assert calls.numpy() == 12 * (turn + 1)


def test_rows_with_a_hole_between_them_or_in_another_order_are_no_batch():
    made = slabs.Slabs(4, {})
    made.learn((np.zeros(slabs.BIG, np.uint8),))
    rows = [made.next()[0] for _ in range(4)]
    assert slabs.Slabs.whole(rows[1:]).shape == (3, slabs.BIG)
    assert slabs.Slabs.whole([rows[0], rows[2]]) is None
    assert slabs.Slabs.whole([rows[1], rows[0]]) is None
    assert slabs.Slabs.whole([rows[3], made.next()[0]]) is None
    assert slabs.Slabs.whole([np.zeros(slabs.BIG, np.uint8)]) is None
