"""Convolution of channels-last images in groups of few channels.

    for unit in lo..hi                 parallel, as in `sliding_rows`
      for v in channels step L         channels of the result
        for each tile of T pixels
          for row in the rows seen of the window
            for i in a group's channels                several groups fill a vector: unrolled
              weights of the taps along the row        a vector each
              for each place that is seen              one for all taps that see it
                several groups fill a vector           its channels, the i-th of each group spread
                a group fills vectors                  one element in all lanes
                T sums += place * weight

A product of matrices for each group would be too narrow for the registers' tile, and too short.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ...ir import Op
from ...ir.types.dims import Dim, floor_divide
from ...ir.types.indices import Indices, Linear, Opaque, flatten, number, of
from ...ir.types.tensor import spec_of
from ...passes.analysis.kernels.tiles import lanes_of
from ...target import Target
from .builder.elements import Element
from .builder.loops import Index
from .builder.plan import Opened, open_kernel, returned_values
from .map import Body, fitting_lanes
from .scan import shuffle
from .sliding_rows import Seen, SlidingRows


def lower(kernel: FuncOp, target: Target) -> FuncOp:
    """Return the loops of a convolution in groups."""
    (root,) = returned_values(kernel)
    anchor = next(op for op in kernel.body.block.ops if op.name == "gv.conv_groups_packed")
    assert isinstance(anchor, Op), "a convolution is an operation"
    return ConvGroups(open_kernel(kernel, target), root, anchor, target).build()
