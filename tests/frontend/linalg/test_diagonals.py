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


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (tf.linalg.diag, "diagonal must be at least 1-dim.*at least rank 1"),
        (tf.linalg.diag_part, "input must be at least 2-dim.*at least rank 2"),
        (lambda x: tf.linalg.set_diag(x, [x]), "input must be at least 2-dim.*at least rank 2"),
        (lambda x: tf.linalg.set_diag([[x]], x), "diagonal must be at least 1-dim"),
        (tf.linalg.tensor_diag, "at least rank 1"),
        (tf.linalg.tensor_diag_part, "at least rank 2"),
    ],
    ids=range(6),
)
def test_too_few_axes_are_told_when_a_graph_is_made_or_run(make, said):
    with pytest.raises(tf.errors.InvalidArgumentError, match=said):
        make(tf.constant(0.0))
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        with pytest.raises(ValueError, match=said):
            make(tf.constant(0.0))
        x = tf.compat.v1.placeholder(tf.float32)
        made = make(x)
        with pytest.raises(tf.errors.InvalidArgumentError, match=said):
            session.run(made, {x: 0.0})


def test_matrices_of_unknown_axes_get_other_diagonals():
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x, v = (tf.compat.v1.placeholder(tf.float32) for _ in range(2))
        made = tf.linalg.set_diag(x, v)
        grads = tf.compat.v1.gradients(made, [x, v])
        ones = np.ones((2, 2), np.float32)
        found = session.run([made, *grads], {x: ones, v: [3.0, 4.0]})
        for value, expected in zip(
            found, ([[3, 1], [1, 4]], [[0, 1], [1, 0]], [1, 1]), strict=True
        ):
            np.testing.assert_array_equal(value, expected)
        with pytest.raises(tf.errors.InvalidArgumentError, match="first dimensions of diagonal"):
            session.run(made, {x: np.ones((2, 3, 3)), v: np.ones((2, 4))})


def test_diagonals_beyond_a_matrix_have_no_elements():
    given = np.arange(1, 13, dtype=np.float32).reshape(4, 3)
    made = tf.linalg.diag(given, k=(0, 3), num_rows=3, align="LEFT_LEFT")
    expected = np.diag(given[3]) + np.diag(given[2, :2], 1) + np.diag(given[1, :1], 2)
    np.testing.assert_array_equal(made, expected)


def test_diagonals_are_of_two_halves_of_axes():
    for shape in ((2, 2, 2), (2, 3)):
        with pytest.raises(tf.errors.InvalidArgumentError, match="even rank"):
            tf.linalg.tensor_diag_part(np.ones(shape))


@pytest.mark.parametrize("shape", [(2, 300, 500), (700, 400)])
@pytest.mark.parametrize("ends", [(1, 2), (0, 0), (699, 3), (2, 30)])
def test_bands_of_many_elements_are_those_that_masks_leave(shape, ends):
    x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
    row, column = np.indices(shape[-2:])
    kept = (row - column <= ends[0]) & (column - row <= ends[1])
    for _ in range(4):  # what is done is remembered
        found = tf.linalg.band_part(tf.constant(x), *ends)
        np.testing.assert_array_equal(found, np.where(kept, x, 0))


@pytest.mark.parametrize("ends", [(0, 0), (1, 2), (30, 0), (-1, 3), (2, -1), (60, 60), (-1, -1)])
@pytest.mark.parametrize("shape", [(40, 40), (2, 33, 50), (3, 50, 33)])
def test_bands_of_many_elements_are_those_of_a_function(
    shape: tuple[int, ...], ends: tuple[int, int]
) -> None:
    x = np.random.default_rng(1).normal(size=shape).astype(np.float32)
    row, column = np.indices(shape[-2:])
    low, high = (1000 if end < 0 else end for end in ends)
    kept = (row - column <= low) & (column - row <= high)
    staged = tf.function(lambda x: tf.linalg.band_part(x, *ends))
    for found in (tf.linalg.band_part(x, *ends), staged(tf.constant(x))):
        np.testing.assert_array_equal(found, np.where(kept, x, 0))


@pytest.mark.parametrize("k", [0, 3, -2, (-1, 2)])
@pytest.mark.parametrize("shape", [(6, 6), (2, 5, 8), (3, 9, 4), (0, 6, 6)])
def test_other_diagonals_are_those_of_a_function(shape: tuple[int, ...], k: object) -> None:
    x = tf.constant(np.random.default_rng(2).normal(size=shape))
    other = tf.linalg.diag_part(x, k=k) * 2.0 + 1.0
    rows, columns = shape[-2:]

    def both(x: tf.Tensor, other: tf.Tensor) -> list[tf.Tensor]:
        made = tf.linalg.diag(other, k=k, num_rows=rows, num_cols=columns, padding_value=7.0)
        return [tf.linalg.set_diag(x, other, k=k), made]

    for found, wanted in zip(both(x, other), tf.function(both)(x, other), strict=True):
        np.testing.assert_array_equal(found, wanted)
    with tf.GradientTape() as tape:
        tape.watch([x, other])
        recorded = both(x, other)
        loss = tf.reduce_sum(recorded[0] ** 2.0) + tf.reduce_sum(recorded[1])
    for found, wanted in zip(recorded, both(x, other), strict=True):
        np.testing.assert_array_equal(found, wanted)
    assert tape.gradient(loss, x).shape == x.shape


@pytest.mark.parametrize("shape", [(3, 3), (2, 4, 7), (7, 4)])
def test_traces_add_up_diagonals(shape: tuple[int, ...]) -> None:
    x = np.random.default_rng(3).normal(size=shape)
    for found in (tf.linalg.trace(x), tf.function(tf.linalg.trace)(tf.constant(x))):
        np.testing.assert_allclose(found, np.trace(x, axis1=-2, axis2=-1))
