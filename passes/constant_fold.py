"""Replace operations on constants by their value.

    %0 = gv.constant [1.0, 2.0]
    %1 = gv.add %0, %0           =>   %1 = gv.constant [2.0, 4.0]

An operation folds if it is pure, all its operands are constants (or, like `gv.iota`, need no
operands), and neither they nor the results have more than `limit` elements: above that a
constant costs more to store than the operation costs to run. Symbolic dimensions do not fold.
Leaves the operands, if unused, to `dce`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue

from ..ir import SOURCE, Array, Op, Program, erase, operands_of
from ..ir.families import Elementwise
from ..ir.ops.structure import Constant, Weight
from .analysis.constants import constant_of, has_symbols
from .analysis.effects import all_operations
from .base import Pass


@dataclass(frozen=True)
class ConstantFold(Pass):
    """Replace operations on constants by their value."""

    limit: int = 4096
    """The most elements that an operand or a result may have."""
    exact: bool = False
    """Whether functions whose last bits depend on who computes them are left to the code."""

    def apply(self, program: Program) -> None:
        """Fold in program order, so that chains fold in one sweep."""
        folder = Folder(self.limit, exact=self.exact)
        folder.sweep(program.module)
        self.count("folded", folder.folded)


def is_near(op: Op, arrays: Sequence[Array]) -> bool:
    """Say whether the last bits of an operation on floats are those of who computes it."""
    if not isinstance(op, Elementwise) or not op.result_specs[0].dtype.is_float:
        return False
    return op.is_near() and op.nearest(*arrays) is None


class Folder:
    """Evaluates operations whose operands are known."""

    def __init__(self, limit: int, *, exact: bool = False) -> None:
        self.limit, self.exact = limit, exact
        self.folded = 0
        self.sources: dict[SSAValue, Array | None] = {}
        """What operations without operands evaluate to, once it is asked for."""

    def sweep(self, module: ModuleOp) -> None:
        """Fold every operation that can be, at all depths."""
        for op in all_operations(module):
            if isinstance(op, Op) and operands_of(op) and op.PURE:
                self.fold(op)

    def fold(self, op: Op) -> None:
        """Replace one operation by constants, if its operands are known."""
        arrays: list[Array] = []
        for operand in operands_of(op):
            array = self.value_of(operand)
            if array is None:
                return
            arrays.append(array)
        results = self.evaluate(op, arrays)
        if results is None:
            return
        block = op.parent
        assert block is not None, f"{op.name} stands nowhere"
        for old, array in zip(op.results, results, strict=True):
            made = Constant.make(value=array)
            assert made.results[0].type == old.type, (
                f"{op.name} of type {old.type} evaluates to {made.results[0].type}"
            )
            if (source := op.attributes.get(SOURCE)) is not None:
                made.attributes[SOURCE] = source
            block.insert_op_before(made, op)
            old.replace_all_uses_with(made.results[0])
        erase(op)
        self.folded += 1

    def value_of(self, value: SSAValue) -> Array | None:
        """Return the elements of a value that is known and small."""
        array = constant_of(value)
        if array is not None:
            return array if array.size <= self.limit else None
        owner = value.owner
        if not isinstance(owner, Op) or operands_of(owner) or isinstance(owner, Weight):
            return None
        if value not in self.sources:
            results = self.evaluate(owner, ())
            self.sources[value] = None if results is None else results[value.index]  # type: ignore[attr-defined]
        return self.sources[value]

    def evaluate(self, op: Op, arrays: Sequence[Array]) -> Sequence[Array] | None:
        """Return the results of an operation, None where it cannot or should not be folded."""
        if op.regions or not op.PURE or hasattr(op, "interpret"):
            return None
        if self.exact and is_near(op, arrays):
            return None
        for spec in op.result_specs:
            if not spec.is_static or spec.size > self.limit:  # type: ignore[operator]
                return None
        attributes = op.plain_attributes()
        if any(map(has_symbols, attributes.values())):
            return None
        with np.errstate(all="ignore"):
            return [np.asarray(x) for x in op.evaluate(*arrays, **attributes)]
