"""Blocks of pixels as images of their own: in graphs that know little, and what cannot be."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
IMAGES = np.arange(1 * 4 * 3 * 2, dtype=np.float32).reshape(1, 4, 3, 2)
APART = {"block_shape": [2, 3], "paddings": [[1, 1], [0, 0]]}
TOGETHER = {"block_shape": [2, 3], "crops": [[1, 1], [0, 0]]}


def test_what_is_taken_apart_is_put_together_however_much_a_graph_knows():
    apart = tf.space_to_batch(IMAGES, **APART)
    assert apart.shape == [6, 3, 1, 2]
    np.testing.assert_array_equal(apart[0, :, 0], [[0, 0], IMAGES[0, 1, 0], IMAGES[0, 3, 0]])
    np.testing.assert_array_equal(tf.batch_to_space(apart, **TOGETHER), IMAGES)
    for dtype in (tf.float32, tf.complex64, tf.int32):
        both = tf.function(lambda x: tf.batch_to_space(tf.space_to_batch(x, **APART), **TOGETHER))
        np.testing.assert_array_equal(both(tf.cast(IMAGES, dtype)), IMAGES)
    with tf.Graph().as_default(), v1.Session() as session:
        x, blocks, ends = v1.placeholder(tf.float32), *(v1.placeholder(tf.int32) for _ in "ab")
        made = tf.space_to_batch(x, blocks, ends)
        again = tf.batch_to_space(made, blocks, ends)
        given = {x: IMAGES, blocks: [2, 3], ends: [[1, 1], [0, 0]]}
        for found, expected in zip(session.run([made, again], given), (apart, IMAGES), strict=True):
            np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize(
    ("dims", "blocks", "crops", "expected"),
    [
        ([None] * 4, None, None, [None] * 4),
        ([None, None, None, 2], None, None, [None, None, None, 2]),
        ([18, None, None, 2], [2, 3], None, [3, None, None, 2]),
        ([18, None, 2, 2], [2, 3], [[1, 1], [0, 1]], [3, None, 5, 2]),
        ([18, 2, 1, 2], [2, 3], [[1, 1], [0, 0]], [3, 2, 3, 2]),
    ],
)
def test_sizes_that_follow_are_known(dims, blocks, crops, expected):
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, dims)
        told = v1.placeholder(tf.int32, [2]) if blocks is None else blocks
        ends = v1.placeholder(tf.int32) if crops is None else crops
        assert tf.batch_to_space(x, told, ends).shape.as_list() == expected


@pytest.mark.parametrize(
    ("function", "dims", "blocks", "ends", "said"),
    [
        (tf.space_to_batch, [1, 2, 3, 1], [3, 3], [[0, 0], [0, 0]], "not divisible"),
        (tf.space_to_batch, [1, 2, 2], [0, 2], [[0, 0], [0, 0]], "must be positive"),
        (tf.space_to_batch, [1, 2, 2], [1, 1], [[0, -1], [0, 0]], "must be non-negative"),
        (tf.space_to_batch, [1, 3, 3, 1], [3, 3], [[0, 0]], "should have shape"),
        (tf.batch_to_space, [4, 2, 3, 1], [2, 2], [[3, 2], [0, 0]], "must be non-negative"),
        (tf.batch_to_space, [3, 1, 1, 1], [2, 3], [[0, 0], [0, 0]], "not divisible"),
        (tf.batch_to_space, [2, 2], [2, 2], [[0, 0], [0, 0]], "rank should be >= 3"),
    ],
    ids=range(7),
)
def test_blocks_that_cannot_be(function, dims, blocks, ends, said):
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        function(np.zeros(dims, np.float32), blocks, ends)
    with tf.Graph().as_default(), pytest.raises(ValueError, match=said):
        function(np.zeros(dims, np.float32), blocks, ends)


def test_gradients_go_through_blocks():
    x = tf.constant(IMAGES)
    for run in (lambda f: f, tf.function):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = run(lambda x: tf.reduce_sum(tf.space_to_batch(x, **APART) ** 2))(x)
        np.testing.assert_array_equal(tape.gradient(y, x), 2 * IMAGES)


def test_one_number_is_for_blocks_of_images():
    with tf.Graph().as_default():
        x, ends = v1.placeholder(tf.float32), v1.placeholder(tf.int32)
        assert v1.space_to_batch(x, ends, block_size=4).shape.rank == 4
        assert v1.batch_to_space(x, ends, block_size=4).shape.rank == 4


def test_paddings_that_blocks_need_are_known_where_all_is():
    with tf.Graph().as_default(), v1.Session() as session:
        for base in (None, [[0, 0], [0, 1]]):
            pads, crops = tf.required_space_to_batch_paddings([4, 5], [3, 2], base)
            assert tf.get_static_value(crops).tolist() == [[0, 2], [0, 1 if base is None else 0]]
            told = v1.placeholder(tf.int32, [2])
            found = tf.required_space_to_batch_paddings(told, [3, 2], base)
            for a, b in zip(session.run(found, {told: [4, 5]}), (pads, crops), strict=True):
                np.testing.assert_array_equal(a, tf.get_static_value(b))
