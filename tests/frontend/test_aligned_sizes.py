"""Open sizes that stand in one column: what is known of a result is true of all of them."""

import numpy as np
import pytest

import gravure.tf as tf

PLACES = tf.reshape(tf.range(64.0), [1, 32, 2])


@pytest.mark.parametrize("drop", [0, 1, 3])
def test_what_is_cut_to_a_computed_size_fits_it(drop):
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def placed(words):
        words = words[:, : tf.shape(words)[1] - drop]
        rows = tf.gather(tf.eye(7, 2), words) + PLACES[:, : tf.shape(words)[1], :]
        seen.append(rows.shape.as_list())
        return tf.reshape(rows, [tf.shape(rows)[0], -1, 1, 2])

    seen = []
    words = np.arange(20).reshape(4, 5) % 7
    for _ in range(4):
        found = placed(words)
        wanted = np.eye(7, 2)[words[:, : 5 - drop]] + PLACES[:, : 5 - drop].numpy()
        np.testing.assert_array_equal(found[:, :, 0], wanted)
    assert all(dims[:2] == [None, None] for dims in seen)


def test_words_but_for_the_last_are_placed():
    @tf.function(input_signature=[tf.TensorSpec([None, None], tf.int32)])
    def placed(words):
        rows = tf.gather(tf.eye(7, 2), words[:, :-1])
        made = rows * 2 + PLACES[:, : tf.shape(words[:, :-1])[1], :]
        return made, tf.shape(made)

    words = np.arange(20).reshape(4, 5) % 7
    for _ in range(4):
        rows, sizes = placed(words)
        assert sizes.numpy().tolist() == [*rows.shape] == [4, 4, 2]
