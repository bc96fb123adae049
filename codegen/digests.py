"""Digests of what files hold, remembered by what the system says about the files.

Reading gigabytes of weights at each start only to know them again would cost more than all the
rest. So the digest of a file is kept in the cache under the file's name, number, size and times.
The time of the last change (`st_ctime`) is set by the system at every write and cannot be set
back. What it cannot tell apart are two changes within one tick of the clock, and what goes on
being written through a mapping until the system next looks at the page. Both are over after
`SETTLED` seconds: files that changed later than that are read.
"""

from __future__ import annotations

import hashlib
import os
import stat
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..runtime.container import WHOLE
from .cache import Cache, default_cache

SETTLED = 60.0
"""Seconds after a change from which on a file's times tell whether it is the same."""

PIECE = 1 << 25
"""Bytes that are hashed at a time, several pieces by several threads."""


@dataclass(frozen=True)
class Stamp:
    """What the system says about a file: another text after each change."""

    text: str
    changed: float
    """Seconds since the epoch."""

    @classmethod
    def of(cls, path: Path | str | int) -> Stamp | None:
        """Return the stamp of a regular file with a name, None for anything else.

        One that is open may be given by its number; its name does not count then.
        """
        try:
            found = os.stat(path)
        except (OSError, ValueError):  # a name with a NUL is a ValueError
            return None
        if not stat.S_ISREG(found.st_mode) or not found.st_nlink:
            return None
        written, changed = found.st_mtime_ns, found.st_ctime_ns
        name = "" if isinstance(path, int) else f"{path!s}"
        text = f"{name} {found.st_dev} {found.st_ino} {found.st_size} {written} {changed}"
        return cls(text, max(written, changed) / 1e9)

    @property
    def is_settled(self) -> bool:
        """Say whether the file would have another stamp if it had changed since."""
        return self.changed + SETTLED < time.time()


def digest_of(data: Any) -> str:
    """Return the digest of bytes, however many."""
    view = memoryview(data).cast("B")
    pieces = [view[at : at + PIECE] for at in range(0, len(view), PIECE)]
    if len(pieces) < 3:
        parts = [_digest(piece) for piece in pieces]
    else:
        from concurrent.futures import ThreadPoolExecutor  # noqa: PLC0415  (for large files only)

        with ThreadPoolExecutor(min(4, os.cpu_count() or 1)) as pool:
            parts = list(pool.map(_digest, pieces))
    return hashlib.sha256(b"".join(parts) + len(view).to_bytes(8, "little")).hexdigest()


def _digest(piece: Any) -> bytes:
    return hashlib.sha256(piece).digest()


def file_digest(path: Path, before: Stamp | None, data: Any, cache: Cache) -> str:
    """Return the digest of a file that was mapped as `data` after the stamp was taken."""
    if before is None:
        return digest_of(data)
    return remembered([before], lambda: [Stamp.of(path)], lambda: digest_of(data), cache)


def tree_digest(files: Mapping[str, str], before: Mapping[str, Stamp | None], cache: Cache) -> str:
    """Return the digest of the contents of several files, by the names that they count under."""

    def make() -> str:
        hashed = hashlib.sha256()
        for name, path in files.items():
            with open(path, "rb", buffering=0) as file:
                data = file.read()
            hashed.update(f"{name} {len(data)}\n".encode())
            hashed.update(data)
        return hashed.hexdigest()

    def again() -> list[Stamp | None]:
        return [Stamp.of(path) for path in files.values()]

    return remembered([*before.values()], again, make, cache)


def check_once(descriptor: int, digest: bytes, check: Callable[[], None]) -> None:
    """Call `check` of an open file, unless the cache knows that it passed as it is now."""

    def stamp() -> Stamp | None:
        return Stamp.of(descriptor)

    def make() -> str:
        check()
        return "whole"

    if (before := stamp()) is None:
        check()
    else:
        remembered([before], lambda: [stamp()], make, default_cache(), digest.hex())


WHOLE.once = check_once


def remembered(
    before: Sequence[Stamp | None],
    again: Callable[[], Sequence[Stamp | None]],
    make: Callable[[], str],
    cache: Cache,
    kind: str = "digest",
) -> str:
    """Return what `kind` says of files with these stamps: what the cache has, or `make` returns.

    It is kept if all are settled, and `again` finds the same stamps after they were read.
    """
    texts = [stamp.text for stamp in before if stamp is not None and stamp.is_settled]
    if len(texts) < len(before):
        return make()
    key = hashlib.sha256("\n".join([kind, *texts]).encode()).hexdigest()
    known = cache.get(key)
    if known is not None:
        return known.decode()
    made = make()
    if list(before) == list(again()):
        cache.put(key, made.encode(), label="digest of files")
    return made
