"""Several diagonals at once, at either end of their rows: the values are TensorFlow's."""

import numpy as np
import pytest

import gravure.tf as tf

X = np.arange(12, dtype=np.float32).reshape(3, 4) + 1
BAND = {
    "RIGHT_LEFT": [[2, 7, 12], [1, 6, 11], [5, 10, 0]],
    "LEFT_RIGHT": [[2, 7, 12], [1, 6, 11], [0, 5, 10]],
    "LEFT_LEFT": [[2, 7, 12], [1, 6, 11], [5, 10, 0]],
    "RIGHT_RIGHT": [[2, 7, 12], [1, 6, 11], [0, 5, 10]],
}
WIDE = {
    "RIGHT_LEFT": [[9, 3, 8], [2, 7, 12]],
    "LEFT_RIGHT": [[3, 8, 9], [2, 7, 12]],
    "LEFT_LEFT": [[3, 8, 9], [2, 7, 12]],
    "RIGHT_RIGHT": [[9, 3, 8], [2, 7, 12]],
}


@pytest.mark.parametrize("align", sorted(BAND))
def test_diagonals_are_taken_and_put_back(align):
    found = tf.linalg.diag_part(X, k=(-1, 1), align=align)
    assert found.numpy().tolist() == BAND[align]
    high = tf.linalg.diag_part(X, k=(1, 2), align=align, padding_value=9.0)
    assert high.numpy().tolist() == WIDE[align]
    kept = tf.linalg.set_diag(np.zeros_like(X), found, k=(-1, 1), align=align)
    assert np.array_equal(kept, X * (np.tri(3, 4, 1) - np.tri(3, 4, -2)))
    alone = tf.linalg.diag(found, k=(-1, 1), num_rows=3, num_cols=4, align=align)
    assert np.array_equal(alone, kept)


def test_raw_operations_align_to_the_left_before_their_third_version():
    third = tf.raw_ops.MatrixDiagPartV3(input=X, k=(1, 2), padding_value=0.0, align="RIGHT_LEFT")
    second = tf.raw_ops.MatrixDiagPartV2(input=X, k=(1, 2), padding_value=0.0)
    assert third.numpy().tolist() == [[0, 3, 8], [2, 7, 12]]
    assert second.numpy().tolist() == [[3, 8, 0], [2, 7, 12]]


@pytest.mark.parametrize("k", [(2, 1), (-3, 0), (0, 4), 4])
def test_diagonals_outside_of_the_matrix_are_refused(k):
    with pytest.raises(tf.errors.InvalidArgumentError, match="diag_index"):
        tf.linalg.diag_part(X, k=k)


def test_gradients_go_to_the_diagonals():
    diagonals = tf.constant([[0.0, 3.0, 8.0], [2.0, 7.0, 12.0]])
    with tf.GradientTape() as tape:
        tape.watch(diagonals)
        made = tf.linalg.set_diag(X, diagonals, k=(1, 2)) * X
    expected = [[0.0, 3.0, 8.0], [2.0, 7.0, 12.0]]
    assert tape.gradient(made, diagonals).numpy().tolist() == expected
