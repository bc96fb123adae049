"""Epilogues of few instructions, which a register tile does before it is stored.

    clip(add(add(product, bias), beside), low, high)        each part may be missing

What is `beside` is read just where the result is written, and no earlier than that, so the result
may lie over it; but a product whose depth is summed in parts stores sums in between.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import BlockArgument, SSAValue

from ....ir import Op
from ....ir.types.tensor import TensorSpec, spec_of
from .reads import is_splat
from .tiles import DEEP


@dataclass(frozen=True)
class Short:
    """An epilogue of few instructions: what is added, in this order, and the bounds."""

    bias: BlockArgument | None = None
    beside: BlockArgument | None = None
    low: float | None = None
    high: float | None = None


def short_of(root: SSAValue, anchor: Op) -> Short | None:
    """Return what stands between a product and the result, if a tile can do it itself."""
    product, result = anchor.result_specs[0], spec_of(root.type)
    if result != product or not product.dtype.is_float:
        return None
    found, value = Short(), root
    owner = value.owner
    if isinstance(owner, Op) and owner.name == "gv.relu":
        found, value = Short(low=0.0), owner.operands[0]
    elif isinstance(owner, Op) and owner.name == "gv.clip":
        bounds = [_number(operand) for operand in owner.operands[1:]]
        if None in bounds:
            return None
        found, value = Short(low=bounds[0], high=bounds[1]), owner.operands[0]
    value, beside = _without(value, result)
    value, bias = _without(value, TensorSpec(product.dtype, product.dims[-1:]))
    return replace(found, bias=bias, beside=beside) if value is anchor.results[0] else None


def _without(value: SSAValue, spec: TensorSpec) -> tuple[SSAValue, BlockArgument | None]:
    """Return a value without the argument of a type that was added last, and this if one was."""
    owner = value.owner
    if isinstance(owner, Op) and owner.name == "gv.add":
        x, y = owner.operands
        if isinstance(x, BlockArgument):
            x, y = y, x
        if isinstance(y, BlockArgument) and not isinstance(x, BlockArgument):
            return (x, y) if spec_of(y.type) == spec else (value, None)
    return value, None


def _number(value: SSAValue) -> float | None:
    """Return the number that a constant is in all places."""
    owner = value.owner
    if not isinstance(owner, Op) or not is_splat(owner):
        return None
    return float(owner.plain_attributes()["value"].reshape(-1)[0])


def written_over(kernel: FuncOp) -> list[int]:
    """Return the operand of a product that its result may lie over, if there is one."""
    block = kernel.body.block
    last = block.last_op
    assert isinstance(last, ReturnOp), "a kernel function returns"
    for op in block.ops:
        if isinstance(op, Op) and is_summed_at_once(op):
            short = short_of(last.operands[0], op)
            beside = short.beside if short else None
            alone = beside is not None and beside.get_user_of_unique_use() is not None
            return [beside.index] if beside is not None and alone else []
    return []


def is_summed_at_once(op: Op) -> bool:
    """Say whether an operation is a product whose tiles are stored once."""
    if op.name == "gv.matmul_packed":
        flags = op.plain_attributes()
        dims = op.specs[0].dims
        depth = dims[-2] if flags.get("transpose_lhs") else dims[-1]
        return isinstance(depth, int) and depth <= DEEP
    if op.name == "gv.conv_packed":
        flags = op.plain_attributes()
        joined = flags["groups"] == 1 and flags["dilations"][-1] == 1
        return joined and len(flags["window"]) <= 2
    return False
