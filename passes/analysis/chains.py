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
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Block, Operation, SSAValue

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
TOGETHER = 4
"""So many segments may be one layer, where they use weights by turns."""


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


Integers = NDArray[np.int64]
STORED = -1
"""Stands for the value of weights and constants."""
RESULTS = 1 << 16
"""More results than a row has: a value is the number of its row times this, and its own."""


@dataclass(frozen=True)
class Operands:
    """The operands of all rows, one behind the other; equal rows have as many."""

    names: Sequence[str]
    """The names of weights, by their numbers."""
    ends: Integers
    """For each row where the operands of the next one begin."""
    values: Integers
    """Of an operand of a row the row's number times `RESULTS` and that of the result, of what is
    stored `STORED`, for others a number below that."""
    weights: Integers
    """The numbers of weights; negative for operands that are none."""
    alike: Integers
    """Of each weight a number that it shares with weights of the same values, as far as known."""
    counts: Integers
    """How often each weight is used."""


class ChainRows(Protocol):
    """What chains are looked for in: operations, or nodes of a model."""

    def tokens(self) -> Sequence[int]:
        """Return a number for each row that equal ones share."""

    def operands(self) -> Operands:
        """Return what all rows use."""


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
    several: int = 1
    """How often rows recur in a segment, which uses weights by turns then."""


def find_chain(rows: ChainRows, least: int) -> EqualLayers | None:
    """Return the longest chain of at least so many segments, with weights of their own or shared.

    Where segments use weights by turns, as many of them as a turn has are one.
    """
    run = find_run(rows.tokens(), least + 1)
    if run is None:
        return None
    operands = rows.operands()
    for several in range(1, TOGETHER + 1):
        times = run.times // several
        if times <= least:
            return None
        found = _Segments(operands, Run(run.start, run.period * several, times))
        if (chain := found.chain()) is not None:
            return replace(chain, several=several)
    return None


class _Segments:
    """The segments of a run of which it is to be shown that they are linked alike.

    The second one behind the first is what others are compared with: what it uses of those before
    it is there for each of them.
    """

    def __init__(self, operands: Operands, run: Run) -> None:
        self.run, self.every = run, operands
        ends = np.concatenate(([0], self.every.ends))
        self.begin = int(ends[run.start])
        """Where the operands of the run begin."""
        self.end = int(ends[run.start + run.period * run.times])
        first = np.diff(ends[run.start : run.start + run.period + 1])
        self.places = np.repeat(np.arange(run.period), first)
        """Of each operand of a segment, which of its rows uses it."""

    def chain(self) -> EqualLayers | None:
        """Return the layers that the segments are; None where they are not linked alike."""
        if not self.are_linked() or self.is_used_behind():
            return None
        start, period, times = self.run.start, self.run.period, self.run.times
        for skipped in (0, 1):  # the first one may mix weights up: it counts as what stands before
            weights = self.weights(skipped)
            if weights is not None:
                return EqualLayers(start + skipped * period, period, times - skipped, weights)
        return None

    def table(self, numbers: Integers) -> Integers:
        """Return what is known of operands as a row for each segment."""
        return numbers[self.begin : self.end].reshape(self.run.times, -1)

    def are_linked(self) -> bool:
        """Say whether each segment uses what the others use, of those shortly before it."""
        start, period, times = self.run.start, self.run.period, self.run.times
        if times <= REACH:
            return False
        values = self.table(self.every.values)
        rows = start + period * np.arange(times)[:, None] + self.places
        own = values >= start * RESULTS
        links = np.where(own, rows * RESULTS - values, values)
        if np.any(links[REACH][own[REACH]] > REACH * period * RESULTS):
            return False
        return bool((own[REACH:] == own[REACH]).all() and (links[REACH:] == links[REACH]).all())

    def is_used_behind(self) -> bool:
        """Say whether what stands behind the run uses more of it than the last segments."""
        last = self.run.start + self.run.times * self.run.period
        behind = self.every.values[self.end :]
        first, kept = self.run.start * RESULTS, (last - REACH * self.run.period) * RESULTS
        return bool(np.any((behind >= first) & (behind < kept)))

    def weights(self, skipped: int) -> list[list[str]] | None:
        """Return the weights that segments have of their own; None where they mix them up.

        So many segments are left out.
        """
        every = self.every
        table = self.table(every.weights)[skipped:]
        table = table[:, table[0] >= 0]
        alike = every.alike[table]
        table = table[:, ~(alike == alike[0]).all(axis=0)]
        columns: dict[bytes, Integers] = {}
        times: Counter[bytes] = Counter()
        for number in range(table.shape[1]):
            column = np.ascontiguousarray(table[:, number])
            key = column.tobytes()
            columns[key] = column
            times[key] += 1
        used = np.concatenate([*columns.values()]) if columns else np.empty(0, np.int64)
        if len(np.unique(used)) < len(used):
            return None
        if any((every.counts[column] != times[key]).any() for key, column in columns.items()):
            return None
        return [[every.names[i] for i in column.tolist()] for column in columns.values()]


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

    def operands(self) -> Operands:
        """Return what all operations use."""
        ends, values, weights = list[int](), list[int](), list[int]()
        outside: dict[SSAValue, int] = {}
        numbers: dict[str, int] = {}
        for op in self.rows:
            for operand in operands_of(op):
                owner = operand.owner
                name = self.name(owner)
                weights.append(-1 if name is None else numbers.setdefault(name, len(numbers)))
                if isinstance(owner, Block):
                    values.append(outside.setdefault(operand, STORED - 1 - len(outside)))
                elif type(owner) is Weight or type(owner) is Constant:
                    values.append(STORED)
                else:
                    values.append(self.place[owner] * RESULTS + operand.index)  # type: ignore[attr-defined]
            ends.append(len(values))
        alike = [self.alike(name, number) for name, number in numbers.items()]
        counts = [sum(len(uses_of(op)) for op in self.named[name]) for name in numbers]
        rows = [np.array(row, np.int64) for row in (ends, values, weights, alike, counts)]
        return Operands([*numbers], *rows)

    def alike(self, name: str, number: int) -> int:
        """Return what constants of the same values share; each weight is one of its own."""
        [first, *_] = self.named[name]
        is_constant = type(first) is Constant
        return self.number(first.properties["value"]) if is_constant else -1 - number

    def name(self, owner: Operation | Block) -> str | None:
        """Return the name of the weight that an operation is; None for others."""
        if isinstance(owner, Block):
            return None
        return name_of(owner) if type(owner) is Weight else self.constants.get(owner)


def is_array(constant: Operation) -> bool:
    """Say whether a constant is several real numbers."""
    found = constant.properties["value"].data  # type: ignore[attr-defined]
    return found.array.dtype.kind == "f" and found.array.size > 1 and not found.is_splat


def name_of(weight: Operation) -> str:
    """Return the name of a weight."""
    return weight.properties["weight"].root_reference.data  # type: ignore[attr-defined,no-any-return]
