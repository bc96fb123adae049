"""Keep objects on disk, by the content they were made from.

A file is found under the hash of what decides its content (`keys.key_of`). It holds that key, a
line that says what it is, and the hash of all of it: what is cut short, changed, or copied from
another place is deleted and made anew. Files are written aside and renamed, so that readers and
writers in any number of processes need no lock.

What is kept is code that is run, so the folder must be the user's own, and nobody else's to
write. Such a folder, and one that cannot be written, turn the cache off with one warning.

When the files are more than $GRAVURE_CACHE_SIZE, those go that were used the longest ago. The
folder is $GRAVURE_CACHE, or gravure/ in $XDG_CACHE_HOME or ~/.cache; GRAVURE_CACHE=off means no
cache.
"""

from __future__ import annotations

import grp
import hashlib
import os
import pwd
import re
import stat
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from zlib import crc32

from ..errors import GravureError
from ..knobs import CACHE, CACHE_SIZE

SUFFIX = ".object"
DEFAULT_SIZE = 4 << 30
"""Bytes that files may take if nobody says how many."""

_DIGEST = hashlib.sha256().digest_size
_STALE = 3600.0
"""Seconds after which a file that is being written is one that nobody finishes."""

_TOUCH = 60.0
"""Seconds within which a file is noted as used only once."""

_ROOM = 0.9
"""How full the cache is after it was trimmed, so that this is not to be done at each file."""

_SHARE = 64
"""All files are counted by a process that has written the limit divided by this, ..."""

_TURNS = 256
"""... and at one of so many files, told by its key: most processes are short and write little, and
counting takes longer than what they compile."""

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


class CacheError(GravureError):
    """What was said about the cache makes no sense.

    `GRAVURE_CACHE_SIZE` is a number of bytes: `800M`, `4G`; `0` is no limit.
    """

    code = "GV4310"
    exit_status = 2


@dataclass(frozen=True)
class Entry:
    """One kept object."""

    path: Path
    size: int
    made: float
    """When it was written, in seconds since the epoch."""
    used: float
    """When it was last read."""

    @property
    def key(self) -> str:
        """Return what it is kept under."""
        return self.path.name.removesuffix(SUFFIX)

    @property
    def label(self) -> str:
        """Return what it says that it is; nothing if it is damaged or gone."""
        try:
            with self.path.open("rb") as file:
                head = file.read(_DIGEST + 512)
        except FileNotFoundError:
            return ""
        lines = head[_DIGEST:].split(b"\n", 2)
        return lines[1].decode(errors="replace") if len(lines) == 3 else ""


class Cache:
    """A folder of objects; `folder` None is a cache that keeps nothing."""

    def __init__(self, folder: Path | None, limit: int = 0) -> None:
        self.folder = folder
        self.limit = limit
        """Bytes that all files may take; 0 is no limit."""
        self._written = 0
        """Bytes that this process wrote since it counted all files."""
        self._is_known = False
        """Whether the folder was there, and nobody else's to write."""

    def get(self, key: str) -> bytes | None:
        """Return what was kept under a key of `key_of`, or None."""
        folder = self._opened()
        if folder is None:
            return None
        path = folder / (key + SUFFIX)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            self._turn_off(error.strerror or str(error))
            return None
        found = _unpacked(key, data)
        if found is None:
            self._forget(path)
        else:
            _touch(path)
        return found

    def put(self, key: str, content: bytes, label: str = "") -> None:
        """Keep an object; `label` is a line that says what it is."""
        if self.folder is None:
            return
        try:
            if not self._is_known:
                self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            folder = self._opened()
            if folder is None:
                return
            data = _packed(key, label, content)
            self._write(folder / (key + SUFFIX), data)
            if self._is_due(key, len(data)) and self.size() > self.limit:  # others write, too
                self.trim(int(self.limit * _ROOM))
        except OSError as error:
            self._turn_off(error.strerror or str(error))

    def get_or_make(self, key: str, make: Callable[[], bytes], label: str = "") -> bytes:
        """Return what was kept under a key, made and kept now if there is nothing."""
        found = self.get(key)
        if found is None:
            found = make()
            self.put(key, found, label)
        return found

    def entries(self) -> Iterator[Entry]:
        """Return the kept objects, by name."""
        for name, found in sorted(self._files()):
            used = max(found.st_atime, found.st_mtime)
            yield Entry(Path(name), found.st_size, found.st_mtime, used)

    def size(self) -> int:
        """Return the bytes that all kept objects take."""
        return sum(found.st_size for _, found in self._files())

    def clear(self) -> int:
        """Delete all kept objects, and return how many there were."""
        found = list(self.entries())
        for entry in found:
            self._forget(entry.path)
        if self.folder is not None:
            _sweep(self.folder, older_than=0.0)
        return len(found)

    def trim(self, limit: int) -> list[Entry]:
        """Delete what was used the longest ago until `limit` bytes are left; return what went."""
        entries = sorted(self.entries(), key=lambda entry: (entry.used, entry.path.name))
        total, gone = sum(entry.size for entry in entries), []
        for entry in entries:
            if total <= limit:
                break
            self._forget(entry.path)
            gone.append(entry)
            total -= entry.size
        return gone

    def _files(self) -> Iterator[tuple[str, os.stat_result]]:
        """Give path and state of each kept object, in any order."""
        if self.folder is None or not _is_folder(self.folder):
            return
        with os.scandir(self.folder) as found:
            for entry in found:
                if entry.name.endswith(SUFFIX):
                    with suppress(FileNotFoundError):  # another process trims
                        yield entry.path, entry.stat()

    def _is_due(self, key: str, size: int) -> bool:
        """Note a file that was written, and say whether all files are to be counted again."""
        self._written += size
        is_turn = crc32(key.encode()) % _TURNS == 0
        found = self.limit > 0 and (is_turn or self._written * _SHARE > self.limit)
        self._written = 0 if found else self._written
        return found

    def _forget(self, path: Path) -> None:
        try:
            path.unlink(missing_ok=True)
        except OSError as error:
            self._turn_off(error.strerror or str(error))

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

    def _opened(self) -> Path | None:
        """Return the folder; turn the cache off where others can put code there that is run."""
        folder = self.folder
        if folder is None or self._is_known:
            return folder
        try:
            found = folder.stat()
        except OSError:  # it is made when something is written, or says then what is wrong
            return folder
        self._is_known = True
        if found.st_uid != os.geteuid():
            self._turn_off(f"it belongs to user {found.st_uid}, expected {os.geteuid()}")
        elif found.st_mode & stat.S_IWOTH:
            self._turn_off(f"everybody may write it (mode {found.st_mode & 0o7777:o})")
        elif found.st_mode & stat.S_IWGRP and not _is_private(found.st_gid):
            self._turn_off(f"group {found.st_gid} may write it (mode {found.st_mode & 0o7777:o})")
        return self.folder

    def _turn_off(self, reason: str) -> None:
        warnings.warn(f"no object cache: {self.folder}: {reason}", RuntimeWarning, 3)
        self.folder = None


def _is_private(group: int) -> bool:
    """Say whether a group is that of this user alone: many systems have one for each, as its name.

    Folders that are made with such systems' masks can be written by it, and by nobody else.
    """
    try:
        user, found = pwd.getpwuid(os.geteuid()), grp.getgrgid(group)
    except KeyError:  # nothing says who is in it
        return False
    is_own = group == user.pw_gid and found.gr_name == user.pw_name
    return is_own and set(found.gr_mem) <= {user.pw_name}


def _packed(key: str, label: str, content: bytes) -> bytes:
    line = re.sub(r"[^ -~]", "?", label)[:200]
    body = b"\n".join([key.encode(), line.encode(), content])
    return hashlib.sha256(body).digest() + body


def _unpacked(key: str, data: bytes) -> bytes | None:
    """Return the content of a file; None if it is damaged or was made for another key."""
    digest, body = data[:_DIGEST], memoryview(data)[_DIGEST:]
    if hashlib.sha256(body).digest() != digest:
        return None
    found, _, content = data[_DIGEST:].split(b"\n", 2)
    return content if found == key.encode() else None


def _touch(path: Path) -> None:
    """Note that a file was used; systems are often told not to do that by themselves."""
    try:
        found, now = path.stat(), time.time()
        if found.st_atime + _TOUCH < now:
            os.utime(path, (now, found.st_mtime))
    except OSError:  # trimmed by another process, or a folder that is only read
        return


def _is_folder(path: Path) -> bool:
    """Say whether there is a folder that may be looked into: `is_dir` raises where it may not."""
    try:
        return stat.S_ISDIR(path.stat().st_mode) and os.access(path, os.R_OK | os.X_OK)
    except OSError:
        return False


def _sweep(folder: Path, older_than: float = _STALE) -> None:
    """Delete files that were being written by processes that were killed."""
    if not _is_folder(folder):
        return
    now = time.time()
    for name in os.listdir(folder):
        if not name.endswith(".tmp"):
            continue
        path = folder / name
        try:
            if now - path.stat().st_mtime >= older_than:
                path.unlink()
        except OSError:  # another process sweeps, or may and we may not
            continue


def default_folder() -> Path | None:
    """Return the folder that the environment asks for, None for no cache."""
    asked = CACHE.text()
    if asked == "off":
        return None
    if asked:
        return Path(asked).expanduser()
    base = os.environ.get("XDG_CACHE_HOME", "")
    if base:
        return Path(base) / "gravure"
    home = os.environ.get("HOME", "")
    return Path(home) / ".cache" / "gravure" if home else None


def parse_size(text: str) -> int:
    """Return a number of bytes: `4G`, `800M`, `1000`."""
    found = re.fullmatch(r"(\d{1,15})([KMGT]?)(?:i?B)?", text.strip())
    if found is None:
        raise CacheError(f"size {text!r} is no number of bytes, expected one like 800M or 4G")
    return int(found[1]) * _UNITS[found[2]]


def default_limit() -> int:
    """Return how many bytes the environment lets the cache have; 0 is no limit."""
    asked = CACHE_SIZE.text()
    return parse_size(asked) if asked else DEFAULT_SIZE


_OPEN: dict[tuple[Path | None, int], Cache] = {}


def default_cache() -> Cache:
    """Return the cache of this process."""
    place = default_folder(), default_limit()
    found = _OPEN.get(place)
    if found is None:
        found = _OPEN[place] = Cache(*place)
        if found.folder is not None:
            _sweep(found.folder)
    return found
