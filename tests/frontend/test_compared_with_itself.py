"""A tensor is equal to itself without a look at its elements, and structures are flat at once."""

from __future__ import annotations

from collections import OrderedDict, namedtuple

import numpy as np
import pytest

import gravure.tf as tf

Pair = namedtuple("Pair", "first second")


def test_a_tensor_is_equal_to_itself_whatever_is_in_it() -> None:
    x = tf.constant([np.nan, 1.0])
    assert tf.debugging.assert_equal(x, x) is None
    assert tf.debugging.assert_equal(x, x, data=["told"]) is None
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold"):
        tf.debugging.assert_equal(x, tf.identity(x) + 0.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not hold"):
        tf.debugging.assert_less(x, x)
    with tf.Graph().as_default():
        assert isinstance(tf.compat.v1.assert_equal(x, x), tf.Operation)


@pytest.mark.parametrize("names", [(), ([1], (2,)), {"b": [], "a": ({"d": 4, "c": None},)}])
def test_structures_within_structures_are_flat_from_left_to_right(names: object) -> None:
    x, y = tf.constant(1.0), tf.constant([2])
    ordered = OrderedDict([("z", x), ("b", Pair(y, "text"))])
    flat = tf.nest.flatten([ordered, names, (x, [[y], "end"])])
    inner = {"()": [], "([1], (2,))": [1, 2]}.get(str(names), [None, 4])
    expected = [y, "text", x, *inner, x, y, "end"]
    assert len(flat) == len(expected)
    assert all(a is b or a == b for a, b in zip(flat, expected, strict=True))


def test_keys_that_have_no_order_are_refused() -> None:
    with pytest.raises(TypeError, match="<"):
        tf.nest.flatten({"a": 1, 2: 3})
