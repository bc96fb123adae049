"""Control flow in which sizes or kinds of values change: host steps that run their regions.

What is in the regions is compiled all the same, piece by piece.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...host import HostOp
from ...op import register
from ...types.attributes import to_attribute
from ...types.dims import evaluate, symbols
from ...types.dtypes import bool_, i64
from ...types.tensor import Array, TensorSpec
from ...types.values import Spec, fits, of_any_size, value_spec
from ..structure import Isolated

FLAG, NUMBER = TensorSpec(bool_, ()), TensorSpec(i64, ())


class HostControl(HostOp, Isolated):
    """An operation that runs regions; each region's arguments get values of their own sizes."""

    def check(self, what: str, given: Sequence[Spec], wanted: Sequence[Spec]) -> None:
        """Check that values of some specs may stand where others are declared."""
        if len(given) != len(wanted):
            raise VerifyException(f"{what}: {len(given)} values, expected {len(wanted)}")
        for one, other in zip(given, wanted, strict=True):
            if not fits(one, other):
                raise VerifyException(f"{what}: found {one}, expected {other}")

    def enter(self, machine: Any, index: int, values: Sequence[Any]) -> Sequence[Any]:
        """Run a region: bind the sizes of its arguments first. Its sizes are its own."""
        block = self.regions[index].block
        outside = machine.symbols, machine.owners
        machine.symbols, machine.owners = map(dict, outside)
        try:
            for place, spec in machine.wanted(block):
                machine.bind(spec, values[place], self.label, block)
            done: Sequence[Any] = machine.block(block, values)
        finally:
            machine.symbols, machine.owners = outside
        return done

    def leave(self, machine: Any, values: Sequence[Any]) -> Sequence[Any]:
        """Bind the sizes of the results."""
        for spec, value in zip(self.result_specs, values, strict=True):
            machine.bind(spec, value, self.label, self)
        return values


def specs_of(values: Sequence[SSAValue]) -> list[Spec]:
    """Return the specs of values."""
    return [value_spec(value.type) for value in values]


@register
class HostIf(HostControl):
    """What the first region yields where the condition holds, else what the second does.

    Operands behind the condition are the arguments of both regions.
    """

    name = "gv.host_if"

    @classmethod
    def infer(cls, condition: TensorSpec, *xs: Any) -> Sequence[Any]:
        """Refuse: the results are what both regions yield."""
        raise TypeError("the results of gv.host_if are given by its regions")

    @classmethod
    def make_from(
        cls,
        condition: SSAValue,
        operands: Sequence[SSAValue],
        blocks: Sequence[Block],
        types: Sequence[Attribute],
    ) -> HostIf:
        """Create a choice from two blocks that end in `gv.yield`."""
        return cls.create(
            operands=[condition, *operands],
            result_types=types,
            regions=[Region(block) for block in blocks],
        )

    def verify_(self) -> None:
        """Check the condition, and the regions against operands and results."""
        self.check_isolated(2)
        self.check("condition", specs_of(self.operands[:1]), [FLAG])
        # A size may be assumed of the result that one branch does not have: its run says so.
        open_results = [of_any_size(spec) for spec in self.result_specs]
        for index in (0, 1):
            arguments = specs_of(self.regions[index].block.args)
            self.check(f"arguments of region {index}", specs_of(self.operands[1:]), arguments)
            self.check(f"region {index}", specs_of(self.yielded(index)), open_results)

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Run one region."""
        index = 0 if bool(np.asarray(operands[0])) else 1
        return self.leave(machine, self.enter(machine, index, operands[1:]))


@register
class HostLoop(HostControl):
    """A loop whose states may change their size, and which collects a part of each trip.

    Operands: the number of trips, whether to begin, `states` states, and what is the same in
    every trip. The region takes the trip's number, a flag, states and the rest; it yields whether
    to go on, the states, and parts. Results are the states, and the parts of each stacked.
    """

    name = "gv.host_loop"

    @classmethod
    def infer(
        cls, trips: TensorSpec, condition: TensorSpec, *xs: Any, states: int
    ) -> Sequence[Any]:
        """Refuse: the results are what the region yields."""
        raise TypeError("the results of gv.host_loop are given by its region")

    @classmethod
    def make_from(
        cls,
        control: Sequence[SSAValue],
        states: Sequence[SSAValue],
        fixed: Sequence[SSAValue],
        body: Block,
        types: Sequence[Attribute],
    ) -> HostLoop:
        """Create a loop from its number of trips and flag, and a block that ends in `gv.yield`."""
        return cls.create(
            operands=[*control, *states, *fixed],
            properties={"states": to_attribute(len(states))},
            result_types=types,
            regions=[Region(body)],
        )

    @property
    def states(self) -> int:
        """Return how many operands change."""
        return int(self.plain_attributes()["states"])

    def verify_(self) -> None:
        """Check the region against operands and results."""
        self.check_isolated(1)
        arguments, count = specs_of(self.regions[0].block.args), self.states
        self.check("operands", specs_of(self.operands[:2]), [NUMBER, FLAG])
        self.check("arguments", [NUMBER, FLAG, *specs_of(self.operands[2:])], arguments)
        made = specs_of(self.yielded(0))
        self.check("the flag of a trip", made[:1], [FLAG])
        self.check("the states of a trip", made[1 : count + 1], arguments[2 : count + 2])
        self.check("states", made[1 : count + 1], self.result_specs[:count])
        if len(made) - 1 != len(self.results):
            raise VerifyException(f"{len(made) - 1} values of a trip, {len(self.results)} results")

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Go round as often as wanted, and as long as the flag holds."""
        count = self.states
        trips, flag = int(np.asarray(operands[0])), np.asarray(operands[1])
        now, fixed = list(operands[2 : count + 2]), operands[count + 2 :]
        collected: list[list[Array]] = [[] for _ in self.results[count:]]
        trip = 0
        while trip < trips and bool(flag):
            index = np.array(trip, np.int64)
            flag, *made = self.enter(machine, 0, [index, flag, *now, *fixed])
            now = made[:count]
            for column, part in zip(collected, made[count:], strict=True):
                column.append(part)
            trip += 1
        specs = self.result_specs[count:]
        rows = zip(collected, specs, strict=True)
        stacks = [stacked(column, spec, machine.symbols) for column, spec in rows]
        return self.leave(machine, [*now, *stacks])


def stacked(parts: Sequence[Array], spec: Any, known: Mapping[str, int]) -> Array:
    """Return parts on a new first axis; of no parts, an array whose unknown sizes are 0."""
    if parts:
        shape = parts[0].shape
        if shape and all(each.shape == shape for each in parts):  # as `stack` is, and takes less
            return np.concatenate(parts).reshape(len(parts), *shape)
        return np.stack(parts)
    shape = [evaluate(dim, known) if symbols(dim) <= known.keys() else 0 for dim in spec.dims[1:]]
    return np.empty((0, *shape), spec.dtype.numpy)
