"""Decisions that were measured, kept in a file, and used again: `gv.compile(..., tune=FILE)`.

`gravure compile --tune FILE` measures and writes. The records go into the words of the target
(`passes/analysis/choices`), so that the same file gives the same bytes on every machine.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ...errors import CompileError
from ...runtime.files import replacing
from ...target import Target

SCHEMA = "gravure.tune/1"


class RecordsError(CompileError):
    """A file of measured decisions that is none, or is for another machine.

    `gravure compile MODEL --tune FILE -o MODEL.so` makes one for this machine.
    """

    code = "GV4210"
    exit_status = 65


@dataclass
class Records:
    """Measured decisions by name, for one kind of machine."""

    target: str
    """`Target.key` of the machine."""
    found: dict[str, int] = field(default_factory=dict)

    @classmethod
    def read(cls, path: str | os.PathLike[str], target: Target) -> Records:
        """Return what a file holds; raise `RecordsError` if it is not for `target`."""
        where = Path(path).name
        try:
            data = json.loads(Path(path).read_text(encoding="utf-8"))
            made = cls(str(data["target"]), {str(k): int(v) for k, v in data["records"].items()})
            if data["schema"] != SCHEMA:
                raise ValueError(f"schema {data['schema']!r}, expected {SCHEMA!r}")
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            message = f"no records of decisions: {type(error).__name__}: {error}"
            raise RecordsError(message, location=where) from error
        if made.target != target.key:
            raise RecordsError(
                f"records for the machine {made.target!r}, expected {target.key!r}", location=where
            )
        return made

    def write(self, path: str | os.PathLike[str], about: Mapping[str, object]) -> None:
        """Write the file, sorted, with what it was measured with."""
        data = {
            "schema": SCHEMA,
            "target": self.target,
            "records": dict(sorted(self.found.items())),
        }
        text = json.dumps({**data, "about": dict(about)}, indent=1)
        with replacing(Path(path)) as file:
            file.write(f"{text}\n".encode())

    @property
    def words(self) -> str:
        """Return the records as words of a target."""
        return ",".join(f"{name}={choice}" for name, choice in sorted(self.found.items()))


def with_words(mattr: str, words: str) -> str:
    """Return features of a target with further words."""
    return ",".join(filter(None, (mattr, words)))
