"""Texts are put in places as numbers are; arrays of numbers are truth values where these are asked.

Values are those of TensorFlow 2.21.
"""

import numpy as np
import pytest

import gravure.tf as tf

WORDS = tf.constant([["Hello", "World"], ["Good", "Moon"]])
PADDED = {
    "CONSTANT": [["-", "-", "-"], ["Hello", "World", "-"], ["Good", "Moon", "-"]],
    "REFLECT": [["Good", "Moon", "Good"], ["Hello", "World", "Hello"], ["Good", "Moon", "Good"]],
    "SYMMETRIC": [
        ["Hello", "World", "World"],
        ["Hello", "World", "World"],
        ["Good", "Moon", "Moon"],
    ],
}


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("mode", PADDED)
def test_texts_are_put_around_texts(mode, staged):
    def padded():
        return tf.pad(WORDS, [[1, 0], [0, 1]], mode=mode, constant_values="-")

    found = (tf.function(padded) if staged else padded)()
    assert found.numpy().tolist() == [[x.encode() for x in row] for row in PADDED[mode]]


@pytest.mark.parametrize("staged", [False, True])
def test_texts_are_put_at_places(staged):
    def put():
        return tf.scatter_nd([[4], [1], [1]], tf.constant(["four", "one", "more"]), (5,))

    found = (tf.function(put) if staged else put)()
    assert found.numpy().tolist() == [b"", b"onemore", b"", b"", b"four"]
    variable = tf.Variable(["a", "b", "c"])
    variable.scatter_nd_update([[2], [0]], ["z", "y"])
    assert variable.numpy().tolist() == [b"y", b"b", b"z"]


def test_an_array_of_numbers_holds_truth_values():
    numbers = np.array([2.0, 0.0], np.float32)
    assert not tf.reduce_all(numbers)
    assert tf.logical_and(numbers, np.array([1, 1])).numpy().tolist() == [True, False]
    assert tf.where(np.array([1, 0]), [5, 6], [7, 8]).numpy().tolist() == [5, 8]
    assert not tf.function(lambda: tf.reduce_all(numbers))()


def test_a_list_of_nothing_holds_places():
    assert tf.one_hot([], 3).shape == [0, 3]
    assert tf.sparse.segment_sum(tf.zeros([0, 4]), [], []).shape == [0, 4]


def test_a_number_of_batches_may_be_a_tensor():
    rows = tf.constant([[1, 2], [3, 4]])
    assert tf.gather_nd(rows, [[0], [1]], batch_dims=tf.constant(1)).numpy().tolist() == [1, 4]


def test_what_is_behind_a_sparse_value_is_asked_for_as_of_the_tensor():
    value = tf.compat.v1.SparseTensorValue([(0, 1), (1, 0)], (42, 24), (2, 2))
    assert tf.shape(value).numpy().tolist() == [2, 2]
    assert (int(tf.size(value)), int(tf.rank(value))) == (4, 2)


def test_a_variable_without_axes_is_assigned_by_slices():
    variable = tf.Variable(2.0)
    for key, value in (((), 6.0), (..., 7.0), (None, [8.0])):
        variable[key].assign(value)
        assert float(variable) == np.ravel(value)[0]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_channels_have_ends_of_their_own(axis):
    x = tf.constant([[1.0, -2.0], [0.3, 0.4]])
    found = tf.quantization.quantize_and_dequantize_v2(x, 0.0, 0.0, axis=axis, range_given=False)
    wanted = [[1.0, -2.0], [0.2992126, 0.4 if axis == 0 else 0.40625]]
    assert np.allclose(found, wanted, rtol=1e-6)
    low, high = tf.constant([-1.0, -0.2]), tf.constant([0.5, 2.0])
    with tf.GradientTape() as tape:
        tape.watch([x, low, high])
        y = tf.quantization.quantize_and_dequantize_v2(x, low, high, axis=0, range_given=True)
    grads = [g.numpy().tolist() for g in tape.gradient(y, [x, low, high])]
    assert grads == [[[0.0, 0.0], [1.0, 1.0]], [1.0, 0.0], [1.0, 0.0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least rank 11 but is rank 2"):
        tf.quantization.quantize_and_dequantize_v2(x, 0.0, 0.0, axis=10)
