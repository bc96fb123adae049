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

from ...ir.types.tensor import TensorSpec
from .graph import Operation
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
