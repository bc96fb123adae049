"""`group_by_reducer` and `pad_to_cardinality`, with the values that TensorFlow 2.21 gives."""

import numpy as np
import pytest

import gravure.tf as tf

Dataset, more = tf.data.Dataset, tf.data.experimental


def mean() -> object:
    return more.Reducer(
        lambda key: (tf.constant(0, tf.int64), tf.constant(0.0)),
        lambda state, x: (state[0] + 1, state[1] + tf.cast(x, tf.float32)),
        lambda count, total: total / tf.cast(count, tf.float32),
    )


def test_one_element_for_each_key_in_the_keys_order() -> None:
    found = Dataset.range(10).apply(more.group_by_reducer(lambda x: x % 3, mean()))
    assert [float(x) for x in found] == [4.5, 4.0, 5.0]
    assert int(found.cardinality()) == -2
    assert found.element_spec == tf.TensorSpec([], tf.float32)
    counts = more.Reducer(lambda key: key * 100, lambda state, x: state + 1, lambda state: state)
    numbers = Dataset.from_tensor_slices([5, 3, 5, 1, 3, 7])
    found = numbers.apply(more.group_by_reducer(lambda x: tf.cast(x, tf.int64), counts))
    assert [int(x) for x in found] == [101, 302, 502, 701]


def test_elements_and_states_of_several_parts_and_growing_shapes() -> None:
    pairs = Dataset.from_tensor_slices(([5, 3, 5], [1.0, 2.0, 3.0]))
    sums = more.Reducer(lambda key: 0.0, lambda s, e: s + e[1], lambda s: {"sum": s})
    found = pairs.apply(more.group_by_reducer(lambda x, y: tf.cast(x, tf.int64), sums))
    assert [float(x["sum"]) for x in found] == [2.0, 4.0]
    rows = Dataset.from_tensor_slices([[1, 2], [3, 4]])
    joined = more.Reducer(
        lambda key: tf.zeros([0], tf.int32), lambda s, e: tf.concat([s, e], 0), lambda s: s
    )
    found = rows.apply(more.group_by_reducer(lambda x: tf.constant(0, tf.int64), joined))
    assert [x.numpy().tolist() for x in found] == [[1, 2, 3, 4]]
    assert found.element_spec.shape.as_list() == [None]


def test_the_states_of_keys_are_kept_in_checkpoints(tmp_path) -> None:
    found = Dataset.range(10).apply(more.group_by_reducer(lambda x: x % 3, mean()))
    iterator = iter(found)
    assert float(next(iterator)) == 4.5
    kept = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "kept"))
    assert [float(x) for x in iterator] == [4.0, 5.0]
    tf.train.Checkpoint(iterator=iterator).restore(kept)
    assert [float(x) for x in iterator] == [4.0, 5.0]


def test_what_does_not_fit_is_refused() -> None:
    numbers = Dataset.range(4)
    with pytest.raises(ValueError, match=r"to return a scalar tf\.int64 tensor"):
        numbers.apply(more.group_by_reducer(lambda x: tf.cast(x, tf.int32), mean()))
    other = more.Reducer(lambda key: 0.0, lambda s, x: tf.constant(1), lambda s: s)
    with pytest.raises(TypeError, match="new state"):
        numbers.apply(more.group_by_reducer(lambda x: x, other))
    with pytest.raises(TypeError, match=r"must be a `tf\.data\.experimental\.Reducer`, got 3"):
        numbers.apply(more.group_by_reducer(lambda x: x, 3))


def test_zeros_are_appended_and_told_apart() -> None:
    elements = Dataset.from_tensor_slices({"a": [1, 2], "b": [[1.0, 2.0], [3.0, 4.0]]})
    found = [*elements.apply(more.pad_to_cardinality(4))]
    assert [int(x["a"]) for x in found] == [1, 2, 0, 0]
    assert [bool(x["valid"]) for x in found] == [True, True, False, False]
    np.testing.assert_array_equal(found[3]["b"], [0.0, 0.0])
    assert int(elements.apply(more.pad_to_cardinality(4)).cardinality()) == 4
    assert "there" in next(iter(elements.apply(more.pad_to_cardinality(2, "there"))))
    for source, message in (
        (elements, "less than the target cardinality"),
        (elements.filter(lambda x: True), "known cardinality, but has cardinality -2"),
        (elements.repeat(), "known cardinality, but has cardinality -1"),
    ):
        with pytest.raises(ValueError, match=message):
            source.apply(more.pad_to_cardinality(1))
    with pytest.raises(ValueError, match="to be a dictionary"):
        Dataset.range(3).apply(more.pad_to_cardinality(5))
