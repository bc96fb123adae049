"""What fills a queue, as a message and in the file of a graph."""

import pytest

from gravure import tf

v1 = tf.compat.v1


def filled(name="a"):
    """Return a queue in a scope, and what fills it."""
    with tf.name_scope(name):
        queue = tf.queue.FIFOQueue(10, [tf.float32], name="queue")
        return queue, v1.train.QueueRunner(queue, [queue.enqueue(1.0)])


def test_a_message_names_the_operations_that_fill_a_queue() -> None:
    with tf.Graph().as_default():
        queue, runner = filled()
        said = runner.to_proto()
        inner = runner.to_proto("a")
        assert runner.to_proto("b") is None
        again = v1.train.QueueRunner.from_proto(said)
        within = v1.train.QueueRunner.from_proto(inner, import_scope="a")
    assert said.SerializeToString() == (
        b'\n\x07a/queue\x12\x0fa/queue_enqueue\x1a\ra/queue_Close"\x0fa/queue_Close_1*\x01\x0b'
    )
    assert (inner.queue_name, list(inner.enqueue_op_name)) == ("queue", ["queue_enqueue"])
    for made in (again, within):
        assert made.name == queue.name
        assert made.queue is queue.queue_ref.op
        assert made.enqueue_ops == runner.enqueue_ops
        assert (made.close_op, made.cancel_op) == (runner.close_op, runner.cancel_op)
        assert made.queue_closed_exception_types == (tf.errors.OutOfRangeError,)


def test_what_no_runner_can_be_made_of_is_refused() -> None:
    with tf.Graph().as_default():
        queue, runner = filled()
        with pytest.raises(ValueError, match="mutually exclusive"):
            v1.train.QueueRunner(queue, [1], queue_runner_def=runner.to_proto())
        said = runner.to_proto()
        said.queue_name = "zz"
        with pytest.raises(KeyError, match="refers to an Operation not in the graph"):
            v1.train.QueueRunner.from_proto(said)
        for wrong in ([tf.errors.OutOfRangeError], (ValueError,)):
            with pytest.raises(TypeError, match=r"must be a tuple of tf\.error types"):
                v1.train.QueueRunner(queue, [queue.close()], queue_closed_exception_types=wrong)


def test_a_graph_that_is_read_goes_on_filling_its_queues() -> None:
    with tf.Graph().as_default():
        queue, runner = filled()
        v1.train.add_queue_runner(runner)
        taken = queue.dequeue(name="taken").name
        data = v1.train.export_meta_graph()
    with tf.Graph().as_default() as graph, v1.Session() as session:
        v1.train.import_meta_graph(data, import_scope="z")
        [found] = v1.get_collection("queue_runners")
        assert (found.name, found.close_op.name) == ("z/a/queue", "z/a/queue_Close")
        coordinator = v1.train.Coordinator()
        v1.train.start_queue_runners(session, coordinator)
        assert session.run(graph.get_tensor_by_name(f"z/{taken}")) == 1.0
        coordinator.request_stop()
        coordinator.join()
