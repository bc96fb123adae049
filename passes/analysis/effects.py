"""Which operations may be dropped, merged or moved."""

from __future__ import annotations

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from ...ir import Op, operations


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
        for inner in operations(block)
    )


def all_operations(module: ModuleOp) -> list[Operation]:
    """Return the operations of a module at all depths, in order, the module left out."""
    found: list[Operation] = []
    blocks = [block for region in module.regions for block in region.blocks][::-1]
    waiting: list[Operation | None] = [block.first_op for block in blocks]
    while waiting:
        op = waiting.pop()
        if op is None:
            continue
        found.append(op)
        waiting.append(op._next_op)
        if op.regions:
            waiting += [b.first_op for r in reversed(op.regions) for b in reversed(r.blocks)]
    return found
