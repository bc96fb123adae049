"""What each task of a cluster does in a step, as graphs: what is sent and received are nodes."""

from __future__ import annotations

from collections.abc import Iterator

from ...distributed.cut import Cut, TaskPart
from ...distributed.places import device_of
from ...formats.messages import GraphDef
from ...graph.func_graph import FuncGraph
from ...graph.graph import Graph, GraphTensor, Operation
from .graph_messages import add_node
from .partitions import add_functions, add_signal, label


def cut_graphs(cut: Cut) -> Iterator[GraphDef]:
    """Give the graph of each task: a `_Send` for each value and task that gets it, a `_Recv` there.

    What is fed is an `_Arg`. An operation that several tasks carry out is on each of them a node
    of its own type, which takes what the task sends to the others and knows of it.
    """
    for part in cut.parts.values():
        yield PartMessage(cut, part).message


class PartMessage:
    """The graph of a task's part, as a message."""

    def __init__(self, cut: Cut, part: TaskPart) -> None:
        self.cut, self.part, self.message = cut, part, GraphDef()
        self.device = device_of(part.task)
        self.tensors: dict[str, GraphTensor] = {t.name: t for t in cut.makers}
        self.tensors |= {t.name: t for t in cut.plan.feeds}
        self.signals: set[str] = set()
        self.ops: dict[str, Operation] = {op.name: op for op in cut.plan.ops}
        graph = part.graph
        assert isinstance(graph, Graph), "it was made here"
        slots = {f"{t.op.name}/_{t.value_index}": t for t in self.tensors.values()}
        functions: dict[FuncGraph, str] = {}
        for op in graph.operations:
            if op.name in slots:
                self.add_slot(op.name, slots[op.name])
            else:
                self.add(op, functions)
        self.add_messages()
        add_functions(self.message, functions)

    def add(self, op: Operation, functions: dict[FuncGraph, str]) -> None:
        """Add an operation of the task, which may wait for others elsewhere."""
        node = self.message.node.add()
        add_node(node, op, functions)
        node.device = self.device
        whole = self.ops.get(op.name)
        for before in () if whole is None else whole.control_inputs:
            if self.cut.places.get(before) not in (None, self.part.task):
                node.input.append(f"^{before.name}/_wait")

    def add_slot(self, name: str, tensor: GraphTensor) -> None:
        """Add what stands for a value that is fed, received, or made with other tasks."""
        made_by = self.cut.makers.get(tensor)
        if made_by in self.cut.split and self.cut.places[made_by] == self.part.task:
            node = self.message.node.add(name=name, op=made_by.type, device=self.device)
            label(node, tensor.name, tensor, (self.device, self.device))
            return
        fed = tensor.name in self.part.fed or made_by is None
        node = self.message.node.add(name=name, op="_Arg" if fed else "_Recv", device=self.device)
        source = self.device if fed else device_of(self.cut.places[self.cut.makers[tensor]])
        label(node, tensor.name, tensor, (source, self.device))
        after = self.cut.delays.receives.get((tensor, self.part.task))
        if after is not None:
            node.input.append(f"^{after.name}")

    def add_messages(self) -> None:
        """Add what is sent, and what is waited for without a value."""
        for segment in self.part.segments:
            for name, task in segment.sends:
                node = self.message.node.add(
                    name=f"{name.strip('^').replace(':', '/_')}/send/{task.replace(':', '_')}",
                    op="_Send",
                    device=self.device,
                )
                own = segment.fetches.get(name) or self.own(name)
                node.input.append(own.removesuffix(":0"))
                label(node, name, self.tensors.get(name), (self.device, device_of(task)))
            for name, task in segment.receives.items():
                if name[0] == "^":
                    node = self.message.node.add(
                        name=f"{name[1:]}/_wait", op="_Recv", device=self.device
                    )
                    label(node, name, None, (device_of(task), self.device))

    def own(self, name: str) -> str:
        """Return what is sent that no plan gives: that an operation has ended, or a slot."""
        if name[0] == "^":
            signal = f"{name[1:]}/ctrl"
            if signal not in self.signals:
                self.signals.add(signal)
                add_signal(self.message, name[1:], signal, self.device)
            return signal
        tensor = self.tensors[name]
        return f"{tensor.op.name}/_{tensor.value_index}"
