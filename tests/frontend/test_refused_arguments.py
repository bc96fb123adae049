"""Arguments that TensorFlow refuses are refused by the same classes; what it takes is taken."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

REFUSED: dict[str, tuple[type[Exception], Callable[[], object]]] = {
    "time": (ValueError, lambda: tf.constant(np.datetime64("2020"))),
    "times": (ValueError, lambda: tf.convert_to_tensor(np.array([1], "m8[s]"))),
    "signature": (
        TypeError,
        lambda: tf.function(input_signature=tf.TensorSpec([2]))(lambda a: a),  # type: ignore[arg-type]
    ),
    "branch": (TypeError, lambda: tf.switch_case(tf.constant(1.5), [lambda: 1])),
    "control": (TypeError, lambda: tf.control_dependencies(3)),
}


@pytest.mark.parametrize("name", REFUSED)
def test_arguments_are_refused_by_the_same_class(name: str) -> None:
    """They were taken."""
    error, call = REFUSED[name]
    with pytest.raises(error):
        call()


def test_functions_that_are_waited_for_are_called_eagerly() -> None:
    """They were left out."""
    seen: list[int] = []
    with tf.control_dependencies([lambda: seen.append(1), None]):
        seen.append(2)
    assert seen == [1, 2]


def test_no_tensors_are_ready_at_once() -> None:
    """Only in a graph there must be one."""
    assert tf.tuple([]) == []


SCALAR = tf.TensorShape([])
INVARIANTS = {
    "of other sizes": ([SCALAR, tf.TensorShape([5])], ValueError, "is not compatible with"),
    "no shapes": (["i", "x"], TypeError, "is no shape invariant"),
    "of another kind": ([SCALAR, tf.SparseTensorSpec([None])], TypeError, "is none of a tensor"),
    "of another type": ([SCALAR, tf.TensorSpec([2], tf.int32)], TypeError, "is of another type"),
    "too few": ([SCALAR], ValueError, "1 shape invariants of 2 values"),
}


@pytest.mark.parametrize("name", INVARIANTS)
def test_shape_invariants_fit_what_a_loop_begins_with(name):
    stated, kind, message = INVARIANTS[name]

    @tf.function
    def run():
        start = [tf.constant(0), tf.constant([2.0, 4.0])]
        return tf.while_loop(lambda i, _: i < 3, lambda i, x: [i + 1, x + 1], start, stated)

    with pytest.raises(kind, match=message):
        run()


def test_shape_invariants_are_dictionaries_where_the_values_of_a_loop_are():
    shapes = {"a": tf.TensorShape([None]), "i": tf.TensorShape([])}

    @tf.function
    def doubled(stated):
        def body(d):
            return [{"i": d["i"] + 1, "a": tf.concat([d["a"]] * 2, 0)}]

        start = [{"i": 0, "a": tf.ones([1])}]
        return tf.while_loop(lambda d: d["i"] < 2, body, start, shape_invariants=[stated])

    assert doubled(shapes)[0]["a"].shape == [4]
    with pytest.raises(TypeError, match="is no shape invariant"):
        doubled({"a": tf.TensorShape([None])})
