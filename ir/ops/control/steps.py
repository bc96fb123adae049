"""Control flow between launches: a choice and loops over memory.

    gv.choose %flag ({ gv.launch ... gv.yield }, { gv.launch ... gv.yield })
    gv.loop %flag ({ gv.launch ... gv.yield }, { gv.launch ... gv.yield })
    gv.repeat ({ gv.launch ... gv.yield }) {index = "layer", trips = 8}

The first two are what `bufferise` makes of `gv.if` and `gv.while`, the last what `repeat-layers`
makes of equal layers. Regions take and give nothing: they use the buffers around them, and what
they compute is what they write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...op import Op, register
from ...types.attributes import to_attribute
from ...types.dtypes import bool_
from ...types.tensor import TensorSpec, spec_of
from ..structure import Yield


class Steps(Op):
    """An operation that holds lists of launches."""

    LEVEL: ClassVar = "planned"
    PURE: ClassVar = False

    @property
    def blocks(self) -> tuple[Block, ...]:
        """Return the blocks of the regions."""
        return tuple([region.block for region in self.regions])

    def check_regions(self, count: int) -> None:
        """Check that there are as many regions, which take and give nothing."""
        if len(self.regions) != count:
            raise VerifyException(f"{len(self.regions)} regions, expected {count}")
        for index, block in enumerate(self.blocks):
            last = block.last_op
            if block.args or not isinstance(last, Yield) or last.operands:
                raise VerifyException(f"region {index} takes or gives values, expected none")


class Flagged(Steps):
    """An operation on a flag in memory that holds two lists of launches."""

    @classmethod
    def infer(cls, flag: TensorSpec) -> Sequence[TensorSpec]:
        """Return nothing: results are written in place."""
        return ()

    @classmethod
    def make_from(cls, flag: SSAValue, first: Block, second: Block) -> Flagged:
        """Create the operation from two blocks without arguments that end in `gv.yield`."""
        return cls.create(operands=[flag], regions=[Region(first), Region(second)])

    def verify_(self) -> None:
        """Check the flag, and that the regions take and give nothing."""
        flag = spec_of(self.operands[0].type)
        if flag != TensorSpec(bool_, ()):
            raise VerifyException(f"the flag is {flag}, expected bool[]")
        self.check_regions(2)


@register
class Choose(Flagged):
    """Do what the first region says where the flag holds, else what the second says."""

    name = "gv.choose"

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Run one region."""
        machine.run(self.blocks[0 if bool(np.asarray(operands[0])) else 1], dict(values))
        return ()


@register
class Loop(Flagged):
    """Do what the first region says; as long as the flag then holds, the second and the first."""

    name = "gv.loop"

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Go round as long as the flag holds."""
        test, body = self.blocks
        machine.run(test, dict(values))
        while bool(np.asarray(operands[0])):
            machine.run(body, dict(values))
            machine.run(test, dict(values))
        return ()


@register
class Repeat(Steps):
    """Do what the region says so many times; the symbol `index` counts from 0 in its buffers."""

    name = "gv.repeat"

    @classmethod
    def infer(cls, *, index: str, trips: int) -> Sequence[TensorSpec]:
        """Return nothing: results are written in place."""
        return ()

    @classmethod
    def make_of(cls, index: str, trips: int, body: Block) -> Repeat:
        """Create the operation from a block without arguments that ends in `gv.yield`."""
        properties = {"index": to_attribute(index), "trips": to_attribute(trips)}
        return cls.create(properties=properties, regions=[Region(body)])

    @property
    def index(self) -> str:
        """Return the name of what counts."""
        return str(self.plain_attributes()["index"])

    @property
    def trips(self) -> int:
        """Return how often the region is run."""
        return int(self.plain_attributes()["trips"])

    def verify_(self) -> None:
        """Check the count, and that the region takes and gives nothing."""
        if self.trips < 1 or not self.index.isidentifier():
            raise VerifyException(f"{self.trips} trips of {self.index!r}, expected 1 of a name")
        self.check_regions(1)

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Go round as often."""
        for trip in range(self.trips):
            machine.symbols[self.index] = trip
            machine.run(self.blocks[0], dict(values))
        machine.symbols.pop(self.index)
        return ()
