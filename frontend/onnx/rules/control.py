"""Rules of control flow.

A condition that is known takes its branch, and a loop of few known trips is unrolled. What is
small and the same in both branches is computed for both, and one is selected. The rest becomes
`gv.if` and `gv.while`, or host steps where sizes change on the way.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

import numpy as np
from onnx import GraphProto
from xdsl.ir import Block

from ....ir import Dim, TensorSpec
from ....ir.compose import functions as c
from ....ir.host import is_host, sized
from ....ir.ops.control.control import If, While
from ....ir.ops.host.host_control import HostIf, HostLoop
from ....ir.types import dims as dim_rules
from ....ir.types import dtypes as d
from ....ir.types.shapes import UnequalError, normalize_axis
from ....ir.types.values import ANY, Spec, fits, held, is_compilable, join
from ..lists import as_rows, listed
from ..node import Node, Parts, Value
from ..regions import close, finish, has_effects, inline, new_block, size
from ..registry import rule

UNROLLED_TRIPS, UNROLLED_NODES = 64, 4096
"""Loops of more trips, or of more nodes in all, stay loops."""

COLLECTED = 1 << 24
"""The most elements that a loop which may end early has room for; else the host collects them."""

SELECTED = 8
"""Branches of no more operations than this are both computed."""

INDEX, FLAG = TensorSpec(d.i64, ()), TensorSpec(d.bool_, ())


@rule("If")
def if_(node: Node, condition: Value) -> Sequence[Value]:
    """Take a branch, select between both, or choose when it runs."""
    branches: list[GraphProto] = [node.graph("then_branch"), node.graph("else_branch")]
    known = node.known(condition)
    if known is not None and known.dtype != object:
        return node.read_graph(branches[0 if known.ravel()[0] else 1], ())
    blocks, results = [new_block(()), new_block(())], []
    for branch, block in zip(branches, blocks, strict=True):
        with node.inside(block):
            results.append([node.value(v) for v in node.read_graph(branch, ())])
        finish(block, results[-1])
    where = node.make.reshape(condition, shape=())
    same = all(a.type == b.type for a, b in zip(*results, strict=True))
    if not same or any(is_host(op) for block in blocks for op in block.ops):
        return _chosen_by_host(node, where, blocks, results)
    if all(size(block) <= SELECTED and not has_effects(block) for block in blocks):
        for block in blocks:
            inline(block, node.block)
        return [node.make.select(where, a, b) for a, b in zip(*results, strict=True)]
    choice = If.make_from(where, close(*blocks), *blocks)
    node.insert(choice)
    return list(choice.results)


def _chosen_by_host(
    node: Node, where: Value, blocks: Sequence[Block], results: Sequence[Sequence[Value]]
) -> Sequence[Value]:
    """Return what one of two branches gives, whose results may differ in size."""
    types = []
    for a, b in zip(*results, strict=True):
        spec = held(join(held(node.kind(a)), held(node.kind(b))))
        if node.kind(a) == node.kind(b):
            spec = node.kind(a)
        types.append(sized(spec, node.opened(spec)).type)
    choice = HostIf.make_from(where, close(*blocks), blocks, types)
    node.insert(choice)
    return list(choice.results)


@rule("Loop", takes_parts=True)
def loop(
    node: Node, trips: Value | None = None, condition: Value | None = None, *states: Value
) -> Sequence[Value]:
    """Unroll a loop of few known trips; others run."""
    body = node.graph("body")
    known = None if trips is None else node.known(trips)
    count = None if known is None or known.dtype == object else int(known.ravel()[0])
    goes_on = condition is None or _known_flag(node, condition)
    if goes_on is False or (count is not None and count <= 0):
        return _no_trips(node, body, states)
    if goes_on and (count is not None or trips is None):
        made = _unrolled(node, body, count, states)
        if made is not None:
            return made
    return _looped(node, body, trips, condition, states)


def _tensors(node: Node, values: Sequence[object]) -> Sequence[Value]:
    """Return what a graph gives, or refuse sequences."""
    if any(isinstance(value, Parts) for value in values):
        node.refuse("sequences are not supported as results of Scan")
    return values


def _known_flag(node: Node, condition: Value) -> bool | None:
    known = node.known(condition)
    return None if known is None or known.dtype == object else bool(known.ravel()[0])


def _is_short(body: GraphProto, trips: int) -> bool:
    return trips <= UNROLLED_TRIPS and trips * len(body.node) <= UNROLLED_NODES


def _no_trips(node: Node, body: GraphProto, states: Sequence[Value]) -> Sequence[Value]:
    """Return the states as they are; of what each trip would give, nothing is collected."""
    if len(body.output) - 1 == len(states):
        return states
    apart = new_block([])  # what stands in it is not certain to be wrong where it cannot be done
    with node.inside(apart):
        number = node.make.number(0, d.i64)
        _, *made = node.read_graph(body, [number, node.make.number(True, d.bool_), *states], number)
        specs = [node.spec(part) for part in _tensors(node, made[len(states) :])]
    _erase(apart)
    return [*states, *(node.make.filled(0, spec.dtype, (0, *spec.dims)) for spec in specs)]


def _unrolled(
    node: Node, body: GraphProto, trips: int | None, states: Sequence[Value]
) -> Sequence[Value] | None:
    """Return the results of so many trips, of all there are if None is said.

    None where they are too many, or one before may be the last: a counter that is known says so.
    """
    if trips is not None and not _is_short(body, trips):
        return None
    most = min(UNROLLED_TRIPS, UNROLLED_NODES // max(len(body.node), 1))
    now, collected = list(states), []
    before = node.block.last_op
    goes_on: bool | None = True
    for trip in count() if trips is None else range(trips):
        if goes_on is False:
            break
        if goes_on is None or trip == most:
            _take_back(node, before)
            return None
        number = node.make.number(trip, d.i64)
        given = [number, node.make.number(True, d.bool_), *now]
        goes, *made = node.read_graph(body, given, number)
        now = made[: len(states)]
        collected.append(made[len(states) :])
        goes_on = _known_flag(node, goes)
    if not collected:
        return _no_trips(node, body, states)
    if _differ(node, collected):
        _take_back(node, before)
        return None
    stacks = [c.stack(node.emit, column, 0) for column in zip(*collected, strict=True)]
    return [*now, *stacks]


def _differ(node: Node, collected: Sequence[Sequence[Value]]) -> bool:
    """Say whether sizes that data tell have other names in each trip, so that none is stacked."""
    columns = zip(*collected, strict=True)
    return any(len({str(node.kind(part)) for part in column}) > 1 for column in columns)


def _take_back(node: Node, before: object) -> None:
    """Erase what was appended behind an operation and is not used by what stays."""
    while (last := node.block.last_op) is not before and last is not None:
        if last.name in ("gv.constant", "gv.weight"):
            return
        node.block.erase_op(last)


class Running:
    """A loop being made: the values it carries, and what a trip makes of them."""

    def __init__(self, node: Node, carried: Sequence[Value]) -> None:
        self.node = node
        self.carried = list(carried)
        self.body = new_block([node.spec(value) for value in carried])
        self.results: list[Value] = []

    def collect(self, part: Value, at: Value, count: Dim) -> None:
        """Carry a tensor of so many parts, and write the part of a trip at its index."""
        node, spec = self.node, self.node.spec(part)
        start = node.make.filled(0, spec.dtype, (count, *spec.dims))
        self.carried.append(start)
        buffer = self.body.insert_arg(node.spec(start).type, len(self.body.args))
        with node.inside(self.body):
            place = node.make.reshape(at, shape=(1, 1))
            update = c.unsqueeze(node.emit, part, (0,))
            self.results.append(node.make.scatter_nd(buffer, place, update, reduction="none"))

    @property
    def changes_kinds(self) -> bool:
        """Say whether a value is not what it was after a trip."""
        pairs = zip(self.carried, self.results, strict=True)
        return any(before.type != after.type for before, after in pairs)

    def give_up(self) -> None:
        """Erase the body, so that nothing outside is used by it."""
        _erase(self.body)

    def run(self, more: Callable[..., Value]) -> list[Value]:
        """Append the loop; `more` says of the carried values whether there is another trip."""
        node = self.node
        for before, after in zip(self.carried, self.results, strict=True):
            if before.type != after.type:
                specs = f"{node.kind(before)} to {node.kind(after)}"
                node.refuse(f"a state that changes from {specs} is not supported")
        finish(self.body, self.results)
        test = new_block([node.spec(value) for value in self.carried])
        with node.inside(test):
            goes_on = more(*test.args)
        finish(test, [goes_on])
        made = While.make_from(self.carried, close(test, self.body), test, self.body)
        node.insert(made)
        return list(made.results)


def _looped(
    node: Node, body: GraphProto, trips: Value | None, condition: Value | None,
    states: Sequence[Value],
) -> Sequence[Value]:  # fmt: skip
    """Return the results of a loop that runs: compiled where all sizes stay."""
    before, known = node.block.last_op, set(node.emitter.ranges)
    without = listed(body, states)
    if without is not None:
        others = without.others(states)
        results = [*_loop_of(node, without.body, trips, condition, others)]
        rows = [
            as_rows(node, states[number], part, known)
            for number, part in zip(without.places, results[-len(without.places) :], strict=True)
        ]
        if not any(each is None for each in rows):
            del results[-len(rows) :]
            for number, each in zip(without.places, rows, strict=True):
                results.insert(number, node.make.split_to_sequence(each, axis=0, keep=False))
            return results
        _take_back(node, before)
    return _loop_of(node, body, trips, condition, states)


def _loop_of(
    node: Node, body: GraphProto, trips: Value | None, condition: Value | None,
    states: Sequence[Value],
) -> Sequence[Value]:  # fmt: skip
    """Return the results of a loop whose lists, if any, are sequences of the host."""
    make = node.make
    limit = None if trips is None else make.reshape(trips, shape=())
    goes = make.number(True, d.bool_) if condition is None else make.reshape(condition, shape=())
    if all(is_tensor(node, state) for state in states):
        before = node.block.last_op
        made = _compiled_loop(node, body, limit, goes, states)
        if made is not None:
            return made
        _take_back(node, before)
    if limit is None:
        limit = make.number(np.iinfo(np.int64).max, d.i64)

    def read(given: Sequence[Value]) -> Sequence[Value]:
        return node.read_graph(body, given, given[0])

    return _host_loop(node, read, (limit, goes), [node.value(state) for state in states])


def is_tensor(node: Node, value: Any) -> bool:
    """Say whether a value is a tensor that compiled code may hold."""
    return not isinstance(value, Parts) and is_compilable(value.type)


def _compiled_loop(
    node: Node, body: GraphProto, limit: Value | None, goes: Value, states: Sequence[Value]
) -> Sequence[Value] | None:
    """Return the results of a loop; None where sizes change, or only a host can run it."""
    make = node.make
    loop = Running(node, [make.number(0, d.i64), goes, *states])
    index, flag, *now = loop.body.args
    with node.inside(loop.body):
        on, *made = node.read_graph(body, [index, flag, *now], index)
        if not all(is_tensor(node, value) for value in made):
            loop.give_up()
            return None
        following = make.add(index, make.number(1, d.i64))
        goes_on = on if on is flag else make.reshape(on, shape=())
    loop.results = [following, goes_on, *made[: len(states)]]
    parts = made[len(states) :]
    goes_through = bool(_known_flag(node, goes) and (on is flag or _known_flag(node, on)))
    goes_through &= limit is not None or not parts
    count = _count(node, limit) if parts else 0
    is_known = goes_through if count is None else goes_through or _is_bounded(node, count, parts)
    if not is_known or loop.changes_kinds or any(is_host(op) for op in loop.body.ops):
        loop.give_up()
        return None
    if count is None:
        count = _read_count(node, limit)
    for part in parts:
        loop.collect(part, index, count)

    def more(index: Value, flag: Value, *others: Value) -> Value:
        return flag if limit is None else make.logical_and(make.less(index, limit), flag)

    trips, _, *results = loop.run(more)
    if not parts or goes_through:
        return results
    sizes = node.unknown(high=count)
    cut = [make.leading(full, trips, sizes=sizes) for full in results[len(states) :]]
    return [*results[: len(states)], *cut]


def _read_count(node: Node, limit: Value | None) -> Dim:
    """Return the number of trips as a size that the host reads, of a loop that ends with it."""
    assert limit is not None, "what collects without an end has no results"
    make = node.make
    (count,) = node.sizes(make.maximum(limit, make.number(0, d.i64)), "M")
    return count


def _is_bounded(node: Node, count: Dim, parts: Sequence[Value]) -> bool:
    """Say whether there is room for what a loop may collect that ends by itself."""
    whole = [dim_rules.product((count, *node.shape(part))) for part in parts]
    highs = [dim_rules.bounds(size, node.emitter.ranges)[1] for size in whole]
    return all(high is not None and high <= COLLECTED for high in highs)


def _count(node: Node, limit: Value | None) -> Dim | None:
    """Return the number of trips as a dimension, None if it is not known."""
    known = None if limit is None else node.known(limit)
    if known is None:
        return None
    count: Dim = known.ravel().tolist()[0]
    return count


ROUNDS = 4
"""How often the body of a loop is read until the kinds of its states hold for every trip."""


def _host_loop(
    node: Node, read: Callable[[Sequence[Value]], Sequence[Value]], control: Sequence[Value],
    states: Sequence[Value], trips: Dim = ANY,
) -> Sequence[Value]:  # fmt: skip
    """Return the results of a loop in which states change their size, or which host steps are in.

    What a state is in every trip is found by reading the body: where it gives something else
    than it took, it is read again with what both have in common.
    """
    kinds = [node.kind(state) for state in states]
    for _ in range(ROUNDS):
        outer = set(node.emitter.ranges)
        taken = [sized(kind, node.opened(kind)) for kind in kinds]
        block = new_block([INDEX, FLAG, *taken])
        with node.inside(block):
            on, *made = [node.value(v) for v in read([*block.args])]
            on = node.make.reshape(on, shape=())
        found = [node.kind(value) for value in made]
        count = len(states)
        lasting = [_lasting(a, b) for a, b in zip(kinds, found[:count], strict=True)]
        if lasting == kinds:
            break
        _erase(block)
        kinds = lasting
    else:
        node.refuse("the kinds of the states change in every trip")
    finish(block, [on, *made])
    parts = [_many(part, trips) for part in found[count:]]
    specs = [_seen_outside(spec, outer) for spec in (*taken, *parts)]
    types = [sized(spec, node.opened(spec)).type for spec in specs]
    loop = HostLoop.make_from(control, states, close(block), block, types)
    node.insert(loop)
    return list(loop.results)


def _lasting(before: Spec, after: Spec) -> Spec:
    """Return what a state is before and after a trip: sizes that a trip changes are open."""
    if isinstance(before, TensorSpec) and isinstance(after, TensorSpec):
        old, new = before.shape, after.shape
        if old is not None and new is not None and len(old) == len(new):
            shape = [a if a == b else ANY for a, b in zip(old, new, strict=True)]
            if before.dtype == after.dtype:
                return before.with_shape(shape)
    return before if fits(after, before) else held(join(held(before), held(after)))


def _many(part: object, count: Dim) -> TensorSpec:
    """Return the spec of so many parts, which are tensors, one behind the other."""
    if not isinstance(part, TensorSpec):
        raise TypeError(f"a loop collects {part}, expected tensors")
    return part.with_shape((count, *part.dims))


def _seen_outside(spec: Spec, outer: set[str]) -> Spec:
    """Return a spec in which sizes that are known inside only are open."""
    if not isinstance(spec, TensorSpec) or spec.shape is None:
        return spec
    known = {*outer, str(ANY)}
    return spec.with_shape([d if dim_rules.symbols(d) <= known else ANY for d in spec.shape])


def _erase(block: Block) -> None:
    """Erase all operations of a block, so that nothing outside is used by them."""
    while (last := block.last_op) is not None:
        block.erase_op(last)


@dataclass(frozen=True)
class Along:
    """What a scan goes along: values or the places of outputs, their axes, and which way."""

    values: Sequence[Any]
    axes: Sequence[int]
    backward: Sequence[int]

    def rows(self) -> Iterator[tuple[Any, int, int]]:
        """Give value, axis and way of each."""
        return zip(self.values, self.axes, self.backward, strict=True)


@rule("Scan", until=8)
def scan_of_batches(node: Node, lengths: Value | None, *operands: Value) -> Sequence[Value]:
    """Go along the second axis, of each element of a batch by itself."""
    body, width = node.graph("body"), node.integer("num_scan_inputs")
    if not 0 < width <= len(operands):
        node.fail(f"num_scan_inputs is {width}, expected 1 to {len(operands)}")
    batch, trips = node.shape(operands[-1])[:2]
    if not isinstance(batch, int):
        node.refuse_sizes(f"a batch of {batch}, expected a number", batch)
    ends: Sequence[Dim] = [trips] * batch
    if lengths is not None:
        ends = node.sizes(lengths, "sequence_lens", trips)
    ways, columns = _listed(node, "directions", width), []
    for index, end in enumerate(ends):
        parts = [c.cut(node.emit, x, 0, index, index + 1) for x in operands]
        parts = [c.squeeze(node.emit, part, (0,)) for part in parts]
        seen = Along(parts[-width:], [0] * width, ways)
        if isinstance(end, int) and end > 0 and _is_short(body, end):
            made = _unrolled_scan(node, body, end, parts[:-width], seen)
        else:
            made = _scanned(node, body, end, parts[:-width], seen)
        count = len(operands) - width
        columns.append([*made[:count], *(_filled(node, x, trips) for x in made[count:])])
    return [c.stack(node.emit, column, 0) for column in zip(*columns, strict=True)]


def _filled(node: Node, x: Value, count: Dim) -> Value:
    """Return what a sequence gave with zeros behind it, as many as the longest one has."""
    behind = count - node.shape(x)[0]
    pads = [(0, behind), *((0, 0),) * (node.rank(x) - 1)]
    return x if isinstance(behind, int) and behind == 0 else node.make.pad(x, pads=tuple(pads))


@rule("Scan", since=9)
def scan(node: Node, *operands: Value) -> Sequence[Value]:
    """Go along an axis of some operands; unroll where it is short."""
    body, width = node.graph("body"), node.integer("num_scan_inputs")
    if not 0 < width <= len(operands):
        node.fail(f"num_scan_inputs is {width}, expected 1 to {len(operands)}")
    states, inputs = operands[:-width], operands[-width:]
    axes = _listed(node, "scan_input_axes", width)
    axes = [normalize_axis(a, node.rank(x)) for a, x in zip(axes, inputs, strict=True)]
    seen = Along(inputs, axes, _listed(node, "scan_input_directions", width))
    trips = node.shape(inputs[0])[axes[0]]
    for x, axis, _ in seen.rows():
        other = node.shape(x)[axis]
        if other != trips:
            message = f"axes of {trips} and {other} elements, expected equal ones"
            raise UnequalError(message, trips, other)
    if isinstance(trips, int) and trips > 0 and _is_short(body, trips):
        return _unrolled_scan(node, body, trips, states, seen)
    return _scanned(node, body, trips, states, seen)


def _outputs(node: Node, values: Sequence[object]) -> Along:
    axes = _listed(node, "scan_output_axes", len(values))
    return Along(values, axes, _listed(node, "scan_output_directions", len(values)))


def _unrolled_scan(
    node: Node, body: GraphProto, trips: int, states: Sequence[Value], seen: Along
) -> Sequence[Value]:
    """Return the results of a scan that is written out."""
    now, collected, before = list(states), [], node.block.last_op
    for trip in range(trips):
        number, parts = node.make.number(trip, d.i64), []
        for x, axis, back in seen.rows():
            at = trips - 1 - trip if back else trip
            parts.append(c.squeeze(node.emit, c.cut(node.emit, x, axis, at, at + 1), (axis,)))
        made = _tensors(node, node.read_graph(body, [*now, *parts], number))
        now = list(made[: len(states)])
        collected.append(made[len(states) :])
    if _differ(node, collected):
        _take_back(node, before)
        return _scanned(node, body, trips, states, seen)
    stacks = []
    for column, axis, back in _outputs(node, [*zip(*collected, strict=True)]).rows():
        at = normalize_axis(axis, node.rank(column[0]) + 1)
        stacks.append(c.stack(node.emit, column[::-1] if back else column, at))
    return [*now, *stacks]


def _scanned(
    node: Node, body: GraphProto, trips: Dim, states: Sequence[Value], seen: Along
) -> Sequence[Value]:
    """Return the results of a scan that runs: a host takes a trip that decides about sizes."""
    make, outer = node.make, set(node.emitter.ranges)
    loop = Running(node, [make.number(0, d.i64), *states])
    index, *now = loop.body.args
    with node.inside(loop.body):
        made = _trip_of_scan(node, body, trips, index, now, seen)
        following = make.add(index, make.number(1, d.i64))
    _check_states(node, states, made)
    out = _outputs(node, made[len(states) :])
    if any(_seen_outside(node.kind(part), outer) != node.kind(part) for part in out.values):
        loop.give_up()
        results = _host_scan(node, body, trips, states, seen)
    else:
        loop.results = [following, *made[: len(states)]]
        for part, _, back in out.rows():
            with node.inside(loop.body):
                at = make.sub(make.extent_of(trips - 1), index) if back else index
            loop.collect(part, at, trips)
        results = loop.run(lambda index, *others: make.less(index, make.extent_of(trips)))[1:]
    ended = [*results[: len(states)]]
    for buffer, axis in zip(results[len(states) :], out.axes, strict=True):
        at = normalize_axis(axis, node.rank(buffer))
        ended.append(c.move_axis(node.emit, buffer, 0, at))
    return ended


def _check_states(node: Node, states: Sequence[Value], made: Sequence[Value]) -> None:
    """Raise where a trip gives a state of another shape, about the first size that differs."""
    for before, after in zip(states, made, strict=False):
        kinds = node.kind(before), node.kind(after)
        shapes = [each.shape for each in kinds if isinstance(each, TensorSpec)]
        one, other = shapes if len(shapes) == 2 else (None, None)
        for dim, another in zip(one or (), other or (), strict=False):
            if dim != another:
                message = f"a state that changes from {kinds[0]} to {kinds[1]} is not supported"
                raise UnequalError(message, dim, another)


def _trip_of_scan(
    node: Node, body: GraphProto, trips: Dim, index: Value, now: Sequence[Value], seen: Along
) -> Sequence[Value]:
    """Return what a trip of a scan makes of the states and of the elements at its place."""
    make = node.make
    last = make.sub(make.extent_of(trips - 1), index)
    parts = [make.gather(x, last if back else index, axis=axis) for x, axis, back in seen.rows()]
    return _tensors(node, node.read_graph(body, [*now, *parts], index))


def _host_scan(
    node: Node, body: GraphProto, trips: Dim, states: Sequence[Value], seen: Along
) -> Sequence[Value]:
    """Return the results of a scan whose parts have sizes that a trip tells, in any order."""
    make = node.make

    def read(given: Sequence[Value]) -> Sequence[Value]:
        index, goes, *now = given
        return [goes, *_trip_of_scan(node, body, trips, index, now, seen)]

    control = make.extent_of(trips), make.number(True, d.bool_)
    results = _host_loop(node, read, control, states, trips)
    out = _outputs(node, results[len(states) :])
    turned = [c.flip(node.emit, x, (0,)) if back else x for x, _, back in out.rows()]
    return [*results[: len(states)], *turned]


def _listed(node: Node, name: str, count: int) -> list[int]:
    given = node.integers(name) or (0,) * count
    if len(given) != count:
        node.fail(f"{name} has {len(given)} numbers, expected {count}")
    return list(given)
