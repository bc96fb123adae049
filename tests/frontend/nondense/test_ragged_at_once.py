"""What is done to rows at once in loops is what functions do to them by places."""

import numpy as np
import pytest

import gravure.tf as tf

RNG = np.random.default_rng(0)
COUNTS = RNG.integers(0, 90, 200)


def rows(dtype=np.float32, splits=np.int64, inner=()):
    values = RNG.integers(0, 99, (COUNTS.sum(), *inner)).astype(dtype)
    return tf.RaggedTensor.from_row_lengths(values, COUNTS.astype(splits))


def deep():
    return tf.RaggedTensor.from_row_lengths(rows(), [50, 0, 149, 1])


def parts(made):
    if isinstance(made, tf.RaggedTensor):
        return [made.flat_values, *made.nested_row_splits]
    if isinstance(made, tf.sparse.SparseTensor):
        return [made.indices, made.values, made.dense_shape]
    return [made]


GIVEN = {
    "floats": rows(),
    "whole numbers": rows(np.int32, np.int32),
    "long ones": rows(np.float64),
    "rows of pairs": rows(inner=(2,)),
    "rows of rows": deep(),
    "few": tf.ragged.constant([[1.0, 2.0], [], [3.0]]),
    "none": tf.ragged.constant([[], []], tf.float32),
}
OPERATIONS = {
    "to_tensor": lambda x: x.to_tensor(),
    "to_tensor 7": lambda x: x.to_tensor(7),
    "to_tensor cut": lambda x: x.to_tensor(3, shape=[20, 9, *[None] * (x.shape.rank - 2)]),
    "to_tensor wide": lambda x: x.to_tensor(3, shape=[230, 100, *[None] * (x.shape.rank - 2)]),
    "to_sparse": lambda x: x.to_sparse(),
    "concat": lambda x: tf.concat([x, x, x], 0),
    "stack": lambda x: tf.stack([x, x]),
    "stack 1": lambda x: tf.stack([x, x], 1),
    "expand_dims": lambda x: tf.expand_dims(x, 0),
    "expand_dims 1": lambda x: tf.expand_dims(x, 1),
    "lengths": lambda x: x.row_lengths(),
}


@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.parametrize("name", OPERATIONS)
def test_rows_become_at_once_what_they_become_in_functions(name, given):
    run, x = OPERATIONS[name], GIVEN[given]
    spec = tf.RaggedTensorSpec(
        [None] * x.shape.rank if given != "rows of pairs" else [None, None, 2],
        x.dtype, x.ragged_rank, x.row_splits.dtype,
    )  # fmt: skip
    staged = tf.function(run, input_signature=[spec])(x)
    for one, other in zip(parts(run(x)), parts(staged), strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


def test_long_rows_are_filled_up_as_lists_are():
    x = GIVEN["floats"]
    width = max(COUNTS)
    wanted = [row + [-2.0] * (width - len(row)) for row in x.to_list()]
    assert x.to_tensor(-2).numpy().tolist() == wanted
    assert tf.concat([x, x], 0).to_list() == 2 * x.to_list()
    assert tf.stack([x, x]).to_list() == [x.to_list()] * 2


def test_gradients_go_through_rows_that_only_are_cut_otherwise():
    flat = tf.constant(RNG.random(COUNTS.sum(), np.float32))
    with tf.GradientTape() as tape:
        tape.watch(flat)
        x = tf.RaggedTensor.from_row_lengths(flat, COUNTS)
        made = tf.stack([x, x * 2])
        total = tf.reduce_sum(made.flat_values**2) + tf.reduce_sum(x.to_tensor() ** 3)
    wanted = 2 * flat.numpy() + 8 * flat.numpy() + 3 * flat.numpy() ** 2
    np.testing.assert_allclose(tape.gradient(total, flat), wanted, rtol=1e-5)


@pytest.mark.parametrize("dtype", [np.int32, np.int64, np.float32])
def test_ranges_step_up_and_down_as_those_of_numpy(dtype):
    starts, limits = RNG.integers(-50, 50, (2, 30)).astype(dtype)
    steps = RNG.choice([-3, -1, 2, 5], 30).astype(dtype)
    wanted = [
        np.arange(*each, dtype=dtype).tolist() for each in zip(starts, limits, steps, strict=True)
    ]
    assert tf.ragged.range(starts, limits, steps).to_list() == wanted
    made = tf.function(tf.ragged.range)(starts, limits, steps)
    assert made.to_list() == wanted
    assert made.dtype == dtype
    assert tf.ragged.range(dtype(3), limits).to_list() == [np.arange(3, x).tolist() for x in limits]


def test_lengths_that_are_known_are_not_found_again():
    x = tf.RaggedTensor.from_row_splits([1.0, 2.0, 3.0], [0, 2, 2, 3])
    assert x.row_lengths() is x.row_lengths()
    assert x.row_lengths().numpy().tolist() == [2, 0, 1]
