"""What depends on the elements of operands is not fixed by those of the first calls."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.graph.tolls import Account
from gravure.passes.analysis.memory.gaps import Gaps

X = tf.constant([1.0, 2.0, 3.0, 4.0])


def test_a_slice_with_a_bound_that_is_a_tensor_has_the_bound_of_each_call():
    for n in (0, 1, 2, 3):
        assert X[: tf.constant(n)].shape == (n,)
        assert X[tf.constant(n) :].shape == (4 - n,)
        assert X[tf.constant(0) : tf.constant(4) : tf.constant(n + 1)].shape == (-(-4 // (n + 1)),)


@pytest.mark.parametrize("after", [0, 2])
@pytest.mark.parametrize(
    "function",
    [
        lambda v: tf.where(v > 0),
        lambda v: tf.reshape(tf.where(v > 0), [1, -1]),
        lambda v: tf.boolean_mask(X, v > 0),
        lambda v: tf.unique(v).y,
        lambda v: tf.dynamic_partition(X, v, 3)[1],
        tf.sequence_mask,
        lambda v: tf.repeat(X, v),
        tf.math.bincount,
    ],
)
def test_a_result_whose_size_depends_on_elements_is_right_in_compiled_functions(
    function, after, monkeypatch
):
    monkeypatch.setattr(Account, "is_due", lambda account, *_: account.calls >= after)
    staged = tf.function(function)
    for values in ([0, 1, 0, 2], [0, 1, 0, 2], [0, 1, 0, 2], [1, 1, 2, 1], [0, 0, 0, 0]):
        found = staged(tf.constant(values))
        wanted = function(tf.constant(values))
        assert np.array_equal(found, wanted), values


def test_functions_with_such_operations_are_compiled_when_they_were_seen():
    staged = tf.function(lambda v: tf.gather(X, tf.where(v > 0)[:, 0]) * 2.0)
    for _ in range(5):
        staged(tf.constant([0, 1, 0, 2]))
    (trace,) = staged.cache.values()
    assert not trace.graph.refusal
    assert any(hasattr(x, "model") for x in trace.compiled.values())


def test_arrays_of_elements_whose_shape_only_the_run_knows():
    @tf.function(input_signature=[tf.TensorSpec([None, None, 3], tf.float32)])
    def states(x):
        h = tf.zeros([tf.shape(x)[0], 3])
        made = tf.TensorArray(tf.float32, size=tf.shape(x)[1])
        for t in tf.range(tf.shape(x)[1]):
            h = h + x[:, t]
            made = made.write(t, h)
        return tf.transpose(made.stack(), [1, 0, 2])

    for batch in (2, 2, 2, 2, 5, 1):
        x = np.arange(batch * 12, dtype=np.float32).reshape(batch, 4, 3)
        assert np.allclose(states(tf.constant(x)), x.cumsum(1))


def test_sums_of_slices_of_two_types_of_indices_have_the_wider_one():
    table = tf.Variable(tf.ones([4, 2]))
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(tf.gather(table, tf.constant([0, 1], tf.int32)))
        loss += tf.reduce_sum(tf.gather(table, tf.constant([1, 3], tf.int64)))
    grad = tape.gradient(loss, table)
    assert grad.indices.dtype == tf.int64
    assert np.array_equal(tf.convert_to_tensor(grad), [[1, 1], [2, 2], [0, 0], [1, 1]])


def test_free_places_within_a_span():
    gaps = Gaps()
    gaps.take(10, 20)
    gaps.take(40, 50)
    assert gaps.within(0, 60) == [(0, 10), (20, 40), (50, 60)]
    assert gaps.within(12, 18) == []
    assert gaps.within(15, 30) == [(20, 30)]
