"""Tapes, traces and messages as TensorFlow's own tests use them.

Each test passes with TensorFlow 2.21 in the place of `gravure.tf`.
"""

import copy
import logging
import pickle

import numpy as np
import pytest

import gravure.tf as tf


def plain(x: object) -> object:
    """Return twice a value."""
    return x * 2.0


def test_jacobians_of_a_tape_that_gives_gradients_once() -> None:
    for method in ("gradient", "jacobian", "batch_jacobian"):
        x = tf.constant([[3.0]])
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        getattr(tape, method)(y, x)
        with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only"):
            getattr(tape, method)(y, [x])


@pytest.mark.parametrize("method", ["jacobian", "batch_jacobian"])
def test_rows_one_by_one_need_a_tape_that_is_kept(method: str) -> None:
    x = tf.constant([[3.0]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.tile(x**4, [1, 2])
    with pytest.raises(RuntimeError, match="persistent=True"):
        getattr(tape, method)(y, x, experimental_use_pfor=False)


def test_jacobians_of_what_is_not_connected_or_empty_are_zeros() -> None:
    x = tf.constant([[3.0]], tf.float64)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y, none = tf.constant([[1.0, 2.0]], tf.float64), tf.zeros([1, 0])
    found = tape.batch_jacobian(y, x)
    assert found.numpy().tolist() == [[[0.0], [0.0]]]
    assert found.dtype == tf.float64
    with tf.GradientTape() as tape:
        tape.watch(none)
        empty = none**2
    assert tape.batch_jacobian(empty, none).shape == (1, 0, 0)


@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_a_target_that_is_its_own_source_has_ones_whatever_it_counts_in(dtype: str) -> None:
    x = tf.constant([3, 4], dtype)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = x * 2
    found = tape.gradient(x, x)
    assert found.numpy().tolist() == [1, 1]
    assert found.dtype == dtype
    assert tape.gradient(y, x) is None


def test_jacobians_of_gathered_rows_are_dense() -> None:
    rows = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    with tf.GradientTape() as tape:
        tape.watch(rows)
        found = tf.nn.embedding_lookup(rows, [0, 2])
    made = tape.jacobian(found, rows).numpy()
    assert made.shape == (2, 2, 3, 2)
    assert np.argwhere(made).tolist() == [[0, 0, 0, 0], [0, 1, 0, 1], [1, 0, 2, 0], [1, 1, 2, 1]]


def test_a_tape_is_not_entered_twice() -> None:
    with tf.GradientTape() as tape, pytest.raises(ValueError, match="still recording"):
        tape.__enter__()


def test_functions_are_copied_and_pickled_without_their_traces() -> None:
    function = tf.function(plain, reduce_retracing=True)
    deep = copy.deepcopy({"f": function})["f"]
    assert function(tf.constant(2.0)).numpy() == 4.0
    for made in (deep, pickle.loads(pickle.dumps(tf.function(plain)))):
        assert made is not function
        assert made(tf.constant(3.0)).numpy() == 6.0


def test_inputs_are_named_by_parameters_positions_and_keys() -> None:
    @tf.function
    def several(_: object, x_: object, *args: object, **kwargs: object) -> object:
        return x_

    spec = tf.TensorSpec([], tf.float32)
    trace = several.get_concrete_function(spec, spec, spec, (spec, spec), k=spec, _q=spec)
    names = [tensor.name for tensor in trace.inputs]
    assert names == [
        *("Placeholder:0", "x_:0", "args_0:0", "args_1:0", "args_1_1:0", "arg__q:0", "k:0"),
    ]


def test_a_function_that_is_traced_again_and_again_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def same(x: object) -> object:
        return x

    caplog.set_level(logging.WARNING)
    for number in range(5):
        tf.function(same)(number)  # each is one of the same Python
        assert len(caplog.records) == (number == 4)
    assert "5 out of the last 5 calls" in caplog.records[0].getMessage()
    caplog.clear()
    calm = tf.function(lambda x: x)
    for number in range(20):
        calm(float(number // 5))
    assert not caplog.records


@pytest.mark.parametrize(
    ("values", "text"),
    [
        (3, "dtype: DT_INT32 tensor_shape {} int_val: 3"),
        (
            [1, 2],
            r'dtype: DT_INT32 tensor_shape {dim {size: 2}} tensor_content: "\1\0\0\0\2\0\0\0"',
        ),
        ([True], "dtype: DT_BOOL tensor_shape {dim {size: 1}} bool_val: true"),
        (np.uint16([7, 8]), "dtype: DT_UINT16 tensor_shape {dim {size: 2}} int_val: [7, 8]"),
        (np.float16(2), "dtype: DT_HALF tensor_shape {} half_val: 16384"),
        (np.complex64(1 + 2j), "dtype: DT_COMPLEX64 tensor_shape {} scomplex_val: [1, 2]"),
        (["a", b"b"], 'dtype: DT_STRING tensor_shape {dim {size: 2}} string_val: ["a", "b"]'),
        ([], "dtype: DT_FLOAT tensor_shape {dim {size: 0}}"),
    ],
)
def test_values_become_messages_and_come_back(values: object, text: str) -> None:
    message = tf.make_tensor_proto(values)
    tf.test.TestCase().assertProtoEquals(text, message)
    assert tf.make_ndarray(message).tolist() == tf.constant(values).numpy().tolist()


def test_messages_of_a_shape_repeat_the_last_value() -> None:
    few = tf.make_tensor_proto([10, 11], tf.int64, shape=[2, 2])
    assert tf.make_ndarray(few).tolist() == [[10, 11], [11, 11]]
    with pytest.raises(ValueError, match="Too many elements provided"):
        tf.make_tensor_proto([1, 2, 3], shape=[2])
    for option in ("verify_shape", "allow_broadcast"):
        with pytest.raises(TypeError, match="Expected Tensor's shape"):
            tf.make_tensor_proto([1, 2, 3], shape=[4], **{option: True})
    with pytest.raises(TypeError):
        tf.make_tensor_proto([1.5], dtype=tf.int32)


def test_clusters_become_messages_and_come_back() -> None:
    spec = tf.train.ClusterSpec({"ps": ["a:1"], "worker": {3: "b:2"}})
    message = spec.as_cluster_def()
    assert isinstance(message, tf.train.ClusterDef)
    assert tf.train.ClusterSpec(message) == spec


def test_cases_compare_devices_and_more() -> None:
    case = tf.test.TestCase()
    case.assertDeviceEqual("/job:ps/task:0/cpu:0", "/job:ps/task:0/device:CPU:0")
    case.assertItemsEqual([1, 2, 2], [2, 1, 2])
    case.assertContainsSubset([1], [2, 1])
    with pytest.raises(AssertionError):
        case.assertSameElements([1, 2], [1, 3])
    with pytest.raises(AssertionError):
        case.assertBetween(3, 0, 2)
    with case.assertRaisesWithLiteralMatch(ValueError, "a.b"):
        raise ValueError("a.b")


def test_a_gradient_is_taken_in_a_branch_behind_what_it_is_of() -> None:
    w = tf.Variable([1.0, 2.0])

    @tf.function
    def trained(x: object, turns: object) -> object:
        done = 0
        for _ in tf.range(turns):
            with tf.GradientTape() as tape:
                loss = -tf.reduce_mean(tf.reshape(w * x[: tf.size(x)], [-1]) ** 2.0)
            if loss < -40.0:
                break
            w.assign_sub(tape.gradient(loss, w))
            done += 1
        return done

    assert trained(tf.constant([1.0, 1.0]), tf.constant(9)).numpy() == 3
    np.testing.assert_allclose(w.numpy(), [8.0, 16.0])
