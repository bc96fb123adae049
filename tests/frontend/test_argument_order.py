"""Arguments are taken in TensorFlow's order, and by its names for them."""

import pytest

import gravure.tf as tf

IMAGE = tf.ones([1, 2, 2, 1])
TRUE = tf.constant(True)
CALLS = {
    "function": lambda: tf.function(lambda x: x + 1, [tf.TensorSpec([])], False)(1.0),
    "case": lambda: tf.case([(TRUE, lambda: 2)], lambda: 3, False, False, "name"),
    "foldl": lambda: tf.foldl(lambda a, x: a + x, tf.range(2), 1, 10, True, False, "name"),
    "foldr": lambda: tf.foldr(lambda a, x: a + x, tf.range(2), 1, 10, True, False, "name"),
    "max_pool2d": lambda: tf.nn.max_pool2d(IMAGE, 2, 2, "SAME", "NHWC", "name") + 1,
    "avg_pool": lambda: tf.nn.avg_pool(IMAGE, 2, 2, "SAME", "NHWC", "name") + 1,
    "constant": lambda: tf.constant_initializer(2, True)([1]),
    "variable": lambda: tf.Variable(2, True, True, None, "name", None, tf.float64),
    "assign_add": lambda: tf.Variable(1.0).assign_add(delta=1.0),
    "assign_sub": lambda: tf.Variable(3.0).assign_sub(delta=1.0),
    "as_dtype": lambda: tf.as_dtype(type_value="float32").size // 2,
    "spec": lambda: 1 + tf.TensorSpec([]).is_compatible_with(spec_or_tensor=tf.constant(1.0)),
}


@pytest.mark.parametrize("name", CALLS)
def test_arguments_are_taken_in_their_order(name):
    assert tf.reduce_all(CALLS[name]() == 2)


def test_scopes_are_opened_by_keyword():
    graph = tf.Graph()
    with graph.as_default(), tf.device(device_name="/cpu:0"):
        first = tf.constant(1)
        with tf.control_dependencies(control_inputs=[first]):
            second = tf.constant(2)
        with graph.control_dependencies(control_inputs=None):
            third = tf.identity(first)
    assert [x.name for x in second.op.control_inputs] == [first.op.name]
    assert not third.op.control_inputs
    assert graph.unique_name("new", False) == graph.unique_name("new")
    tf.config.run_functions_eagerly(run_eagerly=False)


def test_queues_take_as_many_components_as_they_have():
    queue = tf.queue.FIFOQueue(3, tf.int32)
    queue.enqueue_many([[1], [2]])
    assert [queue.size().numpy(), queue.dequeue().numpy()] == [1, 1]
