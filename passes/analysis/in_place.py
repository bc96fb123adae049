"""Which operands a kernel may write its result over."""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ...ir import Op
from ...ir.levels import KIND
from ...ir.ops.structure import Yield
from ...ir.tensor import spec_of
from .reads import is_elementwise
from .short import written_over

SAFE_KINDS = ("map", "row")
"""Kinds whose template reads an operand's element no later than it writes that element."""

PRODUCTS = ("gemm", "conv")
"""Kinds that may read an operand behind a register tile, just before it is stored."""


def overwritable(kernel: FuncOp, result: int) -> list[int]:
    """Return the operands that are read only at the element that is written."""
    kind = kernel.attributes.get(KIND)
    last = kernel.body.block.last_op
    assert isinstance(last, ReturnOp), "a kernel function returns"
    if isinstance(kind, StringAttr) and kind.data == "scatter":
        return changed_by(last.operands[result].owner, kernel)
    if isinstance(kind, StringAttr) and kind.data in PRODUCTS:
        return written_over(kernel)
    if not isinstance(kind, StringAttr) or kind.data not in SAFE_KINDS:
        return []
    spec = spec_of(last.operands[result].type)
    found = []
    for index, argument in enumerate(kernel.body.block.args):
        if spec_of(argument.type) == spec and is_aligned(argument, spec.dims):
            found.append(index)
    return found


def changed_by(scatter: object, kernel: FuncOp) -> list[int]:
    """Return the operand that a scatter changes some elements of, if nothing else reads it."""
    assert isinstance(scatter, Op), "a kernel gives what an operation makes"
    changed = scatter.operands[0]
    arguments: list[SSAValue] = list(kernel.body.block.args)
    if changed not in arguments or changed.get_user_of_unique_use() is None:
        return []
    return [arguments.index(changed)]


def is_aligned(argument: SSAValue, dims: object) -> bool:
    """Say whether an argument is only used by element-wise operations of the result's shape."""
    seen: set[Operation] = set()
    stack = [argument]
    while stack:
        for use in stack.pop().uses:
            op = use.operation
            if op in seen or isinstance(op, ReturnOp | Yield):
                continue
            seen.add(op)
            if not isinstance(op, Op):
                return False
            if is_elementwise(op):
                if op.result_specs[0].dims != dims:
                    return False
                stack.append(op.results[0])
            elif op.has("iteration"):
                continue
            else:
                return False
    return True
