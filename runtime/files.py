"""Write files so that a reader sees the old one or the new one, whole, and never a mixture."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def replacing(path: str | os.PathLike[str], mode: int = 0o644) -> Iterator[BinaryIO]:
    """Give a file that takes the place of `path` when the block ends without an exception.

    It is written next to `path` and reaches the disk before it is renamed; if anything fails, the
    old file stays as it was and the new one is removed. A link is followed, not replaced.
    """
    target = Path(os.path.realpath(path))
    descriptor, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    try:
        with open(descriptor, "wb") as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), mode & ~_umask())
            os.fsync(file.fileno())
        os.replace(name, target)
    except BaseException:
        with suppress(FileNotFoundError):
            os.unlink(name)
        raise


def _umask() -> int:
    """Return the permissions that new files shall not have."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o022
