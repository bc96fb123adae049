"""What the launches of a planned program are there for: sources, operations, and what they cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from ..ir import SOURCE, Program
from ..ir.interpret.launch import UNITS, kernel_symbols
from ..ir.levels import KIND
from ..ir.ops.structure import Launch
from ..ir.program import by_name
from ..ir.types import dims
from ..passes.analysis.cost import Cost, cost_of_kernel
from ..runtime.artifact import Work


@dataclass(frozen=True)
class LaunchInfo:
    """What one launch of a program is."""

    kernel: str
    kind: str
    """The template that its code was made by."""
    sources: tuple[str, ...]
    """The nodes of the model that it computes, as far as they are known."""
    operations: tuple[str, ...]
    units: int
    """How many parts could be done at the same time; 0 if it is not lowered yet."""
    cost: Cost

    def as_json(self) -> dict[str, Any]:
        """Return the fields by name."""
        return {
            "kernel": self.kernel,
            "kind": self.kind,
            "sources": list(self.sources),
            "operations": list(self.operations),
            "units": self.units,
            **self.cost.as_json(),
        }


def launches_of(program: Program, sizes: Mapping[str, int]) -> list[LaunchInfo]:
    """Return what the launches of a planned program are, in order."""
    ops = [op for op in program.main.body.block.walk() if isinstance(op, Launch)]
    kernels = by_name(program.module)
    return [_info(op, kernels[op.kernel], sizes) for op in ops]


def _info(op: Launch, kernel: FuncOp, sizes: Mapping[str, int]) -> LaunchInfo:
    values = [dims.evaluate(dim, sizes) for dim in op.plain_attributes()["dims"]]
    inner = dict(zip(kernel_symbols(kernel), values, strict=True))
    return LaunchInfo(
        kernel=kernel.sym_name.data,
        kind=_kind(kernel),
        sources=_sources(op.attributes.get(SOURCE)),
        operations=_operations(kernel),
        units=_units(kernel.attributes.get(UNITS), inner),
        cost=cost_of_kernel(kernel, inner),
    )


class Works:
    """What launches are there for; what a kernel costs is counted once for the same sizes."""

    def __init__(self, *, counted: bool) -> None:
        self.counted = counted
        """Whether costs can be told: not of kernels that are loops already."""
        self.costs: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}

    def of(self, op: Launch, kernel: FuncOp) -> Work:
        """Return what a launch is there for."""
        sizes = [dim for dim in op.sizes if isinstance(dim, int)]
        known = self.counted and len(sizes) == len(op.sizes)
        numbers = self.cost(kernel, tuple(sizes)) if known else ()
        sources = _sources(op.attributes.get(SOURCE))
        return Work(_kind(kernel), sources, _operations(kernel), numbers)

    def cost(self, kernel: FuncOp, sizes: tuple[int, ...]) -> tuple[int, ...]:
        """Return the numbers of a `Cost`."""
        key = kernel.sym_name.data, sizes
        if key not in self.costs:
            inner = dict(zip(kernel_symbols(kernel), sizes, strict=True))
            self.costs[key] = tuple(cost_of_kernel(kernel, inner).as_json().values())
        return self.costs[key]


def _kind(kernel: FuncOp) -> str:
    kind = kernel.attributes[KIND]
    assert isinstance(kind, StringAttr), f"{KIND} is {kind}"
    return kind.data


def _operations(kernel: FuncOp) -> tuple[str, ...]:
    inside = (each.name.removeprefix("gv.") for each in kernel.body.block.ops)
    return tuple(name for name in inside if name != "func.return")


def _units(row: Attribute | None, sizes: Mapping[str, int]) -> int:
    return dims.evaluate(dims.parse(row.data), sizes) if isinstance(row, StringAttr) else 0


def _sources(row: Attribute | None) -> tuple[str, ...]:
    rows = row.data if isinstance(row, ArrayAttr) else (row,)
    return tuple(each.data for each in rows if isinstance(each, StringAttr))
