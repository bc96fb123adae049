"""Host step that decodes images, with the package Pillow."""

from __future__ import annotations

import io
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np

from ...host import HostOp
from ...op import Array, register
from ...types.dims import Dim
from ...types.dtypes import u8
from ...types.tensor import TensorSpec

FORMATS = ("BMP", "JPEG", "JPEG2000", "PNG", "PPM", "TIFF", "WEBP")
"""What images may be; nothing else is tried."""

CHANNELS = {"RGB": 3, "BGR": 3, "Grayscale": 1}
"""By layout: how many numbers a pixel has."""


def pillow() -> Any:
    """Return the module that opens images, or raise `ImportError`."""
    return import_module("PIL.Image")


@register
class DecodeImage(HostOp):
    """The pixels of an image file that is given as a vector of bytes, row by row."""

    name = "gv.decode_image"

    @classmethod
    def infer(
        cls, data: TensorSpec, *, sizes: tuple[Dim, ...], layout: str = "RGB"
    ) -> Sequence[TensorSpec]:
        """Return height, width and channels."""
        if data.dtype != u8 or data.rank != 1:
            raise TypeError(f"the image is {data}, expected a vector of {u8}")
        if layout not in CHANNELS:
            raise TypeError(f"layout {layout!r}, expected one of {', '.join(CHANNELS)}")
        if len(sizes) != 2:
            raise TypeError(f"{len(sizes)} sizes, expected 2")
        return (TensorSpec(u8, (*sizes, CHANNELS[layout])),)

    @classmethod
    def evaluate(cls, data: Array, *, sizes: Any = (), layout: str = "RGB") -> Sequence[Array]:
        """Decode, or raise `ValueError` where the bytes are no image."""
        opener = pillow()
        faults = (OSError, SyntaxError, ValueError, opener.DecompressionBombError)
        try:
            with opener.open(io.BytesIO(data.tobytes()), formats=FORMATS) as image:
                pixels = np.array(image.convert("L" if layout == "Grayscale" else "RGB"))
        except faults as error:
            raise ValueError(f"the image cannot be decoded: {error}") from error
        pixels = pixels.reshape(*pixels.shape[:2], CHANNELS[layout])
        return (np.ascontiguousarray(pixels[:, :, ::-1] if layout == "BGR" else pixels),)
