"""Axes along which gradients of broadcast operands are summed, as TensorFlow names them."""

from typing import Any

import pytest

import gravure.tf as tf

CASES: list[tuple[list[int], list[int], list[list[int]]]] = [
    ([3, 1, 1], [5, 1], [[1, 2], [0, 2]]),
    ([3, 1], [3, 1], [[], []]),
    ([], [3], [[0], []]),
    ([1], [], [[0], [0]]),
    ([5, 3], [1, 5, 3], [[0], [0]]),
    ([0], [0, 1], [[0], [1]]),
]


def _axes(a: Any, b: Any) -> Any:
    return tf.raw_ops.BroadcastGradientArgs(s0=a, s1=b)


@pytest.mark.parametrize(("a", "b", "wanted"), CASES)
def test_axes_of_shapes(a: list[int], b: list[int], wanted: list[list[int]]) -> None:
    found = _axes(tf.constant(a, tf.int32), tf.constant(b, tf.int32))
    assert [found.r0.numpy().tolist(), found.r1.numpy().tolist()] == wanted


def test_axes_of_shapes_that_are_known_in_the_run() -> None:
    specs = [tf.TensorSpec([None, None]), tf.TensorSpec([None])]
    function: Any = tf.function(lambda x, y: _axes(tf.shape(x), tf.shape(y)), input_signature=specs)
    for _ in range(4):
        found = function(tf.ones([3, 1]), tf.ones([5]))
        assert [x.numpy().tolist() for x in found] == [[1], [0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="Incompatible shapes"):
        _axes([2, 3], [4, 3])
