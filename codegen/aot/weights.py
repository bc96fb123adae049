"""The weights of a model as one run of bytes that is never whole in memory unless it was before."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ...lazy import cached_property
from ...runtime.container import WeightsHeader, digest_of
from ...runtime.elf import PAGE
from ...runtime.files import replacing

Buffer: TypeAlias = Any
"""Bytes, or an array of bytes."""


@dataclass(frozen=True)
class Weights:
    """Constants of a model: their bytes can be read again and again, piece by piece."""

    size: int
    chunks: Callable[[], Iterable[Buffer]]

    @classmethod
    def of(cls, *buffers: Buffer) -> Weights:
        """Return the buffers one after the other."""
        views = [memoryview(buffer).cast("B") for buffer in buffers]
        return cls(sum(view.nbytes for view in views), lambda: views)

    @classmethod
    def placed(cls, size: int, pieces: Mapping[int, Callable[[], Buffer]]) -> Weights:
        """Return `size` bytes with pieces at offsets, and zeros between; each is made when read."""
        return cls(size, lambda: _placed(size, pieces))

    @cached_property
    def digest(self) -> bytes:
        """Return the SHA-256 of the bytes."""
        return digest_of(self.chunks())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file of weights that a model compiled without them can be loaded with."""
        with replacing(path) as file:
            file.seek(PAGE)
            digest = digest_of(self.chunks(), file.write)
            assert file.tell() == PAGE + self.size, "weights of another size than was said"
            file.seek(0)
            file.write(WeightsHeader(size=self.size, digest=digest).pack())
        vars(self)["digest"] = digest  # so that it is not computed again


def _placed(size: int, pieces: Mapping[int, Callable[[], Buffer]]) -> Iterator[Buffer]:
    """Give the pieces in the order of their offsets, with zeros between."""
    at = 0
    for offset in sorted(pieces):
        assert offset >= at, "weights that overlap"
        yield bytes(offset - at)
        piece = memoryview(pieces[offset]()).cast("B")
        yield piece
        at = offset + piece.nbytes
    assert at <= size, "weights that reach over the end"
    yield bytes(size - at)


def weights_symbol(tag: str) -> str:
    """Return the name that a model's code knows its embedded weights by."""
    return f"{tag}.weights"
