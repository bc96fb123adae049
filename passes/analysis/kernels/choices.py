"""Decisions that can be measured: what a record says, or else the rule that passes have.

A record is a word of the target, `panel_f32_128x768=3`, so that what is compiled depends on it
and on nothing that is measured meanwhile: the same records give the same bytes.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ....errors import CompileError
from ....ir.types.dims import Dim
from ....target import Target


class ChoiceError(CompileError):
    """A record of a decision that says what cannot be chosen.

    Records are made by `--tune FILE`; one that was made by another version may not fit.
    """

    code = "GV3160"


@dataclass(frozen=True)
class Question:
    """A decision that was asked for: its name, what can be chosen, what was."""

    name: str
    candidates: tuple[int, ...]
    chosen: int


_NOTED: ContextVar[dict[str, Question] | None] = ContextVar("_NOTED", default=None)


@contextmanager
def noted() -> Iterator[dict[str, Question]]:
    """Give the questions that are asked inside, by name."""
    found: dict[str, Question] = {}
    token = _NOTED.set(found)
    try:
        yield found
    finally:
        _NOTED.reset(token)


def decide(target: Target, name: str, candidates: Sequence[int], default: int) -> int:
    """Return what the target's records say of a decision, `default` if they say nothing.

    Raises `ChoiceError` for a record that is not among the candidates.
    """
    name = re.sub(r"\W+", "_", name)
    chosen = target.records.get(name, default)
    if chosen not in (*candidates, default):
        allowed = ", ".join(map(str, candidates))
        raise ChoiceError(f"record {name}={chosen}: expected one of {allowed}")
    found = _NOTED.get()
    if found is not None:
        found[name] = Question(name, tuple(candidates), chosen)
    return chosen


def shape_class(*sizes: Dim) -> str:
    """Return what sizes are called in records: powers of two that are not smaller.

    >>> shape_class(1, 100, 4096, 70000)
    '1_128_4096_8192'
    """
    return "_".join(
        str(min(MOST_CLASS, 1 << (size - 1).bit_length())) if isinstance(size, int) else "any"
        for size in sizes
    )


MOST_CLASS = 8192
"""Sizes above have all they need, whatever they are."""
