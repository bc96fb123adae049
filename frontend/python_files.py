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

from ..errors import GraphError, ParseError
from ..ir import Program, TensorSpec
from ..ir.dtypes import f32
from .function import Function
from .symbols import ShapeOption, did_you_mean


def python_program(
    file: str, name: str, shapes: Mapping[str, ShapeOption], dims: Mapping[str, Any]
) -> Program:
    """Return the program of a function in a file."""
    where = f"{Path(file).name}:{name}"
    if dims:
        raise GraphError("the shapes of a Python function are numbers", location=where)
    function = _function(file, name, where)
    program = function.get_concrete_function(*_arguments(function, shapes, where)).frozen()
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
