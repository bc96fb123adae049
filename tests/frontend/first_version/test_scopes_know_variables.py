"""Scopes of variables give those that are in them."""

from typing import Any

import gravure.tf as tf

v1: Any = tf.compat.v1


def test_a_scope_gives_its_variables() -> None:
    with tf.Graph().as_default():
        v1.get_variable("outside", [1])
        with v1.variable_scope("a") as scope:
            first = v1.get_variable("first", [1])
            second = v1.get_variable("second", [1], trainable=False)
            third = v1.get_local_variable("third", [1])
        with v1.variable_scope("ab"):
            v1.get_variable("other", [1])
        names = [[v.name for v in each] for each in (
            scope.global_variables(), scope.trainable_variables(), scope.local_variables(),
        )]  # fmt: skip
        assert names == [[first.name, second.name], [first.name], [third.name]]
        assert len(v1.get_variable_scope().global_variables()) == 4
