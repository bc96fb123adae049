"""What a model is, without compiling it: arguments, operations, parameters, arithmetic.

    >>> found = inspect_model(b"model m(x: f32[2, 3]) -> (y) { y = relu(x) }")
    >>> found.operations, found.cost.flops
    ({'relu': 1}, 6)

What was found also prints as JSON (`as_json`).
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp

from ..codegen.profile import launches_of
from ..errors import GraphError, UnsupportedOp
from ..ir import Op, Program
from ..ir.dims import Range
from ..ir.host import host_steps, is_host
from ..ir.placement import roles
from ..ir.program import argument_names, result_names
from ..ir.tensor import TensorSpec, spec_of
from ..ir.values import Spec, value_spec
from ..passes.analysis.cost import Cost, cost_of, largest, total
from .files import Bytes, map_file
from .load import guess_format, load_program, named_function
from .symbols import DimOption, ShapeOption

Source = str | os.PathLike[str] | bytes

NOT_PARAMETERS = frozenset({"i32", "i64", "u32", "u64", "bool", "string"})
"""Types of stored tensors that are shapes, positions and masks."""


@dataclass(frozen=True)
class Tensor:
    """A tensor as a row of a table."""

    name: str
    dtype: str
    shape: tuple[int | str, ...]
    holder: str = ""
    """What it is where it is no tensor, such as `sequence(f32[any])`."""

    def __str__(self) -> str:
        if self.holder:
            return self.holder
        return f"{self.dtype}[{', '.join(map(str, self.shape))}]"

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        if self.holder:
            return {"name": self.name, "kind": self.holder}
        return {"name": self.name, "dtype": self.dtype, "shape": list(self.shape)}


@dataclass
class Inspection:
    """What was found in one model."""

    name: str
    format: str
    bytes: int
    """Of the file itself; weights may be in others."""
    level: str = "graph"
    header: dict[str, Any] = field(default_factory=dict)
    """What the format adds: version, producer, operator sets."""
    inputs: tuple[Tensor, ...] = ()
    outputs: tuple[Tensor, ...] = ()
    ranges: Mapping[str, Range] = field(default_factory=dict)
    """The symbolic dimensions."""
    operators: Mapping[str, int] = field(default_factory=dict)
    """How many there are of each, as the file calls them."""
    operations: Mapping[str, int] = field(default_factory=dict)
    """The same as gravure calls them."""
    unsupported: Mapping[str, int] = field(default_factory=dict)
    """Operators of the file that gravure has not."""
    host_steps: tuple[str, ...] = ()
    """What is done between compiled pieces: node and operation."""
    faults: str = ""
    """Why the model cannot be compiled as it is, every reason; empty if it can."""
    tensors: tuple[Tensor, ...] = ()
    """All tensors that are stored with the model."""
    cost: Cost = field(default_factory=Cost)
    """Of one run."""
    costs: Mapping[str, Cost] = field(default_factory=dict)
    """The same by operation."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """The dimensions that the cost is for."""

    @property
    def parameters(self) -> int:
        """Return how many numbers were learned: of tensors that are no shapes or positions."""
        return sum(_size(t) for t in self.tensors if t.dtype not in NOT_PARAMETERS)

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        rows = {name: [t.as_json() for t in getattr(self, name)] for name in ("inputs", "outputs")}
        plain = ("name", "format", "bytes", "level", "header", "operators", "operations")
        return {
            "schema": "gravure.inspect/1",
            **{name: getattr(self, name) for name in (*plain, "unsupported", "faults")},
            "host_steps": list(self.host_steps),
            **rows,
            "dims": {name: list(found) for name, found in self.ranges.items()},
            "parameters": self.parameters,
            "tensors": len(self.tensors),
            "cost": {**self.cost.as_json(), "dims": dict(self.sizes)},
            "cost_by_operation": {name: cost.as_json() for name, cost in self.costs.items()},
        }


def inspect_model(
    source: Source,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
) -> Inspection:
    """Return what is in a model file, or in the bytes of one.

    An ONNX model that cannot be compiled is no error: `faults` says why.
    """
    named = named_function(source)
    data, name, directory = _read(named[0] if named else source)
    kind = "Python" if named else guess_format(data, source)
    found = Inspection(str(source) if named else name, kind, data.nbytes)
    if found.format == "onnx":
        _summarise(found, data, directory)
    try:
        program = load_program(source, shapes=shapes, dims=dims, data=None if named else data)
    except (GraphError, UnsupportedOp) as error:
        if found.format != "onnx":
            raise
        found.faults = error.message
        return found
    _look(found, program)
    return found


def _read(source: Source) -> tuple[Bytes, str, Path | None]:
    """Return the bytes, a name for messages, and the folder that the file lies in."""
    if isinstance(source, bytes):
        return np.frombuffer(source, np.uint8), "<bytes>", None
    path = Path(source)
    return map_file(path), path.name, path.parent


def _summarise(found: Inspection, data: Bytes, directory: Path | None) -> None:
    """Fill in what an ONNX file says of itself."""
    from .onnx.summary import summarise  # noqa: PLC0415  (onnx takes 0.2 s to import)

    summary = summarise(data, found.name, directory)
    found.header = {
        "ir_version": summary.ir_version,
        "producer": summary.producer,
        "opsets": {domain or "ai.onnx": version for domain, version in summary.opsets.items()},
    }
    found.operators, found.unsupported = summary.operators, summary.unsupported
    found.tensors = _tensors(summary.stored)
    found.inputs, found.outputs = _tensors(summary.inputs), _tensors(summary.outputs)


def _look(found: Inspection, program: Program) -> None:
    """Fill in what the program tells."""
    main = program.main
    found.level, found.ranges = program.level, program.ranges
    found.inputs, found.outputs = _arguments(main, program.level)
    if program.level == "graph":
        found.host_steps = tuple(map(str, host_steps(program)))
    ops = [op for op in program.module.walk() if isinstance(op, Op)]
    found.operations = _counted(op.name.removeprefix("gv.") for op in ops)
    if found.format != "onnx":
        weights = {str(op.plain_attributes()["weight"]): op for op in ops if op.name == "gv.weight"}
        found.tensors = tuple(_tensor(name, op.result_specs[0]) for name, op in weights.items())
    found.sizes = largest(program.ranges)
    if program.level == "planned":
        launches = launches_of(program, found.sizes)
        found.costs = _summed((launch.kind, launch.cost) for launch in launches)
    elif program.level != "loops":
        inner = [op for op in main.body.block.walk() if isinstance(op, Op) and not is_host(op)]
        rows = ((op.name.removeprefix("gv."), cost_of(op, found.sizes)) for op in inner)
        found.costs = {name: cost for name, cost in _summed(rows).items() if cost != Cost()}
    found.cost = total(found.costs.values())


def _summed(rows: Iterable[tuple[str, Cost]]) -> dict[str, Cost]:
    sums: dict[str, Cost] = {}
    for name, cost in rows:
        sums[name] = sums.get(name, Cost()) + cost
    return dict(sorted(sums.items(), key=lambda item: (-item[1].flops, item[0])))


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(names).items(), key=lambda item: (-item[1], item[0])))


def _arguments(main: FuncOp, level: str) -> tuple[tuple[Tensor, ...], tuple[Tensor, ...]]:
    """Return inputs and outputs; below the level `fused` both are arguments."""
    names = argument_names(main)
    if level in ("planned", "loops"):
        rows = zip(roles(main), names, main.function_type.inputs, strict=True)
        found = [(role, name, kind) for role, name, kind in rows if role in ("input", "output")]
        made = [(role, _tensor(name, spec_of(kind))) for role, name, kind in found]
        inputs, outputs = (
            tuple(tensor for role, tensor in made if role == wanted)
            for wanted in ("input", "output")
        )
        return inputs, outputs
    inputs = tuple(map(_tensor, names, map(value_spec, main.function_type.inputs)))
    results = map(value_spec, main.function_type.outputs)
    return inputs, tuple(map(_tensor, result_names(main), results))


def _tensor(name: str, spec: Spec) -> Tensor:
    if not isinstance(spec, TensorSpec):
        return Tensor(name, "", (), str(spec))
    dims = spec.shape if spec.shape is not None else ("*",)
    return Tensor(name, spec.dtype.name, tuple(d if isinstance(d, int) else str(d) for d in dims))


def _tensors(rows: Sequence[tuple[str, str, tuple[int | str, ...]]]) -> tuple[Tensor, ...]:
    return tuple(Tensor(*row) for row in rows)


def _size(tensor: Tensor) -> int:
    return prod(size for size in tensor.shape if isinstance(size, int))
