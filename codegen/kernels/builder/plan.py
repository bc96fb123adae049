"""Plan the loop dims of a kernel: trace all reads, split tokens that reshapes cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ....ir import Op
from ....ir.demands import Demand, demands_of
from ....ir.interpret.launch import DEMANDS, SIZES, kernel_symbols
from ....ir.levels import STREAMED
from ....ir.program import argument_specs, result_specs
from ....ir.types.dims import Dim, parse
from ....ir.types.indices import Indices, Linear, Term, Token, flatten
from ....lazy import cached_property
from ....passes.analysis.walks import Axis, split_until_linear
from ....target import Target
from .loops import Loops
from .read import Tracer


@dataclass
class AccessPlan:
    """The axes of a kernel with every flat access that its reads make."""

    axes: list[Axis]
    tracer: Tracer

    @cached_property
    def index(self) -> Indices:
        """Return the index along all axes."""
        return tuple(axis.index for axis in self.axes)

    @property
    def tokens(self) -> list[Token]:
        """Return all tokens, outermost first."""
        return [t for axis in self.axes for t in axis.tokens]

    @property
    def offsets(self) -> list[Linear]:
        """Return the flat offset of every read."""
        return [access.offset for access in self.tracer.accesses]

    @property
    def alone(self) -> set[Term]:
        """Return the tokens that may not be merged."""
        return self.tracer.alone


def plan(shape: Sequence[Dim], visit: Callable[[Tracer, Indices], None]) -> AccessPlan:
    """Trace the reads that `visit` makes over an iteration space of this shape."""
    return plan_axes([Axis([Token(d)]) for d in shape], visit)


def plan_axes(axes: list[Axis], visit: Callable[[Tracer, Indices], None]) -> AccessPlan:
    """Trace the reads that `visit` makes, splitting axes until every reshape is linear."""

    def trace(index: Indices) -> AccessPlan:
        tracer = Tracer()
        visit(tracer, index)
        return AccessPlan(axes, tracer)

    return split_until_linear(axes, trace)


def returned_values(kernel: FuncOp) -> Sequence[SSAValue]:
    """Return the values that a kernel function returns."""
    last = kernel.body.block.last_op
    assert isinstance(last, ReturnOp), "a kernel function returns"
    return tuple(last.operands)


Opened: TypeAlias = tuple[Loops, list[SSAValue], list[SSAValue]]
"""The loops of a kernel, the arguments of its region and its output buffers."""


def open_kernel(kernel: FuncOp, target: Target) -> Opened:
    """Return a builder for a kernel's loops, its region arguments and its output buffers."""
    inputs, outputs = argument_specs(kernel), result_specs(kernel)
    dtypes = [s.dtype for s in (*inputs, *outputs)]
    loops = Loops(
        kernel.sym_name.data, dtypes, kernel_symbols(kernel), fine=not target.can.walk_vectors,
        fuses=target.has_fma and target.can.write_fused,
    )  # fmt: skip
    for argument, hint in zip(loops.buffers, kernel.body.block.args, strict=False):
        argument.name_hint = hint.name_hint
    arguments: list[SSAValue] = list(kernel.body.block.args)
    outs: list[SSAValue] = list(loops.buffers[len(inputs) :])
    sizes = [StringAttr(str(s.size)) for s in (*inputs, *outputs)]
    loops.function.attributes[SIZES] = ArrayAttr(sizes)
    demands = demands_of_kernel(kernel)
    if demands:
        spares = [StringAttr(str(each.spare)) for each in demands]
        loops.function.attributes[DEMANDS] = ArrayAttr(spares)
    loops.streams = STREAMED in kernel.attributes and target.can.stream
    return loops, arguments, outs


def demands_of_kernel(kernel: FuncOp) -> list[Demand]:
    """Return what a launch of a kernel must find of the sizes, each once."""
    if not kernel_symbols(kernel):
        return []
    lowered = kernel.attributes.get(DEMANDS)
    if isinstance(lowered, ArrayAttr):
        spares = [parse(each.data) for each in lowered.data if isinstance(each, StringAttr)]
        return [Demand(0, spare, "sizes do not fit") for spare in spares]
    each = (demands_of(op) for op in kernel.body.block.ops if isinstance(op, Op))
    return list(dict.fromkeys(demand for demands in each for demand in demands))


def write_offset(index: Indices, shape: Sequence[Dim]) -> Linear:
    """Return the flat offset of a result's element."""
    return flatten(index, shape)
