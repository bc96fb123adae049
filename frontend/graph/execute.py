"""Run parts of a graph: which operations that takes (`Plan`), and running them (`Frame`).

Operations run in the order they were made, which every data and control edge agrees with. What
a frame gives is the meaning of a graph; `staged.py` compiles whole plans to the same results.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import heapify, heappop, heappush
from itertools import chain
from math import prod
from queue import SimpleQueue
from time import perf_counter_ns
from typing import Any, TypeAlias

import numpy as np

from ...errors import RequirementError, printed_as
from ...forks import renewed
from ...ir.types.dims import Dim
from ...ir.types.tensor import TensorSpec
from ...lazy import cached_property
from ...runtime.deadline import DEADLINE
from ...runtime.queues import CHANGES, WouldWaitError
from ...runtime.tracing import EARS, note
from ..eager.kernels import MUCH
from ..eager.recorded import unboxed
from ..models.later import Later, Pace, ReadyQueue
from ..values.run_errors import InvalidArgumentError, OpError
from .frame import Frame, Guarded, LoweringError, Store
from .graph import GraphTensor, Operation, dims_or_none
from .kinds import DEAD, Const, MissingFeedError
from .placement import asks, graphs_in
from .tolls import ELEMENTS, TALLY, inside, price_of, toll_of
from .transfers import Hop, brought


@printed_as(InvalidArgumentError)
class RunError(InvalidArgumentError, RequirementError):
    """An operation of a graph failed on the values that it was given."""

    code = "GV2320"


Rewrite = Callable[[list[Operation], Sequence[GraphTensor | Operation]], list[Operation]]
"""Operations in order with others in the place of some, for what is fetched."""


class Recovery:
    """Structured control flow from the nodes of dataflow machines, as `dataflow` fills it in."""

    choices: Rewrite
    loops: Rewrite


RECOVERY = Recovery()


@dataclass(frozen=True)
class Wishes:
    """How a plan is to be compiled."""

    level: str = "O2"
    disable: tuple[str, ...] = ()
    """Passes that are left out."""
    recompute: bool = False
    """Whether whole layers are computed again on the way back, instead of being kept."""
    swap: bool = False
    """Whether what rests for long on a GPU lies in the memory of its host meanwhile."""
    threads: int = 0
    """The most threads that share the work of a run; 0: as everywhere."""
    overlap: bool = True
    """Whether a session calls several Python functions at the same time."""
    threads_each: int = 0
    """How many of them go on at once on each device; 0: as many as there are."""
    at_once: bool | None = False
    """Whether a session compiles it at its first run, and not once that pays; None: never."""


class Plan:
    """The operations that given fetches need when given tensors are fed, in order."""

    def __init__(
        self,
        fetches: Sequence[GraphTensor | Operation],
        feeds: Sequence[GraphTensor],
        effects: Sequence[Operation] = (),
        ops: Sequence[Operation] | None = None,
    ) -> None:
        """Find the operations that are needed, for `effects` too, unless they are given."""
        self.fetches, self.feeds = list(fetches), list(feeds)
        found = recovered(needed(fetches, feeds, effects), fetches) if ops is None else list(ops)
        self.ops = found
        self.to_record = {
            forward for op in self.ops if (forward := op.attributes.get("forward")) is not None
        }
        self.fed = set(feeds)
        self.waits = any(may_wait(op.kind) for op in self.ops)
        """Whether it may wait for another step: a lock must not be held meanwhile."""
        self.is_piece = ops is not None
        """Whether it is carried out as one, although something in it may wait."""
        self.calls_python = any(does(op.kind, "is_python") for op in self.ops)
        """Whether it calls Python, which may run another step of the session and wait for it."""
        self.making = renewed(threading.RLock())
        """Held while it is compiled."""
        self.refusal = ""
        """Why the plan is not compiled, if it was tried."""
        self.early = 0
        """How often it was too early to compile it: not all of it had been run."""
        self.compiled: dict[object, Any] = {}
        """By shapes: the compiled plan, the `Account` of what was run before that, or None."""
        self.hops: dict[Operation, dict[GraphTensor, Hop]] = {}
        """The operands that come from another device of this process in 16 bits."""
        self.queues: dict[Operation, ReadyQueue] = {}
        """Those of the devices that calls of Python are on, where these have so many threads."""
        self.wishes = Wishes()
        self.found_to_slide: dict[int | None, bool] = {}
        """By the largest size that is fed where one is open: whether it multiplies many windows."""

    @cached_property
    def changed(self) -> list[Guarded]:
        """Return the variables that a run changes, or reads as of one moment."""
        return list(dict.fromkeys(changed_by(self.ops)))

    @cached_property
    def unfed(self) -> list[Operation]:
        """Return the placeholders without feeds where a gradient may ask for no more than shapes.

        That ends in one like what it is the gradient of, or goes through others.
        """
        asks = any(op.kind.goes_back or op.type in ("OnesLike", "ZerosLike") for op in self.ops)
        if self.waits or self.calls_python or not asks:
            return []
        return [op for op in self.ops if op.type == "Placeholder" and not op.inputs]

    @property
    def awaited(self) -> list[GraphTensor]:
        """Return what is computed although nobody takes it: one only waits until that is done."""
        fetched = [each for each in self.fetches if isinstance(each, Operation)]
        waited = [each for op in self.ops for each in op.control_inputs]
        return [x for op in (*fetched, *waited) for x in op.outputs if x not in self.fed]

    @cached_property
    def open_sizes(self) -> list[tuple[int, int]]:
        """Return which sizes of what is fed are not known: of which feed, along which axis."""
        given = enumerate(dims_or_none(tensor.spec.shape) for tensor in self.feeds)
        return [(i, axis) for i, dims in given if dims for axis, d in enumerate(dims) if d is None]

    @cached_property
    def windows(self) -> list[Operation]:
        """Return the operations that multiply windows, also in what is called."""
        return [op for op in inside(self.ops) if op.kind.slides]

    def slides(self, shapes: Sequence[Sequence[Dim] | None]) -> bool:
        """Say whether an operation multiplies windows, and many, where such arrays are fed.

        By itself it is compiled for its sizes: to compile all instead takes as long, once. Sizes
        that are open count as the largest one that is fed where one is open.
        """
        if not self.windows:
            return False
        fed = ((shapes[feed] or ())[axis : axis + 1] for feed, axis in self.open_sizes)
        most = max((size for sizes in fed for size in sizes if isinstance(size, int)), default=None)
        if most not in self.found_to_slide:
            self.found_to_slide[most] = any(slides_over_much(op, most) for op in self.windows)
        return self.found_to_slide[most]

    @cached_property
    def toll(self) -> int:
        """Return what a run takes, operation by operation, without what is inside of these."""
        return toll_of(self.ops)

    @cached_property
    def price(self) -> int:
        """Return what compiling it takes."""
        return price_of(self.ops)

    def run(self, frame: Frame, values: Sequence[object]) -> list[object]:
        """Return what the fetches are; None for operations."""
        env: dict[GraphTensor, object] = {}
        for tensor, value in zip(self.feeds, values, strict=True):
            env[tensor] = value
            frame.bind(tensor, value)
        ops = self.structured if frame.is_staging else self.ops
        if not frame.is_staging:
            TALLY.spent += self.toll
        outer, devices = frame.device, frame.placed(ops)
        if self.waits and not self.is_piece and frame.order is None and ops[0].graph.is_open:
            self.run_waiting(frame, env, devices)
        elif self.beside and self.wishes.overlap and not frame.is_staging and frame.order is None:
            self.run_beside(frame, env)
        else:
            for op in ops if frame.order is None else by_counts(ops, frame.order):
                if devices:
                    frame.device = devices[op]
                self.step(frame, op, env)
        frame.device = outer
        return [None if isinstance(f, Operation) else env[f] for f in self.fetches]

    def run_waiting(
        self, frame: Frame, env: dict[GraphTensor, object], devices: dict[Operation, str]
    ) -> None:
        """Run operations of which some wait for others, in this plan or elsewhere.

        None holds the thread while another one can be carried out.
        """
        held = self.parts.order
        while held:
            seen, before, late, lines = CHANGES.count, held, set[Part](), set[object]()
            for number, part in enumerate(before):
                line = None if isinstance(part, Plan) else part.kind.line
                if line not in lines and late.isdisjoint(self.parts.behind[part]):
                    others = chain(late, before[number + 1 :])
                    frame.patient = all(part in self.parts.behind[other] for other in others)
                    try:
                        self.part(frame, part, env, devices)
                        continue
                    except WouldWaitError:
                        lines.update(() if line is None else (line,))
                late.add(part)
            held = [part for part in before if part in late]
            if len(held) == len(before):
                CHANGES.wait(seen)
        frame.patient = True

    def part(
        self,
        frame: Frame,
        part: Part,
        env: dict[GraphTensor, object],
        devices: dict[Operation, str],
    ) -> None:
        """Run an operation that may wait, or a piece between such."""
        if isinstance(part, Plan) and part.waits and not frame.patient:
            part = part.ops[-1]
        if isinstance(part, Operation):
            frame.device = devices.get(part, frame.device)
            self.step(frame, part, env)
            return
        values = [unboxed(env[tensor]) for tensor in part.feeds]
        made = part.run(frame, values) if frame.run_piece is None else frame.run_piece(part, values)
        given = [each for each in part.fetches if isinstance(each, GraphTensor)]
        env.update(zip(given, made, strict=True))

    @cached_property
    def parts(self) -> WaitingParts:
        """Return what is carried out by itself where some operations wait."""
        return WaitingParts(self)

    @cached_property
    def beside(self) -> frozenset[Operation]:
        """Return the calls of Python that may go on at the same time: in a graph of a session.

        In a function they are in order.
        """
        found = [op for op in self.ops if op.kind.is_python and op.graph.is_open]
        return frozenset(found if len(found) > 1 else ())

    @cached_property
    def paces(self) -> dict[Operation, Pace]:
        """Return how long those calls take."""
        return {op: Pace() for op in self.beside}

    @cached_property
    def order(self) -> Waits:
        """Return what waits for what."""
        return Waits(self.ops, self.makers)

    @cached_property
    def apart(self) -> frozenset[Operation]:
        """Return those that wait for nothing but their operands, nor do these."""
        bound: set[Operation] = set()
        for op in self.ops:
            if op.control_inputs or not bound.isdisjoint(self.makers(op)):
                bound.add(op)
        return frozenset(op for op in self.beside if op not in bound)

    def run_beside(self, frame: Frame, env: dict[GraphTensor, object]) -> None:
        """Run operations as they get ready, calls of Python beside each other.

        Of those that are ready, the first one made is next.
        """
        ended: SimpleQueue[int] = SimpleQueue()
        left = Waiting(self.order)
        going: dict[int, Later[None]] = {}
        try:
            while left.ready or going:
                if left.ready:
                    place = left.next()
                    op = self.ops[place]
                    if op in self.beside:
                        step, then = partial(self.step, frame, op, env), partial(ended.put, place)
                        going[place] = Later(step, then, self.queues.get(op), self.paces[op])
                        continue
                    self.step(frame, op, env)
                else:
                    for each in going.values():
                        if not each.is_begun:
                            each.begin()
                            break
                    place = ended.get()
                    going.pop(place).result()
                left.done(place)
        finally:
            for each in going.values():
                each.wait()

    def makers(self, op: Operation) -> list[Operation]:
        """Return the operations that must be carried out before another one."""
        made = [tensor.op for tensor in op.inputs if tensor not in self.fed]
        forward = op.attributes.get("forward")
        return [*made, *op.control_inputs, *([] if forward is None else [forward])]

    @cached_property
    def asks_for_gpu(self) -> bool:
        """Say whether an operation is to run on a GPU, also in what is called."""
        return any(map(asks, self.ops))

    @cached_property
    def structured(self) -> list[Operation]:
        """Return the operations with choices for Switches and Merges."""
        return RECOVERY.choices(self.ops, self.fetches)

    def is_dead(
        self, op: Operation, inputs: Sequence[object], env: dict[GraphTensor, object]
    ) -> bool:
        """Say whether the operation is on a way that was not taken."""
        for value in inputs:
            if value is DEAD:
                return True
        for before in op.control_inputs:
            if before.outputs and env.get(before.outputs[0]) is DEAD:
                return True
        return False

    def step(self, frame: Frame, op: Operation, env: dict[GraphTensor, object]) -> None:
        """Run one operation; say so to whoever listens, and stop when the time is over."""
        if frame.is_staging or not (EARS.count or DEADLINE.at):
            self.carry_out(frame, op, env)
            return
        DEADLINE.check()
        begin = perf_counter_ns()
        try:
            self.carry_out(frame, op, env)
        finally:
            if EARS.count:
                made = [np.asarray(unboxed(env[t])) for t in op.outputs if is_array(env.get(t))]
                note("operation", op.name, begin, type=op.type, node=op.name, source=op.source,
                     device=frame.device or "cpu:0",
                     outputs=[(x.dtype, x.shape) for x in made])  # fmt: skip

    def carry_out(self, frame: Frame, op: Operation, env: dict[GraphTensor, object]) -> None:
        """Run one operation, whoever looks on."""
        inputs = [env[tensor] for tensor in op.inputs]
        if op in self.hops:
            inputs = self.brought(frame, op, inputs)
        if not op.kind.takes_dead and self.is_dead(op, inputs, env):
            env.update((tensor, DEAD) for tensor in op.outputs)
            return
        try:
            if op in self.to_record:
                inner, record = frame.recording(op)
                inputs = record.watch(inputs)
                results: Sequence[object] = record.results(inner.carry_out(op, inputs))
            else:
                results = frame.carry_out(op, inputs)
        except (RunError, MissingFeedError, LoweringError):
            raise
        except OpError as error:
            raise located(error, op) from None
        except (TypeError, ValueError, ArithmeticError, IndexError, AssertionError) as error:
            raise failure(op, error) from error
        self.keep(frame, op, results, env)

    def brought(self, frame: Frame, op: Operation, inputs: Sequence[object]) -> list[object]:
        """Return operands as they come from other devices."""
        ways = self.hops[op]
        both = zip(op.inputs, inputs, strict=True)
        return [brought(frame, x, ways[t]) if t in ways else x for t, x in both]

    def keep(
        self,
        frame: Frame,
        op: Operation,
        results: Sequence[object],
        env: dict[GraphTensor, object],
    ) -> None:
        """Keep what an operation gave, but where it is fed; learn its sizes."""
        for tensor, value in zip(op.outputs, results, strict=True):
            if tensor not in self.fed:
                env[tensor] = value
                if value is not DEAD and not is_static(tensor):
                    frame.bind(tensor, value)
                    if not frame.is_staging:
                        shape = np.shape(unboxed(value))
                        TALLY.spent += prod(shape) >> ELEMENTS
                        tensor.see(shape)


Part: TypeAlias = "Operation | Plan"
"""What is carried out by itself where some operations wait: one such, or a piece between them."""


class WaitingParts:
    """The parts of a plan of which some wait: such operations, and pieces of all between them.

    A piece holds what stands behind as many waits. What others use is as late as these allow, so
    that variables are read where they are used; what nobody uses is as early as may be.
    """

    reason = ""
    """Why the others are no pieces, if they are none."""

    def __init__(self, plan: Plan) -> None:
        self.plan, self.waits = plan, dict.fromkeys(op for op in plan.ops if may_wait(op.kind))
        self.users: dict[Operation, list[Operation]] = {op: [] for op in plan.ops}
        for op in plan.ops:
            for each in self.makers(op):
                self.users[each].append(op)
        self.of: dict[Operation, Part] = {op: op for op in plan.ops}
        """In which part each operation is; constants are in all that take them."""
        for piece in [self.piece(ops) for ops in self.groups()]:
            self.of |= {op: piece for op in piece.ops if not is_constant(op)}
        wanted = {f if isinstance(f, Operation) else f.op for f in plan.fetches}
        for op in filter(is_constant, plan.ops):
            alone = [u for u in self.users[op] if self.of[u] is u or u in self.waits]
            if op not in wanted and not alone:
                del self.of[op]
        self.behind = {part: self.before(part) for part in self.of.values()}
        """What each part is carried out behind."""
        self.order = self.in_order()

    def makers(self, op: Operation) -> list[Operation]:
        """Return the operations of the plan that must be carried out before another one."""
        return [each for each in self.plan.makers(op) if each in self.users]

    def groups(self) -> list[list[Operation]]:
        """Return the operations of each piece that is worth to be compiled."""
        if not any(map(computes, self.plan.ops)):
            return []
        if any(op.type in ("Switch", "Merge") for op in self.plan.ops):
            self.reason = "ways that are not taken, beside what waits"
            return []
        found: dict[int, list[Operation]] = {}
        for op, level in self.levels().items():
            if op not in self.waits and not is_constant(op):
                found.setdefault(level, []).append(op)
        inside = [[op] for op in self.waits if not op.kind.waits]  # in a branch, or a loop
        return [ops for ops in (*found.values(), *inside) if any(map(computes, ops))]

    def levels(self) -> dict[Operation, int]:
        """Return behind how many waits each operation is carried out.

        What goes back through another one is where that is.
        """
        ops, level, most = self.plan.ops, dict[Operation, int](), dict[Operation, int]()
        least: dict[Operation, int] = {}
        for op in ops:
            waits = [least[each] + (each in self.waits) for each in self.makers(op)]
            least[op] = max(waits, default=0)
        while True:
            for op in reversed(ops):
                found = [] if op in self.waits else [level[user] for user in self.users[op]]
                level[op] = min(min(found, default=least[op]), most.get(op, len(ops)))
            both = [(op, op.attributes.get("forward")) for op in ops]
            late = {op: level[f] for op, f in both if f is not None and level[f] < level[op]}
            if not late:
                break
            most |= late
        if any(level[op] < least[op] for op in ops):
            self.reason = "a gradient that goes back over what waits"
            return {}
        return {op: level[op] for op in ops}

    def piece(self, group: Sequence[Operation]) -> Plan:
        """Return the plan of a piece, with the constants that it takes."""
        inside = {*group}
        plan, taken = self.plan, [t for op in group for t in op.inputs]
        inside |= {t.op for t in taken if t not in plan.fed and is_constant(t.op)}
        feeds = [t for t in taken if t in plan.fed or t.op not in inside]
        outside = {t for op in plan.ops if op not in inside for t in op.inputs} | {*plan.fetches}
        gives = [t for op in group for t in op.outputs if t in outside and t not in plan.fed]
        made = Plan(gives, [*dict.fromkeys(feeds)], ops=[op for op in plan.ops if op in inside])
        made.wishes, made.hops, made.queues = plan.wishes, plan.hops, plan.queues
        return made

    def before(self, part: Part) -> set[Part]:
        """Return the parts that one is carried out behind."""
        ops = [part] if isinstance(part, Operation) else part.ops
        makers = {self.of[each] for op in ops for each in self.makers(op) if each in self.of}
        return makers - {part}

    def in_order(self) -> list[Part]:
        """Return the parts, a piece where the first operation in it stands that nobody uses."""
        place: dict[Part, int] = {}
        for number, op in enumerate(self.plan.ops):
            part = self.of.get(op)
            if part is not None and (part is op or not any(map(self.is_in(part), self.users[op]))):
                place.setdefault(part, number)
        ahead: dict[Part, list[Part]] = {part: [] for part in place}
        for part in place:
            for each in self.behind[part]:
                ahead[each].append(part)
        missing = {part: len(self.behind[part]) for part in place}
        ready = [(number, part) for part, number in place.items() if not missing[part]]
        heapify(ready)  # no two parts have one place: parts are never compared
        found: list[Part] = []
        while ready:
            found.append(heappop(ready)[1])
            for each in ahead[found[-1]]:
                missing[each] -= 1
                if not missing[each]:
                    heappush(ready, (place[each], each))
        assert len(found) == len(place), "parts that wait for each other"
        return found

    def is_in(self, part: Part) -> Callable[[Operation], bool]:
        """Return what says whether an operation is in a part."""
        return lambda op: self.of.get(op) is part


def is_constant(op: Operation) -> bool:
    """Say whether an operation gives a value that is known."""
    return isinstance(op.kind, Const)


def computes(op: Operation) -> bool:
    """Say whether an operation is worth to be compiled."""
    made = [tensor for tensor in op.outputs if tensor.spec.dtype.kind != "s"]
    return bool(op.inputs and made) and "GPU" in op.kind.devices and not op.kind.is_state


class Waits:
    """What waits for what, by the places of operations in a plan."""

    def __init__(
        self, ops: Sequence[Operation], makers: Callable[[Operation], Sequence[Operation]]
    ) -> None:
        places = {op: place for place, op in enumerate(ops)}
        self.behind: list[list[int]] = [[] for _ in ops]
        self.counts = [0] * len(ops)
        for place, op in enumerate(ops):
            before = {places[each] for each in makers(op) if each in places}
            self.counts[place] = len(before)
            for each in before:
                self.behind[each].append(place)


class Waiting:
    """Operations of a run that wait for others, and those that do no more."""

    def __init__(self, order: Waits) -> None:
        self.behind, self.counts = order.behind, [*order.counts]
        self.ready = [place for place, count in enumerate(self.counts) if not count]
        """The places of those that are ready, the least first."""

    def next(self) -> int:
        """Return the place of the first that is ready, and take it away."""
        return heappop(self.ready)

    def done(self, place: int) -> None:
        """See which others get ready by one that is carried out."""
        for each in self.behind[place]:
            self.counts[each] -= 1
            if not self.counts[each]:
                heappush(self.ready, each)


def is_array(value: object) -> bool:
    """Say whether a value of a run has elements: not one of a way that was not taken."""
    return value is not None and value is not DEAD and isinstance(unboxed(value), np.ndarray)


def may_wait(kind: object) -> bool:
    """Say whether a kind, or what it calls, may wait for another step."""
    return does(kind, "waits")


def does(kind: object, what: str) -> bool:
    """Say whether something holds for a kind, or for what it calls."""
    if getattr(kind, what):
        return True
    parts = [getattr(kind, name, None) for name in ("graph", "test", "body")]
    graphs = [*(part for part in parts if part is not None), *getattr(kind, "branches", ())]
    return any(does(op.kind, what) for graph in graphs for op in graph.operations)


def slides_over_much(op: Operation, most: int | None) -> bool:
    """Say whether an operation multiplies windows that may be many, if open sizes are that one."""
    operands, results = ([x.spec for x in xs] for xs in (op.inputs[:2], op.outputs))
    if not all(spec.is_static for spec in (*operands, *results)):
        if most is None or any(spec.shape is None for spec in (*operands, *results)):
            return True
        operands, results = ([sized(spec, most) for spec in specs] for specs in (operands, results))
    return op.kind.multiplied(operands, results) >= MUCH


def sized(spec: TensorSpec, size: int) -> TensorSpec:
    """Return a spec with a number in the place of each size that is open."""
    return spec.with_shape([d if isinstance(d, int) else size for d in spec.dims])


def changed_by(ops: Sequence[Operation]) -> Iterator[Guarded]:
    """Give the variables that operations change, also in what they call."""
    for op in ops:
        yield from op.kind.changed(op)
        for graph in graphs_in(op):
            yield from changed_by(graph.operations)


def by_counts(ops: Sequence[Operation], choose: Callable[[int], int]) -> Iterator[Operation]:
    """Give operations as they get ready: each waits for as many others as its count says.

    `choose` says which of the operations that are ready is next.
    """
    members = set(ops)
    waiting: dict[Operation, int] = {}
    behind: dict[Operation, list[Operation]] = {}
    for op in ops:
        before = {t.op for t in op.inputs} | set(op.control_inputs)
        forward = op.attributes.get("forward")
        found = (before | ({forward} if forward is not None else set())) & members
        waiting[op] = len(found)
        for each in found:
            behind.setdefault(each, []).append(op)
    ready = [op for op in ops if not waiting[op]]
    while ready:
        op = ready.pop(choose(len(ready)))
        yield op
        for each in behind.get(op, ()):
            waiting[each] -= 1
            if not waiting[each]:
                ready.append(each)


def is_static(tensor: GraphTensor) -> bool:
    """Say whether all sizes are known."""
    return tensor.spec.shape is not None and tensor.spec.is_static


def located(error: OpError, op: Operation) -> OpError:
    """Return an error that names an operation and its line, if it names none."""
    if not error.location:
        error.message, error.location = f"Detected at node '{op.name}': {error.message}", op.source
        error.op = op
    return error


def failure(op: Operation, error: Exception) -> Exception:
    """Return the error of a run, which names the operation and the line that made it."""
    known = getattr(error, "is_of_run", False)
    if known:
        return error
    made = RunError(f"Detected at node '{op.name}': {error}", location=op.source)
    made.op = op
    return made


def needed(
    fetches: Sequence[GraphTensor | Operation],
    feeds: Sequence[GraphTensor],
    effects: Sequence[Operation] = (),
) -> list[Operation]:
    """Return the operations to run, in the order they were made."""
    fed = set(feeds)
    waiting: list[Operation] = [*effects]
    for fetch in fetches:
        if isinstance(fetch, Operation):
            waiting.append(fetch)
        elif fetch not in fed:
            waiting.append(fetch.op)
    found: set[Operation] = set()
    while waiting:
        op = waiting.pop()
        if op in found:
            continue
        found.add(op)
        waiting += [c for c in op.control_inputs if not (c.outputs and fed.issuperset(c.outputs))]
        waiting += [tensor.op for tensor in op.inputs if tensor not in fed]
        forward = op.attributes.get("forward")
        if forward is not None:
            waiting.append(forward)
    return sorted(found, key=lambda op: op.index)


def recovered(ops: list[Operation], fetches: Sequence[GraphTensor | Operation]) -> list[Operation]:
    """Return operations with loops for those that are made of single nodes."""
    return RECOVERY.loops(ops, fetches)


def initialise(store: Store, initial: GraphTensor | Operation) -> None:
    """Carry out what gives a variable its first value."""
    Plan([initial], []).run(Frame(store), [])
