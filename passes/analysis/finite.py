"""Find the first operation of a run that makes a NaN or an infinity of finite numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.ir import Operation, SSAValue

from ...ir import Array, Interpreter, Op, Program
from ...ir.interpret.graph import bind_symbols
from ...ir.program import argument_specs
from ...ir.verify import place


@dataclass(frozen=True)
class NotFinite:
    """An operation whose results are not finite where its operands are."""

    operation: str
    source: str
    """The node, or the line of text, that the operation comes from."""
    nans: int
    infinities: int
    operands: tuple[str, ...]
    """The smallest and largest number of each operand."""

    def __str__(self) -> str:
        found = f"{self.nans} NaN" if self.nans else f"{self.infinities} infinite"
        return f"{self.source}: {self.operation} gives {found}, from {', '.join(self.operands)}"


@dataclass
class Watching(Interpreter):
    """An interpreter that looks at every result."""

    found: list[NotFinite] = field(default_factory=list)

    def operation(
        self, op: Operation, operands: Sequence[Any], values: dict[SSAValue, Any]
    ) -> Sequence[Any]:
        """Return the results of one operation, after a look at them."""
        results = super().operation(op, operands, values)
        if operands and not self.found and all(map(_is_finite, operands)):
            nans = sum(int(np.isnan(r).sum()) for r in results if _is_float(r))
            wrong = sum(int((~np.isfinite(r)).sum()) for r in results if _is_float(r))
            if wrong:
                rows = tuple(map(_range, operands))
                self.found.append(NotFinite(op.name, _source(op), nans, wrong - nans, rows))
        return results


def first_not_finite(program: Program, arguments: Sequence[Array]) -> NotFinite | None:
    """Run a program of the level `graph` or `fused`; return what first leaves the finite numbers.

    Infinities that are in constants, such as those of masks, are not looked for.
    """
    main = program.main
    declared = [spec.shape for spec in argument_specs(main)]
    symbols = bind_symbols(declared, [np.shape(a) for a in arguments])
    machine = Watching(program.module, program.weights, symbols)
    machine.block(main.body.block, list(arguments))
    return machine.found[0] if machine.found else None


def _is_float(value: Any) -> bool:
    return isinstance(value, np.ndarray | np.generic) and value.dtype.kind in "fcV"


def _is_finite(value: Any) -> bool:
    return not _is_float(value) or bool(np.isfinite(value).all())


def _range(value: Any) -> str:
    array = np.asarray(value)
    if not array.size:
        return "nothing"
    return f"{array.dtype}{[*array.shape]} from {array.min()} to {array.max()}"


def _source(op: Operation) -> str:
    if isinstance(op, Op) and "source" in op.attributes:
        row: Any = op.attributes["source"]
        return str(getattr(row, "data", row))
    return place(op)
