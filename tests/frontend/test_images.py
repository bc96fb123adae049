"""`tf.image` beside TensorFlow 2.21, its sizes known and open, and what it refuses."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

import gravure.tf as tf

sys.path.insert(0, str(Path(__file__).parent))
from record_images import image, names

CASES = json.loads(Path(__file__).with_name("image_values.json").read_text())
OPEN = [tf.TensorSpec([None, None, 3], tf.float32)]


def eager(expression):
    return eval(expression, {**names(tf), "x": image(tf)})


def staged(expression):
    function = tf.function(lambda x: eval(expression, {**names(tf), "x": x}), autograph=False)
    return function(image(tf))


def with_open_sizes(expression):
    function = tf.function(
        lambda x: eval(expression, {**names(tf), "x": x}), input_signature=OPEN, autograph=False
    )
    return function(image(tf))


@pytest.mark.parametrize("way", [eager, staged, with_open_sizes])
@pytest.mark.parametrize("expression", CASES)
def test_images_are_those_of_tensorflow(way, expression):
    dtype, shape, values = CASES[expression]
    tf.random.set_seed(5)
    found = np.asarray(way(expression))
    assert found.dtype == dtype
    assert list(found.shape) == shape
    np.testing.assert_allclose(found.ravel(), values, rtol=1e-4, atol=3e-5)


@pytest.mark.parametrize("way", [eager, staged, with_open_sizes])
@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("tf.image.resize(x, [-1, 2])", "must be positive"),
        ("tf.image.resize(x, [1, 2, 3])", "2 elements"),
        ("tf.image.resize(x, [2, 2], 'spline')", "spline"),
        ("tf.image.crop_to_bounding_box(x, 3, 0, 3, 3)", None),
        ("tf.image.pad_to_bounding_box(x, 0, 0, 3, 3)", None),
        ("tf.image.central_crop(x, 1.5)", "central_fraction"),
        ("tf.image.random_crop(x, [9, 2, 3])", None),
        ("tf.image.non_max_suppression(boxes, scores, 4, 1.5)", "iou_threshold"),
        ("tf.image.non_max_suppression(boxes, scores[:2], 4)", "scores"),
    ],
)
def test_what_cannot_be_is_refused(way, expression, told):
    with pytest.raises((ValueError, tf.errors.InvalidArgumentError), match=told):
        way(expression)


def test_files_are_read_and_resized_in_a_pipeline(tmp_path):
    for number, (height, width) in enumerate([(5, 7), (9, 4), (6, 6)]):
        pixels = np.arange(height * width * 3, dtype=np.uint8).reshape(height, width, 3)
        (tmp_path / f"{number}.png").write_bytes(tf.io.encode_png(pixels).numpy())

    def load(path):
        picture = tf.io.decode_png(tf.io.read_file(path), channels=3)
        picture = tf.image.convert_image_dtype(picture, tf.float32)
        picture = tf.image.resize_with_crop_or_pad(tf.image.resize(picture, [8, 8]), 6, 7)
        return tf.image.per_image_standardization(tf.image.random_flip_left_right(picture))

    files = tf.data.Dataset.list_files(str(tmp_path / "*.png"), shuffle=False)
    (batch,) = files.map(load).batch(3)
    assert batch.shape == (3, 6, 7, 3)
    np.testing.assert_allclose(np.mean(batch, axis=(1, 2, 3)), 0, atol=1e-5)


def test_the_gradient_goes_through_resizing_and_cutting():
    def cost(x):
        wide = tf.image.resize(x, tf.shape(x)[:2] + 2)
        return tf.reduce_sum(tf.image.central_crop(wide, 0.5) ** 2)

    @tf.function(input_signature=OPEN)
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = cost(x)
        return tape.gradient(y, x)

    x = image(tf)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = cost(x)
    expected = tape.gradient(y, x)
    for _ in range(3):
        np.testing.assert_allclose(slope(x), expected, rtol=1e-5, atol=1e-6)


def test_pictures_of_odd_sizes_are_compared_at_smaller_scales():
    n = np.arange(47 * 45, dtype=np.float32)
    x = ((n * n * 7 % 101) / 101).reshape(1, 47, 45, 1).astype("f4")
    noise = ((n * 13 % 17) / 17 - 0.5).reshape(x.shape).astype("f4")
    y = np.clip(x + noise * np.linspace(0, 0.3, 45, dtype="f4")[None, None, :, None], 0, 1)
    found = tf.image.ssim_multiscale(x, y, 1.0, power_factors=(0.4, 0.3, 0.3), filter_size=5)
    np.testing.assert_allclose(found, [0.99131143], atol=1e-6)  # as in TensorFlow 2.21


@pytest.mark.parametrize(
    ("method", "total"),
    [("nearest", 50837), ("bilinear", 50837), ("gaussian", 50836.3135), ("lanczos3", 50836.9988),
     ("mitchellcubic", 50836.8255)],
)  # fmt: skip
def test_a_size_that_stays_changes_the_type_all_the_same(method, total):
    x = (np.random.default_rng(0).random((2, 7, 9, 3)) * 255).astype(np.uint8)
    for run in (tf.image.resize, tf.function(tf.image.resize, autograph=False)):
        for _ in range(3):  # what is done is remembered
            found = run(tf.constant(x), [7, 9], method)
        assert found.dtype == (tf.uint8 if method == "nearest" else tf.float32)
        np.testing.assert_allclose(np.sum(found, dtype=np.float64), total, rtol=1e-6)
    assert tf.compat.v1.image.resize_images(x, [7, 9]).dtype == tf.uint8


def test_many_boxes_of_a_large_image_need_no_copies_of_it():
    x = np.random.default_rng(0).random((1, 1024, 1024, 8), np.float32)
    boxes = np.tile(np.float32([0, 0, 1, 1]), (4000, 1))  # (copies would be 134 GB)
    found = tf.image.crop_and_resize(x, boxes, np.zeros(4000, np.int32), [2, 2])
    np.testing.assert_array_equal(found[3999], x[0, ::1023, ::1023])
    for _ in range(4):  # what is done is remembered
        with pytest.raises(
            tf.errors.InvalidArgumentError, match=r"indices\[1\] = 1 is not in \[0, 1\)"
        ):
            tf.image.crop_and_resize(x, boxes[:2], [0, 1], [2, 2])


def covered(x, count):
    """Return the parts of the rows of an image that each of some new rows covers, added up."""
    scale, made = np.float32(len(x)) / np.float32(count), []
    for i in range(count):
        start, end = np.float32(i) * scale, np.float32(i + 1) * scale
        total = np.float32(0)
        for row in range(int(np.floor(start)), int(np.ceil(end))):
            inside = min(np.float32(row + 1), end) - max(np.float32(row), start)
            size = scale if row < start and row + 1 > end else inside
            total = total + x[min(row, len(x) - 1)] * np.float32(size)
        made.append(total)
    return np.stack(made), scale


@pytest.mark.parametrize("size", [(3, 8), (5, 31), (20, 2)])
def test_areas_are_added_up_row_by_row_in_32_bits(size):
    x = np.random.default_rng(0).random((13, 17, 3), np.float32)
    rows, wide = covered(x.swapaxes(0, 1), size[1])
    wanted, tall = covered(rows.swapaxes(0, 1), size[0])
    wanted *= np.float32(1) / (tall * wide)
    for run in (tf.image.resize, tf.function(tf.image.resize, autograph=False)):
        for _ in range(3):  # what is done is remembered
            np.testing.assert_array_equal(run(tf.constant(x), size, "area"), wanted)


def test_what_is_infinite_stays_where_it_is_in_areas_and_patches():
    x = np.ones((1, 8, 8, 1), np.float32)
    x[0, 0, 0], x[0, 7, 7] = np.inf, np.nan
    found = tf.image.resize(x, [3, 3], "area")[0, :, :, 0].numpy()
    assert np.isfinite(found).sum() == 7
    found = tf.image.extract_patches(x, [1, 2, 2, 1], [1, 2, 2, 1], [1] * 4, "VALID")[0].numpy()
    assert np.isfinite(found).sum() == 62


def test_patches_of_images_that_are_too_small_are_none_or_refused():
    x = np.ones((1, 4, 4, 1), np.float32)
    size = np.array([1, 5, 2, 1])
    assert tf.image.extract_patches(x, size, [1] * 4, [1] * 4, "VALID").shape == (1, 0, 3, 10)
    with pytest.raises(tf.errors.InvalidArgumentError, match="would be negative: -1"):
        tf.image.extract_patches(x, [1, 6, 2, 1], [1] * 4, [1] * 4, "VALID")


@pytest.mark.parametrize(("delta", "by"), [(0.0, 0), (1 / 3, 1), (-1 / 3, -1), (1.0, 0)])
def test_a_third_of_the_circle_moves_the_channels_by_one_also_below_zero(delta, by):
    image = np.float32([[[-0.75, -0.5, -0.25], [-1.0, 0.5, -0.5], [0.0, -2.0, -0.0]]])
    turned = tf.image.adjust_hue(tf.constant(image), delta)
    np.testing.assert_allclose(turned, np.roll(image, by, -1), atol=1e-6)


@pytest.mark.parametrize("shape", [(2, 23, 31, 5), (1, 40, 8, 1), (0, 9, 9, 3)])
def test_images_are_weighted_alike_whether_their_sizes_are_known(shape: tuple[int, ...]) -> None:
    """Where they are, products of matrices do it: rows of all columns and channels at a time."""
    x = np.random.default_rng(2).random(shape, np.float32)
    for options in ({"antialias": True}, {"method": "lanczos3"}, {"method": "gaussian"}):
        known = tf.image.resize(x, [11, 6], **options)
        late = tf.function(
            lambda x, options=options: tf.image.resize(x, [11, 6], **options),
            input_signature=[tf.TensorSpec([None, None, None, None], tf.float32)],
        )
        assert known.shape == (shape[0], 11, 6, shape[3])
        np.testing.assert_allclose(known, late(x), atol=1e-5)


@pytest.mark.parametrize("method", tf.image.ResizeMethod.__dict__.values())
@pytest.mark.parametrize("shape", [(1, 0, 4, 3), (1, 4, 0, 3), (0, 0, 4, 3)])
def test_images_without_pixels_are_refused_where_they_are_resized(shape, method):
    images = tf.zeros(shape)
    refused = pytest.raises(tf.errors.InvalidArgumentError, match="must be of non-zero size")
    for options in ({}, {"antialias": True}, {"preserve_aspect_ratio": True}):
        with refused:
            tf.image.resize(images, (2, 2), method=method, **options)

    @tf.function
    def either(x, taken):
        made = tf.zeros((shape[0], 2, 2, 3))
        if taken:
            made = tf.cast(tf.image.resize(x, (2, 2), method=method), tf.float32)
        return made

    assert either(images, tf.constant(False)).shape == (shape[0], 2, 2, 3)
    with refused:
        either(images, tf.constant(True))
    assert tf.image.resize(tf.zeros((0, 4, 4, 3)), (2, 2), method=method).shape == (0, 2, 2, 3)
