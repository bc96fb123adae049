"""What differs between two programs, or between two artefacts.

Programs are compared as text in which values are numbered in order and their origin is left out, so
that only what they compute counts; weights by their bytes.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from ...ir import Array, Op, Program
from ...ir.program import functions
from ...ir.text import print_function


@dataclass(frozen=True)
class Row:
    """One difference: what, in the first, in the second."""

    what: str
    first: str
    second: str


def program_rows(first: Program, second: Program) -> list[Row]:
    """Return in what two programs differ; nothing if they compute the same in the same way."""
    rows = []
    if first.level != second.level:
        rows.append(Row("level", first.level, second.level))
    names = [{f.sym_name.data: print_function(f) for f in functions(p.module)}
             for p in (first, second)]  # fmt: skip
    for name in dict.fromkeys((*names[0], *names[1])):
        one, two = (texts.get(name) for texts in names)
        if one != two:
            rows.append(Row(f"function @{name}", _lines(one), _lines(two)))
    one_each, two_each = _operations(first), _operations(second)
    rows += [
        Row(name, str(one_each[name]), str(two_each[name]))
        for name in sorted({*one_each, *two_each})
        if one_each[name] != two_each[name]
    ]
    return [*rows, *_weights(first.weights, second.weights)]


def program_diff(first: Program, second: Program) -> Iterator[str]:
    """Give the lines of a unified diff of the texts."""
    one, two = (
        [line for f in functions(p.module) for line in print_function(f).splitlines()]
        for p in (first, second)
    )
    return difflib.unified_diff(one, two, first.source, second.source, lineterm="")


def data_rows(first: object, second: object, path: str = "") -> list[Row]:
    """Return in what two values of JSON differ, such as two manifests."""
    if isinstance(first, Mapping) and isinstance(second, Mapping):
        keys = dict.fromkeys((*first, *second))
        inner = (
            data_rows(first.get(k), second.get(k), f"{path}.{k}" if path else str(k)) for k in keys
        )
        return [row for rows in inner for row in rows]
    return [] if first == second else [Row(path, _short(first), _short(second))]


def _short(value: object) -> str:
    text = "(none)" if value is None else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _lines(text: str | None) -> str:
    return "(none)" if text is None else f"{len(text.splitlines())} lines"


def _operations(program: Program) -> Counter[str]:
    return Counter(op.name for op in program.module.walk() if isinstance(op, Op))


def _weights(first: Mapping[str, Array], second: Mapping[str, Array]) -> list[Row]:
    rows = []
    for name in dict.fromkeys((*first, *second)):
        one, two = first.get(name), second.get(name)
        if one is None or two is None or one.dtype != two.dtype or one.shape != two.shape:
            rows.append(Row(f"weight {name!r}", _spec(one), _spec(two)))
        elif one.tobytes() != two.tobytes():
            apart = np.count_nonzero(one.reshape(-1) != two.reshape(-1))
            rows.append(Row(f"weight {name!r}", _spec(one), f"{apart} other elements"))
    return rows


def _spec(array: Array | None) -> str:
    return "(none)" if array is None else f"{array.dtype}[{', '.join(map(str, array.shape))}]"
