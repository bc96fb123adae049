"""Fill in addresses: the relocations of x86-64, for code that may be loaded anywhere."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from ...errors import CompileError
from ...runtime.elf import SHN_LORESERVE, RelaEntry
from .elf import Relocation
from .program import LinkedObjects, SectionGroup, SectionPlace

R_64, R_PC32, R_PLT32, R_GOTPCREL = 1, 2, 4, 9
R_PC64, R_GOTOFF64, R_GOTPC32, R_GOTPC64 = 24, 25, 26, 29
R_GOTPCRELX, R_REX_GOTPCRELX = 41, 42
R_GLOB_DAT, R_RELATIVE = 6, 8
GOT_SYMBOL = "_GLOBAL_OFFSET_TABLE_"
THROUGH_GOT = (R_GOTPCREL, R_GOTPCRELX, R_REX_GOTPCRELX)
LOAD, ADDRESS = 0x8B, 0x8D
"""The opcodes of `mov register, [address]` and `lea register, [address]`."""

JUMP = b"\xff\x25"
"""The first bytes of `jmp [address]`, which calls to an import go through."""
STUB_SIZE = 8


@dataclass(frozen=True)
class Addresses:
    """Where everything lies in the library."""

    sections: Mapping[SectionPlace, int]
    names: Mapping[str, int]
    """All global names, and the weights."""
    got: int
    imports: Mapping[str, int]
    """The number of each import; its address is in that entry of the table at `got`."""
    stubs: int
    """Where the jumps to the imports lie, in the order of their numbers."""

    def entry(self, name: str) -> int:
        """Return where the address of an import stands."""
        return self.got + 8 * self.imports[name]

    def stub(self, name: str) -> int:
        """Return where the jump to an import stands."""
        return self.stubs + STUB_SIZE * self.imports[name]


def needs_pointer(relocation: Relocation) -> bool:
    """Say whether the dynamic linker has to add the library's address at loading."""
    return relocation.type == R_64


@dataclass
class Relocator:
    """Writes addresses into an image of the library."""

    program: LinkedObjects
    addresses: Addresses
    image: bytearray
    dynamic: list[RelaEntry] = field(default_factory=list)
    """What remains for the dynamic linker."""

    def run(self) -> None:
        """Do everything: sections, jumps to imports, and what remains for later."""
        for place, relocation in self.program.relocations():
            self.apply(place, relocation)
        self.dynamic.sort(key=lambda each: each.offset)
        for name, number in self.addresses.imports.items():
            stub, entry = self.addresses.stub(name), self.addresses.entry(name)
            self.image[stub : stub + 2] = JUMP
            self.put("<i", stub + 2, entry - stub - 6)
            self.dynamic.append(RelaEntry(entry, R_GLOB_DAT | number + 1 << 32, 0))

    def apply(self, place: SectionPlace, relocation: Relocation) -> None:
        """Write one address."""
        write = _WRITERS.get(relocation.type)
        if write is None:
            name = self.program.section(place).name
            raise CompileError(f"section {name!r}: relocation {relocation.type} cannot be linked")
        write(self, place, relocation, self.addresses.sections[place] + relocation.offset)

    def put(self, layout: str, where: int, value: int) -> None:
        """Write a number."""
        try:
            struct.pack_into(layout, self.image, where, value)
        except struct.error as error:
            raise CompileError("a library of more than 2 GB of code and constants") from error

    def target(self, place: SectionPlace, relocation: Relocation) -> int | None:
        """Return the address of what a relocation refers to, None if it is imported."""
        symbol = self.program.symbol(place, relocation)
        if 0 < symbol.section < SHN_LORESERVE:
            return self.addresses.sections[place._replace(section=symbol.section)] + (
                symbol.entry.value
            )
        if symbol.name == GOT_SYMBOL:
            return self.addresses.got
        return self.addresses.names.get(symbol.name)

    def name(self, place: SectionPlace, relocation: Relocation) -> str:
        """Return the name of what a relocation refers to."""
        return self.program.symbol(place, relocation).name

    def absolute(self, place: SectionPlace, relocation: Relocation, where: int) -> None:
        """Leave a pointer for the dynamic linker to move."""
        target = self.target(place, relocation)
        assert target is not None, "the address of an import in constants"
        assert place in self.program.groups[SectionGroup.ONCE], (
            "a pointer in data that is never written"
        )
        self.dynamic.append(RelaEntry(where, R_RELATIVE, target + relocation.addend))

    def relative(self, place: SectionPlace, relocation: Relocation, where: int) -> None:
        """Write a distance of 32 bits, to the jump of an import if need be."""
        target = self.target(place, relocation)
        if target is None:
            target = self.addresses.stub(self.name(place, relocation))
        self.put("<i", where, target + relocation.addend - where)

    def relative_long(self, place: SectionPlace, relocation: Relocation, where: int) -> None:
        """Write a distance of 64 bits."""
        target = self.target(place, relocation)
        assert target is not None, "a distance to an import"
        self.put("<q", where, target + relocation.addend - where)

    def through_table(self, place: SectionPlace, relocation: Relocation, where: int) -> None:
        """Let code load an import's address; of our own names it computes the address."""
        target = self.target(place, relocation)
        if target is None:
            entry = self.addresses.entry(self.name(place, relocation))
            self.put("<i", where, entry + relocation.addend - where)
            return
        assert self.image[where - 2] == LOAD, "a use of the address table that is not a load"
        self.image[where - 2] = ADDRESS
        self.put("<i", where, target + relocation.addend - where)

    def from_table(self, place: SectionPlace, relocation: Relocation, where: int) -> None:
        """Write a distance from the table of addresses."""
        target = self.target(place, relocation)
        assert target is not None, "a distance to an import"
        self.put("<q", where, target + relocation.addend - self.addresses.got)


_WRITERS: Mapping[int, Callable[[Relocator, SectionPlace, Relocation, int], None]] = {
    R_64: Relocator.absolute,
    R_PC32: Relocator.relative,
    R_PLT32: Relocator.relative,
    R_GOTPC32: Relocator.relative,
    R_PC64: Relocator.relative_long,
    R_GOTPC64: Relocator.relative_long,
    R_GOTOFF64: Relocator.from_table,
    **dict.fromkeys(THROUGH_GOT, Relocator.through_table),
}
