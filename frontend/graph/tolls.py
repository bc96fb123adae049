"""What plans cost, counted: to carry them out operation by operation, and to compile them.

No clock is asked, so that which call is the first compiled one is the same in each run of a
program: it is the one before which the calls would have taken `SHARE` of what compiling takes, as
far as that can be told of the operations, the sizes, and the trips of loops, which count as they
are made. Costs are about microseconds of a usual processor.
"""

from __future__ import annotations

import threading
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from ...ir.types.tensor import TensorSpec
from .graph import GraphTensor, Operation
from .kinds import Const, NoOp, Placeholder, Stop
from .placement import graphs_in

SHARE = 0.1
"""A function is compiled when its calls have taken this part of what compiling takes: who calls it
less often is spared that, who calls it on has waited for a tenth as much more. Short programs take
0.6 of TensorFlow's time with a half, and as much as TensorFlow with a tenth; but with a half small
functions are compiled at the two hundredth call, with a tenth at the fortieth."""

TURN = 15
"""What a run of a plan takes by itself: of a function, of a branch, of a trip of a loop."""
STEP = 20
"""What an operation takes that computes few elements."""
KEPT = 4
"""What one takes that only gives what is there, or keeps it."""
BACK = 100
"""What one takes that goes back through others."""
ELEMENTS = 11
"""So many elements take a unit, as the exponent of two: those that are read and those made."""

PROGRAM = 40_000
"""What it takes to compile anything, ..."""
LEAST = int(SHARE * PROGRAM)
"""What is spent before that may pay."""
PLACED = 1_000
"""... for each operation, ..."""
PLACED_BACK = 3_600
"""... for one that goes back through others, ..."""
KERNEL = 5_000
"""... for each one of another type, or on other operands, than those before, ..."""
WINDOWS = 100_000
"""... and for one such that multiplies windows, or takes matrices apart."""


class Tally(threading.local):
    """What this thread has carried out, operation by operation."""

    spent = 0


TALLY = Tally()


@dataclass
class Account:
    """What the calls with arguments of some shapes have taken, carried out operation by operation.

    >>> account = Account()
    >>> account.note(300)
    >>> account.note(200)
    >>> account.ahead(50), account.calls
    (700, 2)
    """

    calls: int = 0
    spent: int = 0
    last: int = 0
    """What the last call took."""
    after: int = 0
    """It is not compiled before there were so many calls: it was too early."""

    def note(self, cost: int) -> None:
        """Take note of a call."""
        self.calls += 1
        self.spent += cost
        self.last = cost

    def ahead(self, toll: int) -> int:
        """Return what was spent behind the next call, of which `toll` is the least that it takes.

        It takes what the last one took, as far as anybody knows.
        """
        return self.spent + max(self.last, toll)

    def is_due(self, toll: int, price: int) -> bool:
        """Say whether to compile is the better choice from the next call on."""
        return self.ahead(toll) >= SHARE * price


@dataclass(frozen=True)
class Outlook:
    """How far a loop has come: what its turns took by now, and what those to come will take.

    The latter is None where that is not known. Unless it `is_sure`, the loop may end before.

    >>> Outlook(600, 3_000, is_sure=True).is_worth(4_000), Outlook(600, None).is_worth(4_000)
    (False, True)
    """

    spent: int
    ahead: int | None = None
    is_sure: bool = False

    def is_worth(self, price: int) -> bool:
        """Say whether to compile what is left is the better choice."""
        if self.ahead is not None and (self.is_sure or self.ahead < price):
            return self.ahead >= price
        return Account(spent=self.spent).is_due(0, price)


COMPARED = {"Less": 1, "LessEqual": 1, "Greater": -1, "GreaterEqual": -1}
"""Tests of a loop that counts, and which way it counts."""


class Countdown:
    """How many turns a loop still has, where its test compares integers of which one is counted.

    The test is over `inputs`. It may ask for more besides: then the loop may end before.
    """

    def __init__(self, inputs: Sequence[GraphTensor], test: GraphTensor) -> None:
        self.inputs = {tensor: place for place, tensor in enumerate(inputs)}
        self.pairs: list[tuple[int, GraphTensor, GraphTensor]] = []
        self.is_sure = True
        self._look(test)

    def _look(self, test: GraphTensor) -> None:
        way = COMPARED.get(test.op.type, 0)
        if test.op.type == "LogicalAnd":
            for each in test.op.inputs:
                self._look(each)
        elif way and all(map(self._is_known, test.op.inputs)):
            one, other = test.op.inputs
            self.pairs.append((way, one, other))
        else:
            self.is_sure = False

    def _is_known(self, tensor: GraphTensor) -> bool:
        is_there = tensor in self.inputs or isinstance(tensor.op.kind, Const)
        return is_there and tensor.spec.dtype.kind in "iu" and tensor.spec.shape == ()

    def gaps(self, values: Sequence[object]) -> list[int]:
        """Return how far each of the numbers is from its limit."""
        return [way * (self._at(y, values) - self._at(x, values)) for way, x, y in self.pairs]

    def _at(self, tensor: GraphTensor, values: Sequence[object]) -> int:
        place = self.inputs.get(tensor)
        return int(np.asarray(tensor.op.attributes["value"] if place is None else values[place]))

    def way(self, first: Sequence[int], now: Sequence[int], spent: int) -> Outlook:
        """Return how far a loop has come whose gaps were `first`, and whose turns took so much."""
        pairs = [(a, b) for a, b in zip(first, now, strict=True) if a > b]
        if not pairs:
            return Outlook(spent)
        ahead = min(max(b, 0) * spent // (a - b) for a, b in pairs)
        return Outlook(spent, ahead, self.is_sure and len(pairs) == len(first))


def elements(specs: Sequence[TensorSpec]) -> int:
    """Return how many elements are known to be there."""
    return sum(prod(spec.static_shape) for spec in specs if spec.is_static)


def toll_of(ops: Sequence[Operation]) -> int:
    """Return what one run of operations takes, without what is inside of them.

    Elements of sizes that are not known count as they come.
    """
    return TURN + sum(map(step_of, ops))


def is_nothing(op: Operation) -> bool:
    """Say whether an operation only gives what is there, or keeps it."""
    return op.kind.is_state or isinstance(op.kind, Const | NoOp | Placeholder | Stop)


def step_of(op: Operation) -> int:
    """Return what it takes to carry an operation out."""
    if is_nothing(op):
        return KEPT
    made = elements([tensor.spec for tensor in (*op.inputs, *op.outputs)]) >> ELEMENTS
    return made + (BACK if op.kind.goes_back else STEP)


def price_of(ops: Sequence[Operation]) -> int:
    """Return what it takes to compile operations, and what is inside of them."""
    seen: set[Hashable] = set()
    return PROGRAM + sum(_placed(op, seen) for op in inside(ops))


def _placed(op: Operation, seen: set[Hashable]) -> int:
    if is_nothing(op):
        return 0
    cost = PLACED_BACK if op.kind.goes_back else PLACED
    key = op.kind.type, *((x.spec.dtype, x.spec.shape) for x in op.inputs)
    if key in seen:
        return cost
    seen.add(key)
    return cost + KERNEL + (WINDOWS if op.kind.slides else 0)


def inside(ops: Sequence[Operation]) -> Iterator[Operation]:
    """Give operations, and those of the graphs that they carry out."""
    for op in ops:
        yield op
        for graph in graphs_in(op):
            yield from inside(graph.operations)
