"""Small things that TensorFlow's own tests of its operations, and comparisons with it, found."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1

CHANGING = {
    "equal parts": lambda x, axis: v1.split(x, 2, axis),
    "parts": lambda x, axis: tf.split(x, [1, 1], axis),
    "order": lambda x, axis: tf.transpose(x, tf.stack([axis, 1 - axis])),
    "reversed": lambda x, axis: tf.reverse(x, [axis]),
}


@pytest.mark.parametrize("dims", [None, [None, None], [2, 2]])
@pytest.mark.parametrize("name", CHANGING)
def test_an_axis_of_a_run_goes_with_operands_of_any_rank(name, dims):
    given = np.array([[1.0, 2.0], [3.0, 4.0]])
    every = [tf.nest.flatten(CHANGING[name](given, place)) for place in (0, 1)]
    with tf.Graph().as_default(), v1.Session() as session:
        x, axis = v1.placeholder(tf.float64, dims), v1.placeholder(tf.int32, [])
        made = CHANGING[name](x, axis)
        for place, wanted in enumerate(every):
            found = tf.nest.flatten(session.run(made, {x: given, axis: place}))
            for one, other in zip(found, wanted, strict=True):
                assert np.array_equal(one, other)
        for each in tf.nest.flatten(made):
            assert each.shape.is_compatible_with([1, 2] if "parts" in name else [2, 2])
            assert each.shape.is_compatible_with([2, 1] if "parts" in name else [2, 2])


NUMBERS = {
    "fill": lambda x: tf.fill([2], x),
    "start": lambda x: tf.range(x, 5, 1),
    "limit": lambda x: tf.range(0, x),
    "delta": lambda x: tf.range(0, 6, x),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_a_run_takes_a_row_of_one_for_a_number_and_a_graph_does_not(name):
    make = NUMBERS[name]
    assert np.array_equal(make(tf.constant([3])), make(3))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must represent a scalar"):
        make(tf.constant([3, 4]))
    with pytest.raises(ValueError, match="must be rank 0 but is rank 1"):
        tf.function(lambda: make(tf.constant([3])))()
    run = tf.function(make, input_signature=[tf.TensorSpec(None, tf.int32)])
    for given in (3, [3]):
        assert np.array_equal(run(given), make(3))


@pytest.mark.parametrize("dims", [[None, 2], [3, None], [None, None], None])
@pytest.mark.parametrize("fast", [False, True])
def test_least_squares_of_as_many_rows_as_a_run_has(dims, fast):
    @tf.function(input_signature=[tf.TensorSpec(dims), tf.TensorSpec(None)])
    def solve(a, b):
        with tf.GradientTape() as tape:
            tape.watch(a)
            x = tf.linalg.lstsq(a, b, fast=fast)
        return x, tape.gradient(x, a)

    a, b = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]]), tf.ones([3, 1])
    for count in (3, 1) if dims is None or dims[0] is None else (3,):
        with tf.GradientTape() as tape:
            tape.watch(a)
            wanted = tf.linalg.lstsq(a[:count], b[:count], fast=fast)
        grad = tape.gradient(wanted, a)[:count]
        found = solve(a[:count], b[:count])
        assert np.allclose(found[0], wanted, atol=1e-4)
        assert np.allclose(found[1], grad, atol=1e-3)


@pytest.mark.parametrize("staged", [False, True])
def test_a_shape_is_an_invariant_of_a_ragged_variable_of_a_loop(staged):
    def grown():
        rows = tf.ragged.constant([[1, 2], [3]])
        return tf.while_loop(
            lambda i, _: i < 2,
            lambda i, r: (i + 1, tf.concat([r, r[:1]], 0)),
            [tf.constant(0), rows],
            shape_invariants=[tf.TensorShape([]), tf.TensorShape([None, None])],
        )[1]

    made = (tf.function(grown) if staged else grown)()
    assert made.to_list() == [[1, 2], [3], [1, 2], [1, 2]]


def test_a_saver_says_what_it_saves():
    with tf.Graph().as_default():
        a, b = v1.get_variable("a", []), v1.get_variable("b", [])
        assert v1.train.Saver()._var_list == [a, b]
        assert v1.train.Saver({"c": b})._var_list == {"c": b}
        later = v1.train.Saver(defer_build=True)
        assert later._var_list is None


@pytest.mark.parametrize(
    "make", [tf.constant, lambda x: tf.ragged.constant([x]), tf.sparse.from_dense]
)
def test_element_types_of_tensors_of_all_kinds_are_checked(make):
    value = make([1.0, 2.0])
    tf.debugging.assert_type(value, tf.float32)
    with pytest.raises(TypeError, match=r"hi\.  tensor must be of type tf.int32; got tf.float32"):
        tf.debugging.assert_type(value, tf.int32, message="hi")


def test_wrong_types_of_a_graph_are_told_with_both_types():
    with tf.Graph().as_default():
        with pytest.raises(TypeError, match=r"^Const:0 must be of type tf.float32; got tf.int32"):
            tf.debugging.assert_type(tf.constant(1), tf.float32)
        with pytest.raises(TypeError, match=r"Const_2:0 must be of type tf.int32; got tf.float32"):
            v1.assert_rank(tf.constant(1), tf.constant(0.5))


OF_SLICES = {
    "map_fn": lambda x: tf.map_fn(lambda e: e + 1.0, x),
    "vectorized_map": lambda x: tf.vectorized_map(lambda e: e * 2.0, x),
    "scan": lambda x: tf.scan(lambda a, b: a + b, x),
    "foldl": lambda x: tf.foldl(lambda a, b: a - b, x),
    "array": lambda x: tf.TensorArray(tf.float32, 2).scatter(tf.range(2), x).stack(),
}


@pytest.mark.parametrize("name", OF_SLICES)
def test_slices_of_tensors_may_be_of_any_rank(name):
    run = tf.function(OF_SLICES[name], input_signature=[tf.TensorSpec(None)])
    for dims in ([2, 2], [2], [2, 3, 1]):
        given = tf.reshape(tf.range(float(np.prod(dims))), dims)
        assert np.array_equal(run(given), OF_SLICES[name](given))
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32)
        made = OF_SLICES[name](x)
        assert made.shape.rank is None
        wanted = given.numpy()
        assert session.run(made, {x: wanted}).shape[-1] == 1


def test_errors_name_operations_shapes_and_kinds_of_devices():
    with tf.Graph().as_default():
        wanted = r"but are 2 and 5 for 'add' .*AddV2.* with input shapes: \[1,2,3\], \[4,5,6\]\."
        with pytest.raises(ValueError, match=wanted):
            _ = tf.ones([1, 2, 3]) + tf.ones([4, 5, 6])
        with pytest.raises(TypeError, match=r"not well defined .*some_ones:0"):
            len(tf.ones([2], name="some_ones"))
        with pytest.raises(TypeError, match="can't convert Operation 'nothing' to Tensor"):
            tf.convert_to_tensor(tf.no_op("nothing"))
    with pytest.raises(ValueError, match="Multiple device types are not allowed"):
        tf.DeviceSpec.from_string("/job:muu/device:GPU:2/cpu:0")


def test_kinds_of_devices_that_nobody_knows_keep_their_letters():
    assert tf.DeviceSpec.from_string("/device:MyKind:2").to_string() == "/device:MyKind:2"
    assert tf.DeviceSpec(device_type="gpu", device_index=1).to_string() == "/device:GPU:1"


def test_a_value_is_put_into_a_list_once_whatever_is_named_twice():
    graph = tf.Graph()
    graph.add_to_collections(["a", "b", "a"], 1)
    assert (graph.get_collection("a"), graph.get_collection("b")) == ([1], [1])


def test_a_producer_of_no_texts_ends_instead_of_going_on_for_ever():
    with tf.Graph().as_default(), v1.Session() as session:
        queue = v1.train.string_input_producer(tf.constant([], tf.string))
        coordinator = v1.train.Coordinator()
        threads = v1.train.start_queue_runners(session, coordinator)
        with pytest.raises(tf.errors.OutOfRangeError):
            session.run(queue.dequeue())
        with pytest.raises(tf.errors.InvalidArgumentError, match="requires a non-null input"):
            coordinator.join(threads)
