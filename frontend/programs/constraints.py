"""What a program demands of its symbolic dimensions, and which node it is that does.

>>> from gravure.frontend.programs.load import load_program
>>> for row in constraints(load_program(b"model m(x: f32[N, 3], y: f32[N]) -> (z) { z = x }")):
...     print(row)
N >= 1: dimension 0 of input 'x', dimension 0 of input 'y'
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from xdsl.ir import Operation, SSAValue

from ...ir import Program, TensorSpec
from ...ir.host import HostOp, has_host_steps, label
from ...ir.program import argument_names
from ...ir.types import dims
from ...ir.types.values import value_spec
from ..models.pieces import rooms


@dataclass(frozen=True)
class Constraint:
    """One condition, and where it comes from."""

    condition: str
    cause: str

    def __str__(self) -> str:
        return f"{self.condition}: {self.cause}"

    def as_json(self) -> dict[str, object]:
        """Return the fields by name."""
        return asdict(self)


def constraints(program: Program) -> list[Constraint]:
    """Return what holds of each symbol, those of inputs first, and then what was assumed."""
    causes: dict[str, list[str]] = {}
    main = program.main
    for name, value in zip(argument_names(main), main.body.block.args, strict=True):
        for axis, dim in enumerate(_shape(value)):
            for symbol in sorted(dims.symbols(dim)):
                where = f"dimension {axis} of input {name!r}"
                form = "" if str(dim) == symbol else f", which is {dim}"
                causes.setdefault(symbol, []).append(where + form)
    told = set(causes)
    for op in main.walk():
        for symbol in _made_by(op):
            if symbol not in told:
                causes.setdefault(symbol, []).append(f"known when {label(op)} was run")
    room = rooms(program) if has_host_steps(program) else {}
    for symbol in causes.keys() & room.keys():
        if program.ranges.get(symbol, (0, None))[1] != room[symbol]:
            causes[symbol].append(f"compiled with room for up to {room[symbol]}")
    rows = [
        Constraint(_range(symbol, *program.ranges.get(symbol, (1, None))), ", ".join(found))
        for symbol, found in causes.items()
    ]
    return [*rows, *(Constraint(*row) for row in program.assumed)]


def _made_by(op: Operation) -> list[str]:
    """Return the symbols that a host step binds."""
    if not isinstance(op, HostOp):
        return []
    sizes = [*op.plain_attributes().get("sizes", ())]
    if op.regions:
        inner = [a for region in op.regions for a in region.block.args]
        sizes += [dim for value in (*inner, *op.results) for dim in _shape(value)]
    return list(dict.fromkeys(str(size) for size in sizes if str(size).isidentifier()))


def _shape(value: SSAValue) -> tuple[Any, ...]:
    spec = value_spec(value.type)
    return (spec.shape or ()) if isinstance(spec, TensorSpec) else ()


def _range(symbol: str, low: int, high: int | None) -> str:
    if high is None:
        return f"{symbol} >= {low}"
    return f"{symbol} = {low}" if low == high else f"{low} <= {symbol} <= {high}"
