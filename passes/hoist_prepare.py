"""Move what depends on weights only into a function of its own, which runs once.

    func.func @main(%x) {                        func.func @main(%x) {
      %w = gv.weight @w                            %1 = gv.weight @prepared.0
      %1 = gv.transpose %w                =>       %2 = gv.matmul %x, %1
      %2 = gv.matmul %x, %1                        ...
      ...                                        func.func @prepare() -> (... "prepared.0") {
                                                   %w = gv.weight @w
                                                   %0 = gv.transpose %w
                                                   func.return %0

Passes that change weights write that as operations; here the operations move. The names of
the results of `@prepare` are the names of weights. Values that are broadcasts of something
smaller stay where they are: to store them costs more than to read through them. May run again:
what uses `@prepared.0` and weights only moves too. A prepared weight that is no longer used is
prepared no longer.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ..ir import SOURCE, Op, Program, spec_of
from ..ir.ops.structure import Weight
from ..ir.program import (
    finish,
    functions,
    new_function,
    optional_function,
    result_names,
    returned,
)
from ..ir.types.attributes import Symbol
from .analysis.blocks import blocks_of
from .analysis.constants import WEIGHT, Known
from .base import Pass

PREPARE = "prepare"
PREFIX = "prepared."


@dataclass(frozen=True)
class HoistPrepare(Pass):
    """Move what depends on weights only into `@prepare`."""

    LEVEL = "graph"
    FOR = (Weight,)

    def apply(self, program: Program) -> None:
        """Move from each public function, then write the results of `@prepare`."""
        entries = [
            f
            for f in functions(program.module)
            if f.sym_visibility is None and f.sym_name.data != PREPARE
        ]
        roots = {f: find_roots(f) for f in entries}
        if not any(roots.values()):
            return
        preparation = Preparation.of(program)
        for function in entries:
            for block in blocks_of(function):
                preparation.move([r for r in roots[function] if r.owner.parent is block], block)
            self.count("hoisted", len(roots[function]))
        preparation.finish(used_weights(entries))


def find_roots(function: FuncOp) -> list[SSAValue]:
    """Return the values that depend on weights only and that something else needs."""
    known, roots = Known(), []
    for block in blocks_of(function):
        known.sweep(block)
        for op in block.ops:
            if type(op) is Weight or _is_broadcast(op):
                continue
            roots += [
                result
                for result in op.results
                if known.kind(result) == WEIGHT
                and any(_needs(use.operation, known) for use in result.uses)
            ]
    return roots


def _needs(user: Operation, known: Known) -> bool:
    """Say whether a user stays in the function."""
    fixed = bool(user.results) and known.kind(user.results[0]) == WEIGHT
    return not fixed or _is_broadcast(user)


def _is_broadcast(op: Operation) -> bool:
    return op.name == "gv.broadcast_to"


def used_weights(entries: Iterable[FuncOp]) -> set[str]:
    """Return the names of the weights that functions use."""
    ops = (op for function in entries for op in function.walk() if type(op) is Weight)
    return {str(op.plain_attributes()["weight"]) for op in ops}


@dataclass
class Preparation:
    """The function `@prepare` while it is written."""

    function: FuncOp
    results: dict[str, SSAValue]
    """The value of each prepared weight, by its name."""
    number: int
    """The number of the next prepared weight."""
    copies: dict[SSAValue, SSAValue] = field(default_factory=dict)
    """What stands in `@prepare` for a value of another function."""

    @classmethod
    def of(cls, program: Program) -> Preparation:
        """Open the function `@prepare` of a program, new or not."""
        function = optional_function(program.module, PREPARE)
        if function is None:
            function = new_function(PREPARE, [])
            program.module.body.block.add_op(function)
            return cls(function, {}, 0)
        results = dict(zip(result_names(function), returned(function), strict=True))
        last = function.body.block.last_op
        assert isinstance(last, ReturnOp), "@prepare does not return"
        function.body.block.erase_op(last)
        numbers = [int(name.removeprefix(PREFIX)) for name in results]
        return cls(function, results, max(numbers, default=-1) + 1)

    def move(self, roots: Sequence[SSAValue], block: Block) -> None:
        """Compute values of a block here, and let weights stand for them where they were."""
        moving = makers(roots)
        names = {root: self.replace(root, moving) for root in roots}
        order = [op for op in block.ops if op in moving]
        kept = needed_by_others(order, moving)
        for op in order:
            self.move_operation(op, kept)
        for op in moving:
            if op.parent is block:
                erase_unused(op)
        self.results |= {name: self.copies.get(root, root) for root, name in names.items()}

    def replace(self, root: SSAValue, moving: dict[Operation, None]) -> str:
        """Let a weight stand for a value wherever it stays in use; return its name."""
        name = f"{PREFIX}{self.number}"
        self.number += 1
        owner, spec = root.owner, spec_of(root.type)
        weight = Weight.make(weight=Symbol(name), dtype=spec.dtype, shape=spec.dims)
        assert isinstance(owner, Op), "what depends on weights is made by an operation"
        assert owner.parent is not None, f"{owner.name} stands nowhere"
        if (source := owner.attributes.get(SOURCE)) is not None:
            weight.attributes[SOURCE] = source
        owner.parent.insert_op_before(weight, owner)
        root.replace_uses_with_if(weight.results[0], lambda use: use.operation not in moving)
        return name

    def move_operation(self, op: Operation, kept: dict[Operation, None]) -> None:
        """Move an operation here, or copy it if something that stays needs it."""
        assert isinstance(op, Op), "what depends on weights is made by an operation"
        name = str(op.plain_attributes()["weight"]) if type(op) is Weight else ""
        if name in self.results:
            self.copies[op.results[0]] = self.results[name]
        elif op in kept:
            made = op.clone(self.copies)
            self.function.body.block.add_op(made)
            self.copies.update(zip(op.results, made.results, strict=True))
        else:
            op.detach()  # type: ignore[no-untyped-call]
            self.function.body.block.add_op(op)
            for index, operand in enumerate(op.operands):
                if operand in self.copies:
                    op.operands[index] = self.copies[operand]

    def finish(self, used: set[str]) -> None:
        """Close the function; it returns what is used."""
        kept = {name: value for name, value in self.results.items() if name in used}
        finish(self.function, list(kept.values()), list(kept))
        for op in reversed(list(self.function.body.block.ops)):
            if op.results:
                erase_unused(op)


def needed_by_others(
    order: Sequence[Operation], moving: dict[Operation, None]
) -> dict[Operation, None]:
    """Return the operations that something which stays uses, or that those need."""
    kept: dict[Operation, None] = {}
    for op in reversed(order):
        users = (use.operation for result in op.results for use in result.uses)
        if any(user not in moving or user in kept for user in users):
            kept[op] = None
    return kept


def makers(roots: Iterable[SSAValue]) -> dict[Operation, None]:
    """Return the operations that values are made by."""
    found: dict[Operation, None] = {}
    waiting = [root.owner for root in roots]
    while waiting:
        op = waiting.pop()
        if isinstance(op, Operation) and op not in found:
            found[op] = None
            waiting += [operand.owner for operand in op.operands]
    return found


def erase_unused(op: Operation) -> None:
    """Erase a pure operation that is not used, and what only it used."""
    dead = [op]
    while dead:
        gone = dead.pop()
        if gone.parent is None or any(r.first_use is not None for r in gone.results):
            continue
        owners = [operand.owner for operand in gone.operands]
        gone.parent.erase_op(gone)
        dead += [owner for owner in owners if isinstance(owner, Op) and owner.PURE]
