"""What must hold of symbolic dimensions for an operation to fit, worked out from its shapes.

A table of 512 rows cut to the length L has min(512, L) rows. Where these are added to L others
the model is only meant for L <= 512: that is assumed, the range of L narrowed, and the model
read again. What the range of one symbol cannot say, as P + T <= 64, is kept as a fact. Where an
image of H // 4 rows is made twice as high and joined to one of H // 2 rows, H is a multiple of 4:
it is read again as four times another symbol, and each run checks that it is. A size that is
joined to what has one row is 1: exporters leave it open though they have traced a number. A mask of
W words, of which the last W - P are added to N others behind P, is one of W = P + N words. Axes to
which an exporter has given names of their own are of one size where only that fits, and one is what
is computed of others where it has to be.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import islice
from math import gcd, prod

from ...ir import Dim, DimExpr, TensorSpec
from ...ir.types import dims as dim_rules
from ...ir.types.dims import Atom
from ...ir.types.shapes import BroadcastError, UnequalError
from .slices import Knowledge

DEPTH = 4
"""Minima and maxima of one dimension that are looked into."""


@dataclass(frozen=True)
class Assumption:
    """`small <= large`, or that both are equal, and what made it necessary."""

    small: Dim
    large: Dim
    are_equal: bool
    reason: str
    of_data: bool = False
    """Whether `small` is the size of a result of a host step, which is checked in each run."""
    is_multiple: bool = False
    """Whether it is that the symbol `small` is a multiple of the number `large`."""

    def __str__(self) -> str:
        if self.is_multiple:
            return f"{self.small} is a multiple of {self.large}"
        sign = "=" if self.are_equal else "<="
        return f"{self.small} {sign} {self.large}"


class NeedsAssumptionError(Exception):
    """The model must be read again under one more assumption."""

    def __init__(self, assumption: Assumption) -> None:
        super().__init__(str(assumption))
        self.assumption = assumption


def assumption_for(
    pairs: Iterable[tuple[Dim, Dim]],
    known: Knowledge,
    nameless: Sequence[str],
    reason: str,
) -> Assumption | None:
    """Return what to assume for one of these pairs of sizes to be equal, if that is clear.

    `nameless` are symbols that nobody named: such a one may be taken for equal to another.
    """
    for a, b in pairs:
        for small, large in _needed(a, b, DEPTH) or ():
            if not known.at_least(large, small):
                least, most = _most(large - small) or (small, large)
                return Assumption(least, most, are_equal=False, reason=reason)
        names = str(a), str(b)
        if all(name.isidentifier() for name in names) and set(names) & set(nameless):
            first, second = (a, b) if names[0] in nameless else (b, a)
            return Assumption(first, second, are_equal=True, reason=reason)
    return None


def assumed_single(error: BaseException, known: Knowledge, reason: str) -> Assumption | None:
    """Return that a size which is 1 at the most is 1, where it broadcasts against another.

    A first row that is cut out of many is one of `min(1, n)`; what it is spread to is no more.
    """
    cause = unequal(error)
    if not isinstance(cause, BroadcastError):
        return None
    for size in cause.sizes:
        if not isinstance(size, int) and known.at_least(1, size):
            return assumption_for([(size, 1)], known, (), reason)
    return None


def _most(rest: Dim) -> tuple[Dim, Dim] | None:
    """Return a symbol and a number that it is at most, if that is what 0 <= `rest` says."""
    symbols = sorted(dim_rules.symbols(rest))
    if len(symbols) != 1:
        return None
    most = rest + dim_rules.symbol(symbols[0])
    return (dim_rules.symbol(symbols[0]), most) if isinstance(most, int) else None


def assumed_number(error: BaseException, reason: str) -> Assumption | None:
    """Return that a named size is the number which an operation needs, if that is the fault.

    So is one that stands beside the same factors as a number: exporters write lengths down.
    """
    cause = unequal(error)
    if cause is None:
        return None
    a, b = cause.sizes
    for product, needed in ((a, b), (b, a)):
        for name in sorted(dim_rules.symbols(product)):
            count = _number_of(name, product, needed)
            if count is not None:
                size = dim_rules.symbol(name)
                return Assumption(size, count, are_equal=True, reason=reason)
    return None


def _number_of(name: str, product: Dim, needed: Dim) -> int | None:
    """Return which number a symbol is if a product or sum with it is what is needed, if just one.

    >>> _number_of("L", dim_rules.parse("2*L + 1"), 9)
    4

    >>> _number_of("L", dim_rules.parse("16*B*L"), dim_rules.parse("80*B"))
    5
    """
    factors, left = dim_rules.divide_terms(product - needed, dim_rules.symbol(name))
    if isinstance(factors, int) and isinstance(left, int) and factors:
        number = -left // factors
        return number if number > 0 and number * factors == -left else None
    factors, left = dim_rules.divide_terms(product, dim_rules.symbol(name))
    if left != 0 or name in dim_rules.symbols(factors):
        return None
    count = dim_rules.floor_divide(needed, factors)
    return count if isinstance(count, int) and count > 0 and count * factors == needed else None


def assumed_multiple(pairs: Iterable[tuple[Dim, Dim]], reason: str) -> Assumption | None:
    """Return of which number a symbol is a multiple, if that makes sizes equal that must be."""
    for a, b in pairs:
        for symbol, factor in _multiples(a - b).items():
            return Assumption(
                dim_rules.symbol(symbol), factor, are_equal=False, reason=reason, is_multiple=True
            )
    return None


def assumed_sum(
    pairs: Collection[tuple[Dim, Dim]], plain: Collection[str], known: Knowledge, reason: str
) -> Assumption | None:
    """Return that one of some symbols is a sum of others, if that makes sizes equal that must be.

    It is read again as that sum, and each run checks that its size is. Best is one that holds for
    all sizes, then that a symbol is what it has to be equal to, whatever that is.
    """
    chances: list[tuple[str, Dim]] = []
    for a, b in pairs:
        for without in _chosen(a - b, DEPTH):
            for name, value in _solutions(without):
                if name in plain and dim_rules.symbols(value) <= {*plain}:
                    needed = _needed(dim_rules.substitute(a - b, {name: value}), 0, DEPTH)
                    if needed is not None and all(known.at_least(y, x) for x, y in needed):
                        return _is_sum(name, value, reason)
                    chances += [] if needed is None else [(name, value)]
    if not chances:
        return None
    return assumed_whatever(pairs, plain, reason) or _is_sum(*chances[0], reason)


def assumed_whatever(
    pairs: Iterable[tuple[Dim, Dim]], plain: Collection[str], reason: str
) -> Assumption | None:
    """Return that a symbol is what it has to be equal to, whatever that is of others."""
    for a, b in pairs:
        for name, value in ((str(a), b), (str(b), a)):
            others = dim_rules.symbols(value)
            if name in plain and name not in others and others and others <= {*plain}:
                return _is_sum(name, value, reason)
    return None


def assumed_rest(
    pairs: Iterable[tuple[Dim, Dim]], plain: Collection[str], reason: str
) -> Assumption | None:
    """Return that a symbol is what others leave of a sum or of a product, where nothing else fits.

    A row of `L` elements that becomes an image of `H` by `W` is one of `H*W`; of what is joined to
    6 rows one part has as many as the others leave.
    """
    for a, b in pairs:
        left = _without_factors(a - b)
        if isinstance(left, int):
            continue
        for name in sorted(dim_rules.symbols(left) & {*plain}):
            rest = _rest(left, name)
            others = set() if rest is None else dim_rules.symbols(rest)
            if rest is not None and others and others <= {*plain}:
                return _is_sum(name, rest, reason)
    return None


def _without_factors(difference: Dim) -> Dim:
    """Return a difference without the symbols that all of it is multiplied by, and their number.

    >>> _without_factors(dim_rules.parse("3*n*H*W - 3*n*L"))
    DimExpr('H*W - L')
    """
    if isinstance(difference, int):
        return difference
    common = reduce(_both, (monomial for monomial, _ in difference.terms))
    if not common:
        return difference
    factor = dim_rules.DimExpr(((common, gcd(*(count for _, count in difference.terms))),))
    return dim_rules.divide_terms(difference, factor)[0]


def _both(one: tuple[Atom, ...], other: tuple[Atom, ...]) -> tuple[Atom, ...]:
    """Return the factors that two products have in common."""
    return tuple((Counter(one) & Counter(other)).elements())


def _is_sum(name: str, value: Dim, reason: str) -> Assumption:
    return Assumption(dim_rules.symbol(name), value, are_equal=True, reason=reason)


def assumed_same(
    pairs: Iterable[tuple[Dim, Dim]], places: Mapping[str, int], reason: str
) -> Assumption | None:
    """Return that two named sizes are one, if sizes that must be equal are so then, or nearly.

    Exporters give each axis a name of its own. `places` are the axes of inputs with such names:
    best are two that stand in the same place. Each run checks that their sizes are the same.
    """
    for a, b in pairs:
        names = sorted((dim_rules.symbols(a) | dim_rules.symbols(b)) & places.keys())
        found = []
        for one, other in itertools.combinations(names[:MOST_NAMES], 2):
            made = dim_rules.substitute(a - b, {other: dim_rules.symbol(one)})
            if made == 0 or _operations(made) < _operations(a - b):
                found.append((_operations(made), places[one] != places[other], one, other))
        if found:
            *_, one, other = min(found)
            small, large = dim_rules.symbol(other), dim_rules.symbol(one)
            return Assumption(small, large, are_equal=True, reason=reason)
    return None


def assumed_cut_alike(
    pairs: Iterable[tuple[Dim, Dim]], places: Mapping[str, int], reason: str
) -> Assumption | None:
    """Return that two named sizes are one, if sizes that are cut to a length are equal then.

    Of others that are as long as what they are cut to, less would be left. Where sums are cut, and
    no two names alone make them equal, one of the names is what is left of the other sum.
    """
    for a, b in pairs:
        if not (_extremes(a) and _extremes(b)):
            continue
        names = sorted((dim_rules.symbols(a) | dim_rules.symbols(b)) & places.keys())[:MOST_NAMES]
        every = [*itertools.combinations(names, 2)]
        for one, other in sorted(every, key=lambda pair: places[pair[0]] != places[pair[1]]):
            if dim_rules.substitute(a - b, {other: dim_rules.symbol(one)}) == 0:
                small, large = dim_rules.symbol(other), dim_rules.symbol(one)
                return Assumption(small, large, are_equal=True, reason=reason)
        for without in _chosen(a - b, DEPTH):
            for name in names:
                rest = _rest(without, name)
                if rest is not None and dim_rules.substitute(a - b, {name: rest}) == 0:
                    return _is_sum(name, rest, reason)
    return None


def _rest(difference: DimExpr, name: str) -> Dim | None:
    """Return what a name is if a difference of sums is 0, None if it is no other sum.

    >>> _rest(dim_rules.parse("m + n - p - q"), "q")
    DimExpr('m + n - p')
    """
    factor = dict(difference.terms).get((Atom(name),))
    if factor not in (1, -1) or any(atom.op for m, _ in difference.terms for atom in m):
        return None
    rest = dim_rules.symbol(name) - difference * factor
    return None if name in dim_rules.symbols(rest) else rest


def _operations(dim: Dim) -> int:
    """Return how many quotients, remainders, minima and maxima an expression has."""
    terms = () if isinstance(dim, int) else dim.terms
    atoms = [atom for monomial, _ in terms for atom in monomial if atom.op]
    inner = sum(_operations(dim_rules.parse(text)) for atom in atoms for text in atom.args)
    return len(atoms) + inner


def _chosen(difference: Dim, depth: int) -> Iterator[DimExpr]:
    """Give a difference with each choice of the sides of its minima and maxima."""
    if isinstance(difference, int):
        return
    atoms = _extremes(difference)
    if not atoms:
        yield difference
    for text in atoms[0].args if atoms and depth else ():
        yield from _chosen(
            dim_rules.replace_atom(difference, atoms[0], dim_rules.parse(text)), depth - 1
        )


def _solutions(difference: DimExpr) -> Iterator[tuple[str, Dim]]:
    """Give symbols with the sums of others that they are if a difference is 0.

    >>> [(name, str(value)) for name, value in _solutions(dim_rules.parse("n + p - w"))]
    [('w', 'n + p')]
    """
    if any(
        len(monomial) > 1 or any(atom.op for atom in monomial) for monomial, _ in difference.terms
    ):
        return
    for monomial, coefficient in difference.terms:
        if monomial and coefficient in (1, -1):
            value = dim_rules.symbol(monomial[0].name) - difference * coefficient
            terms = () if isinstance(value, int) else value.terms
            if len(terms) > 1 and all(count > 0 for _, count in terms):
                yield monomial[0].name, value


LARGEST = 4096
"""The largest number of which a symbol is taken for a multiple."""
MOST_NAMES = 8
"""Names of one pair of sizes of which each two are tried."""
MOST_CHOICES = 512
"""Combinations of multiples that are tried for one difference."""


def _multiples(difference: Dim) -> dict[str, int]:
    """Return of which numbers symbols are multiples if a difference is 0: the smallest that do.

    >>> _multiples(dim_rules.parse("2*(h // 2 // 2) - h // 2"))
    {'h': 4}
    """
    divisors: dict[str, set[int]] = {}
    _find_divisors(difference, divisors)
    choices = [[(name, n) for n in _products(found)] for name, found in divisors.items()]
    for chosen in islice(_by_size(choices), MOST_CHOICES):
        values = {name: dim_rules.symbol(name) * n for name, n in chosen if n > 1}
        if values and dim_rules.substitute(difference, values) == 0:
            return {name: n for name, n in chosen if n > 1}
    return {}


def _by_size(choices: list[list[tuple[str, int]]]) -> Iterator[tuple[tuple[str, int], ...]]:
    """Give all combinations, those of small numbers first."""
    if not choices:
        return iter(())
    return iter(sorted(itertools.product(*choices), key=lambda each: prod(n for _, n in each)))


def _find_divisors(dim: Dim, found: dict[str, set[int]]) -> None:
    """Note by which numbers expressions of each symbol are divided."""
    if isinstance(dim, int):
        return
    for atom in dict.fromkeys(atom for monomial, _ in dim.terms for atom in monomial if atom.op):
        first, second = (dim_rules.parse(text) for text in atom.args)
        if atom.op in ("//", "%") and isinstance(second, int) and second > 1:
            for name in sorted(dim_rules.symbols(first)):
                found.setdefault(name, set()).add(second)
        for part in (first, second):
            _find_divisors(part, found)


def _products(numbers: set[int]) -> list[int]:
    """Return 1 and the products of numbers, each taken any number of times, up to `LARGEST`."""
    made = {1}
    for number in sorted(numbers):
        for one in sorted(made):
            while (one := one * number) <= LARGEST:
                made.add(one)
    return sorted(made)[:32]


def differing(error: BaseException, specs: Sequence[TensorSpec]) -> list[tuple[Dim, Dim]]:
    """Return the sizes that an error is about; where it does not say, all that differ.

    Others of an error that says are none of the operation's: axes of a sum against those that a
    product would have.
    """
    cause = unequal(error)
    return [*clashes(specs)] if cause is None else [cause.sizes]


def unequal(error: BaseException) -> UnequalError | None:
    """Return the error about two sizes that is behind another, if there is one."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, UnequalError):
        cause = cause.__cause__
    return cause


def assumption_of(error: BaseException, data: Sequence[str], reason: str) -> Assumption | None:
    """Return that a size which only a run tells is the one that an operation needs, if it is so.

    `data` are the symbols of such sizes. Each run checks what is assumed of them.
    """
    cause = unequal(error)
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
            rest = _needed(dim_rules.replace_atom(difference, atom, chosen), 0, depth - 1)
            if rest is not None:
                pair = (chosen, other) if atom.op == "min" else (other, chosen)
                return [pair, *rest]
    return None


def _extremes(dim: Dim) -> list[Atom]:
    """Return the minima and maxima in a dimension, those of quotients too, outer ones first."""
    if isinstance(dim, int):
        return []
    atoms = [atom for monomial, _ in dim.terms for atom in monomial if atom.op]
    found = [atom for atom in atoms if atom.op in ("min", "max")]
    for atom in atoms:
        found += [each for text in atom.args for each in _extremes(dim_rules.parse(text))]
    return list(dict.fromkeys(found))


def settled(dim: Dim, known: Knowledge) -> Dim:
    """Return a dimension without the minima and maxima of which one side is known to be it.

    >>> known = Knowledge({}, [dim_rules.parse("a + b - 160")])
    >>> settled(dim_rules.parse("min(160, a + b) + 1"), known)
    161
    """
    if isinstance(dim, int):
        return dim
    for atom in _extremes(dim):
        first, second = (dim_rules.parse(text) for text in atom.args)
        small, large = (first, second) if known.at_least(second, first) else (second, first)
        if known.at_least(large, small):
            return settled(
                dim_rules.replace_atom(dim, atom, small if atom.op == "min" else large), known
            )
    return dim
