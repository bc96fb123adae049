"""Control flow: regions as graphs, which see the names around them."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, SSAValue

from ....ir import Op, spec_of
from ....ir.ops.control.control import If, While
from ....ir.ops.host.host_control import FLAG, NUMBER, HostIf, HostLoop
from ....ir.types import dtypes as d
from ....ir.types.values import value_spec
from .extents import NotWritableError
from .rules import write_block, writes
from .writer import Graph, Value, Writer


@writes("gv.if", "gv.host_if")
def if_(out: Writer, op: If | HostIf, condition: str, *xs: str) -> Sequence[str]:
    """Write both branches; their arguments are names from outside."""
    branches = []
    for region, what in zip(op.regions, ("then", "else"), strict=True):
        block = region.block
        with out.inside() as nodes:
            made = _run(out, block, op.operands[1:], xs)
            outputs = [out.same(name) for name in made]
        branches.append(Graph(out.names.fresh(what), nodes, [], _declared(op, outputs)))
    names = out.names_for(op)
    out.append("If", [condition], names, then_branch=branches[0], else_branch=branches[1])
    return names


@writes("gv.while")
def while_(out: Writer, op: While, *xs: str) -> Sequence[str]:
    """Write a loop without a limit whose condition is computed before it, and behind each trip."""
    test, body = op.blocks()
    count = op.carried
    fixed = op.operands[count:]
    (first,) = _run(out, test, op.operands, xs)
    with out.inside() as nodes:
        trip, goes = out.names.fresh("trip"), out.names.fresh("goes")
        given = [out.names.fresh(f"carried_{i}") for i in range(count)]
        out.types |= {trip: d.i64, goes: d.bool_}
        out.types |= {n: out.dtype(v) for n, v in zip(given, op.operands, strict=False)}
        made = _run(out, body, [*op.results, *fixed], [*given, *xs[count:]])
        (more,) = _run(out, test, [*op.results, *fixed], [*made, *xs[count:]])
        outputs = [out.same(name) for name in (more, *made)]
    inputs: list[Value] = [(trip, NUMBER), (goes, FLAG), *_declared(op, given)]
    results: list[Value] = [(outputs[0], FLAG), *_declared(op, outputs[1:])]
    graph = Graph(out.names.fresh("body"), nodes, inputs, results)
    names = out.names_for(op)
    out.append("Loop", ["", first, *xs[:count]], names, body=graph)
    return names


@writes("gv.host_loop")
def host_loop(out: Writer, op: HostLoop, trips: str, goes: str, *xs: str) -> Sequence[str]:
    """Write the operator itself."""
    block, count = op.regions[0].block, op.states
    with out.inside() as nodes:
        given = [out.names.fresh(f"state_{i}") for i in range(count + 2)]
        out.types |= {n: out.dtype(v) for n, v in zip(given, block.args, strict=False)}
        operands = [*block.args[: count + 2], *op.operands[count + 2 :]]
        made = _run(out, block, operands, [*given, *xs[count:]])
        outputs = [out.same(name) for name in made]
    inputs = _typed(given, block.args[: count + 2])
    graph = Graph(out.names.fresh("body"), nodes, inputs, _typed(outputs, op.yielded(0)))
    names = out.names_for(op)
    out.append("Loop", [trips, goes, *xs[:count]], names, body=graph)
    return names


def _declared(op: Op, names: Sequence[str]) -> list[Value]:
    """Return names with the types of an operation's results."""
    return _typed(names, op.results)


def _typed(names: Sequence[str], values: Sequence[SSAValue]) -> list[Value]:
    return [(name, value_spec(v.type)) for name, v in zip(names, values, strict=True)]


def _run(
    out: Writer, block: Block, operands: Sequence[SSAValue], names: Sequence[str]
) -> list[str]:
    """Write a region whose arguments have these names; return the names of what it yields."""
    for value in [r for op in block.walk() for r in op.results] + [*block.args]:
        out.forget(value)  # a region may be written twice
    for argument, operand, name in zip(block.args, operands, names, strict=True):
        out.values[argument] = name
        if (array := out.known(operand)) is not None:
            out.arrays[argument] = array
        if isinstance(argument.type, TensorType):
            out.extents.declare_late(name, spec_of(argument.type).shape or ())
        if out.dtype(argument) != out.types[name]:
            raise NotWritableError(f"{name} is {out.types[name]}")
    *inner, last = block.ops
    write_block(out, inner)
    return [out.name(value) for value in last.operands]
