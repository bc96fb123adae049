"""Tables that change: their buckets, keys of several numbers, and what checkpoints have of them."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.errors import ParseError
from gravure.frontend.files.weights import read_safetensors, write_safetensors

v1 = tf.compat.v1
experimental = tf.lookup.experimental
I64 = tf.int64


def dense(default=-1, empty=0, deleted=-1, buckets=4, **options):
    return experimental.DenseHashTable(
        I64, I64, default, empty, deleted, initial_num_buckets=buckets, **options
    )


def long(values):
    return tf.constant(values, I64)


def test_there_are_twice_as_many_buckets_when_too_many_are_taken():
    table = dense()
    sizes = []
    for keys in ([11, 12, 13], [14], [15, 16, 17]):
        table.insert(long(keys), long(keys))
        sizes.append((int(table.size()), len(table.export()[0])))
    assert sizes == [(3, 4), (4, 8), (7, 16)]
    assert len(dense(buckets=None).export()[0]) == 1 << 17


def test_what_was_removed_leaves_its_value_behind():
    table = dense(empty=100, deleted=200, buckets=8)
    table.insert(long([11, 12, 13, 14]), long([1, 2, 3, 4]))
    table.remove(long([12, 15]))
    pairs = sorted(zip(*(each.numpy().tolist() for each in table.export()), strict=True))
    assert pairs == [(11, 1), (13, 3), (14, 4), (100, 0), (100, 0), (100, 0), (100, 0), (200, 2)]


def test_keys_and_values_of_several_numbers():
    table = dense([-1, -2], [0, 3], [-1, -1], 8)
    table.insert(long([[0, 1], [1, 2], [0, 1]]), long([[1, 2], [3, 4], [5, 6]]))
    table.remove(long([[1, 2], [7, 8]]))
    found = table.lookup(long([[0, 1], [1, 2]]))
    np.testing.assert_array_equal(found, [[5, 6], [-1, -2]])
    assert [each.shape.as_list() for each in table.export()] == [[8, 2], [8, 2]]
    traced = tf.function(table.lookup)(long([[0, 1]]))
    np.testing.assert_array_equal(traced, [[5, 6]])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"buckets": 12}, "Number of buckets must be"),
        ({"buckets": 2}, "Number of buckets must be"),
        ({"empty": 42, "deleted": [1, 2]}, "Empty and deleted keys must have same shape"),
        ({"empty": 42, "deleted": 42}, "Empty and deleted keys cannot be equal"),
        ({"empty": [1, 2], "deleted": [1, 2]}, "Empty and deleted keys cannot be equal"),
        ({"default": [[1]]}, "Default value must be a vector"),
    ],
)
def test_tables_that_cannot_be(options, said):
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        dense(**options)


def test_keys_that_cannot_be():
    table = dense()
    for keys, said in (([11, 0], "empty_key"), ([11, -1], "deleted_key")):
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            table.insert(long(keys), long([0, 1]))
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            table.lookup(long(keys))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"key shape \[2\] got \[2,2\]"):
        table.lookup(long([[11, 0], [12, 1]]))
    changing = experimental.MutableHashTable(tf.string, I64, long([-1, -1]))
    with pytest.raises(ValueError, match="int64"):
        changing.lookup(long([1]))
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[2\] or \[1,2\] for default"):
        changing.lookup(["a"], long([[1, 2], [3, 4]]))


def test_names_of_files_of_tables():
    index = tf.lookup.TextFileIndex
    rest = tf.string, index.WHOLE_LINE, I64, index.LINE_NUMBER
    with pytest.raises(ValueError, match="required"):
        tf.lookup.TextFileInitializer("", *rest)
    with pytest.raises(tf.errors.InvalidArgumentError, match="single string"):
        tf.lookup.TextFileInitializer(["a", "b"], *rest)


def both(buckets):
    """Return a table of buckets, and one of texts."""
    words = experimental.MutableHashTable(tf.string, I64, -1, name="words")
    return dense(buckets=buckets, name="numbers"), words


def fill(numbers, words, run):
    run(numbers.insert(long([11, 12, 13, 14]), long([0, 1, 2, 3])))
    run(numbers.remove(long([12])))
    run(words.insert(["a", "\u00e9", ""], long([1, 2, 3])))


def assert_filled(numbers, words, run):
    assert run(numbers.size()) == 3
    assert len(run(numbers.export()[0])) == 32
    np.testing.assert_array_equal(run(numbers.lookup(long([11, 12, 14, 20]))), [0, -1, 3, -1])
    np.testing.assert_array_equal(run(words.lookup(["\u00e9", "", "b"])), [2, 3, -1])


def test_checkpoints_have_tables(tmp_path):
    run = lambda x: x  # noqa: E731
    tables = both(32)
    fill(*tables, run)
    path = tf.train.Checkpoint(tables=list(tables)).save(str(tmp_path / "c"))
    again = both(64)
    again[0].insert(long([11, 20]), long([5, 6]))
    tf.train.Checkpoint(tables=list(again)).restore(path).assert_consumed()
    assert_filled(*again, run)


@pytest.mark.parametrize("named", [False, True])
def test_savers_have_tables_of_graphs(tmp_path, named):
    path = str(tmp_path / "c")
    for buckets in (32, 64):
        with tf.Graph().as_default(), v1.Session() as session:
            tables = both(buckets)
            given = {"n": tables[0], "w": tables[1]} if named else None
            saver = v1.train.Saver(given)
            if buckets == 32:
                fill(*tables, session.run)
                saver.save(session, path)
            else:
                session.run(tables[0].insert(long([11, 20]), long([5, 6])))
                saver.restore(session, path)
                assert_filled(*tables, session.run)


def test_tables_that_are_not_saved(tmp_path):
    with tf.Graph().as_default():
        experimental.MutableHashTable(tf.string, I64, -1, checkpoint=False)
        with pytest.raises(ValueError, match="No variables to save"):
            v1.train.Saver()


def test_texts_in_files_are_as_long_as_said(tmp_path):
    path = tmp_path / "t.safetensors"
    words = np.array([["a", ""], ["\u00e9", "bc"]], object)
    write_safetensors(path, {"w": words, "n": np.ones(2)})
    data = np.fromfile(path, np.uint8)
    found = read_safetensors(data, "t")
    assert found["w"].tolist() == [[b"a", b""], ["\u00e9".encode(), b"bc"]]
    short = path.read_bytes().replace(b'\\"w\\": [2, 2]', b'\\"w\\": [2, 3]')
    with pytest.raises(ParseError, match="no texts"):
        read_safetensors(np.frombuffer(short, np.uint8), "t")


def test_variables_of_text_are_saved(tmp_path):
    path = tf.train.Checkpoint(v=tf.Variable(["a", "bc"])).save(str(tmp_path / "c"))
    again = tf.Variable(["", ""])
    tf.train.Checkpoint(v=again).restore(path).assert_consumed()
    assert again.numpy().tolist() == [b"a", b"bc"]
