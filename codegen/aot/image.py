"""A file under construction: bytes that lie in the file as in memory, cut into sections."""

from __future__ import annotations

from dataclasses import replace

from ...runtime.elf import PAGE, SHT_PROGBITS, SHT_STRTAB, SectionHeader, Strings, section_table

PLAIN = SectionHeader(type=SHT_PROGBITS)
"""The header of a section that holds just bytes."""


class Image:
    """The bytes so far, and the headers of the sections in them."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.names: list[str] = [""]
        self.headers: list[SectionHeader] = [SectionHeader()]

    def add(
        self,
        name: str,
        flags: int,
        content: bytes | int,
        align: int = 1,
        more: SectionHeader = PLAIN,
    ) -> int:
        """Append a section, of these bytes or of this many zeros, and return where it lies.

        `more` gives the other fields of its header. An empty section gets no header.
        """
        data = bytes(content)
        self.align(align)
        where = len(self.data)
        if data:
            address = where if flags else 0
            header = replace(
                more, flags=flags, address=address, offset=where, size=len(data), align=align
            )
            self.names.append(name)
            self.headers.append(header)
        self.data += data
        return where

    def fill(self, name: str, content: bytes) -> None:
        """Give the section `name` the bytes it was made for."""
        header = self.header(name)
        assert len(content) == header.size, f"section {name!r} was laid out with another size"
        self.data[header.offset : header.offset + header.size] = content

    def align(self, align: int) -> int:
        """Append zeros up to a multiple of `align`, and return where that is."""
        self.data += bytes(-len(self.data) % align)
        return len(self.data)

    def next_page(self) -> int:
        """Begin a new page, and return where."""
        return self.align(PAGE)

    def number(self, name: str) -> int:
        """Return the number of a section, 0 if there is none."""
        return self.names.index(name) if name in self.names else 0

    def header(self, name: str) -> SectionHeader:
        """Return the header of a section, an empty one if there is none."""
        return self.headers[self.number(name)]

    def finish(self, last: tuple[str, SectionHeader] | None = None) -> int:
        """Append the table of sections and return where it begins.

        `last` is a section that begins at the next page, behind the table.
        """
        names = Strings()
        for name in (*self.names, ".shstrtab", *([last[0]] if last else [])):
            names.add(name)
        self.add(".shstrtab", 0, bytes(names.data), more=SectionHeader(type=SHT_STRTAB))
        where = self.align(8)
        if last is not None:
            size = SectionHeader.layout.size * (len(self.headers) + 1)
            page = -(-(where + size) // PAGE) * PAGE
            self.names.append(last[0])
            self.headers.append(replace(last[1], address=page, offset=page))
        self.data += section_table(zip(self.names, self.headers, strict=True), names)
        return where
