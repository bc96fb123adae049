"""Files of records: `TFRecordWriter` and what reads them without a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from ...formats.records import FollowingReader, RecordWriter


class TFRecordCompressionType:
    """The numbers of compressions (the first version)."""

    NONE, ZLIB, GZIP = 0, 1, 2


NAMES: dict[object, str] = {
    0: "",
    1: "ZLIB",
    2: "GZIP",
    None: "",
    "": "",
    "ZLIB": "ZLIB",
    "GZIP": "GZIP",
}


class TFRecordOptions:
    """How a file of records is written."""

    compression_type_map: ClassVar[dict[int, str]] = {0: "", 1: "ZLIB", 2: "GZIP"}

    def __init__(
        self,
        compression_type: object = None,
        flush_mode: object = None,
        input_buffer_size: object = None,
        output_buffer_size: object = None,
        window_bits: object = None,
        compression_level: int | None = None,
        compression_method: object = None,
        mem_level: object = None,
        compression_strategy: object = None,
    ) -> None:
        kind: object = compression_type
        if isinstance(compression_type, TFRecordOptions):
            kind = compression_type.compression_type
        if kind not in NAMES:
            raise ValueError(f'Not a valid compression_type: "{kind}"')
        self.compression_type: object = kind
        self.compression_level = compression_level

    @classmethod
    def get_compression_type_string(cls, options: object) -> str:
        """Return the name of the compression of options, or of a name or number."""
        if isinstance(options, TFRecordOptions):
            options = options.compression_type
        if options not in NAMES:
            raise ValueError(f'Not a valid compression_type: "{options}"')
        return NAMES[options]


class TFRecordWriter:
    """Writes records into a file."""

    def __init__(self, path: Any, options: object = None) -> None:
        level = getattr(options, "compression_level", None)
        kind = TFRecordOptions.get_compression_type_string(options)
        self._writer = RecordWriter(path, kind, -1 if level is None else level)

    def write(self, record: object) -> None:
        """Write a record."""
        if hasattr(record, "numpy"):
            record = record.numpy()
        if isinstance(record, str):
            record = record.encode()
        if not isinstance(record, bytes):
            raise TypeError(f"write(): a record of {type(record).__name__}, expected bytes")
        self._writer.write(record)

    def flush(self) -> None:
        """Let what was written reach the file."""
        self._writer.flush()

    def close(self) -> None:
        """End the file."""
        self._writer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


class RecordIterator(Iterator[bytes]):
    """The records of a file, also those that are added behind its end later."""

    def __init__(self, path: str, compression: str) -> None:
        self._path, self._compression, self._offset = path, compression, 0
        self._reader: FollowingReader | None = FollowingReader(path, compression)

    def __next__(self) -> bytes:
        if self._reader is None:
            raise StopIteration
        return next(self._reader)

    def close(self) -> None:
        """Let the file go."""
        if self._reader is not None:
            self._offset = self._reader.offset
            self._reader.close()
            self._reader = None

    def reopen(self) -> None:
        """Go on behind the last record in what stands at the path now."""
        self.close()
        self._reader = FollowingReader(self._path, self._compression)
        self._reader.skip_to(self._offset)


def tf_record_iterator(path: str, options: object = None) -> RecordIterator:
    """Give the records of a file."""
    return RecordIterator(path, TFRecordOptions.get_compression_type_string(options))
