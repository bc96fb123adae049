"""From a planned program to the plain description that entry, header and runtime are made from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from ..errors import CompileError
from ..ir import Program, TensorSpec, dims
from ..ir.interpret_launch import SCRATCH, UNITS, kernel_symbols
from ..ir.ops.structure import Buffer, Launch, View
from ..ir.placement import WORKSPACE, roles, weight_rows
from ..ir.program import argument_names, find_function, optional_function
from ..ir.target import Target
from ..ir.tensor import spec_of
from ..runtime.artifact import (
    Argument,
    Description,
    DimInfo,
    Pointer,
    Scalar,
    TensorInfo,
)
from ..runtime.artifact import Launch as LaunchStep


@dataclass(frozen=True)
class Names:
    """What the description adds to the program."""

    tag: str
    target: Target
    slots: int
    checks: bool
    extras: dict[str, Any]


def describe(program: Program, names: Names) -> Description:
    """Return the description of a program of the level `loops`."""
    main, prepare = program.main, optional_function(program.module, "prepare")
    scratch = [int(_text(f, SCRATCH, "0")) for f in _kernels(program)]
    rows = weight_rows(program.module)
    weights = max((offset + size for _, offset, size in rows), default=0)
    return Description(
        tag=names.tag,
        inputs=_tensors(main, "input"),
        outputs=_tensors(main, "output"),
        steps=_steps(program, main),
        dims=_dims(program),
        workspace=_workspace(main),
        scratch=max(scratch, default=0),
        slots=names.slots,
        weights=-(-weights // 64) * 64,
        raw=_tensors(prepare, "raw") if prepare is not None else (),
        prepare=_steps(program, prepare) if prepare is not None else (),
        prepare_workspace=_workspace(prepare) if prepare is not None else 0,
        target=names.target.name,
        triple=names.target.triple,
        features=tuple(names.target.features),
        checks=names.checks,
        extras=names.extras,
    )


def _kernels(program: Program) -> list[FuncOp]:
    return [f for f in program.module.ops if isinstance(f, FuncOp) and UNITS in f.attributes]


def _tensors(function: FuncOp, role: str) -> tuple[TensorInfo, ...]:
    rows = zip(
        argument_names(function), function.function_type.inputs, roles(function), strict=True
    )
    return tuple(_info(name, spec_of(kind)) for name, kind, found in rows if found == role)


def _info(name: str, spec: TensorSpec) -> TensorInfo:
    shape = tuple(d if isinstance(d, int) else str(d) for d in spec.dims)
    return TensorInfo(name, spec.dtype.name, shape)


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
                        raise CompileError(
                            f"dimension {name} has no upper bound, expected a range",
                            hint=f"give one: --dim {name}=1..64",
                        )
                    found.setdefault(name, DimInfo(name, low, high))
    return tuple(found.values())


def _workspace(function: FuncOp) -> int:
    row = function.attributes.get(WORKSPACE)
    return int(row.value.data) if isinstance(row, IntegerAttr) else 0


def _steps(program: Program, function: FuncOp) -> tuple[LaunchStep, ...]:
    places = Places(function)
    launches = [op for op in function.body.block.ops if isinstance(op, Launch)]
    return tuple(_launch(program, op, places) for op in launches)


def _launch(program: Program, op: Launch, places: Places) -> LaunchStep:
    attributes = op.plain_attributes()
    kernel = find_function(program.module, str(attributes["kernel"]))
    arguments: list[Argument] = [places.pointer(operand) for operand in op.operands]
    if _text(kernel, SCRATCH, "0") != "0":
        arguments.append(Pointer("scratch"))
    arguments += [Scalar(_extent(d)) for d in attributes["dims"]]
    values = dict(zip(kernel_symbols(kernel), attributes["dims"], strict=True))
    count = dims.substitute(dims.parse(_text(kernel, UNITS, "1")), values)
    return LaunchStep(kernel.sym_name.data, tuple(arguments), _extent(count))


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
        for argument, role in zip(function.body.block.args, roles(function), strict=True):
            index = counts.get(role, 0)
            counts[role] = index + 1
            bases: dict[str, Any] = {"workspace": "workspace", "weights": "weights"}
            base = bases.get(role)
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
        assert isinstance(owner, Buffer), f"{owner} is no place in memory"
        base = self.pointer(owner.operands[0])
        return Pointer(base.base, base.index, _extent(owner.plain_attributes()["offset"]))


def kernels_launched(steps: Sequence[LaunchStep]) -> list[str]:
    """Return the kernels that steps launch, each once."""
    return list(dict.fromkeys(step.kernel for step in steps))
