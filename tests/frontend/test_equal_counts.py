"""Sizes that results of one step have in common are one: what joins them needs no look at them."""

import warnings

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.function.staged import Staged
from gravure.ir.types.tensor import TensorSpec

A = np.array([[1, 2, 3], [4, 5, 6]])
MORE = [np.array([[1, 1, 3], [4, 4, 4]]), np.array([[7, 8, 9], [7, 8, 1]]), A]


def joined(sparse):
    where = tf.cast(sparse.indices, tf.float32)
    return tf.concat([where, tf.cast(sparse.values, tf.float32)[:, None]], 1)


def multiplied(sparse):
    return tf.cast(sparse.indices[:, 0], tf.float32) * tf.cast(sparse.values, tf.float32)


def example(*values):
    floats = tf.train.FloatList(value=values)
    features = tf.train.Features(feature={"a": tf.train.Feature(float_list=floats)})
    return tf.train.Example(features=features).SerializeToString()


MAKERS = {
    "intersection": lambda x: tf.sets.intersection(x, x[::-1]),
    "union": lambda x: tf.sets.union(x, x[::-1]),
    "counts": tf.sparse.bincount,
    "dense": tf.sparse.from_dense,
    "greedy": lambda x: tf.nn.ctc_greedy_decoder(
        tf.one_hot(tf.transpose(x) % 4, 4, 5.0), tf.fill([2], 3)
    )[0][0],
    "beams": lambda x: tf.nn.ctc_beam_search_decoder(
        tf.one_hot(tf.transpose(x) % 4, 4, 5.0), tf.fill([2], 3)
    )[0][0],
}


@pytest.mark.parametrize("join", [joined, multiplied])
@pytest.mark.parametrize("name", MAKERS)
def test_counts_of_one_step_are_one_size(name, join):
    function = tf.function(lambda x: join(MAKERS[name](x)))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for x in MORE * 3:
            found = function(tf.constant(x))
            assert np.array_equal(found, join(MAKERS[name](tf.constant(x))))
        trace = function.get_concrete_function(tf.TensorSpec([2, 3], tf.int64))
        made = Staged(trace.graph.whole_plan(), [TensorSpec(trace.inputs[0].spec.dtype, (2, 3))])
    open_ = {d for step in made.calls for spec in step.specs for d in spec.dims} - {*range(99)}
    assert len(open_) <= 1
    assert made.written.fault is None or name == "dense"


def test_elements_of_examples_are_as_many_as_their_places():
    serial = [example(*range(n)) for n in (1, 3, 2)]
    wanted = {"a": tf.io.VarLenFeature(tf.float32)}
    function = tf.function(lambda s: multiplied(tf.io.parse_example(s, wanted)["a"]))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for pair in ((0, 1), (1, 2), (2, 0)) * 20:
            given = tf.constant([serial[i] for i in pair])
            assert np.array_equal(
                function(given), multiplied(tf.io.parse_example(given, wanted)["a"])
            )
