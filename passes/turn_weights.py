"""Lay out the weights of products and convolutions for the blocks of threads of a GPU.

    %y = gv.conv %x, %w {3x3}       =>     %t = transpose(%w)              (to @prepare)
                                           %y = gv.conv_turned %x, %t

What neighbouring threads read shall be neighbours in memory: filters of a channels-last
convolution lie next to each other, and 1x1 convolutions become products. Tensor cores take operands
as rows of depth, so that weights of their products are transposed; products of integers of 8 bits,
computed in i32, become theirs. Only weights that are known ahead of time are turned, only for
GPUs; needs `choose-layout`, and stands before `hoist-prepare`, which moves the transposes.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from xdsl.ir import SSAValue

from ..ir import GraphEmit, Op, Program
from ..ir.op import REGISTRY
from ..ir.types.dtypes import i8, i32, u8
from ..ir.types.tensor import spec_of
from .analysis.rewrite import RuleBook
from .analysis.targets import target_of
from .base import Pass
from .pack_weights import depthwise, is_pointwise, replace_marked, with_fixed

HALVES = ("f16", "bf16")
RULES = RuleBook[Callable[[Op, GraphEmit], SSAValue | None]]()


@dataclass(frozen=True)
class TurnWeights(Pass):
    """Lay out the weights of products and convolutions for GPUs."""

    NUMERICS = "reassociating"
    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Turn in every function."""
        if not target_of(program).can.turn_weights:
            return
        for op, fixed in with_fixed(program):
            if RULES.of(type(op)):
                left, right = (fixed.get(operand, False) for operand in op.operands)
                if right and not left:
                    self.turn(op, fixed)

    def turn(self, op: Op, fixed: dict[SSAValue, bool]) -> None:
        """Replace one operation if there is another layout."""
        emit = GraphEmit.before(op)
        (rule,) = RULES.of(type(op))
        made = rule(op, emit)
        if made is None:
            return
        replace_marked(op, made, emit, fixed)
        self.count("turned")


@RULES.on("matmul", "matmul_wide")
def _matmul(op: Op, emit: GraphEmit) -> SSAValue | None:
    attributes = op.plain_attributes()
    left, right = operands = [narrowed(operand) for operand in op.operands]
    wide = op.specs[0].dtype is i32 and all(spec_of(x.type).dtype in (i8, u8) for x in operands)
    if wide:
        name = "gv.matmul_wide"
    else:
        name, (left, right) = op.name, op.operands
    spec = spec_of(right.type)
    kept = spec.dtype.name not in HALVES and name == "gv.matmul"
    if kept or spec.rank != 2 or attributes["transpose_rhs"]:
        return emit(REGISTRY[name], left, right, **attributes) if wide else None
    turned = emit(REGISTRY["gv.transpose"], right, order=(1, 0))
    made: SSAValue = emit(REGISTRY[name], left, turned, **{**attributes, "transpose_rhs": True})
    return made


def narrowed(value: SSAValue) -> SSAValue:
    """Return what a value was before it was cast."""
    is_cast = isinstance(value.owner, Op) and value.owner.name == "gv.cast"
    return value.owner.operands[0] if is_cast else value  # type: ignore[union-attr]


@RULES.on("conv")
def _conv(op: Op, emit: GraphEmit) -> SSAValue | None:
    attributes: dict[str, Any] = op.plain_attributes()
    x, w = op.operands
    weight = op.specs[1]
    groups = attributes["groups"]
    if not attributes.pop("channels_last") or not weight.is_static:
        return None
    if groups > 1 and groups == op.specs[0].dims[-1] == weight.dims[0]:
        return depthwise(op, emit, *op.operands)
    order = (*range(2, weight.rank), 1, 0)
    turned = emit(REGISTRY["gv.transpose"], w, order=order)
    made: SSAValue
    if groups == 1 and is_pointwise(weight, attributes):
        flat = emit(REGISTRY["gv.reshape"], turned, shape=(weight.dims[1], weight.dims[0]))
        made = emit(REGISTRY["gv.matmul"], x, flat, transpose_lhs=False, transpose_rhs=False)
    else:
        made = emit(REGISTRY["gv.conv_turned"], x, turned, **attributes)
    return made
