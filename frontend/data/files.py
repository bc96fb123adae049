"""Elements that are kept in files: a file of records, one for each element."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, TypedDict

import numpy as np

from ..formats.records import RecordReader, RecordWriter, file_errors
from ..values.run_errors import AlreadyExistsError, InvalidArgumentError
from .sources import Records
from .stages import UNKNOWN, Apply, Element, Run, Stage, State, Stream, integer, part
from .states import from_bytes, to_bytes
from .steps import OneOfTwo

SUFFIX, LOCK = ".records", ".lockfile"
ABOUT = "spec.json"
"""The file that says what there is in a folder."""
FINISHED = "snapshot.metadata"
"""The file that says which run's folder beside it is complete."""
PART, OLDER = "{:08d}.{:08d}.records", "elements.records"
"""The file of a shard and its part, and that of folders that did not say which ones they have."""


def element_bytes(element: Element) -> bytes:
    """Return an element as a record."""
    return to_bytes({"element": element})


def element_of(record: bytes) -> Element:
    """Return the element of a record."""
    found: Element = from_bytes(record)["element"]
    return found


def as_path(value: object) -> str:
    """Return the path that an option of a stage is: a text, as an array of one element."""
    return os.fsdecode(np.asarray(value).item())


class KeptInFile(Stream):
    """The elements of the first time, kept in a file; it is complete when it has its name."""

    KEEPS = ("at",)

    def __init__(self, run: Run, stage: Stage, path: object) -> None:
        self.run, self.stage, self.at = run, stage, 0
        self.path = as_path(path)
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


class Saving(Stream):
    """The elements, which are written into a folder: each into the shard that a function says."""

    METHOD = "save"

    KEEPS: ClassVar[tuple[str, ...]] = ("parts", "seen")

    def __init__(
        self,
        run: Run,
        stage: Stage,
        folder: object,
        compression: str,
        specs: str,
        shard: Apply | None = None,
    ) -> None:
        self.writers: dict[int, RecordWriter] = {}
        super().__init__(run, stage)
        self.folder, self.compression = as_path(folder), compression
        self.specs, self.shard = specs, shard
        self.parts: dict[int, int] = {}
        """How many files each shard has: it goes on in another one behind a saved state."""
        self.seen = 0
        os.makedirs(self.folder, exist_ok=True)

    def __next__(self) -> Element:
        try:
            element = self.take()
        except StopIteration:
            self.finish()
            raise
        number = 0 if self.shard is None else self.number(self.shard(element))
        writer = self.writers.get(number)
        if writer is None:
            part = self.parts.setdefault(number, 0)
            path = os.path.join(self.folder, PART.format(number, part))
            writer = self.writers[number] = RecordWriter(path, self.compression)
            self.parts[number] += 1
        writer.write(element_bytes(element))
        self.seen += 1
        return element

    @staticmethod
    def number(found: Element) -> int:
        """Return the number of a shard."""
        if len(found) != 1 or found[0].shape or found[0].dtype != np.int64:
            raise InvalidArgumentError("`shard_func` must return a scalar int64.")
        return int(found[0])

    def close(self) -> None:
        """End the files that are being written."""
        for writer in self.writers.values():
            writer.close()
        self.writers.clear()

    def __del__(self) -> None:
        self.close()

    def finish(self) -> None:
        """Say what there is in the folder, which is complete from then on."""
        self.close()
        about = {"compression": self.compression, "spec": json.loads(self.specs),
                 "shards": sorted(self.parts.items()), "count": self.seen}  # fmt: skip
        path = os.path.join(self.folder, ABOUT)
        with open(f"{path}.{os.getpid()}", "w", encoding="utf-8") as file:
            json.dump(about, file)
        os.replace(f"{path}.{os.getpid()}", path)

    def save(self) -> State:
        """Let what was written reach the files."""
        self.close()
        return {**super().save(), "parts": dict(self.parts)}

    def restore(self, state: State) -> None:
        """Go on, each shard in a new file."""
        self.close()
        super().restore(state)


class About(TypedDict, total=False):
    """What a folder says of itself."""

    compression: str
    spec: object
    shards: list[tuple[int, int]]
    """Their numbers, and how many files each one has."""
    count: int


def about(folder: str) -> About:
    """Return what a folder says of itself, or raise `NotFoundError` where it is not complete."""
    path = os.path.join(folder, ABOUT)
    with file_errors(path), open(path, encoding="utf-8") as file:
        found: About = json.load(file)
    return found


class Shards(Stream):
    """The shards of a folder, in the order of their numbers: each is a pipeline."""

    KEEPS = ("at",)
    TAKES: ClassVar[tuple[str, ...]] = ()

    def __init__(self, run: Run, stage: Stage, folder: object) -> None:
        super().__init__(run, stage)
        self.folder, self.at = as_path(folder), 0
        self.about = about(self.folder)

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows before it is read."""
        return UNKNOWN

    def __next__(self) -> Element:
        shards = self.about.get("shards")
        if self.at >= (1 if shards is None else len(shards)):
            raise StopIteration
        names = [OLDER] if shards is None else [
            PART.format(shards[self.at][0], number) for number in range(shards[self.at][1])
        ]  # fmt: skip
        self.at += 1
        paths = np.array([os.fsencode(os.path.join(self.folder, x)) for x in names], object)
        compression = np.array(self.about["compression"].encode(), object)
        return (part(Stage(Saved, (), {"files": paths, "compression": compression})),)


class Saved(Records):
    """The elements of files that were written for a folder."""

    def __next__(self) -> Element:
        return element_of(super().__next__()[0].item())


class WritingSnapshot(Saving):
    """The elements, which are written into a folder of their own for this run."""

    METHOD = "snapshot"
    KEEPS: ClassVar[tuple[str, ...]] = (*Saving.KEEPS, "run_name")

    def __init__(self, run: Run, stage: Stage, folder: object, key: str, **options: Any) -> None:
        self.above = os.path.join(as_path(folder), key)
        self.run_name = os.urandom(8).hex()
        inside = np.array(os.fsencode(os.path.join(self.above, self.run_name)), object)
        super().__init__(run, stage, inside, **options)

    def finish(self) -> None:
        """Say that the elements are there, and in which run's folder."""
        super().finish()
        path = os.path.join(self.above, FINISHED)
        with open(f"{path}.{self.run_name}", "w", encoding="utf-8") as file:
            json.dump({"run": self.run_name}, file)
        os.replace(f"{path}.{self.run_name}", path)

    def restore(self, state: State) -> None:
        """Go on in the folder of that run, each shard in a new file."""
        super().restore(state)
        self.folder = os.path.join(self.above, self.run_name)
        os.makedirs(self.folder, exist_ok=True)


class SnapshotShards(Shards):
    """The shards of the run that was written to its end."""

    def __init__(self, run: Run, stage: Stage, folder: object, key: str) -> None:
        above = os.path.join(as_path(folder), key)
        path = os.path.join(above, FINISHED)
        with file_errors(path), open(path, encoding="utf-8") as file:
            name = json.load(file)["run"]
        super().__init__(run, stage, np.array(os.fsencode(os.path.join(above, name)), object))


class WrittenOnce(OneOfTwo):
    """The elements as they are written, or as they are read where they were written before."""

    def __init__(self, run: Run, stage: Stage, folder: object, key: str) -> None:
        self.run, self.stage = run, stage
        above = os.path.join(as_path(folder), key)
        self.second = os.path.exists(os.path.join(above, FINISHED))
        self.upstream = self.reopened("upstream")

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return how many there are before they are written."""
        return inputs[0]


class OfKnownCount(Stream):
    """The elements of a folder, of which it is known how many there are."""

    def __init__(self, run: Run, stage: Stage, count: int) -> None:
        super().__init__(run, stage)

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return what the folder says."""
        return integer(options["count"])

    def __next__(self) -> Element:
        return self.take()
