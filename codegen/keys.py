"""What an object or a program is kept under: a hash of all that its content depends on.

That is what it is made from, the target, the compiler (every file of gravure that has a part in
it, and what users register), and the packages that the compiler is made with. Where the key is of
a model's file and not of a program, what reads files has a part in it, too (`reader_stamp`).
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.util import find_spec

from .. import extensions, knobs
from ..target import Target
from .cache import default_cache
from .digests import Stamp, tree_digest

FORMAT = 3
"""Counted up when what is kept under a key, or the emitter's conventions, change meaning."""

COMPILER = ("codegen", "ir", "passes", "runtime")
"""The folders whose code decides what a program becomes; so do the files beside them."""

READER = "frontend"
"""The folder whose code decides what program a file, or what users write, is."""

ROOT = os.path.dirname(os.path.dirname(__file__))

SUFFIXES = (".py", ".json", ".lark", ".h")

PACKAGES = ("lark", "llvmlite", "ml_dtypes", "numpy", "onnx", "xdsl")
"""The packages whose versions decide what is made."""

VERSIONS = ("__init__.py", "_version.py", "version.py")
"""Files of a package that are others in another version of it."""


@lru_cache(maxsize=1)
def compiler_stamp() -> str:
    """Return a text that is another when the compiler's own files hold something else.

    A kernel is kept under what it computes, not under its loops; so an object that an older
    template made must not be found by a newer one.
    """
    beside = [entry.path for entry in os.scandir(ROOT) if entry.name.endswith(SUFFIXES)]
    return _stamp_below(COMPILER, beside)


@lru_cache(maxsize=1)
def reader_stamp() -> str:
    """Return a text that is another when what reads files and programs holds something else.

    It is twice as many files as the compiler: only who keeps something under a file asks for it.
    """
    return _stamp_below([READER])


def _stamp_below(folders: Iterable[str], beside: Iterable[str] = ()) -> str:
    found = [*beside, *(p for name in folders for p in files_below(os.path.join(ROOT, name)))]
    return stamp_of({path.removeprefix(ROOT): path for path in sorted(found)})


def stamp_of(files: Mapping[str, str]) -> str:
    """Return the digest of files of code that is loaded; another each time if they are newer."""
    stamps = {name: Stamp.of(path) for name, path in files.items()}
    if any(stamp is None or stamp.changed > extensions.STARTED for stamp in stamps.values()):
        return os.urandom(16).hex()
    return tree_digest(files, stamps, default_cache())


@lru_cache(maxsize=1)
def package_stamp() -> str:
    """Return a text that is another with other versions of Python or of the packages."""
    found: dict[str, str] = {}
    for name in PACKAGES:
        spec = find_spec(name)  # imports nothing
        for folder in (spec.submodule_search_locations or ()) if spec else ():
            paths = {file: os.path.join(folder, file) for file in VERSIONS}
            found |= {f"{name}/{f}": path for f, path in paths.items() if os.path.isfile(path)}
    return f"{sys.implementation.cache_tag} {stamp_of(found)}"


def files_below(folder: str) -> Iterator[str]:
    """Give the files of code in a folder, at all depths."""
    for entry in os.scandir(folder):
        if entry.name.endswith(SUFFIXES):
            yield entry.path
        elif entry.name != "__pycache__" and entry.is_dir():
            yield from files_below(entry.path)


def key_of(source: str, target: Target) -> str:
    """Return the key of the object made for `target` of `source`.

    `source` is the LLVM text, or anything else that decides it together with the target.
    """
    stamps = compiler_stamp(), package_stamp(), extensions.stamp(stamp_of)
    machine = f"{target.key} {target.l1} {target.l2} {target.l3}"
    hashed = hashlib.sha256()
    checks = "every access" if knobs.checks_bounds() else ""
    for part in (str(FORMAT), *stamps, machine, checks, source):
        data = part.encode()
        hashed.update(len(data).to_bytes(8, "little"))
        hashed.update(data)
    return hashed.hexdigest()
