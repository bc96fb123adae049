"""Places in a text, and errors that show the line with a caret below the place."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass, field

from ...errors import GraphError, GravureError

WIDTH = 100
"""Letters of a long line that are shown around the place."""


@dataclass(frozen=True)
class TextFault:
    """What is wrong at an offset of the text."""

    at: int
    message: str
    hint: str = ""


@dataclass
class SourceText:
    """A text, its name, and what was found wrong with it."""

    content: str
    name: str
    faults: list[TextFault] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._starts = [0, *(m.end() for m in re.finditer("\n", self.content))]

    def line(self, at: int) -> int:
        """Return the line of an offset, counted from 1."""
        return bisect_right(self._starts, at)

    def location(self, at: int) -> str:
        """Return file:line:column of an offset."""
        line = self.line(at)
        return f"{self.name}:{line}:{at - self._starts[line - 1] + 1}"

    def excerpt(self, at: int) -> str:
        """Return the line of an offset, shortened, and a caret below the place."""
        start = self._starts[self.line(at) - 1]
        end = self.content.find("\n", start)
        line = self.content[start : end if end >= 0 else None].replace("\t", " ").rstrip("\r")
        column = at - start
        cut = max(column - WIDTH // 2, 0) if len(line) > WIDTH else 0
        shown = "".join(c if c.isprintable() else "?" for c in line[cut : cut + WIDTH])
        return f"    {shown}\n    {' ' * (column - cut)}^"

    def fault(self, at: int, message: str, hint: str = "") -> None:
        """Note what is wrong at an offset."""
        self.faults.append(TextFault(at, message, hint))

    def error(self, kind: type[GravureError], fault: TextFault) -> GravureError:
        """Return the error for one fault."""
        message = f"error: {fault.message}\n{self.excerpt(fault.at)}"
        return kind(message, location=self.location(fault.at), hint=fault.hint)

    def raise_if_faulty(self) -> None:
        """Raise one error with every fault, in the order of the text."""
        if self.faults:
            ordered = sorted(self.faults, key=lambda fault: fault.at)
            errors = [self.error(GraphError, fault) for fault in ordered]
            if len(errors) == 1:
                raise errors[0]
            raise GraphError("\n".join(map(str, errors)))
