"""Have many blocks of a GPU, or several threads, share reductions of few, long or of many rows.

    %y = gv.sum %x {axes = [0]}         =>      %p = gv.reshape %x      [1048576] to [1024, 1024]
                                                %q = gv.sum %p {axes = [1]}
                                                %y = gv.sum %q {axes = [0]}

    %y = gv.attention %q, %k, %v        =>      %p = gv.attention_parts %q, %k, %v {step = 512}
                                                %y = the parts, put together

    %y = gv.sum %x {axes = [0, 1]}      =>      %p = gv.reshape %x      8x512x64 to 4x2x512x64
                                                %q = gv.sum %p {axes = [1, 2]}
                                                %y = gv.sum %q {axes = [0]}

    %y = gv.sum %x {axes = [0, 2]}      =>      %q = gv.sum %x {axes = [2]}
                                                %y = gv.sum %q {axes = [0]}

On processors rows that are added to each other are cut into parts of some hundred KiB, and rows
are reduced before what is reduced across them. On GPUs a
row is walked by one block of threads, so that a few rows would leave most of the device idle.
The parts of a row are rows of their own, and what they come to is reduced again. Only rows of known
size that come out even are split; the order of a sum changes, but not from run to run. The same is
done with the keys of an attention of few queries; of keys whose number is not known, parts have as
many as make a block worth while. A processor needs fewer parts: with eight heads none. Needs
`decompose`; stands before `fuse`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import TypeAlias

import numpy as np
from xdsl.ir import SSAValue

from ..ir import GraphEmit, Op, Program, replace
from ..ir.compose.functions import cut
from ..ir.compose.maker import Maker
from ..ir.op import REGISTRY
from ..ir.program import functions
from ..ir.types.dims import Dim, Range, bounds, product
from ..ir.types.dtypes import f32
from ..ir.types.shapes import normalize_axes
from ..ir.types.tensor import spec_of
from ..target import Target
from .analysis.blocks import operations_of
from .analysis.kernels.choices import decide, shape_class
from .analysis.kernels.kinds import is_row_reduction, kind_of
from .analysis.targets import target_of
from .base import Pass

FEW_ROWS = 128
"""With as many, each processor of a device has a row."""
LONG = 1 << 15
"""Elements of a row that one block would take long for."""
MOST_PARTS = 1024
SHORTEST = 512
"""Elements of a part."""
PART = 1 << 18
"""Bytes of rows that a thread adds up at a time, ..."""
SHORTEST_ROW = 16
"""Elements of a row from which on it is better walked than elements far apart are gathered."""
FEWEST_ROWS = 64
"""... but so many: what they come to is written and read once more."""
FEW_QUERIES = 16
FEWEST_KEYS, SOME_KEYS = 256, 512
"""Keys of a part: the fewest that pay, and those where their number is not known."""
ENOUGH_PARTS, KEYS_OF_PART = 8, 1024
"""The same of a processor: parts that threads share well, and the fewest keys of a single head."""
SHARES = (0, 256, 512, 1024, 2048, 4096)
"""Keys of a part that are measured."""
Axes: TypeAlias = tuple[int, ...]


@dataclass(frozen=True)
class SplitReductions(Pass):
    """Reduce few, long rows in two steps."""

    NUMERICS = "reassociating"
    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Split in every function."""
        target = target_of(program)
        for function in functions(program.module):
            for op in list(operations_of(function)):
                if isinstance(op, Op) and is_row_reduction(op):
                    (self.split if target.can.share_blocks else self.split_rows)(op)
                elif isinstance(op, Op) and op.name == "gv.attention":
                    self.split_keys(op, program.ranges, target)

    def split(self, op: Op) -> None:
        """Replace one reduction if its rows are few and long."""
        shape = op.specs[0].dims
        axes = normalize_axes(op.plain_attributes()["axes"], len(shape))
        kept = [d for axis, d in enumerate(shape) if axis not in axes]
        rows, length = product(tuple(kept)), product(tuple(shape[axis] for axis in axes))
        if not isinstance(rows, int) or not isinstance(length, int) or kind_of(op) != "row":
            return
        parts = parts_of(length)
        if rows >= FEW_ROWS or length < LONG or not parts:
            return
        reduce_twice(op, (rows, parts, length // parts), inner=(2,), outer=(1,))
        self.count("split")

    def split_rows(self, op: Op) -> None:
        """Replace one reduction of many rows to one."""
        spec = op.specs[0]
        axes = normalize_axes(op.plain_attributes()["axes"], spec.rank)
        if self.split_ends(op, sorted(axes)):
            return
        if not spec.is_static or kind_of(op) != "reduce" or sorted(axes) != list(range(len(axes))):
            return
        shape = spec.static_shape
        rows = shape[: len(axes)]
        wanted = min(-(-prod(shape) * spec.dtype.size // PART), prod(rows) // FEWEST_ROWS)
        cut_at = parts_of_rows(rows, wanted)
        if cut_at is None:
            return
        axis, parts = cut_at
        split = (*shape[:axis], parts, shape[axis] // parts, *shape[axis + 1 :])
        inner, outer = tuple(range(axis + 1, len(axes) + 1)), tuple(range(axis + 1))
        reduce_twice(op, split, inner=inner, outer=outer)
        self.count("rows")

    def split_ends(self, op: Op, axes: Sequence[int]) -> bool:
        """Reduce rows first, of a reduction of rows and of axes before others, too."""
        dims = op.specs[0].dims
        first = len(dims)
        while first - 1 in axes:
            first -= 1
        inner, outer = tuple(range(first, len(dims))), tuple(axis for axis in axes if axis < first)
        row = product(dims[first:])
        if not inner or not outer or (isinstance(row, int) and row < SHORTEST_ROW):
            return False
        if kind_of(op) != "reduce":
            return False
        reduce_twice(op, dims, inner=inner, outer=outer)
        self.count("ends")
        return True

    def split_keys(self, op: Op, ranges: Mapping[str, Range], target: Target) -> None:
        """Replace an attention if its queries are few, and its keys many."""
        step = keys_of_part(op, ranges, target)
        if not step:
            return
        flags = op.plain_attributes()
        zeros = bool(flags.pop("zeros"))
        make = Maker(GraphEmit.before(op))
        made = put_together(make, make.attention_parts(*op.operands, **flags, step=step), zeros)
        dims = op.result_specs[0].dims
        replace(op, make.to(make.reshape(made, shape=dims), op.result_specs[0].dtype))
        self.count("keys")


def reduce_twice(op: Op, split: Sequence[Dim], *, inner: Axes, outer: Axes) -> None:
    """Replace a reduction by two of its operand in another shape: over `inner`, then `outer`."""
    emit, reduction, reshape = GraphEmit.before(op), REGISTRY[op.name], REGISTRY["gv.reshape"]
    flat = emit(reshape, op.operands[0], shape=tuple(split))
    partial = emit(reduction, flat, axes=inner, keepdims=False)
    total = emit(reduction, partial, axes=outer, keepdims=False)
    replace(op, emit(reshape, total, shape=op.result_specs[0].dims))


def keys_of_part(op: Op, ranges: Mapping[str, Range], target: Target) -> int:
    """Return how many keys of an attention a block has; 0 if blocks do not share them."""
    (q, k, v), made = op.specs[:3], op.result_specs[0]
    queries, keys = q.dims[-2], k.dims[-2]
    if not isinstance(queries, int) or made.dims[-1] == 1 or bounds(keys, ranges)[0] < 1:
        return 0
    rows, blocks = queries, 1
    for number, dim in enumerate(reversed(made.dims[:-2]), 3):
        least = max(1, bounds(dim, ranges)[0])
        if queries == 1 and all(len(s.dims) < number or s.dims[-number] == 1 for s in (k, v)):
            rows *= least  # heads that share their keys are queries of one block
        else:
            blocks *= least
    wanted = (target.can.share_blocks or ENOUGH_PARTS) // blocks
    if rows > FEW_QUERIES or wanted < 2:
        return 0
    fewest = FEWEST_KEYS if target.can.share_blocks else KEYS_OF_PART * blocks
    if not isinstance(keys, int):
        return SOME_KEYS if target.can.share_blocks else fewest
    step = max(fewest, -(-keys // (wanted * fewest)) * fewest)
    name = f"keys_{q.dtype}_{shape_class(blocks, rows, keys, k.dims[-1])}"
    shares = [size for size in SHARES if size < keys]
    return decide(target, name, shares, step if step < keys else 0)


def put_together(make: Maker, parts: SSAValue, zeros: bool) -> SSAValue:
    """Return the attention of all keys, with an axis of 1 before its own."""
    *rows, width = spec_of(parts.type).dims
    assert isinstance(width, int), "the width of values is known"
    last, wide = len(rows), (*rows, width - 2)
    ends: tuple[Dim, ...] = (0, width - 2, width - 1, width)
    columns = [cut(make.emit, parts, last, low, high) for low, high in pairwise(ends)]
    values, most, total = (make.broadcast_to(one, shape=wide) for one in columns)
    none, zero = make.number(-np.inf, f32), make.number(0, f32)
    largest = make.max(most, axes=(0,), keepdims=True)
    shift = make.select(make.equal(largest, none), zero, largest)
    by = make.exp(make.sub(most, shift))
    weight = make.sum(make.mul(total, by), axes=(0,), keepdims=True)
    made: SSAValue = make.div(make.sum(make.mul(values, by), axes=(0,), keepdims=True), weight)
    if zeros:
        made = make.select(make.equal(weight, zero), zero, made)
    return made


def parts_of_rows(extents: Sequence[int], wanted: int) -> tuple[int, int] | None:
    """Return an axis and the parts to cut it into, with the axes before it at least as wanted.

    >>> parts_of_rows((8, 512), 30)
    (1, 4)
    """
    before = 1
    for axis, extent in enumerate(extents):
        fitting = (p for p in range(1, extent) if extent % p == 0 and before * p >= wanted)
        parts = next(fitting, None)
        if parts is not None:
            return (axis, parts) if wanted > 1 else None
        before *= extent
    return None


def parts_of(length: int) -> int:
    """Return how many equal parts of whole vectors there can be; 0 if it does not come out even."""
    most = min(MOST_PARTS, length // SHORTEST)
    return next((p for p in range(most, 15, -1) if length % (4 * p) == 0), 0)
