"""Sounds: WAV files of 16 bits as samples from -1 to 1, and back."""

from __future__ import annotations

import io
import struct
import wave
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...values.run_errors import InvalidArgumentError
from ...values.texts import TEXT
from ..core.bridge import TfTensor
from ..core.host_ops import host, text, unknown
from ..core.space import Space
from ..core.values import convert

BYTES = 2


class DecodeWav(NamedTuple):
    """The samples, one row for each time and one column for each channel, and their rate."""

    audio: TfTensor
    sample_rate: TfTensor


def decode_wav(
    contents: object,
    desired_channels: int = -1,
    desired_samples: int = -1,
    name: str | None = None,
) -> DecodeWav:
    """Return the samples of a WAV file; what is missing of those that are desired is silent."""

    def read(data: Array) -> Sequence[Array]:
        found, rate = _read(data.item())
        if desired_channels > found.shape[1]:
            found = np.repeat(found[:, :1], desired_channels, axis=1)
        elif desired_channels > 0:
            found = found[:, :desired_channels]
        if desired_samples >= 0:
            missing = max(desired_samples - len(found), 0)
            found = np.pad(found[:desired_samples], ((0, missing), (0, 0)))
        return [found.astype(np.float32) / np.float32(32768), np.array(rate, np.int32)]

    def specs(_: object) -> Sequence[TensorSpec]:
        dims = [None if d < 0 else d for d in (desired_samples, desired_channels)]
        return [unknown(rows.f32, *dims), TensorSpec(rows.i32, ())]

    return DecodeWav(*host("DecodeWav", read, [convert(contents, "string")], specs, name=name))


def _read(data: bytes) -> tuple[Array, int]:
    """Return the numbers of a file, and how many are of a second."""
    plain = _plain(data)
    if plain is not None:
        return plain
    try:
        with wave.open(io.BytesIO(data)) as file:
            if file.getsampwidth() != BYTES:
                bits = 8 * file.getsampwidth()
                raise InvalidArgumentError(f"Can only read 16-bit WAV files, but received {bits}")
            found = np.frombuffer(file.readframes(file.getnframes()), "<i2")
            return found.reshape(-1, file.getnchannels()), file.getframerate()
    except (wave.Error, EOFError) as error:
        raise InvalidArgumentError(f"Header mismatch: this is no WAV file: {error}") from None


HEAD = struct.Struct("<4sI4s4sIHHIIHH4sI")
"""The head of most files: sizes, a chunk of 16 bytes about the samples, and no others but them."""


def _plain(data: bytes) -> tuple[Array, int] | None:
    """Return the same of a file with the head that most have; None: it has another one."""
    if len(data) < HEAD.size:
        return None
    riff, size, kind, about, width, form, channels, rate, _, frame, bits, chunk, count = (
        HEAD.unpack_from(data)
    )
    names = (riff, kind, about, chunk) == (b"RIFF", b"WAVE", b"fmt ", b"data")
    whole = size == len(data) - 8 and count == len(data) - HEAD.size
    if not (names and whole and (width, form, bits) == (16, 1, 8 * BYTES) and channels):
        return None
    if frame != BYTES * channels or count % frame:
        return None
    return np.frombuffer(data, "<i2", offset=HEAD.size).reshape(-1, channels), rate


def encode_wav(audio: object, sample_rate: object, name: str | None = None) -> TfTensor:
    """Return samples, a column for each channel, as a WAV file."""

    def write(samples: Array, rate: Array) -> Sequence[Array]:
        if samples.ndim != 2:
            raise InvalidArgumentError(f"audio must be 2-dimensional but got shape {samples.shape}")
        whole = np.clip(np.round(samples * np.float32(32767)), -32768, 32767).astype("<i2")
        made = io.BytesIO()
        with wave.open(made, "wb") as file:
            file.setnchannels(samples.shape[1])
            file.setsampwidth(BYTES)
            file.setframerate(int(rate))
            file.writeframes(whole.tobytes())
        return [text(made.getvalue())]

    given = [convert(audio, "float32"), convert(sample_rate, "int32")]
    return host("EncodeWav", write, given, [TensorSpec(TEXT, ())], name=name)[0]


audio = Space("audio", decode_wav=decode_wav, encode_wav=encode_wav)
