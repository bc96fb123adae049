"""How an artefact shows that it is whole, before any of it is run: the seal and what it covers.

    head     ELF headers, notes, code, manifest     its digest is in the seal, one of the notes
    weights  from the next page to the end          its digest is in the seal as well

The digest of the head is taken with the digest itself left zero. Weights in a file of their own
have a header of one page that repeats their digest, so that the wrong file is noticed at once.
Weights are compared with their digest when a model is loaded: reading takes a second for each
gigabyte. Where the compiler is there, too, it remembers which files were found to be whole, and
they are read again only when they have changed (`WHOLE`).
The digests find accidents; they do not say who made an artefact, and loading one runs its code.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import struct
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Protocol

from ..errors import Advice, ArtifactError
from .artifact import round_up
from .elf import ET_DYN, MACHINES, MAGIC, PAGE, PT_NOTE, Header, Record, Segment

OWNER = b"gravure\0"
SEAL_TYPE = 1
FORMAT = 2
"""Counts the versions of this layout and of the C interface behind it."""
EMBEDDED = 1
"""The flag of a seal whose file holds the weights too."""
FEW = 4 << 20
"""Bytes of weights that are read each time: that takes no longer than to look what is known."""
PIECE = 1 << 24
"""How many bytes are read at once."""
REBUILD = "compile the model again"

NOTE = struct.Struct("<III")


class Once(Protocol):
    """Remembers of open files what was found in them."""

    def __call__(self, descriptor: int, digest: bytes, check: Callable[[], None]) -> None:
        """Call `check`, unless it is known that a file as this one is now has passed it."""


@dataclass
class WholeFiles:
    """How the weights in files are compared with their digest."""

    once: Once = lambda descriptor, digest, check: check()
    """Who can remember files puts itself here."""


WHOLE = WholeFiles()


class Data(Protocol):
    """Bytes that can be read anywhere: a file, or memory."""

    def __call__(self, offset: int, size: int) -> bytes:
        """Return at most `size` bytes from `offset`."""


@dataclass(frozen=True)
class Seal(Record):
    """What the note of an artefact holds."""

    layout: ClassVar[struct.Struct] = struct.Struct("<IIQQQQ32s32s")
    format: int = FORMAT
    flags: int = 0
    head_size: int = 0
    manifest_offset: int = 0
    manifest_size: int = 0
    weights_size: int = 0
    weights_digest: bytes = bytes(32)
    digest: bytes = bytes(32)

    @property
    def has_weights(self) -> bool:
        """Say whether the weights are in the same file."""
        return bool(self.flags & EMBEDDED)

    @property
    def weights_offset(self) -> int:
        """Return where the weights begin in the file."""
        return round_up(self.head_size, PAGE)

    @property
    def file_size(self) -> int:
        """Return the bytes of the whole file."""
        return self.weights_offset + self.weights_size if self.has_weights else self.head_size

    def note(self) -> bytes:
        """Return the seal as a note of an ELF file."""
        body = self.pack()
        return NOTE.pack(len(OWNER), len(body), SEAL_TYPE) + OWNER + body

    def stamp(self, head: bytes, place: int) -> bytes:
        """Return a head with this seal in the note at `place`, and with its digest in it."""
        data = bytearray(head)
        note = self.note()
        data[place : place + len(note)] = note
        end = place + len(note)
        data[end - 32 : end] = head_digest(data, place)
        return bytes(data)


DIGEST_IN_NOTE = NOTE.size + len(OWNER) + Seal.layout.size - 32


@dataclass(frozen=True)
class Sealed:
    """An artefact whose head was found to be whole."""

    seal: Seal
    manifest: dict[str, Any]
    head: bytes


def unseal(read: Data, size: int, location: str, *, foreign: bool = False) -> Sealed:
    """Check an artefact of `size` bytes, and return what it says about itself.

    `foreign` says that it may be for another machine.
    """
    try:
        return _unseal(read, size, foreign=foreign)
    except ArtifactError as error:
        raise ArtifactError(error.message, location=location, hint=error.hint) from None
    except (struct.error, ValueError, IndexError) as error:
        raise ArtifactError("the file is damaged", location=location, hint=REBUILD) from error


def _unseal(read: Data, size: int, *, foreign: bool) -> Sealed:
    header = _check_header(read(0, Header.layout.size))
    made_for = MACHINES.get(header.machine, f"machine {header.machine}")
    if made_for != platform.machine() and not foreign:
        raise ArtifactError(
            f"made for {made_for}, and this machine is {platform.machine()}",
            hint=Advice(f'{REBUILD} with target="native"', f"{REBUILD} with --target native"),
        )
    offset = _find_seal(read, header)
    seal = Seal.unpack(read(offset + NOTE.size + len(OWNER), Seal.layout.size))
    if seal.format != FORMAT:
        raise ArtifactError(f"format {seal.format} of artefact, expected {FORMAT}", hint=REBUILD)
    if size != seal.file_size:
        kind = "cut short" if size < seal.file_size else "too long"
        raise ArtifactError(
            f"the file is {kind}: {size} bytes, expected {seal.file_size}", hint=REBUILD
        )
    head = read(0, seal.head_size)
    if head_digest(head, offset) != seal.digest:
        raise ArtifactError("the file was changed: its digest does not match", hint=REBUILD)
    text = head[seal.manifest_offset : seal.manifest_offset + seal.manifest_size]
    return Sealed(seal, json.loads(text), head)


def _check_header(data: bytes) -> Header:
    """Return the header of a file that is an ELF library."""
    if data[:4] != MAGIC:
        found = repr(data[:4])[1:] if data else "an empty file"
        raise ArtifactError(f"not a compiled model: {found}, expected an ELF library")
    if len(data) < Header.layout.size:
        raise ArtifactError(f"the file is cut short: {len(data)} bytes", hint=REBUILD)
    if data[4] != 2 or data[5] != 1:
        raise ArtifactError("not a 64-bit little-endian ELF file", hint=REBUILD)
    header = Header.unpack(data)
    if header.type != ET_DYN:
        raise ArtifactError(
            f"an ELF file of type {header.type}, expected a shared library ({ET_DYN})",
            hint="objects and archives are for a linker; compile to a file that ends in .so",
        )
    return header


def _find_seal(read: Data, header: Header) -> int:
    """Return where the note of the seal begins."""
    if header.program_size != Segment.layout.size or header.program_count > 64:
        raise ArtifactError("not a library that gravure made: unusual program headers")
    table = read(header.program_offset, header.program_count * Segment.layout.size)
    for index in range(header.program_count):
        program = Segment.unpack(table, index * Segment.layout.size)
        if program.type != PT_NOTE or program.file_size > PAGE:
            continue
        for place, owner, kind in _notes(read(program.offset, program.file_size)):
            if owner == OWNER and kind == SEAL_TYPE:
                return program.offset + place
    raise ArtifactError("not a library that gravure made: it has no seal")


def _notes(data: bytes) -> Iterator[tuple[int, bytes, int]]:
    """Give place, owner and type of each note."""
    place = 0
    while place + NOTE.size <= len(data):
        owner_size, body_size, kind = NOTE.unpack_from(data, place)
        yield place, data[place + NOTE.size : place + NOTE.size + owner_size], kind
        place += NOTE.size + round_up(owner_size, 4) + round_up(body_size, 4)


def head_digest(head: bytes | bytearray, note: int) -> bytes:
    """Return the digest of a head whose seal is in the note at `note`, with the digest left out."""
    place = note + DIGEST_IN_NOTE
    total = hashlib.sha256(memoryview(head)[:place])
    total.update(bytes(32))
    total.update(memoryview(head)[place + 32 :])
    return total.digest()


@dataclass(frozen=True)
class WeightsHeader(Record):
    """The first bytes of a file of weights; the weights begin at the next page."""

    layout: ClassVar[struct.Struct] = struct.Struct("<8sQ32s")
    magic: bytes = b"GVWGHT01"
    size: int = 0
    digest: bytes = bytes(32)


def check_weights_file(read: Data, size: int, seal: Seal, location: str) -> int:
    """Return where the weights begin in a file that belongs to the artefact with this seal."""
    data = read(0, WeightsHeader.layout.size)
    if data[:8] != WeightsHeader.magic or len(data) < WeightsHeader.layout.size:
        raise ArtifactError("not a file of weights", location=location)
    header = WeightsHeader.unpack(data)
    if (header.size, header.digest) != (seal.weights_size, seal.weights_digest):
        raise ArtifactError(
            f"weights of another model: {header.size} bytes with digest {header.digest.hex()[:12]},"
            f" expected {seal.weights_size} with {seal.weights_digest.hex()[:12]}",
            location=location,
            hint="give the file that was written together with the library",
        )
    if size != PAGE + header.size:
        raise ArtifactError(
            f"the weights are not whole: {size} bytes, expected {PAGE + header.size}",
            location=location,
        )
    return PAGE


def check_open(source: int | bytes, start: int, seal: Seal, location: str) -> None:
    """Compare the weights that begin at `start` with the digest in the seal.

    What is known to be whole is not read again.
    """
    read, _ = reader(source)
    places = range(start, start + seal.weights_size, PIECE)

    def check() -> None:
        pieces = (read(at, min(PIECE, start + seal.weights_size - at)) for at in places)
        check_weights(pieces, seal, location)

    if isinstance(source, bytes) or seal.weights_size <= FEW:
        check()
    else:
        WHOLE.once(source, seal.weights_digest, check)


def check_weights(chunks: Iterable[Any], seal: Seal, location: str) -> None:
    """Read all weights and compare them with the digest in the seal."""
    if digest_of(chunks) != seal.weights_digest:
        raise ArtifactError(
            "the weights were changed: their digest does not match", location=location, hint=REBUILD
        )


def digest_of(chunks: Iterable[Any], each: Callable[[Any], object] | None = None) -> bytes:
    """Return the digest of buffers one after the other, calling `each` with every one of them."""
    total = hashlib.sha256()
    for chunk in chunks:
        total.update(chunk)
        if each is not None:
            each(chunk)
    return total.digest()


def reader(source: int | bytes) -> tuple[Data, int]:
    """Return how to read an open file or bytes, and how many bytes there are."""
    if isinstance(source, bytes):
        data = source
        return lambda offset, size: data[offset : offset + size], len(data)
    file, total = source, os.fstat(source).st_size
    return lambda offset, size: os.pread(file, size, min(offset, total)), total
