"""Write files so that a reader sees the old one or the new one, whole, and never a mixture.

with replacing("a") as file:          "a" is new when the block ends
file.write(data)
with together():                      "a" and "b" are new when this block ends, or neither is
with replacing("a") as file:
file.write(data)
with replacing("b") as file:
file.write(data)
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass
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

    A device or a pipe is written as it is: nothing can take its place. Where files are written
    `together`, the new one takes its place with the others.
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
                if (others := _TOGETHER.get()) is not None:
                    others.add(WrittenAside(Path(name), target, os.dup(file.fileno())))
                    return
                _place(Path(name), target)
        except BaseException:
            with suppress(FileNotFoundError):
                os.unlink(name)
            raise
    _sync(target.parent)


@dataclass(frozen=True)
class WrittenAside:
    """A file that is written, and not yet in its place."""

    path: Path
    target: Path
    lock: int
    """An open descriptor: what nobody has open is swept."""


class FilesTogether:
    """Files that take their places at one time."""

    def __init__(self) -> None:
        self.files: dict[Path, WrittenAside] = {}

    def add(self, file: WrittenAside) -> None:
        """Take a file; one for the same place goes."""
        old = self.files.pop(file.target, None)
        if old is not None:
            _drop(old)
        self.files[file.target] = file

    def path(self, target: str | os.PathLike[str]) -> Path:
        """Return where a file is until it takes its place: there, if it is no file but a stream."""
        found = self.files.get(Path(os.path.realpath(target)))
        return Path(target) if found is None else found.path

    def place(self) -> None:
        """Let all take their places; if one cannot, those before it give theirs back."""
        *first, last = self.files.values()
        with ExitStack() as seconds, ExitStack() as undo:
            for file in first:
                old = _second_name(file.target)
                if old is not None:
                    seconds.callback(_drop, old)
                _place(file.path, file.target)
                undo.callback(_restore, old, file.target)
            _place(last.path, last.target)
            undo.pop_all()


_TOGETHER: ContextVar[FilesTogether | None] = ContextVar("together", default=None)


@contextmanager
def together() -> Iterator[FilesTogether]:
    """Have all files that are written in the block take their places when it ends, or none.

    An exception in the block, or a file that cannot take its place, leaves all as they were. A
    block in another one is a part of it.
    """
    outer = _TOGETHER.get()
    if outer is not None:
        yield outer
        return
    files = FilesTogether()
    token = _TOGETHER.set(files)
    try:
        yield files
        if files.files:
            files.place()
    finally:
        _TOGETHER.reset(token)
        for file in files.files.values():
            _drop(file)
    for folder in dict.fromkeys(target.parent for target in files.files):
        _sync(folder)


def _drop(file: WrittenAside) -> None:
    """Remove a file that has no place, or has taken it."""
    with suppress(FileNotFoundError):
        file.path.unlink()
    os.close(file.lock)


def _restore(old: WrittenAside | None, target: Path) -> None:
    """Put back what was at a place: what has a second name, or nothing."""
    if old is None:
        target.unlink(missing_ok=True)
    else:
        os.replace(old.path, target)


def _second_name(target: Path) -> WrittenAside | None:
    """Give a file a second name beside it, or a copy one where there are no second names."""
    try:
        lock = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    path = target.with_name(f".{target.name[:200]}.{os.getpid()}-{lock}{ASIDE}")
    try:
        with suppress(OSError):  # there are no locks here, so nothing is swept either
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        try:
            os.link(target, path)
        except OSError:
            shutil.copy2(target, path)
    except BaseException:
        os.close(lock)
        raise
    return WrittenAside(path, target, lock)


def _place(path: Path, target: Path) -> None:
    with _placing(target):
        os.replace(path, target)


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
