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


def with_filters(rows, width, height, colours):
    """Return a PNG whose rows are these bytes: a filter's number before each."""
    head = struct.pack(">IIBBBBB", width, height, 8, colours, 0, 0, 0)
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
