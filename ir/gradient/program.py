"""Derivatives within a program: the way back through operations that stand in a block."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from xdsl.ir import SSAValue

from ..build import operands_of, operations
from ..op import REGISTRY, Call, Op
from .walk import walk_back


def gradients_in_block(
    goal: SSAValue, grad: SSAValue, sources: Sequence[SSAValue], emit: Callable[..., Any]
) -> list[Any]:
    """Return the gradient of each source by that of a value of the same block, or None.

    What computes them is appended by `emit`. Raises `NotImplementedError` where an operation on
    the way has no gradient.
    """
    block = goal.owner.parent_block() if isinstance(goal.owner, Op) else None
    order = [] if block is None else [op for op in operations(block) if isinstance(op, Op)]
    return walk_back(Standing(emit), order, [(goal, grad)], sources)


@dataclass(frozen=True)
class Standing:
    """Operations that stand in a block as nodes of the walk back."""

    SUMS_AT_ONCE: ClassVar[bool] = True
    emit: Callable[..., Any]

    def operands(self, op: Op) -> Sequence[SSAValue]:
        """Return the operands."""
        return operands_of(op)

    def results(self, op: Op) -> Sequence[SSAValue]:
        """Return the results."""
        return op.results

    def smooth(self, op: Op) -> Sequence[SSAValue]:
        """Return the results that are floats."""
        pairs = zip(op.results, op.result_specs, strict=True)
        return [r for r, spec in pairs if spec.dtype.kind in "fc"]

    def gradients(self, op: Op, received: Sequence[Any], wanted: Sequence[bool]) -> Sequence[Any]:
        """Return what the operation's rule says."""
        attributes, made = op.plain_attributes(), tuple(op.result_specs)
        call = Call(type(op), op.operands, op.results, attributes, op.specs, self.emit, made)
        return call.op.gradient(call, *received)

    def added(self, a: Any, b: Any) -> Any:
        """Return the sum of two gradients."""
        return self.emit(REGISTRY["gv.add"], a, b)
