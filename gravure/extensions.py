"""What users register: operations and rules that are not gravure's own.

What they do decides what is compiled as much as gravure's own files do, so it belongs into the
keys of what is kept. Their code is known by the files of their package. What is defined inside
of a function, or where there is no file, may depend on anything: it is another in each process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import cache
from os import urandom
from pathlib import Path
from time import time
from typing import Any

STARTED = time()
"""When the compiler was loaded: which version of a file that changed later is, nobody knows."""

REGISTERED: list[Any] = []
"""Classes and functions that were registered from outside, in order."""
UNDO: list[Callable[[], None]] = []
"""For each of them, what takes it out of its table again."""


def note(what: Any, undo: Callable[[], None]) -> None:
    """Remember something that was registered, unless it is gravure's own."""
    if what.__module__.partition(".")[0] != __package__:
        REGISTERED.append(what)
        UNDO.append(undo)


def forget_behind(count: int) -> None:
    """Take out of the tables what was registered behind the first `count`, the last first."""
    while len(REGISTERED) > count:
        REGISTERED.pop()
        UNDO.pop()()


def stamp(digest_of: Callable[[bytes], str]) -> str:
    """Return a text that is another when what is registered is, or does, something else."""
    return "\n".join(_stamp(what, digest_of) for what in REGISTERED)


@cache
def _stamp(what: Any, digest_of: Callable[[bytes], str]) -> str:
    name = f"{what.__module__}.{what.__qualname__}"
    files = list(_files(what.__module__))
    if "<locals>" in name or not files:
        return f"{name} {urandom(16).hex()}"
    return " ".join([name, *(digest_of(path.read_bytes()) for path in files)])


def _files(module: str) -> Iterator[Path]:
    """Give the files of the package that a module is in, or its own if it is in none."""
    top = module.partition(".")[0]
    folders = getattr(sys.modules.get(top), "__path__", ())
    for folder in folders:
        yield from sorted(Path(folder).rglob("*.py"))
    file = getattr(sys.modules.get(module), "__file__", None)
    if not folders and file is not None:
        yield Path(file)
