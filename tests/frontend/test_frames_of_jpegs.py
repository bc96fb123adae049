"""The shape of a JPEG is that of its frame, found as it is by who decodes it."""

import io

import numpy as np
import pytest

import gravure.tf as tf
from gravure.frontend.tf.io.pictures import frame_of

PIL = pytest.importorskip("PIL.Image")


def written(mode, size, **options):
    """Return an image as a JPEG."""
    file = io.BytesIO()
    PIL.new(mode, size).save(file, "JPEG", **options)
    return file.getvalue()


@pytest.mark.parametrize("mode", ["L", "RGB", "CMYK"])
@pytest.mark.parametrize("options", [{}, {"progressive": True}, {"comment": b"x" * 300}])
def test_shapes_are_those_of_decoded_images(mode, options):
    data = written(mode, (7, 5), **options)
    wanted = 5, 7, {"L": 1, "RGB": 3, "CMYK": 4}[mode]
    assert frame_of(data) == wanted
    for kind in ("int32", "int64"):
        found = tf.io.extract_jpeg_shape(data, kind)
        assert found.numpy().tolist() == [*wanted]
        assert found.dtype == kind


def test_what_is_cut_or_wrong_is_refused():
    data = written("RGB", (7, 5))
    for wrong in (b"", data[:2], data[:12], data[2:], b"\xff\xd8" + bytes(40)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.io.extract_jpeg_shape(wrong)
    random = np.random.default_rng(1)
    for _ in range(300):
        damaged = bytearray(data[: random.integers(3, 200)])
        damaged[random.integers(2, len(damaged))] = random.integers(256)
        frame_of(bytes(damaged))
