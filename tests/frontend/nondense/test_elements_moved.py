"""Sparse tensors whose elements are moved in a function: what comes behind them is compiled."""

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

Moves = Callable[[tf.SparseTensor, tf.Tensor], tf.SparseTensor]
MOVES: dict[str, Moves] = {
    "retain": lambda sp, x: tf.sparse.retain(sp, x > 0.5),
    "concat": lambda sp, x: tf.sparse.concat(0, [tf.sparse.retain(sp, x > 0.5)] * 2),
    "filled": lambda sp, x: tf.sparse.fill_empty_rows(tf.sparse.retain(sp, x > 0.5), 2.0)[0],
}


@pytest.mark.parametrize("moves", MOVES.values(), ids=MOVES)
def test_products_of_moved_elements_are_compiled(moves: Moves) -> None:
    weights = tf.Variable(np.arange(12, dtype="f4").reshape(4, 3))

    def loss_of(draws: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        with tf.GradientTape() as tape:
            kept = moves(tf.sparse.from_dense(tf.eye(4)), draws) * 2.0
            loss = tf.reduce_sum(tf.sparse.sparse_dense_matmul(kept, weights) ** 2)
        return loss, tape.gradient(loss, weights)

    step = tf.function(loss_of)
    for seed in range(6):  # (how many are left changes)
        draws = tf.constant(np.random.default_rng(seed).random(4).astype("f4"))
        for found, wanted in zip(step(draws), loss_of(draws), strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-6)
    assert not [line for line in step.explain() if "carried out by Python" in line]
