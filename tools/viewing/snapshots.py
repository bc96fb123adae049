"""A program as it was behind each pass: operations with identities, and what changed.

An operation keeps its number as long as the passes keep the object, so that a difference names
what was added, dropped or changed, and not what is only printed with other numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from ...ir import SOURCE, Op, Program
from ...ir.ops.structure import Buffer, Kernel, Launch, View
from ...ir.program import argument_names
from ...passes.analysis.memory.chart import nodes_of
from ...passes.base import Observer, Step

INNER = -100_000
"""Above the numbers of arguments of kernels, branches and bodies, which count down from it."""
LONGEST = 160
"""Characters of an attribute that are shown."""
Row = tuple[int, str, str, list[int], list[str], list[str], dict[str, str], list[str]]
"""Number, function, operation, numbers of what it reads (arguments count from -1 down), types of
its operands and of its results, attributes, nodes of the model."""


@dataclass
class ShownStage:
    """A program behind a pass, as what differs from the one before."""

    name: str
    level: str
    seconds: float
    count: int
    """How many operations there are."""
    changed: list[Row]
    """Those that are new or not what they were."""
    dropped: list[int]
    order: list[int] | None
    """All numbers in the order of the text, if that is another one than before."""

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return vars(self)


@dataclass
class Snapshots(Observer):
    """Looks at a program before the first pass and behind each one."""

    taken: list[ShownStage] = field(default_factory=list)
    numbers: dict[Operation, int] = field(default_factory=dict)
    """It keeps the operations, so that a number is given once."""
    rows: dict[int, Row] = field(default_factory=dict)
    order: list[int] = field(default_factory=list)
    looks: dict[int, list[object]] = field(default_factory=dict)
    """By number: the objects that an operation consists of."""

    def start(self, program: Program) -> None:
        """Take the program as it is read."""
        self.take("as it is read", program, 0.0)

    def after(self, step: Step, program: Program) -> None:
        """Take the program behind a pass."""
        self.take(step.name, program, step.seconds)

    def take(self, name: str, program: Program, seconds: float) -> None:
        """Note what differs from the last time."""
        order: list[int] = []
        changed: list[Row] = []
        for function, op, reads in operations_of(program):
            number = self.numbers.setdefault(op, len(self.numbers))
            order.append(number)
            look = looks_of(op)
            old = self.looks.get(number)
            sources = [self.number_of(value) for value in reads]
            same = old is not None and len(old) == len(look)
            if same and all(a is b for a, b in zip(old or (), look, strict=True)):
                row = self.rows[number]
                if row[3] == sources and row[1] == function:
                    continue
            self.looks[number] = look
            row = row_of(number, function, op, sources)
            if self.rows.get(number) != row:
                self.rows[number] = row
                changed.append(row)
        here = set(order)
        dropped = [number for number in self.order if number not in here]
        for number in dropped:
            self.rows.pop(number, None)
            self.looks.pop(number, None)
        moved = None if order == self.order else order
        self.order = order
        self.taken.append(
            ShownStage(name, program.level, seconds, len(order), changed, dropped, moved)
        )

    def number_of(self, value: SSAValue | Operation) -> int:
        """Return the number of what makes a value."""
        if isinstance(value, Operation):
            return self.numbers[value]
        owner = value.owner
        if isinstance(owner, Operation):
            return self.numbers.setdefault(owner, len(self.numbers))
        holder = owner.parent_op()
        index = owner.args.index(value)
        if isinstance(holder, Kernel):
            return self.number_of(holder.operands[index])
        is_main = isinstance(holder, FuncOp) and holder.sym_name.data == "main"
        return -1 - index if is_main else INNER - index


def operations_of(program: Program) -> Iterator[tuple[str, Op, Sequence[Any]]]:
    """Give the operations of all functions, with the function's name and what each one reads.

    What a launch reads is what the launches before it wrote.
    """
    for function in program.module.body.block.ops:
        if not isinstance(function, FuncOp):
            continue
        name, writers = function.sym_name.data, dict[SSAValue, Operation]()
        for op in function.walk():
            if not isinstance(op, Op):
                continue
            if not isinstance(op, Launch):
                yield name, op, op.operands
                continue
            places = [place_of(value) for value in op.operands]
            yield name, op, [writers.get(place, place) for place in places[: op.inputs]]
            writers.update((place, op) for place in places[op.inputs :])


def place_of(value: SSAValue) -> SSAValue:
    """Return the buffer behind a value, through views."""
    while isinstance(value.owner, View):
        value = value.owner.operands[0]
    return value


def looks_of(op: Op) -> list[object]:
    """Return the objects that say what an operation is."""
    parts: list[object] = [*op.operands, *op.properties.values(), *op.attributes.values()]
    return [*parts, *(result.type for result in op.results)]


def row_of(number: int, function: str, op: Op, sources: list[int]) -> Row:
    """Return what is shown of an operation."""
    attributes = {name: shown(value) for name, value in op.plain_attributes().items()}
    if isinstance(op, Buffer):
        attributes.pop("shape", None)
    name = op.name.removeprefix("gv.")
    types = [type_text(value.type) for value in op.operands]
    made = [type_text(result.type) for result in op.results]
    nodes = nodes_of(op.attributes.get(SOURCE))
    return number, function, name, sources, types, made, attributes, nodes


def type_text(kind: Attribute) -> str:
    """Return a type as text of bounded length."""
    return cut(str(kind).removeprefix("tensor<").removesuffix(">"))


def shown(value: object) -> str:
    """Return the value of an attribute for reading."""
    if isinstance(value, np.ndarray):
        if value.size > 8:
            return f"{value.dtype}{list(value.shape)}"
        return cut(str(value.tolist()))
    return cut(str(value))


def cut(text: str) -> str:
    """Return a text, or its beginning if it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def arguments_of(program: Program) -> list[str]:
    """Return the names of the program's arguments."""
    return argument_names(program.main)
