"""What is known of pipelines that are made in graphs, and elements at places of their own."""

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
