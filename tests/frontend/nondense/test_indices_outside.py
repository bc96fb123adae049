"""Sparse tensors whose indices are outside of their shape: refused where TensorFlow refuses them.

What is expected was printed by TensorFlow 2.21.
"""

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf
from gravure.tf import errors

FAR = 1 << 40
OUTSIDE = {
    "behind": [[0, 5]],
    "below": [[7, 0]],
    "before": [[0, -2]],
    "above": [[-1, 0]],
    "far": [[0, FAR]],
    "far before": [[0, -FAR]],
    "second": [[0, 1], [1, 9]],
}
REFUSED = {
    "split": lambda s: tf.sparse.split(s, 3, axis=1)[1].values,
    "maximum": lambda s: tf.sparse.maximum(s, s).values,
    "minimum": lambda s: tf.sparse.minimum(s, s).values,
    "maximum of another": lambda s: tf.sparse.maximum(sparse([[0, 1]]), s).values,
    "to_dense": tf.sparse.to_dense,
    "sparse_dense_matmul": lambda s: tf.sparse.sparse_dense_matmul(s, tf.ones([3, 2])),
    "adjoint": lambda s: tf.sparse.sparse_dense_matmul(s, tf.ones([2, 2]), adjoint_a=True),
    "scatter_nd": lambda s: tf.scatter_nd(s.indices, s.values, s.dense_shape),
    "add": lambda s: tf.sparse.add(s, tf.ones([2, 3])),
    "multiply": lambda s: (s * tf.ones([2, 3])).values,
}
RENUMBERED = {
    "behind": [[2, 1]],
    "below": [[10, 1]],
    "before": [[-1, 0]],
    "above": [[-1, -1]],
    "far": [[FAR // 2, 0]],
    "far before": [[-FAR // 2, 0]],
    "second": [[0, 1], [6, 0]],
}


def sparse(indices: list[list[int]], shape: tuple[int, int] = (2, 3)) -> tf.SparseTensor:
    values = np.arange(1, len(indices) + 1, dtype=np.float32)
    return tf.SparseTensor(np.array(indices, np.int64), values, np.array(shape, np.int64))


def ways(f: Callable[[tf.SparseTensor], object]) -> list[Callable[[tf.SparseTensor], object]]:
    spec = tf.SparseTensorSpec([None, None], tf.float32)
    return [f, tf.function(f), tf.function(f, input_signature=[spec])]


@pytest.mark.parametrize("where", OUTSIDE)
@pytest.mark.parametrize("name", REFUSED)
def test_indices_outside_are_refused(name: str, where: str) -> None:
    for run in ways(REFUSED[name]):
        for _ in range(2):
            with pytest.raises(errors.InvalidArgumentError):
                run(sparse(OUTSIDE[where]))


@pytest.mark.parametrize("where", RENUMBERED)
def test_indices_outside_are_numbered_on_in_another_shape(where: str) -> None:
    for run in ways(lambda s: tf.sparse.reshape(s, [3, 2]).indices):
        assert run(sparse(OUTSIDE[where])).numpy().tolist() == RENUMBERED[where]


def test_elements_of_an_empty_shape_are_refused() -> None:
    for run in ways(lambda s: tf.sparse.reshape(s, [0, 2]).indices):
        with pytest.raises(errors.InvalidArgumentError, match="1 non zero elements but input"):
            run(sparse([[0, 1]], (2, 0)))
