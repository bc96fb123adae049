"""Put layers back that `cut-layers` took out: launches that recur become a loop over weights.

    gv.launch %0, %w1, %1 {k0}                     %w1 = gv.buffer %weights {offset = 64}
    gv.launch %1, %w2, %0 {k0}                     gv.repeat ({
    gv.launch %0, %w3, %1 {k0}          =>           %w = gv.buffer %weights {offset = 64 + _layer}
    gv.launch %1, %w4, %0 {k0}                       gv.launch %0, %w, %1 {k0} ...
    ...                                            }) {index = "_layer", trips = 496}

What stands in the middle of the program is what becomes of any inner layer: launches that come
again at least three times, on the same places in memory, each time with the weights of so many
layers later. So as many more of them are what the missing layers would have become. Their weights
get places between those of the others, at equal distances; `@prepare` makes them in loops of its
own, from arguments that stand one behind the other.

Where launches do not recur so, nothing is changed and `LayersDifferError` says why: the program is
compiled as a whole then. Needs `plan-memory`. Who waits for whom is not said of launches any more.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from ..errors import CompileError
from ..ir import SOURCE, Program, erase, move_operations, operands_of, operations, replace_uses
from ..ir.ops.control.steps import Repeat, Steps
from ..ir.ops.structure import Buffer, Following, Launch, Tell, View, Yield
from ..ir.placement import FOLLOWERS, WEIGHTS, align, roles, weight_rows, weights_row
from ..ir.program import NAME, argument_names, optional_function
from ..ir.types import dims
from ..ir.types.attributes import integer_attribute, to_attribute
from ..ir.types.tensor import spec_of
from .analysis.blocks import operations_of
from .analysis.chains import CONSTANT, TOGETHER, Run, find_run
from .analysis.numbers import Numbers
from .base import Pass
from .cut_layers import LAYERS, MissingLayers, sources_of

LEAST = 3
"""So often launches must recur."""
INDEX = "_layer"
"""What counts the trips."""
PREPARED = "prepared.layers."
"""What the names of prepared weights of layers that were missing begin with."""


class LayersDifferError(CompileError):
    """Layers that are equal did not become equal launches: they cannot be one loop.

    The program is compiled as a whole instead; nobody sees this error.
    """


@dataclass(frozen=True)
class RepeatLayers(Pass):
    """Put layers back that `cut-layers` took out: launches that recur become a loop."""

    LEVEL = "planned"
    NUMERICS = "approximate"  # it is compared with what there was before `cut-layers`

    def apply(self, program: Program) -> None:
        """Find what recurs, then write the loops."""
        cut = MissingLayers.of(program.module)
        if cut is None:
            return
        layout = WeightPlaces(program, cut)
        layout.check()
        layout.write()
        del program.module.attributes[LAYERS]
        self.count("trips", layout.trips)


@dataclass(eq=False)
class Family:
    """A weight of each trip: the places in memory that one operand has, trip after trip."""

    rows: list[str]
    """Their names, of the trips that are there."""
    layer: int
    """Whose weight it is in the first trip."""
    size: int
    given: Sequence[str] | None
    """The names in all layers where it is used as it was given."""
    offset: dims.Dim = 0


class WeightPlaces:
    """What recurs in a program, and where the weights of all layers lie."""

    def __init__(self, program: Program, cut: MissingLayers) -> None:
        self.program, self.cut, self.module = program, cut, program.module
        self.rows = weight_rows(program.module)
        if any(not size for _, _, size in self.rows):
            raise LayersDifferError("a weight has no elements")
        self.at = {offset: name for name, offset, _ in self.rows}
        self.sizes = {name: size for name, _, size in self.rows}
        self.layers: dict[str, tuple[int, int]] = {}
        """Of a weight that layers have of their own: which it is, and of which layer."""
        for number, names in enumerate(cut.weights):
            kept = [*names[: cut.first], *names[cut.first + cut.missing :]]
            self.layers.update((name, (number, layer)) for layer, name in enumerate(kept))
        self.main = Function(self, program.main)
        prepare = optional_function(program.module, "prepare")
        self.prepare = Function(self, prepare) if prepare is not None else None
        self.made = self.prepare.layers_made() if self.prepare is not None else {}
        self.families: dict[tuple[str, ...], Family] = {}
        self.label: dict[str, tuple[Family, int]] = {}
        self.offsets: dict[str, int] = {}
        """Where weights lie that are not those of trips."""
        self.tables: dict[int, tuple[int, int]] = {}
        """Where constants lie that `@prepare` reads, and at which distance, by their numbers."""
        self.run, self.step, self.trips = self.find()
        self.runs = self.prepare.find_runs() if self.prepare is not None else []

    # -- finding --------------------------------------------------------------------------

    def find(self) -> tuple[Run, int, int]:
        """Return what recurs in the entry, of how many layers a trip is, and how many are due."""
        run = find_run(self.main.tokens(), LEAST)
        if run is None:
            raise LayersDifferError("no launches recur")
        faults = list[LayersDifferError]()
        for each in turns(run):
            try:
                return self.found_in(each)
            except LayersDifferError as error:
                faults.append(error)
        raise faults[0]

    def found_in(self, run: Run) -> tuple[Run, int, int]:
        """Return a run as `find` does, or raise `LayersDifferError` where it mixes weights up."""
        self.families.clear()
        self.label.clear()
        steps = set()
        for place in range(run.period):
            every = self.main.steps[run.start + place :: run.period][: run.times]
            for number in range(len(operands_of(every[0]))):
                names = [self.main.row(operands_of(launch)[number]) for launch in every]
                if names[0] is not None and len(set(names)) > 1:
                    steps.add(self.enter([name for name in names if name is not None]))
        steps = steps or self.steps_by_sources(run)
        if len(steps) != 1:
            raise LayersDifferError("launches that recur are not all of as many layers")
        [step] = steps
        if step < 1 or self.cut.missing % step:
            raise LayersDifferError(f"launches recur after {step} layers, {self.cut.missing} miss")
        return run, step, run.times + self.cut.missing // step

    def steps_by_sources(self, run: Run) -> set[int]:
        """Return of how many layers a trip is, by the nodes that launches are of."""
        layers = {name: layer for layer, row in enumerate(self.cut.sources) for name in row}
        steps = set[int]()
        for place in range(run.period):
            every = self.main.steps[run.start + place :: run.period][: run.times]
            found = [[layers[n] for n in sources_of(op) if n in layers] for op in every]
            if all(found):
                steps |= {after - before for before, after in pairwise(map(min, found))}
        return steps

    def enter(self, names: list[str]) -> int:
        """Enter the weights that an operand has in each trip; return of how many layers one is."""
        layers = [self.layer_of(name) for name in names]
        steps = {after - before for before, after in pairwise(layers)}
        if len(set(names)) < len(names) or len(steps) != 1 or min(steps) < 1:
            raise LayersDifferError(f"weight {names[0]!r} does not go from layer to layer")
        key = tuple(names)
        if key not in self.families:
            known = self.layers.get(names[0])
            given = self.cut.weights[known[0]] if known is not None else None
            if layers[0] >= self.cut.first:
                raise LayersDifferError(f"weight {names[0]!r} is of a layer behind the others")
            made = Family(names, layers[0], self.sizes[names[0]], given)
            self.families[key] = made
            for trip, name in enumerate(names):
                if self.label.setdefault(name, (made, trip)) != (made, trip):
                    raise LayersDifferError(f"weight {name!r} is used in two ways")
                if self.sizes[name] != made.size or (name in self.layers) != (given is not None):
                    raise LayersDifferError(f"weight {name!r} is unlike others")
        return steps.pop()

    def among_all(self, layer: int) -> int:
        """Return the number among all layers of one of those that were left."""
        return layer if layer < self.cut.first else layer + self.cut.missing

    def layer_of(self, name: str) -> int:
        """Return the layer whose weight this is."""
        layer = self.layers[name][1] if name in self.layers else self.made.get(name)
        if layer is None:
            raise LayersDifferError(f"weight {name!r} is of no layer")
        return layer

    def check(self) -> None:
        """Raise `LayersDifferError` unless each weight of each layer comes up where it should."""
        run = self.run
        for index, step in enumerate(self.main.steps):
            if run.start <= index < run.start + run.period * run.times:
                continue
            for launch in (step, *launches_inside(step)):
                for name in filter(None, map(self.main.row, operands_of(launch))):
                    if name in self.label:
                        raise LayersDifferError(f"weight {name!r} is used outside of its layer")
                    layer = self.layers[name][1] if name in self.layers else None
                    if layer is not None and (layer < self.cut.first) != (index < run.start):
                        raise LayersDifferError(f"weight {name!r} is used far from its layer")
        due = {(id(f), trip) for f in self.families.values() if f.given is None
               for trip in range(run.times)}  # fmt: skip
        made = {(id(f), trip) for each in self.runs for f, trip in each.made}
        if made != due:
            raise LayersDifferError("prepared weights are not made in as many trips")

    # -- writing --------------------------------------------------------------------------

    def write(self) -> None:
        """Give weights their places, and write the loops."""
        rows = self.place()
        for function in (self.main, self.prepare):
            if function is not None:
                function.move_weights(self.offsets)
        self.main.repeat(self.run, self.trips)
        if self.prepare is not None:
            for each in self.runs:
                self.prepare.repeat(each.run, self.trips)
            self.prepare.gather_arguments()
            self.prepare.tidy()
        self.main.tidy()
        self.module.attributes[WEIGHTS] = ArrayAttr(rows)

    def place(self) -> list[Attribute]:
        """Give weights their places, those of a trip together; return the rows that say so."""
        rows: list[Attribute] = []
        done: set[bool] = set()
        end = 0
        for name, _, size in sorted(self.rows, key=lambda row: row[1]):
            if name not in self.label:
                self.offsets[name] = end
                rows.append(to_attribute((name, end, size)))
                end += align(size)
                continue
            kind = self.label[name][0].given is None
            if kind not in done:
                done.add(kind)
                more, end = self.block(kind, end)
                rows += more
        return [*rows, *self.constants(end)]

    def constants(self, offset: int) -> Iterator[Attribute]:
        """Place the constants that `@prepare` reads; give the rows that say so.

        They are no arguments of it: nobody gives them.
        """
        given = self.prepare.names if self.prepare is not None else ()
        for name in given:
            number, _ = self.layers.get(name, (-1, 0))
            if number in self.tables or not name.startswith(CONSTANT):
                continue
            names = self.cut.weights[number]
            size = self.program.weights[name].nbytes
            self.tables[number] = offset, align(size)
            yield weights_row(names, offset, size, align(size))
            offset += align(size) * len(names)

    def block(self, is_prepared: bool, offset: int) -> tuple[list[Attribute], int]:
        """Place the weights of all trips; return their rows, and what is behind them."""
        offsets = {name: at for name, at, _ in self.rows}
        families = [f for f in self.families.values() if (f.given is None) == is_prepared]
        families.sort(key=lambda family: offsets[family.rows[1]])
        distance = sum(align(family.size) for family in families)
        end = offset + self.trips * distance
        rows: list[Attribute] = []
        for number, family in enumerate(families):
            family.offset = offset + distance * dims.symbol(INDEX)
            if family.given is not None:
                last = family.layer + self.step * self.trips
                names = [*family.given[family.layer : last : self.step]]
            else:
                more = range(self.trips - len(family.rows))
                names = [*family.rows, *(f"{PREPARED}{number}.{trip}" for trip in more)]
            rows.append(weights_row(names, offset, family.size, distance))
            offset += align(family.size)
        return rows, end


def turns(run: Run) -> Iterator[Run]:
    """Give a run, and what it is if layers that use weights by turns are one, wherever they begin.

    >>> [(each.start, each.period, each.times) for each in turns(Run(4, 1, 7))]
    [(4, 1, 7), (4, 2, 3), (5, 2, 3)]
    """
    length = run.period * run.times
    for period in range(run.period, TOGETHER * run.period + 1, run.period):
        for start in range(period):
            if (times := (length - start) // period) >= LEAST:
                yield Run(run.start + start, period, times)


@dataclass(frozen=True)
class Recurrence:
    """A stretch of `@prepare` that recurs, and the weights that it makes."""

    run: Run
    made: Sequence[tuple[Family, int]]


@dataclass(frozen=True)
class Described:
    """A launch of `@prepare`: what it is, of which layers its operands are, and what it makes."""

    key: object
    layers: Sequence[int]
    made: Sequence[tuple[Family, int]]

    def comes_again(self, other: Described, step: int) -> bool:
        """Say whether another one does the same so many layers later, for the next trip."""
        return (
            self.key == other.key
            and [layer + step for layer in self.layers] == other.layers
            and [(family, trip + 1) for family, trip in self.made] == other.made
        )


class Function:
    """The launches of a function, and where their operands lie."""

    def __init__(self, layout: WeightPlaces, function: FuncOp) -> None:
        self.layout, self.function, self.block = layout, function, function.body.block
        self.number = Numbers()
        self.steps = [op for op in operations(self.block) if isinstance(op, Launch | Steps | Tell)]
        self.names = argument_names(function)
        self.roles = roles(function)
        buffers = [op for op in operations_of(function) if isinstance(op, Buffer)]
        self.rows: dict[Operation, str] = {
            op: layout.at[op.offset]  # type: ignore[index]
            for op in buffers
            if self.role(op.operands[0]) == "weights"
        }
        """The names of the weights that lie where buffers are."""

    def base(self, value: SSAValue) -> SSAValue:
        """Return what a value is a view of."""
        while isinstance(value.owner, View):
            value = value.owner.operands[0]
        return value

    def row(self, value: SSAValue) -> str | None:
        """Return the name of the weight that lies where a value is; None for other places."""
        owner = self.base(value).owner
        return self.rows.get(owner) if isinstance(owner, Buffer) else None

    def raw(self, value: SSAValue) -> str | None:
        """Return the name of the argument that a value is; None if it is none that was given."""
        base = self.base(value)
        return self.names[base.index] if isinstance(base, BlockArgument) else None

    def role(self, value: SSAValue) -> str:
        """Return the role of an argument."""
        assert isinstance(value, BlockArgument), "spaces are arguments"
        return self.roles[value.index]

    def place(self, value: SSAValue) -> tuple[object, ...]:
        """Return where a value lies, weights of the blob left open."""
        base = self.base(value)
        if isinstance(base, BlockArgument):
            return ("argument", base.index)
        assert isinstance(base.owner, Buffer), "a value lies in a buffer"
        role = self.role(base.owner.operands[0])
        return (role,) if role == "weights" else (role, base.owner.offset)

    def tokens(self) -> list[int]:
        """Return a number for each step that launches of the same share."""
        known: dict[object, int] = {}
        return [
            known.setdefault(self.key(op, map(self.place, operands_of(op))), len(known))
            if isinstance(op, Launch)
            else -1 - index
            for index, op in enumerate(self.steps)
        ]

    def key(self, op: Operation, places: Iterator[tuple[object, ...]]) -> object:
        """Return what a launch is, with its operands lying at these places."""
        own = [(n, self.number(a)) for n, a in op.properties.items() if n != "after"]
        return tuple(own), tuple(places), tuple([self.number(v.type) for v in operands_of(op)])

    # -- of `@prepare` --------------------------------------------------------------------

    def layers_made(self) -> dict[str, int | None]:
        """Return the layer of each prepared weight; None where it is not of one."""
        known: dict[SSAValue, set[int]] = {}
        found: dict[str, int | None] = {}
        for op in self.steps:
            if not isinstance(op, Launch):
                raise LayersDifferError("weights are not prepared straight on")
            values = operands_of(op)
            layers: set[int] = set()
            for value in values[: op.inputs]:
                name = self.raw(value)
                if name in self.layout.layers:
                    layers.add(self.layout.layers[name][1])
                layers |= known.get(self.base(value), set())
            for value in values[op.inputs :]:
                known[self.base(value)] = layers
                if (row := self.row(value)) is not None:
                    found[row] = min(layers) if len(layers) == 1 else None
        return found

    def find_runs(self) -> list[Recurrence]:
        """Return the stretches that recur in as many trips as there are in the entry."""
        rows = [self.described(op) for op in self.steps]
        found, start, times = list[Recurrence](), 0, self.layout.run.times
        while start < len(rows):
            most = (len(rows) - start) // times
            period = next((p for p in range(1, most + 1) if self.recurs(rows, start, p)), 0)
            if not period:
                start += 1
                continue
            run = Run(start, period, times)
            made = [each for row in rows[start : start + period * times] for each in row.made]
            found.append(Recurrence(run, made))
            start += period * times
        return found

    def recurs(self, rows: Sequence[Described], start: int, period: int) -> bool:
        """Say whether steps come again and again, of the layers and the weights of each trip."""
        end = start + period * (self.layout.run.times - 1)
        step = self.layout.step
        if any(trip for row in rows[start : start + period] for _, trip in row.made):
            return False
        if not any(row.made for row in rows[start : start + period]):
            return False
        return all(rows[i].comes_again(rows[i + period], step) for i in range(start, end))

    def described(self, op: Operation) -> Described:
        """Return what a launch of `@prepare` is, and of which layers and trips."""
        places: list[tuple[object, ...]] = []
        layers: list[int] = []
        made: list[tuple[Family, int]] = []
        for value in operands_of(op):
            name, row = self.raw(value), self.row(value)
            if name in self.layout.layers:
                number, layer = self.layout.layers[name]
                places.append(("given", number))
                layers.append(layer)
            elif row in self.layout.label:
                family, trip = self.layout.label[row]
                places.append(("family", id(family)))
                made.append((family, trip))
            else:
                places.append((*self.place(value), row))
        return Described(self.key(op, iter(places)), layers, made)

    # -- writing --------------------------------------------------------------------------

    def move_weights(self, offsets: Mapping[str, int]) -> None:
        """Write where weights lie now; those of trips are written in the loop."""
        for op, name in self.rows.items():
            if name in offsets:
                op.properties["offset"] = integer_attribute(offsets[name])
        for launch in operations_of(self.function):
            if isinstance(launch, Launch):
                launch.properties.pop("after", None)

    def repeat(self, run: Run, trips: int) -> None:
        """Let the first launches of a run be a loop of so many trips; the others go."""
        every = self.steps[run.start : run.start + run.period * run.times]
        first, last = every[: run.period], every[-run.period :]
        body = Block()
        made = Repeat.make_of(INDEX, trips, body)
        self.block.insert_op_before(made, first[0])
        self.lift(first, made)
        stand = self.stand_ins(every, run.period)
        for op, end in zip(first, last, strict=True):
            for number, value in enumerate(operands_of(op)):
                op.operands[number] = self.inside(value, body)
            if SOURCE in op.attributes:
                op.attributes[SOURCE] = spanned(op.attributes[SOURCE], end.attributes.get(SOURCE))
            self.block.detach_op(op)
            body.add_op(op)
        body.add_op(Yield.make())
        for op in every[run.period :]:
            erase(op)
        for old, new in stand.items():
            replace_uses(old, new)

    def lift(self, first: Sequence[Operation], loop: Operation) -> None:
        """Put what says where things lie before the loop."""
        op: Operation | None = first[0]
        while op is not None and op is not first[-1]:
            behind = op.next_op
            if isinstance(op, Buffer | View):
                self.block.detach_op(op)
                self.block.insert_op_before(op, loop)
            op = behind

    def stand_ins(self, every: Sequence[Operation], period: int) -> dict[SSAValue, SSAValue]:
        """Return for buffers of later trips those of the first one, which lie at the same places.

        What a trip writes for the next is what the first one reads: one buffer, in all trips.
        """
        found: dict[SSAValue, SSAValue] = {}

        def stand_in(value: SSAValue) -> SSAValue:
            while value in found:
                value = found[value]
            return value

        for before, after in zip(every, every[period:], strict=False):
            for old, new in zip(operands_of(after), operands_of(before), strict=True):
                later, first = stand_in(self.base(old)), stand_in(self.base(new))
                owner = later.owner
                if later is first or not isinstance(owner, Buffer) or owner in self.rows:
                    continue
                if later.type != first.type or self.place(later) != self.place(first):
                    raise LayersDifferError("launches that recur have unlike buffers")
                found[later] = first
        return {value: stand_in(value) for value in found}

    def inside(self, value: SSAValue, body: Block) -> SSAValue:
        """Return what an operand of the first trip is in the trips of the loop."""
        base, row = self.base(value), self.row(value)
        found = self.layout.label.get(row) if row is not None else None
        made: Buffer | Following | View
        if found is not None:
            space = base.owner.operands[0]  # type: ignore[union-attr]
            made = Buffer.at(space, found[0].offset, spec_of(base.type))
        elif (name := self.raw(value)) in self.layout.layers:
            first, by = self.layout.layers[name][1], self.layout.step * dims.symbol(INDEX)
            made = self.constant(base, first + by) or Following.of(base, by)
        else:
            return value
        body.add_op(made)
        if value is base:
            return made.results[0]
        made = View.as_spec(made.results[0], spec_of(value.type))
        body.add_op(made)
        return made.results[0]

    def constant(self, argument: SSAValue, layer: dims.Dim) -> Buffer | None:
        """Return where the constant of a layer lies that an argument is; None if it is a weight."""
        number, _ = self.layout.layers.get(self.raw(argument) or "", (-1, 0))
        if number not in self.layout.tables:
            return None
        offset, distance = self.layout.tables[number]
        [space] = [x for x in self.block.args if self.role(x) == "weights"]
        return Buffer.at(space, offset + distance * layer, spec_of(argument.type))

    def tidy(self) -> None:
        """Take away what says where things lie that nobody asks for."""
        for op in reversed(operations(self.block)):
            if isinstance(op, Buffer | View) and op.results[0].first_use is None:
                erase(op)

    def gather_arguments(self) -> None:
        """Let one argument stand for a weight of all layers."""
        rows = self.function.arg_attrs
        assert rows is not None, "arguments have names"
        made = Block()
        kinds: dict[object, tuple[BlockArgument, DictionaryAttr]] = {}
        old = zip(list(self.block.args), self.roles, self.names, rows.data, strict=True)
        for argument, role, name, row in old:
            known = self.layout.layers.get(name) if role == "raw" else None
            if known is None:
                kinds[role, name] = made.insert_arg(argument.type, len(made.args)), row
                kinds[role, name][0].name_hint = argument.name_hint
                replace_uses(argument, kinds[role, name][0])
                continue
            number, layer = known
            layer = self.layout.among_all(layer)
            if (place := self.constant(argument, layer)) is not None:
                self.stand_for(argument, place)
                continue
            if number not in kinds:
                names = self.layout.cut.weights[number]
                own = {NAME: StringAttr(names[0]), FOLLOWERS: StringAttr(json.dumps(names))}
                whole = made.insert_arg(argument.type, len(made.args))
                kinds[number] = whole, DictionaryAttr({**row.data, **own})
            self.follow(argument, kinds[number][0], layer)
        move_operations(self.block, made)
        region = self.function.body
        region.detach_block(self.block)
        region.add_block(made)
        self.block = made
        types = [argument.type for argument in made.args]
        self.function.function_type = FunctionType.from_lists(types, [])
        self.function.properties["arg_attrs"] = ArrayAttr([row for _, row in kinds.values()])

    def follow(self, argument: BlockArgument, whole: BlockArgument, layer: int) -> None:
        """Let the weight of a layer be one of those that an argument stands for."""
        for use in list(argument.uses):
            if isinstance(use.operation, Following):
                use.operation.properties["by"] = to_attribute(use.operation.by + layer)
                use.operation.operands[use.index] = whole
        self.stand_for(argument, Following.of(whole, layer))

    def stand_for(self, argument: BlockArgument, one: Operation) -> None:
        """Let what an operation makes, put first, stand for an argument where that is used."""
        if argument.first_use is None:
            return
        first = self.block.first_op
        assert first is not None, "what is used is used by something"
        self.block.insert_op_before(one, first)
        one.results[0].name_hint = argument.name_hint
        replace_uses(argument, one.results[0])


def launches_inside(step: Operation) -> list[Launch]:
    """Return the launches in a choice or a loop."""
    return [op for op in step.walk() if isinstance(op, Launch) and op is not step]


def spanned(first: Attribute, last: Attribute | None) -> Attribute:
    """Return the nodes of all trips by those of the first and of the last.

    >>> spanned(StringAttr("a1"), StringAttr("a9")).data
    'a1 ... a9'
    """
    if isinstance(first, StringAttr) and isinstance(last, StringAttr):
        return first if first == last else StringAttr(f"{first.data} ... {last.data}")
    if not isinstance(first, ArrayAttr) or not isinstance(last, ArrayAttr):
        return first
    if len(first) != len(last):
        return first
    return ArrayAttr([spanned(a, b) for a, b in zip(first.data, last.data, strict=True)])
