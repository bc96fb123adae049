"""Numbers that no pipeline can be of are refused where they are said, as in TensorFlow."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

D = tf.data.Dataset
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


SAID: dict[str, tuple[type[Exception], str, Callable[[], object]]] = {
    "shape_of_rows": (
        ValueError,
        r"must be a `tf.int64` vector tensor, but its shape was \(2, 2\)",
        lambda: D.from_tensors([1, 2]).padded_batch(2, [[1, 1], [1, 1]]),
    ),
    "shape_of_fractions": (
        TypeError,
        "but its element type was float32",
        lambda: D.from_tensors([1, 2]).padded_batch(2, tf.constant([1.5])),
    ),
    "datasets_to_pad": (
        TypeError,
        "not supported for datasets of datasets",
        lambda: D.range(4).window(2).padded_batch(2),
    ),
    "sparse_to_pad": (
        TypeError,
        "not a subclass of TensorSpec: `SparseTensorSpec",
        lambda: D.from_tensors(tf.sparse.from_dense([1])).padded_batch(2),
    ),
    "both_of_zip": (
        TypeError,
        r"Both `\*args` and `datasets` cannot be set",
        lambda: D.zip(D.range(2), datasets=(D.range(2),)),
    ),
    "unlike_datasets": (
        TypeError,
        "must have compatible",
        lambda: D.sample_from_datasets([D.range(2), D.from_tensors("a")]),
    ),
    "no_choice": (
        TypeError,
        "should be a `tf.data.Dataset`",
        lambda: D.choose_from_datasets([D.range(2)], choice_dataset=None),
    ),
    "no_pair": (
        TypeError,
        "`scan_func` should return a pair",
        lambda: D.range(2).scan(tf.constant(0), lambda state, x: state),
    ),
    "no_dataset": (
        TypeError,
        "The `map_func` argument must return a `Dataset` object",
        lambda: D.range(2).interleave(lambda x: x),
    ),
    "no_dataset_but_a_part": (
        TypeError,
        "`map_func` must return a `Dataset` object",
        lambda: D.range(2).flat_map(lambda x: tf.sparse.from_dense([x])),
    ),
    "no_value": (
        TypeError,
        r"Unsupported return value from function passed to Dataset.map\(\)",
        lambda: D.range(2).map(lambda x: D),
    ),
}


@pytest.mark.parametrize("name", SAID)
def test_what_is_wrong_is_said_as_tensorflow_does(name: str) -> None:
    """The class and the words are TensorFlow's, and no element was asked for."""
    kind, said, make = SAID[name]
    with pytest.raises(kind, match=said):
        make()


def test_shapes_to_pad_to_that_are_constants_of_graphs_are_known() -> None:
    """Others are checked by how many sizes they have."""
    with tf.Graph().as_default():
        made = D.from_tensors(tf.compat.v1.placeholder(tf.float32))
        padded = made.padded_batch(2, tf.constant([-1, 37], tf.int64))
        assert padded.element_spec.shape.as_list() == [None, None, 37]
        with pytest.raises(
            ValueError, match=r"\(None, None\) is not compatible with the shape \(\)"
        ):
            D.range(2).padded_batch(2, tf.compat.v1.placeholder(tf.int64, [2]))


def test_elements_beyond_the_last_boundary_are_not_filled_up_to_it() -> None:
    """There is no boundary for them."""
    made = D.from_tensor_slices([1, 9]).map(lambda n: tf.ones([n]))
    made = made.bucket_by_sequence_length(tf.size, [2, 4], [1] * 3, pad_to_bucket_boundary=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="bucket_boundaries"):
        list(made)


def test_states_of_iterators_are_texts() -> None:
    """An iterator goes on from one that it has given, also in another place."""
    made = D.range(10).shuffle(5, seed=42)
    iterator = made.as_numpy_iterator()
    next(iterator)
    state = iterator.save()
    assert state.dtype == tf.string
    rest = [*iterator]
    iterator.restore(state)
    assert [*iterator] == rest
    other = iter(made)
    other.restore(state)
    assert [int(x) for x in other] == rest
