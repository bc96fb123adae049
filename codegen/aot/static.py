"""Objects and archives for other linkers: several objects become one, and all but the API local.

Sections stay as they are, one after the other; only names and their numbers are joined. So the
same lines serve every machine, and a relocation is changed in nothing but its symbol's number.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from ...errors import CompileError
from ...runtime.artifact import ALIGNMENT
from ...runtime.elf import (
    ET_REL,
    SHF_ALLOC,
    SHT_NOBITS,
    SHT_PROGBITS,
    SHT_RELA,
    SHT_STRTAB,
    SHT_SYMTAB,
    STB_GLOBAL,
    STB_LOCAL,
    STT_FILE,
    STT_OBJECT,
    Header,
    RelaEntry,
    SectionHeader,
    Strings,
    SymbolEntry,
    pack_all,
    section_table,
)
from .elf import Object, ObjectSymbol
from .program import define
from .weights import Weights, weights_symbol

LARGEST = 1 << 30
"""Bytes of weights that an object may hold: other linkers place them where code must reach them."""
_LEFT_OUT = (".llvm_addrsig", ".eh_frame", ".comment")
_ONCE = (".note.GNU-stack", ".riscv.attributes", ".ARM.attributes")
STACK_NOTE = ".note.GNU-stack"

MAGIC = b"!<arch>\n"
_MEMBER = "{name:<16}{time:<12}{owner:<6}{group:<6}{mode:<8}{size:<10}`\n"


def merge(objects: Sequence[bytes], tag: str, weights: Weights | None = None) -> bytes:
    """Return one object that defines the API of a model and hides everything else.

    Embedded weights get a section of their own.
    """
    merger = _Merger(tuple(Object.read(data) for data in objects), tag)
    merger.sections()
    if weights is not None:
        merger.weights(weights)
    merger.symbols()
    return merger.finish()


@dataclass
class _Merger:
    """An object under construction."""

    objects: tuple[Object, ...]
    tag: str
    names: list[str] = field(default_factory=lambda: [""])
    headers: list[SectionHeader] = field(default_factory=lambda: [SectionHeader()])
    bodies: list[bytes] = field(default_factory=lambda: [b""])
    numbers: dict[tuple[int, int], int] = field(default_factory=dict)
    """The new number of each section of each object."""
    rows: list[tuple[str, SymbolEntry]] = field(default_factory=list)
    renumbered: dict[tuple[int, int], int] = field(default_factory=dict)
    """The new number of each symbol of each object."""
    has_weights: bool = False
    first_global: int = 1

    @property
    def blob(self) -> str:
        """Return the name of the embedded weights."""
        return weights_symbol(self.tag)

    def add(self, name: str, header: SectionHeader, body: bytes) -> int:
        """Append a section and return its number."""
        self.names.append(name)
        self.headers.append(header)
        self.bodies.append(body)
        return len(self.headers) - 1

    def sections(self) -> None:
        """Take over all sections but those that say how an object is written."""
        for number, each in enumerate(self.objects):
            for index, section in enumerate(each.sections):
                kind = section.header.type
                if kind in (0, SHT_SYMTAB, SHT_STRTAB, SHT_RELA) or section.name in _LEFT_OUT:
                    continue
                if section.name in _ONCE and section.name in self.names:
                    continue
                if section.is_loaded and not section.header.size:
                    continue
                added = self.add(section.name, section.header, section.data)
                self.numbers[number, index] = added

    def weights(self, weights: Weights) -> None:
        """Append the weights as constants."""
        if weights.size > LARGEST:
            raise CompileError(
                f"{weights.size} bytes of weights: expected {LARGEST} at most in an object",
                hint="keep the weights in a file of their own, or make a shared library",
            )
        name = self.blob
        header = SectionHeader(type=SHT_PROGBITS, flags=SHF_ALLOC, align=ALIGNMENT)
        number = self.add(f".rodata.{name}", header, b"".join(map(bytes, weights.chunks())))
        entry = SymbolEntry(0, STT_OBJECT, 0, number, 0, weights.size)
        self.rows.append((name, entry))
        self.has_weights = True

    def symbols(self) -> None:
        """Make one table of symbols: local ones first, then the API and what is not defined."""
        every = [
            (number, index, symbol)
            for number, each in enumerate(self.objects)
            for index, symbol in enumerate(each.symbols)
        ]
        defined = [row for row in every if self.is_kept(row[0], row[2])]
        for binding in (STB_LOCAL, STB_GLOBAL):
            self.first_global = len(self.rows) + 1
            for number, index, symbol in defined:
                if self.binding(symbol) == binding:
                    self.rows.append((symbol.name, self.moved(number, symbol, binding)))
                    self.renumbered[number, index] = len(self.rows)
        known = {self.blob: 1} if self.has_weights else {}
        known |= {
            symbol.name: self.renumbered[number, index]
            for number, index, symbol in defined
            if symbol.is_global
        }
        assert len(known) >= len(define(self.objects)), "a symbol in a section that is left out"
        for number, index, symbol in every:
            if symbol.is_wanted and symbol.name not in known:
                self.rows.append((symbol.name, SymbolEntry(0, STB_GLOBAL << 4)))
                known[symbol.name] = len(self.rows)
            if symbol.is_wanted:
                self.renumbered[number, index] = known[symbol.name]

    def binding(self, symbol: ObjectSymbol) -> int:
        """Return whether a symbol is seen from outside."""
        is_export = symbol.is_global and symbol.name.startswith(f"{self.tag}_")
        return STB_GLOBAL if is_export else STB_LOCAL

    def is_kept(self, number: int, symbol: ObjectSymbol) -> bool:
        """Say whether a symbol is in a section that was taken over."""
        return symbol.kind != STT_FILE and (number, symbol.section) in self.numbers

    def moved(self, number: int, symbol: ObjectSymbol, binding: int) -> SymbolEntry:
        """Return the new entry of a symbol; nothing needs to be hidden that is local."""
        section = self.numbers[number, symbol.section]
        info, other = binding << 4 | symbol.kind, symbol.entry.other & ~3
        return replace(symbol.entry, info=info, section=section, other=other)

    def relocations(self, table: int) -> None:
        """Append the relocations of every section that has some."""
        for number, each in enumerate(self.objects):
            for target, relocations in each.relocations.items():
                section = self.numbers.get((number, target))
                if section is None:
                    continue
                rows = [
                    RelaEntry(
                        row.offset, self.renumbered[number, row.symbol] << 32 | row.type, row.addend
                    )
                    if row.symbol
                    else RelaEntry(row.offset, row.type, row.addend)
                    for row in relocations
                ]
                header = SectionHeader(
                    type=SHT_RELA,
                    flags=0x40,  # `info` is the number of a section
                    link=table,
                    info=section,
                    align=8,
                    entry_size=RelaEntry.layout.size,
                )
                self.add(f".rela{self.names[section]}", header, pack_all(rows))

    def finish(self) -> bytes:
        """Return the bytes of the file."""
        if STACK_NOTE not in self.names:
            self.add(STACK_NOTE, SectionHeader(type=SHT_PROGBITS, align=1), b"")
        strings, entries = Strings(), [SymbolEntry()]
        entries += [replace(entry, name=strings.add(name)) for name, entry in self.rows]
        table = len(self.headers)
        header = SectionHeader(
            type=SHT_SYMTAB,
            link=table + 1,
            info=self.first_global,
            align=8,
            entry_size=SymbolEntry.layout.size,
        )
        self.add(".symtab", header, pack_all(entries))
        self.add(".strtab", SectionHeader(type=SHT_STRTAB, align=1), bytes(strings.data))
        self.relocations(table)
        names = Strings()
        for name in (*self.names, ".shstrtab"):
            names.add(name)
        self.add(".shstrtab", SectionHeader(type=SHT_STRTAB, align=1), bytes(names.data))
        return self.write(names)

    def write(self, names: Strings) -> bytes:
        """Lay the sections out behind the file's header, and the table of them at the end."""
        data = bytearray(Header.layout.size)
        placed = []
        for header, body in zip(self.headers, self.bodies, strict=True):
            data += bytes(-len(data) % max(header.align, 1))
            size = header.size if header.type == SHT_NOBITS else len(body)
            placed.append(replace(header, offset=len(data) if header.type else 0, size=size))
            data += body
        data += bytes(-len(data) % 8)
        first = self.objects[0].header
        whole = Header(
            type=ET_REL,
            machine=first.machine,
            flags=first.flags,
            section_offset=len(data),
            section_count=len(placed),
            program_size=0,
            names=len(placed) - 1,
        )
        data[: Header.layout.size] = whole.pack()
        return bytes(data + section_table(zip(self.names, placed, strict=True), names))


def archive(name: str, data: bytes) -> bytes:
    """Return an archive (`.a`) of one object, with the index that linkers look names up in."""
    assert len(name) < 16, "a longer name than an archive holds by itself"
    defined = [symbol.name.encode() for symbol in Object.read(data).symbols if symbol.is_global]
    strings = b"".join(each + b"\0" for each in defined)
    strings += bytes(-len(strings) % 2)
    size = 4 + 4 * len(defined) + len(strings)
    start = len(MAGIC) + 60 + size
    index = struct.pack(f">{1 + len(defined)}I", len(defined), *[start] * len(defined)) + strings
    return MAGIC + _member("/", index, mode="0") + _member(f"{name}/", data, mode="644")


def _member(name: str, data: bytes, mode: str) -> bytes:
    """Return one file of an archive, without time and owner."""
    head = _MEMBER.format(name=name, time=0, owner=0, group=0, mode=mode, size=len(data))
    return head.encode() + data + (b"\n" if len(data) % 2 else b"")
