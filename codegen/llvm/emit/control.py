"""Emit structured control flow as blocks, branches and phis.

A `scf.for` becomes a test before the loop and a test at its end, so that a turn has one branch:
LLVM's code generator does not turn loops round by itself. Where the bounds are known, the first
test is left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import scf
from xdsl.ir import Block, Operation, SSAValue

from ..text.build import Text
from .emitter import Emit, Emitter, known_integer


def _phis(
    e: Emitter, values: Sequence[SSAValue], ways: Sequence[tuple[str, Sequence[str]]]
) -> None:
    """Name each value a phi of what the ways (label, operands) bring."""
    for number, value in enumerate(values):
        brought = ", ".join([f"[ {operands[number]}, %{label} ]" for label, operands in ways])
        e.names[value] = e.text.value(f"phi {e.shape(value).name} {brought}")


def _for(e: Emitter, op: Operation) -> None:
    assert isinstance(op, scf.ForOp)
    text = e.text
    low, high, step, *initial = e.operands(op)
    block = op.body.block
    induction, *carried = block.args
    kind = e.shape(induction).name
    body, done, before = text.fresh_label(), text.fresh_label(), text.block
    bounds = [known_integer(operand) for operand in op.operands[:2]]
    never_empty = bounds[0] is not None and bounds[1] is not None and bounds[0] < bounds[1]
    if never_empty:
        text.line(f"br label %{body}")
    else:
        some = text.value(f"icmp slt {kind} {low}, {high}")
        text.line(f"br i1 {some}, label %{body}, label %{done}")
    text.label(body)
    index, following = text.fresh(), text.fresh()
    e.names[induction] = index
    # The phis name what the end of the body brings, so they are written after it.
    place = len(text.lines)
    for value in carried:
        e.names[value] = text.fresh()
    passed = e.block(block)
    end = text.block
    phis = [f"  {index} = phi {kind} [ {low}, %{before} ], [ {following}, %{end} ]"]
    for value, first, last in zip(carried, initial, passed, strict=True):
        ways = f"[ {first}, %{before} ], [ {last}, %{end} ]"
        phis.append(f"  {e.names[value]} = phi {e.shape(value).name} {ways}")
    text.lines[place:place] = phis
    text.define(following, f"add {kind} {index}, {step}")
    again = text.value(f"icmp slt {kind} {following}, {high}")
    text.line(f"br i1 {again}, label %{body}, label %{done}{_rolled(text, block)}")
    text.label(done)
    if never_empty:
        e.names.update(zip(op.results, passed, strict=True))
    else:
        _phis(e, op.results, ((before, initial), (end, passed)))


def _rolled(text: Text, block: Block) -> str:
    """Return what keeps a loop that threads meet in as it is: unrolled, it takes more registers."""
    if not any(op.name == "gvk.barrier" for op in block.ops):
        return ""
    number = 10 + 2 * len(text.declarations)
    text.declare(f"!{number} = distinct !{{!{number}, !{number + 1}}}")
    text.declare(f'!{number + 1} = !{{!"llvm.loop.unroll.disable"}}')
    return f", !llvm.loop !{number}"


def _if(e: Emitter, op: Operation) -> None:
    assert isinstance(op, scf.IfOp)
    text = e.text
    condition = e.names[op.operands[0]]
    then, otherwise, done = text.fresh_label(), text.fresh_label(), text.fresh_label()
    ways = []
    has_else = bool(op.false_region.blocks)
    text.line(f"br i1 {condition}, label %{then}, label %{otherwise if has_else else done}")
    for label, region in ((then, op.true_region), (otherwise, op.false_region)):
        if region.blocks:
            text.label(label)
            passed = e.block(region.block)
            ways.append((text.block, passed))
            text.line(f"br label %{done}")
    text.label(done)
    _phis(e, op.results, ways)


def _while(e: Emitter, op: Operation) -> None:
    assert isinstance(op, scf.WhileOp)
    text = e.text
    initial = e.operands(op)
    before, after = op.before_region.block, op.after_region.block
    head, body, done, start = text.fresh_label(), text.fresh_label(), text.fresh_label(), text.block
    text.line(f"br label %{head}")
    text.label(head)
    place = len(text.lines)
    for value in before.args:
        e.names[value] = text.fresh()
    condition, *passed = e.block(before)
    text.line(f"br i1 {condition}, label %{body}, label %{done}")
    text.label(body)
    e.names.update(zip(after.args, passed, strict=True))
    repeated = e.block(after)
    text.line(f"br label %{head}")
    text.lines[place:place] = [
        f"  {e.names[value]} = phi {e.shape(value).name}"
        f" [ {first}, %{start} ], [ {again}, %{text.block} ]"
        for value, first, again in zip(before.args, initial, repeated, strict=True)
    ]
    text.label(done)
    e.names.update(zip(op.results, passed, strict=True))


CONTROL: Mapping[str, Emit] = {"scf.for": _for, "scf.if": _if, "scf.while": _while}
"""Emitters of structured control flow."""
