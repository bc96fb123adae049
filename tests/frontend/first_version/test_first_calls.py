"""Functions of the first version take its order of arguments and its names; values are its own."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.names.first_calls import table

v1 = tf.compat.v1
X = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
IMAGE = np.arange(32, dtype=np.float32).reshape(1, 4, 4, 2)
FILTER = np.ones((2, 2, 2, 1), np.float32)


@pytest.mark.parametrize("path", sorted(table()))
def test_a_line_of_the_table_names_a_function_and_its_arguments(path):
    found = v1
    for part in path.split("."):
        found = getattr(found, part)
    with pytest.raises(TypeError, match=r"takes \d+ arguments but 99 were given"):
        found(*[None] * 99)


def test_the_name_comes_before_what_came_later():
    assert v1.transpose(X, [1, 0, 2], "turned").shape == (3, 2, 4)
    assert v1.argmax(X, 1, "where", output_type=tf.int32).dtype == tf.int32
    assert v1.pad(X, [[1, 1]] * 3, "CONSTANT", "padded", 2.0)[0, 0, 0] == 2.0
    assert v1.gather(X, [1], None, "taken", 2).shape == (2, 3, 1)
    assert v1.boolean_mask(X, [True, False, True], "kept", 1).shape == (2, 2, 4)
    assert v1.confusion_matrix([0, 1], [1, 1], 2, tf.int64, "all", [2, 3]).numpy().tolist() == [
        [0, 2],
        [0, 3],
    ]


def test_older_names_mean_the_newer_ones_and_not_both():
    assert v1.reduce_sum(X, reduction_indices=[1], keep_dims=True).shape == (2, 1, 4)
    assert v1.math.reduce_mean(X, keep_dims=True).shape == (1, 1, 1)
    assert v1.squeeze(X[:, :1], squeeze_dims=[1]).shape == (2, 4)
    assert v1.count_nonzero(input_tensor=X, reduction_indices=0).shape == (3, 4)
    for call in (
        lambda: v1.reduce_sum(X, axis=0, reduction_indices=1),
        lambda: v1.argmax(X, 0, dimension=1),
    ):
        with pytest.raises(ValueError, match="Cannot specify both"):
            call()


def test_windows_take_the_padding_before_the_steps():
    made = v1.nn.convolution(IMAGE, FILTER, "VALID", None, [2, 2])
    assert made.numpy().ravel().tolist() == [84.0, 100.0, 148.0, 164.0]
    assert v1.nn.conv2d(IMAGE, FILTER, [1, 2, 2, 1], "VALID", True, "NHWC").shape == (1, 2, 2, 1)
    assert v1.nn.pool(IMAGE, [2, 2], "MAX", "SAME", None, [2, 2]).numpy()[0, 1, 1].tolist() == [
        30.0,
        31.0,
    ]
    assert v1.nn.max_pool(value=IMAGE, ksize=2, strides=2, padding="VALID").shape == (1, 2, 2, 2)
    grown = v1.nn.dilation2d(IMAGE, FILTER[..., 0], [1, 1, 1, 1], [1, 2, 2, 1], "VALID")
    assert grown.numpy()[0, :, :, 0].tolist() == [[21.0, 23.0], [29.0, 31.0]]


def test_blocks_may_be_squares_of_one_size():
    moved = v1.space_to_batch(IMAGE, [[0, 0], [0, 0]], 2)
    assert moved.shape == (4, 2, 2, 2)
    assert np.array_equal(v1.batch_to_space(moved, [[0, 0], [0, 0]], 2), IMAGE)
    assert np.array_equal(v1.batch_to_space(moved, [[0, 0], [0, 0]], block_shape=[2, 2]), IMAGE)


def test_rows_go_through_functions_of_the_first_version():
    rows = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert v1.reduce_sum(rows, axis=1).numpy().tolist() == [3.0, 3.0]
    assert v1.reduce_sum(input_tensor=rows, reduction_indices=1).numpy().tolist() == [3.0, 3.0]


def test_names_are_taken_by_position_and_operands_by_tensorflows_names():
    assert tf.add(1.0, 2.0, "sum") == 3.0
    assert tf.math.atan2(y=1.0, x=2.0).numpy() == pytest.approx(0.46364760)
    assert tf.identity(input=1.0) == tf.nn.relu(1.0, "on") == 1.0
    assert tf.nn.softplus(features=0.0).numpy() == pytest.approx(0.69314718)
    assert tf.math.scalar_mul(scalar=2.0, x=[1.0, 2.0]).numpy().tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match="scalar must be a 0-D value"):
        tf.math.scalar_mul([1.0, 2.0], [1.0, 2.0])
    mean, _ = tf.nn.moments([[1.0, 2.0]], [1], None, True)
    assert mean.numpy().tolist() == [[1.5]]


def test_what_is_none_by_one_name_may_be_given_by_the_other():
    assert v1.reduce_sum(X, None, None, None, [0, 1]).numpy().tolist() == X.sum((0, 1)).tolist()
    assert v1.reduce_max(X, None, reduction_indices=1).shape == (2, 4)
    assert v1.argmax(X, None, None, 1, tf.int32).numpy().tolist() == X.argmax(1).tolist()
    rows = v1.nn.softmax(X, None, None, 0).numpy()
    np.testing.assert_allclose(rows.sum(0), np.ones((3, 4)), rtol=1e-6)
    with pytest.raises(ValueError, match="Cannot specify both"):
        v1.reduce_sum(X, 0, reduction_indices=1)


def test_loops_take_all_that_they_are_given_by_place():
    found = v1.while_loop(
        lambda i: i < 9, lambda i: [i + 1], [tf.constant(0)], None, 10, True, False, "n", 4, True
    )
    assert [int(x) for x in found] == [4]


def test_the_factor_of_a_unit_scaling_initializer_is_told():
    made = v1.uniform_unit_scaling_initializer(1.5, 2)
    again = type(made).from_config(made.get_config())
    assert again.get_config() == made.get_config()
    assert made.get_config()["factor"] == 1.5
    assert made.get_config()["seed"] == 2


@pytest.mark.parametrize(
    ("size", "offsets", "centered", "normalized", "corner"),
    [
        ([2, 2], [0.0, 0.0], True, False, 11), ([2, 3], [1.0, 1.0], True, False, 19),
        ([3, 3], [1.0, 2.0], True, False, 11), ([3, 2], [-1.0, 0.0], True, False, 3),
        ([2, 3], [0.2, 0.1], True, True, 18), ([3, 3], [0.5, 0.5], False, True, 10),
        ([2, 2], [1.0, 2.0], False, False, 1),
    ],
)  # fmt: skip
def test_glimpses_are_around_their_places(size, offsets, centered, normalized, corner):
    """The corners are those that TensorFlow's function finds."""
    image = np.arange(40, dtype=np.float32).reshape(1, 5, 8, 1)
    made = v1.image.extract_glimpse(image, size, [offsets], centered, normalized).numpy()
    row, column = divmod(corner, 8)
    assert made.tolist() == image[:, row : row + size[0], column : column + size[1]].tolist()
