"""Images with boxes and rows that never rise: compiled loops give what plain steps give."""

import math

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.eager import in_loops
from gravure.frontend.tf.image import drawing
from gravure.frontend.tf.special import isotonic
from gravure.ir.ops.conv import ConvTranspose
from gravure.ir.ops.pool import AvgPool, MaxPoolGradient
from gravure.ir.windows import Windows

RANDOM = np.random.default_rng(9)


def outlined(images, boxes, colours):
    """Return images with the edges of boxes, drawn slice by slice."""
    made = images.copy()
    height, width = images.shape[1:3]
    for image, own in zip(made, boxes, strict=True):
        for number, box in enumerate(own):
            scaled = box * np.float32([height - 1, width - 1] * 2)
            top, left, bottom, right = np.trunc(scaled).astype(int).tolist()
            seen = top < height and left < width and bottom >= 0 and right >= 0
            if top > bottom or left > right or not seen:
                continue
            colour = colours[number % len(colours), : images.shape[3]]
            for row in {top, bottom} & {*range(height)}:
                image[row, max(left, 0) : right + 1] = colour
            for column in {left, right} & {*range(width)}:
                image[max(top, 0) : bottom + 1, column] = colour
    return made


@pytest.mark.parametrize("dtype", ["float32", "float16", "float64"])
@pytest.mark.parametrize("depth", [1, 3, 4])
def test_boxes_are_drawn_one_after_the_other(depth, dtype):
    images = RANDOM.random((2, 9, 13, depth)).astype(dtype)
    boxes = (RANDOM.random((2, 40, 4)) * 2 - 0.5).astype(np.float32)
    boxes[0, :20] = np.sort(boxes[0, :20].reshape(20, 2, 2), 1).reshape(20, 4)
    colours = RANDOM.random((3, 4)).astype(np.float32)
    found = tf.image.draw_bounding_boxes(images, boxes, colours)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, outlined(images, boxes, colours))


def test_boxes_that_no_number_says_and_none_change_nothing():
    images = RANDOM.random((1, 4, 4, 3)).astype(np.float32)
    colours = np.ones((1, 3), np.float32)
    for boxes in (np.zeros((1, 0, 4), np.float32), np.full((1, 1, 4), 1e30, np.float32)):
        found = tf.image.draw_bounding_boxes(images, boxes, colours)
        np.testing.assert_array_equal(found, images)


def test_compiled_loops_are_their_python():
    images = RANDOM.random((2, 5, 7, 3)).astype(np.float32)
    boxes = (RANDOM.random((2, 6, 4)) * 2 - 0.5).astype(np.float32)
    ends = drawing._ends(boxes, 5, 7)
    colours = RANDOM.random((2, 3)).astype(np.float32)
    made = [images.ravel().copy() for _ in "ab"]
    drawing._draw_narrow(made[0], ends, colours, 5, 7, 3, 6)
    drawing._draw_narrow.function(made[1], ends.ravel(), colours.ravel(), 5, 7, 3, 6)
    assert made[0].tobytes() == made[1].tobytes()


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "int32"])
def test_rows_never_rise_and_pools_are_means(dtype):
    x = (RANDOM.random((7, 30)) * 50).astype(dtype)
    for _ in range(4):  # remembered from some call on
        found, pools = tf.nn.isotonic_regression(x)
    assert found.dtype == isotonic.PROMOTED.get(dtype, "float64")
    for row, own, numbers in zip(x, found.numpy(), pools.numpy(), strict=True):
        assert (np.diff(own.astype(np.float64)) <= 0).all()
        assert {*np.diff(numbers).tolist()} <= {0, 1}
        for number in range(numbers[-1] + 1):
            mean = row[numbers == number].astype(np.float64).mean()
            np.testing.assert_allclose(own[numbers == number], mean, rtol=1e-3)


@pytest.mark.parametrize("sample", [s for s in AvgPool.SAMPLES if math.prod(s.shapes[0])])
def test_means_of_few_elements_are_those_of_numpys_steps(sample):
    attributes = dict(AvgPool.complete(sample.attributes))
    for dtype in (np.float32, np.float64):
        x = (RANDOM.random(sample.shapes[0]) - 0.5).astype(dtype)
        (wanted,) = AvgPool.evaluate(x, **attributes)
        found = in_loops.means(**attributes)(x)
        assert found.dtype == dtype
        assert found.tobytes() == wanted.tobytes()


@pytest.mark.parametrize("kind", ["plain", "equal", "rare"])
@pytest.mark.parametrize("sample", [s for s in MaxPoolGradient.SAMPLES if math.prod(s.shapes[0])])
def test_gradients_of_few_elements_are_those_of_numpys_steps(sample, kind):
    attributes = dict(MaxPoolGradient.complete(sample.attributes))
    for dtype in (np.float32, np.float64):
        x, grad = ((RANDOM.random(shape) - 0.5).astype(dtype) for shape in sample.shapes)
        if kind == "equal":
            x = np.round(x * 3)
        if kind == "rare":
            x[RANDOM.random(x.shape) < 0.3] = np.nan
            x[RANDOM.random(x.shape) < 0.6] = -np.inf
        (wanted,) = MaxPoolGradient.evaluate(x, grad, **attributes)
        found = in_loops.back_to_largest(**attributes)(x, grad)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found, wanted)


def test_a_window_that_sees_nothing_has_no_mean():
    (wanted,) = AvgPool.evaluate(np.ones((1, 4, 2), np.float32), **NOTHING)
    np.testing.assert_array_equal(in_loops.means(**NOTHING)(np.ones((1, 4, 2), "f")), wanted)


NOTHING = {"window": (2,), "strides": (1,), "pads": ((3, 0),), "dilations": (1,),
           "channels_last": True, "count_padding": False}  # fmt: skip


def test_sequences_are_pooled_as_rows_of_images():
    x = RANDOM.random((2, 9, 3)).astype(np.float32)
    for one, two in ((tf.nn.max_pool1d, tf.nn.max_pool2d), (tf.nn.avg_pool1d, tf.nn.avg_pool2d)):
        wanted = two(x[:, None], [1, 3], [1, 2], "SAME")[:, 0]
        for function in (one, tf.function(one)):
            np.testing.assert_array_equal(function(x, 3, 2, "SAME"), wanted)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("sample", ConvTranspose.SAMPLES, ids=lambda sample: str(sample.shapes))
def test_windows_that_are_put_into_images_add_up_as_by_numpy(sample, dtype):
    x, w = (RANDOM.normal(size=shape).astype(dtype) for shape in sample.shapes)
    attributes = ConvTranspose.complete(sample.attributes)
    (expected,) = ConvTranspose.evaluate(x, w, **attributes)
    found = in_loops.IN_LOOPS[ConvTranspose](**attributes)(x, w)
    assert found.dtype == dtype
    assert found.flags.c_contiguous
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-5)


def test_windows_of_many_groups_are_put_as_python_does():
    x, w = RANDOM.normal(size=(2, 5, 2, 8)), RANDOM.normal(size=(3, 1, 2, 8))
    goals = in_loops._spread_out(Windows((3,), (2,), ((1, 1),), (1,)), (0,), (5,))[0]
    sizes = np.array([9, 1, 2, 8])
    made = [np.zeros(2 * 9 * 8) for _ in "ab"]
    in_loops._put_side_by_side(x, w, made[0], goals, sizes)
    flat = x.ravel(), w.ravel(), made[1], goals.ravel()
    in_loops._put_side_by_side.function(*flat, sizes)
    assert made[0].tobytes() == made[1].tobytes()
    assert np.all(made[0])
