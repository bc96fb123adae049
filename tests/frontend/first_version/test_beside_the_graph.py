"""Operations of a graph are made beside it: its tensors and variables say where they go."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


@pytest.fixture
def behind():
    """Give a session of a graph, its variable and its tensor, in another graph."""
    v1.disable_v2_behavior()
    try:
        graph = tf.Graph()
        with graph.as_default():
            rate, two = v1.Variable(0.5, trainable=False), tf.constant([2.0])
            start = v1.global_variables_initializer()
        with v1.Session(graph=graph) as session, tf.Graph().as_default():
            session.run(start)
            yield session, rate, two
    finally:
        v1.enable_v2_behavior()


MADE = {
    "an operator": (lambda rate, two: two + 1.0, [3.0]),
    "a number first": (lambda rate, two: 1.0 - two, [-1.0]),
    "a variable": (lambda rate, two: rate * 3.0, 1.5),
    "a change": (lambda rate, two: rate.assign(rate * 0.5), 0.25),
    "a change by a number": (lambda rate, two: v1.assign_add(rate, 1.0), 1.5),
    "a list": (lambda rate, two: tf.concat([two, [7.0]], 0), [2.0, 7.0]),
    "rows": (lambda rate, two: tf.nn.embedding_lookup(two, [0, 0]), [2.0, 2.0]),
    "a gradient": (lambda rate, two: tf.gradients(two * two, two)[0], [4.0]),
    "a group": (lambda rate, two: tf.group(two, rate), None),
    "an initializer": (lambda rate, two: v1.variables_initializer([rate]), None),
    "what Python does": (lambda rate, two: v1.py_func(lambda x: x + 1, [two], tf.float32), [3.0]),
}


@pytest.mark.parametrize("case", MADE)
def test_operations_go_to_the_graph_of_what_they_are_given(behind, case):
    session, rate, two = behind
    make, wanted = MADE[case]
    made = session.run(make(rate, two))
    assert made is None if wanted is None else np.allclose(made, wanted)


def test_tensors_of_two_graphs_do_not_meet(behind):
    _, _, two = behind
    with pytest.raises(ValueError, match="must be from the same graph"):
        two + tf.constant([1.0])


def test_a_variable_in_a_first_value_has_the_value_that_it_has():
    with tf.Graph().as_default(), v1.Session() as session:
        drawn = v1.Variable(tf.random.normal([4]))
        twice = v1.Variable(drawn.initialized_value() * 2)
        session.run(drawn.initializer)
        session.run(twice.initializer)
        np.testing.assert_array_equal(session.run(twice), 2 * session.run(drawn))
