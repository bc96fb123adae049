"""What public functions and classes say of themselves: what stands before a library that asks."""

import inspect
from typing import Any

import pytest

import gravure.tf as tf


@pytest.mark.parametrize(
    ("function", "names"),
    [
        (tf.add, ["x", "y", "name"]),
        (tf.reduce_sum, ["input_tensor", "axis", "keepdims", "name"]),
        (tf.transpose, ["a", "perm", "conjugate", "name"]),
        (tf.linalg.cholesky, ["input", "name"]),
        (tf.compat.v1.boolean_mask, ["tensor", "mask", "name", "axis"]),
        (tf.compat.v1.shape, ["input", "name", "out_type"]),
    ],
)  # fmt: skip
def test_operations_show_the_name_that_they_take(function: Any, names: list[str]) -> None:
    assert inspect.getfullargspec(function).args == names
    assert list(inspect.signature(function).parameters) == names
    assert inspect.signature(function).parameters["name"].default is None


def test_arguments_of_the_first_version_show_their_defaults() -> None:
    shown = inspect.signature(tf.compat.v1.reduce_sum).parameters
    assert shown["input_tensor"].default is inspect.Parameter.empty
    assert (shown["axis"].default, shown["keep_dims"].default) == (None, None)


@pytest.mark.parametrize("make", [tf.Variable, tf.compat.v1.Variable])
def test_variables_are_no_tensors(make: Any) -> None:
    variable = make([1.0, 2.0])
    assert not isinstance(variable, tf.Tensor)
    assert not issubclass(tf.Variable, tf.Tensor)
    assert isinstance(variable.read_value(), tf.Tensor)
    assert tf.is_tensor(variable)
    assert tf.function(lambda x: tf.constant(isinstance(x, tf.Tensor)))(tf.constant(1.0))
    with tf.Graph().as_default():
        assert not isinstance(tf.compat.v1.get_variable("v", [2]), tf.Tensor)
        assert isinstance(tf.compat.v1.placeholder(tf.float32), tf.Tensor)


def test_stand_ins_can_forward_the_operators_of_tensors() -> None:
    class Forwarding:
        def __init__(self, value: Any) -> None:
            self.value = value

    def forwarding(name: str) -> Any:
        return lambda self, *x: getattr(tf.Tensor, name)(self.value, *x)

    for each in tf.Tensor.OVERLOADABLE_OPERATORS:
        setattr(Forwarding, each, forwarding(each))
    made: Any = Forwarding(tf.constant([1.0, 2.0]))
    assert (made + 1.0).numpy().tolist() == [2.0, 3.0]
    assert (2.0 / made).numpy().tolist() == [2.0, 1.0]
    assert (-made)[1].numpy() == -2.0
    assert tf.Tensor.__nonzero__(tf.constant(1.0)) is True


def test_what_is_no_tensor_is_its_own_static_value() -> None:
    for each in ([1, 2], 3, None, "a", tf.int32, tf.TensorShape([1])):
        assert tf.get_static_value(each) is each
    assert tf.get_static_value(tf.constant([1, 2])).tolist() == [1, 2]
    assert tf.get_static_value(tf.Variable(2.0)) is None
