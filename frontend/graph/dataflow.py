"""Choices and loops from the nodes that machines of dataflow make them of.

    Enter -> Merge -> Switch -> Exit             a `While` of the graphs between them
               ^        |                  =>
               +- NextIteration <- body

A loop is the Merges that NextIterations of one frame lead back to, with the LoopCond that their
Switches ask; a choice is the Merges whose inputs stand behind different sides of Switches of one
predicate. Loops run in this form only; what has no such form is refused by the name of a node.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..values.run_errors import InvalidArgumentError
from .control_flow import ControlFlowError, GraphChoice, GraphLoop
from .execute import RECOVERY
from .func_graph import PLACEHOLDER, FuncGraph
from .graph import Graph, GraphTensor, Operation

LOOP_NODES = frozenset({"Enter", "Exit", "NextIteration", "LoopCond"})


def refused(op: Operation, what: str) -> ControlFlowError:
    """Return the error for a node that has no structured form."""
    return ControlFlowError(f"node {op.name!r}: {op.type} {what}", location=op.source)


@dataclass
class LoopFrame:
    """One loop: what it carries, each with its nodes, in the order of the Enters."""

    name: str
    merges: list[Operation] = field(default_factory=list)
    switches: dict[Operation, Operation] = field(default_factory=dict)
    """By Merge."""
    exits: dict[Operation, Operation] = field(default_factory=dict)
    """By Switch."""
    condition: Operation | None = None

    def enter(self, merge: Operation) -> Operation:
        """Return the Enter of a carried value."""
        return next(t.op for t in merge.inputs if t.op.type == "Enter")

    def following(self, merge: Operation) -> Operation:
        """Return the NextIteration of a carried value."""
        return next(t.op for t in merge.inputs if t.op.type == "NextIteration")


def recover_loops(
    ops: Sequence[Operation], fetches: Sequence[GraphTensor | Operation]
) -> list[Operation]:
    """Return operations with a `While` for each loop made of single nodes."""
    if not any(op.type in LOOP_NODES for op in ops):
        return list(ops)
    left = list(ops)
    frames = find_frames(ops)
    reach = with_nested(frames, left)
    for frame in frames:
        others = [inner for name, inner in reach.items() if name != frame.name]
        if not any(
            frame.merges[0] in inner for inner in others
        ):  # a loop inside of another is found in that one's body
            left = replaced(frame, reach[frame.name], left)
    for op in left:
        check_frames(op)
    for op in left:
        if op.type in LOOP_NODES and not (op.type == "Enter" and op.attributes["is_constant"]):
            raise refused(op, "belongs to no loop")
    made = {tensor for op in left for tensor in op.outputs}
    for fetch in fetches:
        if isinstance(fetch, GraphTensor) and fetch not in made and fetch.op in set(ops):
            raise refused(fetch.op, "has a value in each trip of a loop, expected what is outside")
    return in_order(left)


def check_frames(op: Operation) -> None:
    """Raise where an operation takes tensors that came into different loops."""
    names = {t.op.attributes["frame_name"]: t.op.name for t in op.inputs if t.op.type == "Enter"}
    if len(names) > 1:
        places = " and ".join(f"{node!r} is in frame {name!r}" for name, node in names.items())
        raise InvalidArgumentError(f"node {op.name!r} has inputs from different frames: {places}")


def find_frames(ops: Sequence[Operation]) -> list[LoopFrame]:
    """Return the loops by the names that their Enters give."""
    known = set(ops)
    frames: dict[str, LoopFrame] = {}
    for op in ops:
        sources = [t.op.type for t in op.inputs]
        if op.type == "Merge" and "NextIteration" in sources:
            if sorted(sources) != ["Enter", "NextIteration"]:
                raise refused(op, f"of a loop takes {' and '.join(sources)}, expected an Enter "
                              "and a NextIteration")  # fmt: skip
            enter = next(t.op for t in op.inputs if t.op.type == "Enter")
            name = enter.attributes["frame_name"]
            frames.setdefault(name, LoopFrame(name)).merges.append(op)
        elif "NextIteration" in sources:
            raise refused(op, "takes a NextIteration, expected a Merge there")
    for frame in frames.values():
        frame.merges.sort(key=lambda merge: frame.enter(merge).index)
        for merge in frame.merges:
            take_switch(frame, merge, known)
    return list(frames.values())


def take_switch(frame: LoopFrame, merge: Operation, known: set[Operation]) -> None:
    """Find the Switch of a carried value, and what it asks."""
    switches = [op for op in merge.outputs[0].users if op.type == "Switch" and op in known
                and op.inputs[0] is merge.outputs[0]]  # fmt: skip
    if len(switches) != 1:
        raise refused(merge, f"of a loop goes to {len(switches)} Switches, expected one")
    (switch,) = switches
    condition = switch.inputs[1].op
    if condition.type != "LoopCond":
        raise refused(switch, f"of a loop asks {condition.type}, expected a LoopCond")
    if frame.condition not in (None, condition):
        raise refused(switch, "asks another LoopCond than the rest of its loop")
    frame.condition = condition
    frame.switches[merge] = switch
    for user in switch.outputs[0].users:
        if user in known:
            if user.type != "Exit":
                raise refused(user, "uses what a loop leaves with, expected an Exit before it")
            frame.exits[switch] = user


def inside_of(frame: LoopFrame, ops: Sequence[Operation]) -> set[Operation]:
    """Return what depends on the carried values, up to the loop's own Exits."""
    known, own = set(ops), set(frame.exits.values())
    found: set[Operation] = set(own)
    waiting = list(frame.merges)
    while waiting:
        op = waiting.pop()
        if op not in found and op in known:
            found.add(op)
            waiting += [user for tensor in op.outputs for user in tensor.users]
    return found


def with_nested(frames: Sequence[LoopFrame], ops: Sequence[Operation]) -> dict[str, set[Operation]]:
    """Return what is inside of each loop; of a loop that is partly inside, all is."""
    reach = {frame.name: inside_of(frame, ops) for frame in frames}
    changed = True
    while changed:
        before = {name: len(inside) for name, inside in reach.items()}
        for inside in reach.values():
            for frame in frames:
                if reach[frame.name] is not inside and not inside.isdisjoint(frame.merges):
                    inside.update(reach[frame.name], map(frame.enter, frame.merges))
        changed = before != {name: len(inside) for name, inside in reach.items()}
    return reach


def replaced(frame: LoopFrame, inside: set[Operation], ops: Sequence[Operation]) -> list[Operation]:
    """Return operations with a `While` in place of one loop."""
    assert frame.condition is not None, "every Switch of a loop asks a LoopCond"
    graph = frame.merges[0].graph
    values = [merge.outputs[0] for merge in frame.merges]
    goes_on = [frame.switches[merge].outputs[1] for merge in frame.merges]
    test = Copy(graph, f"the test of {frame.name!r}", inside)
    test.arguments([values])
    test.finish([frame.condition.inputs[0]])
    body = Copy(graph, f"the body of {frame.name!r}", inside)
    body.arguments([goes_on, values])
    body.finish([frame.following(merge).inputs[0] for merge in frame.merges])
    enters = [frame.enter(merge) for merge in frame.merges]
    kind = GraphLoop(test.graph, body.graph, [value.spec for value in values])
    starts = [enter.inputs[0] for enter in enters]
    taken = [*test.graph.captures, *body.graph.captures]
    made = stand_in(graph, frame.name, kind, [*starts, *taken])  # type: ignore[list-item]
    for number, merge in enumerate(frame.merges):
        leaving = frame.exits.get(frame.switches[merge])
        if leaving is not None:
            made.outputs[number] = leaving.outputs[0]
    return [op for op in ops if op not in inside and op not in enters] + [made]


def stand_in(
    graph: Graph, name: str, kind: GraphChoice | GraphLoop, inputs: Sequence[GraphTensor]
) -> Operation:
    """Return an operation that is in no graph's list."""
    specs = kind.infer([x.spec for x in inputs], {})
    return graph.operation_class(graph, name, kind, inputs, {}, specs)


class Copy:
    """A graph made of a part of another one."""

    def __init__(self, outer: Graph, label: str, inside: Iterable[Operation]) -> None:
        self.graph = FuncGraph(label, outer, outer.tensor_class)
        self.inside = set(inside)
        self.known: dict[GraphTensor, GraphTensor] = {}
        self.makers: Mapping[GraphTensor, Operation] = {}
        """Who gives a tensor, where that is not the operation that it says."""

    def arguments(self, columns: Sequence[Sequence[GraphTensor]]) -> None:
        """Add an argument for each tensor, which stands for those in the same place, too."""
        for row in zip(*columns, strict=True):
            made = self.graph.argument(row[0].spec, "carried")
            self.known.update(dict.fromkeys(row, made))

    def finish(self, targets: Sequence[GraphTensor], more: Sequence[GraphTensor] = ()) -> None:
        """Copy what the targets need, and end the graph; it gives `more` behind them."""
        needed = self.needed(targets)
        behind: list[tuple[Operation, int, GraphTensor]] = []
        for op in in_order(needed, self.makers):
            inputs = []
            for place, tensor in enumerate(op.inputs):
                if tensor not in self.known and self.maker(tensor) in needed:
                    behind.append((op, place, tensor))
                    tensor = op.inputs[0]  # noqa: PLW2901  (the way back of a loop is set later)
                inputs.append(self.tensor(tensor))
            self.copy(op, inputs)
        for op, place, tensor in behind:
            self.known[op.outputs[0]].op.update_input(place, self.known[tensor])
        self.graph.finish([*map(self.tensor, targets), *more])

    def copy(self, op: Operation, inputs: Sequence[GraphTensor]) -> None:
        """Add an operation of the same kind."""
        specs = [tensor.spec for tensor in op.outputs]
        made = self.graph.add(op.kind, inputs, dict(op.attributes), specs=specs, name=op.type)
        made.source = op.source
        self.known.update(zip(op.outputs, made.outputs, strict=True))

    def maker(self, tensor: GraphTensor) -> Operation:
        """Return the operation that gives a tensor."""
        return self.makers.get(tensor, tensor.op)

    def needed(self, targets: Sequence[GraphTensor]) -> set[Operation]:
        """Return the operations inside that targets depend on."""
        found: set[Operation] = set()
        waiting = list(targets)
        while waiting:
            tensor = waiting.pop()
            op = self.maker(tensor)
            if tensor in self.known or op not in self.inside or op in found:
                continue
            found.add(op)
            waiting += op.inputs
        return found

    def tensor(self, tensor: GraphTensor) -> GraphTensor:
        """Return what stands for a tensor; what comes from outside is taken as it is."""
        if tensor not in self.known:
            made = self.graph.add(PLACEHOLDER, (), {"spec": tensor.spec}, name="captured")
            self.graph.captured[id(tensor)] = (tensor, made.outputs[0])
            self.known[tensor] = made.outputs[0]
        return self.known[tensor]


def in_order(
    ops: Iterable[Operation], makers: Mapping[GraphTensor, Operation] | None = None
) -> list[Operation]:
    """Return operations so that each stands behind those it depends on; a Merge may not."""
    listed = sorted(ops, key=lambda op: op.index)
    makers = makers or {t: op for op in listed for t in op.outputs}
    known, done = set(listed), dict[Operation, None]()
    for first in listed:
        waiting = [(first, False)]
        opened: set[Operation] = set()
        while waiting:
            op, ready = waiting.pop()
            if ready:
                done.setdefault(op)
            elif op not in done and op not in opened:
                opened.add(op)
                waiting.append((op, True))
                before = [makers.get(tensor, tensor.op) for tensor in op.inputs]
                before = [each for each in before if each.type != "NextIteration"]
                waiting += [(each, False) for each in (*op.control_inputs, *before)
                            if each in known]  # fmt: skip
    return list(done)


# -- choices ------------------------------------------------------------------------------------


def recover_choices(
    ops: Sequence[Operation], fetches: Sequence[GraphTensor | Operation]
) -> list[Operation]:
    """Return operations with an `If` for each Merge of two ways that Switches part."""
    if not any(op.type in ("Switch", "Merge") for op in ops):
        return list(ops)
    left = list(ops)
    for merge in [op for op in ops if op.type == "Merge"]:
        made = choice_of(merge, left)
        left = in_order([made if op is merge else op for op in left])
    makers = {tensor: op for op in left for tensor in op.outputs}
    needed: set[Operation] = set()
    waiting = [makers[f] if isinstance(f, GraphTensor) else f for f in fetches
               if not isinstance(f, GraphTensor) or f in makers]  # fmt: skip
    waiting += [op for op in left if op.kind.stateful]
    while waiting:
        op = waiting.pop()
        if op not in needed:
            needed.add(op)
            waiting += [makers[tensor] for tensor in op.inputs if tensor in makers]
            waiting += [each for each in op.control_inputs if each in set(left)]
    for op in left:
        if op in needed and op.type in ("Switch", "Merge"):
            raise refused(op, "is used without a Merge of both ways")
    return [op for op in left if op in needed]


def choice_of(merge: Operation, ops: Sequence[Operation]) -> Operation:
    """Return the choice that a Merge ends."""
    makers = {tensor: op for op in ops for tensor in op.outputs}
    if len(merge.inputs) != 2:
        raise refused(merge, f"takes {len(merge.inputs)} ways, expected two")
    ways = [Way.to(tensor, makers, merge) for tensor in merge.inputs]
    if ways[0].predicate is not ways[1].predicate or ways[0].side == ways[1].side:
        raise refused(merge, "takes two ways that no Switch parts")
    branches: list[Any] = [None, None]
    for place, way in enumerate(ways):
        copy = Copy(merge.graph, "a branch", way.inside)
        copy.makers = makers
        for switch in way.switches:
            copy.known[switch.outputs[way.side]] = copy.tensor(switch.inputs[0])
        index = copy.graph.constant(np.array(place, np.int32))
        copy.finish([merge.inputs[place]], [index])
        branches[way.side] = copy.graph
    captures = [tensor for branch in branches for tensor in branch.captures]
    made = stand_in(
        merge.graph, merge.name, GraphChoice(branches, "If"), [ways[0].predicate, *captures]
    )
    made.outputs, made.index = merge.outputs, merge.index
    return made


@dataclass
class Way:
    """What leads from one side of Switches to a Merge."""

    predicate: GraphTensor
    side: int
    switches: list[Operation]
    inside: set[Operation]

    @classmethod
    def to(
        cls, tensor: GraphTensor, makers: Mapping[GraphTensor, Operation], merge: Operation
    ) -> Way:
        """Go back from an input of a Merge to the Switches."""
        found: dict[Operation, None] = {}
        starts: list[tuple[Operation, int]] = []
        waiting = [tensor]
        while waiting:
            one = waiting.pop()
            op = makers.get(one)
            if op is not None and op.type == "Switch":
                starts.append((op, one.value_index))
            elif op is not None and op not in found:
                found[op] = None
                waiting += op.inputs
        asked = {(op.inputs[1], side) for op, side in starts}
        if len(asked) != 1:
            raise refused(merge, f"is reached from {len(asked)} sides of Switches, expected one")
        ((predicate, side),) = asked
        switches = list(dict.fromkeys(op for op, _ in starts))
        behind: set[Operation] = set()
        for op in in_order(found, makers):
            sources = [makers.get(x) for x in op.inputs]
            if any(each in behind or each in switches for each in sources):
                behind.add(op)
        return cls(predicate, side, switches, behind)


RECOVERY.choices, RECOVERY.loops = recover_choices, recover_loops
