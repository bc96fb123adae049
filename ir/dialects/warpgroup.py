"""Products by the warpgroups of a block on Hopper, in the `gvk` dialect.

    gvk.begin_stages                                  barriers, for all threads of the block
    gvk.set_registers {count = 40 : i64}              of each thread of this warpgroup, from here on
    %s, %p = gvk.bring_tiles %turns, %s, %p, %row, %column             by one thread
    %d..., %s, %p = gvk.warpgroup_product %turns, %s, %p               by the other warpgroups

    gvk.await_stores {open = 1 : i64}                 by a warpgroup, before it writes a tile again
    gvk.store_tile %s[%o] to (%column, %row)          by a warpgroup, which wrote the tile

Tiles of both operands come through a ring of stages. Who brings and who multiplies go round it by
themselves: the stage that is next, and the parity of the round, are theirs to carry along.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.builtin import (
    BoolAttr,
    IndexType,
    IntegerAttr,
    MemRefType,
    StringAttr,
    VectorType,
    f32,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    ParsePropInAttrDict,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect
from xdsl.utils.exceptions import VerifyException

from .gpu import Await, Signal

MOST_BATCH = 3
"""Axes of a tensor map beside row and depth."""


@dataclass(frozen=True)
class WarpgroupTile:
    """A tile of a product for the warpgroups of a block, of which each has 64 rows."""

    rows: int
    columns: int
    depth: int
    stages: int
    """How many tiles of both operands are on their way or in use."""
    left_turned: int = 0
    """1 if neighbours of the left operand are rows instead of depths."""
    right_turned: int = 0
    """1 if neighbours of the right operand are columns instead of depths."""
    left_alone: int = 0
    """1 if coordinates beside row and depth are of the right operand alone."""
    cluster: int = 1
    """How many blocks have tiles below each other, and bring a part of the right one each."""

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


class Staged(IRDLOperation):
    """What all operations on stages have: the sizes of tiles."""

    rows = prop_def(IntegerAttr)
    columns = prop_def(IntegerAttr)
    depth = prop_def(IntegerAttr)
    stages = prop_def(IntegerAttr)
    left_turned = prop_def(IntegerAttr)
    right_turned = prop_def(IntegerAttr)
    left_alone = prop_def(IntegerAttr)
    cluster = prop_def(IntegerAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())

    @property
    def tile(self) -> WarpgroupTile:
        """Return the sizes as one value."""
        return WarpgroupTile(
            self.rows.value.data,
            self.columns.value.data,
            self.depth.value.data,
            self.stages.value.data,
            self.left_turned.value.data,
            self.right_turned.value.data,
            self.left_alone.value.data,
            self.cluster.value.data,
        )

    def verify_(self) -> None:
        """Check the sizes."""
        tile = self.tile
        if tile.rows % 64 or tile.columns % 8 or tile.columns > 256 or tile.depth != 64:
            raise VerifyException(f"there is no product of the sizes {tile}")
        if tile.right_turned and tile.columns % 64:
            raise VerifyException(f"expected whole panels of 64 columns, found {tile.columns}")
        if tile.columns % (64 * tile.cluster):
            raise VerifyException(f"{tile.cluster} blocks bring uneven parts of {tile.columns}")


def sizes_of(tile: WarpgroupTile) -> dict[str, Attribute]:
    """Return the properties that say the sizes."""
    return {name: IntegerAttr(value, 64) for name, value in vars(tile).items()}


@irdl_op_definition
class BeginStages(Staged):
    """Make the barriers of all stages; all threads of the block come here."""

    name = "gvk.begin_stages"
    assembly_format = "attr-dict"

    def __init__(self, tile: WarpgroupTile) -> None:
        Operation.__init__(self, properties=sizes_of(tile))


@irdl_op_definition
class MeetCluster(IRDLOperation):
    """Wait for all threads of all blocks of the cluster."""

    name = "gvk.meet_cluster"
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        Operation.__init__(self)


@irdl_op_definition
class SetRegisters(IRDLOperation):
    """Take more registers for each thread of the warpgroup, or give some up, from here on."""

    name = "gvk.set_registers"
    count = prop_def(IntegerAttr)
    change = prop_def(StringAttr)
    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "attr-dict"

    def __init__(self, count: int, change: str) -> None:
        properties = {"count": IntegerAttr(count, 64), "change": StringAttr(change)}
        Operation.__init__(self, properties=properties)

    def verify_(self) -> None:
        """Check the count."""
        count, change = self.count.value.data, self.change.data
        if change not in ("inc", "dec") or count % 8 or not 24 <= count <= 256:
            raise VerifyException(f"expected inc or dec to 24, 32, ... 256, found {change} {count}")


@irdl_op_definition
class BringTiles(Staged):
    """Bring the tiles of all depths to the stages, by tensor maps, as stages become free.

    Places are row and column, then further coordinates, which both operands have or the right one.
    """

    name = "gvk.bring_tiles"
    turns = operand_def(IndexType)
    stage = operand_def(IndexType)
    parity = operand_def(IndexType)
    places = var_operand_def(IndexType)
    next_stage = result_def(IndexType)
    next_parity = result_def(IndexType)
    assembly_format = "$turns `,` $stage `,` $parity `,` $places attr-dict"

    def __init__(
        self, turns: SSAValue, state: Sequence[SSAValue], places: Sequence[SSAValue],
        tile: WarpgroupTile,
    ) -> None:  # fmt: skip
        Operation.__init__(
            self,
            operands=(turns, *state, *places),
            result_types=(IndexType(), IndexType()),
            properties=sizes_of(tile),
        )

    def verify_(self) -> None:
        """Check the sizes and the number of coordinates."""
        super().verify_()
        if not 2 <= len(self.places) <= 2 + MOST_BATCH:
            raise VerifyException(
                f"expected 2 to {2 + MOST_BATCH} places, found {len(self.places)}"
            )


@irdl_op_definition
class WarpgroupProduct(Staged):
    """Multiply the tiles of all depths, and give their stages back.

    A thread gets of each 8 columns two neighbours in the row g of its warp's 16, and two in the row
    g + 8, as of `gvk.mma`. Beyond the matrices there are zeros.
    """

    name = "gvk.warpgroup_product"
    turns = operand_def(IndexType)
    stage = operand_def(IndexType)
    parity = operand_def(IndexType)
    element = prop_def(StringAttr)
    next_stage = result_def(IndexType)
    next_parity = result_def(IndexType)
    sums = var_result_def(VectorType)
    assembly_format = "$turns `,` $stage `,` $parity attr-dict `:` type($sums)"

    def __init__(
        self, turns: SSAValue, state: Sequence[SSAValue], tile: WarpgroupTile, element: str
    ) -> None:
        sums = [VectorType(f32, [4])] * (tile.columns // 8)
        Operation.__init__(
            self,
            operands=(turns, *state),
            result_types=[IndexType(), IndexType(), *sums],
            properties={**sizes_of(tile), "element": StringAttr(element)},
        )

    def verify_(self) -> None:
        """Check the sizes and the number of sums."""
        super().verify_()
        if len(self.sums) != self.tile.columns // 8 or self.element.data not in ("f16", "bf16"):
            raise VerifyException(f"expected {self.tile.columns // 8} sums of f16 or bf16")


@irdl_op_definition
class FenceShared(Signal):
    """Let warpgroups multiply what this thread wrote to shared memory before."""

    name = "gvk.fence_shared"


@irdl_op_definition
class AwaitStores(Await):
    """Wait, a whole warpgroup, until all its tiles but the last `open` ones are read."""

    name = "gvk.await_stores"


@irdl_op_definition
class StoreTile(IRDLOperation):
    """Begin to store what a warpgroup wrote to shared memory, by the tensor map of the result.

    All threads of the warpgroup come. The tile begins at an offset, a multiple of 1024 bytes, and
    lies as the map says; places are those of its first element, the innermost first.
    """

    name = "gvk.store_tile"
    memref = operand_def(MemRefType)
    offset = operand_def(IndexType)
    places = var_operand_def(IndexType)
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = "$memref `[` $offset `]` `to` `(` $places `)` attr-dict `:` type($memref)"

    def __init__(self, memref: SSAValue, offset: SSAValue, places: Sequence[SSAValue]) -> None:
        Operation.__init__(self, operands=(memref, offset, *places))

    def verify_(self) -> None:
        """Check the number of coordinates."""
        if not 2 <= len(self.places) <= 2 + MOST_BATCH:
            raise VerifyException(
                f"expected 2 to {2 + MOST_BATCH} places, found {len(self.places)}"
            )


@irdl_op_definition
class WarpgroupMultiply(IRDLOperation):
    """Add to sums a matrix in registers times one in shared memory, and wait for it.

    Each warp has 16 rows of the left matrix, 16 columns a vector, as `gvk.mma` takes them. The
    right one begins at an offset (a multiple of 1024 bytes) and lies in panels of 128 bytes by
    `panel` rows, whose sixteenths change places by the row (the swizzle): along them depth, or, if
    `turned`, columns of the result.
    """

    name = "gvk.warpgroup_multiply"
    memref = operand_def(MemRefType)
    offset = operand_def(IndexType)
    left = var_operand_def(VectorType)
    before = var_operand_def(VectorType)
    panel = prop_def(IntegerAttr)
    turned = prop_def(BoolAttr)
    element = prop_def(StringAttr)
    sums = var_result_def(VectorType)
    irdl_options = (ParsePropInAttrDict(), AttrSizedOperandSegments(as_property=True))
    traits = traits_def(MemoryReadEffect(), MemoryWriteEffect())
    assembly_format = (
        "$memref `[` $offset `]` `by` `(` $left `)` `to` `(` $before `)` attr-dict"
        " `:` type($memref) `,` `(` type($left) `)` `,` `(` type($before) `)`"
        " `->` `(` type($sums) `)`"
    )

    def __init__(
        self, right: tuple[SSAValue, SSAValue], left: Sequence[SSAValue],
        before: Sequence[SSAValue], panel: int, *, turned: bool, element: str,
    ) -> None:  # fmt: skip
        IRDLOperation.__init__(
            self,
            operands=[*right, left, before],
            result_types=[[x.type for x in before]],
            properties={
                "panel": IntegerAttr(panel, 64),
                "turned": BoolAttr.from_bool(turned),
                "element": StringAttr(element),
            },
        )

    def verify_(self) -> None:
        """Check the number of sums and the panels."""
        columns = 8 * len(self.before)
        if self.element.data not in ("f16", "bf16"):
            raise VerifyException(f"expected f16 or bf16, found {self.element.data}")
        if columns > 256 or self.panel.value.data % 8 or not self.left:
            raise VerifyException(f"there is no product of {columns} columns")
        if self.turned.value.data and (
            columns % 64 or self.panel.value.data != 16 * len(self.left)
        ):
            raise VerifyException("expected whole panels of all depths and of columns")


@irdl_op_definition
class Blocks(IRDLOperation):
    """How many blocks a launch has."""

    name = "gvk.blocks"
    result = result_def(IndexType)
    assembly_format = "attr-dict"

    def __init__(self) -> None:
        Operation.__init__(self, result_types=(IndexType(),))


WARPGROUP_OPS = (
    *(BeginStages, SetRegisters, BringTiles, WarpgroupProduct, Blocks),
    *(FenceShared, WarpgroupMultiply, AwaitStores, StoreTile, MeetCluster),
)
