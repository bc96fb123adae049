"""Elements whose parts are no tensors: None, datasets in rows, values of arrays, classes."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

import gravure.tf as tf

D = tf.data.Dataset
INT = tf.TensorSpec([], tf.int64)
ZERO = tf.constant(0, tf.int64)


def test_none_is_a_part_and_stays_none() -> None:
    """In batches, their rows, groups, choices, and numpy's elements."""
    made = D.range(3).map(lambda x: (x, None))
    assert made.element_spec == (INT, tf.NoneTensorSpec())
    assert [(int(x), y) for x, y in made] == [(0, None), (1, None), (2, None)]
    batches = made.batch(2)
    assert batches.element_spec == (tf.TensorSpec([None], tf.int64), tf.NoneTensorSpec())
    found = [(x.tolist(), y) for x, y in batches.as_numpy_iterator()]
    assert found == [([0, 1], None), ([2], None)]
    assert [*batches.unbatch().as_numpy_iterator()] == [(0, None), (1, None), (2, None)]
    assert [*made.cache().repeat(2).take(4).as_numpy_iterator()][3] == (0, None)
    assert [*D.from_tensor_slices(([1, 2], None)).as_numpy_iterator()] == [(1, None), (2, None)]
    assert [*D.from_tensors({"a": 1, "b": None}).as_numpy_iterator()] == [{"a": 1, "b": None}]
    with pytest.raises(TypeError, match="only supported for datasets that produce tensor"):
        made.padded_batch(2)


def test_none_in_sessions_and_functions() -> None:
    """It is not fetched, and functions take it."""
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        made = tf.compat.v1.data.make_one_shot_iterator(D.range(3).map(lambda x: (x, None)))
        number, nothing = made.get_next()
        assert nothing is None
        assert [int(session.run(number)) for _ in range(3)] == [0, 1, 2]

    @tf.function
    def total(dataset: tf.data.Dataset) -> tf.Tensor:
        found = ZERO
        for x, y in dataset:
            assert y is None
            found += x
        return found

    assert int(total(D.range(4).map(lambda x: (x, None)))) == 6


def test_datasets_in_lists_are_rows() -> None:
    """Lists, batches of datasets, and their rows."""
    made = D.from_tensor_slices([D.range(2), D.range(3)])
    assert made.element_spec == tf.data.DatasetSpec(INT)
    assert int(made.cardinality()) == 2
    assert [[*each.as_numpy_iterator()] for each in made] == [[0, 1], [0, 1, 2]]
    batches = made.batch(2)
    assert batches.element_spec == tf.data.DatasetSpec(INT, [None])
    assert [[*x.as_numpy_iterator()] for x in batches.unbatch()] == [[0, 1], [0, 1, 2]]
    assert D.from_tensors([D.range(2)]).element_spec == tf.data.DatasetSpec(INT, [1])
    squares = D.from_tensor_slices([[D.range(2)], [D.range(3)]]).flat_map(
        lambda row: D.from_tensors(row).unbatch().flat_map(lambda x: x)
    )
    assert [*squares.as_numpy_iterator()] == [0, 1, 0, 1, 2]
    with pytest.raises(ValueError, match="rank 0"):
        D.from_tensor_slices(D.range(2))
    with pytest.raises(TypeError, match="Incompatible"):
        D.from_tensor_slices([D.range(2), D.from_tensors("a")])


def test_values_of_sparse_and_ragged_tensors() -> None:
    """Sessions give them; datasets take them for what they are values of."""
    sparse = tf.compat.v1.SparseTensorValue(np.array([[0, 0], [1, 1]]), np.array([1, 2]), [2, 2])
    ragged = tf.compat.v1.ragged.constant_value([[1], [2, 3], []])
    made = D.from_tensor_slices((sparse, [5, 6]))
    assert int(made.cardinality()) == 2
    found = [(x.tolist(), int(y)) for x, y in made.as_numpy_iterator()]
    assert found == [([1, 0], 5), ([0, 2], 6)]
    assert [[*map(int, x)] for x in D.from_tensor_slices(ragged)] == [[1], [2, 3], []]
    (whole,) = D.from_tensors(ragged).as_numpy_iterator()
    assert [x.tolist() for x in whole] == [[1], [2, 3], []]
    given = D.from_generator(
        lambda: iter([sparse]), output_signature=tf.SparseTensorSpec([2, 2], tf.int64)
    )
    assert [x.tolist() for x in given.as_numpy_iterator()] == [[[1, 0], [0, 2]]]


class Example:
    """A class as the package `attrs` makes one of fields."""

    __attrs_attrs__ = (SimpleNamespace(name="label"), SimpleNamespace(name="image"))

    def __init__(self, label: object, image: object) -> None:
        self.label, self.image = label, image


class Masked:
    """A class that takes itself apart, by a method of its values."""

    def __init__(self, mask: bool, value: object) -> None:
        self.mask, self.value = mask, value

    def __tf_flatten__(self) -> tuple[object, tuple[object, ...]]:
        """Return the mask and the value."""
        return (self.mask,), (self.value,)

    def __tf_unflatten__(self, metadata: tuple[bool], leaves: tuple[object, ...]) -> Masked:
        """Return one of another value."""
        return Masked(metadata[0], leaves[0])


class Point(NamedTuple):
    """A named tuple."""

    x: object
    y: object


def test_classes_are_structures() -> None:
    """Functions give and take them, and they are nested in each other."""
    made = D.range(3).map(lambda x: Example(x, x * x))
    assert isinstance(made.element_spec, Example)
    assert [(int(e.label), int(e.image)) for e in made] == [(0, 0), (1, 1), (2, 4)]
    sums = made.batch(2).map(lambda e: tf.reduce_sum(e.label + e.image))
    assert [int(x) for x in sums] == [2, 6]
    masked = D.range(3).map(lambda x: {"a": Masked(True, (x, Example(x, -x)))})
    found = [e["a"] for e in masked]
    assert all(isinstance(e, Masked) and e.mask for e in found)
    assert [int(e.value[1].image) for e in found] == [0, -1, -2]
    assert [int(e.value.y) for e in D.from_tensors(Masked(False, Point(1, 2)))] == [2]
    both = D.zip(Example(D.range(2), D.range(5, 7)))
    assert [(int(e.label), int(e.image)) for e in both] == [(0, 5), (1, 6)]


def test_functions_take_datasets_by_what_they_are_like() -> None:
    """One trace does for all datasets of like elements, and functions give datasets."""
    traced = []

    @tf.function
    def total(dataset: tf.data.Dataset) -> tf.Tensor:
        traced.append(dataset.element_spec)
        found = ZERO
        for x in dataset:
            found += x
        return found

    for _ in range(2):
        assert [int(total(D.range(n))) for n in (5, 10)] == [10, 45]
        assert int(total(D.range(3).map(lambda x: x * x))) == 5
    assert len(traced) == 1
    total(D.range(4).batch(2, drop_remainder=True).map(lambda x: x[0]))
    assert len(traced) == 1

    @tf.function(input_signature=[tf.data.DatasetSpec(INT), INT])
    def more(dataset: tf.data.Dataset, by: tf.Tensor) -> tuple[tf.data.Dataset, tf.Tensor]:
        return dataset.map(lambda x: x + by), dataset.reduce(ZERO, lambda a, b: a + b)

    made, found = more(D.range(3), tf.constant(5, tf.int64))
    assert [*made.as_numpy_iterator()] == [5, 6, 7]
    assert int(found) == 3
    for other in (D.from_tensors("a"), D.range(4).batch(2), D.range(2).enumerate()):
        with pytest.raises(TypeError):
            more(other, ZERO)
    chosen = tf.function(lambda x: tf.cond(x > 1, lambda: D.range(3), lambda: D.range(4)))
    assert [len([*chosen(tf.constant(x))]) for x in (1, 2)] == [4, 3]


def test_specs_of_datasets_are_above_each_other() -> None:
    """By the shapes of rows and the specs of elements."""

    def spec(dims: list[int | None], rows: list[int | None]) -> tf.data.DatasetSpec:
        return tf.data.DatasetSpec({"a": tf.TensorSpec(dims, tf.int32)}, rows)

    low, other, high = (
        spec([1, None], [5, None]),
        spec([None, 2], [None, 1]),
        spec([None] * 2, [None] * 2),
    )
    assert low.is_subtype_of(low)
    assert low.is_subtype_of(high)
    assert not high.is_subtype_of(low)
    assert not low.is_subtype_of(tf.data.DatasetSpec(INT, [5, None]))
    assert low.most_specific_common_supertype([other]) == high
    assert low.most_specific_common_supertype([]) == low
    assert low.most_specific_common_supertype([tf.data.DatasetSpec(INT, [5, None])]) is None


def test_numpy_elements_are_not_written_to() -> None:
    """They may be parts of the dataset itself."""
    made = D.from_tensors([1, 2, 3])
    with pytest.raises(ValueError, match="read-only"):
        next(made.as_numpy_iterator())[0] = 0
    assert next(made.as_numpy_iterator()).tolist() == [1, 2, 3]
    with pytest.raises(TypeError, match="is not supported for datasets that"):
        D.range(3).window(2).as_numpy_iterator()


def test_numpy_iterators_are_saved(tmp_path: object) -> None:
    """As others are."""
    iterator = D.range(6).as_numpy_iterator()
    assert [next(iterator), next(iterator)] == [0, 1]
    path = tf.train.Checkpoint(iterator=iterator).save(f"{tmp_path}/kept")
    assert next(iterator) == 2
    other = D.range(6).as_numpy_iterator()
    tf.train.Checkpoint(iterator=other).restore(path)
    assert [*other] == [2, 3, 4, 5]


def test_batches_of_no_rows() -> None:
    """Nothing is read for them, not even the end."""
    made = D.range(4).batch(2)
    found = [x.tolist() for x in made.rebatch([0, 1]).as_numpy_iterator()]
    assert found == [[], [0], [], [1], [], [2], [], [3], []]
    wide = D.from_tensor_slices(np.zeros((4, 3), np.float32)).batch(2).rebatch([1, 0])
    assert [(x.shape, x.dtype) for x in wide.as_numpy_iterator()][:2] == [
        ((1, 3), np.float32),
        ((0, 3), np.float32),
    ]


def test_batches_that_come_out_even_have_a_known_size() -> None:
    made = D.range(8).batch(4, drop_remainder=True)
    assert made.rebatch(2).element_spec.shape.as_list() == [2]
    assert made.rebatch(3).element_spec.shape.as_list() == [None]
    assert made.rebatch(8).element_spec.shape.as_list() == [None]
    assert [x.tolist() for x in made.rebatch(2).as_numpy_iterator()] == [
        [0, 1], [2, 3], [4, 5], [6, 7]
    ]  # fmt: skip


def test_components_of_other_heights_have_no_rows() -> None:
    with pytest.raises(ValueError, match="a matching leading dimension"):
        D.from_tensors((tf.range(7), tf.range(8))).unbatch()


def test_what_functions_raise_says_where() -> None:
    """The step is named; a function that is to give something for each element cannot end them."""

    def failing(x: tf.Tensor) -> tf.Tensor:
        tf.debugging.assert_less(x, tf.constant(0, tf.int64))
        return x

    for make, name in (
        (lambda: D.range(2).map(failing), "map"),
        (lambda: D.range(2).map(failing, num_parallel_calls=2), "map"),
        (lambda: D.range(2).filter(lambda x: failing(x) > 0), "filter"),
        (lambda: D.range(2).flat_map(lambda x: D.range(failing(x))), "flat_map"),
    ):
        said = f"Error in user-defined function passed to {name} transformation with iterator: "
        with pytest.raises(tf.errors.InvalidArgumentError, match=said) as raised:
            next(iter(make()))
        assert str(raised.value).count("Error in user-defined") == 1

    def stop(_: object) -> object:
        raise StopIteration

    def python(x: tf.Tensor) -> tf.Tensor:
        return tf.numpy_function(stop, [x], tf.int64)

    for made in (
        D.range(2).map(python),
        D.range(2).map(python, num_parallel_calls=2),
        D.range(2).scan(ZERO, lambda state, x: (state, python(x))),
    ):
        with pytest.raises(tf.errors.InvalidArgumentError, match="produced OutOfRangeError"):
            next(iter(made))


def test_a_loop_of_python_over_a_dataset_of_a_graph_ends() -> None:
    """The trace would never: its end is known only in a run."""

    @tf.function(autograph=False)
    def f(dataset: tf.data.Dataset) -> None:
        for _ in dataset:
            pass

    with pytest.raises(ValueError, match="autograph"):
        f(D.range(10))


def test_how_many_elements_without_end() -> None:
    """What is made of elements without end has none, as far as TensorFlow says so."""
    endless = D.range(5).repeat()
    one = D.from_tensors(0)
    counts = [
        endless.flat_map(lambda x: one),
        endless.interleave(lambda x: one, 2),
        endless.group_by_window(lambda x: 0, lambda key, group: group, 2),
        endless.bucket_by_sequence_length(lambda x: 1, [2], [1, 1]),
    ]
    assert [int(each.cardinality()) for each in counts] == [tf.data.INFINITE_CARDINALITY] * 4
    grouped = D.range(4).group_by_window(lambda x: 0, lambda key, group: group.batch(3), 3)
    assert [x.tolist() for x in grouped.as_numpy_iterator()] == [[0, 1, 2], [3]]


def test_names_of_files_are_texts() -> None:
    """Paths are, numbers are not, and neither are rows of texts in datasets."""
    for wrong, said in (
        (0, r"must contain `tf.string` elements. Got `tf.int32`"),
        (D.from_tensors(0), r"Got a dataset of `tf.int32` elements"),
        (D.from_tensors([["a"]]), r"of shape \[\] \(i.e. scalars\)"),
    ):
        with pytest.raises(TypeError, match=said):
            tf.data.TextLineDataset(wrong)
    assert [*tf.data.TextLineDataset([])] == []


def test_parallel_interleave_takes_all_that_it_is_told() -> None:
    """What it says of buffers and of the order does not change the elements."""
    made = D.range(1, 4).apply(
        tf.data.experimental.parallel_interleave(
            lambda x: D.from_tensors(x).repeat(x), 2, 1, False, 1, 0
        )
    )
    assert [*made.as_numpy_iterator()] == [1, 2, 2, 3, 3, 3]
