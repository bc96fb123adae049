"""What TensorFlow's operations take, have as attributes, and give, by their types.

`signatures.txt` has a line for each: the names and types of what it takes, its attributes with
their types and defaults, what it gives. A type is that of an element (`DT_INT32`) or the name of
the attribute that says it; `N*T` are `N` tensors.
"""

from __future__ import annotations

import ast
import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path

LINE = re.compile(r"(\w+)\((.*);(.*)\)->(.*)")
PART = re.compile(r"[^,\[(]*(?:\[[^\]]*\]|\([^)]*\)(?:=\[[^\]]*\])?)?[^,]*")


@dataclass(frozen=True)
class Argument:
    """What an operation takes or gives: a tensor or several."""

    name: str
    type: str
    """An element type, or the attribute that says it (or the list of them)."""
    count: str = ""
    """The attribute that says how many there are."""


@dataclass(frozen=True)
class Attribute:
    """An attribute: its type, and what it is where nothing is said."""

    name: str
    type: str
    default: object = None


@dataclass(frozen=True)
class Signature:
    """An operation."""

    type: str
    inputs: tuple[Argument, ...]
    attributes: tuple[Attribute, ...]
    outputs: tuple[Argument, ...]

    def default(self, name: str) -> object:
        """Return what an attribute is where nothing is said, None if that is to be said."""
        return next((a.default for a in self.attributes if a.name == name), None)


def _argument(text: str) -> Argument:
    name, _, type_ = text.partition(":")
    count, _, element = type_.rpartition("*")
    return Argument(name, element, count)


def _attribute(text: str) -> Attribute:
    name, _, rest = text.partition(":")
    type_, _, default = rest.partition("=")
    if not default or default == "?":
        return Attribute(name, type_)
    return Attribute(name, type_, default if type_ == "type" else ast.literal_eval(default))


def parts(text: str) -> list[str]:
    """Return what commas part, but those in brackets.

    >>> parts("a:list(int)=[1,2],b:T")
    ['a:list(int)=[1,2]', 'b:T']
    """
    return [x for x in PART.findall(text) if x]


@cache
def signatures() -> dict[str, Signature]:
    """Return the signatures that are known, by the types of operations."""
    made = {}
    for line in (Path(__file__).parent / "signatures.txt").read_text().splitlines():
        found = LINE.fullmatch(line)
        assert found is not None, f"signatures.txt: {line}"
        type_, inputs, attributes, outputs = found.groups()
        made[type_] = Signature(
            type_,
            tuple(map(_argument, parts(inputs))),
            tuple(map(_attribute, parts(attributes))),
            tuple(map(_argument, parts(outputs))),
        )
    return made
