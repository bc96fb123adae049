"""What goes into a library: the sections of all objects by what may be done to them, and names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ...errors import CompileError
from ...runtime.elf import (
    SHF_EXECINSTR,
    SHF_MERGE,
    SHF_TLS,
    SHF_WRITE,
    SHT_FINI_ARRAY,
    SHT_GROUP,
    SHT_INIT_ARRAY,
    SHT_NOTE,
    SHT_PREINIT_ARRAY,
    STB_WEAK,
)
from .elf import Object, ObjectSymbol, Relocation, Section

SHT_X86_64_UNWIND = 0x70000001
_DROPPED = (".eh_frame", ".note.", ".comment", ".llvm", ".gcc_except_table", ".debug")
_RUNS_AT_LOADING = (SHT_INIT_ARRAY, SHT_FINI_ARRAY, SHT_PREINIT_ARRAY)


class SectionGroup(Enum):
    """What may be done to a section; the value is its name in the library."""

    CONSTANTS = ".rodata"
    CODE = ".text"
    ONCE = ".data.rel.ro"


class SectionPlace(NamedTuple):
    """A section of one of the objects."""

    object: int
    section: int


def group_of(section: Section) -> SectionGroup | None:
    """Return where a section goes, or None when a library needs nothing of it."""
    header = section.header
    if not section.is_loaded or section.name.startswith(_DROPPED):
        return None
    if header.type in (SHT_NOTE, SHT_GROUP, SHT_X86_64_UNWIND):
        return None
    if header.type in _RUNS_AT_LOADING or header.flags & SHF_TLS:
        raise CompileError(f"section {section.name!r}: a library runs no code when it is loaded")
    if header.flags & SHF_EXECINSTR:
        return SectionGroup.CODE
    if not header.flags & SHF_WRITE:
        return SectionGroup.CONSTANTS
    if section.name.startswith(".data.rel.ro"):
        return SectionGroup.ONCE
    if header.size:
        raise CompileError(f"section {section.name!r}: a library has no data that is written")
    return None


@dataclass(frozen=True)
class LinkedObjects:
    """All objects of a library, with their names resolved."""

    objects: tuple[Object, ...]
    groups: Mapping[SectionGroup, tuple[SectionPlace, ...]]
    definitions: Mapping[str, tuple[int, ObjectSymbol]]
    """Every global name, with the object that defines it."""
    exports: tuple[str, ...]

    @classmethod
    def of(cls, data: Sequence[bytes], tag: str) -> LinkedObjects:
        """Read objects; names that begin with `tag` and an underscore are exported."""
        objects = tuple(Object.read(each) for each in data)
        groups: dict[SectionGroup, list[SectionPlace]] = {group: [] for group in SectionGroup}
        for number, each in enumerate(objects):
            for index, section in enumerate(each.sections):
                group = group_of(section)
                if group is not None:
                    groups[group].append(SectionPlace(number, index))
        definitions = define(objects)
        return cls(
            objects,
            {group: tuple(places) for group, places in groups.items()},
            definitions,
            tuple(name for name in definitions if name.startswith(f"{tag}_")),
        )

    def section(self, place: SectionPlace) -> Section:
        """Return the section at `place`."""
        return self.objects[place.object].sections[place.section]

    def relocations(self) -> Iterator[tuple[SectionPlace, Relocation]]:
        """Give every relocation in the sections that are kept."""
        for places in self.groups.values():
            for place in places:
                for each in self.objects[place.object].relocations.get(place.section, ()):
                    yield place, each

    def symbol(self, place: SectionPlace, relocation: Relocation) -> ObjectSymbol:
        """Return what a relocation refers to."""
        return self.objects[place.object].symbols[relocation.symbol]

    def wanted(self) -> tuple[str, ...]:
        """Return the names that are used and that no object defines, in order."""
        used = (self.symbol(place, each) for place, each in self.relocations())
        names = {symbol.name: None for symbol in used if symbol.is_wanted}
        return tuple(name for name in names if name not in self.definitions)

    def can_share(self, place: SectionPlace) -> bool:
        """Say whether an equal section of another object may stand for this one."""
        relocations = self.objects[place.object].relocations
        merges = self.section(place).header.flags & SHF_MERGE
        return bool(merges) and place.section not in relocations


def define(objects: Sequence[Object]) -> dict[str, tuple[int, ObjectSymbol]]:
    """Return the definition of every global name; two are an error, unless all but one are weak."""
    found: dict[str, tuple[int, ObjectSymbol]] = {}
    for number, each in enumerate(objects):
        for symbol in each.symbols:
            if not symbol.is_global:
                continue
            _, old = found.get(symbol.name, (0, None))
            if old is None or old.binding == STB_WEAK:
                found[symbol.name] = number, symbol
            else:
                assert symbol.binding == STB_WEAK, f"{symbol.name!r} is defined twice"
    return found
