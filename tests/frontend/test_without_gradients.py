"""What has no gradient says so where one is asked for, as in TensorFlow, and gives no None."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from gravure import tf

IMAGES = np.ones((1, 4, 4, 3), np.float32)
BOXES = np.float32([[[0.1, 0.1, 0.9, 0.9]]])

REFUSED: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "DrawBoundingBoxesV2": (
        lambda x: tf.image.draw_bounding_boxes(x, BOXES, [[1.0, 0.0, 0.0]]),
        IMAGES,
    ),
    "SparseCount": (
        lambda x: tf.sparse.bincount([0, 1, 1], weights=x).values,
        np.float32([1, 2, 3]),
    ),
    "CombinedNonMaxSuppression": (
        lambda x: tf.image.combined_non_max_suppression(BOXES[:, :, None], x, 1, 1)[1],
        np.float32([[[0.5]]]),
    ),
    "NonMaxSuppressionV5": (
        lambda x: tf.image.non_max_suppression_with_scores(BOXES[0], x, 1)[1],
        np.float32([0.5]),
    ),
    "Bitcast": (lambda x: tf.bitcast(x, tf.float32), np.float32([1.5])),
    "RandomPoissonV2": (lambda x: tf.random.poisson([2], x), np.float32([1, 2])),
    "StatefulRandomBinomial": (
        lambda x: tf.random.Generator.from_seed(1).binomial([1], [3.0], x, tf.float32),
        np.float32([0.5]),
    ),
    "StatelessSampleDistortedBoundingBox": (
        lambda x: tf.image.stateless_sample_distorted_bounding_box([4, 4, 3], x, [1, 2])[2],
        BOXES,
    ),
    "MatrixLogarithm": (lambda x: tf.abs(tf.linalg.logm(x)), np.eye(2, dtype=np.complex64)),
}
FLAT: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "CTCGreedyDecoder": (
        lambda x: tf.nn.ctc_greedy_decoder(x, [2])[1],
        np.float32([[[0.1, 0.9]], [[0.8, 0.2]]]),
    ),
    "DrawBoundingBoxes": (
        lambda x: tf.image.draw_bounding_boxes(x, BOXES, None),
        IMAGES,
    ),
    "SampleDistortedBoundingBoxV2": (
        lambda x: tf.image.sample_distorted_bounding_box([4, 4, 3], x)[2],
        BOXES,
    ),
    "StatelessRandomBinomial": (
        lambda x: tf.random.stateless_binomial([1], [1, 2], [3.0], x, tf.float32),
        np.float32([0.5]),
    ),
    "StatelessRandomPoisson": (
        lambda x: tf.random.stateless_poisson([2], [1, 2], x, tf.float32),
        np.float32([1, 2]),
    ),
    "LookupTableFindV2": (
        lambda x: tf.lookup.StaticHashTable(
            tf.lookup.KeyValueTensorInitializer([1, 2], [1.0, 2.0], tf.int32, tf.float32), 0.0
        ).lookup(tf.cast(x, tf.int32)),
        np.float32([1, 2]),
    ),
    "HSVToRGB": (tf.image.hsv_to_rgb, IMAGES),
    "OneHot": (lambda x: tf.one_hot([0, 1], 2, tf.cast(x, tf.float32)), np.float32(2)),
    "Polygamma": (lambda x: tf.math.polygamma(x, tf.constant([1.5, 2.0])), np.float32([1, 2])),
    "RandomShuffle": (tf.random.shuffle, np.float32([1, 2])),
    "SparseConcat": (
        lambda x: tf.sparse.concat(1, [tf.SparseTensor([[0, 0]], x, [2, 2])] * 2).values,
        np.float32([1]),
    ),
    "Zeta": (lambda x: tf.math.zeta(x, tf.constant([1.5, 2.0])), np.float32([2, 3])),
}


def slope(function: Callable[[Any], Any], x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        made = function(x)
    return tape.gradient(made, x)


def in_a_session(function: Callable[[Any], Any], x: Any) -> Any:
    with tf.Graph().as_default():
        given = tf.compat.v1.placeholder(x.dtype, x.shape)
        return tf.gradients(function(given), given)[0]


@pytest.mark.parametrize("name", REFUSED)
def test_gradients_that_are_not_there_are_refused(name: str) -> None:
    function, x = REFUSED[name]
    given = tf.constant(x)
    for way in (slope, tf.function(slope)):
        with pytest.raises(LookupError, match=f"No gradient defined for operation .*{name}"):
            way(function, given)
    with pytest.raises(LookupError, match=f"No gradient defined for operation .*{name}"):
        in_a_session(function, given)


@pytest.mark.parametrize("name", FLAT)
def test_constants_have_none(name: str) -> None:
    function, x = FLAT[name]
    given = tf.constant(x)
    assert slope(function, given) is None
    assert tf.function(slope)(function, given) is None
    assert in_a_session(function, given) is None
