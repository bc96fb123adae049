"""Rows by segments: what is no order of segments, and where it is said; values are TensorFlow's."""

import functools

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.values.sums import sums_of

v1 = tf.compat.v1
ROWS = np.arange(16, dtype=np.float32).reshape(4, 4)
WRONG = {
    "Segment id -1 out of range [0, 1), possibly because 'segment_ids' input is not sorted.": [
        -1, -1, 0, 0,
    ],
    "segment ids are not increasing": [0, 1, 0, 1],
    "Segment id 1 out of range [0, 1), possibly because 'segment_ids' input is not sorted.": [
        0, 1, 2, 0,
    ],
    "segment ids must be >= 0": [0, 0, 0, -2],
}  # fmt: skip
SORTED = [getattr(tf.math, f"segment_{how}") for how in ("sum", "prod", "min", "max", "mean")]
SPARSE = [tf.sparse.segment_sum, tf.sparse.segment_mean, tf.sparse.segment_sqrt_n]


def of_rows(function, ids):
    """Return what a function gives for all rows, in order."""
    places = [] if function in SORTED else [[0, 1, 2, 3]]
    return function(tf.constant(ROWS), *places, tf.constant(ids))


@pytest.mark.parametrize("ids", WRONG.values(), ids=str)
@pytest.mark.parametrize("function", [*SORTED, *SPARSE], ids=lambda f: f.__name__)
def test_wrong_orders_of_segments_are_told_in_the_run(function, ids):
    (said,) = [text for text, each in WRONG.items() if each is ids]
    with pytest.raises(tf.errors.InvalidArgumentError) as now:
        of_rows(function, ids)
    with tf.Graph().as_default(), v1.Session() as session:
        made = of_rows(function, ids)
        with pytest.raises(tf.errors.InvalidArgumentError) as later:
            session.run(made)
    with pytest.raises(tf.errors.InvalidArgumentError) as staged:
        tf.function(lambda: of_rows(function, ids))()
    for each in (now, later, staged):
        assert said in str(each.value)


def test_segments_are_as_many_as_rows():
    with tf.Graph().as_default(), v1.Session() as session:
        made = tf.math.segment_sum(ROWS, [0, 1])
        with pytest.raises(tf.errors.InvalidArgumentError, match="should be the same size"):
            session.run(made)
        with pytest.raises(ValueError, match="rank 1 but is rank 2"):
            tf.math.segment_sum(ROWS, [[0, 1], [2, 2]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be at least rank 1"):
        tf.math.segment_mean(np.float32(1.0), np.zeros(0, np.int64))
    with pytest.raises((tf.errors.InvalidArgumentError, ValueError), match="at least rank 1"):
        tf.sparse.segment_sum(1.0, [0], [3])


@pytest.mark.parametrize(
    ("places", "ids", "said"),
    [
        ([3, -1, 0], [0, 1, 2], r"indices\[1\] == -1 out of range \[0, 4\)"),
        ([3, 0, 4], [0, 1, 2], r"indices\[2\] == 4 out of range \[0, 4\)"),
        ([2**62 - 1], [2**62 - 1], "Encountered overflow when multiplying"),
    ],
)
def test_rows_of_segments_are_inside_of_the_table(places, ids, said):
    for run in (lambda f: f(), lambda f: tf.function(f)()):
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            run(lambda: tf.sparse.segment_sum(tf.constant(ROWS), places, ids))


def test_products_of_complex_segments():
    rows = tf.constant([1 + 2j, 3 - 1j, 2j], tf.complex64)
    expected = [(1 + 2j) * (3 - 1j), 2j]
    for run in (lambda f: f(), lambda f: tf.function(f)(), tf.function):
        made = run(lambda: tf.math.segment_prod(rows, [0, 0, 1]))
        made = made() if callable(made) else made
        np.testing.assert_allclose(made, expected, rtol=1e-6)
        made = run(lambda: tf.math.unsorted_segment_prod(rows, [0, 0, 1], 2))
        np.testing.assert_allclose(made() if callable(made) else made, expected, rtol=1e-6)


def test_matrices_of_slopes_have_the_type_of_what_they_are_by():
    for dtype in (np.float16, np.float32, np.float64, np.complex64):
        x, part = np.ones(2, dtype), np.ones(1, dtype).real.dtype
        with tf.Graph().as_default(), v1.Session():
            y = tf.constant(x)
            found = v1.test.compute_gradient(y, [2], y * y, [2])
        for each in (*tf.test.compute_gradient(lambda x: x * x, [x]), *found):
            matrix = each[0] if isinstance(each, list) else each
            assert matrix.dtype == part


@pytest.mark.parametrize("lengths", [[3, 0, 7, 7, 1], [0, 0, 9], [5000], [1, 4000, 4000, 0], []])
def test_sums_of_neighbours_are_each_rounded_as_it_is_added_up(lengths):
    """Two are added up at a time."""
    ends = np.cumsum(lengths, dtype=np.int64)
    data = np.random.default_rng(0).random(sum(lengths), np.float32)
    parts = np.split(data, ends[:-1]) if lengths else []
    wanted = [np.add.accumulate(x)[-1] if len(x) else 0 for x in parts]
    assert sums_of(data, ends).tolist() == [float(x) for x in wanted]


@pytest.mark.parametrize("kind", [np.float32, np.float64])
@pytest.mark.parametrize("how", ["max", "min", "prod"])
def test_segments_of_many_numbers_are_combined_as_those_of_few(how, kind):
    """The largest of -inf is -inf, too: it was the lowest finite number."""
    random = np.random.default_rng(3)
    values = np.array([0.0, -0.0, 1, -2, 3, np.inf, -np.inf], kind)
    data = random.choice(values[: None if how != "prod" else 5], 9000)
    ids = np.sort(random.integers(0, 6000, 9000))
    function = getattr(tf.math, f"segment_{how}")
    step = {"max": max, "min": min, "prod": lambda a, b: a * b}[how]
    wanted = np.array(
        [
            functools.reduce(step, data[ids == n].tolist() or [how == "prod"])
            for n in range(ids[-1] + 1)
        ],
        kind,
    )
    for made in (function, tf.function(function)):
        np.testing.assert_array_equal(made(data, ids), wanted)
        few = [made(data[:n], ids[:n]).numpy() for n in (5, 900)]
        for n, found in zip((5, 900), few, strict=True):
            np.testing.assert_array_equal(found[: ids[n - 1]], wanted[: ids[n - 1]])


@pytest.mark.parametrize("kind", ["int8", "uint16", "int32", "int64", "float32"])
def test_means_of_whole_numbers_out_of_order_are_no_whole_numbers(kind):
    data = np.array([[1, 2], [4, 9], [8, 8], [2, 2]], kind)
    ids = np.array([2, 0, 2, -1], np.int32)
    wanted = [[4, 9], [0, 0], [4.5, 5], [0, 0]]
    row = {"int8": "float32", "uint16": "float32", "float32": "float32"}.get(kind, "float64")
    for made in (tf.math.unsorted_segment_mean, tf.function(tf.math.unsorted_segment_mean)):
        for _ in range(3):
            found = made(data, ids, 4)
            assert found.dtype.name == row
            np.testing.assert_array_equal(found, wanted)
