"""Take out of choices and loops what does not change in them, and what nobody needs.

    %r, %s = gv.while %x, %c, %w ({            %r = gv.while %x ({
      ^bb0(%a, %b, %d): ...                      ^bb0(%a): %d = gv.weight @w ...
    }, {                                =>     }, {
      ^bb0(%a, %b, %d):                          ^bb0(%a): %d = gv.weight @w
        %n = gv.matmul %a, %d                      %n = gv.matmul %a, %d
        gv.yield %n, %b                            gv.yield %n
    })                                         })                      uses of %s become %c

Weights and constants are made inside, so that what is done to weights is done there too. What a
loop carries and never changes stands for its result; results and arguments that nobody needs go,
and so does a choice whose condition is known. Leaves unused operations to `dce`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Block, Operation, SSAValue

from ..ir import Op, Program, erase, operations
from ..ir.ops.control.control import Control, If, While
from ..ir.ops.structure import Constant, Weight, Yield
from ..ir.program import functions
from .analysis.blocks import operations_of
from .analysis.constants import constant_of
from .analysis.effects import is_pure
from .analysis.rewrite import is_unused
from .base import Pass


@dataclass(frozen=True)
class SimplifyControl(Pass):
    """Take out of choices and loops what does not change in them, and what nobody needs."""

    LEVEL = "graph"
    FOR = (Control,)

    def apply(self, program: Program) -> None:
        """Simplify until nothing changes: from outside in, then from inside out."""
        for function in functions(program.module):
            changes = 1
            while changes:
                found = [op for op in operations_of(function) if isinstance(op, Control)]
                changes = sum(self.simplify(op) for op in (*found, *reversed(found)))

    def simplify(self, op: Control) -> bool:
        """Simplify one operation if it is still there."""
        if op.parent is None:
            return False
        if is_unused(op) and is_pure(op):
            erase(op)
            self.count("erased")
            return True
        if isinstance(op, If):
            return self.choice(op)
        assert isinstance(op, While), f"{op.name} is no choice and no loop"
        return self.loop(op)

    def choice(self, op: If) -> bool:
        """Simplify a choice."""
        known = constant_of(op.operands[0])
        if known is not None:
            inline(op, op.blocks()[0 if known.item() else 1], op.operands[1:])
            self.count("conditions known")
            return True
        columns = list(zip(*(op.yielded(n) for n in (0, 1)), strict=True))
        for result, column in zip(op.results, columns, strict=True):
            places = {place_of(x, block) for x, block in zip(column, op.blocks(), strict=True)}
            if len(places) == 1 and None not in places:
                (place,) = places
                result.replace_all_uses_with(op.operands[1 + (place or 0)])
        results = [n for n, result in enumerate(op.results) if result.first_use is not None]
        for block in op.blocks():
            keep_yields(block, results)
            self.sweep(block)
        arguments = self.arguments(op, op.operands[1:], 0)
        if len(results) == len(op.results) and len(arguments) == len(op.operands) - 1:
            return False
        operands = [op.operands[0], *(op.operands[1 + n] for n in arguments)]
        rebuild(op, operands, results, {})
        self.count("narrowed")
        return True

    def loop(self, op: While) -> bool:
        """Simplify a loop."""
        test, body = op.blocks()
        self.sweep(test)
        self.sweep(body)
        known = constant_of(op.yielded(0)[0])
        if known is not None and not known.item():
            for result, value in zip(op.results, op.operands, strict=False):
                result.replace_all_uses_with(value)
            self.count("loops without trips")
            return True
        count = op.carried
        fixed = [n for n in range(count) if self.is_fixed(op, n)]
        for n in fixed:
            op.results[n].replace_all_uses_with(op.operands[n])
        moving = needed(op, [n for n in range(count) if n not in fixed])
        dropped = [n for n in range(count) if n not in fixed and n not in moving]
        keep_yields(body, moving)
        self.sweep(body)
        assert not any(is_used(body.args[n]) for n in dropped), "what is dropped has no use"
        order = [*moving, *fixed, *range(count, len(op.operands))]
        arguments = self.arguments(op, op.operands, len(moving), order)
        if len(arguments) == len(op.operands) and len(moving) == count:
            return False
        operands = [op.operands[n] for n in arguments]
        rebuild(op, operands, moving, {"carried": len(moving)})
        self.count("narrowed")
        return True

    def sweep(self, block: Block) -> None:
        """Erase the operations of a block that nobody uses."""
        for op in reversed(operations(block)):
            if op.results and is_unused(op) and is_pure(op):
                erase(op)
                self.count("erased")

    def is_fixed(self, op: While, number: int) -> bool:
        """Say whether a carried value is the same in every trip."""
        _, body = op.blocks()
        value = op.yielded(1)[number]
        if value is body.args[number]:
            return True
        first, later = constant_of(op.operands[number]), constant_of(value)
        if first is None or later is None or first.shape != later.shape:
            return False
        return first.dtype == later.dtype and np.ascontiguousarray(first).tobytes() == (
            np.ascontiguousarray(later).tobytes()
        )

    def arguments(
        self, op: Control, operands: Sequence[SSAValue], carried: int, order: Sequence[int] = ()
    ) -> list[int]:
        """Put the arguments in an order, make constants inside, and leave out what is not used.

        The first `carried` of the order stay. Returns the numbers of the operands that are left.
        """
        order = order or range(len(operands))
        blocks = op.blocks()
        old = [list(block.args) for block in blocks]
        kept, seen = list(order[:carried]), dict[SSAValue, int]()
        for n in order[carried:]:
            inner = [arguments[n] for arguments in old]
            if all(x.first_use is None for x in inner):
                continue
            owner = operands[n].owner
            if isinstance(owner, Constant | Weight):
                for block, x in zip(blocks, inner, strict=True):
                    make_inside(block, x, owner)
                self.count("made inside")
            elif operands[n] in seen:
                for arguments, x in zip(old, inner, strict=True):
                    x.replace_all_uses_with(arguments[seen[operands[n]]])
            else:
                seen[operands[n]] = n
                kept.append(n)
        for block, arguments in zip(blocks, old, strict=True):
            renew_arguments(block, [arguments[n] for n in kept])
        return kept


def place_of(value: SSAValue, block: Block) -> int | None:
    """Return which argument of a block a value is, None if it is none."""
    return next((n for n, x in enumerate(block.args) if x is value), None)


def needed(op: While, among: Sequence[int]) -> list[int]:
    """Return the carried values that results, the test or effects need."""
    test, body = op.blocks()
    found = {n for n in among if op.results[n].first_use is not None or is_used(test.args[n])}
    yielded = op.yielded(1)
    reached: set[SSAValue] = set()
    active = [each for each in body.ops if not is_pure(each) and not isinstance(each, Yield)]
    effects = [x for each in active for x in each.operands]
    while True:
        reach([*(yielded[n] for n in found), *effects], reached)
        more = {n for n in among if body.args[n] in reached} - found
        if not more:
            return sorted(found)
        found |= more


def reach(values: Sequence[SSAValue], reached: set[SSAValue]) -> None:
    """Add values and all that they are computed from."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if value not in reached:
            reached.add(value)
            if isinstance(value.owner, Operation):
                waiting += value.owner.operands


def is_used(value: SSAValue) -> bool:
    """Say whether something uses a value."""
    return value.first_use is not None


def keep_yields(block: Block, numbers: Sequence[int]) -> None:
    """Let a block yield only some of its values."""
    last = block.last_op
    assert isinstance(last, Yield), "a region ends in gv.yield"
    last.operands = [last.operands[n] for n in numbers]


def make_inside(block: Block, argument: SSAValue, owner: Op) -> None:
    """Let a copy of what makes a value stand for an argument."""
    if argument.first_use is None:
        return
    copy, first = owner.clone(), block.first_op
    assert first is not None, "a region ends in gv.yield"
    block.insert_op_before(copy, first)
    argument.replace_all_uses_with(copy.results[0])


def renew_arguments(block: Block, kept: Sequence[SSAValue]) -> None:
    """Give a block arguments for some of the old ones, in this order."""
    old = list(block.args)
    if old == list(kept):
        return
    for x in kept:
        made = block.insert_arg(x.type, len(block.args))
        made.name_hint = x.name_hint
        x.replace_all_uses_with(made)
    for argument in old:
        block.erase_arg(argument)


def rebuild(
    op: Control, operands: Sequence[SSAValue], results: Sequence[int], attributes: dict[str, int]
) -> None:
    """Replace an operation by one with some of its results."""
    kept = [op.results[n] for n in results]
    regions = [op.detach_region(region) for region in list(op.regions)]
    made = type(op).build_unchecked(operands, [r.type for r in kept], attributes, regions)
    made.attributes.update(op.attributes)
    assert op.parent is not None, f"{op.name} stands nowhere"
    op.parent.insert_op_before(made, op)
    for old, new in zip(kept, made.results, strict=True):
        new.name_hint = old.name_hint
        old.replace_all_uses_with(new)
    erase(op)


def inline(op: If, block: Block, operands: Sequence[SSAValue]) -> None:
    """Put the operations of one branch in place of a choice."""
    for argument, value in zip(block.args, operands, strict=True):
        argument.replace_all_uses_with(value)
    assert op.parent is not None, f"{op.name} stands nowhere"
    for inner in list(block.ops):
        if isinstance(inner, Yield):
            for result, value in zip(op.results, inner.operands, strict=True):
                result.replace_all_uses_with(value)
            continue
        inner.detach()  # type: ignore[no-untyped-call]
        op.parent.insert_op_before(inner, op)
    erase(op)
