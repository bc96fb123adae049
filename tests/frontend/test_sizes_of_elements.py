"""Sizes that depend on elements are found out by programs: Python carries nothing out for them."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.function.staged import Staged
from gravure.frontend.models.compiled import CompiledModel
from gravure.frontend.models.pieces import SteppedModel

X = np.arange(24, dtype=np.float32).reshape(6, 4) - 7


@pytest.fixture(autouse=True)
def is_compiled() -> Iterator[None]:
    """Let a function that is run operation by operation fail."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", gv.PerformanceWarning)
        yield


def compiled(function: Callable[..., Any], *arguments: Any) -> Staged:
    """Return the program of a function, of which Python carries out nothing."""
    for _ in range(4):
        made = function(*arguments)
    (trace,) = function.cache.values()  # type: ignore[attr-defined]
    (found,) = trace.compiled.values()
    assert isinstance(found, Staged)
    assert not found.slow
    np.testing.assert_allclose(made, function.python_function(*arguments), rtol=1e-6)  # type: ignore[attr-defined]
    return found


def test_what_is_computed_with_such_sizes_is_compiled():
    @tf.function
    def found(x, ids, n):
        kept = tf.boolean_mask(x, x[:, 0] > 0)
        total = tf.math.unsorted_segment_sum(x, ids, n)
        return tf.concat([kept * 2, total, x[n:], tf.zeros([n, 4]), tf.one_hot(ids[:n], 4)], 0)

    program = compiled(found, tf.constant(X), tf.constant([0, 2, 2, 1, -1, 0]), tf.constant(3))
    assert isinstance(program.model, SteppedModel)
    assert not program.calls


def test_a_size_is_read_once_and_equals_itself():
    @tf.function
    def found(x, ids):
        most = tf.math.unsorted_segment_max(x, ids, tf.reduce_max(ids) + 1)
        return tf.math.unsorted_segment_sum(x, ids, tf.reduce_max(ids) + 1) - most

    program = compiled(found, tf.constant(X), tf.constant([0, 2, 2, 1, 1, 0]))
    assert [str(step).split("(")[-1] for step in program.model.host_steps] == ["read_sizes)"]


def test_a_size_that_only_the_run_tells_is_that_of_another_tensor_as_long_as_it_was_so():
    @tf.function
    def added(x, ids):
        return x + tf.math.unsorted_segment_sum(x, ids, tf.reduce_max(ids) + 1)

    ids = np.array([0, 2, 5, 1, 1, 0], np.int32)
    for _ in range(4):
        added(tf.constant(X), tf.constant(ids))
    wanted = X.copy()
    np.add.at(wanted, ids, X)
    np.testing.assert_array_equal(added(tf.constant(X), tf.constant(ids)), wanted)
    one = tf.constant(np.zeros(6, np.int32))  # of one row, which is added to all
    for _ in range(4):
        np.testing.assert_array_equal(added(tf.constant(X), one), X + X.sum(0))


def test_a_loop_over_parts_of_sizes_that_change_is_one_piece():
    @tf.function
    def total(x):
        found = tf.zeros([4])
        for i in tf.range(6):
            found += tf.reduce_max(x[: i + 1], 0)
        return found

    program = compiled(total, tf.constant(X))
    assert type(program.model) is CompiledModel


def test_sizes_inside_of_a_loop_and_beside_it():
    @tf.function
    def parts(x, n):
        found = tf.zeros([4])
        for i in tf.range(n):
            found += tf.reduce_sum(x[:i], 0)
        return tf.concat([x[:n], x[-n:], [found]], 0)

    program = compiled(parts, tf.constant(X), tf.constant(3))
    assert isinstance(program.model, SteppedModel)
    assert not program.calls


def test_a_loop_whose_values_grow_is_one_piece_of_any_room():
    @tf.function
    def grown(n):
        found, mean = tf.TensorArray(tf.float32, 0, dynamic_size=True), 1.0
        for i in tf.range(n):
            found = found.write(i, mean)
            mean = tf.reduce_mean(found.stack()) + 1.0
        return found.stack()

    program = compiled(grown, tf.constant(5))
    (loop,) = program.model.growing.values()
    assert [*loop.made] == [64]
    np.testing.assert_allclose(grown(tf.constant(300))[:5], grown(tf.constant(5)))
    assert grown(tf.constant(300)).shape == (300,)
    assert [*loop.made] == [64, 256, 1024]
    assert program.model.pieces


def test_a_size_below_zero_is_refused_where_it_is_asked_for():
    @tf.function
    def made(n):
        return tf.zeros([n, 2])

    for _ in range(4):
        made(tf.constant(2))
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be >= 0"):
        made(tf.constant(-1))


def test_elements_of_an_array_without_one_shape_have_their_own_in_a_function() -> None:
    """The second one was refused: it has another length than the first."""

    @tf.function
    def pieces(x: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
        made = tf.TensorArray(tf.float32, size=3, infer_shape=False)
        for i in range(3):
            made = made.write(i, x[: i + 1])
        return made.concat(), made.read(1), made.size()

    joined, second, size = pieces(tf.range(5.0))
    assert joined.numpy().tolist() == [0.0, 0.0, 1.0, 0.0, 1.0, 2.0]
    assert (second.numpy().tolist(), int(size)) == ([0.0, 1.0], 3)


def test_elements_that_a_loop_does_not_write_are_zeros() -> None:
    """An array without one shape that was begun before a loop is one tensor in it."""

    @tf.function
    def half(x: tf.Tensor) -> tf.Tensor:
        made = tf.TensorArray(tf.float32, size=4, infer_shape=False).write(0, x[:2])
        for i in tf.range(1, 3):
            made = made.write(i, x[i : i + 2])
        return made.stack()

    found = half(tf.range(1.0, 6.0)).numpy().tolist()
    assert found == [[1.0, 2.0], [2.0, 3.0], [3.0, 4.0], [0.0, 0.0]]
