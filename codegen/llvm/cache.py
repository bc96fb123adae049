"""Keep objects on disk, by the content they were made from.

A file is found under the hash of its key (the LLVM text or what stands for it, the target, the
versions), and holds the hash of its own content: what is cut short or changed is deleted and
made anew. Files are written aside and renamed, so that readers and writers in any number of
processes need no lock. A folder that cannot be written turns the cache off with one warning.

The folder is $GRAVURE_CACHE, or gravure/ in $XDG_CACHE_HOME or ~/.cache; GRAVURE_CACHE=off means
no cache.
"""

from __future__ import annotations

import hashlib
import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from llvmlite import __version__ as llvmlite_version

from ...target import Target

FORMAT = 1
"""Counted up when what is kept under a key, or the emitter's conventions, change meaning."""

COMPILER = ("codegen", "ir", "passes")
"""The folders whose code decides what is made."""

SUFFIX = ".object"
_DIGEST = hashlib.sha256().digest_size
_STALE = 3600.0


@dataclass(frozen=True)
class Entry:
    """One kept object."""

    path: Path
    size: int


class Cache:
    """A folder of objects; `folder` None is a cache that keeps nothing."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder

    def get(self, key: str) -> bytes | None:
        """Return what was kept under a key of `key_of`, or None."""
        if self.folder is None:
            return None
        path = self.folder / (key + SUFFIX)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._turn_off(error)
            return None
        digest, content = data[:_DIGEST], data[_DIGEST:]
        if hashlib.sha256(content).digest() == digest:
            return content
        path.unlink(missing_ok=True)
        return None

    def put(self, key: str, content: bytes) -> None:
        """Keep an object."""
        if self.folder is None:
            return
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._write(self.folder / (key + SUFFIX), hashlib.sha256(content).digest() + content)
        except OSError as error:
            self._turn_off(error)

    def get_or_make(self, key: str, make: Callable[[], bytes]) -> bytes:
        """Return what was kept under a key, made and kept now if there is nothing."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found)
        return found

    def entries(self) -> Iterator[Entry]:
        """Return the kept objects, by name."""
        if self.folder is not None and self.folder.is_dir():
            for path in sorted(self.folder.glob("*" + SUFFIX)):
                yield Entry(path, path.stat().st_size)

    def size(self) -> int:
        """Return the bytes that all kept objects take."""
        return sum(entry.size for entry in self.entries())

    def clear(self) -> int:
        """Delete all kept objects, and return how many there were."""
        found = list(self.entries())
        for entry in found:
            entry.path.unlink(missing_ok=True)
        if self.folder is not None:
            _sweep(self.folder, older_than=0.0)
        return len(found)

    def _write(self, path: Path, data: bytes) -> None:
        """Write a file so that others see all of it or nothing."""
        handle, aside = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
            Path(aside).replace(path)
        except BaseException:
            Path(aside).unlink(missing_ok=True)
            raise

    def _turn_off(self, error: OSError) -> None:
        warnings.warn(
            f"no object cache: {self.folder}: {error.strerror or error}", RuntimeWarning, 3
        )
        self.folder = None


def _sweep(folder: Path, older_than: float = _STALE) -> None:
    """Delete files that were being written by processes that were killed."""
    if not folder.is_dir():
        return
    now = time.time()
    for path in folder.glob("*.tmp"):
        if path.exists() and now - path.stat().st_mtime >= older_than:
            path.unlink(missing_ok=True)


def default_folder() -> Path | None:
    """Return the folder that the environment asks for, None for no cache."""
    asked = os.environ.get("GRAVURE_CACHE", "")
    if asked == "off":
        return None
    if asked:
        return Path(asked).expanduser()
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base:
        return Path(base) / "gravure"
    home = os.environ.get("HOME", "")
    return Path(home) / ".cache" / "gravure" if home else None


_OPEN: dict[Path | None, Cache] = {}


def default_cache() -> Cache:
    """Return the cache of this process."""
    folder = default_folder()
    found = _OPEN.get(folder)
    if found is None:
        found = _OPEN[folder] = Cache(folder)
        if folder is not None:
            _sweep(folder)
    return found


@lru_cache(maxsize=1)
def compiler_stamp() -> str:
    """Return a text that is another when the compiler's own files are others.

    A kernel is kept under what it computes, not under its loops; so an object that an older
    template made must not be found by a newer one. Sizes and times of the files tell.
    """
    root = Path(__file__).resolve().parents[2]
    paths = sorted(path for name in COMPILER for path in (root / name).rglob("*.py"))
    rows = [(str(path.relative_to(root)), path.stat()) for path in paths]
    return str([(name, found.st_size, found.st_mtime_ns) for name, found in rows])


def key_of(source: str, target: Target) -> str:
    """Return the key of the object made for `target` of `source`.

    `source` is the LLVM text, or anything else that decides it together with the target.
    """
    parts = (str(FORMAT), llvmlite_version, compiler_stamp(), target.key, source)
    hashed = hashlib.sha256()
    for part in parts:
        data = part.encode()
        hashed.update(len(data).to_bytes(8, "little"))
        hashed.update(data)
    return hashed.hexdigest()
