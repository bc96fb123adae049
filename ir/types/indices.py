"""Index expressions of kernels: linear in abstract loop dims, before loops exist.

A template names its loop dims by `Token`s, follows every read down to the buffers as a
`Linear` of tokens, and only then decides which tokens become loops: a token that a reshape
cuts is split (`NeedSplit`), neighbours that every access walks as one are merged.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

from xdsl.ir import SSAValue

from .dims import Dim, DimExpr, bounds, divide_terms, floor_divide, product, remainder
from .tensor import TensorSpec

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
Indices: TypeAlias = "tuple[Linear, ...]"


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

    def lowest(self) -> Dim | None:
        """Return the smallest value; None where the sign of a coefficient is not known."""
        return self._at(-1)

    def highest(self) -> Dim | None:
        """Return the largest value; None where the sign of a coefficient is not known."""
        return self._at(1)

    def _at(self, end: int) -> Dim | None:
        """Return the value where each term is at the end that makes it largest (1), smallest."""
        total = self.constant
        for term, coefficient in self.terms:
            direction = sign(coefficient)
            if direction is None:
                return None
            if direction == end:
                total = total + coefficient * (term.extent - 1)
        return total


def of(token: Term) -> Linear:
    """Return the index that is one term."""
    return Linear(((token, 1),))


def number(value: Dim) -> Linear:
    """Return a constant index."""
    return Linear((), value)


def broadcast_index(index: Sequence[Linear], source: TensorSpec, result: TensorSpec) -> Indices:
    """Return the index into an operand that broadcasts to the result."""
    tail = index[len(index) - source.rank :]
    dims = result.dims[result.rank - source.rank :]
    return tuple(
        number(0) if s == 1 and d != 1 else i
        for i, s, d in zip(tail, source.dims, dims, strict=True)
    )


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

    Terms that walk backwards count as walking forwards from where they end: what such a term
    takes away at most is put before the constant is parted, and is given back behind. Raises
    `NeedSplit` where splitting a token would make it linear.
    """
    found: list[Linear] = []
    rest = flat
    for extent, stride in zip(shape, strides(shape), strict=True):
        if extent == 1 or stride == 0:  # there is one place, or none
            found.append(Linear())
            continue
        whole = [(t, floor_divide(c, stride)) for t, c in rest.terms if _divides(c, stride)]
        parts = Linear(tuple((t, c) for t, c in rest.terms if not _divides(c, stride)))
        back = parts.lowest()
        if back is None:
            return None
        quotient, left = _divided(rest.constant + back, stride)
        inner = parts + (left - back)
        if not (_is_at_least(left, 0) and _below(inner.highest(), stride)):
            _request_split(inner, stride)
            return None
        found.append(Linear(tuple(whole), quotient))
        rest = inner
    return found


def _divides(coefficient: Dim, stride: Dim) -> bool:
    return remainder(coefficient, stride) == 0


def sign(value: Dim) -> int | None:
    """Return the sign of a coefficient, symbols being at least 0; None where it is not known.

    >>> from gravure.ir.types.dims import parse
    >>> sign(-2), sign(parse("N + 1")), sign(parse("N - 3"))
    (-1, 1, None)
    """
    if isinstance(value, int):
        return (value > 0) - (value < 0)
    low, high = bounds(value, {})
    return 1 if low >= 0 else -1 if high is not None and high <= 0 else None


def _divided(constant: Dim, stride: Dim) -> tuple[Dim, Dim]:
    """Return a quotient and a remainder: from 0 on, wherever that can be told."""
    if isinstance(stride, int):
        return floor_divide(constant, stride), remainder(constant, stride)
    quotient, left = divide_terms(constant, stride)
    if not _is_at_least(left, 0) and _is_at_least(left + stride, 0):
        return quotient - 1, left + stride
    return quotient, left


def _below(a: Dim | None, b: Dim) -> bool:
    return a is not None and _is_at_least(b, a + 1)


def _is_at_least(a: Dim, b: Dim) -> bool:
    """Say whether a >= b for all sizes, symbols being at least 0."""
    difference = a - b
    return (difference if isinstance(difference, int) else bounds(difference, {})[0]) >= 0


def _request_split(inner: Linear, stride: Dim) -> None:
    for term, coefficient in inner.terms:
        step = coefficient * (sign(coefficient) or 1)
        if isinstance(term, Token) and _divides(stride, step):
            size = floor_divide(stride, step)
            if size not in (0, 1) and term.extent != size and _divides(term.extent, size):
                raise NeedSplit(term, size)


def tokens_of(index: Linear) -> list[Token]:
    """Return the tokens of an index."""
    return [term for term, _ in index.terms if isinstance(term, Token)]


def places(tokens: Sequence[Token]) -> list[Dim]:
    """Return what one step of each token counts where they are walked as one."""
    return [product(tuple(t.extent for t in tokens[i + 1 :])) for i in range(len(tokens))]


def is_walked_as_one(tokens: Sequence[Token], offset: Linear) -> bool:
    """Say whether an offset takes the same step from token to token."""
    if not tokens:
        return True
    last = offset.coefficient(tokens[-1])
    return all(
        offset.coefficient(t) == p * last for t, p in zip(tokens, places(tokens), strict=True)
    )


def merged(
    tokens: Sequence[Token], accesses: Sequence[Linear], alone: Collection[Term] = ()
) -> list[list[Token]]:
    """Merge neighbouring tokens that every access walks as one."""
    groups: list[list[Token]] = []
    for token in tokens:
        if token.extent == 1:
            continue
        last = groups[-1][-1] if groups else None
        joins = (
            last is not None
            and last not in alone
            and token not in alone
            and all(a.coefficient(last) == a.coefficient(token) * token.extent for a in accesses)
        )
        if joins:
            groups[-1].append(token)
        else:
            groups.append([token])
    return groups
