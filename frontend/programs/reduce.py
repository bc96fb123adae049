"""Make a program that fails as small as it can be while it fails in the same way.

    outcome = failure(program, Options())                  # "PassError: pass fuse failed", say
    small = reduce_program(program, lambda p: failure(p, Options()) == outcome)

Parts are cut out of the graph: what they made become inputs, what only they needed goes. Halves
first, then quarters, down to single operations (delta debugging, by Zeller). Each try happens in a
process of its own, so that a failure may also be the end of that process.
"""

from __future__ import annotations

import os
import re
import signal
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise

import numpy as np
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from ...codegen.compile import Compiled, Options, compile_program
from ...errors import GraphError, GravureError
from ...ir import Array, Op, Program, interpret, spec_of
from ...ir.program import (
    argument_names,
    finish,
    functions,
    new_function,
    result_names,
    returned,
    set_level,
    set_ranges,
)
from ...passes.analysis.arguments import make_arguments
from ...runtime.compare import Tolerance, compare
from ..models.compiled import load_compiled

FREE = frozenset({"gv.constant", "gv.weight"})
"""Operations that come along with those that use them."""

Test = Callable[[Program], bool]


def reduce_program(program: Program, fails: Test) -> Program:
    """Return a part of a graph that still fails, of which no operation can be left out."""
    if program.level != "graph":
        raise GraphError(f"a graph can be reduced, the program is on level {program.level}")
    ops = [op for op in program.main.body.block.ops if not isinstance(op, ReturnOp)]
    kept = [op for op in ops if op.name not in FREE]
    parts = 2
    while len(kept) > 1:
        smaller = _smaller(program, kept, parts, fails)
        if smaller is not None:
            kept, parts = smaller, max(parts - 1, 2)
        elif parts >= len(kept):
            break
        else:
            parts = min(2 * parts, len(kept))
    return cut_out(program, kept)


def _smaller(
    program: Program, ops: Sequence[Operation], parts: int, fails: Test
) -> list[Operation] | None:
    """Return one part of the operations, or all but one part, that fails alone."""
    bounds = [len(ops) * i // parts for i in range(parts + 1)]
    chunks = [ops[a:b] for a, b in pairwise(bounds)]
    rests = [[*ops[:a], *ops[b:]] for a, b in pairwise(bounds)]
    for candidate in (*chunks, *(rests if parts > 2 else ())):
        if candidate and fails(cut_out(program, candidate)):
            return list(candidate)
    return None


def cut_out(program: Program, ops: Sequence[Operation]) -> Program:
    """Return a program of some operations: what they lack are inputs, what nobody uses results."""
    chosen = set(ops)
    inner = {result for op in ops for each in op.walk() for result in each.results}
    names: dict[SSAValue, str] = dict(
        zip(program.main.body.block.args, argument_names(program.main), strict=True)
    )
    outs = dict(zip(returned(program.main), result_names(program.main), strict=True))
    missing: dict[SSAValue, str] = {}
    places = places_of(program)
    for value in _used(ops):
        if value not in inner and not _is_free(value):
            missing[value] = names.get(value) or places[value]
    main = new_function("main", [(n, spec_of(v.type)) for v, n in missing.items()])
    block = main.body.block
    known: dict[SSAValue, SSAValue] = dict(zip(missing, block.args, strict=True))
    for op in ops:
        for value in _used([op]):
            if value not in known and _is_free(value):
                assert isinstance(value.owner, Operation), "what is free is an operation"
                block.add_op(value.owner.clone(known))
        block.add_op(op.clone(known))
    results = [
        result
        for op in ops
        for result in op.results
        if result in outs or not any(_top(u.operation, program) in chosen for u in result.uses)
    ]
    labels = [outs.get(result) or f"out{number}" for number, result in enumerate(results)]
    finish(main, [known[result] for result in results], labels)
    others = [f.clone() for f in functions(program.module) if f is not program.main]
    module = ModuleOp([main, *others])
    set_level(module, "graph")
    set_ranges(module, program.ranges)
    return Program(module, _weights(module, program), program.source)


def places_of(program: Program) -> dict[SSAValue, str]:
    """Return what each value of a graph is called where it is an input of a part."""
    names, found = set(argument_names(program.main)), dict[SSAValue, str]()
    for op in program.main.body.block.ops:
        for result in op.results:
            name = f"in{len(found)}"
            found[result] = f"{name}_" if name in names else name
    return found


def _used(ops: Sequence[Operation]) -> list[SSAValue]:
    """Return what operations, and those inside of them, use; each once."""
    values = (operand for op in ops for each in op.walk() for operand in each.operands)
    return list(dict.fromkeys(v for v in values if not _is_inside(v)))


def _is_inside(value: SSAValue) -> bool:
    """Say whether a value belongs to a region of an operation."""
    block = value.owner if not isinstance(value.owner, Operation) else value.owner.parent
    parent = block.parent_op() if block is not None else None
    return parent is not None and parent.name != "func.func"


def _is_free(value: SSAValue) -> bool:
    return isinstance(value.owner, Operation) and value.owner.name in FREE


def _top(op: Operation, program: Program) -> Operation:
    """Return the operation of the main block that holds another."""
    block = program.main.body.block
    while op.parent is not block:
        parent = op.parent_op()
        assert parent is not None, "every user is in the function"
        op = parent
    return op


def _weights(module: ModuleOp, program: Program) -> dict[str, Array]:
    names = [
        str(op.plain_attributes()["weight"])
        for op in module.walk()
        if isinstance(op, Op) and op.name == "gv.weight"
    ]
    return {name: program.weights[name] for name in names if name in program.weights}


@dataclass(frozen=True)
class Trial:
    """How a program is tried."""

    options: Options
    run: bool = True
    """Whether results are compared with those of the interpreter, if it compiles."""
    tolerance: Tolerance = field(default_factory=lambda: Tolerance(1e-3, 1e-4))

    def failure(self, program: Program) -> str:
        """Return what goes wrong with a program, without numbers and names; empty if nothing."""
        copy = Program(program.module.clone(), program.weights, program.source)
        try:
            compiled = compile_program(copy, replace(self.options, cache=False))
            return self._differs(program, compiled) if self.run else ""
        except GravureError as error:
            return signature(error)
        except Exception as error:
            return signature(error)

    def _differs(self, program: Program, compiled: Compiled) -> str:
        arguments = make_arguments(program.main, program.ranges)
        model = load_compiled(compiled, 1)
        wanted = interpret(program, [np.array(a) for a in arguments])
        for found, want in zip(model.run(arguments), wanted, strict=True):
            if not compare(found, want, self.tolerance).is_close:
                return "results differ from the interpreter's"
        return ""


def signature(error: Exception) -> str:
    """Return class and kind of an error: two failures with the same are taken for one.

    >>> signature(ValueError("axis 3 of 'x' is missing: expected 4"))
    'ValueError: axis # of # is missing'
    """
    message = getattr(error, "message", str(error)).split("\n")[0]
    head = re.split(r"(?<!failed):(?= )", message)[0]
    return f"{type(error).__name__}: {re.sub(QUOTED, '#', head)}"


QUOTED = re.compile(r"'[^']*'|\d+")


def apart(trial: Callable[[Program], str], program: Program) -> str:
    """Return what a trial gives in a process of its own, or the signal that ended that."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads that sleep do not matter
        child = os.fork()
    if child == 0:
        status = 1
        try:
            os.close(reading)
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(trial(program).encode())
            status = 0
        finally:
            os._exit(status)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        said = pipe.read().decode()
    _, status = os.waitpid(child, 0)
    if os.WIFSIGNALED(status):
        return f"ended by {signal.Signals(os.WTERMSIG(status)).name}"
    return said


__all__ = ["Trial", "apart", "cut_out", "places_of", "reduce_program", "signature"]
