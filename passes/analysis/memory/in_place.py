"""Which operands a kernel may write its result over."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from ....ir import Op, operations, uses_of
from ....ir.levels import KIND
from ....ir.ops.structure import Yield
from ....ir.types.tensor import spec_of
from ..kernels.kinds import KINDS, Over
from ..kernels.reads import is_elementwise
from ..kernels.short import written_over


def overwritable(kernel: FuncOp, result: int) -> list[int]:
    """Return the operands that are read only at the element that is written."""
    kind = kernel.attributes.get(KIND)
    last = kernel.body.block.last_op
    assert isinstance(last, ReturnOp), "a kernel function returns"
    # A kind that there is not is refused where its template is looked for.
    known = KINDS.get(kind.data) if isinstance(kind, StringAttr) else None
    over = Over.NONE if known is None else known.over
    if over is Over.CHANGED:
        return changed_by(last.operands[result].owner, kernel)
    if over is Over.TILE:
        return written_over(kernel)
    if over is Over.NONE:
        return []
    spec = spec_of(last.operands[result].type)
    strays = straying(kernel.body.block, spec.dims)
    return [
        index
        for index, argument in enumerate(kernel.body.block.args)
        if spec_of(argument.type) == spec
        and not any(use.operation in strays for use in argument.uses)
    ]


def changed_by(scatter: object, kernel: FuncOp) -> list[int]:
    """Return the operand that a scatter changes some elements of, if nothing else reads it."""
    assert isinstance(scatter, Op), "a kernel gives what an operation makes"
    changed = scatter.operands[0]
    arguments: list[SSAValue] = list(kernel.body.block.args)
    if changed not in arguments or changed.get_user_of_unique_use() is None:
        return []
    return [arguments.index(changed)]


def is_aligned(argument: BlockArgument, dims: object) -> bool:
    """Say whether an argument is only used by element-wise operations of the result's shape."""
    strays = straying(argument.block, dims)
    return not any(use.operation in strays for use in argument.uses)


def straying(block: Block, dims: object) -> set[Operation]:
    """Return the operations from which a way leads to what is no element-wise one of a shape.

    A way ends where something is reduced.
    """
    found: set[Operation] = set()
    for op in reversed(operations(block)):
        if isinstance(op, Op) and is_elementwise(op):
            if op.result_specs[0].dims != dims or any(u._operation in found for u in uses_of(op)):
                found.add(op)
        elif not (isinstance(op, ReturnOp | Yield) or (isinstance(op, Op) and op.has("iteration"))):
            found.add(op)
    return found
