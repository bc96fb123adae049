"""Parts of plans that are run: segment by segment, and what several tasks carry out together.

A choice or a loop that is split between tasks has a home:

    home        has the operands, and gets the results       worker:0   holds i, asks whether i < n
                                                             worker:1   holds x, computes its next
    trip by trip: who holds a value sends it to those who use it; who decides tells all others

A value that a loop carries stays where its next one is computed. All tasks that take part go round
together, and end when they are told so; then each says to the home that it has ended.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from ...ir.op import Array
from ...runtime.comm.halves import refilled, upper_halves
from ..eager.recorded import unboxed
from ..function.session import Session
from ..graph.execute import Plan, Wishes
from ..graph.frame import Frame, ReadValues, Store
from ..graph.graph import Graph
from ..graph.variables import Held
from .cut import Inner, Split, TaskPart, TaskSegment

Values = dict[int, object]
"""Values by their places among the operands, of those that are here."""


class Talk(Protocol):
    """Sends values to other tasks, and receives theirs, in one round of one operation."""

    task: str

    def send(self, name: str, value: object, task: str) -> None:
        """Send a value to a task."""

    def receive(self, name: str, task: str) -> object:
        """Return the value that a task sends under a name."""

    def offer(self, name: str, value: object, task: str) -> None:
        """Send a value to a task as soon as it asks for it."""

    def ask(self, name: str, task: str) -> None:
        """Let a task send what it offers under a name."""

    def within(self, name: str) -> Talk:
        """Return the same for something inside, whose names are its own."""


class RunningPart:
    """A part of a plan, or of a graph inside of an operation, ready to be run."""

    def __init__(
        self,
        store: Store,
        part: TaskPart,
        graph_of: Callable[[TaskPart], Graph],
        wishes: Wishes | None = None,
    ) -> None:
        """Make it ready; a part inside of another one is compiled by the `wishes` of that."""
        self.wishes = wishes if wishes is not None else part.wishes
        graph = graph_of(part)
        self.session = Session(graph)
        self.session.store = store
        self.segments, self.fetched = part.segments, list(part.fetched)
        self.plans = [self.plan(graph, segment) for segment in part.segments]

        def inner(each: Inner) -> RunningInner:
            made = (
                None if each.part is None else RunningPart(store, each.part, graph_of, self.wishes)
            )
            return RunningInner(each, made)

        self.splits = [
            [RunningSplit(split, [inner(each) for each in split.inners]) for split in each.splits]
            for each in part.segments
        ]

    def plan(self, graph: Graph, segment: TaskSegment) -> Plan:
        """Return the plan of a segment."""
        tensor, operation = graph.get_tensor_by_name, graph.get_operation_by_name
        made = Plan(
            [tensor(name) for name in segment.fetches.values()],
            [tensor(name) for name in segment.feeds.values()],
            [operation(name) for name in segment.ops],
        )
        made.wishes = self.wishes
        return made

    def run(
        self, given: Mapping[str, object], talk: Talk, noted: ReadValues | None = None
    ) -> dict[str, object]:
        """Carry out all segments in order; return what the caller gets, by name.

        What is read, and is to be told to who runs the same once more, is `noted`.
        """
        known: dict[str, object] = dict(given)
        told: dict[str, ReadValues] = {}
        for segment, plan, splits in zip(self.segments, self.plans, self.splits, strict=True):
            for name, task in segment.receives.items():
                known[name] = talk.receive(name, task)
            if plan.ops:
                values: list[Array] = [np.asarray(known[name]) for name in segment.feeds]
                made = self.made(segment, plan, values, told, noted)
                known |= zip(segment.fetches, made, strict=False)
            for split in splits:
                known |= split.run(known, talk, told, noted)
            for name, task in segment.sends:
                value = None if name[0] == "^" else known[name]
                value = upper_halves(value) if (name, task) in segment.cut else value
                (talk.offer if (name, task) in segment.held else talk.send)(name, value, task)
            for name, task in segment.asks:
                talk.ask(name, task)
        return {name: known[name] for name in self.fetched}

    def made(
        self,
        segment: TaskSegment,
        plan: Plan,
        values: list[Array],
        told: Mapping[str, ReadValues],
        noted: ReadValues | None,
    ) -> Sequence[object]:
        """Return what a segment's plan gives.

        What it reads is known where it is carried out operation by operation.
        """
        if not segment.tells and (noted is None or not segment.notes):
            return self.session.run_plan(plan, values)
        frame = Frame(self.session.store)
        frame.noted = None if noted is None else ReadValues(noted.values, segment.notes)
        frame.again_by = {again: told[name] for again, name in segment.tells.items()}
        with nullcontext() if plan.waits or plan.calls_python else Held(plan.changed):
            return [unboxed(value) for value in plan.run(frame, values)]


@dataclass
class RunningInner:
    """A graph inside of an operation, as one task carries it out."""

    inner: Inner
    part: RunningPart | None
    """What the task does of it, if anything."""

    def run(self, values: Values, talk: Talk, noted: ReadValues | None) -> dict[str, object]:
        """Return what the task makes, or passes on, for values of the inputs that it uses."""
        given = {self.inner.inputs[place]: value for place, value in values.items()}
        return given | (self.part.run(given, talk, noted) if self.part is not None else {})


@dataclass
class RunningSplit:
    """An operation that several tasks carry out, as one of them does."""

    split: Split
    inners: list[RunningInner] = field(default_factory=list)

    def run(
        self,
        known: Mapping[str, object],
        talk: Talk,
        told: dict[str, ReadValues],
        noted: ReadValues | None = None,
    ) -> dict[str, object]:
        """Carry it out; return the results by name, at home, which is told what was read."""
        talk = talk.within(f"{self.split.name}/")
        at_home = talk.task == self.split.home
        operands = dict(enumerate(known[name] for name in self.split.operands)) if at_home else {}
        carry_out = self.loop if self.split.carried is not None else self.choice
        if not self.split.notes:
            return carry_out(operands, talk, noted)
        own = ReadValues()
        made = carry_out(operands, talk, own)
        if noted is not None:
            noted.take_in(own.values)
        told[self.split.name] = self.told_home(own, talk)
        return made

    def told_home(self, noted: ReadValues, talk: Talk) -> ReadValues:
        """Return what all tasks have noted, at home."""
        if talk.task != self.split.home:
            talk.send("noted", noted.values, self.split.home)
            return noted
        whole = ReadValues({key: [*values] for key, values in noted.values.items()})
        for task in self.split.tasks:
            if task != talk.task:
                values = talk.receive("noted", task)
                assert isinstance(values, dict), "what is noted has sources"
                whole.take_in(values)
        return whole

    def deliver(
        self, operands: Values, holders: Sequence[str], inner: Inner, first: int, talk: Talk
    ) -> Values:
        """Let those who use the inputs of a graph have them; return those that are used here.

        Input `i` is value `first + i`, and there is a task that holds each of them.
        """
        found: Values = {}
        for place, (holder, users) in enumerate(zip(holders, inner.users, strict=True)):
            name = f"{first + place}"
            if holder == talk.task:
                for user in users:
                    if user != talk.task:
                        talk.send(name, self.sent(operands[first + place]), user)
            if talk.task in users:
                here = holder == talk.task
                found[place] = operands[first + place] if here else talk.receive(name, holder)
        return found

    def sent(self, value: object) -> object:
        """Return what is sent for a value."""
        return upper_halves(value) if self.split.is_cut else value

    def decided(self, value: int, decider: str, talk: Talk) -> int:
        """Return what one task has decided; tell it, if it is this one."""
        if talk.task != decider:
            return int(np.asarray(talk.receive("way", decider)))
        for task in self.split.tasks:
            if task != decider:
                talk.send("way", value, task)
        return value

    def gathered(self, values: Values, talk: Talk) -> dict[str, object]:
        """Say to the home that this task has ended, with what it has; there, return all."""
        if talk.task != self.split.home:
            made = {place: self.sent(value) for place, value in values.items()}
            talk.send("end", made, self.split.home)
            return {}
        for task in self.split.tasks:
            if task != talk.task:
                ended = talk.receive("end", task)
                assert isinstance(ended, dict), "a task ends with the values that it has"
                values |= {place: refilled(value) for place, value in ended.items()}
        return {name: values[place] for place, name in enumerate(self.split.results)}

    def choice(self, operands: Values, talk: Talk, noted: ReadValues | None) -> dict[str, object]:
        """Carry out one of the graphs, which the first operand says, or the only one."""
        way, first = 0, 0
        if self.split.indexed:
            last, at_home = len(self.inners) - 1, talk.task == self.split.home
            asked = int(np.asarray(operands[0])) if at_home else 0
            way = self.decided(asked if 0 <= asked <= last else last, self.split.home, talk)
            first = 1 + sum(len(each.inner.inputs) for each in self.inners[:way])
        chosen = self.inners[way]
        homes = [self.split.home] * len(chosen.inner.inputs)
        given = self.deliver(operands, homes, chosen.inner, first, talk)
        return self.gathered(made_here(chosen, chosen.run(given, talk, noted), talk), talk)

    def loop(self, operands: Values, talk: Talk, noted: ReadValues | None) -> dict[str, object]:
        """Go round, until the task that has the result of the test says that it is enough."""
        count = self.split.carried or 0
        test, body = self.inners
        holders = [task for _, task in body.inner.outputs]
        fixed = [
            self.fixed(operands, count, test, talk.within("test ")),
            self.fixed(operands, len(test.inner.inputs), body, talk.within("body ")),
        ]
        start = Inner([], [[holder] for holder in holders], [])
        values = self.deliver(operands, [self.split.home] * count, start, 0, talk.within("start "))
        name, decider = test.inner.outputs[0]
        trip = 0
        while True:
            at = talk.within(f"trip {trip} test ")
            made = test.run(self.carried(values, holders, test, at) | fixed[0], at, noted)
            going = bool(np.asarray(made[name])) if talk.task == decider else False
            if not self.decided(int(going), decider, at):
                break
            at = talk.within(f"trip {trip} body ")
            made = body.run(self.carried(values, holders, body, at) | fixed[1], at, noted)
            values, trip = made_here(body, made, talk), trip + 1
        return self.gathered(values, talk)

    def carried(
        self, values: Values, holders: Sequence[str], into: RunningInner, talk: Talk
    ) -> Values:
        """Let those who use what is carried have it; return what is used here."""
        count = len(holders)
        inner = Inner(into.inner.inputs[:count], into.inner.users[:count], [])
        return self.deliver(values, holders, inner, 0, talk)

    def fixed(self, operands: Values, first: int, into: RunningInner, talk: Talk) -> Values:
        """Let those who use what stays the same have it; return what is used here."""
        count = self.split.carried or 0
        inner = Inner(into.inner.inputs[count:], into.inner.users[count:], [])
        homes = [self.split.home] * len(inner.inputs)
        found = self.deliver(operands, homes, inner, first, talk)
        return {count + place: value for place, value in found.items()}


def made_here(of: RunningInner, made: Mapping[str, object], talk: Talk) -> Values:
    """Return the outputs of a graph that this task has, by their places."""
    outputs = enumerate(of.inner.outputs)
    return {place: made[name] for place, (name, task) in outputs if task == talk.task}
