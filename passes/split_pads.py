"""Take apart pads that repeat elements, where they would be gathered along a row.

    %y = gv.pad %x {pads = [[1, 1], [2, 2]],        %l = gv.slice %x (columns 2, 1)
                    mode = "reflect"}          =>   %r = gv.slice %x (the last but one, but two)
                                                    %y = gv.concat (gv.pad %l), (gv.pad %x), ...

Which element a padded axis repeats is computed for each, and neighbours need not be neighbours in
memory: along the last axis every element is loaded by itself. What stands before, in and behind the
axis is a piece in which they are. Pads of the other axes stay, they take whole rows. Small tensors
are not worth the loops; a GPU's threads take one element anyway.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import prod

from xdsl.ir import SSAValue

from ..ir import Op, Program
from .analysis.rewrite import Rewriter, spec
from .analysis.targets import target_of
from .base import Pass

LEAST = 4096
"""Elements from which on a pad is taken apart; of an open size there may be many."""
REST = {"reflect": 1, "wrap": 0}
"""How many elements more than a pad an axis must have, that none is repeated twice there."""


@dataclass(frozen=True)
class SplitPads(Pass):
    """Take apart pads that repeat elements along the last axis."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Rewrite every pad that gathers."""
        if not target_of(program).can.walk_vectors:
            return
        rewriter = Rewriter({"gv.pad": (split,)})
        rewriter.run(program)
        self.count("split", rewriter.hits.get("split", 0))


def split(op: Op, rewriter: Rewriter) -> SSAValue | None:
    """Join what stands before, in and behind the last axis, each padded along the others."""
    attributes = op.plain_attributes()
    mode, pads = attributes["mode"], attributes["pads"]
    x = op.operands[0]
    extent = spec(x).dims[-1] if pads else 0
    if mode == "constant" or not isinstance(extent, int) or pads[-1] == (0, 0):
        return None
    low, high = pads[-1]
    if not (isinstance(low, int) and isinstance(high, int)) or not is_worth(op):
        return None
    if mode != "edge" and max(low, high) + REST[mode] > extent:
        return None  # some are repeated more than once
    inner = cut(rewriter, x, max(0, -low), extent - max(0, -high))
    parts = [
        before(rewriter, x, low, mode) if low > 0 else None,
        inner,
        behind(rewriter, x, high, mode) if high > 0 else None,
    ]
    rest = (*pads[:-1], (0, 0))
    found = [part for part in parts if part is not None]
    if any(pair != (0, 0) for pair in rest):
        found = [rewriter("pad", part, pads=rest, mode=mode) for part in found]
    return found[0] if len(found) == 1 else rewriter("concat", *found, axis=len(pads) - 1)


def is_worth(op: Op) -> bool:
    """Say whether there may be many elements."""
    dims = op.result_specs[0].dims
    return prod(d for d in dims if isinstance(d, int)) >= LEAST or not all(
        isinstance(d, int) for d in dims
    )


def before(rewriter: Rewriter, x: SSAValue, count: int, mode: str) -> SSAValue:
    """Return so many columns as stand before the first one."""
    extent = spec(x).dims[-1]
    assert isinstance(extent, int)
    if mode == "edge":
        return repeated(rewriter, cut(rewriter, x, 0, 1), count)
    if mode == "wrap":
        return cut(rewriter, x, extent - count, extent)
    return cut(rewriter, x, count, 0, -1)


def behind(rewriter: Rewriter, x: SSAValue, count: int, mode: str) -> SSAValue:
    """Return so many columns as stand behind the last one."""
    extent = spec(x).dims[-1]
    assert isinstance(extent, int)
    if mode == "edge":
        return repeated(rewriter, cut(rewriter, x, extent - 1, extent), count)
    if mode == "wrap":
        return cut(rewriter, x, 0, count)
    stop = extent - 2 - count
    return cut(rewriter, x, extent - 2, stop if stop >= 0 else -1 - extent, -1)


def repeated(rewriter: Rewriter, column: SSAValue, count: int) -> SSAValue:
    """Return a column so many times."""
    return rewriter("broadcast_to", column, shape=(*spec(column).dims[:-1], count))


def cut(rewriter: Rewriter, x: SSAValue, start: int, stop: int, step: int = 1) -> SSAValue:
    """Take columns."""
    *rest, extent = spec(x).dims
    if (start, stop, step) == (0, extent, 1):
        return x
    starts, stops, steps = (0,) * len(rest), tuple(rest), (1,) * len(rest)
    return rewriter("slice", x, starts=(*starts, start), stops=(*stops, stop), steps=(*steps, step))
