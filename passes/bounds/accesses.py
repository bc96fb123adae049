"""What the operations of the level `loops` read and write, and whether it lies inside.

Accesses of one block that differ by numbers are proven together, by the lowest and the highest.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from xdsl.dialects import arith, memref, scf
from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, MemRefType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from ...ir.build import operands_of, operations
from ...ir.dialects.gpu import THREADS, Shared
from ...ir.dialects.kernel import Gather, Scatter
from ...ir.interpret.launch import DEMANDS, ROUNDS, SCRATCH, SIZES, UNITS, kernel_symbols
from ...ir.types.dims import parse
from .blocks import FIXED, REACHES, given_to_blocks, reaches_of
from .carried import Carried
from .factors import count_from
from .polynomial import ONE, ZERO, Polynomial, number
from .prover import FUEL, Helpful, Prover
from .rests import Rests, is_taken_apart
from .values import RULES, Facts, Truth, Values, is_index, lanes_of
from .walks import WALKS, Amount, Walk, walks_of

BYTES = 8
FEW = 10
"""Steps that are tried before rests are looked at."""
TWICE = 2
"""How often in a row facts have to be learned from to be so at once."""
NEAR = 4
"""How many values that were shown last others are compared with."""


@dataclass(frozen=True)
class UnprovenAccess:
    """An access that is not shown to lie inside of its buffer."""

    op: Operation
    what: str
    """The inequality that was not shown."""
    alike: tuple[Operation, ...] = ()
    """All that were proven together with it."""

    def __str__(self) -> str:
        return f"{self.op.name}: {self.what} is not shown"


@dataclass
class Span:
    """The lowest and the highest of accesses that differ by numbers, and what makes them."""

    facts: Facts
    low: int
    high: int
    lowest: Operation
    highest: Operation
    every: list[Operation]


Key: TypeAlias = "tuple[SSAValue, Facts, Polynomial, Polynomial]"
"""A buffer, what holds, the place but for a number, and how far beyond it is gone."""


class Accesses:
    """Walks one kernel and proves its accesses."""

    def __init__(self, function: FuncOp) -> None:
        self.function = function
        self.prover = Prover()
        self.values = Values(self.prover)
        self.sizes: dict[SSAValue, Polynomial] = {}
        self.begins: dict[SSAValue, Polynomial] = {}
        """Where the part of a buffer begins that a call may touch, if not at 0."""
        self.faults: list[UnprovenAccess] = []
        self.pending: dict[Key, Span] = {}
        self.outer: list[dict[Key, Span]] = []
        """What is pending around what is walked."""
        self.count = 0
        self.rests = Rests(self.prover)
        self.needed: dict[tuple[SSAValue, str], int] = {}
        """How often in a row proofs of ends of buffers needed what follows from facts."""
        self.helpful: dict[tuple[SSAValue, str], Helpful] = {}
        """Which bounds helped in proofs of ends of buffers."""
        self.bind()

    # -- arguments ------------------------------------------------------------------------

    def bind(self) -> None:
        """Say what is known of the arguments."""
        function, prover, indices = self.function, self.prover, self.values.indices
        args = function.body.block.args
        buffers = [a for a in args if isinstance(a.type, MemRefType)]
        sizes = texts(function, SIZES)
        for buffer, size in zip(buffers, sizes, strict=False):
            self.sizes[buffer] = prover.dim(parse(size))
        numbers = args[len(buffers) :]
        for argument, name in zip(numbers, kernel_symbols(function), strict=False):
            indices[argument] = prover.symbol(name)
        for demand in texts(function, DEMANDS):
            fact = prover.dim(parse(demand))
            prover.suppose(fact)
            count_from(prover, fact, self.sizes.values())
        rounds = text(function, ROUNDS)
        if rounds:
            turn = prover.counter("round", ZERO, prover.dim(parse(rounds)), ONE)
            indices[numbers[-4]] = turn
        low, high, slot = numbers[-3:]
        self.bind_range(low, high, slot, buffers[len(sizes) :])

    def bind_range(
        self, low: SSAValue, high: SSAValue, slot: SSAValue, scratch: Sequence[SSAValue]
    ) -> None:
        """Say which units and which part of the scratch this call has."""
        prover, indices = self.prover, self.values.indices
        self.units = units = prover.dim(parse(text(self.function, UNITS) or "0"))
        self.low, self.high = low, high
        indices[low] = prover.counter("lo", ZERO, units, ONE)
        indices[high] = prover.counter("hi", indices[low] + 1, units + 1, ONE)
        prover.suppose(units - 1)
        own = indices[slot] = self.slot()
        for buffer in scratch:
            assert isinstance(buffer.type, MemRefType), "scratch is memory"
            width = -(-getattr(buffer.type.element_type, "bitwidth", BYTES) // BYTES)
            part = int(text(self.function, SCRATCH) or "0") // width
            self.sizes[buffer], self.begins[buffer] = number(part), own * part

    def slot(self) -> Polynomial:
        """Return the number of the slot: of a thread in its block, where units are blocks."""
        threads = self.function.attributes.get(THREADS)
        if not isinstance(threads, IntegerAttr):
            return self.prover.new("slot", low=0)
        return self.prover.counter("slot", ZERO, number(threads.value.data), ONE)

    # -- walking --------------------------------------------------------------------------

    def prove(self) -> list[UnprovenAccess]:
        """Return the accesses that are not shown to lie inside of their buffers."""
        self.begin(())
        self.block(self.function.body.block)
        self.end()
        return self.faults

    def begin(self, facts: Facts) -> None:
        """Walk, until it ends, what is only reached where these are at least 0."""
        self.outer.append(self.pending)
        self.pending = {}
        self.prover.enter(facts)

    def end(self) -> None:
        """Prove what was noted in what was begun last."""
        self.check()
        self.prover.leave()
        self.pending = self.outer.pop()

    def block(self, block: Block) -> None:
        """Walk a block."""
        apply = self.values.apply
        for op in operations(block):
            name = op.name
            rule = RULES.get(name)
            if rule is not None:
                apply(rule, op)
            elif name in TOUCHES:
                TOUCHES[name](self, op)
            elif op.regions:
                REGIONS[name](self, op)

    def loop(self, op: scf.ForOp) -> None:
        """Walk a loop that counts."""
        index, prover = self.values.index, self.prover
        low, high, step = (index(operand) for operand in operands_of(op)[:3])
        if step == ONE:  # of a call's units nothing is known but that they are some of all
            low = prover.with_one(low, index(self.low), ZERO, "max")
        high = prover.with_one(high, index(self.high), self.units, "min")
        body = op.body.block
        self.begin((high - low - 1,))
        arguments = body.args
        here = self.values.indices[arguments[0]] = prover.counter("i", low, high, step)
        if len(arguments) > 1:
            turn = here - low if step == ONE else None
            results = self.carried(body, arguments[1:], op.operands[3:], body.last_op, turn)
        else:
            results = []
        self.block(body)
        self.end()
        self.values.indices.update(zip(op.results, results, strict=True))

    def branch(self, op: scf.IfOp) -> None:
        """Walk a choice."""
        truth = self.values.truth(op.operands[0])
        for region, facts in zip(op.regions, (truth.true, truth.false), strict=True):
            for block in region.blocks:
                self.begin(facts)
                self.block(block)
                self.end()

    def repeat(self, op: scf.WhileOp) -> None:
        """Walk a loop on a condition, whose second part only hands on what the first one gives."""
        body = op.before_region.block
        self.begin(())
        results = self.carried(body, body.args, op.operands, body.last_op, None)
        self.block(body)
        self.end()
        self.values.indices.update(zip(op.results, results, strict=True))

    def carried(
        self, body: Block, arguments: Sequence[SSAValue], initial: Sequence[SSAValue],
        last: Operation | None, turn: Polynomial | None,
    ) -> list[Polynomial]:  # fmt: skip
        """Name what a loop carries, as far as it is indices; return the results by name."""
        if not arguments:
            return []
        assert last is not None, "a block ends"
        following = last.operands[len(last.operands) - len(arguments) :]
        rows = [
            row for row in zip(arguments, initial, following, strict=True) if is_index(row[0].type)
        ]
        columns = list(zip(*rows, strict=True))
        found = iter(Carried(self.values, body, *columns).find(turn) if rows else ())
        return [
            next(found) if is_index(each.type) else self.prover.new("data") for each in arguments
        ]

    # -- proving --------------------------------------------------------------------------

    def touch(
        self, op: Operation, buffer: SSAValue, at: Polynomial, length: int = 1,
        facts: Facts = (), reach: Polynomial = ZERO,
    ) -> None:  # fmt: skip
        """Note that so many elements from `at` to `at + reach` on are touched, where facts hold."""
        self.count += 1
        if buffer in self.begins:
            at = at - self.begins[buffer]
        low = at.constant
        high, rest = low + length - 1, at - low
        key = buffer, facts, rest, reach
        span = self.pending.get(key)
        if span is None:
            self.pending[key] = Span(facts, low, high, op, op, [op])
            return
        span.every.append(op)
        if low < span.low:
            span.low, span.lowest = low, op
        if high > span.high:
            span.high, span.highest = high, op

    def check(self) -> None:
        """Prove what was noted: by what holds there, and by buffers."""
        resolved = self.prover.resolved
        groups: dict[Facts, dict[SSAValue, list[tuple[Polynomial, Polynomial, Span]]]] = {}
        for (buffer, facts, rest, reach), span in self.pending.items():
            spans = groups.setdefault(facts, {}).setdefault(buffer, [])
            spans.append((resolved(rest), resolved(reach), span))
        for facts, buffers in groups.items():
            self.prover.enter(facts)
            for buffer, spans in buffers.items():
                self.check_group(buffer, spans)
            self.prover.leave()

    def check_group(
        self, buffer: SSAValue, spans: Sequence[tuple[Polynomial, Polynomial, Span]]
    ) -> None:
        """Prove accesses of one buffer; the first are mostly the lowest, the last the highest."""
        text, size = self.text_of, self.size_of(buffer)
        lows = [rest + span.low for rest, _, span in spans]
        highs = [rest + reach + span.high for rest, reach, span in spans]
        inside = self.are_shown(lows, (buffer, "low"))
        spare = [size - 1 - high for high in reversed(highs)]
        before_end = self.are_shown(spare, (buffer, "high"))[::-1]
        self.rests.leave()
        for at, (_, _, span) in enumerate(spans):
            every = tuple(span.every)
            if not inside[at]:
                wanted = f"{text(lows[at])} >= 0"
                self.faults.append(UnprovenAccess(span.lowest, wanted, every))
            if not before_end[at]:
                wanted = f"{text(highs[at])} < {text(size)}"
                self.faults.append(UnprovenAccess(span.highest, wanted, every))

    def text_of(self, value: Polynomial) -> str:
        """Return an expression as it is read, atoms by name and number."""
        parts = []
        terms = sorted(value.terms.items(), key=lambda term: -len(term[0]))
        for monomial, coefficient in (*terms, *([((), value.constant)] if value.constant else [])):
            factors = [self.prover.name(each) for each in monomial]
            if abs(coefficient) != 1 or not factors:
                factors.insert(0, str(abs(coefficient)))
            parts.append(f"{'-' if coefficient < 0 else '+'} {'*'.join(factors)}")
        return " ".join(parts).removeprefix("+ ") or "0"

    def are_shown(self, values: Iterable[Polynomial], end: tuple[SSAValue, str]) -> list[bool]:
        """Say which of some values are at least 0; what is above one that is needs no proof.

        They are of one end of a buffer.
        """
        shown: list[Polynomial] = []
        found = []
        for value in values:
            is_above = any(self.is_above(value, each) for each in shown[-NEAR:])
            found.append(is_above or self.is_shown_at(value, end))
            if found[-1] and not is_above:
                shown.append(value)
        return found

    def is_shown_at(self, value: Polynomial, end: tuple[SSAValue, str]) -> bool:
        """Say whether something is at least 0 at one end of a buffer.

        Where the last ones there needed what follows from facts, it is not tried without.
        """
        prover = self.prover
        prover.helpful = self.helpful.setdefault(end, {})
        if not prover.is_behind or prover.is_sum_of_naturals(value):
            return self.is_shown(value)
        often = self.needed.get(end, 0)
        if often >= TWICE:
            prover.learn()
        found = self.is_shown(value)
        self.needed[end] = 0 if prover.is_behind else often + 1
        return found

    def is_above(self, value: Polynomial, other: Polynomial) -> bool:
        """Say whether one value is another one and what is at least 0 wherever it stands."""
        if (value.bits ^ other.bits) & ~self.prover.naturals:  # this stays in the difference
            return False
        return self.prover.is_sum_of_naturals(value - other)

    def is_shown(self, value: Polynomial) -> bool:
        """Say whether something is at least 0, by what is cheap first."""
        prover = self.prover
        few = self.rests.have_helped and is_taken_apart(prover, value)
        if prover.holds(value, FEW if few else FUEL, expected=True):
            return True
        if self.rests.show(value):
            return True
        return (
            (few and prover.holds(value))
            or prover.holds_by(prover.single, prover.resolved(value).reduced())
            or prover.holds_always(value)
        )

    def size_of(self, buffer: SSAValue) -> Polynomial:
        """Return how many elements a buffer has."""
        found = self.sizes.get(buffer)
        if found is None:
            made = buffer.owner
            if not isinstance(made, memref.AllocaOp | Shared):
                raise AssertionError(f"nothing says how large {buffer} is")
            kind = made.results[0].type
            assert isinstance(kind, MemRefType), "memory is allocated"
            found = self.sizes[buffer] = number(kind.get_shape()[0])
        return found

    def walk(self, op: Operation, walk: Walk) -> None:
        """Note that a buffer is walked from a place; each step leads up, or it has a counter."""
        place, reach = self.values.index(walk.offset), ZERO
        facts: Facts = ()
        for often, far in walk.steps:
            count, step = self.amount(often), self.amount(far)
            last = count - 1
            if self.prover.is_sum_of_naturals(step) or self.prover.holds(step):
                reach = reach + last * step
            else:
                place = place + self.prover.counter("k", ZERO, count, ONE) * step
            if not last.is_constant or last.constant < 0:
                facts += (last,)
        self.touch(op, walk.buffer, place, walk.length, facts, reach)

    def reading(self, given: SSAValue) -> Facts:
        """Return what holds where anything is read: a choice gives no bytes elsewhere."""
        made = given.owner
        if isinstance(made, arith.SelectOp) and self.values.index(made.operands[2]) == ZERO:
            return self.values.truth(made.operands[0]).true
        return ()

    def amount(self, amount: Amount) -> Polynomial:
        """Return an amount as an expression."""
        if amount.value is None:
            return number(amount.factor)
        value = self.values.index(amount.value)
        if amount.most is not None:
            value = self.prover.one_of("min", number(amount.most), value)
        return value * amount.factor


def texts(function: FuncOp, name: str) -> list[str]:
    """Return the texts of an attribute."""
    row = function.attributes.get(name)
    return (
        [each.data for each in row.data if isinstance(each, StringAttr)]
        if isinstance(row, ArrayAttr)
        else []
    )


def text(function: FuncOp, name: str) -> str:
    """Return the text of an attribute, which may be empty."""
    row = function.attributes.get(name)
    return row.data if isinstance(row, StringAttr) else ""


# -- what each operation touches ----------------------------------------------------------


def _load(walk: Accesses, op: Operation) -> None:
    buffer, at = operands_of(op)
    walk.touch(op, buffer, walk.values.index(at))


def _store(walk: Accesses, op: Operation) -> None:
    _, buffer, at = operands_of(op)
    walk.touch(op, buffer, walk.values.index(at))


def _vector_load(walk: Accesses, op: Operation) -> None:
    buffer, at = operands_of(op)
    walk.touch(op, buffer, walk.values.index(at), lanes_of(op.results[0].type))


def _vector_store(walk: Accesses, op: Operation) -> None:
    value, buffer, at = operands_of(op)
    walk.touch(op, buffer, walk.values.index(at), lanes_of(value.type))


def _masked(walk: Accesses, op: Operation) -> None:
    buffer, at, mask = operands_of(op)[:3]
    values = walk.values
    lane = values.lane(lanes_of(mask.type))
    walk.touch(op, buffer, values.index(at) + lane, facts=values.truth(mask).true)


def _gather(walk: Accesses, op: Gather | Scatter) -> None:
    values = walk.values
    mask = values.truth(op.masking[0]) if op.masking else Truth()
    at = values.index(op.base) + values.index(op.offsets)
    walk.touch(op, op.memref, at, facts=mask.true)


def _nothing(walk: Accesses, op: Operation) -> None:
    """Touch nothing that must lie inside."""


def _walk(walk: Accesses, op: Operation) -> None:
    for each in walks_of(op):
        walk.walk(op, each)


def _reaches(walk: Accesses, op: Operation) -> None:
    for each in reaches_of(op):
        facts = walk.reading(each.given) if each.given is not None else ()
        walk.touch(op, each.buffer, walk.values.index(each.at), each.length, facts)


def _fixed(walk: Accesses, op: Operation) -> None:
    walk.count += 1
    wrong = FIXED[op.name](op, given_to_blocks(walk.function))
    if wrong:
        walk.faults.append(UnprovenAccess(op, wrong))


Touch: TypeAlias = Callable[[Accesses, Any], None]
TOUCHES: Mapping[str, Touch] = {
    "memref.load": _load,
    "memref.store": _store,
    "vector.load": _vector_load,
    "vector.store": _vector_store,
    "vector.maskedload": _masked,
    "vector.maskedstore": _masked,
    "gvk.gather": _gather,
    "gvk.scatter": _gather,
    "gvk.prefetch": _nothing,
    **dict.fromkeys(WALKS, _walk),
    **dict.fromkeys(REACHES, _reaches),
    **dict.fromkeys(FIXED, _fixed),
}
"""Operations that read or write memory, and what they touch."""
REGIONS: Mapping[str, Touch] = {
    "scf.for": Accesses.loop,
    "scf.if": Accesses.branch,
    "scf.while": Accesses.repeat,
}
"""Operations with regions, and how those are walked."""
