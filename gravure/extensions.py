"""What users register: operations, passes, rules and back ends that are not gravure's own.

What they do decides what is compiled as much as gravure's own files do, so it belongs into the
keys of what is kept. It is known by the files of its package, all of them: a table beside the code
decides as much as the code. What is defined inside of a function, or where there is no file, may
depend on anything: it is another in each process.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from os import urandom
from pathlib import Path
from time import time
from typing import Any

from .errors import GravureError

STARTED = time()
"""When the compiler was loaded: which version of a file that changed later is, nobody knows."""


class NameTakenError(GravureError, ValueError):
    """Something is registered under a name that something else has already.

    Operations have names of their own, with the package's name and a dot before them; passes,
    ONNX rules, back ends and targets do not replace those of gravure or of another plugin.
    """

    code = "GV4140"


@dataclass(frozen=True)
class Registered:
    """One thing that was registered from outside."""

    kind: str
    """What it is: `operation`, `pass`, `ONNX rule`, `back end`."""
    name: str
    what: Any
    """The class or function."""
    undo: Callable[[], None]
    """Takes it out of its table again."""
    owner: str
    """Whose it is: a plugin, or a module."""


REGISTERED: list[Registered] = []
"""All of it, in order."""


@dataclass
class Loading:
    """Which plugin registers things now."""

    owner: str = ""


LOADING = Loading()


def is_outside(what: Any) -> bool:
    """Say whether a class or a function is not gravure's own."""
    return bool(what.__module__.partition(".")[0] != __package__)


def note(kind: str, name: str, what: Any, undo: Callable[[], None]) -> None:
    """Remember something that was registered, unless it is gravure's own."""
    if is_outside(what):
        owner = LOADING.owner or f"module {what.__module__}"
        REGISTERED.append(Registered(kind, name, what, undo, owner))


def taken(kind: str, name: str) -> NameTakenError:
    """Return the error of a name that is taken; it says by whom."""
    owners = [row.owner for row in REGISTERED if (row.kind, row.name) == (kind, name)]
    return NameTakenError(f"{kind} {name!r} is defined twice: {[*owners, 'gravure'][0]} has it")


def owner_of(what: Any) -> str:
    """Return whose a registered class or function is; nothing if it is gravure's."""
    return next((row.owner for row in REGISTERED if row.what is what), "")


def forget_behind(count: int) -> None:
    """Take out of the tables what was registered behind the first `count`, the last first."""
    while len(REGISTERED) > count:
        REGISTERED.pop().undo()


def stamp(stamp_of: Callable[[Mapping[str, str]], str]) -> str:
    """Return a text that is another when what is registered is, or does, something else.

    `stamp_of` gives a text for files, by name, that is another when they hold something else.
    """
    return "\n".join(_stamp(row.what, stamp_of) for row in REGISTERED)


@cache
def _stamp(what: Any, stamp_of: Callable[[Mapping[str, str]], str]) -> str:
    name = f"{what.__module__}.{what.__qualname__}"
    files = _files(what.__module__)
    if "<locals>" in name or not files:
        return f"{name} {urandom(16).hex()}"
    return f"{name} {_package_stamp(tuple(files.items()), stamp_of)}"


@cache
def _package_stamp(
    files: tuple[tuple[str, str], ...], stamp_of: Callable[[Mapping[str, str]], str]
) -> str:
    return stamp_of(dict(files))


def _files(module: str) -> dict[str, str]:
    """Return the files of the package that a module is in, or its own, by their names there."""
    top = module.partition(".")[0]
    folders = [Path(each) for each in getattr(sys.modules.get(top), "__path__", ())]
    file = getattr(sys.modules.get(module), "__file__", None)
    if not folders and file is not None:
        return {Path(file).name: file}
    return {
        f"{top}/{path.relative_to(folder)}": str(path)
        for folder in folders
        for path in sorted(folder.rglob("*"))
        if path.suffix != ".pyc" and path.is_file()
    }
