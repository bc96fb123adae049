"""What comes behind an element that fails is what TensorFlow gives; its outcomes are noted here."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

D = tf.data.Dataset
END, BAD = "end", "InvalidArgumentError"


def bad(x: tf.Tensor) -> tf.Tensor:
    """Return a number unless it is one."""
    tf.debugging.assert_none_equal(x, tf.constant(1, tf.int64))
    return x


def failing(n: int = 6) -> tf.data.Dataset:
    """Return numbers of which the second one fails."""
    return D.range(n).map(bad)


def outcomes(dataset: tf.data.Dataset, count: int) -> list[object]:
    """Return what so many requests give: elements, the end, names of errors."""
    found: list[object] = []
    iterator = iter(dataset)
    for _ in range(count):
        try:
            made = next(iterator)
            found.append(tf.nest.map_structure(lambda x: np.asarray(x).tolist(), made))
        except StopIteration:
            found.append(END)
        except tf.errors.OpError as error:
            found.append(type(error).__name__)
    return found


def rows(dataset: tf.data.Dataset) -> tf.data.Dataset:
    """Return windows as batches."""
    return dataset.flat_map(lambda window: window.batch(2))


CASES: dict[str, tuple[Callable[[], tf.data.Dataset], list[object]]] = {
    "batch": (lambda: failing().batch(2), [BAD, [2, 3], [4, 5], END]),
    "window": (lambda: rows(failing().window(2)), [BAD, [2, 3], [4, 5], END]),
    "window_by_one": (
        lambda: rows(failing().window(2, 1)),
        [BAD, BAD, [2, 3], [3, 4], [4, 5], [5], END],
    ),
    "window_with_gaps": (lambda: rows(failing().window(2, 3)), [BAD, [3, 4], END]),
    "window_in_strides": (
        lambda: rows(failing().window(2, 1, 2, drop_remainder=True)),
        [[0, 2], BAD, [2, 4], [3, 5], END],
    ),
    "skip": (lambda: failing().skip(2), [BAD, 4, 5, END]),
    "skip_more": (lambda: failing().skip(3), [BAD, 5, END]),
    "shard": (lambda: failing().shard(2, 0), [0, BAD, 3, 5, END]),
    "take": (lambda: failing().take(3), [0, BAD, 2, 3, END]),
    "cache": (lambda: failing(4).cache().repeat(2), [0, BAD, 2, 3, 0, 2, 3, END]),
    "flat_map": (
        lambda: failing(4).flat_map(lambda x: D.range(x, x + 2).map(bad)),
        [0, BAD, BAD, 2, 3, 3, 4, END],
    ),
    "zip": (
        lambda: D.zip((failing(4), D.range(4))),
        [(0, 0), BAD, (2, 2), (3, 3), END],
    ),
    "zip_whose_first_ends": (lambda: D.zip((D.range(1), failing(2))), [(0, 0), END, END]),
    "zip_whose_second_ends": (lambda: D.zip((failing(2), D.range(1))), [(0, 0), BAD, END]),
    "choose": (
        lambda: D.choose_from_datasets(
            [failing(3), D.range(10, 13)], D.from_tensor_slices(np.array([0, 1] * 3))
        ),
        [0, 10, BAD, 11, 2, 12, END],
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_elements_behind_one_that_fails(name: str) -> None:
    """None is lost, none comes twice."""
    make, expected = CASES[name]
    assert outcomes(make(), len(expected)) == expected


def test_all_that_is_zipped_is_read_as_often() -> None:
    """Where one ends the others go on once more: a cache behind them is whole then."""
    seen: list[tuple[str, int]] = []

    def noted(name: str, count: int) -> tf.data.Dataset:
        def note(x: tf.Tensor) -> tf.Tensor:
            seen.append((name, int(x)))
            return x

        return D.range(count).map(lambda x: tf.py_function(note, [x], tf.int64))

    [*D.zip((noted("c", 1), noted("a", 2), noted("b", 4)))]
    assert seen == [("c", 0), ("a", 0), ("b", 0), ("a", 1), ("b", 1)]
    seen.clear()
    both = D.zip((noted("a", 2).cache(), noted("b", 2).cache()))
    assert [*both.as_numpy_iterator()] == [*both.as_numpy_iterator()]
    assert len(seen) == 4


def test_damaged_files_are_left_behind(tmp_path: Path) -> None:
    """The next request reads the next file; who ignores errors comes to the end."""
    paths = [str(tmp_path / f"{number}.records") for number in range(3)]
    for path in paths:
        with tf.io.TFRecordWriter(path) as writer:
            writer.write(path.encode())
        with Path(path).open("ab") as file:
            file.write(b"no record at all")
    texts = [path.encode() for path in paths]
    made = tf.data.TFRecordDataset(paths)
    assert [*made.ignore_errors().as_numpy_iterator()] == texts
    expected = [x for text in texts for x in (text, "DataLossError")]
    assert outcomes(made, 7) == [*expected, END]
