"""`Einsum` whose result repeats a letter, which is a diagonal: as TensorFlow has it."""

import numpy as np
import pytest

import gravure.tf as tf

SQUARE = np.arange(1, 5, dtype=np.float32).reshape(2, 2)
LINE = np.arange(1, 3, dtype=np.float32)
KNOWN = {  # what TensorFlow's operation gives
    "ij->iij": ([SQUARE], [[[1, 2], [0, 0]], [[0, 0], [3, 4]]]),
    "ij->iji": ([SQUARE], [[[1, 0], [2, 0]], [[0, 3], [0, 4]]]),
    "ij->jii": ([SQUARE], [[[1, 0], [0, 3]], [[2, 0], [0, 4]]]),
    "i->iii": ([LINE], [[[1, 0], [0, 0]], [[0, 0], [0, 2]]]),
    "ii->ii": ([SQUARE], [[1, 0], [0, 4]]),
    "ij,jk->iik": ([SQUARE, SQUARE], [[[7, 10], [0, 0]], [[0, 0], [15, 22]]]),
    "i,j->iji": ([LINE, LINE], [[[1, 0], [2, 0]], [[0, 2], [0, 4]]]),
    "ij,k->kk": ([SQUARE, LINE], [[10, 0], [0, 20]]),
    "...i->...ii": ([SQUARE], [[[1, 0], [0, 2]], [[3, 0], [0, 4]]]),
    "i...->i...i": ([SQUARE], [[[1, 0], [2, 0]], [[0, 3], [0, 4]]]),
    "ij->iijj": ([SQUARE], [[[[1, 0], [0, 2]], [[0] * 2] * 2], [[[0] * 2] * 2, [[3, 0], [0, 4]]]]),
}
SLOPES = {  # of the sum of squares
    "ij->iij": ([SQUARE], [[[2, 4], [6, 8]]]),
    "i,j->iji": ([LINE, LINE], [[10, 20], [10, 20]]),
    "ij,jk->iik": ([SQUARE, SQUARE], [[[54, 122], [118, 266]], [[104, 152], [148, 216]]]),
    "...i->i...i": ([SQUARE], [[[2, 4], [6, 8]]]),
    "ii->iii": ([SQUARE], [[[2, 0], [0, 8]]]),
}


@pytest.mark.parametrize("equation", KNOWN)
@pytest.mark.parametrize("way", ["at once", "compiled", "of unknown rank"])
def test_a_repeated_letter_is_a_diagonal(equation: str, way: str) -> None:
    def product(*xs: tf.Tensor) -> tf.Tensor:
        return tf.raw_ops.Einsum(inputs=xs, equation=equation)

    given, wanted = KNOWN[equation]
    if way != "at once":
        shape = [None] * given[0].ndim if way == "compiled" else None
        rest = [None] * given[-1].ndim if way == "compiled" else None
        specs = [tf.TensorSpec(each) for each in (shape, rest)[-len(given) :]]
        product = tf.function(product, input_signature=specs)
    for _ in range(3):
        np.testing.assert_array_equal(product(*map(tf.constant, given)), wanted)


@pytest.mark.parametrize("equation", SLOPES)
def test_the_gradient_is_what_lies_on_the_diagonal(equation: str) -> None:
    given, wanted = SLOPES[equation]
    xs = [tf.constant(each) for each in given]
    with tf.GradientTape() as tape:
        tape.watch(xs)
        total = tf.reduce_sum(tf.raw_ops.Einsum(inputs=xs, equation=equation) ** 2.0)
    for found, each in zip(tape.gradient(total, xs), wanted, strict=True):
        np.testing.assert_array_equal(found, each)


def test_around_numbers_that_are_not_finite_lie_zeros() -> None:
    strange = tf.constant([np.inf, np.nan])
    made = tf.raw_ops.Einsum(inputs=[strange], equation="i->ii").numpy()
    np.testing.assert_array_equal(made, [[np.inf, 0], [0, np.nan]])
    complex_ = tf.raw_ops.Einsum(inputs=[tf.constant([1j, 2])], equation="i->ii").numpy()
    assert complex_.tolist() == [[1j, 0], [0, 2]]
    none = tf.raw_ops.Einsum(inputs=[tf.zeros([0, 2], tf.int32)], equation="ij->iij")
    assert none.shape == [0, 0, 2]
    assert none.dtype == tf.int32


@pytest.mark.parametrize("equation", ["ij->iij", "...i->i...i", "...i->......i"])
def test_the_function_takes_each_letter_once(equation: str) -> None:
    with pytest.raises(ValueError, match="label appearing more than once"):
        tf.einsum(equation, SQUARE)
    with pytest.raises(ValueError, match="label appearing more than once"):
        tf.function(lambda x: tf.einsum(equation, x))(SQUARE)


def test_the_function_knows_the_letters_of_its_result() -> None:
    with pytest.raises(ValueError, match="the label k not present in the input"):
        tf.einsum("ij->ijk", SQUARE)
