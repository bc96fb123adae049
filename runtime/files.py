"""Write files so that a reader sees the old one or the new one, whole, and never a mixture."""

from __future__ import annotations

import errno
import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..errors import OutputError

ASIDE = ".gravure-new"
"""What the names of files end with that are being written."""
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""What the system says where there is no room for what is written."""
NO_PLACE = (errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EACCES, errno.EPERM, errno.EROFS)
"""What it says where there can be no file."""


@contextmanager
def replacing(path: str | os.PathLike[str], mode: int = 0o644) -> Iterator[BinaryIO]:
    """Give a file that takes the place of `path` when the block ends without an exception.

    It is written next to `path` and reaches the disk before it is renamed; if anything fails, the
    old file stays as it was and the new one is removed. A link is followed, not replaced. What a
    process left here that was killed while it wrote is removed, too. It is an `OutputError` if
    there is no such folder, nothing may be written there, or there is no room for all of it.

    A device or a pipe is written as it is: nothing can take its place.
    """
    if _is_stream(path):
        with _placing(Path(path)):
            stream = open(path, "wb")  # noqa: SIM115  (closed below)
        with filling(os.fspath(path)), stream:
            yield stream
        return
    target = Path(os.path.realpath(path))
    with filling(os.fspath(target)):
        with _placing(target):
            if target.is_dir():  # a rename would say so, but only when all is written
                raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
            sweep(target.parent)
            descriptor, name = _new(target)
        try:
            with open(descriptor, "wb") as file:
                yield file
                file.flush()
                os.fchmod(file.fileno(), mode & ~_umask())
                os.fsync(file.fileno())
                with _placing(target):
                    os.replace(name, target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(name)
            raise
    _sync(target.parent)


@contextmanager
def _placing(target: Path) -> Iterator[None]:
    """Say of a place where there can be no file that it is one."""
    try:
        yield
    except OSError as error:
        if error.errno not in NO_PLACE:
            raise
        reason = (error.strerror or str(error)).lower()
        place = target if isinstance(error, IsADirectoryError) else target.parent
        raise OutputError(f"cannot write: {reason}", location=str(place)) from error


def _is_stream(path: str | os.PathLike[str]) -> bool:
    """Say whether something is at a place that is neither a file nor a folder."""
    try:
        mode = os.stat(path).st_mode
    except OSError:  # there is nothing; who makes a file there is told why it cannot be
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


@contextmanager
def filling(target: str) -> Iterator[None]:
    """Raise an `OutputError` that names what is written where there is no room for it."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        if error.errno not in FULL:
            raise
        made = OutputError(
            f"cannot write: {(error.strerror or str(error)).lower()}", location=target
        )
        made.errno = error.errno
        raise made from error


def sweep(folder: Path) -> list[Path]:
    """Remove files that nobody finishes; return them.

    Who writes a file holds a lock on it, which ends with the process.
    """
    try:
        found = [Path(entry) for entry in os.scandir(folder) if entry.name.endswith(ASIDE)]
    except PermissionError:  # a folder that may be written and not be looked into
        return []
    return [path for path in found if path.name.startswith(".") and _is_removed(path)]


def _new(target: Path) -> tuple[int, str]:
    """Open a new, locked file next to a file; it could be swept until it was locked."""
    while True:
        descriptor, name = tempfile.mkstemp(ASIDE, f".{target.name[:200]}.", target.parent)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.fstat(descriptor).st_nlink:
                return descriptor, name
        except BlockingIOError:  # it is being looked at by who sweeps
            pass
        except OSError:  # there are no locks here, so nothing is swept either
            return descriptor, name
        os.close(descriptor)
        with suppress(FileNotFoundError):
            os.unlink(name)


def _is_removed(path: Path) -> bool:
    """Remove a file unless somebody writes it, and say whether it was removed."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:  # it is gone, or not ours
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        path.unlink()  # while it is locked: who has just made it looks whether it is still there
    except OSError:
        return False
    finally:
        os.close(descriptor)
    return True


def _sync(folder: Path) -> None:
    """Let the names in a folder reach the disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    """Return the permissions that new files shall not have."""
    with open("/proc/self/status", encoding="ascii", errors="replace") as status:
        for line in status:
            if line.startswith("Umask:"):
                return int(line.split()[1], 8)
    return 0o022
