"""From a planned program to the plain description that entry, header and runtime are made from."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, SSAValue

from ..errors import CompileError, unbounded
from ..ir import Program, TensorSpec
from ..ir.demands import Demand
from ..ir.host import label
from ..ir.interpret.launch import ROUNDS, SCRATCH, UNITS, kernel_symbols
from ..ir.ops.control.steps import Choose, Loop
from ..ir.ops.control.steps import Repeat as RepeatOp
from ..ir.ops.structure import Buffer, Following, Launch, Tell, View
from ..ir.placement import LOWER_BOUND, WORKSPACE, PlacedWeights, placed_weights, raw_names, roles
from ..ir.program import (
    argument_names,
    by_name,
    laid_over,
    optional_function,
    requirements_of,
)
from ..ir.types import dims
from ..ir.types.tensor import spec_of, spec_of_array
from ..passes.analysis.blocks import operations_of
from ..passes.bounds.prover import Prover
from ..passes.cut_layers import LAYERS
from ..passes.note_requirements import within
from ..passes.require_sizes import Requirements, required
from ..runtime.artifact import (
    Argument,
    Copies,
    Description,
    DimInfo,
    If,
    Pointer,
    RawWeights,
    Repeat,
    Require,
    Scalar,
    SizeDemand,
    Step,
    TensorInfo,
    While,
    Work,
)
from ..runtime.artifact import Launch as LaunchStep
from ..runtime.artifact import Tell as TellStep
from ..target import Target
from .kernels.builder.outside import guarded, watch
from .kernels.builder.plan import demands_of_kernel
from .required import hide_fault
from .scratch import place_scratch
from .work import Works

ROUND = "_round"
"""The counter of the rounds of a kernel."""


@dataclass(frozen=True)
class Names:
    """What the description adds to the program."""

    tag: str
    target: Target
    slots: int
    checks: bool
    extras: dict[str, Any]
    by_units: bool = True
    """Whether no more slots are used than a launch has units."""


def describe(program: Program, names: Names) -> Description:
    """Return the description of a program of the level `loops`."""
    if LAYERS in program.module.attributes:
        raise CompileError("layers are cut out of the program, expected repeat-layers behind")
    main, prepare = program.main, optional_function(program.module, "prepare")
    demands = Demands(program, only_first=not names.target.can.check_sizes)
    run = Sequel(program, main, names, demands)
    made = Sequel(program, prepare, names) if prepare is not None else None
    rows = placed_weights(program.module)
    given = GivenWeights(program, rows)
    weights = max([row.offset + row.distance * (len(row.names) - 1) + row.size for row in rows],
                  default=0)  # fmt: skip
    model = Description(
        tag=names.tag,
        inputs=_inputs(program),
        outputs=_tensors(main, "output"),
        steps=run.steps,
        dims=_dims(program),
        demands=tuple(map(_size_demand, demands.first)),
        workspace=run.workspace,
        slots=names.slots,
        weights=-(-weights // 64) * 64,
        raw=tuple(given.raw),
        copies=given.copies,
        fixed=tuple(given.fixed),
        prepare=made.steps if made is not None else (),
        prepare_workspace=made.workspace if made is not None else 0,
        max_live=max(_number(main, LOWER_BOUND), run.live),
        target=names.target.name,
        triple=names.target.triple,
        features=tuple(names.target.features),
        checks=names.checks,
        extras=names.extras,
    )
    wanted = requirements_of(program.module)
    return watch(hide_fault(model, wanted) if wanted else model, guarded(program))


class GivenWeights:
    """The weights that are given, and what is copied into the blob."""

    def __init__(self, program: Program, rows: Sequence[PlacedWeights]) -> None:
        self.program = program
        self.raw: list[RawWeights] = []
        self.numbers: dict[str, int] = {}
        prepare = optional_function(program.module, "prepare")
        for value, names in raw_names(prepare) if prepare is not None else ():
            self.enter(names, spec_of(value.type))
        self.copies = tuple(
            copied
            for row in rows
            if not row.are_constants and row.names[0] in program.weights
            for copied in self.copied(row)
        )
        stacked, self.fixed = 0, list[Copies]()
        for row in rows if self.raw or prepare is not None else ():
            if row.are_constants:
                count, size = len(row.names), row.size
                self.fixed.append(Copies(stacked, row.offset, size, count, size, row.distance))
                stacked += count * size

    def enter(self, names: Sequence[str], spec: TensorSpec) -> None:
        """Have weights be given that are of one type."""
        shape = tuple(size for size in spec.dims if isinstance(size, int))
        assert len(shape) == spec.rank, f"weight {names[0]!r} has the symbolic shape {spec}"
        first = len(self.numbers)
        self.numbers.update(zip(names, range(first, first + len(names)), strict=True))
        self.raw.append(RawWeights(tuple(names), spec.dtype.name, shape))

    def copied(self, row: PlacedWeights) -> Iterator[Copies]:
        """Give what is copied of weights that are used as they are given."""
        names, offset, size, distance = row
        numbers = [self.numbers.get(name) for name in names]
        if not any(number is not None for number in numbers):
            self.enter(names, spec_of_array(self.program.weights[names[0]]))
            numbers = [self.numbers[name] for name in names]
        first, *others = numbers
        assert first is not None, "of weights of layers all are given, or none"
        step = others[0] - first if others and others[0] is not None else 1
        assert numbers == [first + step * number for number in range(len(names))], "of all layers"
        if size:
            yield Copies(first, offset, size, len(names), step, distance)


def _inputs(program: Program) -> tuple[TensorInfo, ...]:
    """Return the inputs, with the ranges that a run wants of their integers."""
    known = within(program)
    tensors = enumerate(_tensors(program.main, "input"))
    return tuple([replace(x, within=known[i]) if i in known else x for i, x in tensors])


def _tensors(function: FuncOp, role: str) -> tuple[TensorInfo, ...]:
    over = laid_over(function.arg_attrs)
    rows = zip(
        argument_names(function), function.function_type.inputs, roles(function), strict=True
    )
    return tuple(
        _info(name, spec_of(kind), over.get(i))
        for i, (name, kind, found) in enumerate(rows)
        if found == role
    )


def _info(name: str, spec: TensorSpec, over: int | None) -> TensorInfo:
    shape = tuple(d if isinstance(d, int) else str(d) for d in spec.dims)
    return TensorInfo(name, spec.dtype.name, shape, over)


def _dims(program: Program) -> tuple[DimInfo, ...]:
    """Return the ranges of the symbols that inputs have, in the order of the inputs."""
    ranges = program.ranges
    found: dict[str, DimInfo] = {}
    for tensor in _tensors(program.main, "input"):
        for extent in tensor.shape:
            if isinstance(extent, str):
                for name in sorted(dims.symbols(dims.parse(extent))):
                    low, high = ranges.get(name, (1, None))
                    if high is None:
                        raise unbounded(name)
                    found.setdefault(name, DimInfo(name, low, high))
    return tuple(found.values())


def _number(function: FuncOp, name: str) -> int:
    row = function.attributes.get(name)
    return int(row.value.data) if isinstance(row, IntegerAttr) else 0


class Sequel:
    """The steps of one function in order, and the workspace that they need with scratch."""

    def __init__(
        self, program: Program, function: FuncOp, names: Names, demands: Demands | None = None
    ) -> None:
        self.demands = demands
        self.works = Works(counted=program.level != "loops")
        self.kernels, self.places = by_name(program.module), Places(function)
        launches = [op for op in operations_of(function) if isinstance(op, Launch)]
        needs = [self.scratch_of(op, names, program.ranges) for op in launches]
        length = _number(function, WORKSPACE)
        offsets, self.live = place_scratch(function, needs, program.ranges, length)
        ends = [offset + need for offset, need in zip(offsets, needs, strict=True)]
        self.workspace = max([length, *ends])
        self.scratch = {
            op: offset if need else None
            for op, offset, need in zip(launches, offsets, needs, strict=True)
        }
        self.steps = self.steps_of(function.body.block)

    def scratch_of(self, op: Launch, names: Names, ranges: dict[str, dims.Range]) -> int:
        """Return the bytes of all slots that a launch may use."""
        kernel, slots = self.kernel(op), names.slots
        _, most = dims.bounds(_units(op, kernel), ranges)
        if names.by_units and most is not None:
            slots = min(slots, max(most, 1))
        return slots * int(_text(kernel, SCRATCH, "0"))

    def steps_of(self, block: Block, *, inside: bool = False, trips: int = 1) -> tuple[Step, ...]:
        """Return the steps of a block, which is run so many times.

        Of one inside of another, not every run comes to them.
        """
        made: list[Step] = []
        steps_of = partial(self.steps_of, inside=True, trips=trips)
        for op in block.ops:
            match op:
                case Launch():
                    if self.demands is not None:
                        made += self.demands.before(op, self.kernel(op), inside=inside)
                    made.append(self.launch(op, trips))
                case Tell():
                    made += self.tell(op)
                case Choose():
                    flag = self.places.pointer(op.operands[0])
                    made.append(If(flag, *map(steps_of, op.blocks)))
                case Loop():
                    flag = self.places.pointer(op.operands[0])
                    test, body = map(steps_of, op.blocks)
                    made.append(While(test, flag, body))
                case RepeatOp():
                    every = self.steps_of(op.blocks[0], inside=inside, trips=trips * op.trips)
                    made.append(Repeat(op.index, op.trips, every))
        return tuple(made)

    def tell(self, op: Tell) -> list[Step]:
        """Return the step that gives a size its value, and what must be found of it then."""
        rules, count = op.plain_attributes(), self.places.pointer(op.operands[0])
        name = str(rules["size"])
        if self.demands is None:
            return [TellStep(name, count, _extent(rules["most"]))]
        return [TellStep(name, count, _extent(rules["most"])), *self.demands.told(name)]

    def launch(self, op: Launch, trips: int) -> Step:
        """Return the step that launches a kernel so many times."""
        kernel = self.kernel(op)
        work = self.works.of(op, kernel)
        if trips > 1:
            work = replace(work, numbers=tuple([trips * number for number in work.numbers]))
        return _launch(op, kernel, self.places, self.scratch[op], work)

    def kernel(self, op: Launch) -> FuncOp:
        """Return the kernel that is launched."""
        return self.kernels[op.kernel]


class Demands:
    """What runs must find of their dimensions: what was noted of the model, and of its kernels."""

    def __init__(self, program: Program, *, only_first: bool) -> None:
        self.requirements = Requirements(Prover(program.ranges))
        tells = [op for op in operations_of(program.main) if isinstance(op, Tell)]
        self.unknown = {str(op.plain_attributes()["size"]) for op in tells}
        """Sizes that the run has still to find out."""
        self.later: list[Demand] = []
        for demand in required(program.module):
            if self.unknown & dims.symbols(demand.spare):
                self.later.append(demand)
            else:
                self.requirements.add(demand)
        self.found = frozenset(self.unknown)
        self.first: list[Demand] = self.requirements.demands
        """Those that every run must meet."""
        self.only_first = only_first
        """Whether what not every run comes to counts as well."""
        self.known: dict[str, Sequence[Demand]] = {}

    def told(self, name: str) -> list[Step]:
        """Return what must be looked at as soon as the run has found out a size."""
        self.unknown.discard(name)
        now = [each for each in self.later if not self.unknown & dims.symbols(each.spare)]
        self.later = [each for each in self.later if each not in now]
        return [Require(_size_demand(each)) for each in now]

    def before(self, op: Launch, kernel: FuncOp, *, inside: bool) -> list[Step]:
        """Return what must be looked at before a launch."""
        used = {name for size in op.sizes for name in dims.symbols(size)}
        assert not used & self.unknown, f"{label(op)}: sizes {used & self.unknown} come later"
        name = kernel.sym_name.data
        if name not in self.known:
            self.known[name] = demands_of_kernel(kernel)
        values = dict(zip(kernel_symbols(kernel), op.sizes, strict=True))
        made: list[Step] = []
        for demand in self.known[name]:
            small, large = (dims.substitute(d, values) for d in (demand.small, demand.large))
            here = Demand(small, large, f"{label(op)}: {demand.text}")
            own = self.found & dims.symbols(here.spare)
            if self.only_first or not (inside or own):
                self.requirements.add(here)
            elif not self.requirements.follows(here):
                made.append(Require(_size_demand(here)))
        return made


def _size_demand(demand: Demand) -> SizeDemand:
    return SizeDemand(_extent(demand.small), _extent(demand.large), demand.text)


def _launch(op: Launch, kernel: FuncOp, places: Places, scratch: int | None, work: Work) -> Step:
    sizes = op.sizes
    arguments: list[Argument] = [places.pointer(operand) for operand in op.operands]
    if scratch is not None:
        arguments.append(Pointer("workspace", 0, scratch))
    arguments += [Scalar(_extent(d)) for d in sizes]
    count = _units(op, kernel)
    rounds = _text(kernel, ROUNDS, "")
    name = kernel.sym_name.data
    if not rounds:
        return LaunchStep(name, tuple(arguments), _extent(count), work=work)
    arguments.append(Scalar(ROUND))
    step = LaunchStep(name, tuple(arguments), _extent(count), work=work)
    return Repeat(ROUND, _extent(_of_launch(rounds, op, kernel)), (step,))


def _units(op: Launch, kernel: FuncOp) -> dims.Dim:
    """Return how many units of work a launch has, which threads share."""
    return _of_launch(_text(kernel, UNITS, "1"), op, kernel)


def _of_launch(text: str, op: Launch, kernel: FuncOp) -> dims.Dim:
    """Return a size that a kernel states by its own symbols, with those of a launch."""
    values = dict(zip(kernel_symbols(kernel), op.sizes, strict=True))
    return dims.substitute(dims.parse(text), values)


def _extent(dim: dims.Dim) -> int | str:
    return dim if isinstance(dim, int) else str(dim)


def _text(function: FuncOp, name: str, default: str) -> str:
    row = function.attributes.get(name)
    return row.data if isinstance(row, StringAttr) else default


class Places:
    """Where the values of a planned function lie."""

    def __init__(self, function: FuncOp) -> None:
        self.known: dict[SSAValue, Pointer] = {}
        counts: dict[str, int] = {}
        several = {value: len(names) for value, names in raw_names(function)}
        for argument, role in zip(function.body.block.args, roles(function), strict=True):
            index = counts.get(role, 0)
            counts[role] = index + several.get(argument, 1)
            base: Any = role if role in ("workspace", "weights", "host") else None
            made = Pointer(base) if base else Pointer(role, index)  # type: ignore[arg-type]
            self.known[argument] = made

    def pointer(self, value: SSAValue) -> Pointer:
        """Return the place of a buffer, through views."""
        found = self.known.get(value)
        if found is None:
            found = self.known[value] = self._find(value)
        return found

    def _find(self, value: SSAValue) -> Pointer:
        owner = value.owner
        if isinstance(owner, View):
            return self.pointer(owner.operands[0])
        if isinstance(owner, Following):
            first = self.pointer(owner.operands[0])
            assert isinstance(first.index, int), "an argument is one"
            return Pointer(first.base, _extent(first.index + owner.by))
        assert isinstance(owner, Buffer), f"{owner} is no place in memory"
        base = self.pointer(owner.operands[0])
        return Pointer(base.base, base.index, _extent(owner.offset))
