"""Lists that a loop of ONNX appends one value to in each trip, as values that it collects.

    Loop(n, go, list)  body: list' = SequenceInsert(list, x)
        =>   rows = Loop(n, go)  body: collects x;     the list is [*list, *rows]

So a list is a tensor with one row for each trip, which compiled code writes; a sequence is made of
it only where something wants one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from onnx import GraphProto, NodeProto, ValueInfoProto
from xdsl.ir import SSAValue

from ...ir import Op, TensorSpec
from ...ir.compose import functions as c
from ...ir.types import dims as dim_rules
from .node import Node, Parts, Value


@dataclass(frozen=True)
class Listed:
    """The body of a loop that collects what was appended to some states, and which these are."""

    body: GraphProto
    places: Sequence[int]

    def others(self, states: Sequence[Value]) -> list[Value]:
        """Return the states that stay."""
        return [state for n, state in enumerate(states) if n not in self.places]


def listed(body: GraphProto, states: Sequence[Value]) -> Listed | None:
    """Return the body of a loop without the lists that it only appends to; None if none is."""
    uses = Counter(_used(body))
    places, parts, gone = list[int](), list[str](), list[NodeProto]()
    for number, state in enumerate(states):
        if not isinstance(state, Parts) or number + 2 >= len(body.input):
            continue
        before, after = body.input[number + 2].name, body.output[number + 1].name
        found = [node for node in body.node if after in node.output]
        if not found or uses[before] != 1 or uses[after] != 1 or not _appends(found[0], before):
            continue
        places.append(number)
        parts.append(found[0].input[1])
        gone += found
    if not places:
        return None
    made = GraphProto()
    made.CopyFrom(body)
    for number in reversed(places):
        del made.input[number + 2], made.output[number + 1]
    for node in gone:
        made.node.remove(node)
    made.output.extend(ValueInfoProto(name=name) for name in parts)
    return Listed(made, places)


def _appends(node: NodeProto, before: str) -> bool:
    """Say whether a node puts a value at the end of a list."""
    if node.op_type != "SequenceInsert" or node.domain not in ("", "ai.onnx"):
        return False
    list_, part, *place = node.input
    return list_ == before and part != before and not any(place)


def _used(graph: GraphProto) -> Iterator[str]:
    """Give the names that are used in a graph and in graphs inside of it, once for each use."""
    for node in graph.node:
        yield from node.input
        for attribute in node.attribute:
            for inner in (*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])):
                yield from _used(inner)
    yield from (value.name for value in graph.output)


def as_rows(node: Node, start: Parts, rows: Value, known: set[str]) -> Value | None:
    """Return the values of a list and those that a loop collected as one tensor.

    There is none where the values may differ in shape: `known` are the sizes outside of the loop.
    """
    spec = node.spec(rows)
    part = TensorSpec(spec.dtype, spec.dims[1:])
    if not {name for dim in part.dims for name in dim_rules.symbols(dim)} <= known:
        return None
    if any(isinstance(x, Parts) or node.kind(x) != part for x in start.values):
        return None
    if not start.values:
        return rows
    return node.make.concat(c.stack(node.emit, start.values, 0), rows, axis=0)


def rows_of(parts: SSAValue) -> SSAValue | None:
    """Return the tensor whose rows a sequence is; None where it is another one."""
    owner = parts.owner
    if not isinstance(owner, Op) or owner.name != "gv.split_to_sequence":
        return None
    form = owner.plain_attributes()
    is_of_rows = len(owner.operands) == 1 and form["axis"] == 0 and not form["keep"]
    return owner.operands[0] if is_of_rows else None
