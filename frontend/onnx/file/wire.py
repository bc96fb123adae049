"""Part an ONNX file into its structure and the bytes of its weights, without copying those.

A model file is nested records of protobuf: a tag, a length, that many bytes. The bytes of a
weight (`graph.initializer.raw_data`) are nearly all of it. They are left out of the copy that
the protobuf library parses and are read where they lie, so that a file of two gigabytes costs
what its few kilobytes of structure cost.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from ....errors import ParseError
from ...files.beside import Bytes

GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
"""Field numbers in ModelProto, GraphProto and TensorProto."""

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
    tags: list[int]
    """Of each field its number and wire type, as they are written."""
    starts: list[int]
    ends: list[int]
    """Where its content ends, and the next field begins."""

    def places(self) -> list[int]:
        """Return where each field begins, with its tag."""
        return [self.graph.start, *self.ends][: len(self.ends)]


def outlines(data: Bytes) -> list[Outline]:
    """Return where the fields of a model's graph lie; a file may have it in several parts."""
    if not data.size:
        raise ParseError("not an ONNX model: the file is empty")
    view = memoryview(data.data)
    fields = _fields(view, 0, len(view))
    return [outline(view, f) for f in fields if f.number == GRAPH and f.wire == _RECORD]


def split(data: Bytes, graphs: Sequence[Outline], without: Collection[int] = ()) -> Split:
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


def outline(data: memoryview, graph: Field) -> Outline:
    """Return where the fields of a graph lie.

    What most of them are, a tag of one byte and a length of one or two, is read here, and `_field`
    reads the others.
    """
    tags, starts, ends = list[int](), list[int](), list[int]()
    more, place, end = 0, graph.start, graph.end
    last = end - 4
    while place < end:
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
    return Outline(graph, tags, starts, ends)


def _split_graph(
    data: memoryview, graph: Outline, without: Collection[int]
) -> tuple[bytes, int, dict[int, Payload]]:
    """Return the graph without payloads, the count of its initializers, and where payloads are."""
    pieces: list[bytes | memoryview] = []
    places: dict[int, Payload] = {}
    count = 0
    rows = enumerate(zip(graph.tags, graph.places(), graph.starts, graph.ends, strict=True))
    for index, (tag, place, start, end) in rows:
        if index in without:
            continue
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
