"""What sessions fetch that is no tensor by itself: values of own classes, optionals of a graph."""

from typing import Any

import attr
import pytest

import gravure.tf as tf


@attr.s(eq=True)
class Example:
    label: Any = attr.ib()
    image: Any = attr.ib()


def test_values_of_attrs_classes_are_fetched() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        pairs = tf.data.Dataset.range(3).map(lambda x: Example(x, -x))
        following = tf.compat.v1.data.make_one_shot_iterator(pairs).get_next()
        assert session.run(following) == Example(0, 0)
        assert session.run({"next": [following]}) == {"next": [Example(1, -1)]}


def test_optionals_that_are_made_in_a_graph() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        there = tf.experimental.Optional.from_value({"a": tf.constant(37.0)})
        assert session.run([there.has_value(), there.get_value()]) == [True, {"a": 37.0}]
        empty = tf.experimental.Optional.empty(tf.TensorSpec([None, 2], tf.float32))
        assert session.run(empty.has_value()) is not True
        assert not session.run(empty.has_value())
        with pytest.raises(tf.errors.InvalidArgumentError, match="does not have a value"):
            session.run(empty.get_value())
    assert bool(tf.experimental.Optional.from_value(1).has_value())
