"""Dimensions that the user names, fixes or bounds when a model is read.

`dims={"N": 4}` fixes a symbol, `dims={"N": (1, 64)}` bounds it, `dims={"H": (64, 1024, 4)}` says
too that it is a multiple of 4: it is read as `4*H_by_4`. A symbol without bounds may be anything
from 1 on.
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence

from ...errors import GraphError, did_you_mean
from ...ir import Dim, DimExpr, Range
from ...ir.types import dims as dim_rules
from .assume import Assumption, settled
from .slices import Knowledge

DEFAULT: Range = (1, None)
"""The range of a symbol that nobody bounds: at least 1."""

DimOption = int | tuple[int, int | None] | tuple[int, int | None, int]
"""A size; or the lowest and highest, None for no bound, and of what it is a multiple."""
ShapeOption = Sequence[int | str | None]


class ArrayShape(tuple[int, ...]):
    """The shape of an array that the model shall run on.

    It fixes dimensions that are declared by name, where a shape that the user gives replaces all
    that is declared.
    """

    __slots__ = ()


class ExactShape(ArrayShape):
    """The same, which also fixes dimensions that the user bounds, within the bounds."""

    __slots__ = ()


_RESERVED = frozenset({"max", "min", "in"})


class Symbols:
    """The symbols of one model, with what the user asked of them."""

    def __init__(self, dims: Mapping[str, DimOption] | None, where: str = "") -> None:
        self.where = where
        self.steps: dict[str, int] = {}
        """Of what symbols are multiples that the user gives, by their names."""
        self.options = {n: self._option(n, value) for n, value in (dims or {}).items()}
        self.ranges: dict[str, Range] = {}
        self.facts: list[Dim] = []
        """Expressions that are assumed to be at least 0."""
        self.meant: list[Assumption] = []
        """What they come from, which each run has to look at."""
        self.nameless: list[str] = []
        """Symbols that nobody named."""
        self.data: list[str] = []
        """Symbols of sizes that only the data of a run tells."""
        self.assumed = 0
        self._fixed: dict[str, Dim] = {}
        self._most: dict[str, Assumption] = {}
        self._least: dict[str, Assumption] = {}
        self._equal: dict[str, str] = {}
        self._number: dict[str, Assumption] = {}
        self._sums: dict[str, Assumption] = {}
        self._multiple: dict[str, Assumption] = {}
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
        is_new = name not in self._names
        if is_new:
            self._names[name] = self._unique(name)
        symbol = self._resolved(name)
        if symbol in self._number:
            return self._fixed_to(self._number[symbol], name)
        if symbol in self._sums:
            return self._sum(self._sums[symbol])
        factor = self._factor(name, symbol)
        part = symbol if factor == 1 else f"{symbol}_by_{factor}"
        if is_new and option is not None:
            divided = self._divided(name, option, factor)
            is_given = name in self.options
            if part != name and part in self.options:  # the part may be bounded too
                self._seen.add(part)
                given = self.options[part]
                divided, is_given = (given, given) if isinstance(given, int) else given, True
            self.ranges[part] = self._narrowed(part, divided, is_given)
        return dim_rules.symbol(part) * factor

    def _fixed_to(self, assumption: Assumption, name: str) -> int:
        """Return the number that a symbol is; refuse a range that says it may be another."""
        number = assumption.large
        assert isinstance(number, int), "a symbol is fixed to a number"
        if self.options.get(name, (number, number)) != (number, number):
            raise GraphError(
                f"dimension {name!r} has to be {number}: {assumption.reason}", location=self.where
            )
        return number

    def _sum(self, assumption: Assumption) -> Dim:
        """Return the sum of others that a symbol is: their ranges say how large it may be."""
        parts = sorted(dim_rules.symbols(assumption.large))
        return dim_rules.substitute(assumption.large, {each: self.named(each) for each in parts})

    def plain(self) -> list[str]:
        """Return the symbols that are called as the dimensions that they are."""
        return [symbol for name, symbol in self._names.items() if symbol == name]

    def given_ranges(self) -> list[str]:
        """Return those of which the user says in which range they are."""
        return [name for name in self.plain() if isinstance(self.options.get(name), tuple)]

    def _factor(self, name: str, symbol: str) -> int:
        """Return of what a symbol is a multiple: as the user says, and as had to be assumed."""
        factor, part = 1, symbol
        steps = [self.steps[name]] if self.steps.get(name, 1) > 1 else []
        while steps or part in self._multiple:
            more = steps.pop() if steps else self._multiple[part].large
            assert isinstance(more, int), "a multiple of a number"
            factor *= more
            part = f"{symbol}_by_{factor}"
        return factor

    def _divided(self, name: str, option: Range, factor: int) -> Range:
        """Return the range of a part of a dimension; refuse one without any multiple."""
        low, high = option
        part = max(-(-low // factor), 1 if low else 0), None if high is None else high // factor
        if part[1] is not None and part[0] > part[1]:
            raise GraphError(
                f"dimension {name!r} has no multiple of {factor} from {low} to {high}",
                location=self.where,
            )
        return part

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
        return self._with_fixed(made)

    def _with_fixed(self, dim: Dim) -> Dim:
        """Return a dimension with all put in that is assumed of sizes of data."""
        for _ in self._fixed:  # what one is fixed to may be fixed itself
            dim = dim_rules.substitute(dim, self._fixed)
        return settled(dim, Knowledge(self.ranges, self.facts))

    def assume(self, assumption: Assumption) -> None:
        """Take something for granted before the names are asked for."""
        self.assumed += 1
        small, large = str(assumption.small), assumption.large
        if assumption.are_equal and assumption.of_data:
            self._fixed[small] = large
        elif assumption.are_equal and isinstance(large, int):
            self._number[small] = assumption
        elif assumption.are_equal and str(large).isidentifier():
            self._equal[small] = str(large)
        elif assumption.are_equal:
            self._sums[small] = assumption
        elif assumption.is_multiple:
            self._multiple[small] = assumption
        elif small.isidentifier() and isinstance(large, int):
            self._most[small] = assumption
        elif isinstance(assumption.small, int) and str(large).isidentifier():
            self._least[str(large)] = assumption
        else:
            self.facts.append(large - assumption.small)
            self.meant.append(assumption)

    def _narrowed(self, symbol: str, option: Range, is_given: bool) -> Range:
        """Return a range of what is assumed of the symbol; refuse one that is given and larger."""
        most, least = self._most.get(symbol), self._least.get(symbol)
        low, high = option
        if least is not None and isinstance(least.small, int):
            low = max(low, least.small)
            if high is not None and high < low:
                raise GraphError(
                    f"dimension {symbol!r} has to be at least {low}: {least.reason}",
                    location=self.where,
                )
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
        if any(isinstance(dim, int) and dim < 0 for dim in option):
            message = f"the shape given for {name!r} is {[*option]}, expected sizes or names"
            raise GraphError(message, location=self.where)
        return tuple(
            dim
            if isinstance(dim, int)
            else self.without_name(f"{name}_d{axis}")
            if dim is None
            else self.parsed(dim)
            for axis, dim in enumerate(option)
        )

    def follow(self, name: str, declared: Sequence[int | str | None], shape: ArrayShape) -> None:
        """Fix the dimensions of an input that its array tells and the user does not.

        `declared` has numbers, names, and None where nobody named it; nothing follows from an
        expression. Raises `GraphError` where the array has another number.
        """
        if len(declared) != len(shape):
            raise GraphError(f"input {name!r} has rank {len(declared)}, the array is {[*shape]}")
        for axis, (dim, size) in enumerate(zip(declared, shape, strict=True)):
            symbol = f"{name}_d{axis}" if dim is None else dim
            if isinstance(symbol, str) and not symbol.isidentifier():
                continue
            if isinstance(shape, ExactShape) and isinstance(symbol, str):
                self._bound(symbol, size)
            known = symbol if isinstance(symbol, int) else self.options.setdefault(symbol, size)
            if isinstance(known, int) and known != size:
                raise GraphError(
                    f"input {name!r}: axis {axis} is {symbol} = {known}, the array is {[*shape]}"
                    if isinstance(symbol, str)
                    else f"input {name!r}: axis {axis} is {known}, the array is {[*shape]}"
                )

    def _bound(self, symbol: str, size: int) -> None:
        """Fix a dimension that the user bounds; refuse a size that is out of bounds."""
        low, high = DEFAULT
        match self.options.get(symbol):
            case (low, high):
                pass
            case int():
                return
        step = self.steps.get(symbol, 1)
        if size < low or (high is not None and size > high) or size % step:
            bounds = f"from {low} to {'any' if high is None else high}"
            raise GraphError(
                f"dimension {symbol!r} is {size}, expected {bounds} by {step}", location=self.where
            )
        self.options[symbol] = size

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

    def _option(self, name: str, value: DimOption) -> int | Range:
        """Return what the user asks of a symbol, or raise `GraphError` if it makes no sense."""
        match (value, value) if isinstance(value, int) else value:
            case (int(low), (int() | None) as high):
                step = 1
            case (int(low), (int() | None) as high, int(step)):
                pass
            case _:
                low, high, step = -1, None, 1
        is_range = low >= 0 and (high is None or low <= high < 1 << 62) and low < 1 << 62
        if not is_range or not 0 < step < 1 << 31:
            message = f"dimension {name!r}: {value!r} is neither a size nor a range of sizes"
            raise GraphError(message, location=self.where)
        if step > 1:
            self.steps[name] = step
        return low if low == high and step == 1 else (low, high)

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


def _plain(names: Iterable[str]) -> bool:
    return all(name.isascii() for name in names)


def _list(names: Iterable[str]) -> str:
    return ", ".join(map(repr, sorted(names))) or "none"
