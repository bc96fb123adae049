"""Tables that change are looked up by an index between changes: the values are those of a dict."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.lookup import tables

COUNT = 100
KEYS: dict[str, list[Any]] = {
    "int64": [*range(-30, COUNT - 30)],
    "string": [b"word %d" % i for i in range(COUNT)],
}
VALUES: dict[str, Any] = {"float32": 0.5, "int64": -3, "string": b"?", "bool": True}


def value(dtype: str, number: int) -> Any:
    if dtype == "string":
        return b"value %d" % number
    return bool(number % 2) if dtype == "bool" else number


def tables_of(key: str, dtype: str) -> list[Any]:
    rest = VALUES[dtype]
    marks: Any = (1 << 40, 1 << 41) if key == "int64" else (b"empty", b"deleted")
    return [
        tf.lookup.experimental.MutableHashTable(key, dtype, rest),
        tf.lookup.experimental.DenseHashTable(key, dtype, rest, *marks),
    ]


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("dtype", VALUES)
@pytest.mark.parametrize("key", KEYS)
def test_values_are_those_of_a_dictionary_behind_each_change(
    key: str, dtype: str, which: int
) -> None:
    table, known = tables_of(key, dtype)[which], dict[Any, Any]()
    keys, random = KEYS[key], np.random.default_rng(0)
    for step in range(6):
        some = [keys[i] for i in random.permutation(COUNT)[: 20 * step]]
        if some and step % 3 == 2:
            table.remove(tf.constant(some, key))
            known = {k: v for k, v in known.items() if k not in some}
        elif some:
            new = [value(dtype, step + i) for i in range(len(some))]
            table.insert(tf.constant(some, key), tf.constant(new, dtype))
            known.update(zip(some, new, strict=True))
        expected = [known.get(k, VALUES[dtype]) for k in keys]
        for _ in range(3):
            found = table.lookup(tf.reshape(tf.constant(keys, key), [-1, 1] if which else [4, -1]))
            assert found.shape == ([COUNT, 1] if which else [4, COUNT // 4])
            assert found.dtype == dtype
            assert found.numpy().ravel().tolist() == expected
        pairs = [x.numpy().tolist() for x in table.export()]
        assert pairs == [x.numpy().tolist() for x in table.export()]
        assert known.items() <= dict(zip(*pairs, strict=True)).items()


def test_an_index_is_made_once_between_changes(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    class Counted(tables.KeyIndex):
        def __init__(self, *given: Any) -> None:
            made.append(given)
            super().__init__(*given)

    monkeypatch.setattr(tables, "KeyIndex", Counted)
    table, keys = tables_of("int64", "float32")[0], tf.constant(KEYS["int64"], "int64")
    for _ in range(4):
        table.insert(keys, tf.ones([COUNT]))
        table.lookup(keys)
    assert not made, "each lookup is of another table"
    for _ in range(4):
        table.lookup(keys)
    assert len(made) == 1


def test_what_is_exported_belongs_to_who_asked() -> None:
    table, keys = tables_of("int64", "float32")[0], tf.constant(KEYS["int64"], "int64")
    table.insert(keys, tf.ones([COUNT]))
    first, second = table.export()[1], table.export()[1]
    assert not np.shares_memory(first._array, second._array)
    variable = tf.Variable(first)
    variable.assign_add(tf.ones([COUNT]))
    assert table.export()[1].numpy().tolist() == [1.0] * COUNT


def test_a_default_of_each_key_is_that_of_each_key() -> None:
    table, keys = tables_of("int64", "float32")[0], tf.constant(KEYS["int64"], "int64")
    table.insert(keys[:50], tf.ones([50]))
    own = tf.range(float(COUNT))
    for _ in range(3):
        found = table.lookup(keys, dynamic_default_values=own)
        assert found.numpy().tolist() == [*[1.0] * 50, *range(50, COUNT)]
        assert table.lookup(keys, 7.0).numpy()[-1] == 7


def test_a_refused_key_leaves_what_was_removed_before_it() -> None:
    table, keys = tables_of("int64", "float32")[1], tf.constant(KEYS["int64"], "int64")
    table.insert(keys, tf.ones([COUNT]))
    for _ in range(3):
        table.lookup(keys)
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty_key"):
        table.remove(tf.constant([KEYS["int64"][0], 1 << 40]))
    assert table.lookup(keys).numpy().tolist() == [0.5, *[1.0] * (COUNT - 1)]
