"""The graph of each device of this process in a step: what is sent and received are nodes.

    on CPU:0  a                      =>  on CPU:0  a, a/_0 = _Send(a)
    on CPU:1  b = Mul(a, a)              on CPU:1  a/_1 = _Recv(), b = Mul(a/_1, a/_1)

A value is sent once to each device that uses it. Where an operation only waits for another one, a
constant without elements is sent when that has ended. What is fed comes from the caller to each
device that uses it, as an `_Arg`; what is fetched is a `_Retval` where it was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from ...formats.messages import AttrValue, GraphDef
from ...formats.tensors import NUMBERS, number_of, to_message
from ...graph.execute import Plan
from ...graph.func_graph import FuncGraph
from ...graph.graph import GraphTensor, Operation
from ...values.devices import HOST
from .graph_messages import add_function, add_node

SIGNAL = np.zeros(0, np.float32)
"""What is sent to say that an operation has ended."""


def full_name(device: str) -> str:
    """Return the full name of a device.

    >>> full_name("cpu:0")
    '/job:localhost/replica:0/task:0/device:CPU:0'
    """
    return device if device.startswith("/") else f"{HOST}{device.upper()}"


def partition_graphs(plan: Plan, places: Mapping[Operation, str]) -> Iterator[GraphDef]:
    """Give for each device the graph of what runs there; edges between devices are sent."""
    made = Partitions(plan, places)
    for op in plan.ops:
        made.add(op)
    for index, fetch in enumerate(plan.fetches):
        if isinstance(fetch, GraphTensor):
            made.add_fetch(fetch, index)
    for graph in made.graphs.values():
        add_functions(graph, made.functions)
    yield from made.graphs.values()


class Partitions:
    """The graphs of the devices, as they grow."""

    def __init__(self, plan: Plan, places: Mapping[Operation, str]) -> None:
        self.plan, self.places = plan, places
        self.graphs: dict[str, GraphDef] = {}
        self.functions: dict[FuncGraph, str] = {}
        self.received: dict[tuple[GraphTensor | Operation, str], str] = {}
        """What has come to a device already, by the name of the node that gives it there."""
        self.messages = 0

    def add(self, op: Operation) -> None:
        """Add an operation where it runs, and what it receives."""
        here = self.places[op]
        node = self.graphs.setdefault(here, GraphDef()).node.add()
        add_node(node, op, self.functions)
        node.device = full_name(here)
        for number, tensor in enumerate(op.inputs):
            node.input[number] = self.taken(tensor, here)
        del node.input[len(op.inputs) :]
        for before in op.control_inputs:
            if before in self.places:
                node.input.append(f"^{self.waited_for(before, here)}")

    def add_fetch(self, tensor: GraphTensor, index: int) -> None:
        """Add what hands a fetched value to the caller."""
        here = next(iter(self.graphs), "cpu:0")
        if tensor not in self.plan.fed:
            here = self.places[tensor.op]
        taken = self.taken(tensor, here)
        graph = self.graphs.setdefault(here, GraphDef())
        name = f"_retval_{tensor.op.name}_{tensor.value_index}_{index}"
        node = graph.node.add(name=name, op="_Retval", device=full_name(here), input=[taken])
        node.attr["T"].type, node.attr["index"].i = number_of_type(tensor), index

    def taken(self, tensor: GraphTensor, here: str) -> str:
        """Return by what name a device takes a value, which is sent if it is made elsewhere."""
        if tensor in self.plan.fed:
            return self.fed(tensor, here)
        source = self.places[tensor.op]
        made = port(tensor)
        if source == here:
            return made
        if (tensor, here) not in self.received:
            self.received[tensor, here] = self.send(tensor, made, source, here)
        return self.received[tensor, here]

    def fed(self, tensor: GraphTensor, here: str) -> str:
        """Return the name of what gives a fed value on a device."""
        index = self.plan.feeds.index(tensor)
        name = f"_arg_{tensor.op.name}_{tensor.value_index}_{index}"
        if (tensor, here) not in self.received:
            self.received[tensor, here] = name
            device = full_name(here)
            graph = self.graphs.setdefault(here, GraphDef())
            node = graph.node.add(name=name, op="_Arg", device=device)
            label(node, tensor.name, tensor, (full_name("cpu:0"), device))
            node.attr["T"].type, node.attr["index"].i = number_of_type(tensor), index
        return name

    def waited_for(self, op: Operation, here: str) -> str:
        """Return the name of what has ended on a device when an operation has, there or not."""
        source = self.places[op]
        if source == here:
            return op.name
        if (op, here) not in self.received:
            signal = self.numbered(f"{op.name}/ctrl")
            add_signal(self.graphs[source], op.name, signal, full_name(source))
            come = self.send(op, signal, source, here)
            name = self.numbered(op.name)
            node = self.graphs[here].node.add(
                name=name, op="Identity", device=full_name(here), input=[come]
            )
            node.attr["T"].type = number_of_type(None)
            self.received[op, here] = name
        return self.received[op, here]

    def send(self, what: GraphTensor | Operation, made: str, source: str, here: str) -> str:
        """Send what a node has made; return the name of what receives it."""
        name = what.op.name if isinstance(what, GraphTensor) else what.name
        tensor = what if isinstance(what, GraphTensor) else None
        ends = (full_name(source), full_name(here))
        out = self.graphs[source].node.add(
            name=self.numbered(name), op="_Send", device=ends[0], input=[made]
        )
        label(out, what.name, tensor, ends)
        into = self.graphs[here].node.add(name=self.numbered(name), op="_Recv", device=ends[1])
        label(into, what.name, tensor, ends)
        return str(into.name)

    def numbered(self, name: str) -> str:
        """Return a name that nothing else has."""
        self.messages += 1
        return f"{name}/_{self.messages - 1}"


def port(tensor: GraphTensor) -> str:
    """Return how nodes call what they take."""
    return f"{tensor.op.name}:{tensor.value_index}" if tensor.value_index else tensor.op.name


def number_of_type(tensor: GraphTensor | None) -> int:
    """Return the number that a type has in messages; that of a signal where there is no tensor."""
    if tensor is None:
        return number_of(SIGNAL.dtype)
    return NUMBERS.get(str(tensor.spec.dtype), 0)


def add_signal(graph: GraphDef, op: str, name: str, device: str) -> None:
    """Add the constant that is there when an operation has ended."""
    node = graph.node.add(name=name, op="Const", device=device, input=[f"^{op}"])
    node.attr["dtype"].type = number_of_type(None)
    node.attr["value"].CopyFrom(AttrValue(tensor=to_message(SIGNAL)))


def label(node: Any, name: str, tensor: GraphTensor | None, ends: tuple[str, str]) -> None:
    """Say on a node what it sends or receives, of which type, from where to where."""
    node.attr["tensor_name"].s = name.encode()
    node.attr["T" if node.op == "_Send" else "tensor_type"].type = number_of_type(tensor)
    node.attr["send_device"].s, node.attr["recv_device"].s = (end.encode() for end in ends)
    if node.op in ("_Send", "_Recv"):
        node.attr["client_terminated"].b = False


def add_functions(graph: GraphDef, functions: dict[FuncGraph, str]) -> None:
    """Add the functions that nodes of a graph call."""
    for inner, name in [*functions.items()]:
        add_function(graph.library.function.add(), inner, name, functions)
