"""Files of records (TFRecord): each is a length, its checksum, the bytes, and their checksum.

Files may be compressed as a whole (`GZIP`, `ZLIB`). Offsets are those of the stream that is read.
"""

from __future__ import annotations

import gzip
import os
import struct
import zlib
from collections.abc import Iterator
from typing import BinaryIO, Protocol

from ..values.run_errors import (
    DataLossError,
    FailedPreconditionError,
    InvalidArgumentError,
    NotFoundError,
    PermissionDeniedError,
)
from .checksums import masked

HEADER = struct.Struct("<QI")
CHUNK = 1 << 18
"""Bytes that are read at once, where nothing else is asked for."""
LONGEST = 1 << 40
"""A record that claims more bytes is damaged."""


class Readable(Protocol):
    """What bytes are read from."""

    def read(self, size: int = -1, /) -> bytes:
        """Return at most so many bytes."""

    def close(self) -> None:
        """Let the file go."""


class ZlibFile:
    """Reads a file that is compressed as one zlib stream."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._state = file, zlib.decompressobj()

    def read(self, size: int = -1, /) -> bytes:
        """Return at most so many bytes, all that are left for -1."""
        limit = max(size, 0)
        pieces: list[bytes] = []
        while not pieces or size < 0:
            raw = self._state.unconsumed_tail or self._file.read(CHUNK)
            if not raw:
                break
            made = self._state.decompress(raw, limit)
            pieces += [made] if made else []
        return b"".join(pieces)

    def close(self) -> None:
        """Let the file go."""
        self._file.close()


def check_compression(kind: str | None) -> str:
    """Return the name of a compression, or raise `InvalidArgumentError`."""
    found = kind or ""
    if found not in ("", "NONE", "GZIP", "ZLIB"):
        raise InvalidArgumentError(f"Unsupported compression type {kind!r}")
    return "" if found == "NONE" else found


def open_read(path: str | bytes, compression: str = "") -> Readable:
    """Open a file for reading; what is wrong with it is an error by TensorFlow's name."""
    name = os.fsdecode(path)
    kind = check_compression(compression)
    with file_errors(name):
        if kind == "GZIP":
            return gzip.GzipFile(name)
        file: BinaryIO = open(name, "rb", buffering=0)  # noqa: SIM115  (its reader closes it)
    return ZlibFile(file) if kind == "ZLIB" else file


class file_errors:  # noqa: N801  (is used like a function)
    """Turns the system's errors about a file into those that programs for TensorFlow catch."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, FileNotFoundError):
            raise NotFoundError(f"{self.name}; No such file or directory") from None
        if isinstance(error, PermissionError):
            raise PermissionDeniedError(f"{self.name}; Permission denied") from None
        if isinstance(error, IsADirectoryError):
            raise FailedPreconditionError(f"{self.name}; Is a directory") from None
        if isinstance(error, NotADirectoryError):
            raise FailedPreconditionError(f"{self.name}; Not a directory") from None


class RecordReader:
    """The records of one file, one after the other; `offset` is where the next one begins."""

    def __init__(self, path: str | bytes, compression: str = "", chunk: int = 0) -> None:
        self._file = open_read(path, compression)
        self._chunk = chunk or CHUNK
        self._buffer, self._at, self._before = b"", 0, 0
        self._ended = False

    @property
    def offset(self) -> int:
        """Return where in the stream the next record begins."""
        return self._before + self._at

    def skip_to(self, offset: int) -> None:
        """Leave out what comes before an offset."""
        while self.offset < offset:
            size = min(offset - self.offset, self._chunk)
            if not self._have(size):
                raise DataLossError(f"truncated record at {self.offset}")
            self._at += size

    def _have(self, count: int) -> bool:
        """Read until so many bytes are there; say whether they are."""
        left = len(self._buffer) - self._at
        if left >= count:
            return True
        pieces = [self._buffer[self._at :]]
        while left < count:
            try:
                made = self._file.read(max(count - left, self._chunk))
            except (zlib.error, EOFError, gzip.BadGzipFile) as error:
                raise DataLossError(f"damaged compressed data: {error}") from None
            if not made:
                break
            pieces.append(made)
            left += len(made)
        self._before += self._at
        self._buffer, self._at = b"".join(pieces), 0
        return left >= count

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        buffer, at = self._buffer, self._at
        if len(buffer) - at < 12:
            if self._ended or not self._have(12):
                return self._end()
            buffer, at = self._buffer, self._at
        length, crc = HEADER.unpack_from(buffer, at)
        if masked(buffer[at : at + 8]) != crc or length > LONGEST:
            raise DataLossError(f"corrupted record at {self.offset}")
        stop = at + 12 + length
        if len(buffer) < stop + 4:
            if not self._have(16 + length):
                raise DataLossError(f"truncated record at {self.offset}")
            buffer, at = self._buffer, 0
            stop = 12 + length
        record = buffer[at + 12 : stop]
        if masked(record) != int.from_bytes(buffer[stop : stop + 4], "little"):
            raise DataLossError(f"corrupted record at {self.offset}")
        self._at = stop + 4
        return record

    def _end(self) -> bytes:
        """End the file; what is left is less than a header, and left out as TensorFlow does."""
        self._file.close()
        self._ended = True
        raise StopIteration

    def close(self) -> None:
        """Let the file go."""
        self._file.close()

    def __del__(self) -> None:
        file: Readable | None = getattr(self, "_file", None)  # missing where it did not open
        if file is not None:
            file.close()


class FollowingReader(RecordReader):
    """The records of a file that may grow: at its end it may be asked again, for those behind."""

    def _end(self) -> bytes:
        """Stop for now; the file stays open."""
        raise StopIteration


def framed(record: bytes) -> bytes:
    """Return a record with its length and checksums."""
    length = struct.pack("<Q", len(record))
    sums = masked(length).to_bytes(4, "little"), masked(record).to_bytes(4, "little")
    return b"".join((length, sums[0], record, sums[1]))


class RecordWriter:
    """Writes records into a file, which is complete when it is closed."""

    def __init__(self, path: str | bytes, compression: str = "", level: int = -1) -> None:
        name, kind = os.fsdecode(path), check_compression(compression)
        with file_errors(name):
            self._raw: BinaryIO = open(name, "wb")  # noqa: SIM115  (close() closes it)
        self._packer = None
        if kind:
            window = 31 if kind == "GZIP" else 15
            self._packer = zlib.compressobj(level, zlib.DEFLATED, window)

    def write(self, record: bytes) -> None:
        """Write one record."""
        if self._raw.closed:
            raise FailedPreconditionError("Writer not initialized or previously closed")
        data = framed(record)
        self._raw.write(data if self._packer is None else self._packer.compress(data))

    def flush(self) -> None:
        """Let what was written reach the file."""
        if self._raw.closed:
            raise FailedPreconditionError("Writer not initialized or previously closed")
        if self._packer is not None:
            self._raw.write(self._packer.flush(zlib.Z_SYNC_FLUSH))
        self._raw.flush()

    def close(self) -> None:
        """End the file."""
        if self._raw.closed:
            return
        if self._packer is not None:
            self._raw.write(self._packer.flush())
        self._raw.close()
