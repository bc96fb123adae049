"""Functions of ragged tensors are compiled: rows are the host's, values are not."""

import numpy as np
import pytest

import gravure.tf as tf


def test_steps_on_rows_are_compiled_around_what_the_host_finds():
    weights = tf.Variable(np.linspace(-1, 1, 6, dtype="f").reshape(3, 2))

    @tf.function
    def step(flat, splits, rate):
        with tf.GradientTape() as tape:
            rows = tf.RaggedTensor.from_row_splits(flat, splits)
            hidden = rows.with_flat_values(tf.tanh(tf.matmul(rows.flat_values, weights)))
            pooled = tf.reduce_mean(hidden, 1) + tf.reduce_max(hidden, 1)
            loss = tf.reduce_sum((pooled - 1.0) ** 2)
        weights.assign_sub(rate * tape.gradient(loss, weights))
        return loss

    flat = tf.constant(np.arange(15, dtype="f").reshape(5, 3) / 15)
    losses = [float(step(flat, tf.constant([0, 2, 3, 5]), 0.1)) for _ in range(12)]
    assert losses[-1] < 0.9 * losses[0]
    assert not [line for line in step.explain() if "not compiled" in line]

    hidden = np.tanh(flat.numpy() @ weights.numpy())
    parts = [hidden[:2], hidden[2:3], hidden[3:]]
    pooled = np.stack([p.mean(0) + p.max(0) for p in parts])
    expected = ((pooled - 1) ** 2).sum()
    assert float(step(flat, tf.constant([0, 2, 3, 5]), 0.0)) == pytest.approx(expected, rel=1e-5)


def test_rows_may_have_other_lengths_without_another_trace():
    @tf.function(input_signature=[tf.RaggedTensorSpec([None, None], tf.float32)])
    def total(rows):
        return tf.reduce_sum(rows * 2.0, 1), tf.concat([rows, rows], 1), rows.to_tensor()

    for rows in ([[1.0, 2.0], [3.0]], [[], [4.0]], [[5.0]], [[1.0], [2.0], [3.0, 4.0, 5.0]]):
        sums, twice, dense = total(tf.ragged.constant(rows, tf.float32))
        np.testing.assert_allclose(sums, [2 * sum(row) for row in rows])
        assert twice.to_list() == [row + row for row in rows]
        assert dense.shape == (len(rows), max(map(len, rows)))
    assert total.experimental_get_tracing_count() == 1


def test_a_wrong_partition_is_refused_by_compiled_code_too():
    @tf.function
    def rows(splits):
        return tf.RaggedTensor.from_row_splits(tf.constant([1.0, 2.0, 3.0]), splits).to_tensor()

    for _ in range(3):
        assert rows(tf.constant([0, 1, 3])).shape == (2, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"monotonic|zero|hold"):
        rows(tf.constant([0, 4, 3]))


def test_rows_of_texts_are_filled_up_in_one_step():
    @tf.function(input_signature=[tf.TensorSpec([None], tf.string)])
    def words(lines):
        rows = tf.strings.split(lines)
        return rows.to_tensor("-"), rows.to_tensor(shape=[None, 2])

    for lines in (["a b c", "d"], ["", "e f"], ["g"], ["a b c", "d"]):
        pieces = [line.split() for line in lines]
        longest = max(map(len, pieces))
        filled, cut = (made.numpy().astype(str).tolist() for made in words(lines))
        assert filled == [row + ["-"] * (longest - len(row)) for row in pieces]
        assert cut == [[*row, "", ""][:2] for row in pieces]
    assert not [line for line in words.explain() if "Python" in line]


ROWS = {
    1: [[[1.0, 2.0], [], [3.0]], [[5.0]], [[], []], [[1.0] * 5, [9.0, 8.0]]],
    2: [[[[1.0, 2.0], []], [[3.0]]], [[], [[4.0, 5.0]]], [[[]]]],
}


@pytest.mark.parametrize("how", ["sum", "max", "min", "prod", "mean"])
@pytest.mark.parametrize("level", ROWS)
def test_innermost_rows_are_reduced_without_steps_of_python(level, how):
    reduced = getattr(tf.math, f"reduce_{how}")

    def body(x):
        with tf.GradientTape() as tape:
            tape.watch(x.flat_values)
            found = reduced(x, level) * 2.0
        return found, tape.gradient(getattr(found, "flat_values", found), x.flat_values)

    spec = tf.RaggedTensorSpec([None] * (level + 1), tf.float32)
    function = tf.function(body, input_signature=[spec])
    given = [tf.ragged.constant(x, dtype="float32", ragged_rank=level) for x in ROWS[level]]
    wanted = [body(x) for x in given]
    for x, each in [*zip(given, wanted, strict=True)] * 10:
        (found, slope), (other, wanted_slope) = function(x), each
        assert str(found) == str(other)
        np.testing.assert_array_equal(slope, wanted_slope)
    assert not [line for line in function.explain() if "by Python" in line]
