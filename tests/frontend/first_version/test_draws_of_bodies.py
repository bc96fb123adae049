"""Draws in bodies of loops: seeds are counted as TensorFlow counts them; the sums are 2.21's.

There, `parallel_iterations` was 1: with more, turns draw in any order.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from gravure import tf

v1: Any = tf.compat.v1
rnn: Any = v1.nn
cell: Any = v1.nn.rnn_cell
Dropping = cell.DropoutWrapper
X = np.linspace(-1, 1, 24).reshape(4, 3, 2).astype(np.float32)


@pytest.fixture(params=[False, True], ids=["functions", "one graph"])
def first(request: pytest.FixtureRequest) -> Iterator[bool]:
    """Say whether loops count their draws with the graph, as in TensorFlow's first version."""
    if request.param:
        v1.disable_v2_behavior()
    yield request.param
    if request.param:
        v1.enable_v2_behavior()


def lstm(units: int) -> Any:
    """Return a cell whose variables are all alike."""
    return cell.LSTMCell(units, initializer=v1.constant_initializer(0.3))


def drawn() -> Any:
    """Return a cell with weights by chance and with dropout."""
    gates = cell.GRUCell(2, kernel_initializer=v1.glorot_uniform_initializer())
    return Dropping(gates, 0.5)


def steps(one: Any) -> Any:
    """Return the outputs of a cell's steps in a loop, and its last state."""
    return rnn.dynamic_rnn(one, tf.constant(X), dtype=tf.float32)


def raw() -> Any:
    """Return what a loop gives whose inputs are drawn outside of the cell."""
    one = Dropping(lstm(2), output_keep_prob=0.5)

    def turn(time: Any, out: Any, state: Any, loop: Any) -> Any:
        following = tf.constant(X[:, 0]) + tf.random.uniform([4, 2])
        before = one.zero_state(4, tf.float32) if state is None else state
        return time >= 4, following, before, out, None

    made, state, _ = rnn.raw_rnn(one, turn)
    return made.stack(), state


def listed() -> Any:
    """Return what a loop writes into an array whose elements nobody has told of."""
    body = lambda i, a: (i + 1, a.write(i, tf.random.uniform([2])))  # noqa: E731
    return v1.while_loop(lambda i, _: i < 3, body, [0, tf.TensorArray(tf.float32, 3)])[1].stack()


CASES: dict[str, tuple[Callable[[], Any], list[float], list[float]]] = {
    "all parts": (lambda: steps(Dropping(lstm(2), 0.8, 0.7, 0.6)),
                  [0.79748, 0.94244, 0.11265, 0.87285], [0.79748, 0.94244, 0.11265, 0.9776]),
    "two cells": (lambda: steps(cell.MultiRNNCell([Dropping(lstm(2), output_keep_prob=0.5),
                                                   Dropping(lstm(3), 0.5)])),
                  [-0.21905, 1.16751, 0.79721, -0.22112, -0.06204, 0.87285],
                  [-0.21905, 1.16751, 0.79721, -0.22112, -0.06204, 0.41132]),
    "raw": (raw, [7.25665, 4.79869, 2.20821, 1.13606], [6.39909, 4.15357, 2.06484, 0.9776]),
    "array": (listed, [3.01116, 0.87285], [3.01116, 1.13606]),
    "variables": (lambda: steps(cell.MultiRNNCell([drawn(), drawn()])),
                  [-0.07745, 0.61805, -0.08272, 1.80314], [0.04522, 0.04103, 0.04295, 1.04845]),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_bodies_that_are_gone_through_twice_draw_once(name: str, first: bool) -> None:
    make, *wanted = CASES[name]
    with tf.Graph().as_default():
        v1.set_random_seed(5)
        made = [make(), tf.random.uniform([2])]
        with v1.Session() as session:
            session.run(v1.global_variables_initializer())
            sums = [float(np.sum(x)) for x in tf.nest.flatten(session.run(made))]
    assert sums == pytest.approx(wanted[first], abs=3e-5)
