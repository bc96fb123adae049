"""How large the sizes of a compiled piece may be that nothing bounds before the run.

Values of a piece share the room that it has: each such size may be as large as all of them fit.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Mapping

from xdsl.dialects.func import FuncOp

from ...ir import Program, TensorSpec, spec_of
from ...ir.host import symbols_in
from ...ir.types import dims
from ...ir.types.dims import Range
from ...ir.types.values import value_spec

LARGEST = 31
"""Sizes that nothing bounds are at most two to the power of this."""

ANY_SIZE: Range = (0, None)
"""The range of a size that nothing is said about."""


def open_sizes(function: FuncOp, whole: Program) -> list[tuple[str, int, int]]:
    """Return symbol, input and axis of the sizes of a piece that nothing bounds before the run."""
    given = {name for argument in whole.main.body.block.args for name in symbols_in(argument.type)}
    told = {name for name in given if whole.ranges.get(name, ANY_SIZE)[1] is not None}
    return [
        (str(dim), number, axis)
        for number, argument in enumerate(function.body.block.args)
        for axis, dim in enumerate(spec_of(argument.type).dims)
        if str(dim).isidentifier() and str(dim) not in told
    ]


def bounded(ranges: Mapping[str, Range], bounds: Mapping[str, int]) -> dict[str, Range]:
    """Return the ranges with an upper end for some."""
    return {**ranges, **{n: (ranges.get(n, ANY_SIZE)[0], high) for n, high in bounds.items()}}


def shares(
    function: FuncOp, ranges: Mapping[str, Range], least: Mapping[str, int], room: int
) -> Mapping[str, int]:
    """Return the largest bounds of open sizes, one for all, that the values have room for.

    None is above what is known of a size, nor below its `least`.
    """
    highs = {name: ranges.get(name, ANY_SIZE)[1] for name in least}
    caps = {name: sys.maxsize if high is None else high for name, high in highs.items()}
    specs = [value_spec(v.type) for op in function.body.walk() for v in op.results]
    specs += [value_spec(v.type) for v in function.body.block.args]
    sizes = [spec.nbytes for spec in specs if isinstance(spec, TensorSpec)]

    def bounds(exponent: int) -> dict[str, int]:
        return {name: min(max(size, 1 << exponent), caps[name]) for name, size in least.items()}

    def fits(exponent: int) -> bool:
        high = bounded(ranges, bounds(exponent))
        taken = [dims.bounds(size, high)[1] for size in sizes]
        return sum(room + 1 if size is None else size for size in taken) <= room

    return bounds(bisect_left(range(LARGEST), x=True, key=lambda exponent: not fits(exponent + 1)))
