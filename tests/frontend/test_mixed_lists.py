"""Lists whose numbers are of several kinds, as operands of operations; as TensorFlow takes them."""

from functools import partial
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf


@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int32", "int64", "uint64"])
def test_truth_values_are_numbers_where_a_type_is_asked_for(kind: str) -> None:
    assert tf.constant([True, False], kind).numpy().tolist() == [1, 0]
    assert tf.convert_to_tensor([True, 2], kind).numpy().tolist() == [1, 2]
    times: Any = lambda x: x * [True, False]  # noqa: E731
    for function in (times, tf.function(times)):
        assert function(tf.constant([3, 4], kind)).numpy().tolist() == [3, 0]
    assert tf.Variable(tf.ones([2], kind)).assign([True, False]).numpy().tolist() == [1, 0]
    assert tf.stack([tf.ones([2], kind), [True, False]]).numpy().tolist() == [[1, 1], [1, 0]]


@pytest.mark.parametrize("kind", ["uint8", "int8", "int16", "uint32", "bfloat16", "complex64"])
def test_some_types_take_no_truth_values_eagerly(kind: str) -> None:
    with pytest.raises(TypeError, match=r"Cannot convert \[True, False\] to EagerTensor"):
        tf.constant([True, False], kind)
    with pytest.raises(ValueError, match="mixed types"):
        tf.constant([True, 2], kind)


def test_without_a_type_truth_values_and_numbers_are_a_mixture() -> None:
    for each in ([True, 2], [True, 2.5]):
        with pytest.raises(ValueError, match="mixed types"):
            tf.constant(each)
    assert tf.constant([1, True]).numpy().tolist() == [1, 1]


@pytest.mark.parametrize("staged", [False, True])
def test_of_operands_without_a_tensor_the_first_says_the_type(staged: bool) -> None:
    whole, half = tf.constant(1), tf.constant(1.5)
    pairs: list[tuple[Any, Any, str, list[float]]] = [
        ([1.5, 2], [whole, 3], "float32", [1.5, 6]),
        ([half, 3], [whole, 3], "float32", [1.5, 9]),
        ([whole, 3], [half, 3], "int32", [1, 9]),
        (2.5, [whole, 3], "float32", [2.5, 7.5]),
        (np.array([1.0, 2.0]), [whole, 3], "float64", [1, 6]),
        ([whole, 3], tf.constant([1.5, 2.0]), "float32", [1.5, 6]),
    ]
    for x, y, kind, wanted in pairs:
        times: Any = partial(tf.multiply, x, y)
        made = tf.function(times)() if staged else times()
        assert (made.dtype.name, made.numpy().tolist()) == (kind, wanted)


def test_truth_values_have_a_product() -> None:
    for function in (tf.multiply, tf.function(tf.multiply)):
        made = function(tf.constant([True, False, True]), tf.constant([True, True, False]))
        assert made.numpy().tolist() == [True, False, False]
    assert (tf.constant([True, False]) * np.array([True, True])).numpy().tolist() == [True, False]
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.constant([True]) + tf.constant([True])


def test_sparse_tensors_are_divided_by_what_is_dense() -> None:
    sparse = tf.sparse.from_dense([[1.0, 2.0], [0.0, 4.0]])
    for y in (2.0, [[2.0, 2.0], [2.0, 2.0]]):
        made: Any = tf.divide(sparse, y)
        assert isinstance(made, tf.SparseTensor)
        assert made.values.numpy().tolist() == [0.5, 1.0, 2.0]
        assert tf.sparse.to_dense(tf.math.divide(sparse, tf.constant(y)))[1, 1].numpy() == 2.0


def test_lists_of_several_lengths_are_no_stack() -> None:
    """The error is that of the operation, not that of a constant."""
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of all inputs must match"):
        tf.stack([[1], [2, 3]])
    with pytest.raises(ValueError, match="Shapes of all inputs must match"):
        tf.function(lambda x: tf.stack([[1], [2, 3]]) + x)(1)
    assert tf.stack([[1, 2], [3, 4.5]]).dtype == tf.float32


def test_a_text_is_no_shape() -> None:
    """An error of numpy's came by."""
    with pytest.raises(TypeError, match="'a'"):
        tf.ones("a")
