"""What does not fit is refused by name, and never by what numpy or Python says of it."""

from collections.abc import Callable

import pytest

import gravure.tf as tf

v1 = tf.compat.v1
WRONG: dict[str, tuple[Callable[[], object], str]] = {
    "places of one size": (lambda: v1.sparse_to_dense([1, 3], [[5], [3]], 1, -1), "rank 1"),
    "three for two": (lambda: v1.sparse_to_dense([1, 3], [5], [1, 2, 3]), "incorrect shape"),
    "parts along two axes": (
        lambda: tf.sparse.split(tf.sparse.eye(4), 2, axis=[0, 1]), "axis should be a scalar"
    ),
    "columns before the first": (
        lambda: v1.decode_csv(["1,2"], [[0]], select_cols=[-1]), "negative"
    ),
    "columns backwards": (
        lambda: v1.decode_csv(["1,2"], [[0], [0]], select_cols=[1, 0]), "strictly increasing"
    ),
    "one class for none": (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits(0, 1.0), "cannot be a scalar"
    ),
    "two classes for each": (
        lambda: tf.nn.sparse_softmax_cross_entropy_with_logits([[0, 1]], [[1.0, 2.0]]), "rank"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_what_does_not_fit_is_refused_by_name(what: str) -> None:
    call, text = WRONG[what]
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=text):
        call()
    with tf.Graph().as_default(), pytest.raises(ValueError, match=text):
        call()


def test_matrices_of_short_and_of_plain_floats_have_products_of_plain_ones() -> None:
    short, plain = tf.ones([2, 3], tf.bfloat16), tf.ones([3, 2])
    found = tf.matmul(short, plain, a_is_sparse=True)
    assert (found.dtype, found.numpy().tolist()) == (tf.float32, [[3, 3], [3, 3]])
