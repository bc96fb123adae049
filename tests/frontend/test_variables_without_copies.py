"""Variables take tensors as they are and add in place, and nobody else sees a change."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf

MANY = 1 << 17


def ones(dtype: str = "float32") -> tf.Tensor:
    return tf.ones([MANY], dtype)


def test_a_variable_has_the_elements_of_the_tensor_that_it_is_given() -> None:
    given, variable = ones(), tf.Variable(tf.zeros([MANY]))
    variable.assign(given)
    assert np.shares_memory(variable.state.value, given._array)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
@pytest.mark.parametrize("name", ["assign_add", "assign_sub"])
def test_much_is_added_in_place_where_nobody_else_has_it(name: str, dtype: str) -> None:
    variable = tf.Variable(ones(dtype))
    getattr(variable, name)(ones(dtype))
    place = variable.state.value.ctypes.data  # type: ignore[union-attr]
    getattr(variable, name)(ones(dtype))
    assert variable.state.value.ctypes.data == place  # type: ignore[union-attr]
    assert variable.numpy()[-1] == {"assign_add": 3, "assign_sub": -1}[name]


CHANGES: dict[str, Callable[[tf.Variable], object]] = {
    "added": lambda v: v.assign_add(ones()),
    "taken": lambda v: v.assign_sub(v.read_value() * 3.0),
    "itself": lambda v: v.assign_add(v),
    "scattered": lambda v: v.scatter_nd_update([[0], [MANY - 1]], [5.0, 5.0]),
    "in a function": tf.function(lambda v: v.assign_add(ones())),
}


@pytest.mark.parametrize("change", CHANGES)
def test_nobody_else_sees_a_change(change: str) -> None:
    given, variable, other = ones(), tf.Variable(tf.zeros([MANY])), tf.Variable(tf.zeros([MANY]))
    with tf.GradientTape() as tape:
        squares = tf.reduce_sum(variable * variable)
    for _ in range(6):
        variable.assign(given)
        other.assign(given)
        read = variable.read_value()
        view = memoryview(np.asarray(read))
        CHANGES[change](variable)
        assert variable.numpy()[0] != 1
        before = variable.numpy()
        CHANGES[change](variable)
        for x in (given, read, view, other):
            np.testing.assert_array_equal(np.asarray(x), np.ones(MANY, np.float32))
        assert before[1] == before[2]
    assert tape.gradient(squares, variable).numpy()[0] == 0


def test_an_array_of_the_user_is_copied() -> None:
    for make, given in (
        (gv.Variable, np.asarray),
        (gv.Variable, gv.asarray),
        (tf.Variable, np.asarray),
        (tf.Variable, tf.convert_to_tensor),
    ):
        array = np.zeros(MANY, np.float32)
        variable = make(array)
        variable.assign(given(array))
        array[0] = 1
        assert variable.numpy()[0] == 0
