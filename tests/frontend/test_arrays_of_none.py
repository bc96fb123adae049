"""Arrays and axes without elements, in loops and branches that are never gone through."""

import numpy as np
import pytest

import gravure.tf as tf


@tf.function
def read_each(x):
    array = tf.TensorArray(tf.float32, tf.shape(x)[0], element_shape=[3]).unstack(x)
    total = tf.zeros([3])
    for i in tf.range(array.size()):
        total += array.read(i)
    return total


@tf.function
def written_each(x):
    array = tf.TensorArray(tf.float32, x.shape[0], element_shape=[3])
    for i in tf.range(x.shape[0]):
        array = array.write(i, x[i] * 2)
        array = array.scatter(tf.reshape(i, [1]), x[i : i + 1] * 3)
    return array.stack()


@pytest.mark.parametrize("count", [0, 1, 4])
def test_an_array_may_have_no_elements_to_read_or_write(count):
    x = np.arange(3.0 * count, dtype=np.float32).reshape(count, 3)
    for _ in range(4):
        assert np.array_equal(read_each(tf.constant(x)), x.sum(0))
        assert np.array_equal(written_each(tf.constant(x)), x * 3)


def test_an_array_without_shape_may_have_no_elements():
    @tf.function
    def count(x):
        array = tf.TensorArray(tf.float32, size=x.shape[0], infer_shape=False)
        for i in tf.range(x.shape[0]):
            array = array.write(i, x[i])
        return array.size()

    assert count(tf.zeros([0, 3])).numpy() == 0
    assert count(tf.zeros([2, 3])).numpy() == 2


def test_an_element_of_none_is_refused_in_the_run():
    @tf.function
    def read(i):
        return tf.TensorArray(tf.float32, 0, element_shape=[3]).unstack(tf.zeros([0, 3])).read(i)

    @tf.function
    def write(i):
        return tf.TensorArray(tf.float32, 0, element_shape=[3]).write(i, tf.ones([3])).stack()

    for function in (read, write):
        with pytest.raises(tf.errors.InvalidArgumentError):
            function(tf.constant(0))


def test_pieces_of_several_lengths_are_as_many_as_the_array_is_long():
    def piece():
        return tf.TensorArray(tf.float32, 2).split(tf.range(6.0), [2, 4]).read(1)

    for function in (piece, tf.function(piece)):
        assert function().numpy().tolist() == [2.0, 3.0, 4.0, 5.0]


@pytest.mark.parametrize("function", [tf.argmax, tf.argmin])
def test_the_place_of_an_extreme_of_none_is_refused_in_the_run(function):
    @tf.function
    def places(x):
        total = tf.constant(0, tf.int64)
        for _ in tf.range(tf.shape(x)[0]):
            total += tf.reduce_sum(function(x, 0))
        return total

    assert places(tf.zeros([0, 3])).numpy() == 0
    for staged in (function, tf.function(function)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            staged(tf.zeros([0, 3]), 0)
