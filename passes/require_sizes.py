"""Note what a run must find of the sizes that are symbols.

    %v, %i = gv.top_k %x {k = 5} : tensor<NxF32>      =>   module attributes {gv.required =
                                                             [["5", "N", "gv.top_k: k 5, ..."]]}

Operations say it themselves (see `ir.demands`); what follows from the ranges of the symbols or from
what was noted before is left out. Only the operations that every run comes to are looked at: what
stands in a choice or a loop is asked of the kernels made of it, when they are launched.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr

from ..ir import Op, Program, operations
from ..ir.demands import Demand, demands_of
from ..ir.host import label
from ..ir.types.dims import parse
from .base import Pass
from .bounds.prover import Prover

REQUIRED = "gv.required"
"""Attribute of a module: what its runs must find, each as the texts of two sizes and an error."""


@dataclass(frozen=True)
class RequireSizes(Pass):
    """Note what a run must find of the sizes that are symbols."""

    LEVEL = "graph"

    def apply(self, program: Program) -> None:
        """Look at each operation of the entry."""
        found = Requirements(Prover(program.ranges))
        for op in operations(program.main.body.block):
            for demand in demands_of(op) if isinstance(op, Op) else ():
                found.add(replace(demand, text=f"{label(op)}: {demand.text}"))
        if found.demands:
            rows = [ArrayAttr(map(StringAttr, _texts(each))) for each in found.demands]
            program.module.attributes[REQUIRED] = ArrayAttr(rows)
            self.count("required", len(rows))


@dataclass
class Requirements:
    """What is demanded and does not follow from what is known."""

    prover: Prover

    def __post_init__(self) -> None:
        self.demands: list[Demand] = []

    def follows(self, demand: Demand) -> bool:
        """Say whether a demand holds in every run that meets those before."""
        return self.prover.holds(self.prover.dim(demand.spare))

    def add(self, demand: Demand) -> None:
        """Take a demand that does not follow."""
        if not self.follows(demand):
            self.demands.append(demand)
            self.prover.suppose(self.prover.dim(demand.spare))


def required(module: ModuleOp) -> list[Demand]:
    """Return what was noted."""
    rows = module.attributes.get(REQUIRED)
    if not isinstance(rows, ArrayAttr):
        return []
    texts = [[each.data for each in row.data] for row in rows.data if isinstance(row, ArrayAttr)]
    return [Demand(parse(small), parse(large), text) for small, large, text in texts]


def _texts(demand: Demand) -> Sequence[str]:
    return str(demand.small), str(demand.large), demand.text
