"""Have a library compute products of matrices: its kernel instead of ours.

    %t = gv.transpose %w [1, 0]
    %y = gv.matmul %x, %t        =>    %y = gv.matmul_library %x, %w {function = "cblas_sgemm",
                                                                      transpose_rhs}

The options name the function for each element type; without a name products stay. A transpose of
the last two axes goes into the call. Products with a size that 32 bits do not hold stay, for such
a function may count in these. Must stand before `pack-weights`, which lays out weights for ours;
what is behind a product, ours do in the same kernel and a library's do not.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from ..ir import GraphEmit, Op, Program, replace
from ..ir.op import REGISTRY
from ..ir.program import functions, ranges_of
from ..ir.types.dims import Dim, bounds
from ..ir.types.tensor import spec_of
from .analysis.blocks import operations_of
from .base import Pass

MOST = (1 << 31) - 1
"""The largest size that 32 bits hold."""


@dataclass(frozen=True)
class UseLibrary(Pass):
    """Have a library compute products of matrices."""

    NUMERICS = "reassociating"
    LEVEL = "graph"

    sgemm: str = ""
    dgemm: str = ""

    def apply(self, program: Program) -> None:
        """Replace the products of every function."""
        names = {"f32": self.sgemm, "f64": self.dgemm}
        ranges = ranges_of(program.module)
        for function in functions(program.module):
            for op in list(operations_of(function)):
                if not isinstance(op, Op) or op.name != "gv.matmul":
                    continue
                called = names.get(op.specs[0].dtype.name, "")
                sizes = [dim for spec in (*op.specs, *op.result_specs) for dim in spec.dims[-2:]]
                if called and all(is_countable(dim, ranges) for dim in sizes):
                    call(op, called)
                    self.count("called")


def call(op: Op, function: str) -> None:
    """Replace a product by a call; transposes before it are part of it."""
    flags = op.plain_attributes()
    sides = zip(op.operands, ("transpose_lhs", "transpose_rhs"), strict=True)
    operands = []
    for operand, name in sides:
        source = untransposed(operand)
        flags[name] ^= source is not operand
        operands.append(source)
    emit = GraphEmit.before(op)
    replace(op, emit(REGISTRY["gv.matmul_library"], *operands, function=function, **flags))


def untransposed(value: SSAValue) -> SSAValue:
    """Return what the last two axes of a value were exchanged of, else the value."""
    owner = value.owner
    if not isinstance(owner, Op) or owner.name != "gv.transpose":
        return value
    rank = spec_of(value.type).rank
    exchanged = (*range(rank - 2), rank - 1, rank - 2)
    return owner.operands[0] if tuple(owner.plain_attributes()["order"]) == exchanged else value


def is_countable(dim: Dim, ranges: dict[str, tuple[int, int | None]]) -> bool:
    """Say whether a size is a number of 32 bits, whatever the symbols are."""
    high = bounds(dim, ranges)[1]
    return high is not None and high <= MOST
