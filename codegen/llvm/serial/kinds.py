"""The types of values in serial functions, and of the elements of their arrays."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True)
class NumberKind:
    """The type of a number."""

    name: str
    llvm: str


INT, WORD = NumberKind("int", "i64"), NumberKind("Word", "i64")
FLOAT, TRUTH = NumberKind("float", "double"), NumberKind("bool", "i1")
KINDS = {kind.name: kind for kind in (INT, WORD, FLOAT, TRUTH)}


@dataclass(frozen=True)
class Scalar:
    """A number: what LLVM calls it, and its value where that is known."""

    text: str
    kind: NumberKind
    known: int | None = None


@dataclass(frozen=True)
class ArrayRow:
    """An array: where it begins, and how many elements it has."""

    place: str
    size: str
    element: Element


Value: TypeAlias = "Scalar | ArrayRow | tuple[Scalar, ...]"


@dataclass(frozen=True)
class Element:
    """How elements lie in memory, and what they are outside of it."""

    llvm: str
    bytes: int
    kind: NumberKind
    widen: str = ""
    narrow: str = ""


ELEMENTS = {
    "U8s": Element("i8", 1, INT, "zext", "trunc"),
    "Flags": Element("i8", 1, TRUTH, "trunc", "zext"),
    "I32s": Element("i32", 4, INT, "sext", "trunc"),
    "U32s": Element("i32", 4, INT, "zext", "trunc"),
    "I64s": Element("i64", 8, INT),
    "U64s": Element("i64", 8, WORD),
    "F32s": Element("float", 4, FLOAT, "fpext", "fptrunc"),
    "F64s": Element("double", 8, FLOAT),
}
ANY_ARRAY = "Array"
"""What a function calls an array of whatever elements."""
