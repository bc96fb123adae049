"""What TensorFlow's own tests ask of graphs, variables, queues and text, with its values."""

import threading

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def test_a_default_for_a_placeholder_is_the_tensor_at_once() -> None:
    made = v1.placeholder_with_default([[1, 2], [3, 4]], None)
    assert made.numpy().tolist() == [[1, 2], [3, 4]]


def test_a_graph_asks_for_devices_by_name_and_by_function() -> None:
    graph = tf.Graph()
    with graph.as_default():
        with graph.device("/cpu:0"):
            named = tf.constant(1.0)
        with graph.device(lambda op: f"/job:{op.type.lower()}"):
            said = tf.constant(1.0)
        plain = tf.constant(1.0)
    assert named.device == "/device:CPU:0"
    assert said.device == "/job:const"
    assert plain.device == ""


def test_a_variable_counts_up_to_a_limit() -> None:
    counter = tf.Variable(0)
    assert [counter.count_up_to(2).numpy() for _ in range(2)] == [0, 1]
    with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 2"):
        counter.count_up_to(2)
    with tf.Graph().as_default(), v1.Session() as session:
        steps = v1.Variable(5, dtype=tf.int64)
        count = steps.count_up_to(7)
        session.run(steps.initializer)
        assert [session.run(count) for _ in range(2)] == [5, 6]
        with pytest.raises(tf.errors.OutOfRangeError, match="Reached limit of 7"):
            session.run(count)
        assert session.run(steps) == 7


def test_more_is_taken_from_a_queue_than_it_holds() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        queue = v1.FIFOQueue(2, tf.float32, shapes=[()])
        value = v1.placeholder(tf.float32, ())
        put, taken = queue.enqueue(value), queue.dequeue_many(5)
        found: list[float] = []
        taker = threading.Thread(target=lambda: found.extend(session.run(taken).tolist()))
        taker.start()
        for number in range(5):
            session.run(put, {value: number})
        taker.join(60)
        assert found == [0.0, 1.0, 2.0, 3.0, 4.0]


def test_what_a_closed_queue_lacks_is_said() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        queue = v1.FIFOQueue(2, tf.float32, shapes=[()])
        session.run(queue.enqueue_many([[1.0, 2.0]]))
        session.run(queue.close())
        with pytest.raises(tf.errors.OutOfRangeError, match="requested 5, current size 2"):
            session.run(queue.dequeue_many(5))
        assert session.run(queue.size()) == 2


def test_images_are_adjusted_by_keywords() -> None:
    image = tf.constant([[[4.0, 0.25]]])
    assert tf.image.adjust_gamma(image=image, gamma=0.5).numpy().tolist() == [[[2.0, 0.5]]]
    assert tf.image.adjust_gamma(image, gain=2.0).numpy().tolist() == [[[8.0, 0.5]]]
    assert tf.image.adjust_brightness(image, delta=1.0).numpy().tolist() == [[[5.0, 1.25]]]


def test_a_separator_may_be_bytes() -> None:
    assert tf.strings.ngrams(["a", "b", "c"], 2, b"|").numpy().tolist() == [b"a|b", b"b|c"]


def test_distances_are_of_values_of_sparse_tensors_too() -> None:
    value = v1.SparseTensorValue
    first = value([[0, 0], [0, 1]], np.array(["a", "b"], object), [1, 2])
    second = value([[0, 0]], np.array(["b"], object), [1, 1])
    assert tf.edit_distance(first, second).numpy().tolist() == [1.0]


def test_slopes_are_had_in_a_graph_as_they_are_at_once() -> None:
    def product(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
        return x * tf.reduce_sum(y)

    at_once = tf.test.compute_gradient(product, [np.array([1.0, 2.0]), np.array([3.0])])
    with tf.Graph().as_default(), v1.Session():
        found = tf.test.compute_gradient(
            product, [tf.constant([1.0, 2.0], tf.float64), tf.constant([3.0], tf.float64)]
        )
    for exact, near, wanted in zip(*found, [[[3.0, 0], [0, 3]], [[1.0], [2.0]]], strict=True):
        np.testing.assert_array_equal(exact, wanted)
        np.testing.assert_allclose(near, wanted, rtol=1e-9)
    for mine, other in zip(found, at_once, strict=True):
        for one, two in zip(mine, other, strict=True):
            np.testing.assert_array_equal(one, two)


def test_a_thread_of_a_test_evaluates_by_its_session() -> None:
    case = type("Case", (tf.test.TestCase,), {})("assertAllEqual")
    with tf.Graph().as_default(), case.cached_session():
        made = tf.constant([1, 2]) + 1
        seen: list[object] = []
        thread = case.checkedThread(lambda: seen.append(case.evaluate(made).tolist()))
        thread.start()
        thread.join()
    assert seen == [[2, 3]]


def test_contexts_of_a_graph_may_hold_for_one_thread_alone() -> None:
    graph, found = tf.Graph(), []
    graph.switch_to_thread_local()

    def make(inside: threading.Event, go_on: threading.Event) -> None:
        with graph.as_default():
            first = tf.constant(1.0)
            with tf.device("/cpu:0"), graph.control_dependencies([first]):
                inside.set()
                go_on.wait(60)
                found.append(tf.identity(first + 1.0).op)

    inside, go_on = threading.Event(), threading.Event()
    thread = threading.Thread(target=make, args=(inside, go_on))
    thread.start()
    inside.wait(60)
    with graph.as_default():
        other = tf.constant(3.0).op
    go_on.set()
    thread.join()
    assert (other.device, [*other.control_inputs]) == ("", [])
    assert "CPU:0" in found[0].device.upper()
    assert [op.type for op in found[0].control_inputs] == ["Const"]
