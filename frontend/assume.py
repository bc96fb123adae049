"""What must hold of symbolic dimensions for an operation to fit, worked out from its shapes.

A table of 512 rows cut to the length L has min(512, L) rows. Where these are added to L others
the model is only meant for L <= 512: that is assumed, the range of L narrowed, and the model
read again. What the range of one symbol cannot say, as P + T <= 64, is kept as a fact.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from ..ir import Dim, DimExpr, TensorSpec
from ..ir import dims as dim_rules
from ..ir.dims import Atom, Monomial
from ..ir.shapes import UnequalError
from .slices import Knowledge

DEPTH = 4
"""Minima and maxima of one dimension that are looked into."""


@dataclass(frozen=True)
class Assumption:
    """`small <= large`, or that both are equal symbols, and what made it necessary."""

    small: Dim
    large: Dim
    are_equal: bool
    reason: str
    of_data: bool = False
    """Whether `small` is the size of a result of a host step, which is checked in each run."""

    def __str__(self) -> str:
        sign = "=" if self.are_equal else "<="
        return f"{self.small} {sign} {self.large}"


class NeedsAssumptionError(Exception):
    """The model must be read again under one more assumption."""

    def __init__(self, assumption: Assumption) -> None:
        super().__init__(str(assumption))
        self.assumption = assumption


def assumption_for(
    specs: Sequence[TensorSpec],
    known: Knowledge,
    nameless: Sequence[str],
    reason: str,
) -> Assumption | None:
    """Return what to assume for tensors of these shapes to fit together, if that is clear.

    `nameless` are symbols that nobody named: such a one may be taken for equal to another.
    """
    for a, b in clashes(specs):
        for small, large in _needed(a, b, DEPTH) or ():
            if not known.at_least(large, small):
                return Assumption(small, large, are_equal=False, reason=reason)
        names = str(a), str(b)
        if all(name.isidentifier() for name in names) and set(names) & set(nameless):
            first, second = (a, b) if names[0] in nameless else (b, a)
            return Assumption(first, second, are_equal=True, reason=reason)
    return None


def assumption_of(error: BaseException, data: Sequence[str], reason: str) -> Assumption | None:
    """Return that a size which only a run tells is the one that an operation needs, if it is so.

    `data` are the symbols of such sizes. Each run checks what is assumed of them.
    """
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, UnequalError):
        cause = cause.__cause__
    if cause is None:
        return None
    a, b = cause.sizes
    for small, large in ((b, a), (a, b)):
        if str(small) in data and str(small) not in dim_rules.symbols(large):
            return Assumption(small, large, are_equal=True, reason=reason, of_data=True)
    return None


def clashes(specs: Sequence[TensorSpec]) -> Iterator[tuple[Dim, Dim]]:
    """Give unequal dimensions against each other: from the end, and as in a product."""
    shapes = [spec.shape for spec in specs if spec.shape]
    for i, first in enumerate(shapes):
        for second in shapes[i + 1 :]:
            pairs = [*zip(reversed(first), reversed(second), strict=False)]
            if len(second) > 1:
                pairs.append((first[-1], second[-2]))
            yield from ((a, b) for a, b in pairs if 1 not in (a, b) and a != b)


def _needed(a: Dim, b: Dim, depth: int) -> list[tuple[Dim, Dim]] | None:
    """Return pairs of small and large by which two dimensions are equal, None if there are none.

    >>> length = dim_rules.symbol("L")
    >>> _needed(length, dim_rules.minimum(512, length), 1)
    [(DimExpr('L'), 512)]
    """
    difference = a - b
    if isinstance(difference, int):
        return None if difference else []
    if not depth:
        return None
    for atom in _extremes(difference):
        first, second = (dim_rules.parse(text) for text in atom.args)
        for chosen, other in ((first, second), (second, first)):
            rest = _needed(_replaced(difference, atom, chosen), 0, depth - 1)
            if rest is not None:
                pair = (chosen, other) if atom.op == "min" else (other, chosen)
                return [pair, *rest]
    return None


def _extremes(dim: DimExpr) -> list[Atom]:
    """Return the minima and maxima that are factors of a dimension's terms."""
    atoms = [atom for monomial, _ in dim.terms for atom in monomial]
    return list(dict.fromkeys(atom for atom in atoms if atom.op in ("min", "max")))


def _replaced(dim: DimExpr, atom: Atom, value: Dim) -> Dim:
    total: Dim = 0
    for monomial, coefficient in dim.terms:
        term: Dim = coefficient
        for factor in monomial:
            one: Monomial = (factor,)
            term = term * (value if factor == atom else DimExpr(((one, 1),)))
        total = total + term
    return total
