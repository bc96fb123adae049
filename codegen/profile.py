"""A compiled program whose runs say how long each launch takes.

    model = load_compiled(profiled(compiled), threads=1)
    profile(model, inputs).launches          # see runtime/profile.py

Code and order are those of the program itself; only the entry is another, and the workspace has
room for the times at its end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
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
from ..runtime.artifact import launches, round_up
from ..runtime.profile import KEY
from .compiled import Compiled
from .llvm.entry.profile import HEAD


def profiled(compiled: Compiled) -> Compiled:
    """Return the program with an entry that measures."""
    model = compiled.description
    offset = max(model.workspace_bytes, model.prepare_bytes)
    count, others = (sum(1 for _ in launches(steps)) for steps in (model.steps, model.prepare))
    size = round_up(HEAD + 8 * (count + others), 64)
    extras = {**model.extras, KEY: {"offset": offset, "launches": count}}
    end = offset + size
    made = replace(model, workspace=end, prepare_workspace=end, extras=extras)
    return replace(compiled, description=made)


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
    kind = kernel.attributes[KIND]
    assert isinstance(kind, StringAttr), f"{KIND} is {kind}"
    inside = [each.name.removeprefix("gv.") for each in kernel.body.block.ops]
    return LaunchInfo(
        kernel=kernel.sym_name.data,
        kind=kind.data,
        sources=_sources(op.attributes.get(SOURCE)),
        operations=tuple(name for name in inside if name != "func.return"),
        units=_units(kernel.attributes.get(UNITS), inner),
        cost=cost_of_kernel(kernel, inner),
    )


def _units(row: Attribute | None, sizes: Mapping[str, int]) -> int:
    return dims.evaluate(dims.parse(row.data), sizes) if isinstance(row, StringAttr) else 0


def _sources(row: Attribute | None) -> tuple[str, ...]:
    rows = row.data if isinstance(row, ArrayAttr) else (row,)
    return tuple(each.data for each in rows if isinstance(each, StringAttr))
