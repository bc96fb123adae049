"""Queues of the first version's pipelines say how full they are; their operations bear their name.

The names are TensorFlow 2.21's.
"""

import gravure.tf as tf

v1 = tf.compat.v1


def _collected(graph: tf.Graph, key: str) -> list[str]:
    return [each.name for each in graph.get_collection(key)]


def test_queues_have_summaries_of_how_full_they_are() -> None:
    one = tf.constant(1.0)
    with tf.Graph().as_default() as graph:
        v1.train.batch([one], 3, capacity=10)
        v1.train.shuffle_batch([[1.0, 2.0]], 3, 20, 5, enqueue_many=True, name="mixed")
        v1.train.maybe_batch([one], tf.constant(True), 2)
        v1.train.shuffle_batch_join([[one], [one]], 2, 30, 4)
        v1.train.string_input_producer(["a", "b"], name="files")
        v1.train.slice_input_producer([tf.constant([1, 2])], name="slices")
        v1.train.input_producer(tf.constant([[1, 2], [3, 4]]), summary_name="mine")
        merged = v1.summary.merge_all()
        assert _collected(graph, v1.GraphKeys.SUMMARIES) == [
            "batch/fraction_of_10_full:0",
            "mixed/fraction_over_5_of_15_full:0",
            "batch_1/fraction_of_32_full:0",
            "shuffle_batch_join/fraction_over_4_of_26_full:0",
            "files/fraction_of_32_full:0",
            "slices/input_producer/fraction_of_32_full:0",
            "input_producer/mine:0",
        ]
        runners = v1.get_collection(v1.GraphKeys.QUEUE_RUNNERS)
        with v1.Session() as session:
            session.run(runners[4].enqueue_ops)
            for _ in range(3):
                session.run(runners[1].enqueue_ops)
            found = v1.Summary.FromString(session.run(merged)).value
    told = {each.tag: each.simple_value for each in found}
    assert told["files/fraction_of_32_full"] == 2 / 32
    assert abs(told["mixed/fraction_over_5_of_15_full"] - 1 / 15) < 1e-7
    assert told["batch/fraction_of_10_full"] == 0


def test_operations_of_a_queue_bear_its_name() -> None:
    with tf.Graph().as_default():
        queue = tf.queue.FIFOQueue(4, [tf.float32], [[]], name="mine")
        made = [
            queue.enqueue([1.0]).name,
            queue.enqueue_many([[1.0]]).name,
            queue.dequeue().name,
            queue.dequeue_many(2).name,
            queue.dequeue_up_to(2).name,
            queue.size().name,
            queue.is_closed().name,
            queue.close().name,
            queue.dequeue(name="other").name,
        ]
    assert made == [
        "mine_enqueue", "mine_EnqueueMany", "mine_Dequeue:0", "mine_DequeueMany:0",
        "mine_DequeueUpTo:0", "mine_Size:0", "mine_Is_Closed:0", "mine_Close", "other:0",
    ]  # fmt: skip


def test_batches_and_producers_have_the_names_of_their_scopes() -> None:
    with tf.Graph().as_default():
        batch = v1.train.batch([tf.constant(1.0), tf.constant([2])], 3)
        files = v1.train.string_input_producer(["a"], name="files")
        numbers = v1.train.range_input_producer(5)
        [row] = v1.train.slice_input_producer([tf.constant([1, 2])], name="slices")
    assert [x.name for x in batch] == ["batch:0", "batch:1"]
    assert files.name == "files"
    assert numbers.name == "input_producer"
    assert row.name == "slices/GatherV2:0"
