"""Accumulators of rows: what TensorFlow 2.21 gives, in the order of the indices."""

import threading
from typing import Any

import numpy as np
import pytest

from gravure import tf

v1 = tf.compat.v1


def taken(grads: Any, way: str = "MEAN", shape: Any = (4, 2), wanted: int = 2) -> list[Any]:
    """Return indices, rows and shape that are taken of (indices, rows, step) that are given."""
    with tf.Graph().as_default():
        kept = v1.SparseConditionalAccumulator(tf.float32, shape=shape, reduction_type=way)
        given = [
            kept.apply_grad(np.int64(i), np.float32(rows), local_step=step)
            for i, rows, step in grads
        ]
        made = kept.take_grad(wanted)
        with v1.Session() as session:
            for each in given:
                session.run(each)
            assert session.run(kept.num_accumulated()) == wanted
            found = session.run(made)
            assert session.run(kept.num_accumulated()) == 0
    return [x.tolist() for x in found]


ROWS = [([3, 1], [[1, 1], [2, 2]], 0), ([3], [[4, 6]], 0)]


@pytest.mark.parametrize(
    ("grads", "way", "shape", "expected"),
    [
        (ROWS, "MEAN", (4, 2), [[1, 3], [[2, 2], [2.5, 3.5]], [4, 2]]),
        (ROWS, "SUM", (4, 2), [[1, 3], [[2, 2], [5, 7]], [4, 2]]),
        (ROWS, "MEAN", None, [[1, 3], [[2, 2], [2.5, 3.5]], [-1, 2]]),
        (ROWS, "MEAN", (None, 2), [[1, 3], [[2, 2], [2.5, 3.5]], [-1, 2]]),
        # rows of one index in one gradient are added up
        ([([1, 1], [[0, 1], [2, 3]], 0)] * 2, "MEAN", (4, 2), [[1], [[2, 4]], [4, 2]]),
        # what is late is dropped
        ([ROWS[0], ([2], [[9, 9]], -1), ROWS[1]], "SUM", (4, 2), None),
    ],
)
def test_each_index_has_the_mean_of_the_gradients_that_had_it(
    grads: Any, way: str, shape: Any, expected: Any
) -> None:
    expected = [[1, 3], [[2, 2], [5, 7]], [4, 2]] if expected is None else expected
    assert taken(grads, way, shape) == expected


def test_slices_are_given_and_taken() -> None:
    with tf.Graph().as_default():
        kept = v1.SparseConditionalAccumulator(tf.float32, shape=[4, 2])
        assert isinstance(kept, v1.ConditionalAccumulatorBase)
        slices = tf.IndexedSlices(tf.ones([2, 2]), tf.constant([1, 3]), tf.constant([4, 2]))
        given = kept.apply_indexed_slices_grad(slices, local_step=1)
        made = kept.take_indexed_slices_grad(1)
        assert made.values.shape.as_list() == [None, 2]
        dense = tf.convert_to_tensor(made)
        newer = kept.set_global_step(2)
        with v1.Session() as session:
            found: list[Any] = []
            waits = threading.Thread(target=lambda: found.append(session.run(dense)))
            waits.start()  # until there is a gradient
            session.run(given)
            waits.join(30)
            np.testing.assert_array_equal(found[0], [[0, 0], [1, 1], [0, 0], [1, 1]])
            session.run([newer])
            session.run(given)
            assert session.run(kept.num_accumulated()) == 0


@pytest.mark.parametrize(
    ("indices", "rows", "shape", "match"),
    [
        ([4], [[1, 1]], None, "index 4, expected 0 or more and less than 4"),
        ([-1], [[1, 1]], None, "index -1"),
        ([1], [[1, 1, 1]], None, r"shape \[4, 3\], expected \[4, 2\]"),
        ([1, 2], [[1, 1]], None, "expected a row for each index"),
        ([1], [[1, 1]], [5, 2], r"shape \[5, 2\], expected \[4, 2\]"),
    ],
)
def test_rows_that_do_not_fit_are_refused(indices: Any, rows: Any, shape: Any, match: str) -> None:
    with tf.Graph().as_default():
        kept = v1.SparseConditionalAccumulator(tf.float32, shape=[4, 2])
        given = kept.apply_grad(np.int64(indices), np.float32(rows), shape)
        with (
            v1.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match=match),
        ):
            session.run(given)


def test_graphs_with_them_are_written_and_read() -> None:
    with tf.Graph().as_default() as graph:
        kept = v1.SparseConditionalAccumulator(tf.float32, shape=[4, 2])
        kept.apply_grad(np.int64([1]), np.float32([[1, 2]]), name="given")
        kept.take_grad(1, name="made")
        text = graph.as_graph_def()
    with tf.Graph().as_default() as other:
        tf.import_graph_def(text, name="")
        with v1.Session() as session:
            session.run(other.get_operation_by_name("given"))
            options = v1.RunOptions(timeout_in_ms=5000)
            assert session.run("made:1", options=options).tolist() == [[1, 2]]
