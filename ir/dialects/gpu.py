"""What the threads of a block on a GPU say to each other, in the `gvk` dialect.

    %s = gvk.shared : memref<256xf32>            memory of the block, one for all its threads
    gvk.barrier                                  wait for all threads of the block
    gvk.warp_barrier                             wait for those of the warp
    %y = gvk.shuffle %x {distance = 8 : i64}     the %x of the thread whose number differs there
    gvk.copy_async %x[%i], %s[%o], %n            16 bytes on their way to memory of the block
    gvk.close_copies, gvk.await_copies           a group of them ends; all but some are there
    %a = gvk.load_matrix %s[%o]                  four matrices of 8 times 16 bytes, over a warp
    %d = gvk.mma %a, %b, %c                      a product of matrices that a warp holds

A kernel that uses these has the attribute `gv.threads`: then a unit is a block of so many threads,
and `slot` is the number of the thread in its block. All threads of a block meet the same barriers
and shuffles in the same order.
"""

from __future__ import annotations

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
    i8,
    i32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AnyAttr,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

THREADS = "gv.threads"
"""Attribute of a `loops` kernel whose units are blocks: how many threads a block has."""

MAPS = "gv.maps"
"""Attribute of a kernel: the tensor maps that it gets before all other arguments, as JSON."""

MOST_BLOCKS = "gv.blocks"
"""Attribute of a kernel whose blocks take one unit after the other: how many there are at most."""

CLUSTER = "gv.cluster"
"""Attribute of a kernel: how many blocks see each other's shared memory; else it is one."""

SHARED_BYTES = "gv.shared"
"""Attribute of a kernel: bytes of shared memory that the launch gives each block."""

WARP = 32
"""Threads that run together: neighbours, who can shuffle."""


@irdl_op_definition
class Shared(IRDLOperation):
    """Memory that all threads of a block see; it begins undefined in each block.

    With `at` it lies there, in bytes, in the memory that a launch gives each block, of which
    there can be more than 48 KiB.
    """

    name = "gvk.shared"
    at = opt_prop_def(IntegerAttr)
    result = result_def(MemRefType)
    irdl_options = (ParsePropInAttrDict(),)
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self, kind: Attribute, at: int | None = None) -> None:
        place = {} if at is None else {"at": IntegerAttr(at, 64)}
        Operation.__init__(self, result_types=(kind,), properties=place)

    def verify_(self) -> None:
        """Check that the size is known."""
        kind = self.result.type
        assert isinstance(kind, MemRefType)
        if len(kind.get_shape()) != 1 or kind.get_shape()[0] < 1:
            raise VerifyException(f"expected one known size, found {kind}")
        if self.at is not None and self.at.value.data % 16:
            raise VerifyException(f"expected a multiple of 16, found at = {self.at.value.data}")


class Await(IRDLOperation):
    """What waits for all that this thread began but the last `open` ones."""

    open = prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self, open: int) -> None:
        Operation.__init__(self, properties={"open": IntegerAttr(open, 64)})


class Signal(IRDLOperation):
    """What has no operands, and which no access to memory may pass."""

    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        Operation.__init__(self)


@irdl_op_definition
class Barrier(Signal):
    """Wait until all threads of the block are here; what they wrote before is seen behind."""

    name = "gvk.barrier"


@irdl_op_definition
class WarpBarrier(Signal):
    """Wait until all threads of the warp are here; what they wrote before is seen behind."""

    name = "gvk.warp_barrier"


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
class CopyAsync(IRDLOperation):
    """Begin to copy 16 bytes to shared memory, the first `given` of them; the rest become zero.

    Both places are multiples of 16 bytes. `given` is 16, or 0 where nothing is read.
    """

    name = "gvk.copy_async"
    source = operand_def(MemRefType)
    source_offset = operand_def(IndexType)
    target = operand_def(MemRefType)
    target_offset = operand_def(IndexType)
    given = operand_def(IndexType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$source `[` $source_offset `]` `,` $target `[` $target_offset `]` `,` $given attr-dict"
        " `:` type($source) `,` type($target)"
    )

    def __init__(
        self, source: tuple[SSAValue, SSAValue], target: tuple[SSAValue, SSAValue], given: SSAValue
    ) -> None:
        Operation.__init__(self, operands=(*source, *target, given))

    def verify_(self) -> None:
        """Check that both sides have one type of elements."""
        kinds = (self.source.type, self.target.type)
        assert all(isinstance(kind, MemRefType) for kind in kinds)
        first, second = (kind.element_type for kind in kinds)  # type: ignore[attr-defined]
        if first != second:
            raise VerifyException(f"expected one element type, found {first} and {second}")


@irdl_op_definition
class CloseCopies(Signal):
    """End a group of copies: what this thread began since it ended the one before."""

    name = "gvk.close_copies"


@irdl_op_definition
class AwaitCopies(Await):
    """Wait until all of this thread's groups of copies are there but the last `open` ones."""

    name = "gvk.await_copies"


@irdl_op_definition
class LoadMatrix(IRDLOperation):
    """Load four matrices of 8 rows of 16 bytes from shared memory, for the 32 threads of a warp.

    Thread 8*i + r gives the offset of row r of matrix i, aligned to 16 bytes. Thread 4*g + t gets
    of each matrix the bytes 4*t to 4*t + 3 of row g; transposed, which 16-bit elements can be, the
    elements 2*t and 2*t + 1 of column g.
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
        element = memref.type.element_type
        Operation.__init__(
            self,
            operands=(memref, offset),
            result_types=(VectorType(element, [16 // MATRIX_BYTES[element]]),),
            properties={"transposed": BoolAttr.from_bool(transposed)},
        )

    def verify_(self) -> None:
        """Check the element type."""
        kind = self.memref.type
        assert isinstance(kind, MemRefType)
        size = MATRIX_BYTES.get(kind.element_type, 0)
        if not size or self.result.type != VectorType(kind.element_type, [16 // size]):
            raise VerifyException(f"expected 16 bytes of a type of matrices, found {kind}")
        if self.transposed.value.data and size != 2:
            raise VerifyException(f"expected 16 bits to transpose, found {kind.element_type}")


@irdl_op_definition
class MultiplyMatrices(IRDLOperation):
    """Add the product of a 16xK and a Kx8 matrix to a 16x8 matrix, held by a warp; K is 32 bytes.

    Thread 4*g + t has of `a` the rows g and g + 8, of `b` the column g, each in the bytes 4*t to
    4*t + 3 of both halves of K: of `a` first both rows in the first half. Of `c` it has the
    columns 2*t and 2*t + 1, of row g and then of row g + 8. `kinds` names both operands' types in
    PTX: f16, bf16, tf32 (f32 whose last 13 bits do not count), s8 or u8.
    """

    name = "gvk.mma"
    a = operand_def(VectorType)
    b = operand_def(VectorType)
    c = operand_def(VectorType)
    kinds = prop_def(StringAttr)
    result = result_def(VectorType)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c) `->` type($result)"
    )

    def __init__(self, operands: tuple[SSAValue, SSAValue, SSAValue], kinds: str) -> None:
        Operation.__init__(
            self,
            operands=operands,
            result_types=(operands[2].type,),
            properties={"kinds": StringAttr(kinds)},
        )

    def verify_(self) -> None:
        """Check that shapes and types are those that there are."""
        left, _, right = self.kinds.data.partition(".")
        found = [operand.type for operand in (self.a, self.b, self.c, self.result)]
        if left in MATRICES and right in MATRICES:
            (element, total), (other, _) = MATRICES[left], MATRICES[right]
            count = 16 // MATRIX_BYTES[element]
            wide = VectorType(total, [4])
            made = [VectorType(element, [count]), VectorType(other, [count // 2]), wide, wide]
            if found == made and (left == right or element == i8 == other):
                return
        raise VerifyException(f"there is no product {self.kinds.data} of {found[0]} and {found[1]}")


MATRICES = {
    **{"f16": (f16, f32), "bf16": (bf16, f32), "tf32": (f32, f32)},
    **{"s8": (i8, i32), "u8": (i8, i32)},
}
"""What a warp multiplies, by its name in PTX: the types of elements and of sums."""

MATRIX_BYTES: dict[Attribute, int] = {f16: 2, bf16: 2, f32: 4, i8: 1}
"""The bytes of an element of a matrix."""

GPU_OPS = (
    *(Shared, Barrier, WarpBarrier, Shuffle, CopyAsync, CloseCopies, AwaitCopies),
    *(LoadMatrix, MultiplyMatrices),
)
