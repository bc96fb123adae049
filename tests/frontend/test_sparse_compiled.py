"""Functions of sparse tensors are compiled where their values have a form."""

import numpy as np
import pytest

import gravure.tf as tf


def test_graph_convolution_with_a_sparse_adjacency_is_compiled():
    # Kipf and Welling, 2017: two layers on a small graph with normalised edges.
    rng = np.random.default_rng(0)
    dense = (rng.random((8, 8)) < 0.4).astype("f") + np.eye(8, dtype="f")
    dense /= dense.sum(1, keepdims=True)
    adjacency = tf.sparse.from_dense(dense)
    x = tf.constant(rng.normal(size=(8, 5)).astype("f"))
    weights = [tf.Variable(rng.normal(size=s).astype("f")) for s in ((5, 4), (4, 3))]
    labels = tf.constant(rng.integers(0, 3, 8))

    @tf.function
    def step(edges, rate):
        with tf.GradientTape() as tape:
            h = tf.nn.relu(tf.sparse.sparse_dense_matmul(edges, x @ weights[0]))
            logits = tf.sparse.sparse_dense_matmul(edges, h @ weights[1])
            loss = tf.reduce_mean(
                tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
            )
        for w, g in zip(weights, tape.gradient(loss, weights), strict=True):
            w.assign_sub(rate * g)
        return loss

    losses = [float(step(adjacency, 0.5)) for _ in range(40)]
    assert losses[-1] < 0.6 * losses[0]
    assert not [line for line in step.explain() if "carried out" in line or "not compiled" in line]

    h = tf.nn.relu(dense @ (x @ weights[0]))
    logits = dense @ (h @ weights[1])
    expected = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits)
    assert float(step(adjacency, 0.0)) == pytest.approx(float(tf.reduce_mean(expected)), rel=1e-5)


def test_the_number_of_elements_may_change_without_another_trace():
    @tf.function
    def total(sp, y):
        return tf.sparse.sparse_dense_matmul(sp, y)

    for count in (1, 2, 3, 4, 5, 4, 3):
        sp = tf.sparse.eye(count, 6)
        sp = tf.sparse.reset_shape(sp, [6, 6])
        made = total(sp, tf.ones([6, 2]))
        assert made.numpy().sum() == 2 * count
    assert total.experimental_get_tracing_count() == 1
    assert not [line for line in total.explain() if "carried out" in line]


def test_what_is_made_by_the_sizes_of_a_sparse_argument_fits_its_products():
    """A vector of so many rows met a product of five: Python subtracted them, turn by turn."""
    edges = [[0, 2], [1, 0], [2, 1], [3, 2], [4, 3]]
    matrix = tf.sparse.SparseTensor(edges, tf.constant([1.0, 0.5, 2.0, 1.0, 0.25]), [5, 5])

    @tf.function
    def settled(matrix, damping, turns):
        count = matrix.dense_shape[0]
        rank = tf.fill([count, 1], 1.0 / tf.cast(count, tf.float32))
        for _ in tf.range(turns):
            before = rank
            share = (1.0 - damping) / tf.cast(matrix.dense_shape[0], tf.float32)
            rank = share + damping * tf.sparse.sparse_dense_matmul(matrix, rank)
            if tf.reduce_sum(tf.abs(rank - before)) < 1e-3:
                break
        return rank

    for _ in range(3):
        found = settled(matrix, tf.constant(0.5), tf.constant(20))
    wanted = [0.228515625, 0.157128900, 0.257226557, 0.228515625, 0.128564447]
    np.testing.assert_allclose(found[:, 0], wanted, rtol=1e-5)
    assert not [line for line in settled.explain() if "carried out" in line]
