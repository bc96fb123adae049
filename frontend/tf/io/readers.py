"""Readers of the first version: they take names of files from a queue and give what is in them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....ir.op import Array
from ....ir.types import dtypes as rows
from ....ir.types.tensor import TensorSpec
from ...data.host import ArrayKind
from ...data.sources import lines_of
from ...formats.records import RecordReader, open_read
from ...graph.frame import Frame, Store
from ...graph.graph import GraphTensor, Operation
from ...graph.queue_ops import Use, carry_out, dequeue
from ...values.run_errors import InvalidArgumentError, OutOfRangeError
from ...values.texts import TEXT
from ..core.host_ops import SCALAR_TEXT, text, unknown
from ..core.values import InGraph, convert
from ..graph.queues import QueueBase
from ..graph.state import get_default_graph
from .records import TFRecordOptions

Work = Iterator[tuple[bytes, bytes]]


class Progress:
    """Where a reader is: what is open, and how much was read."""

    def __init__(self) -> None:
        self.work: Work | None = None
        self.produced = self.finished = 0


class ReaderKind(ArrayKind):
    """One use of a reader, which may take the name of the next file from a queue."""

    waits = True

    def __init__(
        self, reader: ReaderBase, type_: str, queue: QueueBase | None, specs: Sequence[TensorSpec]
    ) -> None:
        super().__init__(type_, self.unused, lambda _: list(specs), effect=True)
        self.reader, self.queue = reader, queue
        self.line = queue, True

    @staticmethod
    def unused(*arrays: Array) -> Any:
        """Say that it runs with a frame only."""
        raise AssertionError("a reader runs with the store of a session")

    def run(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> Sequence[object]:
        """Use the reader of the session."""
        if frame.is_staging:
            return super().run(frame, op, inputs)
        return self.reader.carried_out(self, frame, [np.asarray(x) for x in inputs])


class ReaderBase:
    """Gives keys and values of files whose names are in a queue."""

    supports_serialize = False

    def begin(self, path: bytes) -> Work:
        """Give the keys and values of a file."""
        raise NotImplementedError

    def progress(self, store: Store) -> Progress:
        """Return where the reader is in a session."""
        with store.lock:
            found: Progress = store.queues.setdefault(self, Progress())
        return found

    def carried_out(
        self, kind: ReaderKind, frame: Frame, inputs: Sequence[Array]
    ) -> Sequence[object]:
        """Return what a use gives."""
        progress = self.progress(frame.store)
        if kind.type == "ReaderReadV2":
            key, value = self.next(kind, frame, progress)
            return text(key), text(value)
        if kind.type == "ReaderReadUpToV2":
            return self.several(kind, frame, int(inputs[0]))
        if kind.type == "ReaderResetV2":
            frame.store.queues[self] = Progress()
            return ()
        done = kind.type == "ReaderNumWorkUnitsCompletedV2"
        return (np.array(progress.finished if done else progress.produced, np.int64),)

    def next(self, kind: ReaderKind, frame: Frame, progress: Progress) -> tuple[bytes, bytes]:
        """Return the next key and value; take the name of a file where one is at its end."""
        while True:
            if progress.work is None:
                assert kind.queue is not None, "what reads has a queue"
                spec = kind.queue._spec
                use = Use(spec, spec.queue(frame.store), frame.patient)
                progress.work = self.begin(carry_out(dequeue(spec), use, ())[0].item())
            found = next(progress.work, None)
            if found is not None:
                progress.produced += 1
                return found
            progress.work = None
            progress.finished += 1

    def several(self, kind: ReaderKind, frame: Frame, count: int) -> Sequence[object]:
        """Return up to so many keys and values: fewer where a file ends."""
        progress = self.progress(frame.store)
        made: list[tuple[bytes, bytes]] = []
        while len(made) < count:
            if made and progress.work is None:
                break
            try:
                made.append(self.next(kind, frame, progress))
            except OutOfRangeError:
                if not made:
                    raise
                break
        columns = [np.empty(len(made), object) for _ in range(2)]
        for place, pair in enumerate(made):
            columns[0][place], columns[1][place] = pair
        return columns

    def _add(
        self,
        type_: str,
        queue: QueueBase | None,
        specs: Sequence[TensorSpec],
        inputs: Sequence[object],
        name: str | None,
    ) -> Operation:
        graph = get_default_graph()
        with InGraph(graph):
            tensors = [convert(x, "int64") for x in inputs]
            kind = ReaderKind(self, type_, queue, specs)
            return graph.add(kind, [graph.owned(x) for x in tensors], name=name)

    def read(self, queue: QueueBase, name: str | None = None) -> tuple[GraphTensor, ...]:
        """Return the next key and value."""
        made = self._add("ReaderReadV2", queue, [SCALAR_TEXT, SCALAR_TEXT], (), name)
        return tuple(made.outputs)

    def read_up_to(
        self, queue: QueueBase, num_records: object, name: str | None = None
    ) -> tuple[GraphTensor, ...]:
        """Return up to so many keys and values."""
        specs = [unknown(TEXT, None), unknown(TEXT, None)]
        made = self._add("ReaderReadUpToV2", queue, specs, [num_records], name)
        return tuple(made.outputs)

    def num_records_produced(self, name: str | None = None) -> GraphTensor:
        """Return how many values were given."""
        return self._count("ReaderNumRecordsProducedV2", name)

    def num_work_units_completed(self, name: str | None = None) -> GraphTensor:
        """Return how many files were read to their ends."""
        return self._count("ReaderNumWorkUnitsCompletedV2", name)

    def _count(self, type_: str, name: str | None) -> GraphTensor:
        return self._add(type_, None, [TensorSpec(rows.i64, ())], (), name).outputs[0]

    def reset(self, name: str | None = None) -> Operation:
        """Return an operation after which the reader begins anew."""
        return self._add("ReaderResetV2", None, [], (), name)


class WholeFileReader(ReaderBase):
    """Gives whole files: the key is the name, the value the contents."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name

    def begin(self, path: bytes) -> Work:
        """Give the file."""
        file = open_read(path)
        data = file.read(-1)
        file.close()
        yield path, data


class IdentityReader(ReaderBase):
    """Gives the names themselves."""

    def __init__(self, name: str | None = None) -> None:
        self.name = name

    def begin(self, path: bytes) -> Work:
        """Give the name."""
        yield path, path


class TextLineReader(ReaderBase):
    """Gives the lines of files."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        self.skip, self.name = skip_header_lines or 0, name

    def begin(self, path: bytes) -> Work:
        """Give the lines behind those that are left out; keys are names and numbers from 1."""
        for number, line in enumerate(lines_of(open_read(path), 1 << 18), 1):
            if number > self.skip:
                yield path + b":%d" % number, line


class FixedLengthRecordReader(ReaderBase):
    """Gives records of one size; files may have headers and footers."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        if record_bytes <= 0:
            raise InvalidArgumentError("record_bytes must be positive")
        self.size, self.header = record_bytes, header_bytes or 0
        self.footer, self.hop = footer_bytes or 0, hop_bytes or record_bytes
        self.encoding = "" if encoding is None else encoding
        self.name = name

    def begin(self, path: bytes) -> Work:
        """Give the records; keys are names and numbers from 0."""
        file = open_read(path, self.encoding)
        data = file.read(-1)
        file.close()
        last = len(data) - self.footer - self.size
        for number, start in enumerate(range(self.header, last + 1, self.hop)):
            yield path + b":%d" % number, data[start : start + self.size]


class TFRecordReader(ReaderBase):
    """Gives the records of files."""

    def __init__(self, name: str | None = None, options: object = None) -> None:
        self.name = name
        self.compression = TFRecordOptions.get_compression_type_string(options)

    def begin(self, path: bytes) -> Work:
        """Give the records; keys are names and offsets."""
        reader = RecordReader(path, self.compression)
        offset = reader.offset
        for record in reader:
            yield path + b":%d" % offset, record
            offset = reader.offset
        reader.close()
