"""Index expressions of kernels: linear in abstract loop dims, before loops exist.

A template names its loop dims by `Token`s, follows every read down to the buffers as a
`Linear` of tokens, and only then decides which tokens become loops: a token that a reshape
cuts is split (`NeedSplit`), neighbours that every access walks as one are merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, TypeAlias

from xdsl.ir import SSAValue

from ...ir.dims import Dim, DimExpr, floor_divide, product, remainder

_numbers = count()


@dataclass(frozen=True, eq=False)
class Token:
    """One abstract loop dim."""

    extent: Dim
    number: int = field(default_factory=lambda: next(_numbers))

    def __repr__(self) -> str:
        return f"t{self.number}<{self.extent}"


@dataclass(frozen=True, eq=False)
class Opaque:
    """An index known only as a value; None while accesses are only traced."""

    value: SSAValue | None
    extent: Dim
    lanes: int = 0


Term: TypeAlias = "Token | Opaque"


class NeedSplit(Exception):  # noqa: N818  (a request, not an error)
    """A reshape cuts this token: it must become two, the inner one of this extent."""

    def __init__(self, token: Token, inner: Dim) -> None:
        super().__init__(token, inner)
        self.token, self.inner = token, inner


@dataclass(frozen=True)
class Linear:
    """`sum(coefficient * term) + constant`."""

    terms: tuple[tuple[Term, Dim], ...] = ()
    constant: Dim = 0

    def __add__(self, other: Linear | Dim) -> Linear:
        if isinstance(other, int | DimExpr):
            return Linear(self.terms, self.constant + other)
        merged: dict[Term, Dim] = dict(self.terms)
        for term, coefficient in other.terms:
            merged[term] = merged.get(term, 0) + coefficient
        kept = tuple((t, c) for t, c in merged.items() if c != 0)
        return Linear(kept, self.constant + other.constant)

    def __mul__(self, factor: Dim) -> Linear:
        if factor == 0:
            return Linear()
        return Linear(tuple((t, c * factor) for t, c in self.terms), self.constant * factor)

    def coefficient(self, term: Term) -> Dim:
        """Return the coefficient of a term, 0 where it does not occur."""
        return next((c for t, c in self.terms if t is term), 0)

    def highest(self) -> Dim:
        """Return the largest value, for coefficients that are not negative."""
        total = self.constant
        for term, coefficient in self.terms:
            total = total + coefficient * (term.extent - 1)
        return total


def of(token: Term) -> Linear:
    """Return the index that is one term."""
    return Linear(((token, 1),))


def number(value: Dim) -> Linear:
    """Return a constant index."""
    return Linear((), value)


def strides(shape: Sequence[Dim]) -> list[Dim]:
    """Return the row-major strides of a shape in elements."""
    return [product(tuple(shape[i + 1 :])) for i in range(len(shape))]


def flatten(index: Sequence[Linear], shape: Sequence[Dim]) -> Linear:
    """Return the row-major offset of an index."""
    total = Linear()
    for part, stride in zip(index, strides(shape), strict=True):
        total = total + part * stride
    return total


def unflatten(flat: Linear, shape: Sequence[Dim]) -> list[Linear] | None:
    """Return the index of a row-major offset; None where it is not linear.

    Raises `NeedSplit` where splitting a token would make it so.
    """
    found: list[Linear] = []
    rest = flat
    for extent, stride in zip(shape, strides(shape), strict=True):
        if extent == 1 or stride == 0:  # there is one place, or none
            found.append(Linear())
            continue
        whole = [(t, floor_divide(c, stride)) for t, c in rest.terms if _divides(c, stride)]
        inner = Linear(
            tuple((t, c) for t, c in rest.terms if not _divides(c, stride)),
            remainder(rest.constant, stride),
        )
        if not _below(inner.highest(), stride):
            _request_split(inner, stride)
            return None
        found.append(Linear(tuple(whole), floor_divide(rest.constant, stride)))
        rest = inner
    return found


def _divides(coefficient: Dim, stride: Dim) -> bool:
    return remainder(coefficient, stride) == 0


def _below(a: Dim, b: Dim) -> bool:
    difference = b - a
    return isinstance(difference, int) and difference > 0


def _request_split(inner: Linear, stride: Dim) -> None:
    for term, coefficient in inner.terms:
        if isinstance(term, Token) and _divides(stride, coefficient):
            size = floor_divide(stride, coefficient)
            if size not in (0, 1) and term.extent != size and _divides(term.extent, size):
                raise NeedSplit(term, size)


def known_positive(value: Any) -> bool:
    """Say whether a dimension is a positive number."""
    return isinstance(value, int) and value > 0
