"""What is done to the value of a variable is remembered, and is of the value of each call."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.eager import remembered

CALLS = 4


def numbers() -> tf.Variable:
    return tf.Variable(tf.reshape(tf.range(12.0), [4, 3]))


WAYS: dict[str, Callable[[tf.Variable], object]] = {
    "gather": lambda v: tf.gather(v, [2, 0]),
    "sparse_read": lambda v: v.sparse_read([1, 1]) + v.sparse_read([2, 3]),
    "reduce_sum": lambda v: tf.reduce_sum(v, 1),
    "transpose": tf.transpose,
    "concat": lambda v: tf.concat([v, v], 0),
    "part": lambda v: tf.reverse(v[1:], [0]),
}


@pytest.mark.parametrize("name", WAYS)
def test_each_call_is_of_the_value_that_the_variable_has_then(name: str) -> None:
    variable = numbers()
    for _ in range(CALLS):
        variable.assign_add(tf.ones([4, 3]))
        expected = WAYS[name](tf.Variable(variable.numpy()))
        np.testing.assert_array_equal(WAYS[name](variable), expected)  # type: ignore[arg-type]


def test_what_is_done_to_a_variable_is_worked_out_once() -> None:
    variable, calls = numbers(), []

    @remembered.remembered
    def function(x: object) -> object:
        calls.append(x)
        return tf.reduce_sum(x)

    for _ in range(CALLS):
        variable.assign_add(tf.ones([4, 3]))
        assert function(variable).numpy() == variable.numpy().sum()
    assert len(calls) == 2, "once as it is, once to take notes"


def test_a_function_that_returns_a_variable_returns_that_variable() -> None:
    @remembered.remembered
    def itself(x: object) -> object:
        return x

    variable = numbers()
    assert all(itself(variable) is variable for _ in range(CALLS))


def test_variables_of_graphs_get_no_operation_for_it() -> None:
    graph = tf.Graph()
    with graph.as_default():
        variable = tf.compat.v1.get_variable("v", initializer=tf.zeros([2]))
    before = len(graph.get_operations())
    assert remembered.READERS[type(variable)](variable) is None
    assert len(graph.get_operations()) == before


@pytest.mark.parametrize("name", ["scatter_max", "scatter_min", "scatter_mul"])
def test_slices_combined_again_and_again(name: str) -> None:
    variable, expected = numbers(), numbers().numpy()
    combine = {"scatter_max": np.maximum, "scatter_min": np.minimum, "scatter_mul": np.multiply}
    for i in range(CALLS):
        slices = np.full((2, 3), 5.5 - 3 * i, np.float32)
        getattr(variable, name)(tf.IndexedSlices(tf.constant(slices), tf.constant([3, 1])))
        expected[[3, 1]] = combine[name](expected[[3, 1]], slices)
        np.testing.assert_array_equal(variable.numpy(), expected)


def test_gradients_go_to_the_variable_after_it_was_remembered() -> None:
    variable = numbers()
    for _ in range(CALLS):
        tf.reduce_sum(variable, 0)
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.reduce_sum(variable, 0) * 2)
    assert tape.gradient(loss, variable).numpy().tolist() == [[2.0] * 3] * 4


def test_a_changed_value_is_not_the_result_of_a_call_before() -> None:
    variable = numbers()
    for _ in range(CALLS):
        turned = tf.transpose(variable)
        kept = turned.numpy().tolist()
        variable.assign_add(tf.ones([4, 3]))
        assert turned.numpy().tolist() == kept


def test_parts_of_a_variable_are_assigned_without_two_copies_of_it() -> None:
    variable = numbers()
    before = variable.read_value()
    assert variable[0].assign([7.0, 8.0, 9.0]) is variable
    variable[1, 2].assign(0.5)
    assert before.numpy()[0].tolist() == [0, 1, 2]
    assert variable.numpy()[:2].tolist() == [[7, 8, 9], [3, 4, 0.5]]
    with pytest.raises(ValueError, match="broadcast"):
        variable[0].assign([1.0, 2.0])
    assert tf.Variable(3.0)[()].assign(4.0).numpy() == 4
