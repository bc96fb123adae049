"""`Iteration`: the loop nest that reductions, contractions and windows are.

One result element is a combination over the reduce dims of a body of read elements:

    result[write(p)] = finish( combine_{r}  body( x[read_0(p, r)], y[read_1(p, r)], ... ) )

where p runs over `parallel` and r over `reduce`, and every index is an affine expression
of (p, r). A guarded read outside of its tensor contributes `outside` instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from .types.dims import Dim


@dataclass(frozen=True)
class Affine:
    """`sum(coefficient * loop dim) + offset`; parallel dims are numbered first, then reduce."""

    terms: tuple[tuple[int, Dim], ...]
    """Pairs of loop dim and coefficient."""
    offset: Dim = 0


def dim(number: int) -> Affine:
    """Return the index that is one loop dim."""
    return Affine(((number, 1),))


@dataclass(frozen=True)
class Iteration:
    """A loop nest with a combiner; see the module's first page."""

    parallel: tuple[Dim, ...]
    reduce: tuple[Dim, ...]
    reads: tuple[tuple[Affine, ...], ...]
    """For each operand, for each of its axes, the index."""
    write: tuple[Affine, ...]
    """For each axis of the result, the index (of parallel dims only)."""
    combiner: str
    """One of `add`, `mul`, `max`, `min`, `and`, `or`."""
    body: Callable[..., Any]
    """`body(math, *elements)` gives the element that is combined."""
    finish: Callable[..., Any] | None = None
    """`finish(math, total)` gives the result element; the total itself if None."""
    guarded: tuple[bool, ...] = ()
    """For each operand, whether an index may lie outside; all inside if empty."""
    outside: str = "zero"
    """What a read outside contributes: `zero`, or `identity` of the combiner."""
