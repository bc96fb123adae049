"""Batches of ragged and sparse tensors are cut for replicas as dense ones are."""

import numpy as np
import pytest

import gravure.tf as tf

ROWS = [[1], [2, 3], [], [4, 5, 6], [7], [8, 9]]


def elements(kind):
    rows = tf.ragged.constant(ROWS, tf.int32)
    return {"ragged": rows, "sparse": rows.to_sparse(), "deep": tf.stack([rows, rows], 1)}[kind]


def lists(value):
    """Return what one replica has, as lists."""
    if isinstance(value, tf.SparseTensor):
        value = tf.RaggedTensor.from_sparse(value)
    return value.to_list()


@pytest.mark.parametrize("form", [lambda x: x, lambda x: {"x": x, "n": tf.range(6)}])
@pytest.mark.parametrize("kind", ["ragged", "sparse", "deep"])
def test_each_replica_has_its_rows(kind, form):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    dataset = tf.data.Dataset.from_tensor_slices(form(elements(kind))).batch(2)
    found = []
    for batch in strategy.experimental_distribute_dataset(dataset):
        made = strategy.run(tf.function(lambda x: x), args=(batch,))
        made = made["x"] if isinstance(made, dict) else made
        found += [row for each in strategy.experimental_local_results(made) for row in lists(each)]
    wanted = [[r, r] for r in ROWS] if kind == "deep" else ROWS
    assert found == wanted


@pytest.mark.parametrize("kind", ["ragged", "sparse"])
def test_a_replica_without_rows_gets_none(kind):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    dataset = tf.data.Dataset.from_tensor_slices(elements(kind)).batch(5)
    parts = [
        [len(lists(x)) for x in strategy.experimental_local_results(batch)]
        for batch in strategy.experimental_distribute_dataset(dataset)
    ]
    assert parts == [[3, 2], [1, 0]]


@pytest.mark.parametrize("kind", ["ragged", "sparse"])
def test_a_function_loops_over_such_batches(kind):
    strategy = tf.distribute.MirroredStrategy(["CPU:0", "CPU:1"])
    dataset = tf.data.Dataset.from_tensor_slices(elements(kind)).batch(2)

    def total(x):
        return tf.reduce_sum(x.values)

    @tf.function
    def every(batches):
        found = tf.constant(0)
        for batch in batches:
            parts = strategy.run(total, args=(batch,))
            found += strategy.reduce(tf.distribute.ReduceOp.SUM, parts, axis=None)
        return found

    distributed = strategy.experimental_distribute_dataset(dataset)
    assert every(distributed).numpy() == np.sum([x for row in ROWS for x in row])
    spec = distributed.element_spec
    assert [x.shape.as_list()[0] for x in spec.values] == [None, None]
