"""Open the files that a model names, and only those that lie beside it.

A model file is data from outside: what it calls "my weights" may be `../secret`, a link, a
pipe or a device. Such a name is followed one part at a time from the model's folder, never
through a link, and must end at a regular file that has no second name.
"""

from __future__ import annotations

import mmap
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from ...codegen.cache import default_cache
from ...codegen.digests import Stamp, remembered
from ...errors import InputError, ParseError

Bytes = np.ndarray[Any, np.dtype[np.uint8]]

_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True)
class Noted:
    """A file that a model named."""

    path: Path
    before: Stamp | None
    """What it was known by before it was mapped."""
    data: Bytes

    def said(self, kind: str, make: Callable[[], str]) -> str:
        """Return the digest that `make` takes of it: it is remembered until the file changes."""
        if self.before is None:
            return make()

        def again() -> list[Stamp | None]:
            return [Stamp.of(self.path)]

        return remembered([self.before], again, make, default_cache(), kind)


_NOTES: ContextVar[dict[str, Noted] | None] = ContextVar("notes", default=None)


@contextmanager
def noting() -> Iterator[dict[str, Noted]]:
    """Give what will hold the files that models name while this is open, by location."""
    found: dict[str, Noted] = {}
    token = _NOTES.set(found)
    try:
        yield found
    finally:
        _NOTES.reset(token)


def map_beside(directory: Path, location: str) -> Bytes:
    """Return the bytes of a file inside `directory`, mapped; raise `ParseError` with the reason."""
    return note_beside(directory, location).data


def note_beside(directory: Path, location: str) -> Noted:
    """Return a file inside `directory`, mapped; raise `ParseError` with the reason."""
    parts = _parts(location)
    path = directory / location
    before = Stamp.of(path)
    with _opened(os.open(directory, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)) as top:
        data = _map_from(top, parts, location)
    made = Noted(path, before, data)
    if (notes := _NOTES.get()) is not None:
        notes[location] = made
    return made


def map_file(path: Path) -> Bytes:
    """Return the bytes of a file that the user named, mapped where it is a regular file.

    One that cannot be read is an `InputError`.
    """
    try:
        with path.open("rb") as file:
            if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                return np.frombuffer(file.read(), np.uint8)
            return _map(file.fileno())
    except OSError as error:
        raise InputError(f"cannot read: {_reason(error)}", location=str(path)) from error


def _parts(location: str) -> tuple[str, ...]:
    if not location or "\0" in location:
        raise ParseError(f"file name {location!r} is empty or has a NUL")
    path = PurePosixPath(location)
    if path.is_absolute() or ".." in path.parts or "\\" in location:
        raise ParseError(f"file {location!r} is not inside the model's folder")
    if not path.parts:
        raise ParseError(f"file {location!r} is a folder")
    return path.parts


def _map_from(top: int, parts: tuple[str, ...], location: str) -> Bytes:
    """Follow the parts from an open folder without following links."""
    folder = top
    opened: list[int] = []
    try:
        for part in parts[:-1]:
            folder = os.open(part, _OPEN | os.O_DIRECTORY, dir_fd=folder)
            opened.append(folder)
        opened.append(os.open(parts[-1], _OPEN, dir_fd=folder))
        _refuse_irregular(os.fstat(opened[-1]), location)
        return _map(opened[-1])
    except OSError as error:
        raise ParseError(f"cannot open file {location!r}: {_reason(error)}") from error
    finally:
        for descriptor in opened:
            os.close(descriptor)


def _refuse_irregular(found: os.stat_result, location: str) -> None:
    if not stat.S_ISREG(found.st_mode):
        raise ParseError(f"{location!r} is not a regular file")
    if found.st_nlink != 1:
        raise ParseError(f"file {location!r} has {found.st_nlink} names, expected one (hard links)")


def _map(descriptor: int) -> Bytes:
    if not os.fstat(descriptor).st_size:
        return np.empty(0, np.uint8)
    return np.frombuffer(mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ), np.uint8)


@contextmanager
def _opened(descriptor: int) -> Iterator[int]:
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _reason(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "there is no such file"
    if error.errno in _LINK:
        return "it is a link, or a part of its path is none or a link"
    return (error.strerror or type(error).__name__).lower()


_LINK = {40, 20}
"""ELOOP and ENOTDIR, which O_NOFOLLOW gives for a link to a file and to a folder."""
