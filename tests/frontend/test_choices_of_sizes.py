"""Choices whose branches give values of other sizes: compiled, also in loops, with gradients.

The numbers are those that TensorFlow 2.21 gives for the same programs.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.function.staged import Staged
from gravure.passes.base import PassError
from gravure.passes.plan_memory import PlanMemory

X, ROWS = [1.0, -2.0, 3.0], [[1.0, 2.0], [-1.0, 3.0], [4.0, 5.0]]


@pytest.fixture(autouse=True)
def is_compiled() -> Iterator[None]:
    """Let a function that is run operation by operation fail."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", gv.PerformanceWarning)
        yield


def values(made: Any) -> Any:
    return [values(x) for x in made] if isinstance(made, list | tuple) else made.numpy().tolist()


def check(function: Callable[..., Any], *arguments: Any, wanted: Any) -> None:
    """Call a function until it is compiled; it gives what is wanted each time."""
    for _ in range(5):
        assert values(function(*arguments)) == wanted
    assert any(
        isinstance(each, Staged)
        for trace in function.cache.values()  # type: ignore[attr-defined]
        for each in trace.compiled.values()
    )


def test_an_array_grows_in_a_loop_that_continues():
    @tf.function
    def even(x):
        found = tf.TensorArray(tf.int32, size=0, dynamic_size=True)
        i = 0
        while i < tf.shape(x)[0]:
            i += 1
            if x[i - 1] % 2 == 1:
                continue
            found = found.write(found.size(), x[i - 1])
        return found.stack()

    check(even, tf.constant([1, 2, 3, 4, 6, 7, 8]), wanted=[2, 4, 6, 8])
    check(even, tf.constant([1, 3, 5]), wanted=[])


def test_rows_are_left_out_of_an_array():
    @tf.function
    def positive(x):
        found = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(tf.shape(x)[0]):
            if x[i, 0] < 0.0:
                continue
            found = found.write(found.size(), x[i] * 2.0)
        return found.stack()

    check(positive, tf.constant(ROWS), wanted=[[2.0, 4.0], [8.0, 10.0]])


def test_two_arrays_grow_by_turns():
    @tf.function
    def parted(x):
        above = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        below = tf.TensorArray(tf.int32, size=0, dynamic_size=True, element_shape=[])
        i = tf.constant(0)
        while tf.constant(True):
            if i >= tf.shape(x)[0]:
                break
            if x[i] < 0.0:
                below = below.write(below.size(), i)
            else:
                above = above.write(above.size(), x[i])
            i += 1
        return above.stack(), below.stack()

    check(parted, tf.constant([*X, -4.0]), wanted=[[1.0, 3.0], [1, 3]])


def test_branches_give_other_sizes():
    @tf.function
    def chosen(p, x):
        y = tf.cond(p, lambda: x[:2], lambda: tf.concat([x, x], 0))
        return tf.reduce_sum(y * y), y

    x = tf.constant(X)
    check(chosen, tf.constant(True), x, wanted=[5.0, [1.0, -2.0]])
    check(chosen, tf.constant(False), x, wanted=[28.0, [1.0, -2.0, 3.0, 1.0, -2.0, 3.0]])


def test_one_of_several_branches_of_other_sizes():
    @tf.function
    def chosen(k, x):
        return tf.switch_case(k, [lambda: x[:1], lambda: x[:2], lambda: x]) * 2.0

    for k, wanted in enumerate([[2.0], [2.0, -4.0], [2.0, -4.0, 6.0]]):
        check(chosen, tf.constant(k), tf.constant(X), wanted=wanted)


def test_a_value_grows_by_another_size_in_each_branch():
    @tf.function
    def grown(x):
        y = tf.zeros([0])
        for i in tf.range(3):
            tf.autograph.experimental.set_loop_options(
                shape_invariants=[(y, tf.TensorShape([None]))]
            )
            y = tf.concat([y, [x[i]]], 0) if x[i] > 0.0 else tf.concat([y, [x[i], 1.0]], 0)
        return y

    check(grown, tf.constant(X), wanted=[1.0, -2.0, 1.0, 3.0])


def test_gradients_go_back_through_branches_of_other_sizes():
    variable = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def slope(p, x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(p, lambda: x[:2] * variable[0], lambda: tf.concat([x, x * variable], 0))
            loss = tf.reduce_sum(y * y)
        return tape.gradient(loss, [x, variable])

    x = tf.constant(X)
    check(slope, tf.constant(True), x, wanted=[[2.0, -4.0, 0.0], [10.0, 0.0, 0.0]])
    check(slope, tf.constant(False), x, wanted=[[4.0, -20.0, 60.0], [2.0, 16.0, 54.0]])


def test_gradients_go_back_through_a_loop_that_continues():
    @tf.function
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = tf.TensorArray(tf.float32, size=0, dynamic_size=True, element_shape=[2])
            for i in tf.range(tf.shape(x)[0]):
                if x[i, 0] < 0.0:
                    continue
                found = found.write(found.size(), x[i] * x[i])
            loss = tf.reduce_sum(found.stack() ** 2)
        return tape.gradient(loss, x)

    check(slope, tf.constant(ROWS), wanted=[[4.0, 32.0], [0.0, 0.0], [256.0, 500.0]])


def test_a_tape_around_the_call_sees_zeros_of_the_branch_that_was_not_taken():
    variable = tf.Variable([1.0, 2.0, 3.0])

    @tf.function
    def chosen(p, x):
        y = tf.cond(p, lambda: x[:2], lambda: tf.concat([x, x * variable], 0))
        return tf.reduce_sum(y * y)

    def slope(p):
        with tf.GradientTape() as tape:
            x = tf.constant(X)
            tape.watch(x)
            loss = chosen(tf.constant(p), x)
        return tape.gradient(loss, [x, variable])

    for _ in range(5):  # operation by operation, then compiled
        assert values(slope(True)) == [[2.0, -4.0, 0.0], [0.0, 0.0, 0.0]]
        assert values(slope(False)) == [[4.0, -20.0, 60.0], [2.0, 16.0, 54.0]]


def failing(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return a function that is compiled at its third call, by a pass with a mistake."""

    def mistaken(self: object, program: object) -> None:
        raise KeyError("a mistake of ours")

    monkeypatch.setattr(PlanMemory, "apply", mistaken)
    monkeypatch.setenv("GRAVURE_CACHE", "off")
    return tf.function(lambda x: x * 2.0 + 41.5)


def slope(function: Any) -> Any:
    """Return the gradient of a function at a point."""
    with tf.GradientTape() as tape:
        x = tf.constant(X)
        tape.watch(x)
        y = function(x)
    return tape.gradient(y, x)


def test_a_pass_that_fails_is_an_error_of_ours(monkeypatch):
    twice = failing(monkeypatch)
    for _ in range(2):
        twice(tf.constant(X))
    with pytest.raises(PassError, match=r"pass plan-memory failed: KeyError"):
        twice(tf.constant(X))


def test_a_pass_that_fails_under_a_tape_is_an_error_of_ours(monkeypatch):
    twice = failing(monkeypatch)
    for _ in range(2):
        slope(twice)
    with pytest.raises(PassError, match=r"pass plan-memory failed: KeyError"):
        slope(twice)


def test_loops_over_slices_within_a_loop_that_appends() -> None:
    x, w = tf.constant(np.arange(24.0).reshape(12, 2), tf.float32), tf.Variable([[1.0], [2.0]])

    @tf.function
    def losses(epochs: tf.Tensor, batch: tf.Tensor) -> tf.Tensor:
        found = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[])
        for epoch in tf.range(epochs):
            total = 0.0
            for start in tf.range(0, tf.shape(x)[0], batch):
                with tf.GradientTape() as tape:
                    loss = tf.reduce_mean(x[start : start + batch] @ w)
                w.assign_sub(0.001 * tape.gradient(loss, w))
                total += loss
            found = found.write(epoch, total)
        return found.stack()

    made = []
    for eagerly in (True, False):
        w.assign([[1.0], [2.0]])
        tf.config.run_functions_eagerly(eagerly)
        try:
            made.append([losses(tf.constant(3), tf.constant(5)).numpy() for _ in range(12)])
        finally:
            tf.config.run_functions_eagerly(False)
    np.testing.assert_allclose(*made, rtol=1e-4)
