"""Features out of many serialised examples at once: one step of numpy for an entry of all of them.

Writers give the entries of examples in one order, so the next entry of most of them has the same
name and differs in lengths and values alone. Those that do are gone through together; an example
with anything else in it is read by itself, as `Reading` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ...ir.types.tensor import Array
from ..values.texts import Texts
from .examples import (
    BYTES,
    INTEGERS,
    NUMPY,
    Reading,
    UnusualError,
    Values,
    Wanted,
    as_text,
    integers_at,
    values_at,
    wrong_kind,
)

FEW = 64
"""So few examples are faster one by one."""
WIDTH = 64
"""So many bytes of an entry are looked at; the head of one with a longer name is none of them."""
FEWEST = 8
"""So few examples whose next entry is alike are read one by one."""
SHORT = 16
"""Lists of so few bytes are taken byte by byte, longer ones as they are."""
MARK = 0x80
"""The bit of a byte that says that the number goes on."""


@dataclass(frozen=True)
class Column:
    """A feature of several examples: values behind one another, and how many each example has."""

    values: Array
    counts: Array
    """Of an example that has none of the feature, -1."""

    def lists(self) -> list[Values | None]:
        """Return the values of each example, None where there is no feature."""
        ends = np.concatenate(([0], np.cumsum(np.maximum(self.counts, 0)))).tolist()
        values = self.values.tolist() if self.values.dtype == object else self.values
        parts = [values[a:b] for a, b in pairwise(ends)]
        return [p if n >= 0 else None for p, n in zip(parts, self.counts.tolist(), strict=True)]

    def block(self, count: int) -> Array | None:
        """Return a row of so many values for each example, None if one has more or fewer."""
        if (self.counts != count).any():
            return None
        return self.values.reshape(len(self.counts), count)


def columns(texts: Sequence[bytes], wanted: Sequence[Wanted]) -> list[Column]:
    """Return features of serialised examples."""
    if len(texts) <= FEW:
        readings = [Reading(text) for text in texts]
        return [of_lists(each, [r.values(each) for r in readings]) for each in wanted]
    batch = Batch(texts, {each.key for each in wanted})
    return [batch.column(each) for each in wanted]


def of_lists(wanted: Wanted, lists: Sequence[Values | None]) -> Column:
    """Return the values of each example as a column."""
    counts = np.array([-1 if values is None else len(values) for values in lists], np.int64)
    there = [values for values in lists if values is not None]
    if wanted.kind == BYTES:
        return Column(as_text([x for values in there for x in values]), counts)
    joined = [np.asarray(values, NUMPY[wanted.kind]) for values in there]
    return Column(np.concatenate(joined or [np.empty(0, NUMPY[wanted.kind])]), counts)


@dataclass(frozen=True)
class Head:
    """How an entry begins: which bits of its bytes are always so, and where its lengths are."""

    bits: Array
    mask: Array
    key: bytes
    kind: int
    lengths: tuple[slice, ...]
    """Of the entry, of the feature, of its list; each ends where what it measures begins."""


def head_of(row: Array) -> Head | None:
    """Return how the entry begins whose bytes these are, None if it is not as writers give it."""
    mask = np.zeros(WIDTH, np.uint8)
    lengths = []
    at = 0

    def fixed(count: int) -> bytes:
        nonlocal at
        mask[at : at + count] = 0xFF
        at += count
        return row[at - count : at].tobytes()

    def length() -> None:
        nonlocal at
        begin = at
        while row[at] >= MARK:
            at += 1
        at += 1
        mask[begin:at] = MARK
        lengths.append(slice(begin, at))

    try:
        tag = fixed(1)
        length()
        name = fixed(2)
        key = fixed(name[1])
        inner = fixed(1)
        length()
        kind = fixed(1)[0]
        length()
    except IndexError:
        return None
    usual = tag == b"\x0a" and name[0] == 0x0A and inner == b"\x12" and kind in NUMPY
    if not usual or name[1] >= MARK or at > WIDTH - 8 or any(x.stop - x.start > 3 for x in lengths):
        return None
    return Head(row[:at] & mask[:at], mask[:at], key, kind, tuple(lengths))


def numbers(rows: Array, place: slice) -> Array:
    """Return the number whose bytes are in some columns."""
    found = (rows[:, place.start] & 0x7F).astype(np.int64)
    for digit, column in enumerate(range(place.start + 1, place.stop), 1):
        found |= (rows[:, column] & 0x7F).astype(np.int64) << (7 * digit)
    return found


class Batch:
    """Several serialised examples, and where the lists of their features lie."""

    def __init__(self, texts: Sequence[bytes], keys: set[bytes]) -> None:
        self.texts = texts
        self.data = b"".join([*texts, bytes(WIDTH)])
        self.bytes = np.frombuffer(self.data, np.uint8)
        self.windows = np.lib.stride_tricks.sliding_window_view(self.bytes, WIDTH)
        self.keys = keys
        self.places: dict[bytes, Array] = {}
        """Of a name kind, first byte and end of the list in each example: of kind 0 is none."""
        self.alone = np.zeros(len(texts), bool)
        """Which examples are read by themselves."""
        sizes = np.fromiter(map(len, texts), np.int64, len(texts))
        self.find(np.cumsum(sizes) - sizes, np.cumsum(sizes))
        self.readings = {i: Reading(texts[i]) for i in np.flatnonzero(self.alone).tolist()}

    def find(self, at: Array, stop: Array) -> None:
        """Find the lists of all examples."""
        left = np.flatnonzero(stop > at)
        first, length, usual = self.records(at[left])
        usual &= first + length == stop[left]
        self.alone[left[~usual]] = True
        left, at = left[usual], first[usual]
        while len(left):
            at = self.step(left, at, stop[left])
            more = (at < stop[left]) & ~self.alone[left]
            left, at = left[more], at[more]

    def records(self, at: Array) -> tuple[Array, Array, Array]:
        """Return where records begin, how long they are, and which are of the usual tag and size.

        The tag is that of the first field; a length has up to three bytes.
        """
        rows = self.windows[at][:, :4]
        more = rows[:, 1:] >= MARK
        if not more[:, 0].any():
            return at + 2, numbers(rows, slice(1, 2)), rows[:, 0] == 0x0A
        size = 2 + more[:, 0] + (more[:, 0] & more[:, 1])
        length = numbers(rows, slice(1, 2))
        for digit in (1, 2):
            if (long := size > digit + 1).any():
                length += np.where(long, numbers(rows, slice(digit + 1, digit + 2)) << 7 * digit, 0)
        return at + size, length, (rows[:, 0] == 0x0A) & ~more.all(1)

    def step(self, left: Array, at: Array, stop: Array) -> Array:
        """Go past the next entry of some examples; return where each ends."""
        ends = stop.copy()
        rows = self.windows[at]
        waiting = np.arange(len(left))
        while len(waiting):
            head = head_of(rows[waiting[0]]) if len(waiting) >= FEWEST else None
            if head is None:
                one = len(waiting) if len(waiting) < FEWEST else 1
                self.alone[left[waiting[:one]]] = True
                waiting = waiting[one:]
                continue
            alike = ((rows[waiting, : len(head.mask)] & head.mask) == head.bits).all(1)
            chosen = waiting[alike]
            waiting = waiting[~alike]
            ends[chosen] = self.entries(head, left[chosen], rows[chosen], at[chosen], stop[chosen])
        return ends

    def entries(self, head: Head, which: Array, rows: Array, at: Array, stop: Array) -> Array:
        """Note where the lists of entries that begin alike lie; return where the entries end."""
        ends = [at + place.stop + numbers(rows, place) for place in head.lengths]
        end: Array = ends[0]
        usual = (end <= stop) & (ends[1] == end) & (ends[2] == end)
        if not usual.all():
            self.alone[which[~usual]] = True
        if head.key in self.keys:
            if head.key not in self.places:
                self.places[head.key] = np.zeros((3, len(self.texts)), np.int64)
            found = self.places[head.key]
            found[0, which] = head.kind
            found[1, which] = at + head.lengths[2].stop
            found[2, which] = end
        return end

    def column(self, wanted: Wanted) -> Column:
        """Return a feature of all examples."""
        places = self.places.get(wanted.key)
        if places is None:
            places = np.zeros((3, len(self.texts)), np.int64)
        there = np.flatnonzero((places[0] != 0) & ~self.alone)
        if (places[0, there] != wanted.kind).any():
            raise wrong_kind(wanted)
        try:
            values, found = self.values(wanted.kind, places[1, there], places[2, there])
        except UnusualError:
            return of_lists(wanted, [Reading(text).values(wanted) for text in self.texts])
        counts = np.full(len(self.texts), -1, np.int64)
        counts[there] = found
        if not self.readings:
            return Column(values, counts)
        lists = Column(values, counts).lists()
        for i, reading in self.readings.items():
            lists[i] = reading.values(wanted)
        return of_lists(wanted, lists)

    def values(self, kind: int, first: Array, stop: Array) -> tuple[Array, Array]:
        """Return the values of lists behind one another, and how many each has."""
        full = stop > first
        if not full.all():
            values, some = self.values(kind, first[full], stop[full])
            counts = np.zeros(len(first), np.int64)
            counts[full] = some
            return values, counts
        at, length, usual = self.records(first)
        one = usual & (at + length == stop)
        if kind == BYTES and not one.all():
            places = zip(first.tolist(), stop.tolist(), strict=True)
            lists = [values_at(self.data, (BYTES, a, b)) for a, b in places]
            counts = np.fromiter(map(len, lists), np.int64, len(lists))
            return as_text([x for each in lists for x in each]), counts
        if not one.all():
            raise UnusualError
        if kind == BYTES:
            return as_text(self.cut(at, stop)), np.ones(len(first), np.int64)
        if kind == INTEGERS:
            return integers_of(self.together(at, length), length)
        if (length % 4).any():
            raise UnusualError
        return np.frombuffer(self.together(at, length), "<f4"), length // 4

    def cut(self, at: Array, stop: Array) -> list[bytes]:
        """Return the bytes between some places and others."""
        data = self.data
        return [data[a:b] for a, b in zip(at.tolist(), stop.tolist(), strict=True)]

    def together(self, at: Array, length: Array) -> bytes:
        """Return some bytes from each of some places on, behind one another."""
        if length.sum() > SHORT * len(at) and (length != length[0]).any():
            return b"".join(self.cut(at, at + length))
        return Texts(self.bytes, length).parts(at, length).every.tobytes()


def integers_of(data: bytes, sizes: Array) -> tuple[Array, Array]:
    """Return numbers of several bytes each, in parts of some sizes, and how many a part has."""
    last = np.frombuffer(data, np.uint8) < MARK
    ends = np.cumsum(sizes)
    if not last[ends[sizes > 0] - 1].all():
        raise UnusualError
    before = np.concatenate(([0], np.cumsum(last)))
    values = integers_at(data, 0, len(data)) if data else np.empty(0, np.int64)
    return values, before[ends] - before[ends - sizes]
