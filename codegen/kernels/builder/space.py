"""`Space`: which tokens are which loops, and what a linear index is in the open loops.

Each loop walks a group of tokens (outermost first) as one. At most one group is walked by
vectors: then an index is a base and a stride per lane.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType
from xdsl.ir import SSAValue

from ....ir.types.dims import Dim, product
from ....ir.types.indices import (
    Linear,
    Opaque,
    Term,
    Token,
    is_walked_as_one,
    merged,
    places,
)
from .loops import NO_OVERFLOW, Index, Loops, vector_type

INDEX = IndexType()


@dataclass(eq=False)
class Group:
    """Tokens walked by one loop; `value` is its index while the loop is open."""

    tokens: tuple[Token, ...]
    value: Index | None = None
    begins_whole: bool = False
    """Whether vectors begin where an element is taken first that is taken several times running."""

    @property
    def extent(self) -> Dim:
        """Return the number of steps."""
        return product(tuple(t.extent for t in self.tokens))

    def places(self) -> list[Dim]:
        """Return what one step of each token counts in the group."""
        return places(self.tokens)


@dataclass
class Space:
    """The groups of a kernel."""

    groups: list[Group]
    vector: Group | None = None
    lanes: int = 0
    _of: dict[Term, tuple[Group, int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for group in self.groups:
            for position, token in enumerate(group.tokens):
                self._of[token] = (group, position)

    def add(self, group: Group) -> None:
        """Add a group later (a reduction's)."""
        self.groups.append(group)
        for position, token in enumerate(group.tokens):
            self._of[token] = (group, position)

    def times(self, index: Linear) -> int:
        """Return how many lanes running take each element, one after the other: 1 if not so."""
        group = self.vector
        if not self.lanes or group is None or not group.begins_whole:
            return 1
        if any(isinstance(term, Opaque) for term, _ in index.terms):
            return 1
        taken = taken_running(group.tokens, index)
        return taken if self.lanes % taken == 0 else 1

    def split(
        self, loops: Loops, index: Linear, times: int = 1
    ) -> tuple[Index, Dim, SSAValue | None]:
        """Return base, stride per lane of the vector group, and a vector of further offsets.

        Where elements are taken several `times` running, the stride is from one to the next, and
        lanes begin at a whole element.
        """
        total: Index = 0
        stride: Dim = 0
        extra: SSAValue | None = None
        parts: dict[int, tuple[Group, list[Dim]]] = {}
        for term, coefficient in index.terms:
            if isinstance(term, Opaque):
                assert term.value is not None, "an opaque index without a value"
                if term.lanes:
                    extra = _more(loops, extra, term.value, coefficient, term.lanes)
                else:
                    total = loops.add(total, loops.multiply(term.value, coefficient))
                continue
            if term.extent == 1:
                continue
            group, position = self._of[term]
            row = parts.setdefault(id(group), (group, [0] * len(group.tokens)))
            row[1][position] = row[1][position] + coefficient
        for group, coefficients in parts.values():
            factor = _common(coefficients, group.places())
            if group is self.vector and times > 1:
                total, stride = loops.add(total, loops.divide(self._value(group), times)), 1
                continue
            if factor is None:
                total, extra = self._apart(loops, group, coefficients, total, extra)
                continue
            if group is self.vector and self.lanes:
                stride = stride + factor
            total = loops.add(total, loops.multiply(self._value(group), factor))
        return loops.add(total, _constant(loops, index.constant)), stride, extra

    def is_contiguous(self, index: Linear) -> bool:
        """Say whether the index steps by one with the vector group, lanes and nothing else."""
        if self.vector is None:
            return False
        last = self.vector.tokens[-1]
        return len(self.vector.tokens) == 1 and index.coefficient(last) == 1

    def _value(self, group: Group) -> Index:
        assert group.value is not None, f"the loop over {group.tokens} is not open"
        return group.value

    def _apart(
        self, loops: Loops, group: Group, coefficients: Sequence[Dim], total: Index,
        extra: SSAValue | None,
    ) -> tuple[Index, SSAValue | None]:  # fmt: skip
        """Take a merged group apart by division."""
        lanes = self.lanes if group is self.vector else 0
        value = loops.index(self._value(group))
        if lanes:
            kind = vector_type(INDEX, lanes)
            wide = loops.broadcast(value, lanes)
            value = loops.pure(arith.AddiOp, (wide, loops.step(lanes)), kind, NO_OVERFLOW)
        for token, place, coefficient in zip(
            group.tokens, group.places(), coefficients, strict=True
        ):
            if coefficient == 0:
                continue
            one = _divided(loops, arith.DivUIOp, value, place, lanes)
            if token is not group.tokens[0]:
                one = _divided(loops, arith.RemUIOp, one, token.extent, lanes)
            if lanes:
                extra = _more(loops, extra, one, coefficient, lanes)
            else:
                total = loops.add(total, loops.multiply(one, coefficient))
        return total, extra


def _constant(loops: Loops, value: Dim) -> Index:
    return value if isinstance(value, int) else loops.dimension(value)


def _common(coefficients: Sequence[Dim], places: Sequence[Dim]) -> Dim | None:
    """Return f where coefficients = f * places, or None."""
    factor = coefficients[-1]
    fits = all(c == p * factor for c, p in zip(coefficients, places, strict=True))
    return factor if fits else None


def _divided(loops: Loops, op: type[arith.DivUIOp] | type[arith.RemUIOp], value: SSAValue,
             by: Dim, lanes: int) -> SSAValue:  # fmt: skip
    if by == 1 and op is arith.DivUIOp:
        return value
    divisor = loops.index(by)
    if lanes:
        divisor = loops.broadcast(divisor, lanes)
    return loops.pure(op, (value, divisor), vector_type(INDEX, lanes))


def _more(
    loops: Loops, extra: SSAValue | None, value: SSAValue, coefficient: Dim, lanes: int
) -> SSAValue:
    kind = vector_type(INDEX, lanes)
    if coefficient != 1:
        factor = loops.broadcast(loops.index(coefficient), lanes)
        value = loops.pure(arith.MuliOp, (value, factor), kind, NO_OVERFLOW)
    return value if extra is None else loops.pure(arith.AddiOp, (extra, value), kind, NO_OVERFLOW)


def merge(tokens: Sequence[Token], accesses: Sequence[Linear], alone: set[Term]) -> list[Group]:
    """Merge neighbouring tokens that every access walks as one."""
    return [Group(tuple(each)) for each in merged(tokens, accesses, alone)]


RUNNING = (2, 4, 8)
"""How often an element may be taken one after the other by lanes: these divide their number."""


def taken_running(tokens: Sequence[Token], index: Linear) -> int:
    """Return how often each of the elements that tokens walk is taken, one after the other.

    1: it is not, or what is taken does not lie side by side.
    """
    count, kept = 1, [*tokens]
    while kept and index.coefficient(kept[-1]) == 0:
        extent = kept.pop().extent
        count = count * extent if isinstance(extent, int) else 0
    if not kept or count not in RUNNING:
        return 1
    beside = index.coefficient(kept[-1]) == 1 and is_walked_as_one(kept, index)
    return count if beside else 1


def join_repeats(
    groups: list[Group], reads: Sequence[Linear], write: Linear, alone: set[Term]
) -> list[Group]:
    """Join the last two groups if elements are read several times running, as images doubled are.

    Other reads and the write go through both as one.
    """
    if len(groups) < 2:
        return groups
    *rest, outer, inner = groups
    tokens = (*outer.tokens, *inner.tokens)
    if not alone.isdisjoint(tokens) or not is_walked_as_one(tokens, write):
        return groups
    fits = [taken_running(tokens, each) == inner.extent for each in reads]
    if any(fits) and all(
        fit or is_walked_as_one(tokens, each) for fit, each in zip(fits, reads, strict=True)
    ):
        return [*rest, Group(tokens, begins_whole=True)]
    return groups
