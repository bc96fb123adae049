"""Numbers that no pipeline can be of are refused where they are said, as in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

Made = Callable[[tf.data.Dataset], tf.data.Dataset]

NUMBERS: dict[str, Made] = {
    "batch": lambda d: d.batch(0),
    "padded_batch": lambda d: d.padded_batch(-1),
    "window": lambda d: d.window(2, 0),
    "shard": lambda d: d.shard(0, 0),
    "shard_of_none": lambda d: d.shard(2, 2),
    "shuffle": lambda d: d.shuffle(0),
    "prefetch": lambda d: d.prefetch(-3),
    "cycle": lambda d: d.interleave(tf.data.Dataset.range, cycle_length=0),
    "block": lambda d: d.interleave(tf.data.Dataset.range, cycle_length=2, block_length=0),
}


@pytest.mark.parametrize("name", NUMBERS)
def test_numbers_out_of_range_are_refused_before_a_run(name: str) -> None:
    """No element was asked for."""
    with pytest.raises(tf.errors.InvalidArgumentError):
        NUMBERS[name](tf.data.Dataset.range(6))


def test_numbers_of_a_function_are_refused_in_its_run() -> None:
    """A pipeline of a graph knows its numbers when it is opened."""
    made = tf.data.Dataset.range(1, 3).flat_map(lambda n: tf.data.Dataset.range(6).batch(n - 1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Batch size"):
        list(made)


TYPES: dict[str, tuple[type[Exception], Made]] = {
    "text": (TypeError, lambda d: d.batch("a")),
    "fraction": (TypeError, lambda d: d.take(2.5)),
    "text_of_enumerate": (TypeError, lambda d: d.enumerate("a")),
    "predicate": (ValueError, lambda d: d.filter(lambda x: x)),
    "while": (ValueError, lambda d: d.take_while(lambda x: x)),
    "key": (
        ValueError,
        lambda d: d.group_by_window(lambda x: tf.cast(x, tf.int32), lambda k, g: g.batch(2), 2),
    ),
}


@pytest.mark.parametrize("name", TYPES)
def test_values_of_other_types_raise_the_same_class(name: str) -> None:
    """They were rounded, or raised another class."""
    error, make = TYPES[name]
    with pytest.raises(error):
        make(tf.data.Dataset.range(6))


def test_lengths_of_either_integer_type_choose_buckets() -> None:
    """A length is often that of `tf.shape`."""
    rows = tf.data.Dataset.range(1, 6).map(lambda n: tf.fill([n], n))
    made = rows.bucket_by_sequence_length(lambda x: tf.shape(x)[0], [3], [2, 2])
    assert [b.shape for b in made.as_numpy_iterator()] == [(2, 2), (2, 4), (1, 5)]
    assert np.int64 == next(iter(made)).numpy().dtype
