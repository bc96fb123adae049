"""Load an artefact: check that it is whole and for this machine, and only then map its code.

Note [Names of libraries]. The dynamic linker takes a file for one that it knows when the name is
the same, even if another file has that name by now: a model compiled again would be the old one.
So each is loaded through the descriptor it was checked by, under a path that is never used twice.
What is only in memory is written to GRAVURE_CODE, if that is set, under a name of its own.
"""

from __future__ import annotations

import _ctypes
import ctypes
import itertools
import mmap
import os
import stat
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import Advice, ArtifactError
from ..knobs import CODE
from .buffer import Array
from .container import Seal, Sealed, check_open, check_weights_file, reader, unseal
from .files import filling, replacing

TICK = 20_000_000
"""Nanoseconds in which the system may give two changes of a file the same time."""
_NUMBERS = itertools.count()
_TYPES: dict[str, Any] = {
    "v": None,
    "i": ctypes.c_int32,
    "l": ctypes.c_int64,
    "d": ctypes.c_double,
    "p": ctypes.c_void_p,
    "s": ctypes.c_char_p,
}


class Library:
    """A loaded artefact; it is unloaded when nothing refers to it any more."""

    def __init__(self, descriptor: int, location: str, *, by_name: bool = False) -> None:
        read, size = reader(descriptor)
        self.location = location
        self.sealed: Sealed = unseal(read, size, location)
        seal = self.sealed.seal
        if seal.has_weights:
            check_open(descriptor, seal.weights_offset, seal, location)
        self.manifest: dict[str, Any] = self.sealed.manifest
        self.tag: str = self.manifest["tag"]
        self._library = _open(descriptor, location, by_name=by_name)
        close = weakref.finalize(self._library, _ctypes.dlclose, self._library._handle)
        close.atexit = False
        self._check_cpu()

    @classmethod
    def load(cls, source: str | os.PathLike[str] | bytes) -> Library:
        """Load a file, or what would be in one."""
        if isinstance(source, bytes | bytearray | memoryview):
            return cls._load_bytes(bytes(source))
        path = os.fspath(source)
        descriptor = open_file(path)
        try:
            return cls(descriptor, path)
        finally:
            os.close(descriptor)

    @classmethod
    def _load_bytes(cls, data: bytes) -> Library:
        folder = CODE.path()
        if folder is not None:
            return cls._load_kept(data, folder)
        descriptor = os.memfd_create("gravure", os.MFD_CLOEXEC)
        try:
            view = memoryview(data)
            with filling("the code in memory"):
                while view:
                    view = view[os.write(descriptor, view) :]
            return cls(descriptor, "<bytes>")
        finally:
            os.close(descriptor)

    @classmethod
    def _load_kept(cls, data: bytes, folder: Path) -> Library:
        """Load a library from a file that stays: profilers and debuggers look into it later."""
        folder.mkdir(parents=True, exist_ok=True)
        path = folder.resolve() / f"gravure-{os.getpid()}-{next(_NUMBERS)}.so"
        with replacing(path) as file:
            file.write(data)
        descriptor = open_file(os.fspath(path))
        try:
            return cls(descriptor, os.fspath(path), by_name=True)
        finally:
            os.close(descriptor)

    def address(self, name: str) -> int | None:
        """Return the address of one of the library's functions, None if it has it not."""
        try:
            function = self._library[f"{self.tag}_{name}"]
        except AttributeError:
            return None
        return ctypes.cast(function, ctypes.c_void_p).value

    def function(self, name: str, types: str) -> Callable[..., Any]:
        """Return one of the functions; `types` has a letter for its result and each argument.

        They are: d(ouble), i(nt32), l(ong), p(ointer), s(tring), v(oid).
        """
        result, *arguments = (_TYPES[letter] for letter in types)
        prototype = ctypes.CFUNCTYPE(result, *arguments)
        try:  # the function keeps the code where it is
            return prototype((f"{self.tag}_{name}", self._library))
        except AttributeError as error:
            raise ArtifactError(f"no function {self.tag}_{name}", location=self.location) from error

    def status(self, number: int) -> str:
        """Return what a status means."""
        text: bytes = self.function("status", "si")(number)
        return text.decode()

    def _check_cpu(self) -> None:
        """Refuse a library whose code this processor cannot run."""
        status = self.function("check_cpu", "i")()
        if status:
            raise ArtifactError(
                self.status(status),
                location=self.location,
                hint=Advice(
                    'compile the model for this machine: target="native"',
                    "compile the model for this machine: --target native",
                ),
            )


def inspect(source: str | os.PathLike[str] | bytes) -> Sealed:
    """Return what an artefact says about itself, after checking that it is whole; run nothing.

    It may be for another machine, and in memory.
    """
    if isinstance(source, bytes):
        return _inspect(source, "<bytes>")
    path = os.fspath(source)
    descriptor = open_file(path)
    try:
        return _inspect(descriptor, path)
    finally:
        os.close(descriptor)


def _inspect(source: int | bytes, location: str) -> Sealed:
    found = unseal(*reader(source), location, foreign=True)
    if found.seal.has_weights:
        check_open(source, found.seal.weights_offset, found.seal, location)
    return found


def open_file(path: str) -> int:
    """Return the descriptor of a file; what cannot be read as one is an `ArtifactError`."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except FileNotFoundError as error:
        raise ArtifactError("no such file", location=path) from error
    except OSError as error:
        raise ArtifactError(f"cannot be read: {error.strerror}", location=path) from error
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise ArtifactError("not a file", location=path)
    return descriptor


def _open(descriptor: int, location: str, *, by_name: bool) -> ctypes.CDLL:
    """Map an open file as a library: see Note [Names of libraries]."""
    number = next(_NUMBERS)
    dots = "".join("/." if number >> bit & 1 else "/" for bit in range(number.bit_length()))
    path = f"/proc/self{dots}/fd/{descriptor}"
    try:
        by_number = not by_name and Path("/proc/self/fd").exists()
        return ctypes.CDLL(path if by_number else location, os.RTLD_NOW)
    except OSError as error:
        raise ArtifactError(f"cannot be loaded: {error}", location=location) from error


def map_weights(path: str, seal: Seal) -> Mapped:
    """Map a file of weights, and check that it belongs to a library."""
    descriptor = open_file(path)
    try:
        read, size = reader(descriptor)
        start = check_weights_file(read, size, seal, path)
        mapped = mmap.mmap(descriptor, size, prot=mmap.PROT_READ)
        file = OpenFile(descriptor, partial(check_open, descriptor, start, seal, path))
    except BaseException:
        os.close(descriptor)
        raise
    return Mapped(np.frombuffer(mapped, np.uint8, offset=start), path, file, size)


class OpenFile:
    """A file that is whole, and is closed when nobody has it any more."""

    def __init__(self, descriptor: int, check: Callable[[], None]) -> None:
        self.descriptor, self._check = descriptor, check
        self._times: tuple[int, int] | None = None
        self.look(os.fstat(descriptor))
        weakref.finalize(self, os.close, descriptor)

    def look(self, found: os.stat_result) -> None:
        """Read the file again if it has changed since that was done."""
        times, now = (found.st_mtime_ns, found.st_ctime_ns), time.time_ns()
        if times != self._times:
            self._check()
            is_fresh = 0 <= now - found.st_ctime_ns < TICK  # it could change and have these times
            self._times = None if is_fresh else times


@dataclass(frozen=True, slots=True)
class Mapped:
    """Weights that lie in a file, which may change and become shorter while they are used.

    The system ends a process that reads behind the end of a file that it has mapped. So the file's
    size and times are looked at before each run, and all of it where these are others. What is put
    in its place by a rename is another file.
    """

    weights: Array
    path: str
    file: OpenFile
    size: int

    def part(self, start: int, end: int) -> Mapped:
        """Return some of the bytes."""
        return replace(self, weights=self.weights[start:end])

    def before(self, call: Callable[..., Any]) -> Callable[..., Any]:
        """Return a function that looks at the file before each call of another one."""

        def called(*arrays: Any) -> Any:
            found = os.fstat(self.file.descriptor)
            if found.st_size < self.size:
                raise ArtifactError(
                    "the weights were cut while the model uses them: "
                    f"{found.st_size} bytes of {self.size}",
                    location=self.path,
                    hint="write a new file, rename it, and give it to set_weights",
                )
            self.file.look(found)
            return call(*arrays)

        return called
