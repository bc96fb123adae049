"""Programs that were cut and go straight on: what an interpreter asks anew in each run, asked once.

Pieces and host steps in a row, with no other device: labels that are texts behind a classifier,
categories in front of one, elements that a condition selects, calls of Python, choices and loops of
such, and of sequences. Between so little work each question about an operation's class, operands
and attributes is half of the run.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from operator import itemgetter
from typing import Protocol, TypeAlias

import numpy as np
from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.ir import Block, Operation, SSAValue

from ...counting import is_counted
from ...ir import Array, DimExpr, Interpreter, Op, TensorSpec
from ...ir.host import REFUSALS, HostOp, refused, symbols_in, symbols_inside
from ...ir.interpret.graph import resolve
from ...ir.ops.control.control import If, While
from ...ir.ops.host.host_control import HostIf, HostLoop, stacked
from ...ir.ops.host.late import ReadSizes, Room
from ...ir.ops.host.python_step import PythonStep
from ...ir.ops.layout import Reshape
from ...ir.ops.structure import Weight, Yield
from ...ir.types import dims
from ...ir.types.dims import Dim
from ...ir.types.values import Spec, value_spec
from ...runtime.tracing import EARS
from ..values.texts import as_objects
from .loops import computing, is_loop

Compute: TypeAlias = Callable[..., Sequence[Array]]
Shape: TypeAlias = tuple[int | str | DimExpr, ...]
"""A shape with names for sizes that are symbols."""

CONTROL = (HostIf, HostLoop, If, While)
NOTHING = np.empty(0)


class Runs(Protocol):
    """A compiled piece."""

    @property
    def driver(self) -> object:
        """Return the device that it runs on; None for the processor."""

    @property
    def run(self) -> Compute:
        """Return what gives its results of a sequence of arrays."""

    @property
    def is_constant(self) -> bool:
        """Say whether its results are the same in each run."""


class Goes(Protocol):
    """A loop that is compiled as it is."""

    @property
    def run(self) -> Compute:
        """Return what gives its results of a sequence of arrays."""


@dataclass(frozen=True)
class Around:
    """What there is of a program that was cut, beside the operations between."""

    pieces: Mapping[str, Runs]
    whole: Mapping[Operation, Goes]
    """The loops that are compiled as they are."""
    weights: Mapping[str, Array]
    calls_python: bool = False
    """Whether a step is a function of somebody's, whom numpy warns as ever."""


Check: TypeAlias = Callable[[Mapping[str, int]], None]
Step: TypeAlias = Callable[[Sequence[Array], Interpreter], Sequence[Array]]
"""Takes operands and the machine that knows the sizes, and gives results."""


@dataclass(frozen=True)
class Planned:
    """One operation: what computes it, what takes its operands, and where its results go."""

    compute: Step
    take: Callable[..., Sequence[Array]]
    first: int
    count: int

    @classmethod
    def at(cls, compute: Step, operands: Sequence[int], first: int, count: int) -> Planned:
        """Return one of operands by their places."""
        return cls(compute, taking(operands), first, count)


def taking(places: Sequence[object]) -> Callable[..., Sequence[Array]]:
    """Return what takes the values at some places of a list, or by some names."""
    if len(places) > 1:
        return itemgetter(*places)
    if not places:
        return lambda _: ()
    one = itemgetter(places[0])
    return lambda values: (one(values),)


class Straight:
    """The operations of a block in their order, by the places of their values."""

    def __init__(self, block: Block, made: Around) -> None:
        """Go through a block that `is_straight`; what asks for no argument is computed here."""
        self.specs = [value_spec(value.type) for value in block.args]
        self.place: dict[SSAValue, int] = {}
        self.values: list[Array] = [NOTHING] * len(block.args)
        """What is known before a run, by its place; `NOTHING` for what is not."""
        for value in block.args:
            self.place[value] = len(self.place)
        self.declared = tuple(map(_named, self.specs))
        """The shapes of arguments."""
        self.last: tuple[list[tuple[int, ...]] | None, dict[str, int]] = (None, {})
        """The shapes of the last run's arguments, and the sizes that they have."""
        self.steps: list[Planned] = []
        self.warns = False
        """Whether numpy could warn of what a step computes."""
        for op in block.ops:
            if isinstance(op, ReturnOp | Yield):
                places = [self.place[value] for value in op.operands]
                self.returned = [(number, self.values[number]) for number in places]
            else:
                self.enter(op, made)
        self.rest = self.values[len(block.args) :]
        self.rows = [(each.compute, each.take, each.first, each.count) for each in self.steps]

    def enter(self, op: Operation, made: Around) -> None:
        """Append an operation, or its results if they are known."""
        operands = tuple(self.place[value] for value in op.operands)
        first = len(self.values)
        for value in op.results:
            self.place[value] = len(self.place)
        self.values += [NOTHING] * len(op.results)
        count = len(op.results)
        is_known = not has_sizes(op) and all(self.values[n] is not NOTHING for n in operands)
        if isinstance(op, Weight):
            self.values[first:] = [made.weights[str(op.plain_attributes()["weight"])]]
        elif isinstance(op, CallOp) and made.pieces[callee(op)].is_constant:
            self.values[first:] = map(locked, made.pieces[callee(op)].run(()))
        elif op in made.whole:
            step = _whole(op, made.whole[op].run)
            self.steps.append(Planned.at(step, operands, first, count))
        elif isinstance(op, CONTROL):
            inner = [Straight(region.block, made) for region in op.regions]
            self.warns = self.warns or any(each.warns for each in inner)
            step = _control(op, inner)
            self.steps.append(Planned.at(step, operands, first, count))
        elif isinstance(op, CallOp | HostOp) or not is_known:
            step = _step(op, made.pieces)
            if may_warn(op) and made.calls_python:
                step = _quietly(step)
            elif may_warn(op):
                self.warns = True
            self.steps.append(Planned.at(step, operands, first, count))
        else:
            assert isinstance(op, Op)
            ready = op.ready(**op.plain_attributes())
            self.values[first:] = ready(*(self.values[n] for n in operands))

    def sizes(self, arguments: Sequence[Array], check: Check) -> dict[str, int] | None:
        """Return the sizes that arguments have, by name; None where it takes more to tell them.

        `check` raises where one is not in its range. Shapes of the run before are not asked again.
        """
        shapes, (before, known) = [each.shape for each in arguments], self.last
        if shapes == before:
            return dict(known)
        sizes = self.told(shapes)
        if sizes is None:
            return None
        check(sizes)
        self.last = shapes, sizes
        return dict(sizes)

    def told(self, shapes: Sequence[tuple[int, ...]]) -> dict[str, int] | None:
        """Return the sizes that shapes have, by name; None where they do not fit, or are more."""
        found: dict[str, int] = {}
        for declared, shape in zip(self.declared, shapes, strict=True):
            if declared is None:
                return None
            if any(isinstance(dim, DimExpr) for dim in declared) or not fits(
                declared, shape, found
            ):
                return None
        return found

    def run(self, arguments: Sequence[Array], machine: Interpreter) -> list[Array]:
        """Return the results of arguments, whose sizes the machine knows."""
        if not self.warns:
            return self.go(arguments, machine)
        with np.errstate(all="ignore"):
            return self.go(arguments, machine)

    def inside(self, op: HostOp, arguments: Sequence[Array], inner: Interpreter) -> Sequence[Array]:
        """Carry out the steps of a region of an operation; the machine knows the sizes outside."""
        self.look(op, arguments, inner)
        return self.go(arguments, inner)

    def look(
        self, op: HostOp, arguments: Sequence[Array], inner: Interpreter, first: int = 0
    ) -> None:
        """Take the sizes of arguments from some place on, or raise where one does not fit."""
        for number, value in enumerate(arguments, first):
            shape = self.declared[number]
            if shape is None or shape == value.shape:
                continue
            if not fits(shape, value.shape, inner.symbols):
                inner.bind(self.specs[number], value, op.label, op)  # says what is wrong

    def go(self, arguments: Sequence[Array], machine: Interpreter) -> list[Array]:
        """Carry out the steps."""
        values = [*arguments, *self.rest]
        for compute, take, first, count in self.rows:
            found = compute(take(values), machine)
            if count == 1:
                values[first] = found[0]
            else:
                values[first : first + count] = found
        return [
            values[number] if known is NOTHING else known.copy() for number, known in self.returned
        ]


def callee(op: CallOp) -> str:
    """Return the name of the piece that is called."""
    return op.callee.root_reference.data


def locked(x: Array) -> Array:
    """Return an array that several runs have: who is given it copies it."""
    x.flags.writeable = False
    return x


def may_warn(op: Operation) -> bool:
    """Say whether numpy could warn of what an operation computes: of floats, or by formulas."""
    if isinstance(op, PythonStep):
        return False  # whose warnings are wanted
    if not isinstance(op, HostOp):
        return not (isinstance(op, CallOp) or (isinstance(op, Op) and op.WORKLESS))
    return not (op.MOVES or is_loop(op)) and any(
        isinstance(spec, TensorSpec) and not (spec.dtype.is_integer or spec.dtype.is_text)
        for spec in map(value_spec, (v.type for v in (*op.operands, *op.results)))
    )


def has_sizes(op: Operation) -> bool:
    """Say whether there are sizes that are no numbers in the attributes of an operation."""
    attributes = op.plain_attributes() if isinstance(op, Op) else {}
    return any(True for value in attributes.values() for _ in symbols_inside(value))


def _step(op: Operation, pieces: Mapping[str, Runs]) -> Step:
    """Return what carries out an operation."""
    if isinstance(op, CallOp):
        run = pieces[callee(op)].run
        return lambda operands, _: run(operands)
    assert isinstance(op, Op)
    if isinstance(op, Room):
        size = in_a_run(op.plain_attributes()["size"])
        return lambda _, machine: (np.empty(size(machine.symbols), np.bool_),)
    if isinstance(op, ReadSizes):
        return _reading(op)
    if isinstance(op, HostOp):
        return _host_step(op)
    return _step_between(op)


def _step_between(op: Op) -> Step:
    """Return what carries out an operation that is worth no piece of its own."""
    attributes = op.plain_attributes()
    if not has_sizes(op):
        ready = op.ready(**attributes)
        return lambda operands, _: ready(*operands)
    if isinstance(op, Reshape):  # the others are worked out by the general way, which takes longer
        sizes = tuple(map(in_a_run, attributes["shape"]))
        return lambda operands, machine: (
            operands[0].reshape([size(machine.symbols) for size in sizes]),
        )
    return lambda operands, machine: op.evaluate(*operands, **resolve(attributes, machine.symbols))


def _reading(op: ReadSizes) -> Step:
    """Return what reads sizes: each is new, or has to be what it is."""
    rules = op.plain_attributes()
    sizes: Sequence[Dim] = rules["sizes"]
    limits = [in_a_run(most) for most in rules["most"] or [sys.maxsize] * len(sizes)]
    names = [str(size) if str(size).isidentifier() else "" for size in sizes]
    rows = [*zip(names, map(in_a_run, sizes), limits, strict=True)]

    def run(operands: Sequence[Array], machine: Interpreter) -> Sequence[Array]:
        known = machine.symbols
        for (name, size, most), number in zip(rows, operands[0].tolist(), strict=True):
            wanted = known.setdefault(name, number) if name else size(known)
            if wanted != number or not 0 <= number <= most(known):
                found: Sequence[Array] = op.interpret(machine, operands, {})  # says what is wrong
                return found
        return ()

    return run


def in_a_run(dim: Dim) -> Callable[[Mapping[str, int]], int]:
    """Return what tells a dimension by the sizes of a run.

    >>> in_a_run(dims.parse("n - 2*k + 1"))({"n": 9, "k": 3})
    4
    """
    if isinstance(dim, int):
        return lambda _: dim
    if str(dim).isidentifier():
        return itemgetter(str(dim))
    if any(len(atoms) > 1 or any(atom.op for atom in atoms) for atoms, _ in dim.terms):
        return lambda known: dims.evaluate(dim, known)
    plain = sum(factor for atoms, factor in dim.terms if not atoms)
    terms = [(atoms[0].name, factor) for atoms, factor in dim.terms if atoms]
    return lambda known: plain + sum([known[name] * factor for name, factor in terms])


def _quietly(step: Step) -> Step:
    """Return a step of which numpy does not warn."""

    def run(operands: Sequence[Array], machine: Interpreter) -> Sequence[Array]:
        with np.errstate(all="ignore"):
            return step(operands, machine)

    return run


def _host_step(op: HostOp) -> Step:
    """Return what carries out a host step: its sizes are compared, or bound where it tells them."""
    shapes = _shapes_of(op)
    if isinstance(op, PythonStep):  # whose errors are its own, and to which texts are handed on
        return lambda operands, machine: _told(op, shapes, op.call(*operands), machine)
    compute = computing(op)
    if any(x.dtype.is_text for x in op.specs if isinstance(x, TensorSpec)):
        return lambda operands, machine: _told(
            op, shapes, op.computed(compute, [*map(as_objects, operands)]), machine
        )

    def run(operands: Sequence[Array], machine: Interpreter) -> Sequence[Array]:
        try:
            found = compute(*operands)
        except REFUSALS as error:
            raise refused(op, error) from error
        return _told(op, shapes, found, machine)

    return run


def _whole(op: Operation, compute: Compute) -> Step:
    """Return what carries out a loop that is compiled as it is."""
    assert isinstance(op, HostOp), "such a loop is the host's to begin"
    shapes = _shapes_of(op)
    return lambda operands, machine: _told(op, shapes, compute(operands), machine)


def _control(op: Operation, regions: Sequence[Straight]) -> Step:
    """Return what carries out a choice or a loop."""
    match op:
        case HostIf():
            return _choice(op, regions)
        case HostLoop():
            return _loop(op, regions[0])
        case While():
            return _while(op, *regions)
    return _if(op, regions)


def _if(op: Operation, regions: Sequence[Straight]) -> Step:
    """Return what carries out a choice between values of the same sizes."""
    shapes = _shapes_of(op)

    def run(operands: Sequence[Array], machine: Interpreter) -> Sequence[Array]:
        inner = Interpreter(None, {}, dict(machine.symbols))
        found = regions[0 if bool(operands[0]) else 1].go(operands[1:], inner)
        for shape, each in zip(shapes, found, strict=True):
            if shape is not None:
                fits(shape, each.shape, machine.symbols)  # which tells what only it has told
        return found

    return run


def _while(op: While, test: Straight, body: Straight) -> Step:
    """Return what carries out a loop whose values keep their sizes."""
    count = op.carried

    def run(operands: Sequence[Array], machine: Interpreter) -> Sequence[Array]:
        now, fixed = operands[:count], operands[count:]
        inner = Interpreter(None, {}, {})
        while True:
            inner.symbols = dict(machine.symbols)
            if not bool(test.go([*now, *fixed], inner)[0]):
                return now
            now = body.go([*now, *fixed], inner)

    return run


def _choice(op: HostIf, regions: Sequence[Straight]) -> Step:
    """Return what carries out a choice."""
    shapes = _shapes_of(op)

    def run(operands: Sequence[Array], machine: Interpreter) -> Sequence[Array]:
        region = regions[0 if bool(operands[0]) else 1]
        inner = Interpreter(None, {}, dict(machine.symbols))
        return _told(op, shapes, region.inside(op, operands[1:], inner), machine)

    return run


def _loop(op: HostLoop, region: Straight) -> Step:
    """Return what carries out a loop, as `HostLoop.interpret` does."""
    shapes, count, parts = _shapes_of(op), op.states, op.result_specs[op.states :]

    def run(operands: Sequence[Array], machine: Interpreter) -> Sequence[Array]:
        trips, flag, now = int(operands[0]), operands[1], list(operands[2 : count + 2])
        fixed, trip = operands[count + 2 :], 0
        collected: list[list[Array]] = [[] for _ in parts]
        inner = Interpreter(None, {}, dict(machine.symbols))
        region.look(op, fixed, inner, count + 2)  # which stay what they are
        known = inner.symbols
        while trip < trips and bool(flag):
            given = [np.array(trip, np.int64), flag, *now]
            inner.symbols = dict(known)
            region.look(op, given, inner)
            flag, *made = region.go([*given, *fixed], inner)
            now = made[:count]
            for column, part in zip(collected, made[count:], strict=True):
                column.append(part)
            trip += 1
        rows = zip(collected, parts, strict=True)
        stacks = [stacked(column, spec, machine.symbols) for column, spec in rows]
        return _told(op, shapes, [*now, *stacks], machine)

    return run


def _shapes_of(op: Operation) -> Sequence[Shape | None]:
    """Return the shapes of the results of an operation."""
    return tuple(_named(value_spec(value.type)) for value in op.results)


def _told(
    op: HostOp, shapes: Sequence[Shape | None], found: Sequence[Array], machine: Interpreter
) -> Sequence[Array]:
    """Return results; their sizes are compared, or bound where the operation tells them."""
    for shape, each in zip(shapes, found, strict=True):
        if shape is None or shape == each.shape:
            continue
        if not fits(shape, each.shape, machine.symbols):
            bound: Sequence[Array] = op.bound(machine, found)  # says what is wrong
            return bound
    return found


def fits(declared: Shape, shape: Sequence[int], symbols: dict[str, int]) -> bool:
    """Say whether a shape is one that is declared; names that nothing has told yet are told by it.

    >>> sizes = {"n": 5}
    >>> fits((2, "n", "k"), (2, 5, 3), sizes), sizes["k"], fits(("k",), (4,), sizes)
    (True, 3, False)
    """
    if len(declared) != len(shape):
        return False
    for dim, size in zip(declared, shape, strict=True):
        if isinstance(dim, str):
            known = symbols.setdefault(dim, size)
        elif isinstance(dim, int):
            known = dim
        else:
            known = size if dims.may_be(dim, size, symbols) else -1
        if known != size:
            return False
    return True


def _named(spec: Spec) -> Shape | None:
    """Return the shape of a tensor, with names for sizes that are symbols; None if unknown."""
    if not isinstance(spec, TensorSpec) or spec.shape is None:
        return None
    return tuple(str(d) if str(d).isidentifier() else d for d in spec.shape)


def is_watched() -> bool:
    """Say whether somebody is told of each operation, as an interpreter does."""
    return bool(EARS.count) or is_counted()


def is_straight(block: Block, made: Around) -> bool:
    """Say whether a program that was cut can go straight on: of tensors whose sizes it is told."""
    return all(
        isinstance(spec := value_spec(a.type), TensorSpec) and spec.shape is not None
        for a in block.args
    ) and goes_straight(block, made)


def goes_straight(block: Block, made: Around, outside: Set[str] = frozenset()) -> bool:
    """Say whether a block can be carried out so; the sizes outside are known where it begins."""
    if any(piece.driver is not None for piece in made.pieces.values()):
        return False
    known = {*outside, *(name for a in block.args for name in symbols_in(a.type))}
    for op in block.ops:
        if isinstance(op, CONTROL):
            inner = () if op in made.whole else op.regions
            if not all(goes_straight(region.block, made, known) for region in inner):
                return False
        elif not isinstance(op, ReturnOp | Yield | Weight) and not _goes_straight(op, known):
            return False
        if isinstance(op, ReadSizes):
            known.update(map(str, op.plain_attributes()["sizes"]))
        elif isinstance(op, HostOp | If | While):
            known.update(name for value in op.results for name in symbols_in(value.type))
    return True


def _goes_straight(op: Operation, known: set[str]) -> bool:
    """Say whether an operation is done by its class alone, of tensors, and its sizes are known."""
    is_plain = all(isinstance(value_spec(v.type), TensorSpec) for v in (*op.operands, *op.results))
    if not is_plain and not isinstance(op, HostOp):  # what it makes of tensors may hold some
        return False
    if isinstance(op, CallOp | ReadSizes):
        return True
    if isinstance(op, PythonStep):
        return not op.goes_on
    if not isinstance(op, Op) or op.regions or not op.PURE:
        return False
    if isinstance(op, HostOp):
        plain = type(op).interpret is HostOp.interpret and type(op).evaluated is HostOp.evaluated
        return (plain and not op.GOES_ON) or isinstance(op, Room)
    named = {name for value in op.plain_attributes().values() for name in symbols_inside(value)}
    return named <= known and not hasattr(op, "interpret")
