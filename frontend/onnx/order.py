"""The nodes of a graph in an order in which each stands behind what it reads."""

from __future__ import annotations

from collections.abc import Container, Iterator, Sequence
from heapq import heapify, heappop, heappush

from onnx import GraphProto, NodeProto

from .file.faults import Faults
from .file.read import node_label


def ordered(nodes: Sequence[NodeProto], given: Container[str], faults: Faults) -> list[int]:
    """Return the positions of the nodes in an order that works, the given one if it does.

    Notes names that are made twice, names that nothing makes, and cycles.
    """
    makers = _makers(nodes, given, faults)
    waits: list[set[int]] = []
    for index, node in enumerate(nodes):
        reads = [*filter(None, node.input), *outer_names(node)]
        missing = [name for name in reads if name not in makers and name not in given]
        for name in dict.fromkeys(missing):
            faults.add(f"node {node_label(node, index)!r}: input {name!r} is made by nothing")
        waits.append({makers[name] for name in reads if name in makers})
    return _sorted(nodes, waits, faults)


def outer_names(node: NodeProto) -> list[str]:
    """Return the names from outside that the graphs of a node read."""
    graphs = [a.g for a in node.attribute if a.HasField("g")]
    graphs += [g for a in node.attribute for g in a.graphs]
    return [name for graph in graphs for name in _free(graph)]


def _free(graph: GraphProto) -> Iterator[str]:
    own = {v.name for v in graph.input} | {t.name for t in graph.initializer}
    own |= {name for node in graph.node for name in node.output}
    for node in graph.node:
        yield from (n for n in (*node.input, *outer_names(node)) if n and n not in own)
    yield from (v.name for v in graph.output if v.name not in own)


def _makers(nodes: Sequence[NodeProto], given: Container[str], faults: Faults) -> dict[str, int]:
    makers: dict[str, int] = {}
    for index, node in enumerate(nodes):
        for name in filter(None, node.output):
            if name in makers or name in given:
                faults.add(f"node {node_label(node, index)!r}: {name!r} is made twice")
            makers.setdefault(name, index)
    return makers


def _sorted(nodes: Sequence[NodeProto], waits: list[set[int]], faults: Faults) -> list[int]:
    """Sort by dependency; among those that are ready the first in the file goes first."""
    readers: dict[int, list[int]] = {}
    for index, needed in enumerate(waits):
        for maker in needed:
            readers.setdefault(maker, []).append(index)
    left = [len(needed) for needed in waits]
    ready = [index for index, count in enumerate(left) if not count]
    heapify(ready)
    order: list[int] = []
    while ready:
        index = heappop(ready)
        order.append(index)
        for reader in readers.get(index, ()):
            left[reader] -= 1
            if not left[reader]:
                heappush(ready, reader)
    if len(order) < len(nodes):
        cycle = _cycle(waits, {*range(len(nodes))}.difference(order))
        names = " -> ".join(repr(node_label(nodes[i], i)) for i in cycle)
        faults.add(f"the nodes {names} need each other in a circle")
    return order


def _cycle(waits: list[set[int]], stuck: set[int]) -> list[int]:
    """Return one circle among nodes that wait for each other, in the order of the data."""
    path: list[int] = []
    at = min(stuck)
    while at not in path:
        path.append(at)
        at = min(waits[at] & stuck)
    return [*path[path.index(at) :], at][::-1]
