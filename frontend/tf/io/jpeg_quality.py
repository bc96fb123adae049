"""Images as JPEGs of some quality leave them: what a training set is to bear."""

from __future__ import annotations

from collections.abc import Sequence

from ....ir.op import Array
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor
from ..core.host_ops import SCALAR_TEXT, host
from ..core.values import InGraph, convert, graph_of
from ..image.colours import convert_image_dtype
from ..ops.random_ops import stateless_uniform, uniform
from .pictures import as_image, decode_jpeg, written


def encode_jpeg_variable_quality(
    images: object, quality: object, name: str | None = None
) -> TfTensor:
    """Return an image as a JPEG of a quality that may be computed."""
    x, wanted = convert(images, "uint8"), convert(quality, "int32")

    def compute(array: Array, number: Array) -> Sequence[Array]:
        if not 0 <= int(number) <= 100:
            raise InvalidArgumentError(f"quality must be in [0,100], got {int(number)}")
        if array.ndim != 3 or array.shape[2] not in (1, 3):
            raise InvalidArgumentError(
                f"image must have 1 or 3 channels, got shape {list(array.shape)}"
            )
        options = {"quality": int(number), "subsampling": 2}
        return (written(as_image(array), format="JPEG", **options),)

    type_ = "EncodeJpegVariableQuality"
    return host(type_, compute, [x, wanted], [SCALAR_TEXT], name=name)[0]


def adjust_jpeg_quality(
    image: object, jpeg_quality: object, dct_method: str = "", name: str | None = None
) -> TfTensor:
    """Return an image as it is once it was a JPEG of a quality."""
    with InGraph(graph_of([image, jpeg_quality])):
        given = convert(image)
        channels = given.shape.as_list()[-1]
        small = convert_image_dtype(given, "uint8", saturate=True)
        file = encode_jpeg_variable_quality(small, jpeg_quality)
        found = decode_jpeg(file, channels=channels or 0, dct_method=dct_method)
        return convert_image_dtype(found, given.dtype, saturate=True, name=name)


def _check(least: int, most: int) -> None:
    """Raise `ValueError` unless qualities can be between these."""
    if not (0 <= least <= 100 and 0 <= most <= 100):
        raise ValueError("jpeg encoding range must be between 0 and 100.")
    if least >= most:
        raise ValueError("`min_jpeg_quality` must be less than `max_jpeg_quality`.")


def random_jpeg_quality(
    image: object, min_jpeg_quality: int, max_jpeg_quality: int, seed: int | None = None
) -> TfTensor:
    """Return an image as it is once it was a JPEG of a quality drawn by chance."""
    _check(min_jpeg_quality, max_jpeg_quality)
    with InGraph(graph_of([image])):
        quality = uniform([], min_jpeg_quality, max_jpeg_quality, "int32", seed)
        return adjust_jpeg_quality(image, quality)


def stateless_random_jpeg_quality(
    image: object, min_jpeg_quality: int, max_jpeg_quality: int, seed: object
) -> TfTensor:
    """Return an image as it is once it was a JPEG of the quality that a seed gives."""
    _check(min_jpeg_quality, max_jpeg_quality)
    with InGraph(graph_of([image, seed])):
        quality = stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, "int32")
        return adjust_jpeg_quality(image, quality)
