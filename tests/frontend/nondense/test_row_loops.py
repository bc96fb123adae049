"""Rows of indices are gone through in loops: they say what numpy says, and what graphs say."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.nondense import row_loops

SIZES = (20, 7, 9)
RNG = np.random.default_rng(0)
SPOTS = np.sort(RNG.choice(20 * 7 * 9, 300, replace=False))
SORTED = np.stack(np.unravel_index(SPOTS, SIZES), 1).astype(np.int64)
MIXED = SORTED[RNG.permutation(300)]
TABLES = {
    "in order": SORTED,
    "in no order": MIXED,
    "some twice": np.concatenate([MIXED, MIXED[:50]]),
    "with a negative one": MIXED - [[1, 0, 0]],
    "with large ones": MIXED * (1 << 40),
    "of one column": MIXED[:, :1].copy(),
    "none": np.zeros((0, 3), np.int64),
    "with gaps between them": np.repeat(SORTED, 2, 1)[:, ::2],
    "of rows without columns": np.zeros((5, 0), np.int64),
}


def sparse(table):
    values = np.arange(len(table), dtype=np.float32) + 1
    return tf.sparse.SparseTensor(table, values, SIZES)


def parts(made):
    if isinstance(made, list | tuple) and not hasattr(made, "indices"):
        return [x for each in made for x in parts(each)]
    sp = hasattr(made, "indices")
    return [
        np.asarray(x) for x in ((made.indices, made.values, made.dense_shape) if sp else [made])
    ]


@pytest.mark.parametrize("name", TABLES)
def test_the_order_is_that_of_numpy(name):
    table = TABLES[name]
    found = row_loops.order_of(table)
    wanted = np.lexsort(table.T[::-1]) if table.shape[1] else np.arange(len(table))
    if found is None:
        found = np.arange(len(table))
    np.testing.assert_array_equal(found, wanted)


@pytest.mark.parametrize("name", TABLES)
def test_a_box_holds_what_numpy_finds(name):
    table = TABLES[name]
    start = np.array([2, 0, 1][: table.shape[1]])
    extents = np.array([9, 5, 6][: table.shape[1]])
    made, place = row_loops.rows_inside(table, start, extents)
    inside = ((table >= start) & (table < start + extents)).all(axis=1)
    np.testing.assert_array_equal(made, table[inside] - start)
    np.testing.assert_array_equal(place, np.flatnonzero(inside))
    wanted = table.max(axis=0, initial=-1) + 1
    np.testing.assert_array_equal(row_loops.tight(table), np.maximum(wanted, 0))


OPERATIONS = {
    "reorder": tf.sparse.reorder,
    "slice": lambda x: tf.sparse.slice(x, [2, 0, 1], [30, 5, 6]),
    "split": lambda x: tf.sparse.split(x, 3, 1),
    "transpose": lambda x: tf.sparse.transpose(x, [2, 0, 1]),
    "reshape": lambda x: tf.sparse.reshape(x, [9, -1, 10]),
    "to one axis": lambda x: tf.sparse.reshape(x, [-1]),
    "reset_shape": tf.sparse.reset_shape,
    "fill_empty_rows": lambda x: tf.sparse.fill_empty_rows(x, 0.5),
    "concat": lambda x: tf.sparse.concat(0, [x, x]),
    "concat 1": lambda x: tf.sparse.concat(1, [x, x]),
    "expand_dims": lambda x: tf.sparse.expand_dims(x, 1),
    "retain": lambda x: tf.sparse.retain(x, x.values > 3),
}


@pytest.mark.parametrize("table", ["in order", "in no order", "some twice", "none"])
@pytest.mark.parametrize("name", OPERATIONS)
def test_functions_and_sessions_move_elements_as_they_are_moved_at_once(name, table):
    run, table = OPERATIONS[name], TABLES[table]
    wanted = parts(run(sparse(table)))
    staged = parts(tf.function(run)(sparse(table)))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        fetched = parts(session.run(run(sparse(table))))
    for made in (staged, fetched):
        assert len(made) == len(wanted)
        for one, other in zip(made, wanted, strict=True):
            np.testing.assert_array_equal(one, other, strict=True)


def test_rows_that_have_none_are_filled_in_the_order_of_rows():
    table = np.array([[4, 1, 1], [1, 2, 2], [4, 0, 0]])
    made, empty = tf.sparse.fill_empty_rows(sparse(table), -1.0)
    assert made.indices.numpy()[:5, 0].tolist() == [0, 1, 2, 3, 4]
    assert made.values.numpy()[:6].tolist() == [-1, 2, -1, -1, 1, 3]
    assert empty.numpy().tolist() == [i not in (1, 4) for i in range(20)]


@pytest.mark.parametrize("row", [-1, 20])
def test_an_index_that_is_in_no_row_is_refused_by_its_place(row):
    table = SORTED.copy()
    table[7, 0] = row
    with pytest.raises(tf.errors.InvalidArgumentError, match=rf"indices\(7, 0\) is invalid: {row}"):
        tf.sparse.fill_empty_rows(sparse(table), 0.0)


@pytest.mark.parametrize(
    "run",
    [tf.sparse.reorder, lambda x: tf.sparse.fill_empty_rows(x, 0.0)[0], tf.sparse.reset_shape],
)
def test_elements_that_stay_are_not_copied(run):
    given = sparse(SORTED)
    made = run(given)
    assert made.values is given.values
    assert made.indices is given.indices


def test_gradients_go_through_elements_that_stay():
    given = sparse(SORTED)
    with tf.GradientTape() as tape:
        tape.watch(given.values)
        made = tf.sparse.reorder(given)
        total = tf.reduce_sum(made.values * made.values)
    np.testing.assert_allclose(tape.gradient(total, given.values), 2 * given.values.numpy())


MORE = {
    "themselves": (SORTED, SORTED),
    "some of them": (SORTED[::3], SORTED[1::2]),
    "in no order": (MIXED[:200], MIXED[100:]),
    "some twice": (np.repeat(SORTED[:9], 2, 0), SORTED[:20]),
    "none": (SORTED[:0], SORTED),
}


@pytest.mark.parametrize("name", MORE)
@pytest.mark.parametrize("run", [tf.sparse.add, tf.sparse.minimum, tf.sparse.maximum])
def test_two_are_joined_at_once_as_in_functions(run, name):
    one, other = (sparse(x) for x in MORE[name])
    other = other.with_values(other.values - 5)
    for made, wanted in zip(
        parts(tf.function(run)(one, other)), parts(run(one, other)), strict=True
    ):
        np.testing.assert_array_equal(made, wanted, strict=True)


@pytest.mark.parametrize("axis", [0, [1], (-1, 0), [1, 2], None, []])
@pytest.mark.parametrize("keeps", [False, True])
def test_sums_along_axes_are_those_of_functions_and_have_their_places(axis, keeps):
    given = sparse(np.concatenate([MIXED, MIXED[:9]]))
    run = lambda x: tf.sparse.reduce_sum(x, axis, keeps)  # noqa: E731
    np.testing.assert_array_equal(run(given), tf.function(run)(given), strict=True)


@pytest.mark.parametrize("shape", [(), (30,), (4, 5), (3, 1, 4), (2, 0), (2, 3, 4, 5), (5, 1)])
def test_indices_of_what_is_not_zero_are_those_of_numpy(shape):
    x = RNG.integers(-1, 2, shape).astype(np.float32)
    if not shape:
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.sparse.from_dense(x)
        return
    made = tf.sparse.from_dense(x)
    np.testing.assert_array_equal(made.indices, np.argwhere(x), strict=True)
    np.testing.assert_array_equal(made.values, x[x != 0], strict=True)
    assert made.dense_shape.numpy().tolist() == [*shape]
