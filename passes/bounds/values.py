"""What the operations of the level `loops` make of indices and of comparisons of them.

An index is a polynomial. A vector of indices is one too, in which an atom stands for the number
of the lane. A truth is what holds where it is true, and what holds where it is false.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
)
from xdsl.ir import Attribute, Operation, SSAValue, Use

from ...ir.build import operands_of
from .points import Origin
from .polynomial import Polynomial, number
from .prover import Prover
from .walks import AHEAD

Facts: TypeAlias = tuple[Polynomial, ...]
"""What is at least 0."""


@dataclass(frozen=True)
class Truth:
    """What follows from a truth value, or from a mask of its lane."""

    true: Facts = ()
    false: Facts = ()


UNKNOWN = Truth()


@dataclass
class Values:
    """The indices and truths of one kernel."""

    prover: Prover
    indices: dict[SSAValue, Polynomial] = field(default_factory=dict)
    truths: dict[SSAValue, Truth] = field(default_factory=dict)
    _lanes: dict[int, Polynomial] = field(default_factory=dict)
    _idle: dict[Operation, bool] = field(default_factory=dict)
    _passed: set[SSAValue] = field(default_factory=set)
    """Indices of which nothing is asked."""

    def index(self, value: SSAValue) -> Polynomial:
        """Return an index; an atom of which nothing is known for one that is data."""
        found = self.indices.get(value)
        if found is None:
            found = self.indices[value] = self.prover.new("data")
        return found

    def truth(self, value: SSAValue) -> Truth:
        """Return what follows from a truth value."""
        return self.truths.get(value, UNKNOWN)

    def lane(self, lanes: int) -> Polynomial:
        """Return the number of the lane in a vector of so many."""
        found = self._lanes.get(lanes)
        if found is None:
            origin = Origin("turn", (number(lanes),))
            found = self._lanes[lanes] = self.prover.new("lane", low=0, origin=origin)
            self.prover.atoms[-1].highs.append((number(1), number(lanes - 1)))
        return found

    def follow(self, op: Operation) -> None:
        """Note what a pure operation makes."""
        rule = RULES.get(op.name)
        if rule is not None:
            self.apply(rule, op)

    def apply(self, rule: Rule, op: Operation) -> None:
        """Note what an operation makes by its rule."""
        if (op.name in DEAR and self.is_idle(op)) or (
            self._passed and not self._passed.isdisjoint(operands_of(op))
        ):
            self._passed.update(op.results)
        else:
            rule(self, op)

    def is_idle(self, op: Operation) -> bool:
        """Say whether what an operation makes only says where memory is fetched ahead."""
        found = self._idle.get(op)
        if found is None:
            uses = (use for result in op.results for use in result.uses)
            found = self._idle[op] = all(map(self._is_idle_use, uses))
        return found

    def _is_idle_use(self, use: Use) -> bool:
        reader = use.operation
        if reader.name in RULES:
            return self.is_idle(reader)
        return (reader.name, use.index) == AHEAD_OF_TILE or reader.name == "gvk.prefetch"


def is_index(kind: Attribute) -> bool:
    """Say whether a type is that of indices, or of vectors of them."""
    return kind.__class__ is IndexType or (
        kind.__class__ is VectorType and isinstance(kind.element_type, IndexType)
    )


def lanes_of(kind: Attribute) -> int:
    """Return how many lanes a vector has; 0 for a single element."""
    return int(kind.get_shape()[0]) if isinstance(kind, VectorType) else 0


Rule: TypeAlias = Callable[[Values, Any], None]
Combine: TypeAlias = Callable[[Prover, Polynomial, Polynomial], Polynomial]


def _indexed(combine: Combine) -> Rule:
    def rule(values: Values, op: Operation) -> None:
        (result,) = op.results  # by its number it is asked of Python
        if is_index(result.type):
            (a, b), indices = operands_of(op), values.indices
            x, y = indices.get(a), indices.get(b)
            if x is None or y is None:
                x, y = values.index(a), values.index(b)
            indices[result] = combine(values.prover, x, y)

    return rule


def _constant(values: Values, op: arith.ConstantOp) -> None:
    (result,) = op.results
    if not is_index(result.type):
        return
    value = op.value
    if isinstance(value, IntegerAttr):
        values.indices[result] = number(value.value.data)
    elif isinstance(value, DenseIntOrFPElementsAttr):
        rows = [int(each) for each in value.get_values()]
        steps = {b - a for a, b in pairwise(rows)} or {0}
        if len(steps) == 1:
            values.indices[result] = values.lane(len(rows)) * steps.pop() + rows[0]


def _select(values: Values, op: Operation) -> None:
    (result,) = op.results
    if is_index(result.type):
        _, a, b = operands_of(op)
        made = values.prover.one_of("select", values.index(a), values.index(b))
        values.indices[result] = made


def _extend(values: Values, op: Operation) -> None:
    """Note that a truth value is a number: 0 or 1."""
    (source,), (result,) = operands_of(op), op.results
    if source.type == i1:
        values.indices[result] = values.prover.new(
            "bit", low=0, origin=Origin("turn", (number(2),))
        )
        values.prover.atoms[-1].highs.append((number(1), number(1)))


def _cast(values: Values, op: Operation) -> None:
    (source,), (result,) = operands_of(op), op.results
    if is_index(result.type) and source in values.indices:
        values.indices[result] = values.indices[source]


def _step(values: Values, op: Operation) -> None:
    values.indices[op.results[0]] = values.lane(lanes_of(op.results[0].type))


def _broadcast(values: Values, op: Operation) -> None:
    (source,), (result,) = operands_of(op), op.results
    if is_index(result.type):
        values.indices[result] = values.index(source)
    elif source in values.truths:
        values.truths[result] = values.truths[source]


def _create_mask(values: Values, op: Operation) -> None:
    (count,), (result,) = operands_of(op), op.results
    lane = values.lane(lanes_of(result.type))
    values.truths[result] = Truth((values.index(count) - lane - 1,))


_SIGNED: Mapping[int, Callable[[Polynomial, Polynomial], tuple[Facts, Facts]]] = {
    2: lambda a, b: ((b - a - 1,), (a - b,)),
    3: lambda a, b: ((b - a,), (a - b - 1,)),
    4: lambda a, b: ((a - b - 1,), (b - a,)),
    5: lambda a, b: ((a - b,), (b - a - 1,)),
}
EQ, NE, ULT = 0, 1, 6


def _alike(prover: Prover, a: Polynomial, b: Polynomial, *, differ: bool) -> Truth:
    """Return what follows from two indices being equal; where not, one may have to be larger."""
    ordered = [(low - high - 1,) for low, high in ((a, b), (b, a)) if prover.holds(low - high)]
    equal, unequal = (a - b, b - a), ordered[0] if ordered else ()
    return Truth(unequal, equal) if differ else Truth(equal, unequal)


def _compare(values: Values, op: arith.CmpiOp) -> None:
    if not is_index(op.lhs.type):
        return
    a, b = values.index(op.lhs), values.index(op.rhs)
    kind = op.predicate.value.data
    rule = _SIGNED.get(kind)
    if kind in (EQ, NE):
        values.truths[op.results[0]] = _alike(values.prover, a, b, differ=kind == NE)
    elif rule is not None:
        values.truths[op.results[0]] = Truth(*rule(a, b))
    elif kind == ULT and values.prover.holds(b):
        values.truths[op.results[0]] = Truth((a, b - a - 1))


def _both(values: Values, op: Operation) -> None:
    a, b = (values.truth(operand) for operand in operands_of(op))
    if isinstance(_element(op.results[0].type), IntegerType) and (a, b) != (UNKNOWN, UNKNOWN):
        values.truths[op.results[0]] = Truth(a.true + b.true)


def _either(values: Values, op: Operation) -> None:
    a, b = (values.truth(operand) for operand in operands_of(op))
    if (a, b) != (UNKNOWN, UNKNOWN):
        values.truths[op.results[0]] = Truth((), a.false + b.false)


def _element(kind: Attribute) -> Attribute:
    return kind.element_type if isinstance(kind, VectorType) else kind


def _minimum(prover: Prover, a: Polynomial, b: Polynomial) -> Polynomial:
    return prover.one_of("min", a, b)


def _maximum(prover: Prover, a: Polynomial, b: Polynomial) -> Polynomial:
    return prover.one_of("max", a, b)


def _divided(*, unsigned: bool) -> Combine:
    return lambda prover, a, b: prover.quotient(a, b, unsigned=unsigned)


def _left(*, unsigned: bool) -> Combine:
    return lambda prover, a, b: prover.remainder(a, b, unsigned=unsigned)


def _without_carry(prover: Prover, a: Polynomial, b: Polynomial) -> Polynomial:
    """Return the sum of bits without carrying: below the power of two that both are below."""
    low = 0 if prover.holds(a) and prover.holds(b) else None
    made = prover.new("xor", low=low, origin=Origin("^", (a, b)))
    for bits in range(MOST_BITS):
        most = (1 << bits) - 1
        if all(prover.holds(number(most) - each) for each in (a, b)):
            prover.atoms[-1].highs.append((number(1), number(most)))
            break
    return made


def _blocks(values: Values, op: Operation) -> None:
    values.indices[op.results[0]] = values.prover.new("blocks", low=1)


AHEAD_OF_TILE = "gvk.gemm_tile", AHEAD
"""The operand of a tile that says where lines lie which are asked for ahead."""
DEAR = frozenset({"arith.divui", "arith.remui", "arith.minsi", "arith.maxsi", "arith.select"})
"""Operations that take long to follow."""
MOST_BITS = 16
"""Of what is summed without carrying."""

RULES: Mapping[str, Rule] = {
    "arith.constant": _constant,
    "arith.addi": _indexed(lambda _, a, b: a + b),
    "arith.subi": _indexed(lambda _, a, b: a - b),
    "arith.muli": _indexed(lambda _, a, b: a * b),
    "arith.divui": _indexed(_divided(unsigned=True)),
    "arith.remui": _indexed(_left(unsigned=True)),
    "arith.floordivsi": _indexed(_divided(unsigned=False)),
    "arith.minsi": _indexed(_minimum),
    "arith.maxsi": _indexed(_maximum),
    "arith.xori": _indexed(_without_carry),
    "arith.select": _select,
    "arith.extui": _extend,
    "arith.index_cast": _cast,
    "arith.cmpi": _compare,
    "arith.andi": _both,
    "arith.ori": _either,
    "vector.broadcast": _broadcast,
    "vector.create_mask": _create_mask,
    "gvk.step": _step,
    "gvk.blocks": _blocks,
}
"""Operations by which indices and truths are made; of what others make nothing is known."""
