"""Control flow between launches: a choice and a loop over memory.

    gv.choose %flag ({ gv.launch ... gv.yield }, { gv.launch ... gv.yield })
    gv.loop %flag ({ gv.launch ... gv.yield }, { gv.launch ... gv.yield })

They are what `bufferise` makes of `gv.if` and `gv.while`. Regions take and give nothing: they
use the buffers around them, and what they compute is what they write.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...op import Op, register
from ...types.dtypes import bool_
from ...types.tensor import TensorSpec, spec_of
from ..structure import Yield


class Steps(Op):
    """An operation on a flag in memory that holds two lists of launches."""

    LEVEL: ClassVar = "planned"
    PURE: ClassVar = False

    @classmethod
    def infer(cls, flag: TensorSpec) -> Sequence[TensorSpec]:
        """Return nothing: results are written in place."""
        return ()

    @classmethod
    def make_from(cls, flag: SSAValue, first: Block, second: Block) -> Steps:
        """Create the operation from two blocks without arguments that end in `gv.yield`."""
        return cls.create(operands=[flag], regions=[Region(first), Region(second)])

    @property
    def blocks(self) -> tuple[Block, Block]:
        """Return the blocks of both regions."""
        return self.regions[0].block, self.regions[1].block

    def verify_(self) -> None:
        """Check the flag, and that the regions take and give nothing."""
        flag = spec_of(self.operands[0].type)
        if flag != TensorSpec(bool_, ()):
            raise VerifyException(f"the flag is {flag}, expected bool[]")
        if len(self.regions) != 2:
            raise VerifyException(f"{len(self.regions)} regions, expected 2")
        for index, block in enumerate(self.blocks):
            last = block.last_op
            if block.args or not isinstance(last, Yield) or last.operands:
                raise VerifyException(f"region {index} takes or gives values, expected none")


@register
class Choose(Steps):
    """Do what the first region says where the flag holds, else what the second says."""

    name = "gv.choose"

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Run one region."""
        machine.run(self.blocks[0 if bool(np.asarray(operands[0])) else 1], dict(values))
        return ()


@register
class Loop(Steps):
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
