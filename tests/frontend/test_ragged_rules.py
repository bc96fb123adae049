"""Ragged tensors by TensorFlow's rules: expected values are TensorFlow's."""

import numpy as np
import pytest

import gravure.tf as tf

constant, value = tf.ragged.constant, tf.compat.v1.ragged.constant_value


def test_what_sessions_give_is_an_operand() -> None:
    v = value([[1, 2], [3]])
    assert tf.gather(v, [1]).to_list() == [[3]]
    assert tf.add(v, 1).to_list() == [[2, 3], [4]]
    assert tf.concat([v, v], 0).to_list() == [[1, 2], [3], [1, 2], [3]]
    assert tf.reduce_sum(v, 1).numpy().tolist() == [3, 3]
    with pytest.raises(ValueError, match="unsupported type"):
        tf.convert_to_tensor(v)


@pytest.mark.parametrize(
    ("given", "options", "shape"),
    [
        ([], {"ragged_rank": 1}, [0, None]),
        ([[], [], []], {"ragged_rank": 2}, [3, None, None]),
        ([], {"inner_shape": (0, 4, 2)}, [0, 4, 2]),
        ([[]], {"inner_shape": (1, 0)}, [1, 0]),
        ([np.ones((2, 3)), np.ones((1, 3))], {"ragged_rank": 1}, [2, None, 3]),
    ],
)
def test_nested_lists_have_these_shapes(given, options, shape) -> None:
    assert constant(given, **options).shape.as_list() == shape
    assert list(value(given, **options).shape) == shape


@pytest.mark.parametrize(
    ("given", "options", "said"),
    [
        (12, {"inner_shape": (1,)}, r"incompatible with dim\(inner_shape\)=1"),
        ([[1], [[]]], {}, "empty list nesting is greater than scalar value nesting"),
        ([1, 2], {"ragged_rank": 1}, "requires scalar value depth greater than 1"),
        ([[1], [2]], {"ragged_rank": -1}, "must be nonnegative"),
    ],
)
def test_lists_of_other_depths_are_refused(given, options, said) -> None:
    for function in (constant, value):
        with pytest.raises(ValueError, match=said):
            function(given, **options)


def test_values_have_the_types_of_numpy_and_lists_that_of_their_first_float() -> None:
    assert value([[1, 2], [3]]).dtype == np.int64
    assert value([["a"], ["bc"]]).dtype == np.dtype("<U2")
    assert tf.constant([2, np.float64(1.0)]).dtype == tf.float32
    assert tf.constant([np.float64(1.0), 2]).dtype == tf.float64


def test_matrices_of_different_sizes_are_multiplied() -> None:
    a = constant([[[1.0, 2.0], [3.0, 4.0]], [[1.0, 2.0, 3.0]]])
    b = constant([[[1.0], [1.0]], [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0]]])
    with tf.GradientTape() as tape:
        tape.watch(a.flat_values)
        product = tf.matmul(a, b)
        total = tf.reduce_sum(product.flat_values)
    assert product.to_list() == [[[3.0], [7.0]], [[4.0, 5.0]]]
    assert product.shape.as_list() == [2, None, None]
    gradient = tape.gradient(total, a.flat_values)
    assert gradient.numpy().tolist() == [1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 2.0]
    with pytest.raises(tf.errors.InvalidArgumentError, match="ragged in their innermost"):
        tf.matmul(constant([[1, 2, 3], [4, 5]]), constant([[5], [4], [3]]))
    assert tf.function(lambda x: tf.matmul(x, tf.ones([2, 3, 1]), transpose_a=True))(
        constant([[[1.0], [2.0], [3.0]], [[1.0, 1.0]] * 3])
    ).to_list() == [[[6.0]], [[3.0], [3.0]]]


def test_means_of_whole_numbers_have_fractions() -> None:
    x = constant([[0, 1, 2], [4]])
    assert tf.reduce_mean(x).numpy() == 1.75
    assert tf.reduce_mean(x).dtype == tf.float64
    assert tf.math.reduce_variance(x).numpy() == 2.1875


def test_rows_are_printed_as_lists(capsys) -> None:
    tf.print(constant([["a'", "b"], []]), constant([[1.5]]))
    tf.print([constant([[1] * 9])], tf.sparse.from_dense([[1]]), summarize=1)
    assert capsys.readouterr().err == (
        "[['a\\'', 'b'], []] [[1.500000]]\n"
        "[[[1, ..., 1]]] 'SparseTensor(indices=[[0 0]], values=[1], shape=[1 1])'\n"
    )


def test_rows_are_chosen_and_parted() -> None:
    where = tf.compat.v1.where
    x, y = constant([[1, 2], [3]]), constant([[4], [5, 6]])
    assert where([True, False], x, y).to_list() == [[1, 2], [5, 6]]
    parts = tf.ragged.stack_dynamic_partitions(x, 1, 2)
    assert parts.to_list() == [[], [[[1, 2], [3]]]]
    with pytest.raises(ValueError, match="incompatible"):
        tf.ragged.stack_dynamic_partitions(["a", "b", "c"], [1, 2], 3)


def test_rows_are_gathered_by_batches_and_by_empty_places() -> None:
    x = constant([["a", "b", "c"], ["d"], [], ["e"]])
    order = value([[1, 2, 0], [], [], [0, 0]])
    assert tf.compat.v1.batch_gather(x, order).to_list() == [
        [b"b", b"c", b"a"], [], [], [b"e", b"e"]]  # fmt: skip
    assert tf.gather_nd(x, [[], []]).to_list() == [x.to_list()] * 2
    y = constant([[[["a", "b"], ["c"]]], [[["f"], ["g"]], [["h"], ["k", "l"]]]])
    found = tf.gather(y, [0, 1], axis=2, batch_dims=1)
    assert found.to_list() == [[[b"a", b"b"]], [[b"g"], [b"k", b"l"]]]
    assert tf.repeat(3, [4], 0).numpy().tolist() == [3] * 4


def test_axes_are_numbers() -> None:
    x = constant([[1, 2], [3]])
    for function in (tf.reduce_sum, tf.squeeze):
        with pytest.raises(TypeError, match=r"axis|Axis"):
            function(x, "x")
    with pytest.raises(TypeError, match="outer_axis must be an int"):
        x.merge_dims({}, 1)
    assert constant([[[1, 2], []], [[3]]]).row_lengths(-3).numpy() == 2
