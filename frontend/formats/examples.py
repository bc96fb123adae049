"""Features out of serialised examples, as arrays.

An example is a map from names to lists of bytes, floats or integers. What is wanted of it lies in
the bytes as it is needed (floats), or nearly (integers of few bits), so it is read where it lies.
Bytes in another order than writers give them are read by the protobuf library.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import Any, TypeAlias

import numpy as np
from google.protobuf import json_format
from google.protobuf.message import DecodeError

from ...ir.op import Array
from ...lazy import cached_property
from ..values.arrays import as_listed
from ..values.run_errors import InvalidArgumentError
from .messages import Example, Features

BYTES, FLOATS, INTEGERS = 0x0A, 0x12, 0x1A
"""The kinds of lists: the tags of their fields in a feature."""
KINDS = {BYTES: ("bytes_list", "string"), FLOATS: ("float_list", "float"),
         INTEGERS: ("int64_list", "int64")}  # fmt: skip
NUMPY = {BYTES: np.dtype(object), FLOATS: np.dtype(np.float32), INTEGERS: np.dtype(np.int64)}

Place = tuple[int, int, int]
"""Kind, first byte, and end of a list."""


class UnusualError(Exception):
    """Bytes are not as writers give them; they may be right all the same."""


def length_at(data: bytes, at: int) -> tuple[int, int]:
    """Return a number of several bytes, and where it ends."""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
        shift += 7
        if shift > 63:
            raise UnusualError


def record_at(data: bytes, at: int, tag: int) -> tuple[int, int]:
    """Return first byte and end of a record with a tag."""
    if data[at] != tag:
        raise UnusualError
    size = data[at + 1]
    if size < 0x80:
        return at + 2, at + 2 + size
    size, first = length_at(data, at + 1)
    return first, first + size


def features_at(data: bytes, at: int, stop: int) -> dict[bytes, Place]:
    """Return the place of each list of a map of features that begins at a byte.

    Lengths of one byte and of two are read in place: calls would take most of the time.
    """
    found: dict[bytes, Place] = {}
    while at < stop:
        at, end = record_at(data, at, 0x0A)
        size = data[at + 1]
        first = at + 2 + size
        if data[at] != 0x0A or size >= 0x80:
            raise UnusualError
        if first < end:
            key = data[at + 2 : first]
            size, start = data[first + 1], first + 2
            if size >= 0x80:
                size, start = length_at(data, first + 1)
            if data[first] != 0x12 or start + size != end:
                raise UnusualError
            if start < end:
                kind, size, first = data[start], data[start + 1], start + 2
                if size >= 0x80:
                    size, first = length_at(data, start + 1)
                if first + size != end or kind not in NUMPY:
                    raise UnusualError
                found[key] = (kind, first, end)
        at = end
    if at != stop:
        raise UnusualError
    return found


def places_of(data: bytes) -> dict[bytes, Place]:
    """Return the place of each list of an example."""
    if not data:
        return {}
    first, last = record_at(data, 0, 0x0A)
    if last != len(data):
        raise UnusualError
    return features_at(data, first, last)


Values: TypeAlias = Array | list[bytes]
"""The values of a feature: numbers, or texts."""


def values_at(data: bytes, place: Place) -> Values:
    """Return the values of a list: an array, or a list of bytes."""
    kind, at, stop = place
    if at == stop:
        return [] if kind == BYTES else np.empty(0, NUMPY[kind])
    if kind == BYTES:
        made = []
        while at < stop:
            at, end = record_at(data, at, 0x0A)
            if end > stop:
                raise UnusualError
            made.append(data[at:end])
            at = end
        return made
    at, end = record_at(data, at, 0x0A)
    if end != stop:
        raise UnusualError
    if kind == FLOATS:
        if (stop - at) % 4:
            raise UnusualError
        return np.frombuffer(data, "<f4", (stop - at) // 4, at)
    return integers_at(data, at, stop)


FEW = 24
"""So few bytes are read one by one."""


def few_integers(data: bytes, at: int, stop: int) -> list[int]:
    """Return the numbers of several bytes each, one by one."""
    made = []
    while at < stop:
        value = data[at]
        at += 1
        if value >= 0x80:
            value, at = length_at(data, at - 1)
            value = (value + (1 << 63)) % (1 << 64) - (1 << 63)
        made.append(value)
    return made


def integers_at(data: bytes, at: int, stop: int) -> Array:
    """Return the numbers of several bytes each that follow one another."""
    if stop > len(data) or data[stop - 1] >= 0x80:
        raise UnusualError
    if stop - at <= FEW:
        return np.array(few_integers(data, at, stop), np.int64)
    raw = np.frombuffer(data, np.uint8, stop - at, at)
    last = raw < 0x80
    if last.all():
        return raw.astype(np.int64)
    ends = np.flatnonzero(last)
    starts = np.concatenate(([0], ends[:-1] + 1))
    if int((ends - starts).max()) > 9:
        raise UnusualError
    digit = np.arange(len(raw)) - np.repeat(starts, ends - starts + 1)
    parts = (raw & 0x7F).astype(np.uint64) << (7 * digit).astype(np.uint64)
    return np.bitwise_or.reduceat(parts, starts).view(np.int64)


@dataclass(frozen=True)
class Wanted:
    """One feature: its name, the kind of its list, its shape, and what stands in for it.

    The shape is None of a list of any length; a first extent of None is that of a sequence.
    """

    name: str
    kind: int
    shape: tuple[int | None, ...] | None = None
    default: Array | None = None

    @cached_property
    def count(self) -> int:
        """Return how many values an element has; of a sequence, one step."""
        return prod(d for d in self.shape or () if d is not None)

    @cached_property
    def extents(self) -> tuple[int, ...]:
        """Return the shape of an element; of a sequence, that of one step."""
        return tuple(d for d in self.shape or () if d is not None)

    @cached_property
    def is_sequence(self) -> bool:
        """Say whether there may be any number of steps."""
        return (self.shape or ())[:1] == (None,)

    @cached_property
    def key(self) -> bytes:
        """Return the name as it stands in files."""
        return self.name.encode()


class Reading:
    """The lists of one serialised example."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.message: Any = None
        try:
            self.places = places_of(data)
        except (UnusualError, IndexError):
            self.message = parsed(data).features.feature

    @classmethod
    def of_features(cls, features: Features) -> Reading:
        """Return the lists of a message."""
        made = cls(b"")
        made.message = features.feature
        return made

    def values(self, wanted: Wanted) -> Values | None:
        """Return the values of a feature, None if it is not there."""
        if self.message is None:
            place = self.places.get(wanted.key)
            if place is None:
                return None
            if place[0] != wanted.kind:
                raise wrong_kind(wanted)
            try:
                return values_at(self.data, place)
            except (UnusualError, IndexError):
                self.message = parsed(self.data).features.feature
        if wanted.name not in self.message:
            return None
        return values_of(self.message[wanted.name], wanted)


def parsed(data: bytes) -> Any:
    """Return the message of a serialised example."""
    return parsed_as(Example, data)


def of_json(text: bytes) -> bytes:
    """Return an example that is written in JSON as a serialised one."""
    try:
        made = json_format.Parse(text, Example())
    except json_format.ParseError as error:
        raise InvalidArgumentError(f"Error while parsing JSON: {error}") from None
    found: bytes = made.SerializeToString(deterministic=True)
    return found


def parsed_as(
    kind: Any, data: bytes, fault: str | Callable[[], str] = "Could not parse example input"
) -> Any:
    """Return a message of a kind, or raise `InvalidArgumentError` that says what is wrong.

    What is said may be worked out where it is, if it is long.
    """
    try:
        return kind.FromString(data)
    except DecodeError:
        raise InvalidArgumentError(fault if isinstance(fault, str) else fault()) from None


@dataclass(frozen=True)
class FeatureSource:
    """Where a feature stands: in an example of a name, and in which of several."""

    name: str = ""
    number: int | None = None
    kind: str = "Key"

    @property
    def first(self) -> str:
        """Return the name, in front of what is said."""
        return f"Name: {self.name}, " if self.name else ""

    def said(self, wanted: Wanted) -> str:
        """Return where a feature stands, as it is said of one that does not fit."""
        index = "" if self.number is None else f", Index: {self.number}"
        return f"{self.first}{self.kind}: {wanted.name}{index}"


ALONE = FeatureSource()
SAID = {BYTES: "bytes", FLOATS: "float", INTEGERS: "int64"}


def values_of(feature: Any, wanted: Wanted, source: FeatureSource = ALONE) -> Values | None:
    """Return the values of a feature of a message, None if it is empty."""
    which = feature.WhichOneof("kind")
    if which is None:
        return None
    if which != KINDS[wanted.kind][0]:
        raise wrong_kind(wanted, source)
    made = list(getattr(feature, which).value)
    return made if wanted.kind == BYTES else np.array(made, NUMPY[wanted.kind])


def wrong_kind(wanted: Wanted, source: FeatureSource = ALONE) -> InvalidArgumentError:
    """Return the error of a feature of another kind."""
    kind = KINDS[wanted.kind][1]
    return InvalidArgumentError(
        f"{source.said(wanted)}.  Data types don't match. Expected type: {kind}"
    )


def dense(wanted: Wanted, values: Values | None, source: FeatureSource = ALONE) -> Array:
    """Return the values of a feature in its shape; what is missing has a default, or is refused."""
    if values is None:
        if wanted.default is None:
            raise InvalidArgumentError(
                f"{source.first}Feature: {wanted.name} (data type: {KINDS[wanted.kind][1]}) is "
                "required but could not be found."
            )
        return wanted.default
    count, extents = wanted.count, wanted.extents
    if wanted.is_sequence and count and len(values) % count == 0:
        extents = (len(values) // count, *extents)
    elif len(values) != count:
        wrong = "is not a multiple of stride length." if wanted.is_sequence else "!= expected. "
        raise InvalidArgumentError(
            f"{source.said(wanted)}.  Number of {SAID[wanted.kind]} values {wrong} values size: "
            f"{len(values)} but output shape: {as_listed(wanted.shape or ())}"
        )
    if not isinstance(values, list):
        return values if values.shape == extents else values.reshape(extents)
    if extents:
        return as_text(values).reshape(extents)
    made = np.empty((), object)
    made[()] = values[0]
    return made


def as_text(values: Sequence[bytes]) -> Array:
    """Return a list of bytes as an array."""
    made = np.empty(len(values), object)
    made[:] = values
    return made


@dataclass(frozen=True)
class Ragged:
    """Values of several lists, one after the other, and how many each list has."""

    values: Array
    counts: Array


def ragged(wanted: Wanted, lists: Sequence[Values | None]) -> Ragged:
    """Return lists of any length behind one another."""
    present = [[] if values is None else values for values in lists]
    counts = np.array([len(values) for values in present], np.int64)
    if wanted.kind == BYTES:
        return Ragged(as_text([x for values in present for x in values]), counts)
    arrays = [np.asarray(v, NUMPY[wanted.kind]) for v in present]
    joined = np.concatenate(arrays) if arrays else np.empty(0, NUMPY[wanted.kind])
    return Ragged(joined, counts)


def sequence(wanted: Wanted, lists: Mapping[str, Any], name: str) -> Array | None:
    """Return a list of features as one array, a step for each; None if it is not there."""
    if wanted.name not in lists:
        return None
    steps = []
    shape = tuple(d for d in wanted.shape or () if d is not None)
    for number, feature in enumerate(lists[wanted.name].feature):
        values = values_of(feature, wanted, FeatureSource(name, number, "Feature list"))
        if values is None or len(values) != wanted.count:
            found = 0 if values is None else len(values)
            raise InvalidArgumentError(
                f"{FeatureSource(name, number).said(wanted)}.  Number of {SAID[wanted.kind]} "
                f"values != expected.  values size: {found} but output shape: {as_listed(shape)}"
            )
        steps.append((as_text(values) if isinstance(values, list) else values).reshape(shape))
    if not steps:
        return np.empty((0, *shape), NUMPY[wanted.kind])
    return np.stack(steps)
