"""Change bytes a little: as bytes, as text, as JSON, as records of protobuf."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from random import Random
from typing import Any

Change = Callable[[bytes, Random], bytes]

NUMBERS = (
    0, 1, 2, 3, 7, 8, 31, 32, 33, 63, 64, 127, 128, 255, 256, 2**16, 2**31 - 1, 2**31, 2**32,
    2**53, 2**62, 2**63 - 1, 2**63, 2**64 - 1,
)  # fmt: skip
"""Numbers at which programs go wrong; their negatives, too."""

WORDS = (
    "nan", "inf", "-inf", "1e400", "-0.0", "0x1", "1e-400", "\x00", "\u202e", "\ud7ff", "\\", '"',
    "../x", "/dev/zero", "a" * 300, "%s%n", "0" * 50, "9" * 30, "[" * 300, "(" * 300, "-" * 300,
)  # fmt: skip
"""Words that readers did not expect."""


def bytes_changed(data: bytes, random: Random) -> bytes:
    """Return bytes with one to four changes at any places."""
    made = bytearray(data)
    for _ in range(random.choice((1, 1, 2, 4))):
        random.choice(BYTES)(made, random)
    return bytes(made)


def _flip(data: bytearray, random: Random) -> None:
    if data:
        data[random.randrange(len(data))] ^= 1 << random.randrange(8)


def _set(data: bytearray, random: Random) -> None:
    if data:
        data[random.randrange(len(data))] = random.choice((0, 1, 0x7F, 0x80, 0xFF))


def _number(data: bytearray, random: Random) -> None:
    place, size = random.randrange(len(data) + 1), random.choice((1, 2, 4, 8))
    number = random.choice(NUMBERS) % (1 << 8 * size)
    data[place : place + size] = number.to_bytes(size, random.choice(("little", "big")))


def _cut(data: bytearray, random: Random) -> None:
    del data[random.randrange(len(data) + 1) :]


def _delete(data: bytearray, random: Random) -> None:
    place = random.randrange(len(data) + 1)
    del data[place : place + random.choice((1, 2, 8, 64, 512))]


def _repeat(data: bytearray, random: Random) -> None:
    place = random.randrange(len(data) + 1)
    data[place:place] = data[place : place + random.choice((1, 4, 32, 256))]


def _insert(data: bytearray, random: Random) -> None:
    place = random.randrange(len(data) + 1)
    data[place:place] = random.randbytes(random.choice((1, 2, 8, 64)))


def _move(data: bytearray, random: Random) -> None:
    one, other = sorted(random.randrange(len(data) + 1) for _ in range(2))
    size = random.choice((1, 4, 16, 128))
    data[one : one + size], data[other : other + size] = (
        data[other : other + size],
        data[one : one + size],
    )


BYTES: tuple[Callable[[bytearray, Random], None], ...] = (
    _flip, _set, _number, _cut, _delete, _repeat, _insert, _move,
)  # fmt: skip


def text_changed(data: bytes, random: Random) -> bytes:
    """Return a text with one to three of its words or lines changed."""
    made = data.decode("utf-8", "replace")
    for _ in range(random.choice((1, 1, 2, 3))):
        made = random.choice(TEXTS)(made, random)
    return made.encode("utf-8", "surrogatepass")


_WORD = re.compile(r"\w+|\S")


def _other_word(text: str, random: Random) -> str:
    found = list(_WORD.finditer(text))
    if not found:
        return text
    place = random.choice(found)
    word = random.choice((*WORDS, *map(str, NUMBERS), random.choice(found)[0]))
    return text[: place.start()] + word + text[place.end() :]


def _other_number(text: str, random: Random) -> str:
    found = list(re.finditer(r"\d+", text))
    if not found:
        return text
    place, number = random.choice(found), random.choice(NUMBERS) * random.choice((1, 1, -1))
    return text[: place.start()] + str(number) + text[place.end() :]


def _without_word(text: str, random: Random) -> str:
    found = list(_WORD.finditer(text))
    if not found:
        return text
    place = random.choice(found)
    return text[: place.start()] + text[place.end() :]


def _lines(text: str, random: Random) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    place, kind = random.randrange(len(lines)), random.randrange(3)
    if kind == 0:
        del lines[place]
    elif kind == 1:
        lines.insert(place, random.choice(lines))
    else:
        other = random.randrange(len(lines))
        lines[place], lines[other] = lines[other], lines[place]
    return "".join(lines)


TEXTS = (_other_word, _other_number, _other_number, _without_word, _lines)


def json_changed(data: bytes, random: Random) -> bytes:
    """Return JSON with one value that is another; bytes that are no JSON are changed as bytes."""
    try:
        tree = json.loads(data)
    except ValueError:
        return bytes_changed(data, random)
    holder = [tree]
    places = [(holder, 0), *_places(tree)]
    for _ in range(random.choice((1, 1, 2))):
        where, key = random.choice(places)
        if isinstance(where, dict) and random.random() < 0.2:
            where.pop(key, None)
        else:
            where[key] = random.choice(JSONS)(random)
    return json.dumps(holder[0]).encode("utf-8", "surrogatepass")


JSONS: tuple[Callable[[Random], Any], ...] = (
    lambda random: random.choice(NUMBERS) * random.choice((1, -1)),
    lambda random: random.choice(WORDS),
    lambda random: random.choice((None, True, False, 0.5, [], {}, "", [[]], {"": None}, [0, 1, 2])),
)


def _places(tree: Any) -> Iterator[tuple[Any, Any]]:
    """Give every place in a tree: what holds it, and its key there."""
    keys = tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ()
    for key in list(keys):
        yield tree, key
        yield from _places(tree[key])


def behind_length(change: Change) -> Change:
    """Return a change of the head of a file that begins with the head's length in 8 bytes."""

    def changed(data: bytes, random: Random) -> bytes:
        size = int.from_bytes(data[:8], "little")
        head = change(data[8 : 8 + size], random)
        return len(head).to_bytes(8, "little") + head + data[8 + size :]

    return changed


# Protobuf: a record is a list of fields; a field of bytes may be a record, too.


def records_changed(data: bytes, random: Random) -> bytes:
    """Return a record of protobuf with one to three fields changed, at any depth."""
    for _ in range(random.choice((1, 1, 2, 3))):
        data = _record_changed(data, random, 0)
    return data


def _record_changed(data: bytes, random: Random, depth: int) -> bytes:
    fields = list(_fields(data))
    if not fields:
        return bytes_changed(data, random)
    place = random.randrange(len(fields))
    number, wire, value = fields[place]
    kind = random.random()
    if isinstance(value, bytes) and depth < 12 and kind < 0.75 and any(_fields(value)):
        fields[place] = number, wire, _record_changed(value, random, depth + 1)
    elif kind < 0.3:
        del fields[place]
    elif kind < 0.5:
        fields.insert(random.randrange(len(fields) + 1), random.choice(fields))
    elif kind < 0.6:
        fields[place] = random.choice((number + 1, max(number - 1, 1))), wire, value
    elif isinstance(value, int):
        fields[place] = number, wire, random.choice(NUMBERS) % 2**64
    else:
        fields[place] = number, wire, _other_bytes(value, random)
    return b"".join(_encoded(*field) for field in fields)


def _other_bytes(value: bytes, random: Random) -> bytes:
    if random.random() < 0.3:
        return random.choice(WORDS).encode("utf-8", "surrogatepass")
    return random.choice((b"", bytes_changed(value, random)))


Field = tuple[int, int, int | bytes]


def _fields(data: bytes) -> list[Field]:
    """Return number, wire type and value of each field; nothing if these are no fields."""
    found: list[Field] = []
    place = 0
    while place < len(data):
        tag, place = _varint(data, place)
        number, wire = tag >> 3, tag & 7
        size = {1: 8, 5: 4}.get(wire, 0)
        if wire == 0:
            value, place = _varint(data, place)
            found.append((number, wire, value))
            continue
        if wire == 2:
            size, place = _varint(data, place)
        if not number or number >= 1 << 29 or (not size and wire != 2) or place + size > len(data):
            return []
        if place < 0:
            return []
        found.append((number, wire, data[place : place + size]))
        place += size
    return found


def _varint(data: bytes, place: int) -> tuple[int, int]:
    """Return a number and the place behind it; a place far behind the end if there is none."""
    value = 0
    for index in range(min(10, len(data) - place)):
        byte = data[place + index]
        value |= (byte & 0x7F) << 7 * index
        if byte < 0x80:
            return value, place + index + 1
    return 0, len(data) + 1


def _encoded(number: int, wire: int, value: int | bytes) -> bytes:
    head = _number_encoded(number << 3 | wire)
    if isinstance(value, int):
        return head + _number_encoded(value)
    return head + (_number_encoded(len(value)) if wire == 2 else b"") + value


def _number_encoded(value: int) -> bytes:
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])
