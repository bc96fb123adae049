"""Errors have the names and the fields that programs in TensorFlow's style look at."""

import pickle

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf


def test_errors_print_the_names_that_programs_know():
    def leave(x):
        if x > 0:
            y = 1
        return y

    graph = tf.Graph()
    with graph.as_default():
        tf.zeros([2], name="zeros")
    session = tf.compat.v1.Session(graph=graph)
    mistakes = {
        lambda: tf.Variable([1.0, 2.0]).assign([1.0]): "ValueError",
        lambda: graph.get_tensor_by_name("nothing:0"): "KeyError",
        lambda: session.run("nothing:0"): "ValueError",
        lambda: tf.function(leave)(tf.constant(1)): "ValueError",
        lambda: tf.function(lambda x: x.numpy())(tf.constant(1)): "AttributeError",
        lambda: tf.function(lambda x: np.sin(2 * x))(tf.constant(1.0)): "NotImplementedError",
        lambda: tf.train.load_checkpoint("nothing"): "NotFoundError",
    }
    for mistake, name in mistakes.items():
        with pytest.raises(Exception) as caught:  # noqa: PT011  (whichever it is)
            mistake()
        assert type(caught.value).__name__ == name
        assert type(pickle.loads(pickle.dumps(caught.value))) is type(caught.value)
        assert gv.explain(caught.value).code == caught.value.code
    with pytest.raises(KeyError, match="nothing") as missing:
        graph.get_operation_by_name("nothing")
    assert str(missing.value) == "\"The name 'nothing' refers to an Operation not in the graph.\""


def test_errors_of_runs_know_their_operation():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        queue = tf.queue.FIFOQueue(3, tf.float32, name="few")
        taken = queue.dequeue()
        session.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError) as caught:
            session.run(taken)
        assert caught.value.op is taken.op
        assert caught.value.node_def.op == "QueueDequeueV2"
        assert pickle.loads(pickle.dumps(caught.value)).op is None
