"""Small PNGs of the usual kind are decoded by loops as others decode them; the rest is left."""

import io
import struct
import zlib

import numpy as np
import pytest

import gravure.tf as tf
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
