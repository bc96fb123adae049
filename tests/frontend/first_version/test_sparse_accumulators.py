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
        ([4], [[1, 1]], None, "index of slice 0 exceeded limits of shape; index is 4 exceeded 4"),
        ([-1], [[1, 1]], None, "index is -1"),
        ([1], [[1, 1, 1]], None, "expected values dim 1 to be 2, got 3"),
        ([1], [1], None, "expected values rank at least 2, got 1"),
        ([1, 2], [[1, 1]], None, "Expected 2 non-empty input values, got 1"),
        ([[1]], [[1, 1]], None, r"should be vector but received shape: \[1,1\]"),
        ([], 1, None, "Values cannot be 0-dimensional."),
        ([1], [[1, 1]], [5, 2], "expected shape dim 0 to be 4, got 5"),
        ([1], [[1, 1]], [4], "expected shape rank at least 2, got 1"),
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


def test_the_shape_states_the_first_axes_and_the_first_rows_state_the_others() -> None:
    assert taken([([0], [[[1.0, 2.0]]], 0)], shape=(3,), wanted=1) == [[0], [[[1, 2]]], [3, 1, 2]]
    assert taken([([0], [[[1.0, 2.0]]], 0)], shape=(), wanted=1) == [[0], [[[1, 2]]], [-1, 1, 2]]
    rows = [([0], [[1.0, 2.0]], 0), ([1], [[1.0, 2.0, 3.0]], 0)]
    with pytest.raises(tf.errors.InvalidArgumentError, match="values dim 1 to be 2, got 3"):
        taken(rows, shape=None)
    with pytest.raises(tf.errors.InvalidArgumentError, match="expected values rank 2, got 1"):
        taken([rows[0], ([1], [1.0], 0)], shape=None)


def test_what_is_late_is_dropped_before_it_is_looked_at() -> None:
    late = ([9], [[1.0, 2.0, 3.0]], -1)
    assert taken([late, ([0], [[1.0, 2.0]], 0)], wanted=1)[0] == [0]


def test_steps_indices_and_shapes_may_be_of_another_integer_type() -> None:
    with tf.Graph().as_default():
        kept = v1.SparseConditionalAccumulator(tf.float32, shape=[3, 1])
        where, whole = tf.constant([2], tf.int32), tf.constant([3, 1], tf.int32)
        given = kept.apply_grad(where, np.float32([[5]]), whole, tf.constant(0, tf.int32))
        step = kept.set_global_step(tf.constant(1, tf.int32))
        with v1.Session() as session:
            session.run(given)
            session.run(step)
            found = session.run(kept.take_grad(1))
    assert [x.tolist() for x in found] == [[2], [[5]], [3, 1]]


def test_the_node_states_type_shape_and_how_they_are_combined() -> None:
    with tf.Graph().as_default():
        op = v1.SparseConditionalAccumulator(tf.float32, [None, 3], "kept").accumulator_ref.op
        whole = v1.ConditionalAccumulator(tf.float16).accumulator_ref.op
    assert op.get_attr("dtype") == tf.float32
    assert [x.size for x in op.node_def.attr["shape"].shape.dim] == [-1, 3]
    assert op.node_def.attr["reduction_type"].s == b"MEAN"
    assert op.node_def.attr["shared_name"].s == op.get_attr("shared_name") == b"kept"
    assert whole.node_def.attr["dtype"].type == 19
    assert whole.node_def.attr["shape"].shape.unknown_rank


def test_threads_of_a_test_get_the_values_of_slices() -> None:
    class Case(tf.test.TestCase):
        def runTest(self) -> None:  # noqa: N802  (unittest's name)
            with tf.Graph().as_default(), self.cached_session():
                slices, found = tf.IndexedSlices(tf.ones([1, 2]), tf.constant([3])), []
                thread = self.checkedThread(lambda: found.append(self.evaluate(slices)))
                thread.start()
                thread.join()
                assert found[0].values.tolist() == [[1, 1]]
                assert isinstance(found[0].indices, np.ndarray)

    Case().runTest()


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
