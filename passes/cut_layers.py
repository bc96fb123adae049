"""Take layers out of a long chain of equal ones, for `repeat-layers` to put back.

    %1 = layer %0, w0                             %1 = layer %0, w0
    %2 = layer %1, w1              =>             ...
    ...                                           %5 = layer %4, w4
    %1000 = layer %999, w999                      %6 = layer %5, w995
                                                  ...

All passes in between see ten layers instead of a thousand: a program like any other, in which an
inner layer becomes what it would among all. It computes something else, and says so: `gv.layers`
has how many layers are missing, and the names of the weights of all. The module that was there is
left as it is, to go back to where `repeat-layers` finds that the layers did not become alike.

Needs a target whose launches can be repeated. Comes first; is left out where `repeat-layers` is.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ..ir import SOURCE, Program, operands_of
from ..ir.ops.structure import Constant, Weight
from ..ir.program import functions
from ..ir.types.attributes import Symbol
from ..ir.types.tensor import spec_of
from .analysis.chains import BlockRows, EqualLayers, find_chain
from .analysis.targets import target_of
from .base import Pass

LAYERS = "gv.layers"
"""Attribute of a module from which layers are cut out, as JSON: a `MissingLayers`."""

LEAST, KEPT, FEWEST = 24, 10, 6
"""Layers from which on a chain is cut, how many stay, and at least where they are large."""


@dataclass(frozen=True)
class MissingLayers:
    """What is missing of a chain of layers."""

    first: int
    """How many layers stand before those that are missing."""
    missing: int
    weights: Sequence[Sequence[str]]
    """Of each weight of a layer the names in all layers, also those that are missing."""
    sources: Sequence[Sequence[str]] = ()
    """Of each layer that is left the nodes that it is made from, where layers share all weights."""

    @classmethod
    def of(cls, module: ModuleOp) -> MissingLayers | None:
        """Return what is missing of a module; None if it is whole."""
        row = module.attributes.get(LAYERS)
        return cls(**json.loads(row.data)) if isinstance(row, StringAttr) else None

    @classmethod
    def for_chain(
        cls, chain: EqualLayers, kept: int, sources: Callable[[int], Sequence[str]]
    ) -> MissingLayers:
        """Return what to leave out of a chain so that so many layers stay, or one more.

        Of layers that are an even number of segments fewer stay: what one writes the next one
        reads, in turns of two. `sources` tells which nodes rows are of.
        """
        if chain.several % 2 == 0:
            kept = max(kept // chain.several, min(kept, FEWEST))
        stays = kept + (chain.count - kept) % 2
        cut = cls(stays // 2, chain.count - stays, chain.weights)
        if chain.weights:
            return cut
        left = [*range(cut.first), *range(cut.first + cut.missing, chain.count)]
        starts = [chain.start + layer * chain.period for layer in left]
        made = [[n for i in range(at, at + chain.period) for n in sources(i)] for at in starts]
        return replace(cut, sources=made)

    def attribute(self) -> Attribute:
        """Return what `of` reads."""
        return StringAttr(json.dumps(vars(self)))


def sources_of(op: Operation) -> list[str]:
    """Return the nodes that an operation is made from."""
    found = op.attributes.get(SOURCE)
    every = found.data if isinstance(found, ArrayAttr) else [found]
    return [each.data for each in every if isinstance(each, StringAttr)]


@dataclass(frozen=True)
class CutLayers(Pass):
    """Take layers out of a long chain of equal ones, for `repeat-layers` to put back."""

    LEVEL = "graph"
    UNTIL: ClassVar = "repeat-layers"
    least: int = LEAST
    """A chain of fewer layers stays whole."""
    kept: int = KEPT
    """So many layers stay, or one more: what is missing is a multiple of two."""

    def apply(self, program: Program) -> None:
        """Give the program another module, if there is a chain."""
        if LAYERS in program.module.attributes or not target_of(program).can.repeat_launches:
            return
        rows = BlockRows(program.main.body.block)
        chain = find_chain(rows, self.least)
        if chain is None:
            return
        cut = MissingLayers.for_chain(chain, self.kept, lambda row: sources_of(rows.rows[row]))
        own = {name for names in chain.weights for name in names}
        module, main = program.module, program.main
        made = [
            short_function(main, rows, chain, cut) if each is main else each.clone()
            for each in functions(module)
        ]
        arrays = {
            name: constant.plain_attributes()["value"]  # type: ignore[attr-defined]
            for constant, name in rows.constants.items()
            if name in own
        }
        program.weights = {**program.weights, **arrays}
        program.module = ModuleOp(made, {**module.attributes, LAYERS: cut.attribute()})
        self.count("layers cut", cut.missing)


def short_function(main: FuncOp, rows: BlockRows, chain: EqualLayers, cut: MissingLayers) -> FuncOp:
    """Return the function with fewer layers; the one that is given stays as it is."""
    old = main.body.block
    block = Block(arg_types=[argument.type for argument in old.args])
    values: dict[SSAValue, SSAValue] = dict(zip(old.args, block.args, strict=True))
    for argument, new in zip(old.args, block.args, strict=True):
        new.name_hint = argument.name_hint
    own = {name for names in chain.weights for name in names}
    start = chain.start + cut.first * chain.period
    length = cut.missing * chain.period
    how = Shortening(rows, own, length)
    for op in (*rows.rows[:start], *rows.rows[start + length :]):
        for operand in operands_of(op):
            if operand not in values:
                values[operand] = value_for(operand, block, values, how)
        copy_to(block, op, values)
    made = FuncOp(main.sym_name.data, main.function_type, Region(block), main.sym_visibility)
    made.properties.update(main.properties)
    made.attributes.update(main.attributes)
    return made


@dataclass(frozen=True)
class Shortening:
    """How a block is made shorter."""

    rows: BlockRows
    own: Collection[str]
    """The names of the weights that layers have of their own."""
    length: int
    """So many rows are left out."""


def value_for(
    value: SSAValue, block: Block, values: dict[SSAValue, SSAValue], how: Shortening
) -> SSAValue:
    """Return what stands for a value: a copy of a weight, or the result of an earlier layer."""
    owner = value.owner
    assert isinstance(owner, Operation), "arguments have stand-ins"
    name = how.rows.constants.get(owner)
    if name in how.own:
        spec = spec_of(value.type)
        weight = Weight.make(weight=Symbol(name), dtype=spec.dtype, shape=spec.dims)
        block.add_op(weight)
        values[value] = weight.results[0]
    elif isinstance(owner, Weight | Constant):
        copy_to(block, owner, values)
    else:
        before = how.rows.rows[how.rows.place[owner] - how.length]
        return values[before.results[value.index]]  # type: ignore[attr-defined]
    return values[value]


def copy_to(block: Block, op: Operation, values: dict[SSAValue, SSAValue]) -> None:
    """Append a copy of an operation."""
    made = op.clone(values)
    block.add_op(made)
    for old, new in zip(op.results, made.results, strict=True):
        values[old], new.name_hint = new, old.name_hint
