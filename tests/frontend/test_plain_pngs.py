"""PNGs of the usual kind are written and read by loops as others do it; the rest is left."""

import io
import struct
import zlib

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.io import pictures
from gravure.frontend.tf.io.plain_png import SIGNATURE, plain_png

PIL = pytest.importorskip("PIL.Image")
MODES = {"L": (1, 0), "RGB": (3, 2), "LA": (2, 4), "RGBA": (4, 6)}


def chunk(kind, content):
    """Return a part of a PNG."""
    sum_ = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", sum_)


def with_filters(rows, width, height, colours, bits=8):
    """Return a PNG whose rows are these bytes: a filter's number before each."""
    head = struct.pack(">IIBBBBB", width, height, bits, colours, 0, 0, 0)
    parts = [(b"IHDR", head), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    return SIGNATURE + b"".join(chunk(*part) for part in parts)


@pytest.mark.parametrize("mode", MODES)
def test_each_filter_is_undone(mode):
    depth, colours = MODES[mode]
    random = np.random.default_rng(depth)
    rows = random.integers(0, 256, (11, 7 * depth + 1), np.uint8)
    rows[:, 0] = [0, 1, 2, 3, 4, 3, 4, 1, 2, 4, 0]
    data = with_filters(rows.tobytes(), 7, 11, colours)
    wanted = np.asarray(PIL.open(io.BytesIO(data))).reshape(11, 7, depth)
    found = plain_png(data)
    assert found.tobytes() == wanted.tobytes()
    assert tf.io.decode_png(data).numpy().tobytes() == wanted.tobytes()


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("compression", [-1, 0, 9])
def test_large_ones_are_written_and_read_without_others(depth, compression, monkeypatch):
    monkeypatch.setattr(pictures, "pillow", lambda: pytest.fail("asks for Pillow"))
    random = np.random.default_rng(depth)
    slopes = np.add.outer(np.arange(200), np.arange(150))[:, :, None] * np.arange(1, depth + 1)
    for noise in (1, 9, 256):
        image = (slopes + random.integers(0, noise, slopes.shape)).astype(np.uint8)
        data = tf.io.encode_png(image, compression).numpy()
        np.testing.assert_array_equal(tf.io.decode_png(data), image)
        other = np.asarray(PIL.open(io.BytesIO(data))).reshape(image.shape)
        np.testing.assert_array_equal(other, image)


def least_filters(image):
    """Return the number of the filter of each row whose bytes are the least, as they are signed."""
    height, width, depth = image.shape
    lines = np.zeros((height + 1, width + 1, depth), np.int64)
    lines[1:, 1:] = image
    here, left, up, corner = lines[1:, 1:], lines[1:, :-1], lines[:-1, 1:], lines[:-1, :-1]
    every = np.stack([left, up, corner])
    nearest = np.argmin(abs(left + up - corner - every), 0)
    guesses = (0 * left, left, up, (left + up) // 2, np.choose(nearest, every))
    left_over = [abs((here - guess).astype(np.int8).astype(int)).sum((1, 2)) for guess in guesses]
    return np.argmin(left_over, 0)


@pytest.mark.parametrize("noise", [1, 3, 256])
def test_each_row_has_the_filter_that_leaves_the_least(noise):
    random = np.random.default_rng(noise)
    slopes = np.add.outer(np.arange(40) ** 2 // 8, np.arange(30))[:, :, None] * [1, 2, 5]
    image = (slopes + random.integers(0, noise, slopes.shape)).astype(np.uint8)
    data = tf.io.encode_png(image).numpy()
    rows = zlib.decompress(data[data.index(b"IDAT") + 4 : -16])
    found = np.frombuffer(rows, np.uint8).reshape(40, 91)[:, 0]
    np.testing.assert_array_equal(found, least_filters(image))


def test_what_is_written_is_read():
    image = np.random.default_rng(1).integers(0, 256, (9, 8, 3), np.uint8)
    assert plain_png(tf.io.encode_png(image).numpy()).tobytes() == image.tobytes()


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("compression", [-1, 0, 9])
def test_what_has_16_bits_is_written_and_read(depth, compression):
    image = np.random.default_rng(depth).integers(0, 1 << 16, (9, 8, depth), np.uint16)
    data = tf.io.encode_png(image, compression)
    np.testing.assert_array_equal(tf.io.decode_png(data, dtype=tf.uint16), image)
    np.testing.assert_array_equal(tf.io.decode_png(data), image >> 8)
    assert tf.io.decode_png(data, channels=3, dtype=tf.uint16).shape == (9, 8, 3)


@pytest.mark.parametrize("mode", ["LA", "RGB", "RGBA"])
def test_each_filter_is_undone_where_channels_have_16_bits(mode):
    depth, colours = MODES[mode]
    rows = np.random.default_rng(depth).integers(0, 256, (5, 7 * depth * 2 + 1), np.uint8)
    rows[:, 0] = [0, 1, 2, 3, 4]
    data = with_filters(rows.tobytes(), 7, 5, colours, 16)
    found = tf.io.decode_png(data, dtype=tf.uint16).numpy()
    high = np.asarray(PIL.open(io.BytesIO(data)).convert(mode))
    np.testing.assert_array_equal(found >> 8, high)
    np.testing.assert_array_equal(found[0].ravel(), rows[0, 1:].view(">u2"))


def test_damaged_colours_of_16_bits_are_refused():
    image = np.random.default_rng(1).integers(0, 1 << 16, (3, 4, 3), np.uint16)
    data = tf.io.encode_png(image).numpy()
    for at in range(len(data)):
        damaged = bytearray(data)
        damaged[at] ^= 1
        for each in (data[:at], bytes(damaged)):
            try:
                found = tf.io.decode_png(each, dtype=tf.uint16).numpy()
            except tf.errors.InvalidArgumentError:
                continue
            assert found.dtype == np.uint16


def test_damaged_and_other_ones_are_left():
    image = np.random.default_rng(1).integers(0, 256, (9, 8, 3), np.uint8)
    data = tf.io.encode_png(image).numpy()
    for at in range(len(data)):
        assert plain_png(data[:at]) is None
        damaged = bytearray(data)
        damaged[at] ^= 1
        found = plain_png(bytes(damaged))
        assert found is None or found.tobytes() == image.tobytes()
    assert plain_png(with_filters(bytes([5, 1, 2, 3]), 1, 1, 2)) is None
    assert plain_png(with_filters(bytes(3), 1, 1, 2)) is None
    file = io.BytesIO()
    PIL.new("P", (3, 3)).save(file, "PNG")
    assert plain_png(file.getvalue()) is None


def test_files_without_their_end_or_with_changed_chunks_are_refused():
    for image in (np.arange(36, dtype=np.uint8), np.arange(36, dtype=np.uint16) * 1800):
        data = tf.io.encode_png(image.reshape(3, 4, 3)).numpy()
        damaged = bytearray(data)
        damaged[-14] ^= 1  # in the sum of the chunk before the end
        for each in (data[:-1], data[:-8], data[:-12], data[:-13], bytes(damaged)):
            for read in (tf.io.decode_png, tf.io.decode_image):
                for channels in (0, 1):
                    with pytest.raises(tf.errors.InvalidArgumentError):
                        read(each, channels)
        assert tf.io.decode_png(data + b"abc").shape == (3, 4, 3)


def test_two_channels_are_not_asked_for():
    data = tf.io.encode_png(np.zeros((3, 4, 2), np.uint8))
    assert tf.io.decode_png(data).shape == (3, 4, 2)
    for read in (tf.io.decode_png, tf.io.decode_image):
        with pytest.raises(tf.errors.InvalidArgumentError, match="channels"):
            read(data, 2)


def test_images_as_other_numbers_have_all_16_bits():
    image = np.array([[[49241, 30000, 1], [40021, 40021, 40021]]], np.uint16)
    deep, flat = tf.io.encode_png(image), tf.io.encode_png((image >> 8).astype(np.uint8))
    for read in (tf.io.decode_image, tf.function(tf.io.decode_image)):
        np.testing.assert_array_equal(read(deep, dtype=tf.uint16), image)
        np.testing.assert_array_equal(read(flat, dtype=tf.uint16), (image >> 8) * 257)
        np.testing.assert_allclose(read(deep, dtype=tf.float32), image / 65535, rtol=1e-6)
        np.testing.assert_allclose(read(deep, dtype=tf.float64), image / 65535, rtol=1e-12)
        np.testing.assert_array_equal(read(deep), image >> 8)


def test_grey_is_made_of_the_bits_in_the_file():
    image = np.array([[[49241, 46003, 45000], [39321, 44718, 29555]]], np.uint16)
    grey = (image.astype(np.int64) @ (9798, 19235, 3735) + (1 << 14) >> 15)[:, :, None]
    deep = tf.io.encode_png(image)
    np.testing.assert_array_equal(tf.io.decode_png(deep, 1, tf.uint16), grey)
    np.testing.assert_array_equal(tf.io.decode_png(deep, 1), grey >> 8)
    flat = tf.io.encode_png((image >> 8).astype(np.uint8))
    eight = tf.io.decode_png(flat, 1).numpy().astype(np.int64)
    np.testing.assert_array_equal(tf.io.decode_png(flat, 1, tf.uint16), eight * 257)
