"""Link objects and weights into a shared library, without a linker.

    read-only      headers, notes, hash tables, dynamic symbols, constants, manifest
    executable     code
    written once   pointers to constants, dynamic section, addresses of imports
    not loaded     symbols for debuggers and profilers (see `debug`), section headers
    weights        last, from a page of their own, of any size
    room           not in the file: where weights are laid out that the file has as they were given

Everything lies at the same place in the file as in memory. Only names that begin with the tag
are exported. Unless `libraries` are named nothing may be imported. There is no data that stays
writable and no code that runs at loading, but for a room and what fills it; no thread-local
storage. The bytes depend on nothing but the arguments.
"""

from __future__ import annotations

import io
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import BinaryIO

from ...errors import CompileError
from ...runtime.container import EMBEDDED, Seal, digest_of
from ...runtime.elf import EM_X86_64, MACHINES
from ...runtime.files import replacing
from .debug import KernelNote
from .linker import Linker, Room
from .program import LinkedObjects
from .relocate import GOT_SYMBOL
from .weights import Weights, weights_symbol


@dataclass(frozen=True)
class Library:
    """A shared library, ready to be written."""

    head: bytes
    """All but the weights, with an empty note for the seal."""
    note: int
    """Where that note is."""
    seal: Seal
    """What it is to say; the digests may still be missing."""
    weights: Weights | None
    """The weights that are to stand in the file."""

    def write(self, file: BinaryIO) -> None:
        """Write the library to a file that can seek; weights pass through in pieces."""
        seal = self.seal
        if self.weights is not None:
            file.seek(seal.weights_offset)
            digest = digest_of(self.weights.chunks(), file.write)
            assert file.tell() == seal.file_size, "weights of another size than was said"
            file.seek(0)
            seal = replace(seal, weights_digest=digest)
        file.write(seal.stamp(self.head, self.note))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the library to `path`, which is replaced when all is done."""
        with replacing(path, mode=0o755) as file:
            self.write(file)

    def tobytes(self) -> bytes:
        """Return the whole file."""
        file = io.BytesIO()
        self.write(file)
        return file.getvalue()


@dataclass(frozen=True)
class More:
    """What few libraries have besides code and weights."""

    notes: Mapping[str, KernelNote] = field(default_factory=dict)
    """What debuggers and profilers are told of kernels, by the names of these."""
    room: Room | None = None
    """Where the weights are laid out at loading, and by what."""


def link(
    objects: Sequence[bytes],
    tag: str,
    *,
    weights: Weights | None = None,
    embed: bool = True,
    libraries: Sequence[str] = (),
    more: More = More(),
) -> Library:
    """Make a library of objects, one of which defines the manifest.

    Objects find embedded weights under the name `weights_symbol(tag)`. Weights that are not
    embedded leave only their size and digest, by which the file that holds them is known.
    `libraries` are those that functions may be imported from, such as `libm.so.6`.
    """
    program = LinkedObjects.of(objects, tag)
    _check_machine(program)
    inside = weights if embed else None
    known = {GOT_SYMBOL} if inside is None else {GOT_SYMBOL, weights_symbol(tag)}
    known |= set() if more.room is None else {more.room.name}
    imports = [name for name in program.wanted() if name not in known]
    if imports and not libraries:
        raise CompileError(f"functions that no object defines: {', '.join(imports)}")
    size = inside.size if inside is not None else 0
    where = weights_symbol(tag), size, more.room
    linker = Linker(program, imports, libraries, *where, tag, more.notes)
    head, note = linker.link()
    manifest = f"{tag}_manifest"
    _, symbol = program.definitions[manifest]
    seal = Seal(
        flags=0 if inside is None else EMBEDDED,
        head_size=len(head),
        manifest_offset=linker.address(manifest),
        manifest_size=symbol.entry.size - 1,  # without the zero at its end
        weights_size=weights.size if weights is not None else 0,
        weights_digest=weights.digest if weights is not None and not embed else bytes(32),
    )
    return Library(bytes(head), note, seal, inside)


def _check_machine(program: LinkedObjects) -> None:
    """Refuse objects for machines that only a linker can make libraries for."""
    for each in program.objects:
        if each.header.machine != EM_X86_64:
            machine = MACHINES.get(each.header.machine, each.header.machine)
            raise CompileError(
                f"no shared libraries for {machine}",
                hint="write an object (.o) or an archive (.a) and link it there",
            )
