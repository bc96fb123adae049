"""Lay a library out and fill in its addresses; `library` says what comes where and why."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...runtime.container import Seal
from ...runtime.elf import (
    ET_DYN,
    PAGE,
    PF_R,
    PF_W,
    PF_X,
    PT_DYNAMIC,
    PT_GNU_RELRO,
    PT_GNU_STACK,
    PT_LOAD,
    PT_NOTE,
    SHF_ALLOC,
    SHF_EXECINSTR,
    SHF_WRITE,
    SHT_DYNAMIC,
    SHT_DYNSYM,
    SHT_GNU_HASH,
    SHT_HASH,
    SHT_NOTE,
    SHT_PROGBITS,
    SHT_RELA,
    SHT_STRTAB,
    SHT_SYMTAB,
    STB_GLOBAL,
    STT_FUNC,
    STT_OBJECT,
    Header,
    RelaEntry,
    SectionHeader,
    Segment,
    Strings,
    SymbolEntry,
    pack_all,
)
from .debug import KernelCode, KernelNote, sections, with_shared
from .hashes import gnu_order, gnu_table, system_v_table
from .image import Image
from .program import LinkedObjects, SectionGroup, SectionPlace
from .relocate import STUB_SIZE, Addresses, Relocator, needs_pointer

BUILD_ID = struct.pack("<III", 4, 20, 3) + b"GNU\0"
"""How the note begins that debuggers know a file by; 20 bytes follow."""
SEGMENTS = 9
"""How many program headers there are at most."""
CODE, ONCE = SHF_ALLOC | SHF_EXECINSTR, SHF_ALLOC | SHF_WRITE

DT_NEEDED, DT_HASH, DT_STRTAB, DT_SYMTAB, DT_RELA = 1, 4, 5, 6, 7
DT_RELASZ, DT_RELAENT, DT_STRSZ, DT_SYMENT, DT_INIT, DT_FLAGS = 8, 9, 10, 11, 12, 30
DT_GNU_HASH, DT_RELACOUNT, DT_FLAGS_1 = 0x6FFFFEF5, 0x6FFFFFF9, 0x6FFFFFFB
BIND_NOW = ((DT_FLAGS, 8), (DT_FLAGS_1, 1))


@dataclass(frozen=True)
class Room:
    """Memory that takes no place in the file: zeros until a function writes it at loading."""

    name: str
    size: int
    function: str


@dataclass
class Linker:
    """One library under construction."""

    program: LinkedObjects
    imports: Sequence[str]
    libraries: Sequence[str]
    weights: str
    """The name of the embedded weights."""
    weights_size: int
    """Their bytes; 0 if there are none in the file."""
    room: Room | None
    """Memory that is filled when the library is loaded."""
    tag: str = ""
    notes: Mapping[str, KernelNote] = field(default_factory=dict)
    """What debuggers are told of kernels, by name."""
    image: Image = field(default_factory=Image)
    places: dict[SectionPlace, int] = field(default_factory=dict)
    """Where each section of an object lies."""
    homes: dict[SectionPlace, SectionGroup] = field(default_factory=dict)
    """With which others it lies there."""
    strings: Strings = field(default_factory=Strings)

    def link(self) -> tuple[bytearray, int]:
        """Return all but the weights, not yet sealed, and where the note of the seal is."""
        image, order = self.image, [*self.imports, *gnu_order(self.program.exports)]
        image.data += bytes(Header.layout.size + SEGMENTS * Segment.layout.size)
        notes = SectionHeader(type=SHT_NOTE)
        image.add(".note.gnu.build-id", SHF_ALLOC, BUILD_ID + bytes(20), 4, notes)
        seal = image.add(".note.gravure", SHF_ALLOC, Seal().note(), 4, notes)
        self.lookup_tables(order)
        self.group(SectionGroup.CONSTANTS, SHF_ALLOC)
        code = image.next_page()
        self.group(SectionGroup.CODE, CODE)
        stubs = image.add(".plt", CODE, STUB_SIZE * len(self.imports), 16)
        once = image.next_page()
        self.group(SectionGroup.ONCE, ONCE)
        got = image.add(".got", ONCE, 8 * len(self.imports), 8)
        self.dynamic_section()
        end = image.next_page()
        names = {name: self.address(name) for name in self.program.definitions}
        self.notes = with_shared(self.notes, self.calls())
        self.symbol_table(names)
        self.debug_sections()
        headers = image.finish(self.weights_section())
        if self.weights_size:
            names[self.weights] = image.next_page()
        if self.room is not None:
            names[self.room.name] = self.behind()
        numbers = {name: number for number, name in enumerate(self.imports)}
        self.relocate(Addresses(self.places, names, got, numbers, stubs))
        self.dynamic_symbols(order, names)
        self.file_header(headers, self.segments(code, once, end))
        return self.image.data, seal

    def behind(self) -> int:
        """Return the first page behind the weights."""
        weights = self.image.header(".weights")
        return -(-(weights.address + weights.size) // PAGE) * PAGE

    def lookup_tables(self, order: Sequence[str]) -> None:
        """Append what the dynamic linker finds names and relocations in; addresses come later."""
        for name in (*order, *self.libraries):
            self.strings.add(name)
        image, unnamed = self.image, 1 + len(self.imports)
        table = len(image.headers) + 2  # .dynsym, after two hash tables
        pointers = sum(needs_pointer(each) for _, each in self.program.relocations())
        rows = len(order) + 1
        header = SectionHeader(type=SHT_GNU_HASH, link=table)
        hashes = gnu_table(order[len(self.imports) :], unnamed)
        image.add(".gnu.hash", SHF_ALLOC, hashes, 8, header)
        header = SectionHeader(type=SHT_HASH, link=table, entry_size=4)
        image.add(".hash", SHF_ALLOC, system_v_table(order), 8, header)
        size = SymbolEntry.layout.size
        header = SectionHeader(type=SHT_DYNSYM, link=table + 1, info=1, entry_size=size)
        image.add(".dynsym", SHF_ALLOC, size * rows, 8, header)
        header = SectionHeader(type=SHT_STRTAB)
        image.add(".dynstr", SHF_ALLOC, bytes(self.strings.data), 1, header)
        size = RelaEntry.layout.size
        header = SectionHeader(type=SHT_RELA, link=table, entry_size=size)
        image.add(".rela.dyn", SHF_ALLOC, size * (pointers + len(self.imports)), 8, header)

    def group(self, group: SectionGroup, flags: int) -> None:
        """Append all sections of a group as one; equal constants are stored once."""
        places = self.program.groups[group]
        sections = [self.program.section(place) for place in places]
        align = max((section.header.align for section in sections), default=1)
        base, body = self.image.align(align), bytearray()
        shared: dict[tuple[bytes, int], int] = {}
        for place, section in zip(places, sections, strict=True):
            self.homes[place] = group
            key = section.data, section.header.align
            if self.program.can_share(place) and key in shared:
                self.places[place] = shared[key]
                continue
            body += bytes(-len(body) % max(section.header.align, 1))
            self.places[place] = shared[key] = base + len(body)
            body += section.data
        self.image.add(group.value, flags, bytes(body), align)

    def dynamic_section(self) -> None:
        """Append what tells the dynamic linker where its tables are."""
        image, rows = self.image, self.image.header(".rela.dyn").size // RelaEntry.layout.size
        entries = [(DT_NEEDED, self.strings.add(name)) for name in self.libraries]
        entries += [
            (DT_HASH, image.header(".hash").address),
            (DT_GNU_HASH, image.header(".gnu.hash").address),
            (DT_STRTAB, image.header(".dynstr").address),
            (DT_SYMTAB, image.header(".dynsym").address),
            (DT_STRSZ, len(self.strings.data)),
            (DT_SYMENT, SymbolEntry.layout.size),
        ]
        if rows:
            entries += [
                (DT_RELA, image.header(".rela.dyn").address),
                (DT_RELASZ, rows * RelaEntry.layout.size),
                (DT_RELAENT, RelaEntry.layout.size),
                (DT_RELACOUNT, rows - len(self.imports)),
            ]
        if self.room is not None:
            entries.append((DT_INIT, self.address(self.room.function)))
        data = b"".join(struct.pack("<QQ", *entry) for entry in (*entries, *BIND_NOW, (0, 0)))
        header = SectionHeader(type=SHT_DYNAMIC, link=image.number(".dynstr"), entry_size=16)
        image.add(".dynamic", ONCE, data, 16, header)

    def address(self, name: str) -> int:
        """Return where a global name lies."""
        number, symbol = self.program.definitions[name]
        return self.places[SectionPlace(number, symbol.section)] + symbol.entry.value

    def output_section(self, place: SectionPlace) -> int:
        """Return the number in the library of the section that holds one of an object."""
        return self.image.number(self.homes[place].value)

    def symbol_table(self, names: dict[str, int]) -> None:
        """Append the table of all functions and data, for debuggers; what is local comes first."""
        strings, exported = Strings(), frozenset(self.program.exports)
        rows: list[tuple[bool, int, str, SymbolEntry]] = []
        for number, each in enumerate(self.program.objects):
            for symbol in each.symbols:
                place = SectionPlace(number, symbol.section)
                if symbol.kind not in (STT_FUNC, STT_OBJECT) or place not in self.places:
                    continue
                is_export = symbol.name in exported
                address = self.places[place] + symbol.entry.value
                section = self.output_section(place)
                info = symbol.kind | (STB_GLOBAL << 4 if is_export else 0)
                entry = SymbolEntry(0, info, 0, section, address, symbol.entry.size)
                note = self.notes.get(symbol.name)
                name = f"{symbol.name}:{note.suffix}" if note else symbol.name
                rows.append((is_export, address, name, entry))
        rows.sort(key=lambda row: row[:3])
        entries = [SymbolEntry()]
        for _, _, name, entry in rows:
            fields = {**vars(entry), "name": strings.add(name)}
            entries.append(SymbolEntry(**fields))
        header = SectionHeader(
            type=SHT_SYMTAB,
            link=len(self.image.headers) + 1,
            info=1 + sum(not row[0] for row in rows),
            entry_size=SymbolEntry.layout.size,
        )
        self.image.add(".symtab", 0, pack_all(entries), 8, header)
        self.image.add(".strtab", 0, bytes(strings.data), 1, SectionHeader(type=SHT_STRTAB))

    def calls(self) -> Iterator[tuple[str, str]]:
        """Give the function of each object with notes, and the names that it uses."""
        if not self.notes:
            return
        noted: dict[SectionPlace, list[str]] = {}
        for number, each in enumerate(self.program.objects):
            for own in each.symbols:
                if own.name in self.notes:
                    noted.setdefault(SectionPlace(number, own.section), []).append(own.name)
        for place, relocation in self.program.relocations():
            wanted = self.program.symbol(place, relocation)
            if wanted.is_wanted:
                for name in noted.get(place, ()):
                    yield name, wanted.name

    def debug_sections(self) -> None:
        """Append what leads from addresses to nodes and lines."""
        codes = [
            KernelCode(self.places[place] + symbol.entry.value, symbol.entry.size, note)
            for number, each in enumerate(self.program.objects)
            for symbol in each.symbols
            if symbol.kind == STT_FUNC
            and (note := self.notes.get(symbol.name)) is not None
            and (place := SectionPlace(number, symbol.section)) in self.places
        ]
        text = self.image.header(".text")
        made = sections(codes, text.address, text.size, self.tag) if codes else {}
        for name, data in made.items():
            self.image.add(name, 0, data)

    def weights_section(self) -> tuple[str, SectionHeader] | None:
        """Return name and header of the section of the weights, if they are in the file."""
        if not self.weights_size:
            return None
        header = SectionHeader(
            type=SHT_PROGBITS, flags=SHF_ALLOC, size=self.weights_size, align=PAGE
        )
        return ".weights", header

    def relocate(self, addresses: Addresses) -> None:
        """Write addresses into code and constants."""
        relocator = Relocator(self.program, addresses, self.image.data)
        relocator.run()
        if relocator.dynamic:
            self.image.fill(".rela.dyn", pack_all(relocator.dynamic))

    def dynamic_symbols(self, order: Sequence[str], names: dict[str, int]) -> None:
        """Fill in the table of imported and exported names."""
        rows = [SymbolEntry()]
        for name in order:
            if name not in self.program.definitions:
                rows.append(SymbolEntry(self.strings.add(name), STB_GLOBAL << 4))
                continue
            number, symbol = self.program.definitions[name]
            section = self.output_section(SectionPlace(number, symbol.section))
            info = STB_GLOBAL << 4 | symbol.kind
            row = self.strings.add(name), info, 0, section, names[name], symbol.entry.size
            rows.append(SymbolEntry(*row))
        self.image.fill(".dynsym", pack_all(rows))

    def file_header(self, headers: int, segments: Sequence[Segment]) -> None:
        """Fill in the first page: the header of the file, and what of it is to be mapped how."""
        image, data = self.image, self.image.data
        header = Header(
            type=ET_DYN,
            program_offset=Header.layout.size,
            program_count=len(segments),
            section_offset=headers,
            section_count=len(image.headers),
            names=image.number(".shstrtab"),
        )
        table = header.pack() + pack_all(segments)
        data[: len(table)] = table
        place = image.header(".note.gnu.build-id").offset + len(BUILD_ID)
        data[place : place + 20] = hashlib.sha256(data).digest()[:20]

    def segments(self, code: int, once: int, end: int) -> list[Segment]:
        """Return the program headers; the three first parts end at `code`, `once` and `end`."""
        image = self.image
        notes, seal = image.header(".note.gnu.build-id"), image.header(".note.gravure")
        dynamic, weights = image.header(".dynamic"), image.header(".weights")
        start = weights.address
        return [
            _segment(PT_LOAD, PF_R, 0, code, PAGE),
            _segment(PT_LOAD, PF_R | PF_X, code, once, PAGE),
            _segment(PT_LOAD, PF_R | PF_W, once, end, PAGE),
            *([_segment(PT_LOAD, PF_R, start, start + weights.size, PAGE)] if start else []),
            *self.room_segment(),
            _segment(PT_DYNAMIC, PF_R | PF_W, dynamic.address, dynamic.address + dynamic.size, 8),
            _segment(PT_NOTE, PF_R, notes.address, seal.address + seal.size, 4),
            _segment(PT_GNU_RELRO, PF_R, once, end, 1),
            _segment(PT_GNU_STACK, PF_R | PF_W, 0, 0, 16),
        ]

    def room_segment(self) -> list[Segment]:
        """Return the program header of the memory that is filled at loading."""
        if self.room is None:
            return []
        place = self.behind()
        return [Segment(PT_LOAD, PF_R | PF_W, 0, place, place, 0, self.room.size, PAGE)]


def _segment(kind: int, flags: int, start: int, end: int, align: int) -> Segment:
    return Segment(kind, flags, start, start, start, end - start, end - start, align)
