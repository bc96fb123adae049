"""What the threads of a block on a GPU say to each other, in the `gvk` dialect.

    %s = gvk.shared : memref<256xf32>            memory of the block, one for all its threads
    gvk.barrier                                  wait for all threads of the block
    %y = gvk.shuffle %x {distance = 8 : i64}     the %x of the thread whose number differs there

A kernel that uses these has the attribute `gv.threads`: then a unit is a block of so many threads,
and `slot` is the number of the thread in its block. All threads of a block meet the same barriers
and shuffles in the same order.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, MemRefType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

THREADS = "gv.threads"
"""Attribute of a `loops` kernel whose units are blocks: how many threads a block has."""

WARP = 32
"""Threads that run together: neighbours, who can shuffle."""


@irdl_op_definition
class Shared(IRDLOperation):
    """Memory that all threads of a block see; it begins undefined in each block."""

    name = "gvk.shared"
    result = result_def(MemRefType)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, kind: Attribute) -> None:
        Operation.__init__(self, result_types=(kind,))

    def verify_(self) -> None:
        """Check that the size is known."""
        kind = self.result.type
        assert isinstance(kind, MemRefType)
        if len(kind.get_shape()) != 1 or kind.get_shape()[0] < 1:
            raise VerifyException(f"expected one known size, found {kind}")


@irdl_op_definition
class Barrier(IRDLOperation):
    """Wait until all threads of the block are here; what they wrote before is seen behind."""

    name = "gvk.barrier"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        Operation.__init__(self)


@irdl_op_definition
class Shuffle(IRDLOperation):
    """Give each thread the value of the thread of its warp whose number is xor `distance`."""

    name = "gvk.shuffle"
    value = operand_def(AnyAttr())
    distance = prop_def(IntegerAttr)
    result = result_def(AnyAttr())
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$value attr-dict `:` type($value) `->` type($result)"

    def __init__(self, value: SSAValue, distance: int) -> None:
        Operation.__init__(
            self,
            operands=(value,),
            result_types=(value.type,),
            properties={"distance": IntegerAttr(distance, 64)},
        )

    def verify_(self) -> None:
        """Check the distance and that the type is kept."""
        if not 0 < self.distance.value.data < WARP:
            raise VerifyException(f"expected distance 1 to 31, found {self.distance.value.data}")
        if self.value.type != self.result.type:
            raise VerifyException(f"expected {self.value.type}, found {self.result.type}")


GPU_OPS = (Shared, Barrier, Shuffle)
