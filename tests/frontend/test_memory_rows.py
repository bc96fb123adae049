"""Row A10: buffers are freed at their last use; long loops need no more memory than short ones."""

import gc
import tracemalloc
from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
Step = Callable[[], object]
SIZE = 1 << 14
"""Bytes of a tensor: far more than what Python keeps for itself."""


def eager() -> Step:
    """Return a step of eager operations."""
    x = tf.constant(np.ones(SIZE // 4, np.float32))
    return lambda: tf.reduce_sum(tf.exp(x) * x + 1.0)


def function() -> Step:
    """Return a step of a compiled function that changes a variable."""
    v = tf.Variable(np.ones(SIZE // 4, np.float32))
    return tf.function(lambda: v.assign(v * 0.5 + 1.0))


def session() -> Step:
    """Return a step of a session."""
    graph = tf.Graph()
    with graph.as_default():
        x = v1.placeholder(tf.float32, [SIZE // 4])
        y = tf.nn.softmax(x * 2.0)
    runner, value = v1.Session(graph=graph), np.ones(SIZE // 4, np.float32)
    return lambda: runner.run(y, {x: value})


@pytest.mark.parametrize("made", [eager, function, session])
def test_a10_as_many_buffers_are_freed_as_were_made(made: Callable[[], Step]) -> None:
    step = made()
    for _ in range(20):
        step()
    gc.collect()
    tracemalloc.start()
    try:
        step()
        before, _ = tracemalloc.get_traced_memory()
        for _ in range(1000):
            step()
        gc.collect()
        after, most = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert after - before < SIZE, "not one of the thousand steps left a tensor"
    assert most < 64 * SIZE
