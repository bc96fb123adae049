"""Values that TensorFlow saved: bundles, read as arrays.

    PREFIX.index                  a table of sorted keys: the name of each value, and where it is
    PREFIX.data-00000-of-00002    the bytes of the values, one behind the other

The table is LevelDB's: blocks of keys, each of which says how much it shares with the one before,
a block that says where these are, and a footer that says where that is. All that is read is held
against its sums.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Set
from math import prod

import google_crc32c
import numpy as np
from google.protobuf.message import DecodeError, Message

from ...errors import ParseError
from ...ir.op import Array
from .checksums import masked, turned
from .examples import UnusualError, length_at
from .messages import BundleEntryProto, BundleHeaderProto, TrackableObjectGraph
from .tensors import MOST, NUMBERS, numpy_types

INDEX = ".index"
"""The ending of the file beside a checkpoint that lists its values; programs look for it by name.

Beside ours it is for people and for `os.path.exists`: nothing reads that.
"""
MAGIC = (0xDB4775248B80FB57).to_bytes(8, "little")
FOOTER, TRAILER = 48, 5


def is_bundle(prefix: str) -> bool:
    """Say whether TensorFlow saved values under a prefix."""
    try:
        with open(prefix + INDEX, "rb") as file:
            file.seek(-len(MAGIC), os.SEEK_END)
            return file.read() == MAGIC
    except OSError:  # there is none, or it is shorter
        return False


def read_bundle(prefix: str) -> dict[str, Array]:
    """Return the values of a bundle by name.

    Raises `ParseError` with the file for what is damaged, or of a kind that is not read: values in
    slices, compressed tables, numbers whose highest byte is first.
    """
    name, rows = prefix + INDEX, _rows(prefix)
    header = BundleHeaderProto()
    _parse(header, rows.pop(b"", b""), name)
    if header.endianness:
        raise ParseError("its numbers have their highest byte first", location=name)
    if not 0 < header.num_shards < 1 << 20:
        raise ParseError(f"{header.num_shards} files of values, expected some", location=name)
    shards: dict[int, tuple[str, memoryview]] = {}
    found = {}
    for key, row in rows.items():
        entry = BundleEntryProto()
        _parse(entry, row, name)
        text = _text(key)
        if key.startswith(b"\0"):
            continue  # a slice, of a value whose entry says that it has some
        if entry.slices:
            raise ParseError(f"{text!r} was saved in slices, which are not read", location=name)
        if not 0 <= entry.shard_id < header.num_shards:
            raise ParseError(f"{text!r} is in file {entry.shard_id} of none", location=name)
        if entry.shard_id not in shards:
            shard = f"{prefix}.data-{entry.shard_id:05}-of-{header.num_shards:05}"
            shards[entry.shard_id] = shard, memoryview(_bytes(shard))
        found[text] = _value(entry, *shards[entry.shard_id], text)
    return found


def names_in(prefix: str) -> Set[str]:
    """Return the names of the values of a bundle, which are not read."""
    return {_text(key) for key in _rows(prefix)}


def in_path(name: str) -> str:
    """Return a name as a part of a path of names."""
    return name.replace(".", "..").replace("/", ".S")


def other_ways(data: bytes, name: str) -> dict[str, str]:
    """Return the ways by which objects are reached besides the first one, which names them.

    `data` is what a bundle says of the objects whose values it has; the first ways are those of a
    search in breadth.
    """
    graph = TrackableObjectGraph()
    _parse(graph, data, name)
    first, again = {0: ""}, {}
    waiting = deque([0] if graph.nodes else [])
    while waiting:
        here = waiting.popleft()
        for child in graph.nodes[here].children:
            if not 0 <= child.node_id < len(graph.nodes):
                raise ParseError(f"object {child.node_id} is not there", location=name)
            way = f"{first[here]}/{in_path(child.local_name)}".removeprefix("/")
            if child.node_id not in first:
                first[child.node_id] = way
                waiting.append(child.node_id)
            elif first[child.node_id]:
                again[way] = first[child.node_id]
    return again


def _rows(prefix: str) -> dict[bytes, bytes]:
    """Return what the index says of each value, and at no name of all."""
    return dict(_Table(_bytes(prefix + INDEX), prefix + INDEX).rows())


def _text(key: bytes) -> str:
    return key.decode(errors="backslashreplace")


def _bytes(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError as error:
        raise ParseError(error.strerror or str(error), location=path) from None


def _parse(message: Message, data: bytes, name: str) -> None:
    try:
        message.ParseFromString(data)
    except DecodeError:
        raise ParseError("what it says of a value cannot be read", location=name) from None


def _value(entry: BundleEntryProto, file: str, data: memoryview, name: str) -> Array:
    """Return the array that an entry describes."""
    dtype = numpy_types().get(entry.dtype)
    if dtype is None:
        raise ParseError(f"{name!r} has elements of type {entry.dtype}", location=file)
    shape = tuple(extent.size for extent in entry.shape.dim)
    if any(size < 0 for size in shape) or prod(shape) > MOST:
        raise ParseError(f"{name!r} has the shape {shape}", location=file)
    start, end = entry.offset, entry.offset + entry.size
    if not 0 <= start <= end <= len(data):
        raise ParseError(
            f"{name!r} is at {start} to {end}, expected 0 to {len(data)}", location=file
        )
    part = data[start:end]
    if entry.dtype == NUMBERS["string"]:
        return _texts(part, shape, entry.crc32c, f"{name!r}", file)
    if len(part) != prod(shape) * dtype.itemsize:
        raise ParseError(
            f"{name!r} has {len(part)} bytes, expected {prod(shape) * dtype.itemsize}",
            location=file,
        )
    if masked(part) != entry.crc32c:
        raise ParseError(f"{name!r} is not what was saved", location=file)
    return np.frombuffer(part, dtype).reshape(shape).copy()


def _texts(data: memoryview, shape: tuple[int, ...], crc: int, name: str, file: str) -> Array:
    """Return texts: their lengths stand before them, with a sum of these."""
    whole, count = bytes(data), prod(shape)
    if len(whole) < count + 4:
        raise ParseError(f"{name} has {len(whole)} bytes for {count} texts", location=file)
    sizes, at = [], 0
    for _ in range(count):
        size, at = _number(whole, at, file)
        sizes.append(size)
    if at + 4 + sum(sizes) != len(whole):
        raise ParseError(f"{name} has texts of other lengths than it has bytes", location=file)
    lengths = b"".join(size.to_bytes(4 if size < 1 << 32 else 8, "little") for size in sizes)
    note, rest = whole[at : at + 4], whole[at + 4 :]
    if (
        masked(lengths) != int.from_bytes(note, "little")
        or turned(google_crc32c.extend(google_crc32c.value(lengths + note), rest)) != crc
    ):
        raise ParseError(f"{name} is not what was saved", location=file)
    made, place = np.empty(count, object), 0
    for number, size in enumerate(sizes):
        made[number] = rest[place : place + size]
        place += size
    return made.reshape(shape)


def _number(data: bytes, at: int, name: str) -> tuple[int, int]:
    """Return a number of which each byte has seven bits, and where it ends."""
    try:
        return length_at(data, at)
    except (UnusualError, IndexError):
        raise ParseError(f"the number at {at} does not end", location=name) from None


class _Table:
    """A table of sorted keys."""

    def __init__(self, data: bytes, name: str) -> None:
        self.data, self.name = data, name

    def rows(self) -> Iterator[tuple[bytes, bytes]]:
        """Give all keys with what stands at them."""
        footer = self.data[-FOOTER:]
        if len(footer) < FOOTER or not footer.endswith(MAGIC):
            raise ParseError("this is no table of values", location=self.name)
        at = 0
        for _ in range(2):  # (the first handle is of a block without use)
            offset, at = _number(footer, at, self.name)
            size, at = _number(footer, at, self.name)
        for _, handle in self._block(offset, size):
            start, at = _number(handle, 0, self.name)
            length, _ = _number(handle, at, self.name)
            yield from self._block(start, length)

    def _block(self, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
        """Give the rows of a block."""
        end = offset + size
        if end + TRAILER > len(self.data) or size < 4:
            raise ParseError(f"a block at {offset} to {end} is not there", location=self.name)
        block, kind = self.data[offset:end], self.data[end]
        crc = int.from_bytes(self.data[end + 1 : end + TRAILER], "little")
        if masked(self.data[offset : end + 1]) != crc:
            raise ParseError(f"the block at {offset} is not what was saved", location=self.name)
        if kind:
            raise ParseError(f"the block at {offset} is compressed", location=self.name)
        last = size - 4 - 4 * int.from_bytes(block[-4:], "little")
        at, key = 0, b""
        while at < last:
            shared, at = _number(block, at, self.name)
            more, at = _number(block, at, self.name)
            length, at = _number(block, at, self.name)
            if shared > len(key) or at + more + length > last:
                raise ParseError(f"a row of the block at {offset} is cut", location=self.name)
            key = key[:shared] + block[at : at + more]
            at += more + length
            yield key, block[at - length : at]
