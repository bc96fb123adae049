"""Indices of elements are looked through in a loop, which says what numpy finds."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.nondense import numbering

SIZES = [300, 7, 40]
COUNT = 20_000


def rows(count=COUNT):
    spots = np.random.default_rng(0).choice(300 * 7 * 40, count, replace=False)
    return np.stack(np.unravel_index(np.sort(spots), SIZES), 1).astype(np.int64)


def changed(at, column, value):
    made = rows()
    made[at, column] = value
    return made


def swapped():
    made = rows()
    made[[7000, 7001]] = made[[7001, 7000]]
    return made


TABLES = {
    "rising": rows(),
    "one is negative": changed(5, 1, -1),
    "one is outside": changed(COUNT - 1, 2, 40),
    "the first is outside": changed(0, 0, 300),
    "the least there is": changed(0, 0, -(2**63)),
    "one is repeated": np.repeat(rows(), 2, 0),
    "two are exchanged": swapped(),
    "with gaps between them": np.repeat(rows(), 2, 1)[:, ::2],
    "of 32 bits": rows().astype(np.int32),
}


@pytest.mark.parametrize("name", TABLES)
def test_a_loop_finds_what_numpy_finds(name, monkeypatch):
    table = TABLES[name]
    some = [SIZES[2], SIZES[0]], [2, 0]
    found = numbering.numbers_rising(table, SIZES)
    of_columns = numbering.numbers_inside(table, *some)
    monkeypatch.setattr(numbering, "_is_counted_in_a_loop", lambda *_: False)
    wanted = numbering.numbers_rising(table, SIZES)
    np.testing.assert_equal(of_columns, numbering.numbers_inside(table, *some))
    assert (found is None) == (wanted is None)
    if wanted is not None:
        np.testing.assert_array_equal(found, wanted, strict=True)
        np.testing.assert_array_equal(found, np.ravel_multi_index((*table.T,), SIZES))


def test_few_rows_are_not_gone_through_column_by_column(monkeypatch):
    monkeypatch.setattr(numbering, "largest", None)
    few = np.array([[1, 0], [0, 1]])
    assert numbering.numbers_inside(few, [2, 2]).tolist() == [2, 1]
    assert numbering.numbers_inside(few, [1], [1]) is None
    assert numbering.numbers_rising(few, [2, 2]) is None
    sparse = tf.sparse.SparseTensor(few, [3.0, 4.0], [2, 2])
    assert tf.sparse.reduce_max(sparse, 0).numpy().tolist() == [3.0, 4.0]


def test_sizes_whose_numbers_do_not_fit_are_told():
    table = np.zeros((COUNT, 2), np.int64)
    assert numbering.numbers_rising(table, [1 << 40, 1 << 40]) is None


@pytest.mark.parametrize("staged", [False, True], ids=["at once", "in a function"])
def test_many_elements_are_made_whole_and_wrong_ones_are_told(staged):
    to_dense = tf.function(tf.sparse.to_dense) if staged else tf.sparse.to_dense
    values = np.arange(1.0, COUNT + 1, dtype=np.float32)
    wanted = np.zeros(SIZES, np.float32)
    wanted[(*rows().T,)] = values
    for _ in range(4):
        made = to_dense(tf.sparse.SparseTensor(rows(), values, SIZES))
        np.testing.assert_array_equal(made.numpy(), wanted)
    for name, told in (("one is negative", r"indices\[5\] = "), ("one is outside", "out of bounds"),
                       ("two are exchanged", r"indices\[7001\] = .* is out of order")):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError, match=told):
            to_dense(tf.sparse.SparseTensor(TABLES[name], values, SIZES))
