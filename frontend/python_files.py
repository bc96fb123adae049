"""A function in a Python file as a program: `model.py:forward`.

    import gravure as gv

    @gv.function(input_signature=[gv.TensorSpec(...)])
    def forward(x): ...

The file is run, as if it was imported: name only files that you would run. Arguments have the
specs of the function's signature, or the shapes that are given by name, then of type f32. Variables
that are read become weights; a function that changes one, or draws random numbers, is refused.
"""

from __future__ import annotations

import runpy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ..errors import GraphError, ParseError, UnsupportedOp
from ..ir import Program, TensorSpec
from ..ir.attributes import Symbol
from ..ir.build import GraphEmit
from ..ir.dtypes import f32
from ..ir.ops.structure import Weight
from ..ir.program import finish, new_function, set_level
from ..ir.tensor import spec_of_array
from ..ir.verify import verify
from .execute import Store
from .function import ConcreteFunction, Function
from .staged import NotStageableError, Shared, StagingFrame
from .symbols import ShapeOption, did_you_mean


def python_program(
    file: str, name: str, shapes: Mapping[str, ShapeOption], dims: Mapping[str, Any]
) -> Program:
    """Return the program of a function in a file."""
    where = f"{Path(file).name}:{name}"
    if dims:
        raise GraphError("the shapes of a Python function are numbers", location=where)
    function = _function(file, name, where)
    concrete = function.get_concrete_function(*_arguments(function, shapes, where))
    try:
        program = _staged(concrete)
    except NotStageableError as error:
        raise UnsupportedOp(f"the function needs Python to run: {error}", location=where) from error
    program.source = where
    return program


@dataclass(frozen=True)
class Declared:
    """Stands for an argument of which only the spec is known."""

    spec: TensorSpec

    def traced_spec(self) -> TensorSpec:
        """Return the spec that it is traced by."""
        return self.spec


def _function(file: str, name: str, where: str) -> Function:
    """Run a file, and return what it calls `name`."""
    if not Path(file).is_file():
        raise ParseError("there is no such file", location=file)
    found = runpy.run_path(file, run_name=Path(file).stem)
    value = found.get(name)
    if value is None:
        names = [n for n, each in found.items() if callable(each) and not n.startswith("_")]
        raise ParseError(
            f"there is no function {name!r}", location=where, hint=did_you_mean(name, names)
        )
    if isinstance(value, Function):
        return value
    if not callable(value):
        raise ParseError(f"{name!r} is {type(value).__name__}, expected a function", location=where)
    return Function(value)


def _arguments(
    function: Function, shapes: Mapping[str, ShapeOption], where: str
) -> Sequence[Declared]:
    """Return the arguments by their specs."""
    if function.input_signature is not None and not shapes:
        return ()
    names = [p.name for p in function.signature.parameters.values() if p.default is p.empty]
    unknown = [n for n in shapes if n not in function.signature.parameters]
    if unknown:
        raise GraphError(f"there is no argument {unknown[0]!r}: {names}", location=where)
    missing = [n for n in names if n not in shapes]
    if missing:
        raise GraphError(
            f"argument {missing[0]!r} has no shape", location=where,
            hint=f"--shape {missing[0]}=2,3, or an input_signature",
        )  # fmt: skip
    specs = []
    for name in names:
        dims = tuple(shapes[name])
        if not all(isinstance(dim, int) for dim in dims):
            raise GraphError(f"shape {[*dims]} of {name!r}: expected numbers", location=where)
        specs.append(Declared(TensorSpec(f32, tuple(int(str(dim)) for dim in dims))))
    return specs


def _staged(concrete: ConcreteFunction) -> Program:
    """Return the program of a trace; variables and what it captured become constants."""
    graph = concrete.graph
    inputs = [(x.op.name, x.spec) for x in graph.inputs]
    if not all(spec.is_static for _, spec in inputs):
        raise NotStageableError("shapes that are not known")
    main = new_function("main", inputs)
    block, shared = main.body.block, Shared()
    frame = Frozen(block, shared, top=True)
    captured = [x.numpy() for x in graph.captures]
    made = graph.whole_plan().run(frame, [*block.args, *captured])
    if frame.written or shared.keys:
        raise NotStageableError("it changes variables" if frame.written else "random numbers")
    values = [frame.value(x) for x in made]
    finish(main, values, _results(concrete))
    module = ModuleOp([main])
    set_level(module, "graph")
    verify(module)
    return Program(module, shared.weights)


class Frozen(StagingFrame):
    """A frame in which variables are weights that hold what the variables hold now."""

    def read(self, variable: Any) -> Any:
        """Return the variable's value, stored once."""
        if variable not in self.state:
            value = variable.value_in(Store())
            name, spec = variable.name.removesuffix(":0"), spec_of_array(value)
            self.shared.weights[name] = value
            emit = GraphEmit.at_end(self.block)
            self.state[variable] = emit(
                Weight, weight=Symbol(name), dtype=spec.dtype, shape=spec.dims
            )
        return self.state[variable]


def _results(concrete: ConcreteFunction) -> list[str]:
    """Return the names of the results."""
    if isinstance(concrete.structure, dict):
        return [str(name) for name in concrete.structure]
    count = len(concrete.outputs)
    return ["y"] if count == 1 else [f"y{i}" for i in range(count)]
