"""A choice of a tensor gives a dataset, and a loop carries one."""

from __future__ import annotations

import pytest

import gravure.tf as tf

D = tf.data.Dataset
ZERO = tf.constant(0, tf.int64)


def total(dataset: tf.data.Dataset) -> tf.Tensor:
    """Return the sum of the elements."""
    return dataset.reduce(ZERO, lambda a, b: a + tf.reduce_sum(b))


def of_number(x: tf.Tensor) -> tf.data.Dataset:
    """Return a dataset that depends on a number."""
    if x == 0:
        return D.from_tensor_slices([0, 1, 2, 3])
    elif x == 1:  # noqa: RET505  (what is tried)
        return D.from_tensor_slices([4, 5, 6])
    return D.range(x).map(lambda y: tf.cast(y * x, tf.int32))


def test_functions_of_elements_choose_a_dataset() -> None:
    """Each element opens the one that it chooses, one of values of the graph as well."""
    made = D.range(3).flat_map(of_number)
    assert [*made.as_numpy_iterator()] == [0, 1, 2, 3, 4, 5, 6, 0, 2]
    assert made.element_spec == tf.TensorSpec([], tf.int32)


def test_a_choice_changes_a_dataset_or_leaves_it() -> None:
    """What is chosen in a function is another one in each run."""

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        made = D.range(3)
        if x > 1:
            made = made.map(lambda y: y + x)
        return total(made)

    assert [int(f(tf.constant(x, tf.int64))) for x in (5, 0)] == [18, 3]


def test_sizes_that_differ_are_open_behind_the_choice() -> None:
    """The specs of both are joined: neither one's sizes hold."""

    @tf.function
    def f(x: tf.Tensor) -> tf.Tensor:
        made = D.range(6).batch(3, drop_remainder=True)
        if x > 1:
            made = D.range(6).batch(2, drop_remainder=True)
        assert made.element_spec == tf.TensorSpec([None], tf.int64)
        return made.reduce(ZERO, lambda a, b: a + tf.size(b, tf.int64) * b[0])

    assert [int(f(tf.constant(x))) for x in (0, 2)] == [9, 12]


def test_a_loop_carries_a_dataset() -> None:
    """Each turn reads what the one before has made, with the values that it had."""

    @tf.function
    def f(n: tf.Tensor) -> tf.Tensor:
        made, i = D.range(3), ZERO
        while i < n:
            made = made.map(lambda y, i=i: y + i)
            i += 1
        return total(made)

    assert [int(f(tf.constant(n, tf.int64))) for n in (5, 0)] == [33, 3]


def test_elements_of_another_form_are_refused() -> None:
    """A choice gives elements of one structure, and a loop keeps what they are like."""

    @tf.function
    def choice(x: tf.Tensor) -> tf.Tensor:
        made = D.range(3)
        if x > 1:
            made = made.map(lambda y: (y, y))
        return total(made)

    @tf.function
    def loop(n: tf.Tensor) -> tf.Tensor:
        made, i = D.range(3), 0
        while i < n:
            made, i = made.batch(2), i + 1
        return total(made)

    for function in (choice, loop):
        with pytest.raises(TypeError, match="have the same nested structure"):
            function(tf.constant(2))
