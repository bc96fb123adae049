"""BMPs: what TensorFlow reads of them, which is their bytes, whatever their palette."""

import struct
from typing import Any

import numpy as np
import pytest

from gravure import tf

image: Any = tf.image


def bitmap(width: int, height: int, bits: int, start: int = 54) -> bytes:
    """Return a BMP of bytes from 0 on, with zeros where a palette would be."""
    row = (bits // 8 * width + 3) // 4 * 4
    body = bytes(range(row * abs(height)))
    head = b"BM" + struct.pack("<IHHI", start + len(body), 0, 0, start)
    head += struct.pack("<IiiHHIIiiII", 40, width, height, 1, bits, 0, len(body), 0, 0, 0, 0)
    return head + bytes(start - len(head)) + body


@pytest.mark.parametrize(("size", "channels", "made"), [
    ((2, 2, 8), 0, [[[4], [5]], [[0], [1]]]),
    ((2, 2, 8, 1078), 3, [[[4] * 3, [5] * 3], [[0] * 3, [1] * 3]]),
    ((1, 2, 8), 4, [[[4, 4, 4, 255]], [[0, 0, 0, 255]]]),
    ((1, -2, 24), 0, [[[2, 1, 0]], [[6, 5, 4]]]),
    ((1, 1, 24), 4, [[[2, 1, 0, 255]]]),
    ((1, 1, 32), 0, [[[2, 1, 0, 3]]]),
    ((1, 1, 32), 3, [[[2, 1, 0]]]),
])  # fmt: skip
def test_pixels_are_the_bytes_in_order(size: Any, channels: int, made: Any) -> None:
    data = bitmap(*size)
    np.testing.assert_array_equal(image.decode_bmp(data, channels=channels), made)
    np.testing.assert_array_equal(image.decode_image(data, channels=channels), made)


@pytest.mark.parametrize(("data", "channels", "says"), [
    (bitmap(1, 1, 24), 1, "must be 0, 3 or 4"), (b"BM12", 0, "at least 32 bytes"),
    (bitmap(0, 1, 24), 0, "Width must be positive"), (bitmap(1, 1, 16), 0, "must be 1, 3 or 4"),
    (bitmap(1, 1, 24)[:-1], 0, "differ by -1"), (bitmap(1, 1, 24) + b"1", 0, "differ by 1"),
    (bitmap(1, 1, 24, 54)[:40], 0, "differ by"), (b"XX" * 40, 0, "Unknown image file format"),
])  # fmt: skip
def test_what_is_none_is_refused(data: bytes, channels: int, says: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=says):
        image.decode_bmp(data, channels=channels)
