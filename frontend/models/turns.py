"""The operations of blocks that are interpreted, and what a run has to know of each every time."""

from __future__ import annotations

from xdsl.dialects.func import CallOp
from xdsl.ir import Block, Operation

from ...ir.host import HostOp, symbols_of
from ...ir.interpret.graph import with_sizes
from ...ir.ops.host.python_step import PythonStep
from ...ir.ops.structure import Constant
from ...ir.types.values import Spec
from ...lazy import cached_property
from ..eager.kernels import quiet
from .loops import Compute, computing


class Turn:
    """An operation in its block, and what a run has to know of it each time."""

    def __init__(self, op: Operation) -> None:
        self.op, self.operands, self.results = op, tuple(op.operands), tuple(op.results)
        self.step = op if isinstance(op, HostOp) else None
        self.makers = [v.owner for v in self.operands if isinstance(v.owner, HostOp)]
        """The steps that operands come from."""
        self.is_last = op.next_op is None

    @cached_property
    def callee(self) -> str:
        """Return the name of the piece that it calls, if it calls one."""
        return self.op.callee.root_reference.data if isinstance(self.op, CallOp) else ""

    @cached_property
    def known(self) -> tuple[object] | None:
        """Return the result of a constant, None of what is to be carried out."""
        return (self.op.plain_attributes()["value"],) if isinstance(self.op, Constant) else None

    @cached_property
    def is_plain(self) -> bool:
        """Say whether it is a step that is its function of arrays, and no more than that."""
        step = self.step
        return step is not None and type(step).interpret is HostOp.interpret

    @cached_property
    def compute(self) -> Compute:
        """Return what gives its results of arrays, if it is a step."""
        assert self.step is not None, "a step of the host is computed"
        return quiet(computing(self.step))

    @cached_property
    def sized(self) -> list[tuple[int, Spec]]:
        """Return the results that have sizes, by their places, with what is known of them."""
        return with_sizes(self.results)

    @cached_property
    def has_order(self) -> bool:
        """Say whether it, or an operation inside of it, comes behind all steps before it."""
        return any(isinstance(inner, HostOp) and not inner.PURE for inner in self.op.walk())

    @cached_property
    def sizes(self) -> frozenset[str]:
        """Return the sizes that it asks for."""
        return frozenset(symbols_of(self.op))


class BlockOrder:
    """The operations of a block, and which steps go on beside others."""

    def __init__(self, block: Block) -> None:
        self.turns = [Turn(op) for op in block.ops]
        self.steps = {t.step for t in self.turns if t.step is not None and t.step.goes_on}
        several = len(self.steps) > 1
        self.sized = with_sizes(block.args)
        self.apart = several or not all(isinstance(op, PythonStep) for op in self.steps)
