"""What all results have in common, and how a function says what it is busy with."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, Protocol, TypeAlias

Source: TypeAlias = str | os.PathLike[str] | bytes
"""A file, or the bytes of one."""
FilePath: TypeAlias = str | os.PathLike[str]
"""A file to write."""
Progress: TypeAlias = Callable[[str], AbstractContextManager[None]]
"""Is told what goes on while the context is open."""


class Result(Protocol):
    """What a verb found out."""

    def __str__(self) -> str:
        """Return it for reading: what the command prints."""

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data: what the command prints with `--json`."""


@contextmanager
def silent(_: str) -> Iterator[None]:
    """Say nothing of what goes on."""
    yield


def name_of(source: Source) -> str:
    """Return what a source is called in tables."""
    return "<bytes>" if isinstance(source, bytes) else os.fspath(source)


def listed(name: str, lines: list[str]) -> list[list[str]]:
    """Return lines below each other, with their name before the first."""
    return [[name if number == 0 else "", line] for number, line in enumerate(lines)]
