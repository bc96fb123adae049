"""Lay out the weights of products and convolutions for the register tile.

    %y = gv.matmul %x, %w      =>     %p = transpose(reshape(pad(%w)))      (to @prepare)
                                      %y = gv.matmul_packed %x, %p {columns = 10}

A right operand that does not depend on the inputs is packed into panels as wide as the
target's tile for these sizes; channels-last convolutions are packed as products of rows, 1x1
ones become products, and those in groups get their own forms. Rows of a matrix whose transpose is
packed are read from its panels, so that it is stored once. Where an instruction adds up products
of pairs of bf16, panels of pairs are made of a right operand in each run, if there are many rows.
Needs `choose-layout`; the packing operations are moved by `hoist-prepare`. For GPUs there is
`turn-weights`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue

from ..ir import GraphEmit, Op, Program, operands_of, replace
from ..ir.op import REGISTRY
from ..ir.ops.laid_out.conv_groups import ConvGroupsPacked, has_several, pack_groups_of_channels
from ..ir.ops.laid_out.conv_weights import ConvWeightsPacked, ConvWeightsRows
from ..ir.ops.laid_out.gather_packed import GatherPacked
from ..ir.ops.laid_out.packed import (
    DOTS,
    NARROW,
    ConvPacked,
    DepthwisePacked,
    MatmulPacked,
    pack,
    pack_groups,
)
from ..ir.program import functions
from ..ir.types.dims import Dim, product
from ..ir.types.dtypes import DType, bf16, f32, f64, i8, i32, u8
from ..ir.types.tensor import TensorSpec, spec_of
from ..target import Target
from .analysis.blocks import operations_of
from .analysis.kernels.tiles import is_joined, lanes_of, panel_width, product_width
from .analysis.rewrite import RuleBook
from .analysis.targets import target_of
from .analysis.walks import is_move
from .base import Pass

FAST = ("f32", "f64")
LARGE_GROUP = 64
"""Channels of a group from which on products of its pixels are as fast as anything."""
MOST_TAPS = 32
"""Taps along a side of a window that is walked tap by tap: beyond, that would be too much code."""
MANY = 128
"""Rows from which on panels of pairs are worth making for one product."""
RULES = RuleBook[Callable[[Op, GraphEmit, Target], SSAValue | None]]()


@dataclass(frozen=True)
class PackWeights(Pass):
    """Lay out the weights of products and convolutions for the register tile."""

    NUMERICS = "reassociating"
    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Pack in every function."""
        target = target_of(program)
        if not target.can.pack_panels:
            return
        for op, fixed in with_fixed(program):
            if RULES.of(type(op)) and (is_packed(op, fixed) or is_paired(op, target)):
                self.pack(op, target, fixed)
        for function in functions(program.module):
            for each in list(operations_of(function)):
                if isinstance(each, Op) and is_packed_product(each):
                    self.share(each)

    def pack(self, op: Op, target: Target, fixed: dict[SSAValue, bool]) -> None:
        """Replace one operation if there is a packed form."""
        emit = GraphEmit.before(op)
        (rule,) = RULES.of(type(op))
        made = rule(op, emit, target)
        if made is None:
            return
        replace_marked(op, made, emit, fixed)
        self.count("packed")

    def share(self, product: Op) -> None:
        """Let what takes rows of a matrix take them from the panels of its transpose.

        So an embedding that is also the last product is stored once. A row that lies in a panel is
        slower to read, by far less than the product is to compute.
        """
        panels = product.operands[1]
        matrix = turned_source(panels)
        if matrix is None:
            return
        users = [use.operation for use in matrix.uses]
        gathers = [op for op in users if isinstance(op, Op) and takes_rows(op, matrix)]
        others = [op for op in users if op not in gathers]
        if not gathers or any(op.name != "gv.transpose" for op in others):
            return
        tile, columns = int(spec_of(panels.type).dims[2]), spec_of(matrix.type).dims[0]  # type: ignore[arg-type]
        for op in gathers:
            emit = GraphEmit.before(op)
            spec = spec_of(matrix.type)
            turned = emit(REGISTRY["gv.transpose"], matrix, order=(1, 0))
            own = pack(emit, turned, spec.with_shape(spec.dims[::-1]), tile)
            replace(op, emit(GatherPacked, own, op.operands[1], columns=columns))
            self.count("shared")


def is_packed_product(op: Op) -> bool:
    """Say whether an operation is a product with panels whose rows are not grouped."""
    return op.name == "gv.matmul_packed" and op.specs[1].rank == 3


def turned_source(panels: SSAValue) -> SSAValue | None:
    """Return the matrix whose transpose was packed into panels, if that is what they are."""
    tiles = before(before(panels, "gv.transpose"), "gv.reshape")
    value = before(before(tiles, "gv.pad") or tiles, "gv.transpose")
    if value is None:
        return None
    spec, made = spec_of(value.type), spec_of(panels.type)
    is_matrix = spec.rank == 2 and spec.is_static and spec.dims[1] == made.dims[1]
    return value if is_matrix else None


def before(value: SSAValue | None, name: str) -> SSAValue | None:
    """Return what an operation of a name has made a value of, None if none has."""
    owner = None if value is None else value.owner
    return owner.operands[0] if isinstance(owner, Op) and owner.name == name else None


def takes_rows(op: Op, matrix: SSAValue) -> bool:
    """Say whether an operation takes rows of a matrix at indices."""
    return (
        op.name == "gv.gather"
        and op.operands[0] is matrix
        and op.operands[1] is not matrix
        and op.plain_attributes()["axis"] == 0
    )


def is_weighted(op: Op, fixed: dict[SSAValue, bool]) -> bool:
    """Say whether the right operand alone is known ahead of time, in a type with fast tiles."""
    left, right = op.operands[:2]
    known = fixed.get(right, False) and not fixed.get(left, False)
    return known and op.specs[0].dtype.name in (*FAST, "i32")


def is_packed(op: Op, fixed: dict[SSAValue, bool]) -> bool:
    """Say whether to pack: what convolutions and integers are given in a run, in each run."""
    if op.specs[0].dtype == i32:
        return not fixed.get(op.operands[0], False)
    if op.name != "gv.matmul" and op.specs[0].dtype.name in FAST:
        return not fixed.get(op.operands[0], False)
    return is_weighted(op, fixed)


def is_paired(op: Op, target: Target) -> bool:
    """Say whether packing pays in each run: products of pairs take half the time of others."""
    if op.name != "gv.matmul" or not op.specs[1].is_static or op.specs[1].rank != 2:
        return False
    (lhs, rhs), rows = op.operands, product(op.specs[0].dims[:-1])
    _, right = before_widening(rhs, op.specs[0].dtype)
    paired = right.dtype == bf16 and groups_of(lhs, right, target)[1]
    return paired and isinstance(rows, int) and rows >= MANY


def with_fixed(program: Program) -> Iterator[tuple[Op, dict[SSAValue, bool]]]:
    """Give the operations of every function, each with what is known ahead of time up to it."""
    for function in functions(program.module):
        fixed: dict[SSAValue, bool] = {}
        for op in list(operations_of(function)):
            mark_fixed(op, fixed)
            if isinstance(op, Op):
                yield op, fixed


def replace_marked(op: Op, made: SSAValue, emit: GraphEmit, fixed: dict[SSAValue, bool]) -> None:
    """Replace an operation by what was emitted, of which is noted what is known ahead of time."""
    for new in emit.made:
        mark_fixed(new, fixed)
    replace(op, made)


def mark_fixed(op: Operation, fixed: dict[SSAValue, bool]) -> None:
    """Note whether results depend on weights and constants only."""
    if not isinstance(op, Op) or not op.PURE or op.regions:
        return
    operands = operands_of(op)
    if all(map(fixed.get, operands)) if operands else op.name in ("gv.weight", "gv.constant"):
        fixed |= dict.fromkeys(op.results, True)


def before_widening(value: SSAValue, dtype: DType) -> tuple[SSAValue, TensorSpec]:
    """Return what a value was before it became a type of more bits, if panels can be of that."""
    if isinstance(value.owner, Op) and value.owner.name == "gv.cast":
        (narrow,) = value.owner.operands
        if (dtype, spec_of(narrow.type).dtype) in (*NARROW, (i32, i8)):
            return narrow, spec_of(narrow.type)
    return value, spec_of(value.type)


@RULES.on("matmul")
def _matmul(op: Op, emit: GraphEmit, target: Target) -> SSAValue | None:
    attributes = op.plain_attributes()
    lhs, rhs = op.operands
    left, right = op.specs
    if right.rank != 2 or not right.is_static or attributes["transpose_lhs"]:
        return None
    rhs, right = before_widening(rhs, left.dtype)
    narrow, groups = groups_of(lhs, right, target)
    if not groups and left.dtype == i32:
        return None
    if attributes["transpose_rhs"]:
        rhs = emit(REGISTRY["gv.transpose"], rhs, order=(1, 0))
        right = right.with_shape(right.dims[::-1])
    rows = product(left.dims[:-1])
    width = product_width if left.dtype == right.dtype else panel_width
    tile = width(target, rows, int(right.dims[1]), left.dtype)  # type: ignore[arg-type]
    if groups:
        panels, lhs = pack_groups(emit, rhs, right, tile), narrow
    else:
        panels = pack(emit, rhs, right, tile)
    made: SSAValue = emit(MatmulPacked, lhs, panels, columns=right.dims[1])
    return made


def groups_of(lhs: SSAValue, right: TensorSpec, target: Target) -> tuple[SSAValue, bool]:
    """Return what became the left operand, and if groups of it and of rows are multiplied."""
    owner = lhs.owner
    if not isinstance(owner, Op) or owner.name != "gv.cast":
        return lhs, False
    (narrow,) = owner.operands
    left = spec_of(narrow.type)
    dots = next((n for n, kinds in DOTS.items() if kinds[:2] == (left.dtype, right.dtype)), 0)
    depth = left.dims[-1]
    fits = dots > 0 and isinstance(depth, int) and depth % dots == 0
    return narrow, fits and adds_up(target, left.dtype) and lies_in_rows(narrow)


def adds_up(target: Target, dtype: DType) -> bool:
    """Say whether products of neighbours of a type are added up faster than others.

    Of integers of 8 bits everywhere: where no instruction does it, two of pairs do, and at least
    a quarter is read.
    """
    if not target.can.pack_panels or dtype not in (bf16, u8):
        return False
    return dtype == u8 or target.adds_pairs_of_bf16


def lies_in_rows(value: SSAValue) -> bool:
    """Say whether the last axis of a value will lie without gaps, at whole groups."""
    owner = value.owner
    while isinstance(owner, Op) and owner.name == "gv.reshape":
        (source,) = owner.operands
        before, behind = (
            _longest(spec.dims) for spec in (spec_of(source.type), *owner.result_specs)
        )
        if before[-1:] != behind[-1:]:
            return False
        owner = source.owner
    return not isinstance(owner, Op) or not is_move(owner)


def _longest(shape: tuple[Dim, ...]) -> tuple[Dim, ...]:
    """Return the dimensions of more than one element: others behind them move nothing."""
    return tuple(dim for dim in shape if dim != 1)


@RULES.on("conv")
def _conv(op: Op, emit: GraphEmit, target: Target) -> SSAValue | None:
    attributes = op.plain_attributes()
    x, w = op.operands
    source, weight = op.specs
    groups = attributes["groups"]
    if not attributes["channels_last"] or not weight.is_static or source.rank < 3:
        return None
    narrow = integers_of(op, emit, target) if source.dtype == i32 else None
    if narrow is not None:
        x, w = narrow
        weight = spec_of(w.type)
    if groups == source.dims[-1] and groups > 1 and weight.dims[0] == groups:
        return depthwise(op, emit, x, w)
    if narrow is None and walks_channels(op):
        return _pack_channels(op, emit, target)
    rank = weight.rank
    taps = emit(REGISTRY["gv.transpose"], w, order=(*range(2, rank), 1, 0))
    kept = {n: attributes[n] for n in ("strides", "pads", "dilations", "groups")}
    plain = is_pointwise(weight, attributes)
    columns, inner = int(weight.dims[0]), weight.dims[1]  # type: ignore[arg-type]
    depth = product((*weight.dims[2:], inner))
    rows: Dim = product(op.result_specs[0].dims[:-1])
    width = product_width if source.dtype == weight.dtype else panel_width
    tile = width(target, rows, columns // groups, source.dtype)
    if groups == 1:
        panels = _pack_taps(emit, taps, weight.with_shape((depth, columns)), tile)
    else:
        panels = _pack_groups(emit, taps, weight, tile, groups)
    if plain and groups == 1 and (narrow is None or lies_in_rows(x)):
        made: SSAValue = emit(MatmulPacked, x, panels, columns=columns)
        return made
    packed: SSAValue = emit(
        ConvPacked, x, panels, columns=columns, window=tuple(weight.dims[2:]), **kept
    )
    return packed


def walks_channels(op: Op) -> bool:
    """Say whether the channels of groups are walked as vectors, by the taps of windows.

    A product for each group is as good only of many channels, where windows are one pixel.
    """
    groups, weight = op.plain_attributes()["groups"], op.specs[1]
    if groups == 1 or weight.rank != 4 or op.specs[0].dtype.name not in FAST:
        return False
    columns, _, *window = weight.static_shape
    return 1 < max(window) <= MOST_TAPS or columns // groups < LARGE_GROUP


def _pack_channels(op: Op, emit: GraphEmit, target: Target) -> SSAValue:
    """Return a convolution in groups that walks channels as vectors."""
    attributes = op.plain_attributes()
    (x, w), weight = op.operands, op.specs[1]
    columns, groups = weight.static_shape[0], attributes["groups"]
    width = group_width(target, weight, groups)
    panels = pack_groups_of_channels(emit, w, weight, width, groups)
    kept = {n: attributes[n] for n in ("strides", "pads", "dilations", "groups")}
    made: SSAValue = emit(ConvGroupsPacked, x, panels, columns=columns, **kept)
    return made


def group_width(target: Target, weight: TensorSpec, groups: int) -> int:
    """Return the channels of a vector: of several groups where they fill it, else of one."""
    columns, depth, *_ = weight.static_shape
    filters = columns // groups
    lanes = lanes_of(target, weight.dtype)
    every = min(lanes, 1 << (columns - 1).bit_length())
    even = columns % every == 0 or depth == filters
    if has_several(filters, every) and even:
        return every
    return min(lanes, 1 << (filters - 1).bit_length())


def _pack_groups(emit: GraphEmit, taps: Any, weight: TensorSpec, tile: int, groups: int) -> Any:
    """Return the panels of all groups, one group behind the other."""
    columns = int(weight.dims[0]) // groups  # type: ignore[arg-type]
    window = weight.dims[2:]
    parts = []
    for group in range(groups):
        low, high = group * columns, (group + 1) * columns
        part = emit(
            REGISTRY["gv.slice"], taps, starts=(0,) * (len(window) + 1) + (low,),
            stops=(*window, weight.dims[1], high), steps=(1,) * (len(window) + 2),
        )  # fmt: skip
        matrix = weight.with_shape((product((*window, weight.dims[1])), columns))
        parts.append(_pack_taps(emit, part, matrix, tile))
    return emit(REGISTRY["gv.concat"], *parts, axis=0)


def _pack_taps(emit: GraphEmit, taps: Any, matrix: TensorSpec, tile: int) -> Any:
    """Return the panels of weights [*K, C, columns], which make this matrix."""
    depth, columns = matrix.static_shape
    if rest := -columns % tile:  # before the reshape, which is not read through a pad
        taps = emit(
            REGISTRY["gv.pad"], taps, pads=((0, 0),) * (spec_of(taps.type).rank - 1) + ((0, rest),)
        )
    full = matrix.with_shape((depth, columns + rest))
    lay = pack_groups if matrix.dtype == i8 else pack
    return lay(emit, emit(REGISTRY["gv.reshape"], taps, shape=full.dims), full, tile)


def integers_of(op: Op, emit: GraphEmit, target: Target) -> tuple[SSAValue, SSAValue] | None:
    """Return the u8 and i8 that an integer convolution multiplies, if there is a fast form."""
    groups, inner = op.plain_attributes()["groups"], op.specs[1].dims[1]
    alone = inner == 1 and groups == op.specs[1].dims[0]
    if not adds_up(target, u8) or not (alone or int(inner) % 4 == 0):  # type: ignore[arg-type]
        return None
    x, w = (before_cast(value, emit) for value in op.operands)
    return (x, w) if (spec_of(x.type).dtype, spec_of(w.type).dtype) == (u8, i8) else None


def before_cast(value: SSAValue, emit: GraphEmit) -> SSAValue:
    """Return what a value was before its cast, in the order that it has behind that."""
    owner = value.owner
    if isinstance(owner, Op) and owner.name == "gv.transpose":
        narrow = before_cast(owner.operands[0], emit)
        if narrow is not owner.operands[0]:
            moved: SSAValue = emit(type(owner), narrow, **owner.plain_attributes())
            return moved
    is_cast = isinstance(owner, Op) and owner.name == "gv.cast"
    return owner.operands[0] if is_cast else value  # type: ignore[union-attr]


def depthwise(op: Op, emit: GraphEmit, x: SSAValue, w: SSAValue) -> SSAValue:
    """Return a convolution of one filter a channel, with weights [*K, C]."""
    attributes = op.plain_attributes()
    weight = op.specs[1]
    order = (*range(2, weight.rank), 0, 1)
    taps = emit(REGISTRY["gv.transpose"], w, order=order)
    flat = emit(REGISTRY["gv.reshape"], taps, shape=(*weight.dims[2:], weight.dims[0]))
    kept = {n: attributes[n] for n in ("strides", "pads", "dilations")}
    made: SSAValue = emit(DepthwisePacked, x, flat, **kept)
    return made


def is_pointwise(weight: TensorSpec, attributes: dict[str, Any]) -> bool:
    """Say whether a convolution is a product for each pixel."""
    return (
        all(d == 1 for d in weight.dims[2:])
        and all(s == 1 for s in attributes["strides"])
        and all(p == (0, 0) for p in attributes["pads"])
    )


@RULES.on("conv_weights")
def _conv_weights(op: Op, emit: GraphEmit, target: Target) -> SSAValue | None:
    attributes = op.plain_attributes()
    x, grad = op.operands
    kept = {n: attributes[n] for n in ("window", "strides", "pads", "dilations")}
    known = op.specs[0].is_static and attributes["channels_last"]
    if known and attributes["groups"] == op.specs[0].dims[-1] != 1:
        return _depthwise_weights(op, emit)
    if not known or attributes["groups"] != 1 or op.specs[0].rank != 4:
        return None
    filters = int(op.specs[1].dims[-1])  # type: ignore[arg-type]
    rest = -filters % lanes_of(target, op.specs[0].dtype)
    if rest:
        pads = ((0, 0), (0, 0), (0, 0), (0, rest))
        grad = emit(REGISTRY["gv.pad"], grad, pads=pads)
    down, along = kept["pads"]
    if is_joined(int(op.specs[0].dims[-1]), {**kept, "pads": (down, (0, 0))}):  # type: ignore[arg-type]
        x = emit(REGISTRY["gv.pad"], x, pads=((0, 0), (0, 0), along, (0, 0)))
        kept["pads"] = (down, (0, 0))
    made = emit(ConvWeightsPacked, x, grad, **kept)
    if rest:
        stops = op.result_specs[0].dims
        stops = (*stops[2:], stops[1], stops[0])
        made = emit(REGISTRY["gv.slice"], made, starts=(0,) * 4, stops=stops, steps=(1,) * 4)
    turned: SSAValue = emit(REGISTRY["gv.transpose"], made, order=(3, 2, 0, 1))
    return turned


def _depthwise_weights(op: Op, emit: GraphEmit) -> SSAValue | None:
    """Add up rows of places, and then the rows; channels of several filters are repeated."""
    (x, grad), (image, back) = op.operands, op.specs
    attributes, made = op.plain_attributes(), op.result_specs[0]
    if image.dtype not in (f32, f64):
        return None
    channels, filters = image.static_shape[-1], back.static_shape[-1]
    kept = {n: attributes[n] for n in ("window", "strides", "pads", "dilations")}
    if filters > channels:
        several = (*image.dims, filters // channels)
        x = emit(REGISTRY["gv.reshape"], x, shape=(*image.dims, 1))
        x = emit(REGISTRY["gv.broadcast_to"], x, shape=several)
        x = emit(REGISTRY["gv.reshape"], x, shape=(*image.dims[:-1], filters))
    if any(map(sum, kept["pads"])):  # else each element would be looked at for each tap
        x = emit(REGISTRY["gv.pad"], x, pads=((0, 0), *kept["pads"], (0, 0)))
        kept["pads"] = ((0, 0),) * len(kept["window"])
    rows = emit(ConvWeightsRows, x, grad, **kept)
    taps = emit(REGISTRY["gv.sum"], rows, axes=tuple(range(image.rank - 2)), keepdims=False)
    turned = emit(REGISTRY["gv.transpose"], taps, order=(image.rank - 2, *range(image.rank - 2)))
    shaped: SSAValue = emit(REGISTRY["gv.reshape"], turned, shape=made.dims)
    return shaped
