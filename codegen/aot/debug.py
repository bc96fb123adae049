"""What debuggers and profilers are told of kernels: which nodes, or lines of Python, each computes.

The code of a kernel does not depend on where it comes from, and one kernel may serve many nodes. So
what is said is added when a library is linked, as DWARF (version 4) in sections that are not
loaded: a function for each kernel, named by its nodes, and for those that come from lines of text a
table that leads from addresses to these lines.

    gdb: #0  Conv_c1, Relu_x1 ()                 perf report: conv_5c5ef89e58747039:Conv_c1,Relu_x1
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ...runtime.artifact import Description, launches

SHOWN = 4
"""How many nodes are named of a kernel that serves more."""
VERSION = 4
C99 = 0x0C
"""The language of the unit, for debuggers: names and addresses as in C."""
PRODUCER = "gravure"

TAG_UNIT, TAG_SUBPROGRAM = 0x11, 0x2E
AT_NAME, AT_STMT_LIST, AT_LOW, AT_HIGH, AT_LANGUAGE = 0x03, 0x10, 0x11, 0x12, 0x13
AT_PRODUCER, AT_DECL_FILE, AT_DECL_LINE = 0x25, 0x3A, 0x3B
FORM_ADDRESS, FORM_DATA2, FORM_DATA8, FORM_STRING, FORM_UNSIGNED, FORM_OFFSET = (
    0x01, 0x05, 0x07, 0x08, 0x0F, 0x17,
)  # fmt: skip
UNIT, NAMED, PLACED = 1, 2, 3
"""Kinds of entries: the unit, a function, a function with a line."""

_PLACE = re.compile(r"(?:.* at )?(?P<file>[^:]+\.\w+):(?P<line>\d+)\Z")


@dataclass(frozen=True)
class KernelNote:
    """What is said of a kernel."""

    sources: tuple[str, ...]
    """The nodes, or places, that it computes; each once."""

    @property
    def label(self) -> str:
        """Return its nodes for reading."""
        more = f", {len(self.sources) - SHOWN} more" if len(self.sources) > SHOWN else ""
        return ", ".join(self.sources[:SHOWN]) + more

    @property
    def suffix(self) -> str:
        """Return what stands behind the name of its code: one word."""
        more = f",+{len(self.sources) - SHOWN}" if len(self.sources) > SHOWN else ""
        return ",".join("_".join(each.split()) for each in self.sources[:SHOWN]) + more

    @property
    def place(self) -> tuple[str, int] | None:
        """Return the first file and line that it comes from; None for nodes."""
        found = (_PLACE.match(each) for each in self.sources)
        return next(((each["file"], int(each["line"])) for each in found if each), None)


@dataclass(frozen=True)
class KernelCode:
    """Where a kernel lies in a library."""

    start: int
    size: int
    note: KernelNote


def kernel_notes(description: Description) -> dict[str, KernelNote]:
    """Return what is known of each kernel of a model that somebody gave names to."""
    found: dict[str, dict[str, None]] = {}
    for launch in (*launches(description.steps), *launches(description.prepare)):
        if launch.work is not None:
            found.setdefault(launch.kernel, {}).update(dict.fromkeys(launch.work.sources))
    return {name: KernelNote(tuple(sources)) for name, sources in found.items() if sources}


def with_shared(
    notes: Mapping[str, KernelNote], calls: Iterable[tuple[str, str]]
) -> dict[str, KernelNote]:
    """Return the notes with those of what kernels call: it computes what its callers do."""
    found = {name: dict.fromkeys(note.sources) for name, note in notes.items()}
    for caller, callee in calls:
        if caller in notes and callee not in notes:
            found.setdefault(callee, {}).update(dict.fromkeys(notes[caller].sources))
    return {name: KernelNote(tuple(sources)) for name, sources in found.items()}


def sections(codes: Sequence[KernelCode], start: int, size: int, name: str) -> dict[str, bytes]:
    """Return the sections of DWARF for kernels in the `size` bytes of code from `start`.

    `name` is what the unit is called: the model.
    """
    codes = sorted(codes, key=lambda code: code.start)
    files = [*dict.fromkeys(place[0] for code in codes if (place := code.note.place))]
    body = bytearray(bytes([UNIT]))
    body += _text(PRODUCER) + struct.pack("<H", C99) + _text(name)
    body += struct.pack("<QQI", start, size, 0)
    for code in codes:
        place = code.note.place
        body += bytes([NAMED if place is None else PLACED]) + _text(code.note.label)
        body += struct.pack("<QQ", code.start, code.size)
        if place is not None:
            body += _unsigned(files.index(place[0]) + 1) + _unsigned(place[1])
    body.append(0)  # the end of what the unit holds
    head = struct.pack("<HIB", VERSION, 0, 8)
    return {
        ".debug_abbrev": _kinds(),
        ".debug_info": struct.pack("<I", len(head) + len(body)) + head + bytes(body),
        ".debug_line": _lines(codes, files),
    }


def _kinds() -> bytes:
    """Return what the kinds of entries hold."""
    span = [(AT_LOW, FORM_ADDRESS), (AT_HIGH, FORM_DATA8)]
    named = [(AT_NAME, FORM_STRING), *span]
    rows = [
        (UNIT, TAG_UNIT, True, [(AT_PRODUCER, FORM_STRING), (AT_LANGUAGE, FORM_DATA2), *named,
                                (AT_STMT_LIST, FORM_OFFSET)]),
        (NAMED, TAG_SUBPROGRAM, False, named),
        (PLACED, TAG_SUBPROGRAM, False,
         [*named, (AT_DECL_FILE, FORM_UNSIGNED), (AT_DECL_LINE, FORM_UNSIGNED)]),
    ]  # fmt: skip
    found = bytearray()
    for number, tag, children, attributes in rows:
        found += bytes([number, tag, children])
        for pair in attributes:
            found += bytes(pair)
        found += bytes(2)
    return bytes(found) + b"\0"


def _lines(codes: Sequence[KernelCode], files: Sequence[str]) -> bytes:
    """Return the table of lines: each kernel with a place is one row, and a sequence of its own."""
    base, width, first = 1, 1, 10  # special opcodes are not used
    lengths = bytes([0, 1, 1, 1, 1, 0, 0, 0, 1])  # of the standard opcodes' operands
    header = struct.pack("<BBBbBB", 1, 1, 1, base, width, first) + lengths
    header += b"\0"  # no folders
    for file in files:
        header += _text(file) + bytes(3)
    header += b"\0"
    program = bytearray()
    for code in codes:
        place = code.note.place
        if place is None:
            continue
        program += b"\0" + _unsigned(9) + b"\x02" + struct.pack("<Q", code.start)  # set_address
        program += b"\x04" + _unsigned(files.index(place[0]) + 1)  # set_file
        program += b"\x03" + _signed(place[1] - 1)  # advance_line
        program += b"\x01"  # copy: a row
        program += b"\x02" + _unsigned(code.size)  # advance_pc
        program += b"\0\x01\x01"  # end_sequence
    rest = struct.pack("<HI", VERSION, len(header)) + header + bytes(program)
    return struct.pack("<I", len(rest)) + rest


def _text(text: str) -> bytes:
    return text.replace("\0", "").encode() + b"\0"


def _unsigned(number: int) -> bytes:
    """Return a number in seven bits a byte (LEB128).

    >>> _unsigned(624485).hex()
    'e58e26'
    """
    found = bytearray()
    while True:
        low, number = number & 127, number >> 7
        found.append(low | 128 if number else low)
        if not number:
            return bytes(found)


def _signed(number: int) -> bytes:
    """Return a number that may be negative in seven bits a byte.

    >>> _signed(-123456).hex()
    'c0bb78'
    """
    found = bytearray()
    while True:
        low, number = number & 127, number >> 7
        is_last = (number == 0 and not low & 64) or (number == -1 and bool(low & 64))
        found.append(low if is_last else low | 128)
        if is_last:
            return bytes(found)
