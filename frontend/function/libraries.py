"""Functions and parts of graphs as libraries: compiled ahead of time, run without Python.

    f.save("model.so", TensorSpec([1, 4]), frozen=True)      a function
    f.save("model.so", TensorSpec([None, 4]), frozen=True, dims={"x_d0": (1, 64)})
    session.save("part.so", [y], [x])                        fetches and feeds of a graph

Variables have the value that they have now. What changes a variable, draws random numbers or
calls Python is refused by name.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NoReturn

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue

from ...codegen.compiled import Options
from ...collection import paused
from ...errors import GraphError
from ...ir import Dim, Program, TensorSpec
from ...ir.op import Array
from ...ir.ops.structure import Weight
from ...ir.program import finish, new_function, set_level, set_ranges, set_requirements
from ...ir.types.attributes import Symbol
from ...ir.types.tensor import spec_of_array
from ...ir.verify import verify
from ..dims.symbols import DimOption, ShapeOption, Symbols
from ..graph.execute import Plan, RunError
from ..graph.frame import NotStageableError, Stateful, Store
from ..graph.func_graph import Draws, has_effect
from ..graph.graph import GraphTensor
from ..graph.variables import VariableState
from ..models.compiled import tag_of
from ..models.making import model_of
from .in_common import FaultVariable, Shared
from .lowering import StagingFrame


class NotCompilableError(GraphError, ValueError):
    """A function does what only Python can, or what a library has no place for."""

    code = "GV2341"


class FrozenFrame(StagingFrame):
    """A program in which variables are constants."""

    def __init__(self, block: Block, shared: Shared, values: Store) -> None:
        super().__init__(block, shared, top=True)
        self.values = values

    def present(self, variable: Stateful | None) -> SSAValue:
        """Return the value that the variable has now."""
        if isinstance(variable, VariableState | Draws) and variable not in self.state:
            self.state[variable] = self.stored(variable.name, variable.value_in(self.values))
        return super().present(variable)

    def stored(self, name: str, array: Array) -> SSAValue:
        """Return a weight that is named after a variable."""
        stem = name.removesuffix(":0")
        unique = f"{stem}_{len(self.shared.weights)}" if stem in self.shared.weights else stem
        spec, self.shared.weights[unique] = spec_of_array(array), array
        made: SSAValue = self.emitter(
            Weight, weight=Symbol(unique), dtype=spec.dtype, shape=spec.dims
        )
        return made

    def write(self, variable: Stateful, value: object) -> None:
        """Refuse."""
        raise NotStageableError(f"it changes variable {variable.name!r}")

    def key(self, op: Any, seeds: object, count: object, first: object = 0) -> NoReturn:
        """Refuse."""
        raise NotStageableError(f"node {op.name!r} draws random numbers")


def names_of(wanted: Sequence[str]) -> list[str]:
    """Return names that C accepts, each once."""
    made: list[str] = []
    for name in wanted:
        plain = re.sub(r"\W", "_", name) or "x"
        plain = f"_{plain}" if plain[0].isdigit() else plain
        count = sum(m == plain or m.startswith(f"{plain}_") for m in made)
        made.append(plain if plain not in made else f"{plain}_{count}")
    return made


@dataclass(frozen=True)
class Sizes:
    """What the open sizes of arguments are called, and how large they get.

    `shapes={"x": ("N", 4)}` names them, else the first of `x` is `x_d0`; `dims={"N": (1, 64)}`.
    """

    shapes: Mapping[str, ShapeOption] = field(default_factory=dict)
    dims: Mapping[str, DimOption] = field(default_factory=dict)

    def spec(self, name: str, spec: TensorSpec, symbols: Symbols) -> TensorSpec:
        """Return the spec of an argument with names for its open sizes."""
        if spec.shape is None:
            raise NotCompilableError(f"argument {name!r} may have any rank, expected one")
        wanted = self.shapes.get(name, spec.shape)
        if len(wanted) != len(spec.shape):
            raise NotCompilableError(f"argument {name!r} is {spec}, not of shape {[*wanted]}")
        made: list[Dim] = []
        for axis, (size, named) in enumerate(zip(spec.shape, wanted, strict=True)):
            if isinstance(size, int) and isinstance(named, int) and named != size:
                raise NotCompilableError(f"argument {name!r} is {spec}, not of shape {[*wanted]}")
            if isinstance(size, int):
                made.append(size)
            elif isinstance(named, int):
                made.append(named)
            else:
                made.append(symbols.named(named if isinstance(named, str) else f"{name}_d{axis}"))
        return spec.with_shape(made)


@paused()
def program_of(
    plan: Plan,
    inputs: Sequence[GraphTensor],
    results: Sequence[str],
    store: Store,
    taken: Mapping[GraphTensor, Array],
    sizes: Sizes | None = None,
) -> Program:
    """Return a plan as a program: inputs by the names of their nodes, results by given names.

    `taken` gives what comes from outside of a function.
    """
    named = names_of([x.op.name for x in inputs])
    sizes = sizes or Sizes()
    symbols = Symbols(sizes.dims)
    for other in [name for name in sizes.shapes if name not in named]:
        raise NotCompilableError(f"there is no argument {other!r}, arguments are {named}")
    specs = [sizes.spec(n, x.spec, symbols) for n, x in zip(named, inputs, strict=True)]
    main = new_function("main", list(zip(named, specs, strict=True)))
    shared = Shared()
    fault = shared.fault = FaultVariable()
    frame = FrozenFrame(main.body.block, shared, store)
    try:
        values = [frame.value(x) for x in taken.values()]
        whole = Plan(plan.fetches, [*inputs, *taken], [op for op in plan.ops if has_effect(op)])
        made = whole.run(frame, [*main.body.block.args, *values])
    except (NotStageableError, RunError) as error:
        raise NotCompilableError(f"this is not compiled ahead of time: {error}") from None
    outputs = [frame.value(x) for x in made if x is not None]
    if not outputs:
        raise NotCompilableError("there is nothing to compute")
    told = [frame.value(frame.state[fault])] if fault in frame.written else []
    finish(main, [*outputs, *told], names_of([*results, *["fault"] * len(told)]))
    module = ModuleOp([main])
    set_level(module, "graph")
    set_requirements(module, [*fault.known] if told else [])
    symbols.check()
    set_ranges(module, symbols.ranges)
    verify(module)
    return Program(module, shared.weights)


def save_plan(
    path: str | os.PathLike[str],
    plan: Plan,
    inputs: Sequence[GraphTensor],
    results: Sequence[str],
    store: Store,
    taken: Mapping[GraphTensor, Array] | None = None,
) -> None:
    """Compile a plan, and write what the suffix of the path asks for: `.so`, `.o`, `.a`, `.h`."""
    save_program(path, program_of(plan, inputs, results, store, taken or {}))


def save_program(path: str | os.PathLike[str], program: Program) -> None:
    """Compile a program, and write what the suffix of the path asks for."""
    model_of(program, Options(tag=tag_of(path), numerics="exact")).save(path)
