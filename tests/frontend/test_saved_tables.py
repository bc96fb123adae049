"""Tables that change are saved with the functions that use them, each once, as they are then."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf
from gravure.errors import GravureError

TEXTS = tf.TensorSpec([None], tf.string)
KINDS = ("hash", "vectors", "buckets")


class Counts(tf.Module):
    """Counts of words, in a table of some kind."""

    def __init__(self, kind: str) -> None:
        super().__init__()
        one = {"hash": -1, "buckets": -1, "vectors": [-1, -2]}[kind]
        self.width = 2 if kind == "vectors" else 1
        if kind == "buckets":
            self.table = tf.lookup.experimental.DenseHashTable(
                tf.string, tf.int64, one, "", "gone", initial_num_buckets=4
            )
        else:
            self.table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, one)

    @tf.function(input_signature=[TEXTS, tf.TensorSpec([], tf.int64)])
    def put(self, words: tf.Tensor, value: tf.Tensor) -> tf.Tensor:
        shape = [tf.size(words), self.width] if self.width > 1 else [tf.size(words)]
        self.table.insert(words, tf.fill(shape, value))
        return self.table.size()

    @tf.function(input_signature=[TEXTS])
    def find(self, words: tf.Tensor) -> tf.Tensor:
        return self.table.lookup(words)

    @tf.function(input_signature=[TEXTS])
    def drop(self, words: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        self.table.remove(words)
        return self.table.export()


@pytest.mark.parametrize("kind", KINDS)
def test_tables_go_on_as_they_were_saved(tmp_path: Path, kind: str) -> None:
    counts = Counts(kind)
    words = [f"word {number}" for number in range(9)]
    counts.put(tf.constant(words), 7)
    tf.saved_model.save(counts, str(tmp_path))
    counts.put(tf.constant(["new"]), 1)  # (not in what was saved)
    loaded = tf.saved_model.load(str(tmp_path))
    found = loaded.find(tf.constant(["word 3", "new", "word 8"])).numpy()
    rest = [-1, -2] if kind == "vectors" else -1
    seven = [7, 7] if kind == "vectors" else 7
    np.testing.assert_array_equal(found, [seven, rest, seven])
    assert loaded.put(tf.constant(["a", "b", "word 0"]), tf.constant(5, tf.int64)) == 11
    five = [5, 5] if kind == "vectors" else 5
    found = loaded.find(tf.constant(["word 0", "b"])).numpy()
    np.testing.assert_array_equal(found, [five, five])
    names, values = loaded.drop(tf.constant(["word 1", "b", "no such word"]))
    there = {n: v for n, v in zip(names.numpy(), values.numpy().tolist(), strict=True)
             if n not in (b"", b"gone")}  # fmt: skip
    assert set(there) == {b"a", *(w.encode() for w in words if w != "word 1")}
    assert there[b"a"] == five
    assert there[b"word 8"] == seven
    np.testing.assert_array_equal(counts.find(tf.constant(["a", "new"])).numpy()[0], rest)


def test_another_process_has_the_table_and_two_loaded_modules_one_each(tmp_path: Path) -> None:
    counts = Counts("hash")
    counts.put(tf.constant(["x"]), 3)
    tf.saved_model.save(counts, str(tmp_path))
    code = f"""
import gravure.tf as tf
one, other = (tf.saved_model.load({str(tmp_path)!r}) for _ in range(2))
one.put(tf.constant(["y"]), tf.constant(4, tf.int64))
print(one.find(tf.constant(["x", "y"])).numpy().tolist())
print(other.find(tf.constant(["x", "y"])).numpy().tolist())
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[3, 4]", "[3, -1]"]


def test_a_loaded_module_is_saved_with_what_its_table_has_by_then(tmp_path: Path) -> None:
    counts = Counts("hash")
    tf.saved_model.save(counts, str(tmp_path / "first"))
    loaded = tf.saved_model.load(str(tmp_path / "first"))
    loaded.put(tf.constant(["later"]), tf.constant(8, tf.int64))
    tf.saved_model.save(loaded, str(tmp_path / "second"))
    again = tf.saved_model.load(str(tmp_path / "second"))
    assert again.find(tf.constant(["later"])).numpy().tolist() == [8]


def test_how_many_words_a_table_filled_for_good_has_is_saved(tmp_path: Path) -> None:
    class Words(tf.Module):
        def __init__(self) -> None:
            super().__init__()
            pairs = tf.lookup.KeyValueTensorInitializer(["a", "b"], [1, 2])
            self.table = tf.lookup.StaticHashTable(pairs, -1)

        @tf.function(input_signature=[])
        def told(self) -> tuple[tf.Tensor, tf.Tensor, tf.Tensor]:
            return (self.table.size(), *self.table.export())

    tf.saved_model.save(Words(), str(tmp_path))
    size, keys, values = tf.saved_model.load(str(tmp_path)).told()
    assert size.numpy() == 2
    assert dict(zip(keys.numpy(), values.numpy(), strict=True)) == {b"a": 1, b"b": 2}


def _changed(folder: Path, old: str, new: str) -> None:
    (file,) = folder.glob("*.json")
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [('"insert"', '"__class__"'), ('"table that changes"', '"no table"'),
     ('"r0"', "3"), ('"key_dtype"', '"odd"')],
)  # fmt: skip
def test_damaged_tables_are_refused(tmp_path: Path, old: str, new: str) -> None:
    counts = Counts("hash")
    counts.put(tf.constant(["x"]), 3)
    tf.saved_model.save(counts, str(tmp_path))
    _changed(tmp_path, old, new)
    with pytest.raises(GravureError):
        tf.saved_model.load(str(tmp_path)).put(tf.constant(["y"]), tf.constant(1, tf.int64))


def test_a_graph_as_text_holds_no_table_of_the_process() -> None:
    with tf.Graph().as_default() as graph:
        table = tf.lookup.experimental.MutableHashTable(tf.string, tf.int64, -1)
        table.lookup(tf.constant(["a"]))
        text = json.dumps(graph.as_graph_def().data)
    assert "it holds a MutableHashTable" in text
