"""Arguments are taken in TensorFlow's order, and by its names for them."""

import numpy as np
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


def test_functions_say_their_parameters():
    spec = tf.function(lambda x, y=2: x).function_spec
    assert (spec.arg_names, spec.fullargspec.defaults) == (["x", "y"], (2,))
    assert spec.input_signature is None


@pytest.mark.parametrize("rates", [[2, 2], [1, 3], [1, 1]])
@pytest.mark.parametrize("padding", ["VALID", "SAME"])
def test_windows_whose_elements_lie_apart_are_blocks_of_the_batch(rates, padding):
    image = tf.reshape(tf.range(144.0), [1, 8, 9, 2]) % 7
    window = tf.reshape(tf.range(8.0), [2, 2, 2, 1])

    def op(x, count, kind):  # (called by position)
        assert count == 2
        return tf.nn.conv2d(x, window, 1, kind)

    def apart(x):
        return tf.nn.with_space_to_batch(x, rates, padding, op, filter_shape=[2, 2])

    wanted = tf.nn.conv2d(image, window, 1, padding, dilations=rates)
    for found in (apart(image), tf.function(apart)(image)):
        assert found.shape == wanted.shape
        assert tf.reduce_max(tf.abs(found - wanted)) < 1e-4
    if padding == "SAME" and rates != [1, 1]:
        with pytest.raises(ValueError, match="filter_shape"):
            tf.nn.with_space_to_batch(image, rates, padding, op)


def test_the_largest_are_all_found():
    x = tf.constant([[3.0, 1.0, 2.0], [4.0, 6.0, 5.0]])
    values, places = tf.math.approx_max_k(x, 2)
    assert (values.numpy().tolist(), places.numpy().tolist()) == (
        [[3, 2], [6, 5]],
        [[0, 2], [1, 2]],
    )
    values, places = tf.math.approx_max_k(x, 1, 0)
    assert (values.numpy().tolist(), places.numpy().tolist()) == ([[4, 6, 5]], [[1, 1, 1]])
    values, places = tf.function(tf.math.approx_min_k)(x, 1)
    assert (values.numpy().tolist(), places.numpy().tolist()) == ([[1], [4]], [[1], [0]])
    with (
        pytest.raises(ValueError, match="axis 0 of an operand of unknown rank"),
        tf.Graph().as_default(),
    ):
        tf.math.approx_max_k(tf.compat.v1.placeholder(tf.float32), 1, 0)


def test_what_drops_out_is_in_its_scope():
    with tf.Graph().as_default() as graph:
        x = tf.compat.v1.placeholder(tf.float32, [None, 3])
        made = [tf.nn.dropout(x, 0.5), tf.nn.dropout(x, 0.5, name="drop")]
        made.append(tf.nn.experimental.stateless_dropout(x, 0.5, [1, 2]))
        assert [t.name.partition("/")[0] for t in made] == ["dropout", "drop", "stateless_dropout"]
        assert (x + x).name == "add:0"
        assert not [op for op in graph.get_operations()[1:-1] if "/" not in op.name]


def test_what_is_no_name_is_not_taken_for_one() -> None:
    """`nn.pool` gave its dilations in the place of the name, and they were passed over."""
    image = np.ones((1, 6, 6, 1), np.float32)
    assert tf.nn.pool(image, [2, 2], "MAX", dilations=[2, 1]).shape == (1, 4, 5, 1)
    with pytest.raises(TypeError):
        tf.nn.max_pool2d(image, 2, 1, "VALID", "NHWC", [2, 1])


X = tf.constant(2.0)
LOOPS = {
    "while_loop": lambda back: tf.while_loop(
        lambda i, y: i < 3, lambda i, y: (i + 1, y * X), (0, X), back_prop=back
    )[1],
    "foldl": lambda back: tf.foldl(lambda a, b: a + b * X, tf.stack([X, X]), back_prop=back),
    "map_fn": lambda back: tf.map_fn(lambda b: b * X, tf.stack([X, X]), back_prop=back),
    "scan": lambda back: tf.scan(lambda a, b: a + b * X, tf.stack([X, X]), back_prop=back),
}


@pytest.mark.parametrize("name", LOOPS)
def test_nothing_goes_back_through_loops_of_graphs_that_are_not_to(name: str) -> None:
    """As in TensorFlow, where what runs eagerly is differentiated all the same."""

    def gradient(run, *args):
        with tf.GradientTape() as tape:
            tape.watch(X)
            made = run(*args)
        return tape.gradient(made, X)

    staged = tf.function(LOOPS[name])
    wanted = gradient(LOOPS[name], True)
    assert gradient(LOOPS[name], False) == wanted == gradient(staged, True)
    assert gradient(staged, False) is None


def test_the_poisson_loss_has_no_number_for_counts_below_zero():
    found = tf.nn.log_poisson_loss([-1.0, 0.0, 2.0], [1.0, 1.0, 1.0], compute_full_loss=True)
    assert np.isnan(found[0])
    assert np.allclose(found[1:], [np.e, 1.3700882])


CANDIDATES = [
    *((0, 500, 10, 0.95, 500), (0, 3000, 1, 0.95, 1024), (0, 20000, 50, 0.5, 2048)),
    *((3, 100, 10, 0.95, 100), (3, 500, 1, 0.5, 128), (3, 500, 10, 0.5, 256)),
]  # fmt: skip
"""Rows, elements of each, how many are wanted, recall, and how many TensorFlow 2.21 gives."""


@pytest.mark.parametrize(("rows", "size", "k", "recall", "count"), CANDIDATES)
def test_candidates_that_are_not_aggregated_are_as_many_as_a_search_looks_through(
    rows, size, k, recall, count
):
    x = np.random.default_rng(0).permutation(size * max(rows, 1)).astype(np.float32)
    x = x.reshape((rows, size) if rows else (size,))
    for sign, search in ((1, tf.math.approx_max_k), (-1, tf.math.approx_min_k)):
        values, places = search(x, k, recall_target=recall, aggregate_to_topk=False)
        np.testing.assert_array_equal(values, np.sort(x * sign)[..., ::-1][..., :count] * sign)
        np.testing.assert_array_equal(np.take_along_axis(x, places.numpy(), -1), values)
    with pytest.raises(ValueError, match="recall_target is 0, expected a number in"):
        tf.math.approx_max_k(x, k, recall_target=0)
