"""Plan the loop dims of a kernel: trace all reads, split tokens that reshapes cut."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import SSAValue

from ...ir.dims import Dim, floor_divide, product
from ...ir.interpret_launch import kernel_symbols
from ...ir.levels import STREAMED
from ...ir.program import argument_specs, result_specs
from ...target import Target
from .index import Linear, NeedSplit, Term, Token, flatten, of
from .loops import Loops
from .read import Indices, Tracer


@dataclass
class Axis:
    """One dim of an iteration space, as the tokens it is split into (outermost first)."""

    tokens: list[Token]

    @property
    def index(self) -> Linear:
        """Return the position along the axis."""
        total = Linear()
        for position, token in enumerate(self.tokens):
            place = product(tuple(t.extent for t in self.tokens[position + 1 :]))
            total = total + of(token) * place
        return total

    def split(self, token: Token, inner: Dim) -> bool:
        """Split a token of this axis; say whether it was here."""
        if token not in self.tokens:
            return False
        at = self.tokens.index(token)
        outer = Token(floor_divide(token.extent, inner))
        self.tokens[at : at + 1] = [outer, Token(inner)]
        return True


@dataclass
class Plan:
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


def plan(shape: Sequence[Dim], visit: Callable[[Tracer, Indices], None]) -> Plan:
    """Trace the reads that `visit` makes over an iteration space of this shape."""
    return plan_axes([Axis([Token(d)]) for d in shape], visit)


def plan_axes(axes: list[Axis], visit: Callable[[Tracer, Indices], None]) -> Plan:
    """Trace the reads that `visit` makes, splitting axes until every reshape is linear."""
    for _ in range(64):
        tracer = Tracer()
        made = Plan(axes, tracer)
        try:
            visit(tracer, made.index)
        except NeedSplit as request:
            split(axes, request)
            continue
        return made
    raise AssertionError("splitting the loop dims does not end")


def split(axes: list[Axis], request: NeedSplit) -> None:
    """Split the token that a reshape cuts."""
    done = [axis.split(request.token, request.inner) for axis in axes]
    assert any(done), f"{request.token} is of no axis"


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
        kernel.sym_name.data, dtypes, kernel_symbols(kernel), fine=target.is_gpu,
        fuses=target.has_fma and not target.is_gpu,
    )  # fmt: skip
    for argument, hint in zip(loops.buffers, kernel.body.block.args, strict=False):
        argument.name_hint = hint.name_hint
    arguments: list[SSAValue] = list(kernel.body.block.args)
    outs: list[SSAValue] = list(loops.buffers[len(inputs) :])
    loops.streams = STREAMED in kernel.attributes and not target.is_gpu
    return loops, arguments, outs


def write_offset(index: Indices, shape: Sequence[Dim]) -> Linear:
    """Return the flat offset of a result's element."""
    return flatten(index, shape)
