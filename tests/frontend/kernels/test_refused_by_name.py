"""What functions of arrays say of arguments that do not fit: the words of TensorFlow's tests."""

import numpy as np
import pytest

import gravure.tf as tf

Refusal = ValueError | tf.errors.InvalidArgumentError
M = tf.constant([[1, 2, 3], [4, 5, 6]])
REFUSED = {
    "gather_nd": (lambda: tf.gather_nd([0, 1, 2], [[[0], [7]]]), r"indices\[0,1\] = \[7\] does not "
                  r"index into param shape \[3\]"),
    "gather_nd_of_nothing": (lambda: tf.gather_nd(np.zeros((0, 3)), [[0, 0]]),
                             r"Requested more than 0 entries, but params is empty\."),
    "gather_axis": (lambda: tf.gather([1, 2], 0, axis=1), "Shape must be at least rank 2 but is "
                    "rank 1"),
    "gather_type": (lambda: tf.gather([1, 2], 0.5), r"float.* not in.* list of allowed values"),
    "scatter": (lambda: tf.scatter_nd([[3]], [1], [2]), r"indices\[0\] = \[3\] does not index into "
                r"shape \[2\]"),
    "scatter_rows": (lambda: tf.scatter_nd(np.zeros([3, 2, 2], int), np.zeros([2, 2, 2]), [2, 2]),
                     r"Dimensions \[0,2\) of indices\[shape=\[3,2,2\]\] must match"),
    "scatter_slices": (lambda: tf.scatter_nd(np.zeros([2, 1], int), np.zeros([2, 3]), [2, 2]),
                       r"Dimensions \[1,2\) of input\[shape=\[2,2\]\] must match"),
    "scatter_into_nothing": (lambda: tf.scatter_nd([[0]], [1], [0]), "Indices and updates "
                             "specified for empty output"),
    "scatter_into_a_number": (lambda: tf.Variable(0.0).scatter_nd_update([[0]], [0.5]),
                              "Output must be at least 1-D"),
    "scatter_of_a_variable": (lambda: tf.Variable([0.0, 1.0]).scatter_nd_update([[0]], [[0.5]]),
                              "of input"),
    "split": (lambda: tf.split([0, 1, 2, 3], 3), "should evenly divide"),
    "split_parts": (lambda: tf.split([1, 2], [1, 2]), "Determined shape must either match input"),
    "split_negative": (lambda: tf.split([1, 2, 3], [-1, -2]), "Split size at index 1 must be >= 0"
                       r"\. Got: -2"),
    "split_number": (lambda: tf.split([1, 2], tf.constant(2)), "Rank-0 tensors are not supported"),
    "stack": (lambda: tf.stack([[1], [2]], axis=-3), r"Argument `axis` = -3 not in range \[-2, 2"),
    "stack_shapes": (lambda: tf.stack([tf.zeros([0, 3]), tf.zeros([1, 3])]), "Shapes of all inputs"
                     " must match"),
    "unstack": (lambda: tf.unstack(M, axis=2), r"Argument `axis` = 2 not in range \[-2, 2\)"),
    "pad": (lambda: tf.pad(M, [[1, 0], [2, 1]], mode="weird"), "Received `mode` = WEIRD"),
    "reverse": (lambda: tf.reverse_sequence(M, [1, 2, 3], 1), r"Length of seq_lengths != input\."),
    "reverse_rank": (lambda: tf.reverse_sequence(M, [[1, 2]], 1), "seq_lengths must be 1-dim"),
    "reshape": (lambda: tf.reshape(M, [4, -1]), "must be evenly divisible by 4"),
    "reshape_negative": (lambda: tf.reshape([1, 2, 3, 4, 5, 6], [-2, -3]), "size 0 of shape"),
    "reshape_too_large": (lambda: tf.reshape([1], [2**40, 2**40]), "too many elements"),
    "broadcast": (lambda: tf.broadcast_to([0, 1], [2, 1]), r"tensor of shape \[2\] to tensor of "
                  r"shape \[2,1\]"),
    "transpose": (lambda: tf.linalg.matrix_transpose([1, 2]), "should be a .* rank >= 2"),
    "mask": (lambda: tf.sequence_mask([10, 20], [10, 20]), "`maxlen` must be scalar"),
    "bitcast": (lambda: tf.bitcast(np.zeros([1, 1], np.int8), tf.int32), "Cannot bitcast from 6 to"
                " 3"),
    "unravel": (lambda: tf.unravel_index(1, [2**28, 2**28]), "causing integer overflow"),
    "ragged_list": (lambda: tf.constant([[1, 2], [3]]), "inhomogeneous shape"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("stage", [False, True])
def test_what_does_not_fit_is_said(name, stage):
    call, match = REFUSED[name]
    if (stage and "variable" in name) or name == "scatter_into_a_number":
        stage = False  # a function makes no variables at each call
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=match):
        (tf.function(call) if stage else call)()


def test_types_of_one_hot_are_the_same():
    with pytest.raises(TypeError, match="float64 of on_value does not match dtype float32"):
        tf.one_hot([0], 3, np.asarray(1.0, np.float64), np.asarray(0.0, np.float32))


def test_a_constant_of_another_shape():
    with pytest.raises(TypeError, match="Expected Tensor's shape"):
        tf.constant([1, 2, 3], shape=[2])


def test_scalars_are_not_joined_along_an_axis_that_a_run_knows():
    with tf.Graph().as_default():
        axis = tf.compat.v1.placeholder(tf.int32)
        with pytest.raises(ValueError, match="Can't concatenate scalars"):
            tf.concat([tf.constant(7)] * 2, axis)
        with pytest.raises(ValueError, match="`num` from shape"):
            tf.split([1, 2], tf.compat.v1.placeholder(tf.int32, [None]))
        with pytest.raises(ValueError, match="3 numbers for a tensor of rank 2"):
            tf.tile(M, tf.compat.v1.placeholder(tf.int32, [3]))
        image = tf.compat.v1.placeholder(tf.float32)
        assert tf.nn.depth_to_space(image, 2).shape.rank == 4
        assert tf.nn.space_to_depth(image, 2).shape.rank == 4
        with pytest.raises(TypeError, match=r"Iterating over a symbolic `tf\.Tensor`"):
            iter(image)


def test_slices_of_no_rows_in_batches_are_none():
    assert tf.gather([[1, 2], [3, 4]], [1, 0], axis=1, batch_dims=None).numpy().tolist() == [
        [2, 1],
        [4, 3],
    ]
    assert tf.gather_nd(np.zeros((0, 3)), np.zeros((0, 2), int)).shape == (0,)
