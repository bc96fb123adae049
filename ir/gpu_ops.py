"""What the threads of a block on a GPU say to each other, in the `gvk` dialect.

    %s = gvk.shared : memref<256xf32>            memory of the block, one for all its threads
    gvk.barrier                                  wait for all threads of the block
    %y = gvk.shuffle %x {distance = 8 : i64}     the %x of the thread whose number differs there
    %a = gvk.load_matrix %s[%o]                  four 8x8 matrices, spread over a warp
    %d = gvk.mma %a, %b, %c                      a product of matrices that a warp holds

A kernel that uses these has the attribute `gv.threads`: then a unit is a block of so many threads,
and `slot` is the number of the thread in its block. All threads of a block meet the same barriers
and shuffles in the same order.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import (
    BoolAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    VectorType,
    bf16,
    f16,
    f32,
)
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
    var_result_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

THREADS = "gv.threads"
"""Attribute of a `loops` kernel whose units are blocks: how many threads a block has."""

MAPS = "gv.maps"
"""Attribute of a kernel: the tensor maps that it gets before all other arguments, as JSON."""

SHARED_BYTES = "gv.shared"
"""Attribute of a kernel: bytes of shared memory that the launch gives each block."""

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


@irdl_op_definition
class LoadMatrix(IRDLOperation):
    """Load four 8x8 matrices of 16-bit elements from shared memory, for the 32 threads of a warp.

    Thread 8*i + r gives the offset of row r of matrix i, eight elements that are aligned to 16
    bytes. Thread 4*g + t gets of each matrix the elements 2*t and 2*t + 1 of row g; transposed, of
    column g.
    """

    name = "gvk.load_matrix"
    memref = operand_def(MemRefType)
    offset = operand_def(IndexType)
    transposed = prop_def(BoolAttr)
    result = result_def(VectorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$memref `[` $offset `]` attr-dict `:` type($memref) `->` type($result)"

    def __init__(self, memref: SSAValue, offset: SSAValue, *, transposed: bool) -> None:
        assert isinstance(memref.type, MemRefType), f"{memref.type} is no memory"
        Operation.__init__(
            self,
            operands=(memref, offset),
            result_types=(VectorType(memref.type.element_type, [8]),),
            properties={"transposed": BoolAttr.from_bool(transposed)},
        )

    def verify_(self) -> None:
        """Check the element type."""
        kind = self.memref.type
        assert isinstance(kind, MemRefType)
        if kind.element_type not in HALVES or self.result.type != VectorType(
            kind.element_type, [8]
        ):
            raise VerifyException(f"expected 8 elements of f16 or bf16, found {self.result.type}")


@irdl_op_definition
class MultiplyMatrices(IRDLOperation):
    """Add the product of a 16x16 and a 16x8 matrix to a 16x8 matrix of f32, held by a warp.

    Thread 4*g + t has of `a` the rows g and g + 8, of `b` the column g, each in the depths 2*t,
    2*t + 1, 2*t + 8 and 2*t + 9: of `a` first both rows at the low depths. Of `c` it has the
    columns 2*t and 2*t + 1, of row g and then of row g + 8.
    """

    name = "gvk.mma"
    a = operand_def(VectorType)
    b = operand_def(VectorType)
    c = operand_def(VectorType)
    result = result_def(VectorType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    def __init__(self, a: SSAValue, b: SSAValue, c: SSAValue) -> None:
        Operation.__init__(self, operands=(a, b, c), result_types=(c.type,))

    def verify_(self) -> None:
        """Check that shapes and types are those that there are."""
        kinds = [operand.type for operand in (self.a, self.b, self.c, self.result)]
        for half in HALVES:
            wide = VectorType(f32, [4])
            if kinds == [VectorType(half, [8]), VectorType(half, [4]), wide, wide]:
                return
        raise VerifyException(f"there is no product of {kinds[0]} and {kinds[1]} to {kinds[2]}")


@dataclass(frozen=True)
class WarpgroupTile:
    """A tile of a product for the warpgroups of a block, of which each has 64 rows."""

    rows: int
    columns: int
    depth: int
    stages: int
    """How many tiles of both operands are on their way or in use."""

    @property
    def groups(self) -> int:
        """Return how many warpgroups multiply; one more brings what they need."""
        return self.rows // 64

    @property
    def threads(self) -> int:
        """Return the threads of a block."""
        return 128 * (self.groups + 1)

    @property
    def stage_bytes(self) -> int:
        """Return the bytes of the tiles of both operands."""
        return (self.rows + self.columns) * self.depth * 2

    @property
    def shared_bytes(self) -> int:
        """Return the shared memory of a block: stages, and two barriers for each."""
        return self.stages * (self.stage_bytes + 16)


@irdl_op_definition
class WarpgroupProduct(IRDLOperation):
    """A tile of the product of two matrices whose rows are depth, brought by tensor maps.

    All threads of a block come here, and those of the first warpgroup leave the kernel. The
    others get their sums: of each 8 columns two neighbours in the row g of their warp's 16, and two
    in the row g + 8, as of `gvk.mma`. Beyond the matrices there are zeros.
    """

    name = "gvk.warpgroup_product"
    row = operand_def(IndexType)
    column = operand_def(IndexType)
    turns = operand_def(IndexType)
    rows = prop_def(IntegerAttr)
    columns = prop_def(IntegerAttr)
    depth = prop_def(IntegerAttr)
    stages = prop_def(IntegerAttr)
    element = prop_def(StringAttr)
    sums = var_result_def(VectorType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    def __init__(
        self, place: tuple[SSAValue, SSAValue], turns: SSAValue, tile: WarpgroupTile, element: str
    ) -> None:
        Operation.__init__(
            self,
            operands=(*place, turns),
            result_types=[VectorType(f32, [4])] * (tile.columns // 8),
            properties={
                **{name: IntegerAttr(value, 64) for name, value in vars(tile).items()},
                "element": StringAttr(element),
            },
        )

    @property
    def tile(self) -> WarpgroupTile:
        """Return the sizes as one value."""
        return WarpgroupTile(
            self.rows.value.data,
            self.columns.value.data,
            self.depth.value.data,
            self.stages.value.data,
        )

    def verify_(self) -> None:
        """Check the sizes and the number of sums."""
        tile = self.tile
        if tile.rows % 64 or tile.columns % 8 or tile.columns > 256 or tile.depth != 64:
            raise VerifyException(f"there is no product of the sizes {tile}")
        if len(self.sums) != tile.columns // 8 or self.element.data not in ("f16", "bf16"):
            raise VerifyException(f"expected {tile.columns // 8} sums of f16 or bf16")


HALVES = (f16, bf16)
"""The element types of matrices that a warp multiplies."""

GPU_OPS = (Shared, Barrier, Shuffle, LoadMatrix, MultiplyMatrices, WarpgroupProduct)
