"""Find the operation that gives another value than before, of two programs that should agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.ir import Operation, OpResult, SSAValue

from ...ir import Array, Interpreter, Program
from ...ir.interpret.graph import bind_symbols
from ...ir.ops.structure import Kernel
from ...ir.program import argument_specs, find_function, result_names, returned
from ...passes.check import source_of, with_prepared

Same = Callable[[Array, Array], bool]


@dataclass(frozen=True)
class Culprit:
    """An operation, and where it comes from."""

    operation: str
    source: str


@dataclass
class Recording(Interpreter):
    """An interpreter that keeps every result, also of operations inside of others."""

    made: dict[SSAValue, Any] = field(default_factory=dict)

    def operation(
        self, op: Operation, operands: Sequence[Any], values: dict[SSAValue, Any]
    ) -> Sequence[Any]:
        """Return the results of one operation, and keep them."""
        results = super().operation(op, operands, values)
        self.made.update(zip(op.results, results, strict=True))
        return results


def culprit(
    before: Program, after: Program, name: str, arguments: Sequence[Array], result: str, same: Same
) -> Culprit | None:
    """Return the first operation behind a result that differs whose operands all were there before.

    Both programs are on levels of tensors. A value was there before if any value of the program
    before is the same. Values that a pass computes on a new way to the same result do not count:
    only those are looked at from which the wrong result is made without passing one that was there.
    """
    known = list(recorded(before, name, arguments).values())
    made = recorded(after, name, arguments)
    order = {value: number for number, value in enumerate(made)}
    function = find_function(after.module, name)
    names = result_names(function)
    if result not in names:
        return None
    start = _made_by(returned(function)[names.index(result)])
    open_, seen, ends = [start], {start}, list[SSAValue]()
    while open_:
        value = open_.pop()
        if not isinstance(value, OpResult) or value not in made:
            continue
        wrong = [
            each
            for each in map(_made_by, value.op.operands)
            if each in made and value.op.operands and not _is_known(made[each], known, same)
        ]
        if not wrong:
            ends.append(value)
        open_ += [each for each in wrong if each not in seen]
        seen.update(wrong)
    if not ends:
        return None
    first = min(ends, key=order.__getitem__)
    assert isinstance(first, OpResult), "what is recorded is made by an operation"
    return Culprit(first.op.name, _nearest_source(first.op))


def recorded(program: Program, name: str, arguments: Sequence[Array]) -> dict[SSAValue, Any]:
    """Return every value that a function computes, in order."""
    function = find_function(program.module, name)
    shapes = [spec.shape for spec in argument_specs(function)]
    symbols = bind_symbols(shapes, [np.shape(each) for each in arguments])
    machine = Recording(program.module, with_prepared(program), symbols)
    machine.block(function.body.block, [np.array(each) for each in arguments])
    return machine.made


def _made_by(value: SSAValue) -> SSAValue:
    """Return the value that is given as this argument of a kernel, or yielded as its result."""
    while True:
        owner = value.owner
        if isinstance(owner, Kernel) and isinstance(value, OpResult):
            value = owner.yielded[value.index]
        elif not isinstance(owner, Operation) and isinstance(kernel := owner.parent_op(), Kernel):
            value = kernel.operands[owner.args.index(value)]
        else:
            return value


def _is_known(value: Any, known: Sequence[Any], same: Same) -> bool:
    """Say whether a value was there before."""
    if not isinstance(value, np.ndarray | np.generic):
        return True
    found = np.asarray(value)
    return any(
        np.shape(each) == found.shape and getattr(each, "dtype", None) == found.dtype
        and same(np.asarray(each), found)
        for each in known
    )  # fmt: skip


def _nearest_source(op: Operation) -> str:
    """Return the source of an operation, or of the nearest one that it is made from."""
    open_, seen = [op], {op}
    while open_:
        each = open_.pop(0)
        if source := source_of(each):
            return source
        owners = [_made_by(value).owner for value in each.operands]
        new = [o for o in owners if isinstance(o, Operation) and o not in seen]
        open_ += new
        seen.update(new)
    return ""
