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
    """Return the numbers of a file and how many are of a second; `InvalidArgumentError` if wrong.

    What a head says twice has to agree, as in TensorFlow: else samples would be read as others.
    """
    reader = _Waves(data)
    for name in (b"RIFF", b"WAVE", b"fmt "):
        reader.name(name)
        if name == b"RIFF":
            reader.number("I")  # of the file, which programs that write to pipes leave wrong
    width = reader.number("I")
    if width not in (16, 18):
        raise InvalidArgumentError(
            f"Bad format chunk size for WAV: Expected 16 or 18, but got {width}"
        )
    form, channels, rate, second, frame, bits = map(reader.number, "HHIIHH")
    if form != 1:
        raise InvalidArgumentError(f"Bad audio format for WAV: Expected 1 (PCM), but got {form}")
    if channels < 1:
        raise InvalidArgumentError(
            f"Bad number of channels for WAV: Expected at least 1, but got {channels}"
        )
    if bits != 8 * BYTES:
        raise InvalidArgumentError(f"Can only read 16-bit WAV files, but received {bits}")
    for what, wanted, found in (
        ("sample", BYTES * channels, frame),
        ("second", frame * rate, second),
    ):
        if found != wanted:
            raise InvalidArgumentError(
                f"Bad bytes per {what} in WAV header: Expected {wanted} but got {found}"
            )
    reader.take(width - 16)
    return _samples(reader, frame).reshape(-1, channels), rate


def _samples(reader: _Waves, frame: int) -> Array:
    """Return the numbers of the one chunk of data; what other chunks hold is passed over."""
    found: Array | None = None
    while reader.at < len(reader.data):
        kind = reader.take(4)
        size = reader.number("I")
        if kind != b"data":
            reader.at += size
            continue
        if found is not None:
            raise InvalidArgumentError("More than one data chunk found in WAV")
        found = np.frombuffer(reader.take(size // frame * frame), "<i2")
    if found is None:
        raise InvalidArgumentError("No data chunk found in WAV")
    return found


class _Waves:
    """Bytes that are taken from the front, where none may be missing."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def take(self, count: int) -> bytes:
        """Return the next bytes."""
        end = self.at + count
        if end > len(self.data):
            raise InvalidArgumentError(
                f"Data too short when trying to read {count} bytes at {self.at} of"
                f" {len(self.data)}: this is no WAV file, or not all of it"
            )
        found = self.data[self.at : end]
        self.at = end
        return found

    def number(self, code: str) -> int:
        """Return the number that is next, coded as `struct` says."""
        form = struct.Struct(f"<{code}")
        return int(form.unpack(self.take(form.size))[0])

    def name(self, wanted: bytes) -> None:
        """Pass over letters that have to come next."""
        found = self.take(len(wanted))
        if found != wanted:
            raise InvalidArgumentError(
                f"Header mismatch: this is no WAV file: expected {wanted!r} but found {found!r}"
            )


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
