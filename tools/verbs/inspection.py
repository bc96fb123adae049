"""What a model is, without compiling it: arguments, operations, parameters, arithmetic."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from xdsl.dialects.func import FuncOp

from ...codegen.compile import Options
from ...codegen.stages import lower
from ...codegen.work import launches_of
from ...errors import GraphError, GravureError, UnsupportedOp
from ...frontend.dims.symbols import DimOption, ShapeOption
from ...frontend.files.beside import Bytes, map_file
from ...frontend.programs.load import guess_format, load_program, named_function
from ...ir import SOURCE, Op, Program
from ...ir.host import host_steps, is_host
from ...ir.ops.structure import Constant, Weight
from ...ir.placement import roles
from ...ir.program import argument_names, result_names
from ...ir.types.dims import Range
from ...ir.types.dtypes import DTYPES
from ...ir.types.tensor import TensorSpec, spec_of
from ...ir.types.values import Spec, value_spec
from ...passes.analysis.cost import Cost, cost_of, largest, total
from ...passes.analysis.memory.chart import nodes_of
from ...passes.base import PassError
from ..console import in_bytes, in_count, table
from ..talk import Source, listed

NOT_PARAMETERS = frozenset({"i32", "i64", "u32", "u64", "bool", "string"})
"""Types of stored tensors that are shapes, positions and masks."""


@dataclass(frozen=True)
class TensorRow:
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


@dataclass(frozen=True)
class OperationRow:
    """One operation of a model."""

    operation: str
    nodes: tuple[str, ...]
    """The nodes of the model that it came from."""
    reads: tuple[str, ...]
    """Element types and shapes."""
    gives: tuple[str, ...]

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {name: list(v) if isinstance(v, tuple) else v for name, v in vars(self).items()}


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
    inputs: tuple[TensorRow, ...] = ()
    outputs: tuple[TensorRow, ...] = ()
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
    tensors: tuple[TensorRow, ...] = ()
    """All tensors that are stored with the model."""
    cost: Cost = field(default_factory=Cost)
    """Of one run."""
    costs: Mapping[str, Cost] = field(default_factory=dict)
    """The same by operation."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """The dimensions that the cost is for."""
    layers: tuple[OperationRow, ...] = ()
    """The operations in order, what is stored left out."""

    @property
    def can_be_compiled(self) -> bool:
        """Say whether nothing stands against it."""
        return not (self.faults or self.unsupported)

    @property
    def parameters(self) -> int:
        """Return how many numbers were learned: of tensors that are no shapes or positions."""
        return sum(_size(t) for t in self.tensors if t.dtype not in NOT_PARAMETERS)

    def text(self, *, ops: bool = False, params: bool = False, layers: bool = False) -> str:
        """Return tables: with each operation, what each kind costs, and every stored tensor."""
        parts = [_overview(self), *([_layers(self)] if layers else [])]
        parts += [_costs(self)] if ops else []
        return "\n\n".join([*parts, *([_parameters(self)] if params else [])])

    def __str__(self) -> str:
        return self.text()

    def as_json(self, *, params: bool = False, layers: bool = False) -> dict[str, Any]:
        """Return all of it as plain data, stored tensors and operations too if wanted."""
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
            **({"stored": [tensor.as_json() for tensor in self.tensors]} if params else {}),
            **({"layers": [layer.as_json() for layer in self.layers]} if layers else {}),
        }


def inspect_model(
    source: Source,
    shapes: Mapping[str, ShapeOption] | None,
    dims: Mapping[str, DimOption] | None,
    *,
    check: bool,
) -> Inspection:
    """Return what is in a model; with `check`, also why no library can be made of it."""
    named = named_function(source)
    data, name, directory = _read(named[0] if named else source)
    kind = "Python" if named else guess_format(data, source)
    found = Inspection(str(source) if named else name, kind, data.nbytes)
    if found.format == "onnx":
        _summarise(found, data, directory)
    try:
        program = load_program(source, shapes=shapes, dims=dims, data=None if named else data)
    except (GraphError, UnsupportedOp) as error:
        if found.format != "onnx" or ((shapes or dims) and _is_read(source, data)):
            raise
        found.faults = error.message
        return found
    _look(found, program)
    if check:
        found.faults = _refusal(program)
    return found


def _is_read(source: Source, data: Bytes) -> bool:
    """Say whether a model is read as it is, so that what was said of its sizes is at fault."""
    try:
        load_program(source, data=data)
    except (GraphError, UnsupportedOp):
        return False
    return True


def _refusal(program: Program) -> str:
    """Return why no library can be made of a program, nothing if one can; it is changed."""
    try:
        lower(program, Options(), "planned")
    except PassError:
        raise
    except GravureError as error:
        return f"{error.location}: {error.message}" if error.location else error.message
    return ""


def _read(source: Source) -> tuple[Bytes, str, Path | None]:
    """Return the bytes, a name for messages, and the folder that the file lies in."""
    if isinstance(source, bytes):
        return np.frombuffer(source, np.uint8), "<bytes>", None
    path = Path(source)
    return map_file(path), path.name, path.parent


def _summarise(found: Inspection, data: Bytes, directory: Path | None) -> None:
    """Fill in what an ONNX file says of itself."""
    from ...frontend.onnx.file.summary import summarise

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
    plain = program.level in ("graph", "fused")  # below, there are buffers and no values
    inside = [op for op in main.walk() if isinstance(op, Op) and plain]
    found.layers = tuple(_layer(op) for op in inside if not isinstance(op, Constant | Weight))
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


def _arguments(main: FuncOp, level: str) -> tuple[tuple[TensorRow, ...], tuple[TensorRow, ...]]:
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


def _tensor(name: str, spec: Spec) -> TensorRow:
    if not isinstance(spec, TensorSpec):
        return TensorRow(name, "", (), str(spec))
    dims = spec.shape if spec.shape is not None else ("*",)
    return TensorRow(
        name, spec.dtype.name, tuple(d if isinstance(d, int) else str(d) for d in dims)
    )


def _tensors(rows: Sequence[tuple[str, str, tuple[int | str, ...]]]) -> tuple[TensorRow, ...]:
    return tuple(TensorRow(*row) for row in rows)


def _size(tensor: TensorRow) -> int:
    return prod(size for size in tensor.shape if isinstance(size, int))


def _overview(found: Inspection) -> str:
    """Return the main table."""
    cost = found.cost
    header = ", ".join(f"{key} {_value(value)}" for key, value in found.header.items() if value)
    rows = [
        ["model", f"{found.name}: {found.format}, {in_bytes(found.bytes)}, level {found.level}"],
        *([["made by", header]] if header else []),
        *listed("inputs", [f"{t.name}: {t}" for t in found.inputs]),
        *listed("outputs", [f"{t.name}: {t}" for t in found.outputs]),
        *listed("dims", [f"{name} = {low}..{'' if high is None else high}"
                          for name, (low, high) in found.ranges.items()]),
        ["parameters", _exact(found.parameters)],
        ["stored", _stored(found)],
        *listed("operators", _counts(found.operators)),
        *listed("operations", _counts(found.operations)),
        *listed("host steps", list(found.host_steps)),
    ]  # fmt: skip
    if found.faults:
        rows += listed("unsupported", _counts(found.unsupported))
        rows += listed("cannot be compiled", found.faults.splitlines())
        return table(rows)
    sizes = ", ".join(f"{name} = {size}" for name, size in found.sizes.items())
    rows += [
        ["one run", f"{in_count(cost.macs)} MACs, {in_count(cost.flops)} flops, "
         f"{in_count(cost.functions)} functions{f', with {sizes}' if sizes else ''}"],
        ["moved", f"{in_bytes(cost.read)} read, {in_bytes(cost.written)} written, "
         "if every operation stood alone"],
    ]  # fmt: skip
    return table(rows)


def _exact(number: int) -> str:
    return f"{number} ({in_count(number)})" if number >= 1_000_000 else str(number)


def _value(value: object) -> str:
    if isinstance(value, dict):
        return ", ".join(f"{key} {each}" for key, each in value.items())
    return str(value)


def _counts(counts: Any) -> list[str]:
    """Return counts as lines that are not too long."""
    lines, line = [], ""
    for part in (f"{number} {name}" for name, number in counts.items()):
        if line and len(line) + len(part) > 80:
            lines.append(f"{line},")
            line = ""
        line = f"{line}, {part}" if line else part
    return [*lines, line] if line else lines


def _stored(found: Inspection) -> str:
    sums: dict[str, int] = {}
    for tensor in found.tensors:
        size = prod(d for d in tensor.shape if isinstance(d, int))
        width = DTYPES[tensor.dtype].size if tensor.dtype in DTYPES else 0
        sums[tensor.dtype] = sums.get(tensor.dtype, 0) + size * width
    kinds = ", ".join(f"{in_bytes(size)} of {dtype}" for dtype, size in sums.items())
    return f"{len(found.tensors)} tensors{': ' if kinds else ''}{kinds}"


def _layer(op: Op) -> OperationRow:
    """Return what one operation is."""
    nodes = tuple(nodes_of(op.attributes.get(SOURCE)))
    reads = tuple(str(value_spec(value.type)) for value in op.operands)
    gives = tuple(str(value_spec(value.type)) for value in op.results)
    return OperationRow(op.name.removeprefix("gv."), nodes, reads, gives)


def _layers(found: Inspection) -> str:
    """Return every operation with what it reads and gives."""
    rows = [["layer", "operation", "reads", "gives", "node"]]
    for number, each in enumerate(found.layers):
        reads, gives = ", ".join(each.reads), ", ".join(each.gives)
        rows.append([str(number), each.operation, reads, gives, ", ".join(each.nodes)])
    return table(rows, right="0")


def _costs(found: Inspection) -> str:
    """Return what each kind of operation costs."""
    whole = max(found.cost.flops, 1)
    rows = [["operation", "MACs", "flops", "share", "functions", "read", "written"]]
    for name, cost in found.costs.items():
        counts = [in_count(n) for n in (cost.macs, cost.flops)]
        rest = [in_count(cost.functions), in_bytes(cost.read), in_bytes(cost.written)]
        rows.append([name, *counts, f"{cost.flops / whole:.1%}", *rest])
    return table(rows, right="123456")


def _parameters(found: Inspection) -> str:
    """Return every stored tensor."""
    rows = [["tensor", "type", "elements"]]
    for tensor in found.tensors:
        size = prod(d for d in tensor.shape if isinstance(d, int))
        rows.append([tensor.name, str(tensor), str(size)])
    return table([*rows, ["parameters", "", str(found.parameters)]], right="2")
