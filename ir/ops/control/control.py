"""Structured control flow: a choice between two regions, and a loop.

    %y = gv.if %p, %x ({
    ^bb0(%a: tensor<f32>): gv.yield %a
    }, {
    ^bb0(%a: tensor<f32>): %n = gv.neg %a ... gv.yield %n
    })

Regions see nothing but their arguments, so that they can be moved, hashed and outlined. State
that a region changes is one more operand and one more result.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from xdsl.ir import Block, Region, SSAValue
from xdsl.utils.exceptions import VerifyException

from ...op import register
from ...types.attributes import to_attribute
from ...types.dtypes import bool_
from ...types.tensor import TensorSpec, spec_of
from ..structure import Isolated, Yield


class Control(Isolated):
    """An operation whose results are what its regions yield."""

    PURE: ClassVar = True

    def check_arguments(self, index: int, operands: Sequence[SSAValue]) -> None:
        """Check the arguments of a region against operands."""
        for place, (argument, given) in enumerate(
            zip(self.regions[index].block.args, operands, strict=False)
        ):
            if not fits(spec_of(given.type), spec_of(argument.type)):
                raise VerifyException(
                    f"region {index} takes {spec_of(argument.type)} as argument {place}, "
                    f"but is given {spec_of(given.type)}"
                )
        if len(self.regions[index].block.args) != len(operands):
            raise VerifyException(
                f"region {index} has {len(self.regions[index].block.args)} arguments, "
                f"expected {len(operands)}"
            )

    def check_results(self, index: int, values: Sequence[SSAValue]) -> None:
        """Check what a region yields against the results."""
        if len(values) != len(self.results):
            raise VerifyException(
                f"region {index} yields {len(values)} values, expected {len(self.results)}"
            )
        for place, (value, result) in enumerate(zip(values, self.results, strict=True)):
            if not fits(spec_of(value.type), spec_of(result.type)):
                raise VerifyException(
                    f"region {index} yields {spec_of(value.type)} as result {place}, "
                    f"expected {spec_of(result.type)}"
                )


def fits(given: TensorSpec, wanted: TensorSpec) -> bool:
    """Say whether a value of one spec can stand where another is declared."""
    if given.dtype != wanted.dtype:
        return False
    return wanted.shape is None or given.shape == wanted.shape


@register
class If(Control):
    """The results of the first region where the condition holds, else of the second.

    Only one of them is run. Operands behind the condition are the arguments of both regions.
    """

    name = "gv.if"

    @classmethod
    def infer(cls, condition: TensorSpec, *xs: TensorSpec) -> Sequence[TensorSpec]:
        """Refuse: the results are what the regions yield."""
        raise TypeError("the results of gv.if are given by its regions")

    @classmethod
    def make_from(
        cls, condition: SSAValue, operands: Sequence[SSAValue], then: Block, other: Block
    ) -> If:
        """Create a choice from two blocks that end in `gv.yield`."""
        last = then.last_op
        assert isinstance(last, Yield), "the block of a choice ends in gv.yield"
        return cls.create(
            operands=[condition, *operands],
            result_types=[value.type for value in last.operands],
            regions=[Region(then), Region(other)],
        )

    def verify_(self) -> None:
        """Check the condition, and the regions against operands and results."""
        condition = spec_of(self.operands[0].type)
        if condition.dtype != bool_ or condition.shape != ():
            raise VerifyException(f"the condition is {condition}, expected bool[]")
        self.check_isolated(2)
        for index in (0, 1):
            self.check_arguments(index, self.operands[1:])
            self.check_results(index, self.yielded(index))

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Run one region."""
        block = self.blocks()[0 if bool(np.asarray(operands[0])) else 1]
        done: Sequence[Any] = machine.block(block, operands[1:])
        return done


@register
class While(Control):
    """The carried values when the first region yields false, changed by the second till then.

    The first `carried` operands change; the others are the same in every trip. Both regions
    take all of them; the first yields whether there is another trip, the second what the carried
    values become.
    """

    name = "gv.while"

    @classmethod
    def infer(cls, *xs: TensorSpec, carried: int) -> Sequence[TensorSpec]:
        """Refuse: the results are what the body yields."""
        raise TypeError("the results of gv.while are given by its body")

    @classmethod
    def make_from(
        cls, carried: Sequence[SSAValue], fixed: Sequence[SSAValue], test: Block, body: Block
    ) -> While:
        """Create a loop from two blocks that end in `gv.yield`."""
        return cls.create(
            operands=[*carried, *fixed],
            properties={"carried": to_attribute(len(carried))},
            result_types=[argument.type for argument in body.args[: len(carried)]],
            regions=[Region(test), Region(body)],
        )

    @property
    def carried(self) -> int:
        """Return how many operands change."""
        return int(self.plain_attributes()["carried"])

    def verify_(self) -> None:
        """Check the test, and the body against operands and results."""
        self.check_isolated(2)
        for index in (0, 1):
            self.check_arguments(index, self.operands)
        test = self.yielded(0)
        if len(test) != 1 or spec_of(test[0].type) != TensorSpec(bool_, ()):
            found = ", ".join(str(spec_of(value.type)) for value in test)
            raise VerifyException(f"the first region yields {found}, expected bool[]")
        self.check_results(1, self.yielded(1))

    def interpret(self, machine: Any, operands: Sequence[Any], values: Any) -> Sequence[Any]:
        """Go round as long as the test holds."""
        test, body = self.blocks()
        now, fixed = list(operands[: self.carried]), list(operands[self.carried :])
        while bool(np.asarray(machine.block(test, [*now, *fixed])[0])):
            now = list(machine.block(body, [*now, *fixed]))
        return now
