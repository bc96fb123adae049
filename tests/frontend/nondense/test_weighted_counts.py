"""Weights of numbers are added up in order, whichever way the numbers are counted."""

from __future__ import annotations

import numpy as np
import pytest

import gravure.tf as tf


def dense(found: tf.SparseTensor) -> np.ndarray:
    return np.asarray(tf.sparse.to_dense(found).numpy())


@pytest.mark.parametrize("most", [None, 3, 200])
@pytest.mark.parametrize("high", [7, 5000])
@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_weights_are_added_in_order(dtype: str, high: int, most: int | None) -> None:
    random = np.random.default_rng(0)
    numbers = random.integers(0, high, (8, 15))
    weights = (random.random((8, 15)) * 100).astype(dtype)
    found = tf.sparse.bincount(numbers, weights=weights, maxlength=most)
    expected: dict[int, np.generic] = {}
    for number, weight in zip(numbers.ravel().tolist(), weights.ravel(), strict=True):
        expected[number] = expected.get(number, weight.dtype.type(0)) + weight
    kept = sorted(n for n in expected if most is None or n < most)
    assert found.indices.numpy().ravel().tolist() == kept
    assert found.values.numpy().tolist() == [expected[n] for n in kept]
    assert found.values.dtype == dtype
    rows = tf.sparse.bincount(numbers[:1], weights=weights[:1], axis=-1, minlength=high)
    whole = tf.sparse.bincount(numbers[0], weights=weights[0], minlength=high)
    assert dense(rows)[0].tolist() == dense(whole).tolist()


def test_numbers_far_above_the_limit_take_no_memory() -> None:
    numbers = tf.constant([1, 1 << 60, 1, 2])
    found = tf.sparse.bincount(numbers, maxlength=3)
    assert found.indices.numpy().tolist() == [[1], [2]]
    assert found.values.numpy().tolist() == [2, 1]
    weighted = tf.sparse.bincount(numbers, weights=[0.5, 9.0, 1.0, 2.0], maxlength=3)
    assert weighted.values.numpy().tolist() == [1.5, 2]
    assert tf.sparse.bincount(tf.constant([5, 9]), maxlength=2).values.numpy().tolist() == []


def test_no_number_is_counted() -> None:
    found = tf.sparse.bincount(tf.zeros([0], tf.int64), weights=tf.zeros([0]), minlength=2)
    assert found.dense_shape.numpy().tolist() == [2]
    assert found.values.numpy().tolist() == []
