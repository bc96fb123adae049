"""Part an ONNX file into its structure and the bytes of its weights, without copying those.

A model file is nested records of protobuf: a tag, a length, that many bytes. The bytes of a
weight (`graph.initializer.raw_data`) are nearly all of it. They are left out of the copy that
the protobuf library parses and are read where they lie, so that a file of two gigabytes costs
what its few kilobytes of structure cost.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ....errors import ParseError
from ...files.beside import Bytes
from .columns import Integers

GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
"""Field numbers in ModelProto, GraphProto and TensorProto."""

NO_FIELDS: Integers = np.empty(0, np.int64)
SOME, SURE = 512, 64
"""Fields that are read before it is looked whether they come again, and of how many it has to be
so."""
KEEP_BELOW = 128
"""Tensors of fewer bytes stay in the structure."""

_VARINT, _FIXED64, _RECORD, _FIXED32 = 0, 1, 2, 5
NODE, STORED, SPARSE = (number << 3 | _RECORD for number in (1, INITIALIZER, 15))
"""Tags of a graph's nodes, of the tensors that it holds and of those with few elements."""
GRAPH_INPUT, GRAPH_OUTPUT = 11 << 3 | _RECORD, 12 << 3 | _RECORD

_SHORT = {1 << 3 | _VARINT: 0, 2 << 3 | _VARINT: 0, 8 << 3 | _RECORD: 1, 12 << 3 | _RECORD: 1}
"""Tags of what a tensor has besides its values, an extent, type, name and text: what follows the
byte behind is as many bytes as that says, or none."""


@dataclass(frozen=True)
class Split:
    """A model without the bytes of its large weights, and where those are."""

    structure: bytes
    payloads: dict[int, Bytes]
    """For the n-th initializer of the main graph, its raw bytes."""
    plain: set[int]
    """Of these, those that have a type, a shape and names besides, and nothing else."""


class Field(NamedTuple):
    """One field of a record: its bytes are `[tag, end)`, its content `[start, end)`."""

    number: int
    wire: int
    tag: int
    start: int
    end: int


@dataclass(frozen=True)
class Outline:
    """Where a graph's fields lie: nodes, stored tensors, and what else it has.

    As columns: a graph has as many fields as nodes and weights.
    """

    graph: Field
    tags: Integers
    """Of each field its number and wire type, as they are written."""
    starts: Integers
    ends: Integers
    """Where its content ends, and the next field begins."""

    @classmethod
    def of(cls, data: Bytes, graph: Field) -> Outline:
        """Return where the fields of a graph lie.

        What comes again and again, as layers do, is read as a few of its times and then compared.
        """
        view, place = memoryview(data.data), graph.start
        found = [np.empty((3, 0), np.int64)]
        while place < graph.end:
            rows = np.array(some_fields(view, place, graph.end), np.int64)
            found += rows, *fields_again(data, rows, place, graph.end)
            place = int(found[-1][2, -1])
        return cls(graph, *np.concatenate(found, axis=1))

    def places(self) -> Integers:
        """Return where each field begins, with its tag."""
        return np.concatenate(([self.graph.start], self.ends))[:-1]


def outlines(data: Bytes) -> list[Outline]:
    """Return where the fields of a model's graph lie; a file may have it in several parts."""
    if not data.size:
        raise ParseError("not an ONNX model: the file is empty")
    view = memoryview(data.data)
    fields = _fields(view, 0, len(view))
    return [Outline.of(data, f) for f in fields if f.number == GRAPH and f.wire == _RECORD]


def split(data: Bytes, graphs: Sequence[Outline], without: Integers = NO_FIELDS) -> Split:
    """Return the structure and the payloads of a model, without some fields of its graph."""
    pieces: list[bytes | memoryview] = []
    payloads: dict[int, Bytes] = {}
    plain: set[int] = set()
    count, kept = 0, 0
    view = memoryview(data.data)
    for each in graphs:
        body, more, places = _split_graph(view, each, without)
        payloads |= {count + n: data[start:end] for n, (start, end, _) in places.items()}
        plain |= {count + n for n, (_, _, is_plain) in places.items() if is_plain}
        count += more
        pieces += view[kept : each.graph.tag], _record(GRAPH, body)
        kept = each.graph.end
    return Split(b"".join([*pieces, view[kept:]]), payloads, plain)


Payload = tuple[int, int, bool]
"""Where raw bytes begin and end, and whether the tensor has but a type, a shape and names."""


def some_fields(data: memoryview, place: int, end: int) -> tuple[list[int], list[int], list[int]]:
    """Return tags, starts and ends of the first fields between two offsets.

    What most of them are, a tag of one byte and a length of one or two, is read here, and `_field`
    reads the others.
    """
    tags, starts, ends = list[int](), list[int](), list[int]()
    more, last = 0, end - 4
    while place < end and len(ends) < SOME:
        tag = data[place]
        start = place + 2
        if tag < 0x80 and tag & 7 == _RECORD and tag > 7 and place < last:
            size = data[place + 1]
            if size >= 0x80:
                more = data[start]
                size, start = (size & 0x7F) | more << 7, start + 1
            stop = start + size
        else:
            more, stop = 0x80, end
        if more >= 0x80 or stop > end:
            number, wire, _, start, stop = _field(data, place, end)
            tag = number << 3 | wire
        tags.append(tag)
        starts.append(start)
        ends.append(stop)
        place, more = stop, 0
    return tags, starts, ends


def fields_again(data: Bytes, rows: Integers, place: int, end: int) -> Iterator[Integers]:
    """Give the fields behind some, which begin at `place`, as long as the last ones come again.

    They do where at the same distances there are the same tags and lengths.
    """
    begins = np.concatenate(([place], rows[2]))
    period = _period(np.diff(begins).tolist())
    if not period:
        return
    place, begins = int(begins[-1]), begins[-1 - period : -1]
    tags, starts, ends = rows[:, -period:]
    if np.any(tags & 7 != _RECORD):
        return  # others are as long as they say at their end
    widths, distance, many = starts - begins, int(ends[-1] - begins[0]), SOME
    while times := min(many // period + 1, (end - place) // distance):
        moved = (place - begins[0] + distance * np.arange(times))[:, None]
        places = begins + moved
        alike = np.ones(places.shape, np.bool_)
        for byte in range(int(widths.max())):
            wide = np.flatnonzero(widths > byte)
            alike[:, wide] &= data[places[:, wide] + byte] == data[begins[wide] + byte]
        count = alike.size if alike.all() else int(np.argmin(alike))
        if not count:
            return
        every = np.array((np.broadcast_to(tags, places.shape), starts + moved, ends + moved))
        yield every.reshape(3, -1)[:, :count]
        if count < alike.size:
            return
        place, many = place + distance * times, 2 * many


def _period(sizes: list[int]) -> int:
    """Return after how many fields the last ones were as long as they are; 0 if never.

    >>> _period([5, *[1, 2, 3] * 60]), _period([*range(200)])
    (3, 0)
    """
    for period in range(1, len(sizes) // 2 + 1):
        length = max(period, SURE)
        if sizes[-1 - period] == sizes[-1] and (
            sizes[-length:] == sizes[-length - period : -period]
        ):
            return period
    return 0


def _split_graph(
    data: memoryview, graph: Outline, without: Integers
) -> tuple[bytes, int, dict[int, Payload]]:
    """Return the graph without payloads, the count of its initializers, and where payloads are."""
    pieces: list[bytes | memoryview] = []
    places: dict[int, Payload] = {}
    count = 0
    rows = np.array((graph.tags, graph.places(), graph.starts, graph.ends))
    for tag, place, start, end in np.delete(rows, without, axis=1).T.tolist():
        if tag == STORED:
            if end - start >= KEEP_BELOW:
                body, payload = _split_tensor(data, start, end)
                if payload is not None:
                    places[count] = payload
                pieces.append(body)
                count += 1
                continue
            count += 1
        pieces.append(data[place:end])
    return b"".join(pieces), count, places


def _split_tensor(data: memoryview, start: int, end: int) -> tuple[bytes, Payload | None]:
    """Return the record without its payload, and where that is."""
    pieces: list[memoryview] = []
    payload, kept, place, is_plain = None, start, start, True
    while place < end:
        tag = data[place]
        more = data[place + 1] if place + 1 < end else 0x80
        if more < 0x80 and tag in _SHORT and place + 2 + more * _SHORT[tag] <= end:
            place += 2 + more * _SHORT[tag]  # an extent, the type or the name, most often
            continue
        number, wire, _, first, stop = _field(data, place, end)
        if number == RAW_DATA and wire == _RECORD:
            payload = first, stop
            pieces.append(data[kept:place])
            kept = stop
        else:
            is_plain &= tag in _SHORT
        place = stop
    body = _record(INITIALIZER, b"".join([*pieces, data[kept:end]]))
    return body, None if payload is None else (*payload, is_plain)


def _fields(data: memoryview, start: int, end: int) -> Iterator[Field]:
    """Give the fields between two offsets, or raise `ParseError` at the byte that is wrong."""
    while start < end:
        field = _field(data, start, end)
        yield field
        start = field.end


def _field(data: memoryview, place: int, end: int) -> Field:
    """Return the field that begins at an offset, or raise `ParseError` where it is wrong."""
    tag, body = _varint(data, place, end)
    number, wire = tag >> 3, tag & 7
    if not 0 < number < 1 << 29:
        raise _fault(place, f"field number {number}")
    if wire == _RECORD:
        size, body = _varint(data, body, end)
        stop = body + size
    elif wire == _VARINT:
        _, stop = _varint(data, body, end)
    elif wire in (_FIXED32, _FIXED64):
        stop = body + (4 if wire == _FIXED32 else 8)
    else:
        raise _fault(place, f"wire type {wire}")
    if stop > end:
        raise _fault(place, f"a field of {stop - body} bytes where {end - body} are left")
    return Field(number, wire, place, body, stop)


def _varint(data: memoryview, place: int, end: int) -> tuple[int, int]:
    value = 0
    for index in range(10):
        if place + index >= end:
            break
        byte = data[place + index]
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            return value, place + index + 1
    raise _fault(place, "a number that does not end")


def _record(number: int, body: bytes) -> bytes:
    return _encode(number << 3 | _RECORD) + _encode(len(body)) + body


def _encode(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def _fault(place: int, found: str) -> ParseError:
    return ParseError(f"not an ONNX model: {found} at byte {place}")
