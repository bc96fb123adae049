"""A task of a cluster: it keeps variables and queues, and carries out its parts of steps.

    register    a part of a plan, once       run      a step of it: one message for each task
    ask         a value may come now         abort    a step is given up by all
    done        how the part of a step ended
    ping, pong  whether a task that says nothing is still there
    leave       a session has ended, and its parts are not run any more
    reset       what is in containers is forgotten
    joined, bye whether a task still begins steps

A few threads listen in turn, and carry the steps out (`crew`). Tasks are the ranks of a world, in
order.
"""

from __future__ import annotations

import itertools
import os
import threading
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence, Set
from copy import copy
from functools import partial
from typing import Any

from ...errors import GravureError
from ...ir.op import Array
from ...runtime.comm.halves import refilled
from ...runtime.comm.mailbox import Mailbox
from ...runtime.comm.protocol import (
    NAPS,
    SPINS,
    Comm,
    LateError,
    Wait,
    WorldError,
    patience,
)
from ...runtime.deadline import DEADLINE, Cancellation, GivenUpError
from ..function.graph_data import NodeReader, VariableData, empty_data
from ..graph.frame import Store
from ..graph.graph import Graph, dims_or_none
from ..graph.variables import VariableState
from ..values import run_errors
from ..values.run_errors import AbortedError, InvalidArgumentError, OpError
from .crew import Crew
from .cut import TaskPart
from .kept import KeptValues
from .running import RunningPart

SessionKey = tuple[int, int]
"""The rank that a session is of, and its number there."""
States = dict[tuple[str, str], VariableState]
"""Variables by container and name."""
PartKey = tuple[int, int, int]
"""The session, and the plan of which a task has a part."""
Step = tuple[int, int]
"""The rank that has begun a step, and its number there."""
MARKS = 1000
"""Of how many steps that were given up is taken note, so that messages which come late for one are
let go; a step that goes on here is noted as long as it does."""
WORDS = ("register", "run", "abort", "ask", "eager", "drop", "leave", "reset")
"""What tasks are told to do."""
OfferKey = tuple[str, Step, str]
"""The key of the message with a value: of which step, and its name."""
Message = tuple[Any, Any]
"""What has come: its key, which begins with a word, and what belongs to it."""


class StepTalk:
    """What a task says and hears in one step."""

    def __init__(self, of: Task, step: Step, prefix: str = "") -> None:
        self.of, self.step, self.prefix, self.task = of, step, prefix, of.name

    def send(self, name: str, value: object, task: str) -> None:
        """Send a value to a task."""
        key = ("value", self.step, f"{self.prefix}{name}")
        self.of.box.send(key, value, self.of.ranks[task])

    def receive(self, name: str, task: str) -> object:
        """Return the value that a task sends under a name."""
        key = ("value", self.step, f"{self.prefix}{name}")
        return refilled(self.of.received(key, self.step, [task])[0])

    def offer(self, name: str, value: object, task: str) -> None:
        """Send a value to a task as soon as it asks for it."""
        key = ("value", self.step, f"{self.prefix}{name}")
        self.of.offer(key, value, self.of.ranks[task])

    def ask(self, name: str, task: str) -> None:
        """Let a task send what it offers under a name."""
        key = ("value", self.step, f"{self.prefix}{name}")
        self.of.box.send(("ask", self.step), key, self.of.ranks[task])

    def within(self, name: str) -> StepTalk:
        """Return the same for something inside, whose names are its own."""
        return StepTalk(self.of, self.step, f"{self.prefix}{name}")


class Task:
    """A task of a cluster, which the process is."""

    def __init__(self, comm: Comm, names: Sequence[str]) -> None:
        if len(names) != comm.size:
            raise WorldError(
                f"the cluster has {len(names)} tasks, and the world of {comm.kind} {comm.size} "
                f"ranks: tasks are ranks, in order: {', '.join(names)}",
                hint="gravure launch --cluster ps=1,worker=2 program.py",
            )
        self.comm, self.names = comm, list(names)
        self.ranks = {name: rank for rank, name in enumerate(names)}
        self.name = self.names[comm.rank]
        self.box = Mailbox(comm)
        self.store = Store()
        self.store.by_name, self.store.containers = True, {}
        self.stores: dict[SessionKey, Store] = {}
        """By session: the store, with counts of its own."""
        self.states: States = {}
        self.isolated: dict[SessionKey, States] = {}
        """By session that shares nothing with others: the variables that it has."""
        self.parts: dict[PartKey, RunningPart | GravureError] = {}
        """By rank, session and plan: what this task does in its steps."""
        self.registered = threading.Condition()
        self.aborted: dict[Step, str] = {}
        self.going: dict[Step, Cancellation] = {}
        """The steps that are carried out here."""
        self.heard: dict[int, float] = {}
        self.passive: set[int] = set()
        """The ranks that begin no steps any more."""
        self.ends: list[Callable[[], None]] = []
        """What is done when it ends."""
        self.messages = 0
        """How many steps of others it was told to run."""
        self.offers: dict[tuple[OfferKey, int], object] = {}
        """What is sent to a rank when it asks for it."""
        self.asked: set[tuple[OfferKey, int]] = set()
        """What ranks have asked for before it was there."""
        self.gone: deque[tuple[SessionKey, Set[str]]] = deque()
        """Sessions of this task that nobody has any more, and the tasks that are to be told."""
        self.config: object = None
        """What its sessions are told that are told nothing themselves."""
        self.numbers = itertools.count(1)
        self.lock = threading.Lock()
        self.kept = KeptValues(self.store, self.bind, self.run_named)
        for word in (*WORDS, "ping", "pong", "bye"):
            self.box.handlers[word] = getattr(self, f"on_{word}")
        self.crew = Crew(self.box)
        self.crew.start()

    # -- what others ask for

    def on_register(self, source: int, message: Message) -> None:
        """Keep a part of a plan; an error is told when it is to run."""
        (_, key), part = message
        try:
            store = self.store_of(key[:2], isolated=part.isolated)
            make = self.maker_of(key[:2])
            made: RunningPart | GravureError = RunningPart(store, part, make)
        except GravureError as error:
            made = error
        with self.registered:
            self.parts[key] = made
            self.registered.notify_all()

    def store_of(self, session: SessionKey, *, isolated: bool = False) -> Store:
        """Return the store as a session sees it: its draws and its own queues are for it alone.

        One that is isolated has all else for itself, too.
        """
        with self.lock:
            if session not in self.stores:
                made = self.stores[session] = Store() if isolated else copy(self.store)
                made.draws, made.own = {}, {}
                if isolated:
                    made.by_name, made.containers = True, {}
                    self.isolated[session] = {}
            return self.stores[session]

    def maker_of(self, session: SessionKey) -> Callable[[TaskPart], Graph]:
        """Return what makes the graphs of a session, of the variables that it sees."""
        return partial(self.graph_of, states=self.isolated.get(session))

    def on_leave(self, source: int, message: Message) -> None:
        """Let go what belongs to a session that has ended."""
        self.forget_session(message[1])

    def forget_session(self, session: SessionKey) -> None:
        """Let go the counts of a session, and its parts of plans; variables and queues stay."""
        with self.lock:
            self.stores.pop(session, None)
            self.isolated.pop(session, None)
        with self.registered:
            for key in [each for each in self.parts if each[:2] == session]:
                del self.parts[key]

    def on_reset(self, source: int, message: Message) -> None:
        """Forget what is in containers."""
        self.clear(message[1])

    def clear(self, containers: Sequence[str] | None) -> None:
        """Forget what is in containers here, and which variables there were."""
        self.store.reset(containers)
        with self.lock:
            names = [""] if containers is None else containers
            for key in [each for each in self.states if each[0] in names]:
                del self.states[key]

    def reset(self, containers: Sequence[str] | None) -> None:
        """Let all tasks forget what is in containers, before they do what they are told next."""
        self.clear(containers)
        for name in self.names:
            if name != self.name:
                self.box.send(("reset", 0), containers, self.ranks[name])

    def graph_of(self, part: TaskPart, states: States | None = None) -> Graph:
        """Return the graph of a part: as it is, or made anew where it is told as data."""
        told = part.graph
        if isinstance(told, Graph):
            return told
        made = Graph()
        reader = NodeReader(told.data, partial(self.bind, states=states))
        for name, op in reader.add(made, told.data["nodes"]).items():
            op.source = told.sources.get(name, "")
        return made

    def part(self, key: PartKey, step: Step) -> RunningPart:
        """Return a part of a plan, which another thread may be making, for a step."""
        with self.registered:
            there = lambda: key in self.parts or step in self.aborted  # noqa: E731
            self.registered.wait_for(there, patience())
            if key not in self.parts and step in self.aborted:  # (its session was closed)
                raise AbortedError(f"the step was given up: {self.aborted[step]}")
            found = self.parts[key]
        if isinstance(found, GravureError):
            raise found
        return found

    def bind(self, name: str, entry: VariableData, states: States | None = None) -> VariableState:
        """Return the variable of a name, which graphs of all sessions share, or of some states."""
        spec = NodeReader(empty_data(), self.bind).spec(entry["spec"])
        key = (entry["container"], entry["name"])
        with self.lock:
            made = VariableState(entry["name"], spec, container=entry["container"])
            found = (self.states if states is None else states).setdefault(key, made)
        if found.spec.dtype != spec.dtype or dims_or_none(found.spec.shape) != dims_or_none(
            spec.shape
        ):
            raise InvalidArgumentError(
                f"variable {found.name!r} is {found.spec} on {self.name}, and {spec} in the graph "
                "of a session"
            )
        return found

    def on_run(self, source: int, message: Message) -> None:
        """Let a part of a step be run; tell how it ended."""
        (_, step), (key, given) = message
        self.messages += 1

        def run() -> None:
            try:
                found: Ended = (None, self.carry_out(self.part(key, step), step, given))
            except Exception as error:  # (it is raised again by who has begun the step)
                found = (told(error), {})
            self.box.send(("done", step, self.name), found, source)
            if found[0] is not None:
                self.abort(step, self.names, f"{self.name}: {found[0][1]}")

        self.crew.add(run)

    def on_eager(self, source: int, message: Message) -> None:
        """Let something be done eagerly; tell how it ended."""
        (_, step), (what, given) = message
        given = (given[0], step, *given[1:]) if what == "call" else given

        def do() -> None:
            try:
                found: Ended = (None, self.kept.do(what, *given))
            except Exception as error:  # (it is raised again by who has asked for it)
                found = (told(error), None)
            self.box.send(("done", step, self.name), found, source)

        self.crew.add(do)

    def on_drop(self, source: int, message: Message) -> None:
        """Let go what nobody asks for any more."""
        self.kept.drop(message[1])

    def run_named(
        self, key: PartKey | None, step: Step, given: Mapping[str, Array]
    ) -> Mapping[str, object]:
        """Carry out a part of a plan by its key; nothing if there is none."""
        return {} if key is None else self.carry_out(self.part(key, step), step, given)

    def on_abort(self, source: int, message: Message) -> None:
        """Give up a step."""
        (_, step), reason = message
        self.give_up(step, reason)
        self.forget(step, "value")

    def give_up(self, step: Step, reason: str) -> None:
        """Let nobody wait in a step any more."""
        with self.registered:
            self.aborted.setdefault(step, reason)
            if len(self.aborted) > MARKS:
                del self.aborted[next(each for each in self.aborted if each not in self.going)]
            self.registered.notify_all()
        going = self.going.get(step)
        if going is not None:
            going.give_up()

    def on_ask(self, source: int, message: Message) -> None:
        """Send what a rank asks for, or keep in mind that it did."""
        _, key = message
        with self.lock:
            if (key, source) not in self.offers:
                self.asked.add((key, source))
                return
            value = self.offers.pop((key, source))
        self.box.send(key, value, source)

    def offer(self, key: OfferKey, value: object, rank: int) -> None:
        """Send a value to a rank when it asks for it, now if it has."""
        with self.lock:
            if key[1] in self.aborted:
                return
            if (key, rank) not in self.asked:
                self.offers[key, rank] = value
                return
            self.asked.discard((key, rank))
        self.box.send(key, value, rank)

    def forget(self, step: Step, *words: str) -> None:
        """Drop messages of a step that nobody takes any more."""
        with self.lock:
            for offer in [each for each in self.offers if each[0][1] == step]:
                del self.offers[offer]
            self.asked = {each for each in self.asked if each[0][1] != step}
        with self.box.lock:
            kept: list[Any] = [*self.box.kept]
            for key in kept:
                if key[1] == step and key[0] in words:
                    del self.box.kept[key]

    def on_ping(self, source: int, message: object) -> None:
        """Say that this task is there."""
        self.box.send(("pong", 0), None, source)

    def on_pong(self, source: int, message: object) -> None:
        """Take note that a task is there."""
        self.heard[source] = time.monotonic()

    def on_bye(self, source: int, message: object) -> None:
        """Take note that a task begins no steps any more."""
        self.passive.add(source)

    # -- steps

    def carry_out(
        self, part: RunningPart, step: Step, given: Mapping[str, Array]
    ) -> dict[str, object]:
        """Return what a part of a step gives to the caller, by name."""
        going = self.going[step] = Cancellation()
        if step in self.aborted:
            going.give_up()
        try:
            with DEADLINE.working_for(going):
                return part.run(given, StepTalk(self, step))
        finally:
            del self.going[step]

    def received(self, key: OfferKey, step: Step, tasks: Sequence[str]) -> Any:
        """Return the value under a key, and who sent it; raise if a task says nothing more."""
        with self.box.looking():
            source, value = self.awaited(key, step, tasks)
        return value, source

    def awaited(self, key: OfferKey, step: Step, tasks: Sequence[str]) -> tuple[int, Any]:
        """Wait for a value; a task that is at work, or waits itself, answers when it is asked."""
        looks, nap = 0, NAPS[0]
        wait: Patience | None = None
        while True:
            found = self.box.found(key)
            if found is not None:
                return found
            if self.box.take_in():
                continue
            if step in self.aborted:
                raise AbortedError(f"the step was given up: {self.aborted[step]}")
            looks += 1
            if looks < SPINS:
                if not looks & 63:
                    os.sched_yield()
                continue
            DEADLINE.check()
            wait = wait or Patience(self, f"{key[2]} of step {step[1]}", tasks)
            wait.check()
            time.sleep(nap)
            nap = min(2 * nap, NAPS[1])

    def abort(self, step: Step, tasks: Sequence[str], reason: str) -> None:
        """Let tasks give up a step."""
        self.give_up(step, reason)
        self.forget(step)
        for task in tasks:
            if task != self.name:
                self.box.send(("abort", step), reason, self.ranks[task])

    # -- the end

    def leave(self) -> None:
        """Tell the others that this task begins no steps any more."""
        for rank in range(self.comm.size):
            if rank != self.comm.rank and self.comm.rank not in self.passive:
                self.box.send(("bye", 0), None, rank)
        self.passive.add(self.comm.rank)

    def join(self) -> None:
        """Serve the others until none begins steps any more."""
        self.leave()
        self.crew.serving = True
        while len(self.passive) < self.comm.size:
            if self.crew.fault is not None:
                raise self.crew.fault
            time.sleep(0.02)
        self.crew.serving = False

    def close(self) -> None:
        """Listen no more, and carry nothing out any more."""
        for end in self.ends:
            end()
        for step in [*self.going]:
            self.give_up(step, f"{self.name} was closed")
        self.leave()
        self.crew.close()


class Patience:
    """A wait for tasks, which are asked from time to time whether they are still there."""

    def __init__(self, task: Task, what: str, tasks: Sequence[str]) -> None:
        self.task, self.what, self.seconds = task, what, patience()
        self.started = self.asked = time.monotonic()
        self.peers = [task.ranks[name] for name in tasks if name != task.name]

    def check(self) -> None:
        """Ask, if it is time; raise if one has not said anything for too long."""
        now, task = time.monotonic(), self.task
        if now > self.asked + self.seconds / 4:
            self.asked = now
            for peer in self.peers:
                task.box.send(("ping", 0), None, peer)
        for peer in self.peers:
            if now > max(self.started, task.heard.get(peer, 0.0)) + self.seconds:
                name = f"rank {peer} ({task.names[peer]})"
                raise Wait(self.what, name, task.comm.rank, self.seconds).late()


Told = tuple[str, str, str, str]
"""The name of an error, what it says, its place and its hint."""
Ended = tuple[Told | None, object]
"""How something ended that another task has asked for: by an error, or with what it is told."""


def told(error: Exception) -> Told:
    """Return an error as what it is called and what it says.

    A rank that says nothing any more ends the step for all.
    """
    if isinstance(error, LateError):
        return "AbortedError", error.message, "", error.hint
    if isinstance(error, GivenUpError):
        return "AbortedError", "the step was given up", "", ""
    kinds = [kind.__name__ for kind in type(error).__mro__ if issubclass(kind, OpError)]
    known = [name for name in kinds if hasattr(run_errors, name)]
    if known and isinstance(error, OpError):
        return known[0], error.message, error.location, error.hint
    return "UnknownError", f"{type(error).__name__}: {error}", "", ""


def raised(task: str, found: Told) -> OpError:
    """Return the error that a task has told of."""
    name, text, location, hint = found
    kind: type[OpError] = getattr(run_errors, name)
    return kind(f"{text} (on {task})", location=location, hint=hint)
