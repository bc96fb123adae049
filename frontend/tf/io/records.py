"""Files of records: `TFRecordWriter` and what reads them without a graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar, Self

from ...formats.records import RecordReader, RecordWriter


class TFRecordCompressionType:
    """The numbers of compressions (the first version)."""

    NONE, ZLIB, GZIP = 0, 1, 2


NAMES = {0: "", 1: "ZLIB", 2: "GZIP", None: "", "": "", "ZLIB": "ZLIB", "GZIP": "GZIP"}


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
        if compression_type not in NAMES:
            raise ValueError(f'Not a valid compression_type: "{compression_type}"')
        self.compression_type, self.compression_level = compression_type, compression_level

    @classmethod
    def get_compression_type_string(cls, options: object) -> str:
        """Return the name of the compression of options, or of a name or number."""
        if isinstance(options, TFRecordOptions):
            return NAMES[options.compression_type]
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


def tf_record_iterator(path: str, options: object = None) -> Iterator[bytes]:
    """Give the records of a file."""
    reader = RecordReader(path, TFRecordOptions.get_compression_type_string(options))
    try:
        yield from reader
    finally:
        reader.close()
