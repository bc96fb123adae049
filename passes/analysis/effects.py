"""Which operations may be dropped, merged or moved."""

from __future__ import annotations

from xdsl.ir import Operation

from ...ir import Op


def is_pure(op: Operation) -> bool:
    """Say whether the operation does nothing but give its results, its regions included.

    Operations that are not gravure's (returns, calls) count as having effects.
    """
    if not isinstance(op, Op) or not op.PURE:
        return False
    if not op.regions:
        return True
    return all(
        is_pure(inner) or inner.name == "gv.yield"
        for region in op.regions
        for block in region.blocks
        for inner in block.ops
    )
