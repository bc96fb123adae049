"""Dimensions that the user names, fixes or bounds when a model is read.

`dims={"N": 4}` fixes a symbol, `dims={"N": (1, 64)}` bounds it. A symbol without bounds may be
anything from 1 on.
"""

from __future__ import annotations

import difflib
import keyword
import re
from collections.abc import Iterable, Mapping, Sequence

from ..errors import GraphError
from ..ir import Dim, DimExpr, Range
from ..ir import dims as dim_rules
from .assume import Assumption

DEFAULT: Range = (1, None)
"""The range of a symbol that nobody bounds: at least 1."""

DimOption = int | tuple[int, int | None]
ShapeOption = Sequence[int | str | None]

_RESERVED = frozenset({"max", "min", "in"})


class Symbols:
    """The symbols of one model, with what the user asked of them."""

    def __init__(self, dims: Mapping[str, DimOption] | None, where: str = "") -> None:
        self.where = where
        self.options = {n: self._option(n, value) for n, value in (dims or {}).items()}
        self.ranges: dict[str, Range] = {}
        self.facts: list[Dim] = []
        """Expressions that are assumed to be at least 0."""
        self.nameless: list[str] = []
        """Symbols that nobody named."""
        self.data: list[str] = []
        """Symbols of sizes that only the data of a run tells."""
        self.assumed = 0
        self._fixed: dict[str, Dim] = {}
        self._most: dict[str, Assumption] = {}
        self._equal: dict[str, str] = {}
        self._seen: set[str] = set()
        self._names: dict[str, str] = {}

    def named(self, name: str, default: Range | None = DEFAULT) -> Dim:
        """Return the dimension of a name: its symbol, or the number it is fixed to.

        `default` is its range where the user gives none; None leaves it without a range.
        """
        self._seen.add(name)
        option = self.options.get(name, default)
        if isinstance(option, int):
            return option
        if name not in self._names:
            self._names[name] = self._unique(name)
            if option is not None:
                symbol = self._resolved(name)
                self.ranges[symbol] = self._narrowed(symbol, option, name in self.options)
        return dim_rules.symbol(self._resolved(name))

    def _resolved(self, name: str) -> str:
        """Return the symbol of a name, or the one that it is taken for equal to."""
        symbol = self._names[name]
        while symbol in self._equal:
            symbol = self._equal[symbol]
        return symbol

    def without_name(self, name: str) -> Dim:
        """Return the dimension of an axis that nobody named."""
        made = self.named(name)
        if isinstance(made, DimExpr):
            self.nameless.append(str(made))
        return made

    def of_data(self, name: str, high: int | None = None) -> Dim:
        """Return a new dimension that only the data of a run tells, of at most `high`.

        The user may bound it by its name. What it is assumed to be is checked in each run.
        """
        unique, count = name, 1
        while unique in self._seen:
            count += 1
            unique = f"{name}_{count}"
        made = self.named(unique, (0, high))
        if not isinstance(made, DimExpr):
            return made
        self.data.append(str(made))
        return self._fixed.get(str(made), made)

    def assume(self, assumption: Assumption) -> None:
        """Take something for granted before the names are asked for."""
        self.assumed += 1
        small, large = str(assumption.small), assumption.large
        if assumption.are_equal and assumption.of_data:
            self._fixed[small] = large
        elif assumption.are_equal:
            self._equal[small] = str(large)
        elif small.isidentifier() and isinstance(large, int):
            self._most[small] = assumption
        else:
            self.facts.append(large - assumption.small)

    def _narrowed(self, symbol: str, option: Range, is_given: bool) -> Range:
        """Return a range up to what is assumed of the symbol; refuse one that is given."""
        most = self._most.get(symbol)
        low, high = option
        if symbol in self.ranges:  # of another name that is taken for equal
            other = self.ranges[symbol]
            low = max(low, other[0])
            high = min((h for h in (high, other[1]) if h is not None), default=None)
        if most is None or not isinstance(most.large, int):
            return low, high
        if is_given and (high is None or high > most.large):
            raise GraphError(
                f"dimension {symbol!r} may be at most {most.large}: {most.reason}",
                location=self.where,
            )
        return low, most.large if high is None else min(high, most.large)

    def shape(self, name: str, option: ShapeOption) -> tuple[Dim, ...]:
        """Return the shape that the user gives an input; None is a dimension of its own."""
        return tuple(
            dim
            if isinstance(dim, int)
            else self.without_name(f"{name}_d{axis}")
            if dim is None
            else self.parsed(dim)
            for axis, dim in enumerate(option)
        )

    def parsed(self, text: str) -> Dim:
        """Return the dimension of an expression of names."""
        try:
            found = dim_rules.parse(text)
        except ValueError:
            return self.named(text)
        if not isinstance(found, DimExpr) or not _plain(dim_rules.symbols(found)):
            return self.named(text) if isinstance(found, DimExpr) else found
        values = {name: self.named(name) for name in sorted(dim_rules.symbols(found))}
        return dim_rules.substitute(found, values)

    def check(self) -> None:
        """Refuse options for symbols that do not exist."""
        unknown = [name for name in self.options if name not in self._seen]
        if unknown:
            raise GraphError(
                f"there is no dimension {unknown[0]!r}, the model's are {_list(self._seen)}",
                location=self.where,
                hint=did_you_mean(unknown[0], self._seen),
            )

    def _option(self, name: str, value: DimOption) -> DimOption:
        """Return what the user asks of a symbol, or raise `GraphError` if it makes no sense."""
        match (value, value) if isinstance(value, int) else value:
            case (int(low), (int() | None) as high):
                is_range = low >= 0 and (high is None or low <= high < 1 << 62) and low < 1 << 62
            case _:
                is_range = False
        if not is_range:
            message = f"dimension {name!r}: {value!r} is neither a size nor a range of sizes"
            raise GraphError(message, location=self.where)
        return low if low == high else (low, high)

    def _unique(self, name: str) -> str:
        stem = re.sub(r"\W", "_", name, flags=re.ASCII) or "d"
        if stem[0].isdigit() or keyword.iskeyword(stem) or stem in _RESERVED:
            stem = f"d_{stem}"
        taken = set(self._names.values())
        candidate, count = stem, 1
        while candidate in taken:
            count += 1
            candidate = f"{stem}_{count}"
        return candidate


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a hint with the nearest known name, if one is near."""
    close = difflib.get_close_matches(name, sorted(known), 1)
    return f"did you mean {close[0]!r}?" if close else ""


def _plain(names: Iterable[str]) -> bool:
    return all(name.isascii() for name in names)


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names))) or "none"
