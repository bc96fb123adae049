"""Fit the polynomials of the device math, and print `codegen/llvm/math/tables.py`.

Each polynomial is the best in the sense of Remez: its greatest weighted error is as small as
its number of terms allows.

    python -m gravure.tools.accuracy.fit_polynomials > codegen/llvm/math/tables.py
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from mpmath import mp

mp.dps = 50

GRID = 600
EXCHANGES = 12

Real = Callable[[Any], Any]


def one(_: Any) -> Any:
    """Return 1: the weight of an absolute error."""
    return mp.mpf(1)


@dataclass(frozen=True)
class Fit:
    """A polynomial for `function` on [low, high]; `weight` times the error is what counts."""

    function: Real
    low: Any
    high: Any
    terms: int
    weight: Real = one


def rounded(value: Any, single: bool) -> float:
    """Return `value` as the nearest float of the precision."""
    return float(np.float32(float(value))) if single else float(value)


def points(fit: Fit) -> list[Any]:
    """Return Chebyshev points of the interval, which leave out its ends and its middle."""
    middle, half = (mp.mpf(fit.low) + fit.high) / 2, (mp.mpf(fit.high) - fit.low) / 2
    return [middle - half * mp.cos(mp.pi * (2 * i + 1) / (2 * GRID)) for i in range(GRID)]


class Grid:
    """The function and its weight on the grid, with the search for the best polynomial."""

    def __init__(self, fit: Fit) -> None:
        self.points = points(fit)
        self.values = np.array([fit.function(x) for x in self.points])
        self.weights = np.array([fit.weight(x) for x in self.points])
        self.powers = [np.array([x**power for x in self.points]) for power in range(fit.terms)]

    def best(self) -> list[Any]:
        """Return the coefficients, lowest power first."""
        count = len(self.powers) + 1
        basis = [values * self.weights for values in self.powers]
        wanted = self.values * self.weights
        places = [
            round((GRID - 1) * (1 - float(mp.cos(mp.pi * i / (count - 1)))) / 2)
            for i in range(count)
        ]
        for _ in range(EXCHANGES):
            matrix = mp.matrix(count, count)
            for row, place in enumerate(places):
                for column, values in enumerate(basis):
                    matrix[row, column] = values[place]
                matrix[row, count - 1] = (-1) ** row
            solved = mp.lu_solve(matrix, mp.matrix([wanted[place] for place in places]))
            found = [solved[i] for i in range(count - 1)]
            error = wanted - sum(c * values for c, values in zip(found, basis, strict=True))
            exchanged = extremes(error, count)
            if len(exchanged) < count or exchanged == places:
                break
            places = exchanged
        return found

    def rounded(self, single: bool) -> tuple[list[float], float]:
        """Return the coefficients as floats of the precision, and the greatest error."""
        known = [rounded(each, single) for each in self.best()]
        left = self.values - sum(c * p for c, p in zip(known, self.powers, strict=True))
        return known, float(max(abs(left * self.weights)))


def extremes(error: Any, count: int) -> list[int]:
    """Return the places of the `count` greatest errors of alternating sign."""
    places: list[int] = []
    for place, value in enumerate(error):
        if places and (value > 0) == (error[places[-1]] > 0):
            if abs(value) > abs(error[places[-1]]):
                places[-1] = place
        else:
            places.append(place)
    while len(places) > count:
        places = places[1:] if abs(error[places[0]]) < abs(error[places[-1]]) else places[:-1]
    return places


def parts(value: Any, bits: Sequence[int]) -> list[float]:
    """Return floats of so many bits that add up to `value`; all but the last are cut off."""
    found: list[float] = []
    for number, width in enumerate(bits):
        exponent = mp.floor(mp.log(abs(value), 2)) + 1 - width
        cut = mp.nint if number == len(bits) - 1 else mp.floor
        found.append(float(cut(value / 2**exponent) * 2**exponent))
        value -= found[-1]
    return found


def turns() -> list[float]:
    """Return 2^200 / (2 pi) in pieces, down to where all doubles times the last are small."""
    with mp.workprec(1400):
        return parts(mp.mpf(2) ** 200 / (2 * mp.pi), (53,) * 22)


def even(function: Real, *known: Any) -> Real:
    """Return g of u = x^2: function(x) is x (known[0] + known[1] u + ... + u^n g(u))."""

    def rest(u: Any) -> Any:
        x = mp.sqrt(u)
        value = function(x) / x
        for coefficient in known:
            value = (value - coefficient) / u
        return value

    return rest


def even_weight(function: Real, known: int) -> Real:
    """Return the weight that makes the error of `even` one relative to the function."""
    return lambda u: mp.sqrt(u) * u**known / function(mp.sqrt(u))


SLACK = mp.mpf("1.0001")
HALF_LN2 = mp.log(2) / 2 * SLACK
SINGLE, DOUBLE, WIDE = "float", "double", "wide"


THIRD = mp.mpf(1) / 3
EIGHTH_TURN = mp.pi / 4 * mp.mpf("1.01")


def expm1_tail(terms: int, end: Any = HALF_LN2, relative: bool = False) -> Fit:
    """Fit (e^r - 1 - r) / r^2, with the error relative to e^r or to e^r - 1."""

    def weight(r: Any) -> Any:
        return abs(r**2 / mp.expm1(r)) if relative else r**2

    return Fit(lambda r: (mp.exp(r) - 1 - r) / r**2, -end, end, terms, weight)


def exp2_near(terms: int) -> Fit:
    """Fit (2^f - 1) / f, with the error relative to 2^f."""
    return Fit(
        lambda f: mp.expm1(f * mp.ln(2)) / f, -mp.mpf(0.5), mp.mpf(0.5), terms,
        lambda f: abs(f) / mp.mpf(2) ** f,
    )  # fmt: skip


def log1p_tail(terms: int, low: Any, high: Any) -> Fit:
    """Fit (ln(1 + f) - f + f^2 / 2) / f^3."""
    return Fit(
        lambda f: (mp.log1p(f) - f + f * f / 2) / f**3,
        low,
        high,
        terms,
        lambda f: f**3 / mp.log1p(f),
    )


def two_atanh(s: Any) -> Any:
    """Return ln((1 + s) / (1 - s))."""
    return 2 * mp.atanh(s)


def atanh_tail(terms: int, m: Any, *known: Any) -> Fit:
    """Fit the series of ln(m) = ln((1 + s) / (1 - s)) after 2 s, and after `known`, up to m."""
    end = ((m - 1) / (m + 1)) ** 2 * SLACK
    weight = even_weight(two_atanh, 1 + len(known))
    return Fit(even(two_atanh, 2, *known), 0, end, terms, weight)


def odd(function: Real, terms: int, end: Any) -> Fit:
    """Fit g of u = x^2 in function(x) = x + x^3 g(u), |x| <= end."""
    return Fit(even(function, 1), 0, mp.mpf(end) ** 2, terms, even_weight(function, 1))


def erf_near(terms: int) -> Fit:
    """Fit erf(x) / x - 1 in u = x^2, |x| <= 1."""

    def beyond(u: Any) -> Any:
        return mp.erf(mp.sqrt(u)) / mp.sqrt(u)

    return Fit(lambda u: beyond(u) - 1, 0, SLACK, terms, lambda u: 1 / beyond(u))


def erf_far(terms: int, end: Any) -> Fit:
    """Fit ln(1 - erf(x)) in x - 2, from x = 1; what counts is the error of erf."""
    return Fit(
        lambda d: mp.log(mp.erfc(2 + d)), -1, mp.mpf(end) - 2, terms, lambda d: mp.erfc(2 + d)
    )


def nearly_float(function: Real, near: float, room: float) -> float:
    """Return a float within `room` of `near` where the function's value is almost a float."""
    grid = np.linspace(near - room, near + room, 800)
    places: list[float] = grid.astype(np.float32).astype(float).tolist()

    def miss(x: float) -> Any:
        value = function(mp.mpf(x))
        return abs(value - rounded(value, True)) / value

    return min(places, key=miss)


def inverse_root(terms: int, low: Any, high: Any) -> Fit:
    """Fit 1 / cbrt(m)."""
    return Fit(lambda m: 1 / mp.cbrt(m), low, high, terms, mp.cbrt)


def cosine(terms: int) -> Fit:
    """Fit g of u = x^2 in cos(x) = 1 - u/2 + u^2 g(u), |x| <= pi/4."""
    return Fit(
        lambda u: (mp.cos(mp.sqrt(u)) - 1 + u / 2) / u**2,
        0,
        EIGHTH_TURN**2,
        terms,
        lambda u: u**2 / mp.cos(mp.sqrt(u)),
    )


@dataclass(frozen=True)
class FittedTable:
    """A table of polynomials for `function` up to `end`; see `Lookup` in the header."""

    function: Real
    entries: int
    offset: float
    shift: int
    end: float
    terms: int

    def intervals(self) -> list[tuple[int, float, float]]:
        """Return the number and the ends of each interval that has a polynomial."""
        first, last = (
            int(np.float32(x).view(np.uint32)) >> self.shift
            for x in (self.offset, self.offset + self.end)
        )
        assert last - first < self.entries, f"{last - first + 1} intervals"
        edges = [
            float(np.uint32(key << self.shift).view(np.float32)) - self.offset
            for key in range(first, last + 2)
        ]
        return [
            (
                key % self.entries,
                max(0.0, edges[key - first]),
                min(edges[key - first + 1], self.end),
            )
            for key in range(first, last + 1)
        ]

    def column(self, low: float, high: float) -> tuple[list[float], float]:
        """Return c, f(c), the coefficients, and the greatest error."""
        middle = (low + high) / 2
        if high - middle > 0.9:  # nearer to the end, so that the distance stays below f(c)
            middle = 0.4 * low + 0.6 * high
        c = nearly_float(self.function, middle, (high - low) / 32) if low else 0.0
        if high == self.end:
            c = rounded(self.end, True)
        exact, value = mp.mpf(c), self.function(mp.mpf(c))
        assert not low or high - c < value, "the distance must be less than the value"

        def slope(d: Any) -> Any:
            return (self.function(exact + d) - value) / d - (0 if low else 1)

        def weight(d: Any) -> Any:
            return abs(d / self.function(exact + d))

        slack = (high - low) / 1000
        fit = Fit(slope, low - exact, high - exact + slack, self.terms, weight)
        values, error = Grid(fit).rounded(True)
        return [c, rounded(value, True), *values], error

    def rows(self) -> tuple[list[list[float]], float]:
        """Return rows of a number for each interval, and the greatest error of all."""
        columns = [[0.0] * (self.terms + 2)] * self.entries
        worst = 0.0
        for key, low, high in self.intervals():
            columns[key], error = self.column(low, high)
            worst = max(worst, error)
        return [list(row) for row in zip(*columns, strict=True)], worst


POLYNOMIALS: dict[str, tuple[str, dict[str, Fit]]] = {
    "EXPM1": (
        "e^r is 1 + r + r^2 times this, |r| <= ln(2)/2.",
        {SINGLE: expm1_tail(5), DOUBLE: expm1_tail(10), WIDE: expm1_tail(6)},
    ),
    "EXP2_NEAR": (
        "2^f is 1 + f times this, |f| <= 1/2, some units in the last place off.",
        {SINGLE: exp2_near(5)},
    ),
    "EXPM1_HALF": (
        "The same for |r| <= 1/2, with an error relative to e^r - 1.",
        {SINGLE: expm1_tail(6, 0.5, True), DOUBLE: expm1_tail(12, 0.5, True)},
    ),
    "SINH": (
        "sinh(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 1.",
        {SINGLE: odd(mp.sinh, 4, 1), DOUBLE: odd(mp.sinh, 8, 1)},
    ),
    "SIN": (
        "sin(x) is x + x^3 times this, as a polynomial in x^2, |x| <= pi/4.",
        {SINGLE: odd(mp.sin, 3, EIGHTH_TURN), DOUBLE: odd(mp.sin, 6, EIGHTH_TURN)},
    ),
    "COS": (
        "cos(x) is 1 - x^2 / 2 + x^4 times this, as a polynomial in x^2, |x| <= pi/4.",
        {SINGLE: cosine(3), DOUBLE: cosine(6)},
    ),
    "TAN": (
        "tan(x) is x + x^3 times this, as a polynomial in x^2, |x| <= pi/4.",
        {SINGLE: odd(mp.tan, 7, EIGHTH_TURN), DOUBLE: odd(mp.tan, 15, EIGHTH_TURN)},
    ),
    "TANH": (
        "tanh(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 0.55.",
        {SINGLE: odd(mp.tanh, 5, 0.55), DOUBLE: odd(mp.tanh, 12, 0.55)},
    ),
    "ERF": (
        "erf(x) is x + x times this, as a polynomial in x^2, |x| <= 1.",
        {SINGLE: erf_near(7), DOUBLE: erf_near(12)},
    ),
    "LOG_ERFC": (
        "ln(1 - erf(x)), as a polynomial in x - 2, from 1 to where erf is 1.",
        {SINGLE: erf_far(7, 3.93), DOUBLE: erf_far(17, 5.95)},
    ),
    "POW": (
        "ln((1 + s) / (1 - s)) is 2 s + s^3 (2/3 + z times this), with z = s^2.",
        {DOUBLE: atanh_tail(7, mp.sqrt(2), mp.mpf(2) / 3)},
    ),
    "CUBE_ROOT": (
        "1 / cbrt(m) nearly, from 2/3 to 4/3, of doubles from 0.7 to 1.42.",
        {
            SINGLE: inverse_root(5, 2 * THIRD, 4 * THIRD),
            DOUBLE: inverse_root(5, mp.mpf("0.707"), mp.mpf("1.415")),
        },
    ),
    "ASIN": (
        "asin(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 1/2.",
        {SINGLE: odd(mp.asin, 5, 0.5), DOUBLE: odd(mp.asin, 12, 0.5)},
    ),
    "ATAN": (
        "atan(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 1/2.",
        {SINGLE: odd(mp.atan, 6, 0.5), DOUBLE: odd(mp.atan, 14, 0.5)},
    ),
    "ATAN_TO_ONE": (
        "atan(x) is x + x^3 times this, as a polynomial in x^2, |x| <= 1.",
        {WIDE: odd(mp.atan, 12, 1.0)},
    ),
    "LOG": (
        "ln(1 + f) is f - f^2/2 + f^3 times this, |f| <= 1/3 (with AVX-512 up to 1/2); of doubles,"
        "\nwith s = f / (2 + f) and z = s^2, it is f - h + s (h + z times this), h = f^2/2.",
        {
            SINGLE: log1p_tail(8, -THIRD, THIRD),
            "float-512": log1p_tail(9, -THIRD, 0.5),
            DOUBLE: atanh_tail(7, mp.sqrt(2)),
            "double-512": atanh_tail(8, 1.5),
            WIDE: atanh_tail(4, mp.sqrt(2)),
            "wide-512": atanh_tail(4, 1.5),
        },
    ),
}


CONSTANTS: dict[str, tuple[str, dict[str, list[float]]]] = {
    "HALF_PI": (
        "pi/2 in parts.",
        {SINGLE: parts(mp.pi / 2, (24, 24, 24)), DOUBLE: parts(mp.pi / 2, (53, 53, 53))},
    ),
    "HALF_PI_SHORT": (
        "pi/2 in parts of few bits, whose products with a count are exact without FMA.",
        {SINGLE: parts(mp.pi / 2, (11, 11, 11, 24)), DOUBLE: parts(mp.pi / 2, (26, 26, 26, 53))},
    ),
    "TURNS": (
        "2^200 / (2 pi) in pieces, as many as the exponents of doubles need.",
        {DOUBLE: turns()},
    ),
    "LN2": (
        "ln(2) in two parts; an exponent times the first is exact, and both are positive.",
        {SINGLE: parts(mp.log(2), (16, 24)), DOUBLE: parts(mp.log(2), (42, 53))},
    ),
    "LN2_LONG": (
        "ln(2) in three parts; an exponent times the first or the second is exact.",
        {DOUBLE: parts(mp.log(2), (42, 42, 53))},
    ),
    "TWO_THIRDS": ("2/3 in two parts.", {DOUBLE: parts(mp.mpf(2) / 3, (53, 53))}),
    "LOG2_E": (
        "1 / ln(2) in two parts.",
        {SINGLE: parts(1 / mp.log(2), (24, 24)), DOUBLE: parts(1 / mp.log(2), (53, 53))},
    ),
    "LOG10_E": (
        "1 / ln(10) in two parts.",
        {SINGLE: parts(1 / mp.log(10), (24, 24)), DOUBLE: parts(1 / mp.log(10), (53, 53))},
    ),
    "LOG10_2": (
        "log10(2) in two parts; an exponent times the first is exact.",
        {SINGLE: parts(mp.log10(2), (16, 24)), DOUBLE: parts(mp.log10(2), (42, 53))},
    ),
}

LOOKUPS = {
    "TANH_LOOKUPS": (
        "tanh, for 16 and for 8 lanes.",
        {
            16: FittedTable(mp.tanh, 32, 0.625, 20, 9.37, 4),
            8: FittedTable(mp.tanh, 8, 1.025, 22, 9.2, 7),
        },
    ),
    "ERF_LOOKUPS": (
        "erf, for 16 and for 8 lanes.",
        {
            16: FittedTable(mp.erf, 32, 1.3125, 19, 3.93, 4),
            8: FittedTable(mp.erf, 8, 4.775, 20, 3.93, 6),
        },
    ),
}

HEADER = '''"""Coefficients of the device math, as `tools/accuracy/fit_polynomials.py` prints them.

Polynomials are given from their lowest power, for each precision: float, double, and `wide`,
which is computed in double for a result in float.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple


def _read(text: str) -> tuple[float, ...]:
    return tuple(map(float.fromhex, text.split()))


Table = Mapping[str, tuple[float, ...]]


class Lookup(NamedTuple):
    """An odd function f of floats as 32 or 8 polynomials: f(x) = f(c) + d p(d), where d = x - c.

    The first has c = 0, and is f(x) = x + x p(x).
    """

    offset: float
    shift: int
    """The bits of x + offset, shifted right by this, end in the number of x's polynomial."""
    end: float
    """From here on f has the value that it has here."""
    rows: tuple[tuple[float, ...], ...]
    """For each polynomial c, f(c), and its coefficients, from the lowest power."""

'''


def written(values: Sequence[float]) -> list[str]:
    """Return numbers in hexadecimal, as lines of a table."""
    lines = [""]
    for value in values:
        word = value.hex().replace("0000000p", "p")
        word = word.replace(".0p", "p")
        if len(lines[-1]) + len(word) > 78:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def table(name: str, text: str, rows: dict[str, tuple[str, list[float]]]) -> str:
    """Return one table as Python; a row is a comment and its numbers."""
    lines = [f"{name}: Table = {{"]
    for precision, (comment, values) in rows.items():
        if comment:
            lines.append(f"    # {comment}")
        numbers = written(values)
        if len(numbers) == 1:
            lines.append(f'    "{precision}": _read("""{numbers[0]}"""),')
            continue
        text_of_numbers = "\n        ".join(numbers)
        lines += [f'    "{precision}": _read(', f'        """{text_of_numbers}"""', "    ),"]
    return "\n".join([*lines, "}", f'"""{text}"""'])


def lookup_table(name: str, text: str, lookups: dict[int, FittedTable]) -> str:
    """Return the tables for lookups in registers of one function as Python."""
    lines = [f"{name} = {{"]
    for lanes, wanted in lookups.items():
        rows, error = wanted.rows()
        lines += [f"    # greatest error 2^{float(mp.log(error, 2)):.1f}", f"    {lanes}: Lookup("]
        lines += [f"        {rounded(wanted.offset, True)},", f"        {wanted.shift},"]
        lines += [f"        {wanted.end},", "        ("]
        for row in rows:
            numbers = written(row)
            if len(numbers) == 1:
                lines.append(f'            _read("""{numbers[0]}"""),')
                continue
            joined = "\n                ".join(numbers)
            lines += ["            _read(", f'                """{joined}"""', "            ),"]
        lines += ["        ),", "    ),"]
    return "\n".join([*lines, "}", f'"""{text}"""'])


def main() -> None:
    """Print all tables."""
    print(HEADER)
    for name, (text, constants) in CONSTANTS.items():
        print(table(name, text, {key: ("", values) for key, values in constants.items()}))
    for name, (text, fits) in POLYNOMIALS.items():
        rows = {}
        for precision, fit in fits.items():
            values, error = Grid(fit).rounded(precision.startswith(SINGLE))
            rows[precision] = (f"greatest error 2^{float(mp.log(error, 2)):.1f}", values)
        print(table(name, text, rows))
        sys.stdout.flush()
    for name, (text, lookups) in LOOKUPS.items():
        print(lookup_table(name, text, lookups))


if __name__ == "__main__":
    main()
