"""Proofs by trying every turn of every loop, where sizes are numbers and there are not too many.

What is made of quotients of quotients, as where a convolution is turned around, has no bounds that
fit; but a kernel of fixed sizes does the same in each run, so that its indices can be counted out.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .points import Origin
from .polynomial import Polynomial

MOST = 1 << 17
"""Combinations that are tried."""
FOLLOWING = ("//", "%", "^", "least", "most")
"""Kinds of atoms that have one value where those that they are made of have one."""
Numbers = NDArray[np.int64]


class Every:
    """All values that some atoms have together."""

    def __init__(self, origins: Sequence[Origin]) -> None:
        self.origins = origins
        self.values: dict[int, Numbers] = {}
        self.count = 1

    def shows(self, value: Polynomial, facts: Sequence[Polynomial]) -> bool:
        """Say whether something is at least 0 wherever the facts hold."""
        if not self.fill(self.needed(value)):
            return False
        known = [fact for fact in facts if self.follows(fact)]
        holds = self.at(value) >= 0
        for fact in known:
            holds = holds | (self.at(fact) < 0)
        return bool(np.all(holds))

    def follows(self, fact: Polynomial) -> bool:
        """Make what a fact is made of, if all of it follows from the values that there are."""
        more = [which for which in self.needed(fact) if which not in self.values]
        follow = all(self.origins[e].kind in FOLLOWING and not self.span(e) for e in more)
        return follow and self.fill(more)

    def needed(self, value: Polynomial) -> list[int]:
        """Return the atoms that something is made of, each behind those that it is made of."""
        found: set[int] = set()
        ahead = list(value.atoms())
        while ahead:
            which = ahead.pop()
            if which not in found:
                found.add(which)
                if not self.span(which):
                    ahead += [a for part in self.origins[which].parts for a in part.atoms()]
        return sorted(found)

    def span(self, which: int) -> tuple[int, int] | None:
        """Return the least and the largest value of data that was moved between numbers."""
        origin = self.origins[which]
        if origin.kind not in ("least", "most") or not self.is_data(which):
            return None
        low, high = self.ends(which)
        return None if low is None or high is None else (low, high)

    def ends(self, which: int) -> tuple[int | None, int | None]:
        """Return what an atom is not below and not above, where that is a number."""
        origin = self.origins[which]
        rows: list[tuple[int | None, int | None]] = []
        for part in origin.parts:
            if part.is_constant:
                rows.append((part.constant, part.constant))
            elif part.is_atom and origin.kind in ("least", "most"):
                rows.append(self.ends(part.latest))
            else:
                rows.append((None, None))
        lows = [low for low, _ in rows if low is not None]
        highs = [high for _, high in rows if high is not None]
        every_low, every_high = len(lows) == len(rows) > 0, len(highs) == len(rows) > 0
        if origin.kind == "most":
            return max(lows, default=None), max(highs) if every_high else None
        if origin.kind == "least":
            return min(lows) if every_low else None, min(highs, default=None)
        return None, None

    def is_data(self, which: int) -> bool:
        """Say whether an atom is made of data."""
        origin = self.origins[which]
        return origin.kind == "data" or any(
            self.is_data(each) for part in origin.parts for each in part.atoms()
        )

    def fill(self, atoms: Sequence[int]) -> bool:
        """Make all values of these atoms; say whether there are few enough."""
        for which in atoms:
            origin, span = self.origins[which], self.span(which)
            if span:
                self.spread(which, np.full(self.count, span[1] - span[0] + 1, np.int64))
                if self.count > MOST:
                    return False
                self.values[which] += span[0]
                continue
            parts = [self.at(part) for part in origin.parts]
            if origin.kind in ("turn", "walk"):
                self.spread(which, parts[-1])
                if origin.kind == "walk" and self.count <= MOST:
                    self.values[which] += self.at(origin.parts[0])
            elif origin.kind == "any":
                self.choose(which, parts)
            elif not self.make(which, origin.kind, parts):
                return False
            if self.count > MOST:
                return False
        return True

    def make(self, which: int, kind: str, parts: Sequence[Numbers]) -> bool:
        """Make the value of an atom that follows from others; say whether it does."""
        match kind:
            case "//" | "%":
                if not np.all(parts[1] > 0):
                    return False
                whole = parts[0] // parts[1]
                self.values[which] = whole if kind == "//" else parts[0] - whole * parts[1]
            case "^":
                self.values[which] = parts[0] ^ parts[1]
            case "least":
                self.values[which] = np.minimum.reduce(parts)
            case "most":
                self.values[which] = np.maximum.reduce(parts)
            case _:
                return False
        return True

    def spread(self, which: int, turns: Numbers) -> None:
        """Go on with each turn of a loop, as often as it has any."""
        turns = np.maximum(turns, 0)
        total = int(turns.sum())
        if total > MOST:
            self.count = total
            return
        starts = np.cumsum(turns) - turns
        self.values = {each: np.repeat(rows, turns) for each, rows in self.values.items()}
        self.values[which] = np.arange(total) - np.repeat(starts, turns)
        self.count = total

    def choose(self, which: int, parts: Sequence[Numbers]) -> None:
        """Go on with each of those that an atom may be."""
        self.values = {each: np.tile(v, len(parts)) for each, v in self.values.items()}
        self.values[which] = np.concatenate(parts)
        self.count *= len(parts)

    def at(self, expression: Polynomial) -> Numbers:
        """Return the values of an expression."""
        total = np.full(self.count, expression.constant, np.int64)
        for monomial, coefficient in expression.terms.items():
            product = np.full(self.count, coefficient, np.int64)
            for each in monomial:
                product = product * self.values[each]
            total += product
        return total
