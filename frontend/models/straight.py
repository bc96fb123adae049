"""Programs that were cut and go straight on: what an interpreter asks anew in each run, asked once.

Pieces and host steps in a row, with no regions and no other device: labels that are texts behind a
classifier, categories in front of one, elements that a condition selects. Between so little work
each question about an operation's class, operands and attributes is half of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np
from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ...counting import is_counted
from ...ir import Array, Interpreter, Op, Program, TensorSpec
from ...ir.host import HostOp, symbols_in, symbols_inside
from ...ir.interpret.graph import resolve
from ...ir.ops.host.late import ReadSizes, Room
from ...ir.types.values import Spec, value_spec
from ...runtime.tracing import EARS
from ..eager.complex_parts import PAIRS

Compute: TypeAlias = Callable[..., Sequence[Array]]
Shape: TypeAlias = tuple[int | str, ...]
"""A shape with names for sizes that are no numbers."""

NOTHING = np.empty(0)


class Runs(Protocol):
    """A compiled piece."""

    @property
    def driver(self) -> object:
        """Return the device that it runs on; None for the processor."""

    @property
    def run(self) -> Compute:
        """Return what gives its results of a sequence of arrays."""


@dataclass(frozen=True)
class Planned:
    """One operation: what computes it, where its operands lie, and where its results go."""

    op: Operation
    compute: Compute
    operands: tuple[int, ...]
    results: slice
    shapes: tuple[Shape, ...] = ()
    """The shapes of a host step's results."""
    sized: dict[str, object] | None = None
    """Attributes in which there are such sizes; `compute` has the others."""

    def run(self, operands: Sequence[Array], machine: Interpreter) -> Sequence[Array]:
        """Return the results; sizes that a host step tells are bound then."""
        op = self.op
        if isinstance(op, CallOp):
            return self.compute(operands)
        if isinstance(op, ReadSizes | Room):
            return op.interpret(machine, operands, {})
        if not isinstance(op, HostOp):
            sized = {} if self.sized is None else resolve(self.sized, machine.symbols)
            return self.compute(*operands, **sized)
        found = op.computed(self.compute, operands)
        symbols = machine.symbols
        for shape, each in zip(self.shapes, found, strict=True):
            if each.shape != tuple([d if isinstance(d, int) else symbols.get(d) for d in shape]):
                return op.bound(machine, found)
        return found


class Straight:
    """The operations of a program in their order, by the places of their values."""

    def __init__(self, program: Program, pieces: Mapping[str, Runs]) -> None:
        """Go through a program that `is_straight`; what asks for no argument is computed here."""
        block = program.main.body.block
        self.place: dict[SSAValue, int] = {}
        self.values: list[Array] = [NOTHING] * len(block.args)
        """What is known before a run, by its place; `NOTHING` for what is not."""
        for value in block.args:
            self.place[value] = len(self.place)
        self.declared = tuple(_named(value_spec(value.type)) for value in block.args)
        """The shapes of arguments, as those of results are in a `Planned`."""
        self.steps: list[Planned] = []
        for op in block.ops:
            if isinstance(op, ReturnOp):
                self.returned = [self.place[value] for value in op.operands]
            else:
                self.enter(op, pieces)

    def enter(self, op: Operation, pieces: Mapping[str, Runs]) -> None:
        """Append an operation, or its results if they are known."""
        operands = tuple(self.place[value] for value in op.operands)
        first = len(self.values)
        for value in op.results:
            self.place[value] = len(self.place)
        self.values += [NOTHING] * len(op.results)
        step = _step(op, pieces, operands, slice(first, len(self.values)))
        is_known = step.sized is None and all(self.values[n] is not NOTHING for n in operands)
        if isinstance(op, CallOp | HostOp) or not is_known:
            self.steps.append(step)
        else:
            self.values[step.results] = step.compute(*(self.values[n] for n in operands))

    def sizes(self, arguments: Sequence[Array]) -> dict[str, int] | None:
        """Return the sizes that arguments have, by name; None where it takes more to tell them."""
        found: dict[str, int] = {}
        for shape, argument in zip(self.declared, arguments, strict=True):
            if len(shape) != argument.ndim:
                return None
            for dim, size in zip(shape, argument.shape, strict=True):
                known = dim if isinstance(dim, int) else found.setdefault(dim, size)
                if known != size:
                    return None
        return found if all(map(str.isidentifier, found)) else None

    def run(self, arguments: Sequence[Array], machine: Interpreter) -> list[Array]:
        """Return the results of arguments, whose sizes the machine knows."""
        values = [*arguments, *self.values[len(arguments) :]]
        with np.errstate(all="ignore"):
            for step in self.steps:
                operands = [values[number] for number in step.operands]
                values[step.results] = step.run(operands, machine)
        made = [(values[number], self.values[number]) for number in self.returned]
        return [value if known is NOTHING else known.copy() for value, known in made]


def _step(
    op: Operation, pieces: Mapping[str, Runs], operands: tuple[int, ...], results: slice
) -> Planned:
    """Return an operation as a step."""
    if isinstance(op, CallOp):
        return Planned(op, pieces[op.callee.root_reference.data].run, operands, results)
    assert isinstance(op, Op)
    shapes = tuple(_named(value_spec(value.type)) for value in op.results)
    attributes = op.plain_attributes()
    has_sizes = any(True for value in attributes.values() for _ in symbols_inside(value))
    if has_sizes and not isinstance(op, HostOp):  # theirs name the sizes that they tell
        return Planned(op, op.evaluate, operands, results, shapes, attributes)
    return Planned(op, op.ready(**attributes), operands, results, shapes)


def _named(spec: Spec) -> Shape:
    """Return the shape of a tensor, with names for sizes that are no numbers."""
    assert isinstance(spec, TensorSpec), "all values of a program that goes straight on"
    return tuple(d if isinstance(d, int) else str(d) for d in spec.shape or ())


def is_watched() -> bool:
    """Say whether somebody is told of each operation, as an interpreter does."""
    return bool(EARS.count) or is_counted()


def is_straight(program: Program, pieces: Mapping[str, Runs]) -> bool:
    """Say whether a program that was cut can go straight on."""
    block = program.main.body.block
    if any(piece.driver is not None for piece in pieces.values()) or not all(
        isinstance(spec := value_spec(a.type), TensorSpec) and spec.shape is not None
        for a in block.args
    ):
        return False
    known = {name for argument in block.args for name in symbols_in(argument.type)}
    for op in block.ops:
        if not isinstance(op, ReturnOp) and not _goes_straight(op, known):
            return False
        if isinstance(op, ReadSizes):
            known.update(map(str, op.plain_attributes()["sizes"]))
        elif isinstance(op, HostOp):
            known.update(name for value in op.results for name in symbols_in(value.type))
    return True


def _goes_straight(op: Operation, known: set[str]) -> bool:
    """Say whether an operation is done by its class alone, of tensors, and its sizes are known."""
    if any(not isinstance(value_spec(v.type), TensorSpec) for v in (*op.operands, *op.results)):
        return False
    if isinstance(op, CallOp | ReadSizes):
        return True
    if not isinstance(op, Op) or op.regions or not op.PURE or op.name in PAIRS:
        return False
    if isinstance(op, HostOp):
        plain = type(op).interpret is HostOp.interpret and type(op).evaluated is HostOp.evaluated
        return (plain and not op.GOES_ON) or isinstance(op, Room)
    named = {name for value in op.plain_attributes().values() for name in symbols_inside(value)}
    return named <= known and not hasattr(op, "interpret")
