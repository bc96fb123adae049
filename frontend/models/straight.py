"""Programs that were cut and go straight on: what an interpreter asks anew in each run, asked once.

Pieces and host steps in a row, with no regions, no other device and no sizes that only data tells:
labels that are texts behind a classifier, categories in front of one. Between so little work each
question about an operation's class, operands and attributes is half of the run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from xdsl.dialects.func import CallOp, ReturnOp
from xdsl.ir import Operation, SSAValue

from ...counting import is_counted
from ...errors import RuntimeInputError
from ...ir import Op, Program, TensorSpec
from ...ir.host import HostOp, label, symbols_in, symbols_inside, symbols_of
from ...ir.interpret.graph import resolve
from ...ir.types.dims import Dim
from ...ir.types.values import value_spec
from ...runtime.tracing import EARS

Compute = Callable[..., Sequence[Any]]


@dataclass(frozen=True)
class Step:
    """One operation: what computes it, where its operands lie, and where its results go."""

    compute: Compute
    operands: tuple[int, ...]
    results: slice
    where: str
    """What errors call it, of a host step; a piece says it itself."""
    shapes: tuple[tuple[Dim, ...], ...]
    names: tuple[tuple[Any, ...], ...]
    """The same, with names for sizes that are those of arguments."""
    sized: Mapping[str, Any] | None
    """Attributes in which there are such sizes; `compute` has the others."""


class Straight:
    """The operations of a program in their order, by the places of their values."""

    def __init__(self, program: Program, pieces: Mapping[str, Any]) -> None:
        """Go through a program that `is_straight`; what asks for no argument is computed here."""
        block = program.main.body.block
        self.place: dict[SSAValue, int] = {}
        self.values: list[Any] = [None] * len(block.args)
        """What is known before a run, by its place; None for what is not."""
        for value in block.args:
            self.place[value] = len(self.place)
        self.steps: list[Step] = []
        for op in block.ops:
            if isinstance(op, ReturnOp):
                self.returned = [self.place[value] for value in op.operands]
            else:
                self.enter(op, pieces)

    def enter(self, op: Operation, pieces: Mapping[str, Any]) -> None:
        """Append an operation, or its results if they are known."""
        operands = tuple(self.place[value] for value in op.operands)
        first = len(self.values)
        for value in op.results:
            self.place[value] = len(self.place)
        self.values += [None] * len(op.results)
        specs = [value_spec(value.type) for value in op.results]
        shapes = tuple(spec.shape or () for spec in specs if isinstance(spec, TensorSpec))
        names = tuple(tuple(d if isinstance(d, int) else str(d) for d in each) for each in shapes)
        compute, where, sized = _computing(op, pieces)
        step = Step(compute, operands, slice(first, len(self.values)), where, shapes, names, sized)
        is_known = all(self.values[n] is not None for n in operands) and sized is None
        if isinstance(op, CallOp | HostOp) or not is_known:
            self.steps.append(step)
        else:
            self.values[step.results] = compute(*(self.values[n] for n in operands))

    def run(self, arguments: Sequence[Any], symbols: Mapping[str, int]) -> list[Any]:
        """Return the results of arguments, whose sizes are known."""
        values = self.values.copy()
        values[: len(arguments)] = arguments
        with np.errstate(all="ignore"):
            for step in self.steps:
                operands = [values[number] for number in step.operands]
                if not step.where:
                    values[step.results] = step.compute(*operands)
                    continue
                sized = {} if step.sized is None else resolve(step.sized, symbols)
                try:
                    found = list(step.compute(*operands, **sized))
                except (ValueError, TypeError, LookupError, ArithmeticError) as error:
                    raise RuntimeInputError(str(error), location=step.where) from error
                for number, each in enumerate(found):
                    if each.shape != tuple([symbols.get(d, d) for d in step.names[number]]):
                        self.compare(step.where, step.shapes[number], each.shape, symbols)
                values[step.results] = found
        known = self.values
        return [values[n] if known[n] is None else known[n].copy() for n in self.returned]

    def compare(
        self,
        where: str,
        declared: tuple[Dim, ...],
        shape: tuple[int, ...],
        symbols: Mapping[str, int],
    ) -> None:
        """Raise where a host step's result does not have the shape that it should."""
        if resolve({"shape": declared}, symbols)["shape"] != shape:
            text = f"{where}: found shape {[*shape]}, expected {[*map(str, declared)]}"
            raise RuntimeInputError(text)


def _computing(
    op: Operation, pieces: Mapping[str, Any]
) -> tuple[Compute, str, Mapping[str, Any] | None]:
    """Return what computes an operation, what errors call it, and attributes with sizes."""
    if isinstance(op, CallOp):
        run = pieces[op.callee.root_reference.data].run
        return lambda *arrays: run(arrays), "", None
    assert isinstance(op, Op)
    attributes = op.plain_attributes()
    if any(True for value in attributes.values() for _ in symbols_inside(value)):
        return op.evaluate, label(op), attributes
    return op.ready(**attributes), label(op), None


def is_watched() -> bool:
    """Say whether somebody is told of each operation, as an interpreter does."""
    return bool(EARS.count) or is_counted()


def is_straight(program: Program, pieces: Mapping[str, Any]) -> bool:
    """Say whether a program that was cut can go straight on."""
    block = program.main.body.block
    known = {name for argument in block.args for name in symbols_in(argument.type)}
    if any(piece.driver is not None for piece in pieces.values()):
        return False
    return all(isinstance(op, ReturnOp) or _goes_straight(op, known) for op in block.ops)


def _goes_straight(op: Operation, known: set[str]) -> bool:
    """Say whether an operation is done by its class alone, and its sizes are those of arguments."""
    if any(not isinstance(value_spec(v.type), TensorSpec) for v in (*op.operands, *op.results)):
        return False
    if isinstance(op, CallOp):
        return all(known.issuperset(symbols_in(value.type)) for value in op.results)
    if not isinstance(op, Op) or op.regions or not op.PURE or not known.issuperset(symbols_of(op)):
        return False
    if isinstance(op, HostOp):
        plain = type(op).interpret is HostOp.interpret and type(op).evaluated is HostOp.evaluated
        return plain and not op.GOES_ON
    return not hasattr(op, "interpret")
