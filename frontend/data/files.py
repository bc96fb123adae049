"""Elements that are kept in files: a file of records, one for each element."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import ClassVar

import numpy as np

from ..formats.records import RecordReader, RecordWriter
from ..values.run_errors import AlreadyExistsError
from .stages import UNKNOWN, Element, Run, Stage, State, Stream
from .states import from_bytes, to_bytes

SUFFIX, LOCK = ".records", ".lockfile"


def element_bytes(element: Element) -> bytes:
    """Return an element as a record."""
    return to_bytes({"element": element})


def element_of(record: bytes) -> Element:
    """Return the element of a record."""
    found: Element = from_bytes(record)["element"]
    return found


class KeptInFile(Stream):
    """The elements of the first time, kept in a file; it is complete when it has its name."""

    KEEPS = ("at",)

    def __init__(self, run: Run, stage: Stage, path: object) -> None:
        self.run, self.stage, self.at = run, stage, 0
        self.path = os.fsdecode(np.asarray(path).item())
        self.upstream: Stream | None = None
        self.writer: RecordWriter | None = None
        self.reader: RecordReader | None = None
        self.begin()

    def begin(self) -> None:
        """Read the file if it is there, else write it."""
        if os.path.exists(self.path + SUFFIX):
            self.reader = RecordReader(self.path + SUFFIX)
            return
        self.upstream = self.run.open(self.stage.inputs[0])

    def __next__(self) -> Element:
        if self.reader is not None:
            self.at += 1
            return element_of(next(self.reader))
        if self.writer is None:
            self.lock()
            self.writer = RecordWriter(f"{self.path}.{os.getpid()}{LOCK}")
        try:
            made = self.take()
        except StopIteration:
            self.finish()
            raise
        self.writer.write(element_bytes(made))
        self.at += 1
        return made

    def lock(self) -> None:
        """Say that the file is being written, which only one may do."""
        try:
            os.close(os.open(self.path + LOCK, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            raise AlreadyExistsError(
                f"There appears to be a concurrent caching iterator running - cache lockfile "
                f"already exists ('{self.path}{LOCK}'). If you are sure no other running "
                "computations are using this cache prefix, delete the lockfile and re-initialize "
                "the iterator."
            ) from None

    def finish(self) -> None:
        """Give the file its name."""
        if self.writer is not None:
            self.writer.close()
            os.replace(f"{self.path}.{os.getpid()}{LOCK}", self.path + SUFFIX)
            os.remove(self.path + LOCK)
            self.writer = self.upstream = None
            self.reader = RecordReader(self.path + SUFFIX)
            for _ in self.reader:
                pass  # it is at its end

    def give_up(self) -> None:
        """Remove what was written of a file that is not complete."""
        if self.writer is not None:
            self.writer.close()
            self.writer = None
            for path in (f"{self.path}.{os.getpid()}{LOCK}", self.path + LOCK):
                if os.path.exists(path):
                    os.remove(path)

    def __del__(self) -> None:
        self.give_up()

    def restore(self, state: State) -> None:
        """Begin anew, and leave out what was given already."""
        self.give_up()
        self.at, self.reader = 0, None
        self.begin()
        for _ in range(state["at"]):
            next(self)


class Saved(Stream):
    """The elements of a file that `save` wrote."""

    KEEPS = ("at",)
    TAKES: ClassVar[tuple[str, ...]] = ()

    def __init__(self, run: Run, stage: Stage, path: object, compression: object) -> None:
        super().__init__(run, stage)
        self.path, self.at = os.fsdecode(np.asarray(path).item()), 0
        self.compression = np.asarray(compression).item().decode()
        self.reader = RecordReader(self.path, self.compression)

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows before it is read."""
        return UNKNOWN

    def __next__(self) -> Element:
        self.at += 1
        return element_of(next(self.reader))

    def restore(self, state: State) -> None:
        """Go on."""
        self.reader, self.at = RecordReader(self.path, self.compression), 0
        while self.at < state["at"]:
            next(self)
