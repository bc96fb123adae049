"""Dimensions that may be symbols: integer polynomials with ranges.

A dimension is an `int` or a `DimExpr`: a sum of products of symbols (`N`) and of
floor-divisions, remainders, minima and maxima of such sums. Expressions are kept in one
canonical form, so that equality is structural, and are written in Python's syntax.

>>> n = symbol("N")
>>> (n + 1) * 2 - n
DimExpr('N + 2')
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import gcd, inf
from typing import TypeAlias

from ...trees import expression_of

Dim: TypeAlias = "int | DimExpr"
Range: TypeAlias = tuple[int, int | None]
"""Lowest and highest value of a symbol; None means unbounded."""


@dataclass(frozen=True, order=True)
class Atom:
    """A symbol (`op` is empty, `name` set) or a function of two expressions."""

    name: str
    op: str = ""
    args: tuple[str, ...] = ()
    """The arguments in canonical text; parsed back on use."""

    def __str__(self) -> str:
        if not self.op:
            return self.name
        if self.op in ("max", "min"):
            return f"{self.op}({', '.join(self.args)})"
        return f"({self.args[0]}) {self.op} ({self.args[1]})"


Monomial: TypeAlias = tuple[Atom, ...]
Terms: TypeAlias = tuple[tuple[Monomial, int], ...]


class DimExpr:
    """A canonical integer expression of symbols. Build by `symbol` and arithmetic."""

    __slots__ = ("_hash", "terms", "text")

    def __init__(self, terms: Terms) -> None:
        self.terms = terms
        self.text = _text(terms)
        self._hash = hash(self.text)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DimExpr) and self.text == other.text

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"DimExpr({self.text!r})"

    def __str__(self) -> str:
        return self.text

    def __add__(self, other: Dim) -> Dim:
        return _sum(self.terms + _terms(other))

    __radd__ = __add__

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        return self + other * -1

    def __rsub__(self, other: Dim) -> Dim:
        return other + self * -1

    def __mul__(self, other: Dim) -> Dim:
        return _sum(
            tuple((tuple(sorted(a + b)), x * y) for a, x in self.terms for b, y in _terms(other))
        )

    __rmul__ = __mul__

    def __floordiv__(self, other: Dim) -> Dim:
        return floor_divide(self, other)

    def __rfloordiv__(self, other: int) -> Dim:
        return floor_divide(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return remainder(self, other)

    def __rmod__(self, other: int) -> Dim:
        return remainder(other, self)


def symbol(name: str) -> DimExpr:
    """Return the expression that is one symbol."""
    if not name.isidentifier():
        raise ValueError(f"dimension symbol {name!r} is not an identifier")
    return DimExpr((((Atom(name),), 1),))


def floor_divide(a: Dim, b: Dim) -> Dim:
    """Return a // b; exact when every term divides.

    What is added to the dividend is less than a number that divides it, so that equal sizes which
    come about in several ways are one expression.

    >>> floor_divide(parse("n - 7"), 6) + 1
    DimExpr('((n + 5) // (6)) - 1')
    """
    if isinstance(a, int) and isinstance(b, int):
        return a // b
    if b == 1 or a == 0:
        return a
    if isinstance(b, int) and isinstance(a, DimExpr):
        whole = tuple((m, c // b) for m, c in a.terms if c % b == 0 or (not m and c // b))
        rest = a - _sum(whole) * b
        if whole:
            return _sum(whole) + floor_divide(rest, b)
        joined = _joined_quotient(a, b)
        if joined is not None:
            return joined
    quotient = _exact_quotient(a, b)
    if quotient is not None:
        return quotient
    one, other = _without_common(a, b)
    return _function("//", a, b) if other == b else floor_divide(one, other)


def _without_common(a: Dim, b: Dim) -> tuple[Dim, Dim]:
    """Return two expressions without the factors that all their terms have.

    >>> _without_common(parse("2*a*b*c"), parse("4*a*c"))
    (DimExpr('b'), 2)
    """
    if isinstance(a, int) or isinstance(b, int):
        return a, b
    monomials = [monomial for monomial, _ in (*a.terms, *b.terms)]
    common: list[Atom] = []
    for atom in monomials[0]:
        if all(each.count(atom) > common.count(atom) for each in monomials):
            common.append(atom)
    number = gcd(*(times for _, times in (*a.terms, *b.terms)))
    if not common and number == 1:
        return a, b
    one, other = (
        _sum(tuple((_without(m, tuple(common)) or (), times // number) for m, times in x.terms))
        for x in (a, b)
    )
    return one, other


def _joined_quotient(a: DimExpr, b: int) -> Dim | None:
    """Return (x // m + y) // b as (x + m * y) // (m * b), where there is one such x.

    So what is halved twice is what is divided by four.
    """
    quotients = [m[0] for m, times in a.terms if len(m) == 1 and times == 1 and m[0].op == "//"]
    if len(quotients) != 1 or b < 1:
        return None
    dividend, divisor = map(parse, quotients[0].args)
    if not isinstance(divisor, int) or divisor < 1:
        return None
    rest = a - _function("//", dividend, divisor)
    return floor_divide(dividend + rest * divisor, b * divisor)


def _exact_quotient(a: Dim, b: Dim) -> Dim | None:
    """Return a / b where that is an expression."""
    if a == b:
        return 1
    if isinstance(a, int) or isinstance(b, int):
        return None
    quotient, rest = divide_terms(a, b)
    return quotient if rest == 0 else None


def divide_terms(a: Dim, b: DimExpr) -> tuple[Dim, Dim]:
    """Return q and r with a = q * b + r, by long division of polynomials.

    No term of r is a multiple of the first term of b: r may be of either sign, and larger than b.

    >>> divide_terms(parse("4*p*n + 4*n + p"), symbol("p") + 1)
    (DimExpr('4*n + 1'), -1)
    """
    divisor, scale = b.terms[0]
    quotient: Dim = 0
    rest: Dim = 0
    while not isinstance(a, int):
        monomial, coefficient = a.terms[0]
        left = _without(monomial, divisor)
        if left is None or coefficient % scale:
            part = _sum(((monomial, coefficient),))
            rest, a = rest + part, a - part
            continue
        factor = _sum(((left, coefficient // scale),))
        quotient, a = quotient + factor, a - factor * b
    return quotient, rest + a


def _without(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    """Return what is left of a product of atoms without those of another; None if some lack."""
    left = list(monomial)
    for atom in divisor:
        if atom not in left:
            return None
        left.remove(atom)
    return tuple(left)


def remainder(a: Dim, b: Dim) -> Dim:
    """Return a % b; remainders of multiples of b stand in it for what they are remainders of.

    >>> remainder(parse("n % 14 + 2*n"), 7)
    DimExpr('((3*n) % (7))')
    """
    if isinstance(a, int) and isinstance(b, int):
        return a % b
    if b == 1 or a == 0:
        return 0
    if isinstance(b, int) and isinstance(a, DimExpr):
        rest = _sum(tuple((m, c % b) for m, c in a.terms if c % b))
        if any(_divisor(atom) and _divisor(atom) % b == 0 for m, _ in _terms(rest) for atom in m):
            return remainder(_without_remainders(rest, b), b)
        return rest % b if isinstance(rest, int) else _function("%", rest, b)
    return 0 if _exact_quotient(a, b) is not None else _function("%", a, b)


def _without_remainders(dim: Dim, b: int) -> Dim:
    """Return what has the same remainder by b: factors that are remainders of its multiples go."""
    total: Dim = 0
    for monomial, coefficient in _terms(dim):
        term: Dim = coefficient
        for atom in monomial:
            is_over = _divisor(atom) and _divisor(atom) % b == 0
            term = term * (parse(atom.args[0]) if is_over else _sum((((atom,), 1),)))
        total = total + term
    return total


def _divisor(atom: Atom) -> int:
    """Return by which number an atom is a remainder; 0 if it is none."""
    return int(atom.args[1]) if atom.op == "%" and atom.args[1].isdigit() else 0


def maximum(a: Dim, b: Dim) -> Dim:
    """Return the larger of two dimensions."""
    return _extreme("max", max, a, b)


def minimum(a: Dim, b: Dim) -> Dim:
    """Return the smaller of two dimensions."""
    return _extreme("min", min, a, b)


def _extreme(op: str, fold: Callable[[int, int], int], a: Dim, b: Dim) -> Dim:
    difference = a - b
    if isinstance(difference, int):
        return a if fold(difference, 0) == difference else b
    first, second = sorted((a, b), key=str)
    return _function(op, first, second)


def product(dims: tuple[Dim, ...] | list[Dim]) -> Dim:
    """Return the product of dimensions, 1 for none."""
    total: Dim = 1
    for dim in dims:
        total = total * dim
    return total


def ceil_divide(a: Dim, b: int) -> Dim:
    """Return a / b rounded up."""
    return (a + (b - 1)) // b


@lru_cache(maxsize=4096)
@lru_cache(maxsize=1 << 14)
def parse(text: str) -> Dim:
    """Read an expression in Python's syntax.

    >>> parse("N*2 + 3")
    DimExpr('2*N + 3')
    """
    try:
        return _from_ast(expression_of(text.strip()))
    except (SyntaxError, RecursionError, KeyError, ZeroDivisionError) as error:
        raise ValueError(f"dimension {text!r} is not an integer expression") from error


_BINARY: dict[type[ast.operator], Callable[[Dim, Dim], Dim]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.FloorDiv: floor_divide,
    ast.Mod: remainder,
}
_CALLS: dict[str, Callable[[Dim, Dim], Dim]] = {"max": maximum, "min": minimum}


def _from_ast(node: ast.expr) -> Dim:
    match node:
        case ast.Constant(value=bool()):
            raise KeyError("bool")
        case ast.Constant(value=int(value)):
            return value
        case ast.Name(id=name):
            return symbol(name)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return 0 - _from_ast(operand)
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_from_ast(left), _from_ast(right))
        case ast.Call(func=ast.Name(id=name), args=[first, second], keywords=[]):
            return _CALLS[name](_from_ast(first), _from_ast(second))
        case _:
            raise KeyError(ast.dump(node))


def evaluate(dim: Dim, values: Mapping[str, int]) -> int:
    """Return the value of a dimension where its symbols have these values."""
    if isinstance(dim, int):
        return dim
    total = 0
    for monomial, coefficient in dim.terms:
        term = coefficient
        for atom in monomial:
            term *= _evaluate_atom(atom, values)
        total += term
    return total


def substitute(dim: Dim, values: Mapping[str, Dim]) -> Dim:
    """Return the dimension with symbols replaced."""
    if isinstance(dim, int) or not symbols(dim) & values.keys():
        return dim
    total: Dim = 0
    for monomial, coefficient in dim.terms:
        term: Dim = coefficient
        for atom in monomial:
            term = term * _substitute_atom(atom, values)
        total = total + term
    return total


def may_be(dim: DimExpr, size: int, known: dict[str, int]) -> bool:
    """Say whether a dimension may have a size; the one symbol that is not known is told by it.

    >>> known = {"n": 2}
    >>> may_be(parse("3*k + n"), 11, known), known["k"], may_be(parse("3*k + n"), 12, known)
    (True, 3, False)
    """
    missing = [name for name in symbols(dim) if name not in known]
    if not missing:
        return evaluate(dim, known) == size
    own = (Atom(missing[0]),)
    factor = sum(n for monomial, n in dim.terms if monomial == own)
    rest = DimExpr(tuple(term for term in dim.terms if term[0] != own))
    if len(missing) > 1 or not factor or not symbols(rest) <= known.keys():
        return True  # what tells them comes later
    value, left = divmod(size - evaluate(rest, known), factor)
    known[missing[0]] = value
    return left == 0 and value >= 0


def symbols(dim: Dim) -> frozenset[str]:
    """Return the names of the symbols in a dimension."""
    if isinstance(dim, int):
        return frozenset()
    names: set[str] = set()
    for monomial, _ in dim.terms:
        for atom in monomial:
            names |= {atom.name} if not atom.op else set().union(*map(_text_symbols, atom.args))
    return frozenset(names)


def bounds(dim: Dim, ranges: Mapping[str, Range]) -> Range:
    """Return the lowest and highest value over the symbols' ranges (None: unbounded).

    A symbol without a range counts as at least 0. Bounds are safe, not always tight.
    """
    low, high = _interval(dim, ranges)
    if high == inf:
        high = _highest(dim, ranges)
    return LOWEST if low == -inf else int(low), None if high == inf else int(high)


LOWEST = -(2**63)
"""The lower bound of what has none."""
Interval: TypeAlias = tuple[float, float]
"""Lowest and highest value: integers, or infinities."""


def _highest(dim: Dim, ranges: Mapping[str, Range], depth: int = 4) -> float:
    """Return an upper end; of what has none by its terms alone, by what maxima and minima are.

    >>> _highest(parse("n - max(0, n - 1)"), {}), _highest(parse("max(0, n - 2) - n"), {})
    (1, 0)
    """
    high = _interval(dim, ranges)[1]
    if high < inf or isinstance(dim, int) or not depth:
        return high
    for monomial, coefficient in dim.terms:
        if len(monomial) == 1 and monomial[0].op in ("max", "min"):
            atom, rest = monomial[0], dim - _sum(((monomial, coefficient),))
            ends = [
                _highest(rest + coefficient * parse(text), ranges, depth - 1) for text in atom.args
            ]
            return max(ends) if (atom.op == "max") == (coefficient > 0) else min(ends)
    return high


def _interval(dim: Dim, ranges: Mapping[str, Range]) -> Interval:
    if isinstance(dim, int):
        return dim, dim
    total: Interval = (0, 0)
    for monomial, coefficient in dim.terms:
        term: Interval = (coefficient, coefficient)
        for atom in monomial:
            term = _span(_times, term, _atom_interval(atom, ranges))
        high = min([term[1], *_ends_by_quotients(monomial, coefficient, ranges)])
        total = total[0] + term[0], total[1] + high
    return total


def _ends_by_quotients(
    monomial: Monomial, coefficient: int, ranges: Mapping[str, Range]
) -> Iterator[float]:
    """Give upper ends of a term in which a quotient is multiplied by what it is divided by.

    `n // d * d` is at most `n`, where the ends of `n // d` and of `d` come from other values.

    >>> bounds(parse("4*(h // 2)*(b*h // (4*(h // 2)))"), {"b": (1, 8), "h": (1, 8)})
    (0, 64)
    """
    quotients = [atom for atom in monomial if atom.op == "//"]
    for atom in quotients if coefficient > 0 else ():
        whole, divisor = map(parse, atom.args)
        if len(_terms(divisor)) != 1:
            continue
        ((factors, by),) = _terms(divisor)
        rest = _without(_beside(monomial, atom), factors)
        if rest is not None and by > 0:
            parts = _sum(((rest, 1),)), whole, _sum(((factors, 1),))
            if all(_interval(part, ranges)[0] >= 0 for part in parts):
                end = _interval(_sum(_scaled(whole, rest, coefficient)), ranges)[1]
                yield end if end == inf else end // by


def _span(rule: Callable[[float, float], float], a: Interval, b: Interval) -> Interval:
    """Return the bounds of an operation that is monotonic in each operand."""
    corners = [rule(x, y) for x in a for y in b]
    return min(corners), max(corners)


def _times(a: float, b: float) -> float:
    return a * b if a and b else 0


def _quotient(a: float, b: float) -> float:
    if b == inf:
        return -1 if a < 0 else 0
    return a if a in (inf, -inf) else a // b


def _atom_interval(atom: Atom, ranges: Mapping[str, Range]) -> Interval:
    if not atom.op:
        low, high = ranges.get(atom.name, (0, None))
        return low, inf if high is None else high
    a, b = (_interval(parse(text), ranges) for text in atom.args)
    match atom.op:
        case "//":
            return _span(_quotient, a, (max(b[0], 1), max(b[1], 1)))
        case "%":
            return 0, min(b[1] - 1, a[1]) if a[0] >= 0 else b[1] - 1
        case "max":
            return max(a[0], b[0]), max(a[1], b[1])
        case _:
            return min(a[0], b[0]), min(a[1], b[1])


def _evaluate_atom(atom: Atom, values: Mapping[str, int]) -> int:
    if not atom.op:
        return values[atom.name]
    a, b = (evaluate(parse(t), values) for t in atom.args)
    return {
        "//": lambda: a // b,
        "%": lambda: a % b,
        "max": lambda: max(a, b),
        "min": lambda: min(a, b),
    }[atom.op]()


def _substitute_atom(atom: Atom, values: Mapping[str, Dim]) -> Dim:
    if not atom.op:
        return values[atom.name] if atom.name in values else symbol(atom.name)
    return _applied(atom.op, *(substitute(parse(t), values) for t in atom.args))


def _applied(op: str, a: Dim, b: Dim) -> Dim:
    rules = {"//": floor_divide, "%": remainder, "max": maximum, "min": minimum}
    return rules[op](a, b)


def replace_atom(dim: Dim, atom: Atom, value: Dim) -> Dim:
    """Return the dimension with one of its functions replaced, wherever it stands.

    >>> replace_atom(parse("min(9, n) + min(9, n)//2"), Atom("", "min", ("9", "n")), symbol("n"))
    DimExpr('((n) // (2)) + n')
    """
    if isinstance(dim, int):
        return dim
    total: Dim = 0
    for monomial, coefficient in dim.terms:
        term: Dim = coefficient
        for each in monomial:
            if each == atom:
                term = term * value
            elif each.op:
                args = (replace_atom(parse(text), atom, value) for text in each.args)
                term = term * _applied(each.op, *args)
            else:
                term = term * symbol(each.name)
        total = total + term
    return total


def _text_symbols(text: str) -> frozenset[str]:
    return symbols(parse(text))


def _terms(dim: Dim) -> Terms:
    return ((((), dim),) if dim else ()) if isinstance(dim, int) else dim.terms


def _sum(terms: Terms) -> Dim:
    total: dict[Monomial, int] = {}
    for monomial, coefficient in terms:
        total[monomial] = total.get(monomial, 0) + coefficient
    kept = [(m, c) for m, c in total.items() if c]
    if not kept:
        return 0
    if len(kept) == 1 and not kept[0][0]:
        return kept[0][1]
    for monomial, _ in kept:
        for atom in monomial:
            if atom.op in ("%", "//") and atom.args[1].isdigit():
                rule = _rounded if atom.op == "%" else _rested
                made = rule(dict(kept), monomial, atom, int(atom.args[1]))
                if made is not None:
                    return made
    paired = _paired(dict(kept))
    if paired is not None:
        return paired
    kept.sort(key=lambda term: (-len(term[0]), tuple(map(str, term[0]))))
    return DimExpr(tuple(kept))


def _rounded(terms: Mapping[Monomial, int], monomial: Monomial, rest: Atom, by: int) -> Dim | None:
    """Return a sum in which something is rounded to a multiple of a number, None if nothing is.

    x + (-x) % n is n * ((x + n - 1) // n), and x - x % n is n * (x // n); both may be multiplied
    by something, and what is rounded less what was added to it is x. So sizes that are padded to
    multiples are seen to be multiples, and what is cut off again leaves the size.
    """
    factor, times = _beside(monomial, rest), terms[monomial]
    lost = parse(rest.args[0])
    negative = _sum(tuple((m, -c % by) for m, c in _terms(lost)))
    for x, more, sign in ((negative, by - 1, 1), (lost, 0, -1)):
        part = _scaled(x, factor, -sign * times)
        whole = _scaled(floor_divide(x + more, by), factor, sign * times * by)
        if _less(terms, part) or _less(terms, whole):
            return _instead(terms, monomial, whole + part)
    return None


def _rested(
    terms: Mapping[Monomial, int], monomial: Monomial, quotient: Atom, by: int
) -> Dim | None:
    """Return a sum in which something less what it was rounded to is a remainder, if it has such.

    n * (x // n) - x is -(x % n), and n * ((x + n - 1) // n) - x is (-x) % n.
    """
    times, left = divmod(terms[monomial], by)
    if left:
        return None
    factor, x = _beside(monomial, quotient), parse(quotient.args[0])
    part = _scaled(x, factor, times)
    if not _less(terms, part):
        return None
    if dict(_terms(x)).get(()):
        rest = _scaled(remainder(x * -1 - 1, by) - (by - 1), factor, times)
    else:
        rest = _scaled(remainder(x, by), factor, -times)
    return _instead(terms, monomial, part + rest)


def _paired(terms: Mapping[Monomial, int]) -> Dim | None:
    """Return a sum without two extremes whose operands are as far apart, None if it has no such.

    max(a, b) + min(c, d) is b + c, and max(a, b) - max(c, d) is a - c, where b - a is d - c: what
    is cut off and put to the other end leaves the size.
    """
    extremes = [(m, atom) for m in terms for atom in m if atom.op in ("max", "min")]
    for (one, first), (other, second) in combinations(extremes, 2):
        factor, times = _beside(one, first), terms[one]
        alike = first.op == second.op
        if _beside(other, second) != factor or terms[other] != (-times if alike else times):
            continue
        (a, b), (c, d) = (map(parse, each.args) for each in (first, second))
        if b - a == c - d:
            c, d = d, c
        if b - a == d - c:
            rest = {m: n for m, n in terms.items() if m not in (one, other)}
            return _sum((*rest.items(), *_scaled(a - c if alike else b + c, factor, times)))
    return None


def _beside(monomial: Monomial, atom: Atom) -> Monomial:
    """Return what an atom is multiplied by."""
    factor = list(monomial)
    factor.remove(atom)
    return tuple(factor)


def _scaled(dim: Dim, factor: Monomial, times: int) -> Terms:
    """Return the terms of a product, as they are."""
    return tuple((tuple(sorted((*m, *factor))), c * times) for m, c in _terms(dim))


def _less(terms: Mapping[Monomial, int], part: Terms) -> bool:
    """Say whether adding some terms, but for numbers, takes others away or makes them less."""
    return all(abs(terms.get(m, 0) + c) + abs(c) == abs(terms.get(m, 0)) for m, c in part if m)


def _instead(terms: Mapping[Monomial, int], monomial: Monomial, others: Terms) -> Dim:
    """Return a sum with others in place of a term."""
    return _sum(tuple((m, c) for m, c in terms.items() if m != monomial) + others)


def _function(op: str, a: Dim, b: Dim) -> Dim:
    return DimExpr((((Atom("", op, (str(a), str(b))),), 1),))


def _text(terms: Terms) -> str:
    parts: list[str] = []
    for monomial, coefficient in terms:
        factors = [str(a) if not a.op or a.op in ("max", "min") else f"({a})" for a in monomial]
        if abs(coefficient) != 1 or not factors:
            factors.insert(0, str(abs(coefficient)))
        sign = "-" if coefficient < 0 else "+"
        parts.append(f"{sign} {'*'.join(factors)}")
    text = " ".join(parts)
    return text[2:] if text.startswith("+") else f"-{text[2:]}"
