"""Whole files: reading, writing, finding."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence

import numpy as np

from ....ir.op import Array
from ...data.stored import Compute, StoredStep, stored
from ...formats.records import file_errors
from ...graph.graph import Operation
from ...values.texts import TEXT
from ..core.bridge import TfTensor
from ..core.host_ops import SCALAR_TEXT, host, host_effect, text, unknown
from ..core.values import convert, convert_text


def _contents(name: Array) -> Sequence[Array]:
    path = os.fsdecode(name.item())
    with file_errors(path), open(path, "rb") as file:
        return (text(file.read()),)


@stored("contents of a file")
def _reading() -> Compute:
    return _contents


def read_file(filename: object, name: str | None = None) -> TfTensor:
    """Return the contents of a file."""
    return host(
        "ReadFile",
        StoredStep("contents of a file", {}),
        [convert_text(filename, "ReadFile")],
        [SCALAR_TEXT],
        name=name,
    )[0]


def _write(name: Array, contents: Array) -> tuple[()]:
    path = os.fsdecode(name.item())
    with file_errors(path):
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        with open(path, "wb") as file:
            file.write(contents.item())
    return ()


def write_file(filename: object, contents: object, name: str | None = None) -> Operation | None:
    """Write a file, and the folders that it is in."""
    given = [convert(filename, "string"), convert(contents, "string")]
    return host_effect("WriteFile", _write, given, name)


def fitting(pattern: str) -> list[str]:
    """Return the files that fit a pattern; where that names no folder, they are in this one."""
    found = glob.glob(pattern)
    here = glob.has_magic(pattern) and not os.path.dirname(pattern)
    return [os.path.join(os.curdir, path) for path in found] if here else found


def matching(patterns: Array) -> list[bytes]:
    """Return the files that fit patterns, in order, each once."""
    found = {path for each in patterns.ravel().tolist() for path in fitting(os.fsdecode(each))}
    return [os.fsencode(path) for path in sorted(found)]


def _matching(patterns: Array) -> Sequence[Array]:
    found = matching(patterns)
    made = np.empty(len(found), object)
    made[:] = found
    return (made,)


def matching_files(pattern: object, name: str | None = None) -> TfTensor:
    """Return the files that fit a pattern or several, in order."""
    given = [convert(pattern, "string")]
    return host("MatchingFiles", _matching, given, [unknown(TEXT, None)], name=name)[0]
