"""Part an ONNX file into its structure and the bytes of its weights, without copying those.

A model file is nested records of protobuf: a tag, a length, that many bytes. The bytes of a
weight (`graph.initializer.raw_data`) are nearly all of it. They are left out of the copy that
the protobuf library parses and are read where they lie, so that a file of two gigabytes costs
what its few kilobytes of structure cost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ....errors import ParseError
from ...files.beside import Bytes

GRAPH, INITIALIZER, RAW_DATA = 7, 5, 9
"""Field numbers in ModelProto, GraphProto and TensorProto."""

KEEP_BELOW = 1024
"""Tensors of fewer bytes stay in the structure."""

_VARINT, _FIXED64, _RECORD, _FIXED32 = 0, 1, 2, 5


@dataclass(frozen=True)
class Split:
    """A model without the bytes of its large weights, and where those are."""

    structure: bytes
    payloads: dict[int, Bytes]
    """For the n-th initializer of the main graph, its raw bytes."""


@dataclass(frozen=True)
class Field:
    """One field of a record: its bytes are `[tag, end)`, its content `[start, end)`."""

    number: int
    wire: int
    tag: int
    start: int
    end: int


def split(data: Bytes) -> Split:
    """Return the structure and the payloads of a serialised model."""
    if not data.size:
        raise ParseError("not an ONNX model: the file is empty")
    pieces: list[bytes] = []
    payloads: dict[int, Bytes] = {}
    count = 0
    view = memoryview(data.data)
    for field in _fields(view, 0, len(view)):
        if field.number == GRAPH and field.wire == _RECORD:
            body, places = _split_graph(view, field, count)
            count += len(places)
            payloads |= {n: data[p[0] : p[1]] for n, p in places.items() if p}
            pieces.append(_record(GRAPH, body))
        else:
            pieces.append(bytes(view[field.tag : field.end]))
    return Split(b"".join(pieces), payloads)


def _split_graph(
    data: memoryview, graph: Field, first: int
) -> tuple[bytes, dict[int, tuple[int, int] | None]]:
    """Return the graph's content without payloads, and where each initializer's payload is."""
    pieces: list[bytes] = []
    places: dict[int, tuple[int, int] | None] = {}
    for field in _fields(data, graph.start, graph.end):
        is_tensor = field.number == INITIALIZER and field.wire == _RECORD
        if is_tensor and field.end - field.start >= KEEP_BELOW:
            body, places[first + len(places)] = _split_tensor(data, field)
            pieces.append(body)
            continue
        pieces.append(bytes(data[field.tag : field.end]))
        if is_tensor:
            places[first + len(places)] = None
    return b"".join(pieces), places


def _split_tensor(data: memoryview, tensor: Field) -> tuple[bytes, tuple[int, int] | None]:
    """Return the record without its payload, and where that is."""
    pieces: list[bytes] = []
    place = None
    for field in _fields(data, tensor.start, tensor.end):
        if field.number == RAW_DATA and field.wire == _RECORD:
            place = field.start, field.end
        else:
            pieces.append(bytes(data[field.tag : field.end]))
    return _record(INITIALIZER, b"".join(pieces)), place


def _fields(data: memoryview, start: int, end: int) -> Iterator[Field]:
    """Give the fields between two offsets, or raise `ParseError` at the byte that is wrong."""
    place = start
    while place < end:
        tag, body = _varint(data, place, end)
        number, wire = tag >> 3, tag & 7
        if not 0 < number < 1 << 29:
            raise _fault(place, f"field number {number}")
        if wire == _VARINT:
            _, stop = _varint(data, body, end)
        elif wire in (_FIXED32, _FIXED64):
            stop = body + (4 if wire == _FIXED32 else 8)
        elif wire == _RECORD:
            size, body = _varint(data, body, end)
            stop = body + size
        else:
            raise _fault(place, f"wire type {wire}")
        if stop > end:
            raise _fault(place, f"a field of {stop - body} bytes where {end - body} are left")
        yield Field(number, wire, place, body, stop)
        place = stop


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
