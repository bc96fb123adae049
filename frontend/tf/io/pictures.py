"""Images as bytes: JPEG, PNG, GIF, BMP.

Pillow reads and writes them, but for PNGs, which `plain_png` writes and reads where they are of the
usual kind; JPEGs are read by libjpeg-turbo (extra `images`).
"""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import import_module
from types import ModuleType
from typing import Any, Protocol, SupportsInt

import numpy as np

from ....ir.op import Array
from ....ir.ops.host.images import pillow
from ....ir.types import dtypes as rows
from ....ir.types.dtypes import DType
from ....ir.types.tensor import TensorSpec
from ...values.dtypes import DTypeLike
from ...values.run_errors import InvalidArgumentError
from ..core.bridge import TfTensor, row_of
from ..core.host_ops import SCALAR_TEXT, host, text, unknown
from ..core.values import convert, convert_text
from ..image.colours import convert_image_dtype
from .plain_png import ends_whole, plain_png, png_of

COLORS = {1: "GRAY", 3: "RGB"}
"""The names that the decoder of JPEGs has for numbers of channels."""
GRAY_ALPHA = 4
"""The number of a PNG's colours that Pillow makes three of, if they have 16 bits."""
GRAY = np.array((9798, 19235, 3735), np.int64)
"""The shares of red, green and blue in a grey of PNG, of 32768."""
HALF = 1 << 14
"""What rounds a grey of 16 bits; one of eight is cut off."""
MAGIC = (
    (b"\xff\xd8\xff", "JPEG"), (b"\x89PNG\r\n\x1a\n", "PNG"), (b"GIF8", "GIF"), (b"BM", "BMP"),
)  # fmt: skip


class PillowImage(Protocol):
    """An image of Pillow's, which is an extra."""

    mode: str
    format: str | None
    info: dict[str, object]
    size: tuple[int, int]

    def load(self) -> object:
        """Read the data."""

    def convert(self, mode: str) -> PillowImage:
        """Return an image of another mode."""

    def getbands(self) -> tuple[str, ...]:
        """Return the names of the channels."""

    def seek(self, frame: int) -> object:
        """Go to another of several images."""

    def save(self, file: io.BytesIO, **options: object) -> None:
        """Write a file."""


def format_of(data: bytes) -> str:
    """Return the format of an image, nothing if it is none that is known."""
    return next((name for start, name in MAGIC if data.startswith(start)), "")


def opened(data: bytes, *formats: str) -> PillowImage:
    """Return the image of bytes, or raise `InvalidArgumentError`."""
    found = format_of(data)
    if found not in formats:
        raise InvalidArgumentError(
            f"Unknown image file format. One of {', '.join(formats)} required."
            if not found else f"an image of {found}, expected {' or '.join(formats)}"
        )  # fmt: skip
    try:
        image: PillowImage = pillow().open(io.BytesIO(data), formats=[found])
        return image
    except (OSError, ValueError, SyntaxError) as error:
        raise InvalidArgumentError(f"Invalid {found} data, size {len(data)}: {error}") from None


def loaded(image: PillowImage, size: int) -> PillowImage:
    """Return an image whose data are read, or raise `InvalidArgumentError`."""
    try:
        image.load()
    except (OSError, ValueError, SyntaxError) as error:
        raise InvalidArgumentError(f"Invalid {image.format} data, size {size}: {error}") from None
    return image


def turbo() -> ModuleType:
    """Return the module that decodes JPEGs, or raise `ImportError`."""
    try:
        return import_module("simplejpeg")
    except ImportError:
        raise ImportError(
            "decoding JPEGs takes the package simplejpeg, which is not here: "
            "pip install 'gravure[images]'"
        ) from None


@dataclass(frozen=True)
class Decoding:
    """How a JPEG is decoded: made smaller by `ratio`, with which transform and upsampling."""

    ratio: int = 1
    exact: bool = False
    fancy: bool = True

    def decoded(self, data: bytes, channels: int) -> Array:
        """Return height, width and channels, or raise `ValueError`."""
        height = width = 0
        known = COLORS.get(channels)
        if channels != 3 or self.ratio > 1:
            height, width, space, _ = turbo().decode_jpeg_header(data)
            if channels == 1 and "K" in space:
                raise ValueError(f"a picture in {space} is decoded to 3 channels, not to 1")
            known = known or COLORS[1 if space == "Gray" else 3]
            height, width = -(-height // self.ratio), -(-width // self.ratio)
        made: Array = turbo().decode_jpeg(
            data, known, not self.exact, not self.fancy, height, width, float(self.ratio)
        )
        return made


def jpeg(data: bytes, channels: int, decoding: Decoding) -> Array:
    """Return height, width and channels of a JPEG, or of what else is decoded as one."""
    if not data.startswith(b"\xff\xd8"):
        return any_image(data, channels)
    if channels not in (0, 1, 3):
        raise InvalidArgumentError(f"channels must be 0, 1, or 3 for JPEG, got {channels}")
    try:
        return decoding.decoded(data, channels)
    except ValueError as error:
        raise InvalidArgumentError(f"Invalid JPEG data, size {len(data)}: {error}") from None


def whole_jpeg(data: bytes, channels: int) -> Array:
    """Return a JPEG as it is decoded where nothing is said of how."""
    return jpeg(data, channels, Decoding())


def pixels(image: object) -> Array:
    """Return an image's elements, with an axis for the channels."""
    array = np.asarray(image)
    return array[:, :, None] if array.ndim == 2 else array


def png(data: bytes, channels: int, dtype: DTypeLike | None = np.uint8) -> Array:
    """Return height, width and channels of a PNG, which are made gray as they lie in the file."""
    if dtype == np.uint8 and (found := plain_png(data)) is not None:
        return with_channels(found, channels)
    if not ends_whole(data):
        raise InvalidArgumentError(f"Invalid PNG data, size {len(data)}")
    made = with_channels(_as_it_lies(data, dtype), channels)
    if made.dtype == np.uint16 and dtype != np.uint16:
        return (made >> 8).astype(np.uint8)
    return made.astype(np.uint16) * 257 if made.dtype != np.uint16 == dtype else made


def _as_it_lies(data: bytes, dtype: DTypeLike | None) -> Array:
    """Return a PNG of as many bits as its channels have; what nobody reads has only eight."""
    image = opened(data, "PNG")
    is_gray, is_deep = image.mode.startswith("I"), data[24] == 16
    if is_deep and not is_gray and (found := plain_png(data, 16)) is not None:
        return found
    loaded(image, len(data))
    if is_gray:
        return pixels(image).astype(np.uint16)
    if is_deep:
        if dtype == np.uint16:
            raise InvalidArgumentError("this PNG is read as 8 bits only: dtype=tf.uint8")
        if data[25] == GRAY_ALPHA:
            image = image.convert("LA")
    if image.mode == "P":
        image = image.convert("RGBA" if "transparency" in image.info else "RGB")
    elif image.mode in ("1", "LA", "PA"):
        image = image.convert("L" if image.mode == "1" else "LA")
    return pixels(image)


def with_channels(array: Array, channels: int) -> Array:
    """Return an image with so many channels, by the rules of the PNG library."""
    have = array.shape[2]
    if channels in (0, have):
        return array
    most = np.iinfo(array.dtype).max
    color, alpha = array[:, :, : 3 if have > 2 else 1], array[:, :, -1:]
    if channels > 2 and have <= 2:
        color = np.repeat(color, 3, axis=2)
    elif channels <= 2 and have > 2:
        half = HALF if array.dtype == np.uint16 else 0
        color = (color.astype(np.int64) @ GRAY + half >> 15)[:, :, None].astype(array.dtype)
    if channels in (1, 3):
        return np.ascontiguousarray(color)
    full = alpha if have in (2, 4) else np.full_like(alpha, most)
    return np.concatenate([color, full], axis=2)


HEADER = struct.Struct("<10xI4xii2xH")
"""Of a BMP: where the pixels begin, width, height, and how many bits a pixel has."""
HEADER_BYTES = 32


def bmp(data: bytes, channels: int) -> Array:
    """Return height, width and channels of a BMP: its bytes as they are, whatever its palette."""
    if not data.startswith(b"BM"):
        raise InvalidArgumentError("Unknown image file format. One of BMP required.")
    if channels not in (0, 3, 4):
        raise InvalidArgumentError(f"`channels` must be 0, 3 or 4 for BMP, but got {channels}")
    if len(data) < HEADER_BYTES:
        raise InvalidArgumentError(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, "
            f"height, and bpp, got {len(data)} bytes"
        )
    start, width, height, bits = HEADER.unpack_from(data)
    have, count, row = bits // 8, abs(height), (bits // 8 * width + 3) // 4 * 4
    if width <= 0 or not height:
        raise InvalidArgumentError(f"Width must be positive, and height: {width} and {height}")
    if have not in (1, 3, 4):
        raise InvalidArgumentError(
            f"Number of channels inherent in the image must be 1, 3 or 4, was {have}"
        )
    rest = len(data) - start - row * count
    if rest:
        raise InvalidArgumentError(
            "Input size should match (header_size + row_size * abs_height) but they differ by "
            f"{rest}"
        )
    rows_ = np.frombuffer(data, np.uint8, row * count, start).reshape(count, row)
    made = rows_[:: 1 if height < 0 else -1, : width * have].reshape(count, width, have)
    color = np.repeat(made, 3, axis=2) if have == 1 and channels else made[:, :, :3][:, :, ::-1]
    if (channels or have) != 4:
        return np.ascontiguousarray(color)
    opaque = np.full((count, width, 1), 255, np.uint8)
    return np.concatenate([color, made[:, :, 3:] if have == 4 else opaque], axis=2)


def gif(data: bytes) -> Array:
    """Return frames, height, width and three channels of a GIF."""
    image = opened(data, "GIF")
    frames = []
    for number in range(getattr(image, "n_frames", 1)):
        image.seek(number)
        frames.append(np.asarray(loaded(image, len(data)).convert("RGB")))
    return np.stack(frames)


def any_image(data: bytes, channels: int, *, frames: bool = True) -> Array:
    """Return an image of any format that is known; a GIF has an axis of frames before it."""
    found = format_of(data)
    if found == "GIF":
        if channels not in (0, 3):
            raise InvalidArgumentError(f"channels must be 0 or 3 for GIF, got {channels}")
        made = gif(data)
        return made if frames else made[0]
    read: dict[str, Callable[[bytes, int], Array]] = {"JPEG": whole_jpeg, "PNG": png, "BMP": bmp}
    if found not in read:
        raise InvalidArgumentError(
            "Unknown image file format. One of JPEG, PNG, GIF, BMP required."
        )
    return read[found](data, channels)


def _decoded(
    type_: str, read: Callable[[bytes], Array], contents: object, dims: Sequence[int | None] | None,
    row: DType, name: str | None,
) -> TfTensor:  # fmt: skip
    def specs(_: Sequence[TensorSpec]) -> Sequence[TensorSpec]:
        """Return what is known of the image: symbols take longer to make than a small one."""
        return [unknown(row, *dims) if dims is not None else rows_of(row)]

    given = [convert_text(contents, type_)]
    return host(type_, lambda data: (read(_only(data)),), given, specs, name=name)[0]


def rows_of(row: DType) -> TensorSpec:
    """Return a spec of which only the element type is known."""
    from ...graph.graph import spec_with_unknowns  # noqa: PLC0415

    return spec_with_unknowns(row, None)


def _only(data: Array) -> bytes:
    if data.ndim:
        raise InvalidArgumentError(f"contents must be scalar, got shape {list(data.shape)}")
    found: bytes = data.item()
    return found


def _count(channels: SupportsInt | None) -> int:
    """Return the number of channels, 0 for that of the file."""
    found = int(channels or 0)
    if found not in (0, 1, 3, 4):
        raise InvalidArgumentError(f"channels must be 0, 1, 3 or 4, got {found}")
    return found


def decode_jpeg(
    contents: object,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
    name: str | None = None,
) -> TfTensor:
    """Return height, width and channels of a JPEG, with TensorFlow's values.

    `dct_method` is `"INTEGER_FAST"`, as where nothing is said, or `"INTEGER_ACCURATE"`.
    """
    if dct_method not in ("", "INTEGER_FAST", "INTEGER_ACCURATE"):
        raise ValueError(
            f"decode_jpeg: dct_method={dct_method!r}, expected 'INTEGER_FAST' or 'INTEGER_ACCURATE'"
        )
    if try_recover_truncated:
        raise NotImplementedError("decode_jpeg: only try_recover_truncated=False")
    if ratio not in (1, 2, 4, 8):
        raise InvalidArgumentError(f"ratio must be 1, 2, 4, or 8, got {ratio}")
    n = _count(channels)
    decoding = Decoding(ratio, dct_method == "INTEGER_ACCURATE", fancy_upscaling)
    given = convert(contents, "string")  # (TensorFlow does so before the operation takes it)
    return _decoded("DecodeJpeg", lambda data: jpeg(data, n, decoding), given,
                    (None, None, n or None), rows.u8, name)  # fmt: skip


def decode_and_crop_jpeg(
    contents: object, crop_window: object, channels: int = 0, name: str | None = None, **more: Any
) -> TfTensor:
    """Return a part of a JPEG: its top, left, height and width are given."""
    whole = decode_jpeg(contents, channels, name=name, **more)
    y, x, height, width = (convert(crop_window)[i] for i in range(4))
    return whole[y : y + height, x : x + width]


def decode_png(
    contents: object, channels: int = 0, dtype: DTypeLike | None = "uint8", name: str | None = None
) -> TfTensor:
    """Return height, width and channels of a PNG."""
    n, row = _count(channels), row_of(dtype)
    if row not in (rows.u8, rows.u16):
        raise TypeError(f"decode_png gives uint8 or uint16, got {dtype}")

    def read(data: bytes) -> Array:
        if format_of(data) != "PNG":
            return any_image(data, n, frames=False)
        return png(data, n, row.numpy if row else np.uint8)

    return _decoded("DecodePng", read, contents, (None, None, n or None), row, name)


def decode_bmp(contents: object, channels: int = 0, name: str | None = None) -> TfTensor:
    """Return height, width and channels of a BMP."""
    n = _count(channels)
    return _decoded("DecodeBmp", lambda data: bmp(data, n), contents, (None, None, n or None),
                    rows.u8, name)  # fmt: skip


def decode_gif(contents: object, name: str | None = None) -> TfTensor:
    """Return frames, height, width and three channels of a GIF."""
    return _decoded("DecodeGif", gif, contents, (None, None, None, 3), rows.u8, name)


def decode_image(
    contents: object,
    channels: SupportsInt | None = None,
    dtype: DTypeLike | None = "uint8",
    name: str | None = None,
    expand_animations: bool = True,
) -> TfTensor:
    """Return an image of any format that is known, as numbers of a type."""
    n, row = _count(channels), row_of(dtype)
    dims = None if expand_animations else (None, None, n or None)
    read = row if row in (rows.u8, rows.u16, rows.f32) else rows.u16
    made = _decoded("DecodeImage",
                    lambda data: _numbers_of(data, n, read.numpy, frames=expand_animations),
                    contents, dims, read, name)  # fmt: skip
    return made if row == read else convert_image_dtype(made, dtype)


def _numbers_of(data: bytes, channels: int, dtype: DTypeLike | None, *, frames: bool) -> Array:
    """Return an image as numbers of a type: of a PNG all 16 bits count, where it has them."""
    if dtype != np.uint8 and format_of(data) == "PNG":
        made = png(data, channels, np.uint16)
    else:
        made = any_image(data, channels, frames=frames)
    if dtype == np.float32:
        return made.astype(np.float32) * np.float32(1 / np.iinfo(made.dtype).max)
    return made if made.dtype == dtype else made.astype(np.uint16) * 256


def is_jpeg(contents: object, name: str | None = None) -> TfTensor:
    """Say whether bytes are a JPEG."""
    from ....ir.types.tensor import TensorSpec  # noqa: PLC0415

    def look(data: Array) -> Sequence[Array]:
        return (np.array(data.item()[:3] == b"\xff\xd8\xff"),)

    given = [convert(contents, "string")]
    return host("IsJpeg", look, given, [TensorSpec(rows.bool_, ())], name=name)[0]


def extract_jpeg_shape(
    contents: object, output_type: DTypeLike | None = "int32", name: str | None = None
) -> TfTensor:
    """Return height, width and channels of a JPEG without reading all of it."""
    row = row_of(output_type)
    assert row is not None, "a type was given"

    def look(data: Array) -> Sequence[Array]:
        content = _only(data)
        found = frame_of(content)
        if found is None:
            image = opened(content, "JPEG")
            found = *image.size[::-1], len(image.getbands())
        return (np.array(found, row.numpy),)

    given = [convert(contents, "string")]
    return host("ExtractJpegShape", look, given, [unknown(row, 3)], name=name)[0]


def frame_of(jpeg: bytes) -> tuple[int, int, int] | None:
    """Return height, width and channels by the frame of a JPEG; None: it is not found as usual."""
    at, end = 2, len(jpeg) - 10
    while jpeg[:2] == SOI and at < end and jpeg[at] == MARK:
        marker, size = jpeg[at + 1], jpeg[at + 2] << 8 | jpeg[at + 3]
        if marker in FRAMES:
            height, width, channels = struct.unpack_from(">HHB", jpeg, at + 5)
            is_usual = height and width and channels in (1, 3, 4)
            return (height, width, channels) if is_usual else None
        if marker not in BEFORE_FRAMES:
            return None
        at += 2 + size
    return None


SOI, MARK = b"\xff\xd8", 0xFF
"""What a JPEG begins with, and each of its parts."""
FRAMES = {0xC0, 0xC1, 0xC2}
"""The parts that say sizes: of baseline, extended and progressive images."""
BEFORE_FRAMES = {0xC4, 0xDB, 0xDD, 0xFE, *range(0xE0, 0xF0)}
"""What may come before: tables, intervals, comments, applications' parts."""


def require_image(array: Array) -> None:
    """Raise for an array that is no image."""
    if array.ndim != 3 or array.shape[2] not in (1, 2, 3, 4):
        raise InvalidArgumentError(
            f"image must be 3-dimensional with 1 to 4 channels, got shape {list(array.shape)}"
        )
    if not array.size:
        raise InvalidArgumentError(f"image of shape {list(array.shape)} has no elements")


def as_image(array: Array) -> PillowImage:
    """Return an array as an image of Pillow's."""
    require_image(array)
    made: PillowImage = pillow().fromarray(array[:, :, 0] if array.shape[2] == 1 else array)
    return made


def written(image: PillowImage, **options: object) -> Array:
    """Return an image as bytes of a format."""
    file = io.BytesIO()
    image.save(file, **options)
    return text(file.getvalue())


def png_bytes(array: Array, compression: int = -1) -> bytes:
    """Return an image as a PNG."""
    require_image(array)
    return png_of(array, compression)


def encode_png(image: object, compression: int = -1, name: str | None = None) -> TfTensor:
    """Return an image as a PNG."""
    x = convert(image)
    if x.dtype.name not in ("uint8", "uint16"):
        raise TypeError(f"an image of {x.dtype.name}, expected uint8 or uint16")

    def compute(array: Array) -> Sequence[Array]:
        return (text(png_bytes(array, int(compression))),)

    return host("EncodePng", compute, [x], [SCALAR_TEXT], name=name)[0]


def encode_jpeg(
    image: object,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
    name: str | None = None,
) -> TfTensor:
    """Return an image as a JPEG."""
    x = convert(image, "uint8")
    if xmp_metadata:
        raise NotImplementedError("encode_jpeg: xmp_metadata is not written")
    scale = 1 if density_unit == "in" else 2.54
    options = {
        "quality": quality, "progressive": progressive, "optimize": optimize_size,
        "subsampling": 2 if chroma_downsampling else 0,
        "dpi": (round(x_density * scale), round(y_density * scale)),
    }  # fmt: skip

    def compute(array: Array) -> Sequence[Array]:
        image = as_image(array)
        wanted = {"": None, "grayscale": 1, "rgb": 3}.get(format)
        if array.shape[2] not in ((1, 3) if wanted is None else (wanted,)):
            raise InvalidArgumentError(
                f"format {format!r} and an image of {array.shape[2]} channels do not fit"
            )
        return (written(image, format="JPEG", **options),)

    return host("EncodeJpeg", compute, [x], [SCALAR_TEXT], name=name)[0]
