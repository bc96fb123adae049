"""Where elements come from: arrays, ranges, random numbers, files, Python's generators."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...ir.op import Array
from ..formats.records import Readable, RecordReader, open_read
from ..values.run_errors import InvalidArgumentError, OpError
from .order import Words, chosen_seeds
from .stages import (
    INFINITE,
    UNKNOWN,
    Element,
    Given,
    Run,
    Stage,
    State,
    Stream,
    Unsaved,
    integer,
    known,
    part,
)

LARGEST = (1 << 63) - 1


class Whole(Stream):
    """One element: the tensors themselves."""

    KEEPS = ("done",)
    TAKES: ClassVar[tuple[str, ...]] = ()

    def __init__(self, run: Run, stage: Stage, **parts: object) -> None:
        super().__init__(run, stage)
        self.element, self.done = tuple(np.asarray(x) for x in parts.values()), False

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return one."""
        return 1

    def __next__(self) -> Element:
        if self.done:
            raise StopIteration
        self.done = True
        return self.element


class Slices(Stream):
    """The slices of tensors along their first axes."""

    KEEPS = ("at",)
    TAKES: ClassVar[tuple[str, ...]] = ()

    def __init__(self, run: Run, stage: Stage, **parts: object) -> None:
        super().__init__(run, stage)
        self.arrays = [np.asarray(x) for x in parts.values()]
        counts = {len(x) for x in self.arrays}
        if len(counts) > 1:
            raise InvalidArgumentError(f"tensors with first axes of {sorted(counts)} elements")
        self.at, self.end = 0, min(counts)

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, Any]) -> int:
        """Return the size of the first axis, if it is known."""
        for option in options.values():
            shape = option.tensor.spec.shape
            if shape and isinstance(shape[0], int):
                return shape[0]
        return UNKNOWN

    def __next__(self) -> Element:
        at = self.at
        if at >= self.end:
            raise StopIteration
        self.at = at + 1
        return tuple([x[at, ...] for x in self.arrays])

    def rows(self, count: int) -> Sequence[Array] | None:
        """Return rows that follow one another."""
        at = self.at
        self.at = stop = min(at + count, self.end)
        return [x[at:stop] for x in self.arrays]

    def places(self, count: int) -> range:
        """Return numbers of rows."""
        at = self.at
        self.at = min(at + count, self.end)
        return range(at, self.at)

    def gathered(self, places: Sequence[int]) -> Sequence[Array]:
        """Return the rows of these numbers."""
        return [x.take(places, 0) for x in self.arrays]


class Range(Stream):
    """Numbers at equal distances."""

    KEEPS = ("at",)
    TAKES: ClassVar[tuple[str, ...]] = ()

    def __init__(
        self,
        run: Run,
        stage: Stage,
        start: object,
        stop: object,
        step: object,
        dtype: np.dtype[np.generic],
    ) -> None:
        super().__init__(run, stage)
        self.step, self.dtype = np.asarray(step).item(), dtype
        if not self.step:
            raise InvalidArgumentError("step must be a non-zero integer.")
        self.at, self.stop = np.asarray(start).item(), np.asarray(stop).item()

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, Any]) -> int:
        """Return how many numbers there are."""
        start, stop, step = (known(options[n]) for n in ("start", "stop", "step"))
        if start is None or stop is None or step is None:
            return UNKNOWN
        if stop == LARGEST:
            return INFINITE
        return max(0, int(-((start - stop) // step))) if step else UNKNOWN

    def __next__(self) -> Element:
        at = self.at
        if at >= self.stop if self.step > 0 else at <= self.stop:
            raise StopIteration
        self.at = at + self.step
        return (np.array(at, self.dtype),)

    def rows(self, count: int) -> Sequence[Array] | None:
        """Return numbers that follow one another."""
        left = max(0, -((self.at - self.stop) // self.step))
        size = min(count, left)
        start = self.at
        self.at = start + size * self.step
        return [np.arange(size).astype(self.dtype) * self.dtype.type(self.step)
                + self.dtype.type(start)]  # fmt: skip


class Numbers(Stream):
    """Random numbers without end."""

    TAKES: ClassVar[tuple[str, ...]] = ()

    def __init__(self, run: Run, stage: Stage, seeds: Sequence[object] | None, anew: bool) -> None:
        super().__init__(run, stage)
        first, second = chosen_seeds(seeds)
        if anew:
            source: Words = run.memory(stage).setdefault("seeds", Words(first, second))
            first, second = source.next(), source.next()
        self.words = Words(first, second)

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that there is no end."""
        return INFINITE

    def __next__(self) -> Element:
        return (np.array(self.words.next(), np.int64),)

    def save(self) -> State:
        """Return the seeds and how many numbers were drawn."""
        return {**self.words.state()}

    def restore(self, state: State) -> None:
        """Go on."""
        self.words = Words.at(state)


class Generated(Unsaved):
    """What a generator of Python's gives; `start` begins it, with arguments."""

    def __init__(self, run: Run, stage: Stage, start: Callable[..., Iterator[Element]],
                 **arguments: object) -> None:  # fmt: skip
        super().__init__(run, stage)
        self.elements = start(*arguments.values())

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows."""
        return UNKNOWN

    def __next__(self) -> Element:
        return next(self.elements)


class Literal(Stream):
    """The elements of a pipeline that is itself a part of an element."""

    def __init__(self, run: Run, stage: Stage, of: object) -> None:
        super().__init__(run, stage)
        self.upstream = run.open(np.asarray(of, object).item())

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return how many there are, if the pipeline is known by now."""
        of = options["of"]
        tensor = of.tensor if isinstance(of, Given) else None
        if tensor is None or not tensor.eager:
            return UNKNOWN
        found: Stage = np.asarray(tensor.numpy(), object).item()
        return found.count

    def __next__(self) -> Element:
        return self.take()


class Within(Stream):
    """The elements of a stage that takes values from a graph around it."""

    def __init__(self, run: Run, stage: Stage, inner: Stage, values: Mapping[int, object]) -> None:
        super().__init__(run, stage)
        self.upstream = run.within(values).open(inner)

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, Any]) -> int:
        """Return how many there are."""
        found: int = options["inner"].count
        return found

    def __next__(self) -> Element:
        return self.take()


@dataclass(frozen=True)
class Closing:
    """Makes a pipeline of one that takes values from a graph around it: it has them with it."""

    stage: Stage
    keys: Sequence[int]
    """The tensors of the values."""

    def __call__(self, *values: object) -> Sequence[Array]:
        """Return the pipeline, for values."""
        found = dict(zip(self.keys, values, strict=True))
        return (part(Stage(Within, (), {"inner": self.stage, "values": found})),)


class Listed(Stream):
    """Elements that are known: what a window holds."""

    KEEPS = ("at",)
    TAKES: ClassVar[tuple[str, ...]] = ()

    def __init__(self, run: Run, stage: Stage, elements: Sequence[Element]) -> None:
        super().__init__(run, stage)
        self.elements, self.at = elements, 0

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, Any]) -> int:
        """Return how many there are."""
        return len(options["elements"])

    def __next__(self) -> Element:
        if self.at >= len(self.elements):
            raise StopIteration
        self.at += 1
        return self.elements[self.at - 1]


class Files(Stream):
    """What is in files, one file after the other."""

    KEEPS = ("number", "offset")
    TAKES: ClassVar[tuple[str, ...]] = ()

    def __init__(self, run: Run, stage: Stage, files: object, compression: object = None,
                 buffer: object = None) -> None:  # fmt: skip
        super().__init__(run, stage)
        self.files: list[bytes] = np.asarray(files, object).ravel().tolist()
        self.compression = "" if compression is None else np.asarray(compression).item().decode()
        self.buffer = integer(buffer) if buffer is not None else 0
        self.number = self.offset = 0
        self.reader: Iterator[bytes] | None = None

    @classmethod
    def count(cls, inputs: Sequence[int], options: Mapping[str, object]) -> int:
        """Return that nobody knows before they are read."""
        return UNKNOWN

    def begin(self, path: bytes, offset: int) -> Iterator[bytes]:
        """Return what is in a file, from an offset on."""
        raise NotImplementedError(type(self).__name__)

    def __next__(self) -> Element:
        while True:
            if self.reader is None and self.number >= len(self.files):
                raise StopIteration
            try:
                if self.reader is None:
                    self.reader = self.begin(self.files[self.number], self.offset)
                return (part(next(self.reader)),)
            except StopIteration:
                self._close()
            except OpError:
                self._close()  # who goes on behind an error reads the next file
                raise

    def _close(self) -> None:
        self.reader, self.offset = None, 0
        self.number += 1

    def restore(self, state: State) -> None:
        """Go on."""
        super().restore(state)
        self.reader = None


class Records(Files):
    """The records of files (TFRecord)."""

    def begin(self, path: bytes, offset: int) -> Iterator[bytes]:
        """Open a file."""
        reader = RecordReader(path, self.compression, self.buffer)
        reader.skip_to(offset)
        return reader

    def save(self) -> State:
        """Return file and offset."""
        if isinstance(self.reader, RecordReader):
            self.offset = self.reader.offset
        return super().save()


class Lines(Files):
    """The lines of text files, without what ends them."""

    def begin(self, path: bytes, offset: int) -> Iterator[bytes]:
        """Open a file; the offset counts lines."""
        found = lines_of(open_read(path, self.compression), self.buffer or 1 << 18)
        for _ in range(offset):
            next(found)
        return self._counted(found, offset)

    def _counted(self, lines: Iterator[bytes], before: int) -> Iterator[bytes]:
        for number, line in enumerate(lines, before + 1):
            self.offset = number
            yield line


class CsvLines(Lines):
    """The rows of CSV files: a quoted field may have ends of lines in it."""

    def __init__(self, run: Run, stage: Stage, quotes: object, **more: object) -> None:
        super().__init__(run, stage, **more)
        self.quotes = bool(np.asarray(quotes))

    def begin(self, path: bytes, offset: int) -> Iterator[bytes]:
        """Open a file; the offset counts rows."""
        lines = lines_of(open_read(path, self.compression), self.buffer or 1 << 18)
        found = self.joined(lines, path) if self.quotes else lines
        for _ in range(offset):
            next(found)
        return self._counted(found, offset)

    def joined(self, lines: Iterator[bytes], path: bytes) -> Iterator[bytes]:
        """Give lines, together where a quote is open at the end."""
        for line in lines:
            row = line
            while row.count(b'"') % 2:
                more = next(lines, None)
                if more is None:
                    raise InvalidArgumentError(
                        f"{path.decode()}: a quoted field is not closed, expected a quote"
                    )
                row += b"\n" + more
            yield row


def lines_of(file: Readable, chunk: int) -> Iterator[bytes]:
    """Give lines; both ends of line are known, a last line without one counts."""
    rest = b""
    try:
        following = file.read(chunk)
        while piece := following:
            following = file.read(chunk)
            if not following:
                file.close()  # whoever drops this within a circle leaves nothing open
            *whole, rest = (rest + piece).split(b"\n")
            for line in whole:
                yield line.removesuffix(b"\r")
    finally:
        file.close()
    if rest:
        yield rest.removesuffix(b"\r")


class FixedRecords(Files):
    """Records of one size; files may have a header and a footer."""

    def __init__(self, run: Run, stage: Stage, size: object, header: object, footer: object,
                 **more: object) -> None:  # fmt: skip
        super().__init__(run, stage, **more)
        self.size, self.header, self.footer = integer(size), integer(header), integer(footer)
        if self.size <= 0:
            raise InvalidArgumentError("`record_bytes` must be greater than zero")

    def begin(self, path: bytes, offset: int) -> Iterator[bytes]:
        """Open a file; the offset counts records."""
        file = open_read(path, self.compression)
        data = file.read(-1)
        file.close()
        body = len(data) - self.header - self.footer
        if body < 0 or body % self.size:
            raise InvalidArgumentError(
                f"Excluding the header ({self.header} bytes) and footer ({self.footer} bytes), "
                f'input file "{path.decode()}" has body length {body} bytes, which is not an exact '
                f"multiple of the record length ({self.size} bytes)."
            )
        return self._cut(data, offset, body // self.size)

    def _cut(self, data: bytes, offset: int, count: int) -> Iterator[bytes]:
        for number in range(offset, count):
            self.offset = number + 1
            start = self.header + number * self.size
            yield data[start : start + self.size]
