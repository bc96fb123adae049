"""Accesses that are not shown to lie inside of their buffers: these are looked at in the run.

Every kernel's accesses are proven when it is compiled (`passes/bounds`). What is not shown, or all
with `GRAVURE_CHECK=bounds`, is emitted so that it touches nothing outside, and tells of it:

    workspace + offset        number of the kernel from 1 (0: nothing), the place, which access
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr, i64
from xdsl.dialects.func import FuncOp

from .... import knobs
from ....errors import CompileError
from ....ir import Program
from ....ir.dialects.kernel import CHECKED
from ....ir.interpret.launch import GUARDED
from ....ir.program import functions
from ....passes.bounds.accesses import TOUCHES, Accesses, UnprovenAccess
from ....passes.bounds.blocks import FIXED
from ....runtime.artifact import (
    ALIGNMENT,
    OUTSIDE,
    Description,
    If,
    Launch,
    Pointer,
    Repeat,
    Scalar,
    Step,
    While,
    round_up,
)

UNCHECKED = frozenset({"gvk.prefetch", *FIXED})
"""What touches nothing that can be wrong, or is wrong in each run."""


def guard(loops: FuncOp) -> None:
    """Prove the accesses of a kernel; mark those that have to be looked at in the run.

    Raises `CompileError` for what is outside in each run: a fault of the template.
    """
    if knobs.checks_bounds():
        ops = [op for op in loops.walk() if op.name in TOUCHES and op.name not in UNCHECKED]
    else:
        unproven = Accesses(loops).prove()
        _refuse(loops, unproven)
        ops = list(dict.fromkeys(op for each in unproven for op in (each.op, *each.alike)))
    for number, op in enumerate(ops):
        op.attributes[CHECKED] = IntegerAttr(number, i64)
    if ops:
        loops.attributes[GUARDED] = StringAttr(str(len(ops)))


def _refuse(loops: FuncOp, unproven: Iterable[UnprovenAccess]) -> None:
    for each in unproven:
        if each.op.name in FIXED:
            raise CompileError(f"kernel @{loops.sym_name.data}: {each}")


def guarded(program: Program) -> list[str]:
    """Return the kernels in which accesses are looked at."""
    return [f.sym_name.data for f in functions(program.module) if GUARDED in f.attributes]


def watch(model: Description, kernels: Iterable[str]) -> Description:
    """Return a model whose kernels tell of what they would have touched outside."""
    rows = {name: number for number, name in enumerate(kernels, 1)}
    if not rows:
        return model

    def watched(steps: Iterable[Step], offset: int) -> tuple[Step, ...]:
        return tuple(of(step, offset) for step in steps)

    def of(step: Step, offset: int) -> Step:
        match step:
            case Launch() if step.kernel in rows:
                told = Pointer("workspace", 0, offset), Scalar(rows[step.kernel])
                return replace(step, arguments=(*step.arguments, *told))
            case If():
                then, otherwise = (watched(each, offset) for each in (step.then, step.otherwise))
                return replace(step, then=then, otherwise=otherwise)
            case While():
                test, body = (watched(each, offset) for each in (step.test, step.body))
                return replace(step, test=test, body=body)
            case Repeat():
                return replace(step, body=watched(step.body, offset))
        return step

    run, prepare = (round_up(s, ALIGNMENT) for s in (model.workspace, model.prepare_workspace))
    extras: dict[str, Any] = {OUTSIDE: {"offset": run, "rows": list(rows)}}
    return replace(
        model,
        steps=watched(model.steps, run),
        prepare=watched(model.prepare, prepare),
        workspace=run + ALIGNMENT,
        prepare_workspace=prepare + ALIGNMENT if model.prepare else model.prepare_workspace,
        extras={**model.extras, **extras},
    )
