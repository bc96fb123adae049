"""Read relocatable ELF objects, as LLVM writes them: sections, symbols, relocations."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from ...lazy import cached_property
from ...runtime.elf import (
    ET_REL,
    IDENTITY,
    SHF_ALLOC,
    SHN_COMMON,
    SHN_LORESERVE,
    SHN_UNDEF,
    SHT_NOBITS,
    SHT_RELA,
    SHT_SYMTAB,
    STB_LOCAL,
    Header,
    RelaEntry,
    SectionHeader,
    SymbolEntry,
)


@dataclass(frozen=True)
class Section:
    """A section of an object with its bytes (none of NOBITS)."""

    name: str
    header: SectionHeader
    data: bytes

    @property
    def is_loaded(self) -> bool:
        """Say whether the section is part of the program, and not of what is said about it."""
        return bool(self.header.flags & SHF_ALLOC)


@dataclass(frozen=True)
class ObjectSymbol:
    """A name in an object; `section` is the number of the section that `value` counts from."""

    name: str
    entry: SymbolEntry

    @property
    def binding(self) -> int:
        """Return whether the name is local, global or weak."""
        return self.entry.info >> 4

    @property
    def kind(self) -> int:
        """Return whether this is a function, data, a section, ..."""
        return self.entry.info & 15

    @property
    def section(self) -> int:
        """Return the number of the section where the symbol is, 0 if it is elsewhere."""
        return self.entry.section

    @property
    def is_global(self) -> bool:
        """Say whether other objects may use the definition here."""
        return self.binding != STB_LOCAL and SHN_UNDEF < self.section < SHN_LORESERVE

    @property
    def is_wanted(self) -> bool:
        """Say whether another object has to define this symbol."""
        return self.section == SHN_UNDEF and bool(self.name)


@dataclass(frozen=True)
class Relocation:
    """Something to be written into a section once addresses are known."""

    offset: int
    type: int
    symbol: int
    addend: int


@dataclass(frozen=True)
class Object:
    """A relocatable object; sections and symbols keep their numbers, 0 is the null one."""

    header: Header
    sections: tuple[Section, ...]
    symbols: tuple[ObjectSymbol, ...]

    @classmethod
    @lru_cache(maxsize=256)
    def read(cls, data: bytes) -> Object:
        """Take `data` apart; manifest and linker both ask for it."""
        header = Header.unpack(data)
        assert header.identity[:7] == IDENTITY[:7], "not a 64-bit little-endian ELF file"
        assert header.type == ET_REL, "not a relocatable object"
        headers = [
            SectionHeader.unpack(data, header.section_offset + index * header.section_size)
            for index in range(header.section_count)
        ]
        bodies = [
            b"" if each.type in (0, SHT_NOBITS) else data[each.offset : each.offset + each.size]
            for each in headers
        ]
        sections = tuple(
            Section(_string(bodies[header.names], each.name), each, body)
            for each, body in zip(headers, bodies, strict=True)
        )
        table = next((each for each in sections if each.header.type == SHT_SYMTAB), None)
        symbols = () if table is None else _symbols(table, bodies[table.header.link])
        return cls(header, sections, symbols)

    @cached_property
    def relocations(self) -> dict[int, tuple[Relocation, ...]]:
        """Return the relocations of each section that has any."""
        return {
            section.header.info: tuple(
                Relocation(each.offset, each.info & 0xFFFFFFFF, each.info >> 32, each.addend)
                for each in _table(section.data)
            )
            for section in self.sections
            if section.header.type == SHT_RELA
        }


def _table(data: bytes) -> list[RelaEntry]:
    return [RelaEntry(*fields) for fields in RelaEntry.layout.iter_unpack(data)]


def _symbols(table: Section, names: bytes) -> tuple[ObjectSymbol, ...]:
    entries = [SymbolEntry(*fields) for fields in SymbolEntry.layout.iter_unpack(table.data)]
    symbols = tuple(ObjectSymbol(_string(names, entry.name), entry) for entry in entries)
    assert all(each.section != SHN_COMMON for each in symbols), "common symbols are not written"
    return symbols


def _string(table: bytes, offset: int) -> str:
    return table[offset : table.index(b"\0", offset)].decode()
