"""Queues that give what has the lowest number first, and queues that fill elements up."""

import threading

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def test_the_lowest_number_comes_first():
    with tf.Graph().as_default(), v1.Session() as session:
        queue = v1.PriorityQueue(10, [tf.string], [()])
        session.run(queue.enqueue_many([[3, 1, 2], ["c", "a", "b"]]))
        session.run(queue.enqueue((0, "z")))
        first = queue.dequeue()
        assert [session.run(first) for _ in range(2)] == [[0, b"z"], [1, b"a"]]
        numbers, words = session.run(queue.dequeue_many(2))
        assert numbers.dtype == np.int64
        assert (numbers.tolist(), words.tolist()) == ([2, 3], [b"b", b"c"])


def test_what_is_taken_together_is_filled_up():
    with tf.Graph().as_default(), v1.Session() as session:
        queue = v1.PaddingFIFOQueue(10, [tf.int32, tf.string], [[None], [2, None]])
        session.run(queue.enqueue([[1, 2], [["a"], ["b"]]]))
        session.run(queue.enqueue([[3], [["c", "d"], ["e", "f"]]]))
        numbers, words = session.run(queue.dequeue_many(2))
        assert numbers.tolist() == [[1, 2], [3, 0]]
        assert words.tolist() == [[[b"a", b""], [b"b", b""]], [[b"c", b"d"], [b"e", b"f"]]]
        with pytest.raises(ValueError, match="incompatible"):
            queue.enqueue([[[1]], [["a"], ["b"]]])
    with pytest.raises(ValueError, match="rank"):
        tf.queue.PaddingFIFOQueue(1, [tf.int32] * 2, [None, None])


@pytest.mark.parametrize("join", [False, True])
def test_batches_of_unlike_elements_are_filled_up(join):
    with tf.Graph().as_default(), v1.Session() as session:
        number = v1.train.range_input_producer(4, num_epochs=1, shuffle=False).dequeue()
        each = [number, tf.fill([number], number), tf.fill([2, number], "a")]
        with pytest.raises(tf.errors.InvalidArgumentError, match="fully defined"):
            v1.train.batch(each, 2)
        made = v1.train.batch_join([each], 3, dynamic_pad=True) if join else None
        made = made or v1.train.batch(each, 3, dynamic_pad=True, allow_smaller_final_batch=True)
        assert made[1].shape.as_list() == [3 if join else None, None]
        session.run(v1.local_variables_initializer())
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        numbers, rows, words = session.run(made)
        assert numbers.tolist() == [0, 1, 2]
        assert rows.tolist() == [[0, 0], [1, 0], [2, 2]]
        assert words[:, 0].tolist() == [[b"", b""], [b"a", b""], [b"a", b"a"]]
        if not join:
            assert session.run(made)[1].tolist() == [[3, 3, 3]]
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(made)
        coordinator.request_stop()
        coordinator.join(threads)


def test_eager_queues_of_both_kinds():
    queue = tf.queue.PriorityQueue(3, [tf.float32])
    for number, value in ((5, 0.5), (-1, 0.1)):
        queue.enqueue((tf.constant(number, tf.int64), value))
    assert [x.numpy() for x in queue.dequeue()] == [-1, np.float32(0.1)]
    padded = tf.queue.PaddingFIFOQueue(3, tf.float32, [[None, 1]])
    padded.enqueue([[[1.0]]])
    padded.enqueue([[[2.0], [3.0]]])
    assert padded.dequeue_up_to(2).numpy().tolist() == [[[1.0], [0.0]], [[2.0], [3.0]]]
    assert isinstance(padded, tf.queue.QueueBase)


@pytest.mark.parametrize("kind", ["FIFOQueue", "PriorityQueue"])
def test_nodes_of_a_graph_that_is_read_use_one_queue(kind):
    with tf.Graph().as_default() as graph:
        numbers = [tf.int64] * (kind == "PriorityQueue")
        queue = getattr(v1, kind)(4, [*numbers, tf.float32][-1:], [()])
        queue.enqueue([np.int64(7)] * len(numbers) + [np.float32(2.0)], name="put")
        queue.dequeue(name="took")
        text = graph.as_graph_def()
    with tf.Graph().as_default() as other:
        tf.import_graph_def(text, name="first")
        tf.import_graph_def(text, name="second")  # has a queue of its own
        with v1.Session() as session:
            for prefix in ("first", "second"):
                session.run(other.get_operation_by_name(f"{prefix}/put"))
            for prefix in ("first", "second"):
                found = other.get_operation_by_name(f"{prefix}/took").outputs
                options = v1.RunOptions(timeout_in_ms=5000)
                assert session.run(found[-1], options=options) == 2.0


def test_what_stands_for_queues_and_accumulators_gives_container_and_name():
    with tf.Graph().as_default() as graph:
        with tf.device("/cpu:0"):
            total = v1.ConditionalAccumulator(tf.float32, [2], name="a", shared_name="kept")
        with graph.container("box"):
            queue = v1.RandomShuffleQueue(3, 1, [tf.int32], name="q")
        given, taken = total.apply_grad([1.0, 2.0]), total.take_grad(1)
        assert taken.op.device == total.accumulator_ref.device == "/device:CPU:0"
        assert (total.name, total.accumulator_ref.name, queue.queue_ref.name) == ("a", "a:0", "q:0")
        with v1.Session() as session:
            named, kept = session.run([total.accumulator_ref, queue.queue_ref])
            assert named.tolist() == ["localhost", "kept"]
            assert (kept[0], kept[1][-2:]) == ("box", "_q")
            session.run(given)
            assert session.run(taken).tolist() == [1, 2]


def test_a_run_says_which_of_several_queues_is_used():
    with tf.Graph().as_default(), v1.Session() as session:
        queues = [v1.FIFOQueue(9, tf.int32, [()]) for _ in range(3)]
        number = v1.placeholder(tf.int32, [])
        chosen = v1.QueueBase.from_list(number, queues)
        put = chosen.enqueue(number * 10)
        for i in range(3):
            session.run(put, {number: i})
        assert session.run([queue.dequeue() for queue in queues]) == [0, 10, 20]
        with pytest.raises(tf.errors.InvalidArgumentError, match="3 is not in"):
            session.run(chosen.size(), {number: 3})
        shapes = [[1, None], [1, 2]]
        padded = [tf.queue.PaddingFIFOQueue(1, [tf.int32], [s]) for s in shapes]
        assert v1.QueueBase.from_list(0, padded).shapes[0].as_list() == [1, None]


def test_what_is_put_in_must_be_as_the_queue_says():
    queue = tf.queue.FIFOQueue(9, [tf.int32, tf.int32], [[], []], names=["a", "b"])
    for wrong in ({"a": 1}, {"a": 1, "b": 2, "c": 3}):
        with pytest.raises(ValueError, match="match names"):
            queue.enqueue(wrong)
    plain = tf.queue.FIFOQueue(9, [tf.int32, tf.int32], [[], []])
    with pytest.raises(ValueError, match="must have names"):
        plain.enqueue({"a": 1})
    for uneven in (([1, 2], [1, 2, 3]), (1, [1])):
        with pytest.raises(ValueError, match=r"compatible|rank 0"):
            plain.enqueue_many(uneven)
    with tf.Graph().as_default(), v1.Session() as session:
        queue = v1.FIFOQueue(9, tf.float32, [[2, 2]])
        given = v1.placeholder(tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected \[2,2\], got \[3\]"):
            session.run(queue.enqueue(given), {given: [1, 2, 3]})


def test_what_waits_for_room_goes_in_at_once_when_there_is_some():
    queue = tf.queue.FIFOQueue(2, tf.int32, [[]])
    thread = threading.Thread(target=queue.enqueue_many, args=([[1, 2, 3, 4]],), daemon=True)
    thread.start()
    for number in (1, 2):
        assert queue.dequeue() == number
        assert queue.size() == 2
    thread.join()


def test_the_node_states_capacity_types_shapes_and_names():
    with tf.Graph().as_default(), tf.device("/job:worker"):
        fifo = v1.FIFOQueue(
            5, (tf.int32, tf.float32), [(), (2, None)], shared_name="all"
        ).queue_ref.op
        mixed = v1.RandomShuffleQueue(5, 3, tf.float32).queue_ref.op
        ranked = v1.PriorityQueue(5, [tf.string], [(7,)]).queue_ref.op
    assert fifo.get_attr("component_types") == [tf.int32, tf.float32]
    assert fifo.get_attr("shared_name") == b"all"
    assert fifo.get_attr("container") == b""
    assert "dtype" not in fifo.node_def.attr
    found = fifo.node_def.attr
    assert [[d.size for d in s.dim] for s in found["shapes"].list.shape] == [[], [2, -1]]
    assert (found["capacity"].i, found["component_types"].list.type) == (5, [3, 1])
    assert fifo.device == "/job:worker/device:CPU:*"
    assert mixed.device == "/job:worker"
    assert mixed.get_attr("min_after_dequeue") == 3
    assert mixed.get_attr("shapes") == []
    assert ranked.get_attr("component_types") == [tf.string]  # the number is not counted
    assert [[d.size for d in s.dim] for s in ranked.get_attr("shapes")] == [[7]]
