"""The structures of ELF files, 64 bits and little-endian, and the numbers in them."""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable
from dataclasses import dataclass, replace
from struct import Struct
from typing import Any, ClassVar, TypeVar

PAGE = 4096

MAGIC = b"\x7fELF"
IDENTITY = MAGIC + bytes([2, 1, 1]) + bytes(9)
"""64 bits, little-endian, version 1, System V."""

ET_REL, ET_DYN = 1, 3
EM_X86_64, EM_AARCH64, EM_RISCV = 62, 183, 243
MACHINES = {EM_X86_64: "x86_64", EM_AARCH64: "aarch64", EM_RISCV: "riscv64"}

PT_LOAD, PT_DYNAMIC, PT_NOTE = 1, 2, 4
PT_GNU_STACK, PT_GNU_RELRO = 0x6474E551, 0x6474E552
PF_X, PF_W, PF_R = 1, 2, 4

SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB, SHT_RELA, SHT_HASH, SHT_DYNAMIC = 1, 2, 3, 4, 5, 6
SHT_NOTE, SHT_NOBITS, SHT_REL, SHT_DYNSYM = 7, 8, 9, 11
SHT_INIT_ARRAY, SHT_FINI_ARRAY, SHT_PREINIT_ARRAY, SHT_GROUP = 14, 15, 16, 17
SHT_GNU_HASH = 0x6FFFFFF6
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_MERGE, SHF_TLS = 1, 2, 4, 16, 1024

SHN_UNDEF, SHN_LORESERVE, SHN_ABS, SHN_COMMON = 0, 0xFF00, 0xFFF1, 0xFFF2
STB_LOCAL, STB_GLOBAL, STB_WEAK = 0, 1, 2
STT_NOTYPE, STT_OBJECT, STT_FUNC, STT_SECTION, STT_FILE = 0, 1, 2, 3, 4
STV_DEFAULT, STV_HIDDEN = 0, 2

R = TypeVar("R", bound="Record")


class Record:
    """A structure of the file: a dataclass whose fields are packed in their order."""

    layout: ClassVar[Struct]

    @classmethod
    def unpack(cls: type[R], data: Any, offset: int = 0) -> R:
        """Read one at `offset`."""
        return cls(*cls.layout.unpack_from(data, offset))

    def pack(self) -> bytes:
        """Return its bytes."""
        return self.layout.pack(*vars(self).values())


@dataclass(frozen=True)
class Header(Record):
    """The first 64 bytes of a file."""

    layout: ClassVar[Struct] = Struct("<16sHHIQQQIHHHHHH")
    identity: bytes = IDENTITY
    type: int = ET_DYN
    machine: int = EM_X86_64
    version: int = 1
    entry: int = 0
    program_offset: int = 0
    section_offset: int = 0
    flags: int = 0
    size: int = 64
    program_size: int = 56
    program_count: int = 0
    section_size: int = 64
    section_count: int = 0
    names: int = 0


@dataclass(frozen=True)
class Segment(Record):
    """A program header: a piece of the file to map, or a mark on one."""

    layout: ClassVar[Struct] = Struct("<IIQQQQQQ")
    type: int
    flags: int
    offset: int
    address: int
    physical: int
    file_size: int
    memory_size: int
    align: int


@dataclass(frozen=True)
class SectionHeader(Record):
    """A section header."""

    layout: ClassVar[Struct] = Struct("<IIQQQQIIQQ")
    name: int = 0
    type: int = 0
    flags: int = 0
    address: int = 0
    offset: int = 0
    size: int = 0
    link: int = 0
    info: int = 0
    align: int = 0
    entry_size: int = 0


@dataclass(frozen=True)
class SymbolEntry(Record):
    """An entry of a symbol table."""

    layout: ClassVar[Struct] = Struct("<IBBHQQ")
    name: int = 0
    info: int = 0
    other: int = 0
    section: int = 0
    value: int = 0
    size: int = 0


@dataclass(frozen=True)
class RelaEntry(Record):
    """A relocation: what is to be written at `offset`, from a symbol and an addend."""

    layout: ClassVar[Struct] = Struct("<QQq")
    offset: int
    info: int
    addend: int


class Strings:
    """A table of strings that end in zero, each stored once."""

    def __init__(self) -> None:
        self.data = bytearray(1)
        self._offsets = {"": 0}

    def add(self, text: str) -> int:
        """Return where `text` stands, after appending it if it is new."""
        if text not in self._offsets:
            self._offsets[text] = len(self.data)
            self.data += text.encode() + b"\0"
        return self._offsets[text]


def pack_all(records: Iterable[Record]) -> bytes:
    """Return the bytes of a table."""
    return b"".join(record.pack() for record in records)


def section_table(headers: Iterable[tuple[str, SectionHeader]], names: Strings) -> bytes:
    """Return the table of section headers, with the places of their names."""
    return pack_all(replace(header, name=names.add(name)) for name, header in headers)


DT_STRTAB, DT_SONAME = 5, 14


def soname_of(path: str) -> str:
    """Return the name by which other libraries need a shared one; without one, the file's."""
    with open(path, "rb") as file:
        data = file.read(1 << 20)
        header = Header.unpack(data)
        size = Segment.layout.size
        segments = [
            Segment.unpack(data, header.program_offset + size * number)
            for number in range(header.program_count)
        ]
        entries: dict[int, int] = {}
        for segment in segments:
            if segment.type == PT_DYNAMIC:
                file.seek(segment.offset)
                table = file.read(segment.file_size)
                entries = dict(struct.iter_unpack("<QQ", table[: len(table) // 16 * 16]))
        if DT_SONAME not in entries:
            return os.path.basename(path)
        address = entries[DT_STRTAB]
        for segment in segments:
            if segment.type == PT_LOAD and 0 <= address - segment.address < segment.file_size:
                file.seek(segment.offset + address - segment.address + entries[DT_SONAME])
                return file.read(PAGE).split(b"\0")[0].decode()
    return os.path.basename(path)
