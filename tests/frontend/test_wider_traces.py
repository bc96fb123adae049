"""Traces of open sizes serve calls of all sizes that they are open for."""

from __future__ import annotations

import numpy as np

from gravure import tf


def counted(**options):
    """Return a function that doubles, and what it was traced for."""
    shapes = []

    @tf.function(**options)
    def double(x):
        shapes.append(x.shape.as_list() if x.shape.rank is not None else None)
        return x * 2.0

    return double, shapes


def test_a_trace_of_open_sizes_serves_calls_of_known_ones():
    double, shapes = counted()
    double.get_concrete_function(tf.TensorSpec([None], tf.float32))
    for size in (1, 3, 1):
        assert double(tf.ones([size])).shape == (size,)
    double(tf.ones([2, 2]))
    double(tf.ones([3], tf.float32))
    assert shapes == [[None], [2, 2]]


def test_the_narrowest_of_the_traces_that_fit_is_taken():
    double, shapes = counted()
    narrow, middle, wide = [
        double.get_concrete_function(tf.TensorSpec(shape, tf.float32))
        for shape in ([None, 3], [None, None], None)
    ]
    found = [
        double.get_concrete_function(tf.TensorSpec(shape, tf.float32))
        for shape in ([2, 3], [2, 4], [5], [None, 3])
    ]
    assert found == [narrow, middle, wide, narrow]
    assert shapes == [[None, 3], [None, None], None]


def test_a_trace_of_known_sizes_is_not_taken_for_open_ones():
    double, shapes = counted(reduce_retracing=True)
    double(tf.ones([3]))

    @tf.function(input_signature=[tf.TensorSpec([None], tf.float32)])
    def outer(x):
        return double(x)

    assert np.all(outer(tf.ones([5])) == 2.0)
    assert shapes == [[3], [None]]


def test_a_trace_that_takes_values_of_its_graph_serves_that_one():
    made = []

    def outer(x):
        @tf.function
        def inner(y):
            made.append(1)
            return y + x

        inner.get_concrete_function(tf.TensorSpec([None], tf.float32))
        return inner(tf.ones([2])) + tf.reduce_sum(inner(tf.ones([3])))

    assert np.all(tf.function(outer)(tf.constant(1.0)) == 8.0)
    assert len(made) == 1
