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


def test_inputs_are_made_in_the_order_of_arguments_and_specs_say_where_they_are():
    spec = tf.TensorSpec([], tf.float32)

    @tf.function
    def flat(d, *rest, **named):
        return tf.nest.flatten((d, rest, named))

    trace = flat.get_concrete_function(
        {"b": [spec, spec], "a": spec}, spec, (spec,), z=spec, y=spec
    )
    names = ["d_2", "d", "d_1", "rest_0", "rest_1", "y", "z"]
    assert [x.op.name for x in trace.inputs] == names
    (given, *others), named = trace.structured_input_signature
    found = {key: tf.nest.map_structure(lambda x: x.name, given[key]) for key in given}
    assert found == {"b": ["d_b_0", "d_b_1"], "a": "d_a"}
    assert [*given] == ["b", "a"]
    assert tf.nest.map_structure(lambda x: x.name, others) == ["rest_0", ("rest_1_0",)]
    assert [*named] == ["y", "z"]


def test_what_is_given_by_other_names_comes_in_the_order_of_the_names():
    @tf.function
    def ordered(**named):
        return [*named], [*named["b"]]

    found = ordered(b={"d": tf.constant(1.0), "c": tf.constant(2.0)}, a=tf.constant(3.0))
    assert [[x.numpy().decode() for x in part] for part in found] == [["a", "b"], ["d", "c"]]


def test_a_name_that_a_spec_gives_wants_a_trace_of_its_own():
    double, shapes = counted()
    double.get_concrete_function(tf.TensorSpec([None], tf.float32))
    named = double.get_concrete_function(tf.TensorSpec([None], tf.float32, name="rows"))
    assert named.inputs[0].op.name == "rows"
    assert len(shapes) == 2
