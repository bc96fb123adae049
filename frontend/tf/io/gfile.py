"""`tf.io.gfile`: files and folders, with TensorFlow's errors."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from types import SimpleNamespace
from typing import IO, Any, Self

from ....errors import GravureError
from ...formats.records import file_errors
from ...values.run_errors import AlreadyExistsError, NotFoundError, PermissionDeniedError
from .files import matching

Path = str | bytes | os.PathLike[str]


class RemoteFileError(GravureError, ValueError):
    """A file was named that is not on this machine's disks."""

    code = "GV2393"


def local(path: Any) -> str:
    """Return a path of this machine, or refuse the scheme by name."""
    found = os.fsdecode(path)
    scheme, mark, rest = found.partition("://")
    if not mark:
        return found
    if scheme == "file":
        return rest
    raise RemoteFileError(
        f"{found}: files of the scheme {scheme!r} cannot be reached, expected a local path"
    )


class GFile:
    """A file that is opened when it is first used; text unless the mode says `b`."""

    def __init__(self, name: Path, mode: str = "r", encoding: str = "utf-8") -> None:
        if not isinstance(name, str | bytes | os.PathLike):
            raise TypeError(f"a path was expected, got {name!r}")
        if mode.replace("b", "").replace("+", "") not in ("r", "w", "a"):
            raise ValueError(f"mode {mode!r}, expected r, w or a, with b or + behind it")
        self._path, self._mode = local(name), mode
        self._encoding = encoding
        self._file: IO[bytes] | None = None
        self._given = name

    @property
    def name(self) -> str | bytes | os.PathLike[str]:
        """Return the path."""
        return self._given

    @property
    def mode(self) -> str:
        """Return the mode."""
        return self._mode

    @property
    def _open(self) -> IO[bytes]:
        if self._file is None:
            mode = self._mode.replace("b", "") + "b"
            with file_errors(self._path):
                self._file = open(self._path, mode)  # noqa: SIM115  (close() closes it)
        return self._file

    def _reading(self) -> IO[bytes]:
        if "r" not in self._mode and "+" not in self._mode:
            raise PermissionDeniedError("File isn't open for reading")
        return self._open

    def _given_out(self, data: bytes) -> bytes | str:
        return data if "b" in self._mode else data.decode(self._encoding)

    def read(self, n: int = -1) -> bytes | str:
        """Return so many bytes, all that are left for -1."""
        return self._given_out(self._reading().read(n))

    def readline(self) -> bytes | str:
        """Return a line with its end."""
        return self._given_out(self._reading().readline())

    def readlines(self) -> list[object]:
        """Return the lines that are left."""
        return list(self)

    def __iter__(self) -> GFile:
        return self

    def __next__(self) -> bytes | str:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    next = __next__

    def write(self, file_content: object) -> None:
        """Write text or bytes."""
        if "w" not in self._mode and "a" not in self._mode and "+" not in self._mode:
            raise PermissionDeniedError("File isn't open for writing")
        data = file_content if isinstance(file_content, bytes) else str(file_content).encode()
        self._open.write(data)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a place."""
        self._open.seek(position if offset is None else offset, whence)  # type: ignore[arg-type]

    def tell(self) -> int:
        """Return the place."""
        return self._open.tell()

    def seekable(self) -> bool:
        """Return that every place can be gone to."""
        return True

    def size(self) -> int:
        """Return the number of bytes."""
        with file_errors(self._path):
            return os.stat(self._path).st_size

    def flush(self) -> None:
        """Let what was written reach the file."""
        if self._file is not None:
            self._file.flush()

    def close(self) -> None:
        """End the use of the file; a file that is written exists then."""
        if self._file is None and "w" in self._mode:
            _ = self._open
        if self._file is not None:
            self._file.close()
            self._file = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()


def exists(path: Path) -> bool:
    """Say whether there is a file or a folder."""
    return os.path.exists(local(path))


def isdir(path: Path) -> bool:
    """Say whether there is a folder."""
    return os.path.isdir(local(path))


def listdir(path: Path) -> list[str]:
    """Return the names in a folder."""
    found = local(path)
    with file_errors(found):
        return os.listdir(found)


def find(pattern: object) -> list[str]:
    """Return the files that fit a pattern or several."""
    import numpy as np  # noqa: PLC0415  (a name of the module would be `gfile.np`)

    many = pattern if isinstance(pattern, list | tuple) else [pattern]
    names = np.array([os.fsencode(local(p)) for p in many], object)
    return [os.fsdecode(each) for each in matching(names)]


def mkdir(path: Path) -> None:
    """Make a folder in one that is there."""
    found = local(path)
    with file_errors(found):
        try:
            os.mkdir(found)
        except FileExistsError:
            if not os.path.isdir(found):
                raise AlreadyExistsError(f"{found}; File exists") from None


def makedirs(path: Path) -> None:
    """Make a folder, and those that it is in."""
    with file_errors(local(path)):
        os.makedirs(local(path), exist_ok=True)


def remove(path: Path) -> None:
    """Remove a file."""
    found = local(path)
    with file_errors(found):
        os.remove(found)


def rmtree(path: Path) -> None:
    """Remove a folder and all that is in it."""
    found = local(path)
    with file_errors(found):
        shutil.rmtree(found)


def copy(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Copy a file."""
    _free(dst, overwrite)
    with file_errors(local(src)):
        shutil.copyfile(local(src), local(dst))


def rename(src: Path, dst: Path, overwrite: bool = False) -> None:
    """Give a file another name."""
    _free(dst, overwrite)
    with file_errors(local(src)):
        os.replace(local(src), local(dst))


def _free(path: Path, overwrite: bool) -> None:
    if exists(path) and not overwrite:
        raise AlreadyExistsError(f"{local(path)}; file already exists")


def walk(top: Path, topdown: bool = True, onerror: Any = None) -> Iterator[object]:
    """Give folders, with the names of folders and files in each."""
    yield from os.walk(local(top), topdown, onerror)


def stat(path: Path) -> SimpleNamespace:
    """Return what is known of a file: its length, times in nanoseconds, whether it is a folder."""
    found = local(path)
    with file_errors(found):
        kept = os.stat(found)
    return SimpleNamespace(
        length=kept.st_size, mtime_nsec=kept.st_mtime_ns, is_directory=os.path.isdir(found)
    )


def join(path: Path, *paths: Path) -> str:
    """Return a path within a folder."""
    return os.path.join(os.fsdecode(path), *map(os.fsdecode, paths))


def get_registered_schemes() -> list[str]:
    """Return the schemes of paths that can be used."""
    return ["", "file"]


def list_names(path: Path) -> list[str]:
    """Return the names in a folder, which must be one (the first version)."""
    if not isdir(path):
        raise NotFoundError(f"Could not find directory {local(path)}")
    return listdir(path)
