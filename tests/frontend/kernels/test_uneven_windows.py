"""Pools over windows of uneven sizes have the elements that plain loops find, of each type."""

import numpy as np
import pytest

import gravure.tf as tf

RANDOM = np.random.default_rng(5)
TYPES = ["float32", "float64", "int32", "int64", "float16", "uint8"]
DOWN, ACROSS = [0, 2, 3, 5], [0, 1, 3, 4, 6]


def image(dtype):
    """Return images of a type."""
    return (RANDOM.random((2, 5, 6, 3)) * 200 - 100 * (dtype[0] != "u")).astype(dtype)


def windows(x, down, across, over):
    """Return each place with what its window sees, and where that begins."""
    for i in range(len(down) - 1):
        for j in range(len(across) - 1):
            yield i, j, down[i], across[j], x[:, down[i] : down[i + 1] + over,
                                              across[j] : across[j + 1] + over]  # fmt: skip


@pytest.mark.parametrize("over", [False, True])
@pytest.mark.parametrize("dtype", TYPES)
def test_windows_are_those_of_their_edges(dtype, over):
    x = image(dtype)
    for name in ("fractional_max_pool", "fractional_avg_pool"):
        for _ in range(4):  # remembered from some call on
            found, down, across = getattr(tf.nn, name)(x, [1, 1.5, 1.4, 1], False, over, seed=3)
        for i, j, _, _, seen in windows(x, down.numpy(), across.numpy(), over):
            wide = seen.astype(np.float64)
            exact = wide.max((1, 2)) if "max" in name else wide.mean((1, 2))
            made = found[:, i, j].numpy()
            if dtype.startswith("float"):
                np.testing.assert_allclose(made, exact, rtol=4 * np.finfo(dtype).eps, atol=0.1)
            else:
                assert made.tolist() == exact.astype(dtype).tolist()
            assert found.dtype == dtype


@pytest.mark.parametrize("depth", [5, 24])
@pytest.mark.parametrize("across", [1.0, 2.5, 4.5])
def test_windows_of_many_columns_are_those_of_their_edges(across, depth):
    """Those of few columns are put together whole lines at a time, others, and deep ones, alone."""
    x = RANDOM.random((2, 7, 29, depth), np.float32)
    for name, reduced in (("fractional_max_pool", np.max), ("fractional_avg_pool", np.mean)):
        found, *edges = getattr(tf.nn, name)(x, [1, 3.5, across, 1], True, True, seed=7)
        for i, j, _, _, seen in windows(x, *[along.numpy() for along in edges], True):
            np.testing.assert_allclose(found[:, i, j], reduced(seen, (1, 2)), rtol=1e-6)


def test_what_is_no_number_is_the_largest():
    x = image("float32")
    x[0, 3, 2, 1] = np.nan
    found = tf.nn.fractional_max_pool(x, [1, 1.5, 1.4, 1], seed=3).output.numpy()
    assert np.isnan(found).sum() == 1


@pytest.mark.parametrize("over", [False, True])
def test_gradients_go_to_the_first_largest_and_to_all(over):
    x = image("float32")
    x[:, 1] = x[:, 0]  # there are equal ones
    grad = RANDOM.random((2, 3, 4, 3)).astype(np.float32)
    largest, every = np.zeros(x.shape), np.zeros(x.shape)
    for i, j, top, left, seen in windows(x, DOWN, ACROSS, over):
        _, height, width, _ = seen.shape
        every[:, top : top + height, left : left + width] += grad[:, i, j][:, None, None] / (
            height * width
        )
        for n in range(2):
            for k in range(3):
                row, column = np.unravel_index(seen[n, :, :, k].argmax(), (height, width))
                largest[n, top + row, left + column, k] += grad[n, i, j, k]
    found = tf.raw_ops.FractionalMaxPoolGrad(
        orig_input=x, orig_output=grad, out_backprop=grad, row_pooling_sequence=DOWN,
        col_pooling_sequence=ACROSS, overlapping=over,
    )  # fmt: skip
    np.testing.assert_allclose(found, largest, rtol=1e-6)
    found = tf.raw_ops.FractionalAvgPoolGrad(
        orig_input_tensor_shape=x.shape, out_backprop=grad, row_pooling_sequence=DOWN,
        col_pooling_sequence=ACROSS, overlapping=over,
    )  # fmt: skip
    np.testing.assert_allclose(found, every, rtol=1e-6)


@pytest.mark.parametrize("down", [[0, 2, 3], [0, 2, 3, 9], [-1, 2, 3, 5], [0, 3, 2, 5]])
def test_edges_that_are_none_are_refused(down):
    grad = np.zeros((2, 3, 4, 3), np.float32)
    with pytest.raises(tf.errors.InvalidArgumentError, match="edges"):
        tf.raw_ops.FractionalAvgPoolGrad(
            orig_input_tensor_shape=[2, 5, 6, 3], out_backprop=grad, row_pooling_sequence=down,
            col_pooling_sequence=ACROSS,
        )  # fmt: skip


@pytest.mark.parametrize(
    ("ratios", "smooth", "across"),
    [  # of TensorFlow; an axis before that comes out even takes its numbers too
        ([1, 1.0, 1.5, 1], False, [0, 1, 2, 4, 6, 8, 10, 12, 13, 14, 16, 17]),
        ([1, 1.0, 1.5, 1], True, [0, 2, 3, 5, 6, 8, 9, 11, 12, 14, 16, 17]),
        ([1, 2.5, 1.1, 1], False, [0, 1, 2, 3, 4, 5, 6, 7, 9, 11, 12, 13, 14, 15, 16, 17]),
    ],
)
def test_edges_are_drawn_behind_all_numbers_of_the_axis_before(ratios, smooth, across):
    for pool in (tf.compat.v1.nn.fractional_max_pool, tf.compat.v1.nn.fractional_avg_pool):
        found = pool(np.zeros((1, 13, 17, 1), np.float32), ratios, smooth, False, True, 3, 5)
        assert found[2].numpy().tolist() == across
