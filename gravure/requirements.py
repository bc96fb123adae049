"""What a program requires of values, and what is said where one is not as it must be.

A run that finds a requirement wrong says three numbers: which requirement, which element was the
first that is wrong, and what it is. So eager code, compiled functions and libraries say the same:
`indices[2,1] = 7 is not in [0, 5)`, at the same node and line.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, TypeAlias

import numpy as np

from .errors import RequirementError

NUMBERS = 3
"""What a run says: the number of a requirement (from 1; 0: all is well), a place, a value."""
KINDS = ("inf", "nan")
"""What `{kind}` stands for, by the value."""


@dataclass(frozen=True)
class Requirement:
    """Something that all elements of a value must be."""

    message: str
    """What is said where it is not known which element is wrong."""
    told: str = ""
    """What is said of an element: `{at}` or `{place}` is where it is, `{value}`, `{kind}` what."""
    shape: tuple[int, ...] = ()
    """The shape of the value."""
    node: str = ""
    source: str = ""
    """The user's line, or the node of a file."""
    argument: int = -1
    """Which argument of the program the value is, as it is given; -1: none."""
    within: tuple[int | str, int | str] = (0, 0)
    """From what on its integers are, and below what: numbers, or expressions of sizes."""

    def text(self, place: int, value: int) -> str:
        """Return what is said where an element is wrong."""
        if not self.told:
            return self.message
        return told_of(self.told, np.unravel_index(place, self.shape), value)

    def at_node(self, text: str) -> str:
        """Return a message with the node that it is about."""
        return f"Detected at node '{self.node}': {text}" if self.node else text

    def plain(self) -> str:
        """Return what a program without Python says."""
        place = f"{self.source}: " if self.source else ""
        return f"{place}{self.at_node(self.message)}"

    def error(self, place: int, value: int) -> RequirementError:
        """Return the error of a run in which an element was wrong."""
        return RequirementError(self.at_node(self.text(place, value)), location=self.source)

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return asdict(self)

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Requirement:
        """Return the requirement with these fields."""
        tuples = {name: tuple(row[name]) for name in ("shape", "within")}
        return cls(**{**row, **tuples})


Within: TypeAlias = tuple[tuple[int | str, int | str], ...]
"""Ranges in all of which integers are to be: from the first number of each to below the second."""


def within_of(rows: Sequence[Requirement]) -> dict[int, Within]:
    """Return in which ranges the integers of arguments must be, by the arguments' places."""
    found: dict[int, Within] = {}
    for row in rows:
        if row.argument >= 0:
            found[row.argument] = (*found.get(row.argument, ()), row.within)
    return found


def check(rows: Sequence[Mapping[str, Any]], found: Any) -> None:
    """Raise if a run has found one of the requirements wrong."""
    number, place, value = (int(each) for each in found)
    if number:
        raise Requirement.of(rows[number - 1]).error(place, value)


def told_of(told: str, place: Sequence[Any], value: int) -> str:
    """Return a message about an element.

    >>> told_of("indices{at} = {value} is not in [0, 5)", (2, 1), 7)
    'indices[2,1] = 7 is not in [0, 5)'
    """
    at = f"[{','.join(str(int(i)) for i in place)}]" if place else ""
    words = {"{at}": at, "{place}": at and f" at element {at}", "{value}": str(value)}
    words["{kind}"] = KINDS[value] if "{kind}" in told else ""
    for word, meant in words.items():
        told = told.replace(word, meant)
    return told
