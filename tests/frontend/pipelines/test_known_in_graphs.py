"""What is known of pipelines that are made in graphs, and elements at places of their own."""

from pathlib import Path

import pytest

import gravure.tf as tf


def test_constants_of_graphs_say_how_many_elements_there_are() -> None:
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        numbers = tf.data.Dataset.range(5)
        made = [numbers.skip(2), numbers.take(9), numbers.batch(2), numbers.repeat(3)]
        assert session.run([x.cardinality() for x in made]) == [3, 5, 3, 15]
        assert numbers.batch(tf.constant(2), drop_remainder=True).element_spec.shape == [2]
        open_ = numbers.take(tf.compat.v1.placeholder(tf.int64, []))
        assert session.run(open_.cardinality()) == -2


@pytest.mark.parametrize("index", [-1, 3])
def test_no_element_lies_outside(index: int) -> None:
    numbers = tf.data.Dataset.range(3)
    with pytest.raises(tf.errors.OutOfRangeError):
        tf.data.experimental.at(numbers, index)
    assert tf.data.experimental.at(numbers, 2) == 2
    with pytest.raises(tf.errors.InvalidArgumentError, match="empty"):
        numbers.take(0).get_single_element()


def test_batches_of_several_sizes_come_in_turn() -> None:
    made = tf.data.Dataset.range(8).batch(4).rebatch([2, 1, 1])
    found = [x.tolist() for x in made.as_numpy_iterator()]
    assert found == [[0, 1], [2], [3], [4, 5], [6], [7]]
    even = tf.data.Dataset.range(8).batch(4, drop_remainder=True).rebatch([2, 2])
    assert even.element_spec.shape == [2]
    last = tf.data.Dataset.range(5).batch(4).rebatch([2, 2])
    assert [x.tolist() for x in last.as_numpy_iterator()] == [[0, 1], [2, 3], [4]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
        next(iter(tf.data.Dataset.range(5).batch(4).rebatch([2, -1])))
    with pytest.raises(tf.errors.FailedPreconditionError):
        tf.data.experimental.at(tf.data.Dataset.range(2).repeat(), 0)


def test_seeds_of_all_bits_are_taken() -> None:
    for seed in range(40):
        with tf.Graph().as_default():
            tf.compat.v1.set_random_seed(seed)
            tf.data.Dataset.range(3).shuffle(3)
        tf.random.set_seed(seed)
        for _ in range(5):
            tf.data.Dataset.range(3).shuffle(3)


@pytest.mark.parametrize("seed", [None, 3])
def test_places_of_a_shuffled_dataset_are_those_of_one_order(seed: int | None) -> None:
    """Each element has a place, the same in what is made of the dataset."""
    made = tf.data.Dataset.range(20).shuffle(20, seed=seed)
    places = [int(tf.data.experimental.at(made, n)) for n in range(20)]
    assert sorted(places) == [*range(20)]
    batch = tf.data.experimental.at(made.batch(4), 2)
    assert batch.numpy().tolist() == places[8:12]
    assert [int(tf.data.experimental.at(made, n)) for n in range(20)] == places


def test_files_of_kept_elements_are_read_to_their_end_and_beyond(tmp_path: Path) -> None:
    """Who has asked for the end may ask again."""
    made = tf.data.Dataset.range(10).cache(str(tmp_path / "kept")).batch(4).repeat(2)
    expected = [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]] * 2
    for _ in range(2):
        assert [x.tolist() for x in made.as_numpy_iterator()] == expected


def test_a_shuffled_dataset_without_end_goes_on_behind_a_turn_without_elements() -> None:
    """As the one step does that TensorFlow makes of both; others end there."""
    for shuffled, expected in ((True, [0, 0, 1]), (False, [0])):
        sizes = iter([1, 0, 2])
        made = tf.data.Dataset.from_generator(lambda s=sizes: iter(range(next(s))), tf.int64)
        endless = (made.shuffle(10) if shuffled else made).repeat().take(3)
        assert sorted(endless.as_numpy_iterator()) == expected
