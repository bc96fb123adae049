"""Chains of equal layers in a block: found by what operations are, proved by what they use.

    x -> [matmul w0, add b0, relu] -> [matmul w1, add b1, relu] -> ... -> [matmul w9, add b9, relu]

Operations are equal where all but their values is: what they are, attributes, types, the numbers of
constants, the types of weights. A stretch in which they recur is a chain if each segment of it uses
of the one before, or of what stands before the chain, what the others use, and weights of its own
or those that all share.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Block, Operation

from ...ir import SOURCE, Op, operands_of, operations, uses_of
from ...ir.ops.structure import Constant, Weight
from .numbers import Numbers

WINDOW = 4
"""So many operations in a row tell where it is worth looking for a period."""
MOST = 8
"""Periods that are looked at where there are many operations."""
FEW = 400
"""Of so many operations every period is looked at."""
CONSTANT = "constant.layers."
"""What the names of constants that count as weights begin with."""
REACH = 2
"""How many segments back a segment of a chain may use values of."""


@dataclass(frozen=True)
class Run:
    """A stretch of a sequence in which it recurs."""

    start: int
    period: int
    times: int


def find_run(tokens: Sequence[int], least: int) -> Run | None:
    """Return the longest stretch that recurs at least so often, of the smallest period.

    >>> find_run([5, 1, 2, 1, 2, 1, 2, 7], 3)
    Run(start=1, period=2, times=3)
    """
    row = np.asarray(tokens, np.int64)
    best, most = None, 0
    for period in _periods(row, least):
        start, length = _longest(row[period:] == row[:-period])
        covered = length + period
        if covered // period >= least and covered > most:
            best, most = Run(start, period, covered // period), covered
    return best


def _periods(row: NDArray[np.int64], least: int) -> list[int]:
    """Return the periods that are worth a look, small ones first."""
    high = len(row) // max(least, 2)
    if len(row) <= FEW:
        return list(range(1, high + 1))
    window = np.zeros(len(row) - WINDOW, np.int64)
    for place in range(WINDOW):  # it wraps around: two that are taken for equal cost a look
        window = window * 1000003 + row[place : place - WINDOW]
    order = np.argsort(window, kind="stable")
    same = window[order[1:]] == window[order[:-1]]
    gaps, counts = np.unique(np.diff(order)[same], return_counts=True)
    often = gaps[np.argsort(-counts, kind="stable")][:MOST]
    return sorted(int(gap) for gap in often if gap <= high)


def _longest(same: NDArray[np.bool_]) -> tuple[int, int]:
    """Return start and length of the longest stretch that is true."""
    edges = np.flatnonzero(np.diff(np.concatenate(([False], same, [False]))))
    starts, ends = edges[::2], edges[1::2]
    if not len(starts):
        return 0, 0
    index = int(np.argmax(ends - starts))
    return int(starts[index]), int(ends[index] - starts[index])


class ChainRows(Protocol):
    """What chains are looked for in: operations, or nodes of a model."""

    def tokens(self) -> Sequence[int]:
        """Return a number for each row that equal ones share."""

    def uses(self, index: int) -> Sequence[object]:
        """Return the values that a row uses but weights: of a row its place and the result's."""

    def weights(self, index: int) -> Sequence[str | None]:
        """Return the names of the operands of a row that are weights, None for the others."""

    def are_one(self, names: Sequence[str]) -> bool:
        """Say whether weights of these names are one and the same."""

    def count(self, name: str) -> int:
        """Return how often a weight is used by all rows."""


@dataclass(frozen=True)
class EqualLayers:
    """Equal segments of rows, one behind the other."""

    start: int
    """The place of the first row of the first segment."""
    period: int
    """ChainRows of a segment."""
    count: int
    """Segments."""
    weights: Sequence[Sequence[str]]
    """Of each weight of a segment that is its own, the names in all segments."""


def find_chain(rows: ChainRows, least: int) -> EqualLayers | None:
    """Return the longest chain of at least so many segments that have weights of their own."""
    tokens = rows.tokens()
    run = find_run(tokens, least + 1)
    if run is None:
        return None
    found = _Segments(rows, run)
    if not found.are_linked() or found.is_used_behind(len(tokens)):
        return None
    for skipped in (0, 1):  # the first one may mix weights up: it counts as what stands before
        weights = found.weights(skipped)
        if weights:
            start = run.start + skipped * run.period
            return EqualLayers(start, run.period, run.times - skipped, weights)
    return None


class _Segments:
    """The segments of a run of which it is to be shown that they are linked alike.

    The second one behind the first is what others are compared with: what it uses of those before
    it is there for each of them.
    """

    def __init__(self, rows: ChainRows, run: Run) -> None:
        self.rows, self.run = rows, run

    def links(self, index: int) -> list[object]:
        """Return what a row uses: how far back, or which value from before the run."""
        start = self.run.start
        return [
            (index - use[0], use[1]) if isinstance(use, tuple) and use[0] >= start else use
            for use in self.rows.uses(index)
        ]

    def are_linked(self) -> bool:
        """Say whether each segment uses what the others use, of those shortly before it."""
        start, period = self.run.start, self.run.period
        if self.run.times <= REACH:
            return False
        first = start + REACH * period
        wanted = [self.links(first + place) for place in range(period)]
        far = [
            index - use[0]
            for index in range(first, first + period)
            for use in self.rows.uses(index)
            if isinstance(use, tuple) and use[0] >= start
        ]
        if max(far, default=0) > REACH * period:
            return False
        places = range(first + period, start + self.run.times * period)
        return all(self.links(i) == wanted[(i - start) % period] for i in places)

    def is_used_behind(self, end: int) -> bool:
        """Say whether what stands behind the run uses more of it than the last segments."""
        last = self.run.start + self.run.times * self.run.period
        kept = last - REACH * self.run.period
        uses = (use for index in range(last, end) for use in self.rows.uses(index))
        return any(isinstance(use, tuple) and self.run.start <= use[0] < kept for use in uses)

    def weights(self, skipped: int) -> list[list[str]] | None:
        """Return the weights that segments have of their own; None where they mix them up.

        So many segments are left out.
        """
        found: dict[tuple[str, ...], None] = {}
        owner_of: dict[str, tuple[tuple[str, ...], int]] = {}
        uses: Counter[str] = Counter()
        start, period = self.run.start + skipped * self.run.period, self.run.period
        end = self.run.start + self.run.times * period
        for place in range(start, start + period):
            columns = [self.rows.weights(index) for index in range(place, end, period)]
            for names in zip(*columns, strict=True):
                if names[0] is None or self.rows.are_one(names):
                    continue
                for segment, name in enumerate(names):
                    if owner_of.setdefault(name, (names, segment)) != (names, segment):
                        return None
                uses.update(names)
                found[names] = None
        if any(self.rows.count(name) != count for name, count in uses.items()):
            return None
        return [list(names) for names in found]


class BlockRows:
    """The operations of a block but weights and constants.

    Constants of several numbers count as weights: a small bias of a layer is one.
    """

    def __init__(self, block: Block) -> None:
        self.number = Numbers()
        self.constants: dict[Operation, str] = {}
        """The names of constants that count as weights."""
        every = operations(block)
        leaves = (Weight, Constant)
        self.rows = [op for op in every if type(op) not in leaves]
        self.place = {op: i for i, op in enumerate(self.rows)}
        self.named: dict[str, list[Operation]] = {}
        for op in every:
            if type(op) is Weight:
                self.named.setdefault(name_of(op), []).append(op)
            elif type(op) is Constant and is_array(op):
                name = self.constants[op] = f"{CONSTANT}{len(self.constants)}"
                self.named[name] = [op]

    def tokens(self) -> list[int]:
        """Return a number for each operation that equal ones share."""
        number, known = self.number, dict[object, int]()
        found: list[int] = []
        for op in self.rows:
            if not isinstance(op, Op) or not op.PURE or op.regions:
                found.append(-1 - len(found))
                continue
            key: list[object] = [op.name]
            for name, attribute in op.properties.items():
                key += name, number(attribute)
            for name, attribute in op.attributes.items():
                if name != SOURCE:
                    key += name, number(attribute)
            for operand in operands_of(op):
                owner = operand.owner
                if type(owner) is Constant and owner not in self.constants:
                    key += "constant", number(owner.properties["value"])
                else:
                    is_weight = type(owner) is Weight or type(owner) is Constant
                    key += "weight" if is_weight else "value", number(operand.type)
            key += [number(result.type) for result in op.results]
            found.append(known.setdefault(tuple(key), len(known)))
        return found

    def uses(self, index: int) -> list[object]:
        """Return the operands of an operation, but weights and constants."""
        found: list[object] = []
        for operand in operands_of(self.rows[index]):
            owner = operand.owner
            if isinstance(owner, Block):
                found.append(operand)
            elif type(owner) is not Weight and type(owner) is not Constant:
                found.append((self.place[owner], operand.index))  # type: ignore[attr-defined]
        return found

    def weights(self, index: int) -> list[str | None]:
        """Return the names of the operands that are weights."""
        owners = [operand.owner for operand in operands_of(self.rows[index])]
        return [
            name_of(owner) if isinstance(owner, Weight) else self.constants.get(owner)  # type: ignore[arg-type]
            for owner in owners
        ]

    def are_one(self, names: Sequence[str]) -> bool:
        """Say whether weights of these names are one and the same, or constants are equal."""
        if names.count(names[0]) == len(names):
            return True
        first = self.named[names[0]][0]
        if type(first) is not Constant:
            return False
        values = {self.number(self.named[name][0].properties["value"]) for name in names}
        return len(values) == 1

    def count(self, name: str) -> int:
        """Return how often a weight is used."""
        return sum(len(uses_of(op)) for op in self.named[name])


def is_array(constant: Operation) -> bool:
    """Say whether a constant is several real numbers."""
    found = constant.properties["value"].data  # type: ignore[attr-defined]
    return found.array.dtype.kind == "f" and found.array.size > 1 and not found.is_splat


def name_of(weight: Operation) -> str:
    """Return the name of a weight."""
    return weight.properties["weight"].root_reference.data  # type: ignore[attr-defined,no-any-return]
