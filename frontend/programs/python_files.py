"""A function in a Python file as a program: `model.py:forward`, or `model.py:net.call`.

    import gravure as gv

    @gv.function(input_signature=[gv.tf.TensorSpec(...)])
    def forward(x): ...

The file is run, as if it was imported: name only files that you would run. Arguments have the
specs of the function's signature, or the shapes that are given by name, then of type f32; open
sizes are named, fixed and bounded as those of other models are. Variables that are read become
weights; a function that changes one, or draws random numbers, is refused.
"""

from __future__ import annotations

import runpy
import traceback
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ...errors import (
    Advice,
    GraphError,
    GravureError,
    InputError,
    ParseError,
    did_you_mean,
)
from ...ir import Program, TensorSpec
from ...ir.types.dtypes import f32
from ..dims.symbols import DimOption, ShapeOption
from ..dims.unknown import unknown_dim
from ..function.function import Function
from ..function.libraries import Sizes
from .mistakes import is_ours


def python_program(
    file: str,
    name: str,
    shapes: Mapping[str, ShapeOption],
    dims: Mapping[str, DimOption],
) -> Program:
    """Return the program of a function in a file.

    Open sizes are called as `shapes` says, else the first of `x` is `x_d0`; `dims` fixes or bounds
    them.
    """
    where = f"{Path(file).name}:{name}"
    function = function_of(file, name, where)
    try:
        concrete = function.get_concrete_function(*declared_arguments(function, shapes, where))
    except GravureError:
        raise
    except Exception as error:
        if is_ours(error, file) or _line(error, file) is None:
            raise
        raise of_file(error, file) from error
    program = concrete.frozen(Sizes(shapes, dims))
    program.source = where
    return program


@dataclass(frozen=True)
class Declared:
    """Stands for an argument of which only the spec is known."""

    spec: TensorSpec

    def traced_spec(self) -> TensorSpec:
        """Return the spec that it is traced by."""
        return self.spec


def function_of(file: str, name: str, where: str) -> Function:
    """Run a file, and return what it calls `name`; `where` is said of both."""
    if not Path(file).is_file():
        raise InputError("there is no such file", location=file)
    try:
        found = runpy.run_path(file, run_name=Path(file).stem)
    except (Exception, SystemExit) as error:
        if is_ours(error, file):
            raise
        raise of_file(error, file) from error
    value = _named(found, name, where)
    if isinstance(value, Function):
        return value
    if not callable(value):
        raise ParseError(f"{name!r} is {type(value).__name__}, expected a function", location=where)
    return Function(value)


def _named(found: Mapping[str, object], name: str, where: str) -> object:
    """Return what a file calls `name`: one of its names, or an attribute of one (`net.call`)."""
    first, *attributes = name.split(".")
    value = found.get(first)
    known = [n for n, each in found.items() if callable(each)]
    missing = first
    for part in attributes:
        if value is None:
            break
        value, known, missing = getattr(value, part, None), dir(value), part
    if value is None:
        shown = [n for n in known if not n.startswith("_")]
        hint = did_you_mean(missing, shown)
        raise ParseError(f"there is no function {name!r}", location=where, hint=hint)
    return value


def of_file(error: BaseException, file: str) -> ParseError:
    """Return what a file raised as an error of ours, with its line."""
    line = _line(error, file)
    where = Path(file).name if line is None else f"{Path(file).name}:{line}"
    text = error.msg if isinstance(error, SyntaxError) else str(error)
    return ParseError(f"{type(error).__name__}: {text}", location=where)


def _line(error: BaseException, file: str) -> int | None:
    """Return the line of a file that an error comes from; None if it has no part in it."""
    if isinstance(error, SyntaxError):
        return error.lineno if error.filename == file else None
    frames = traceback.extract_tb(error.__traceback__)
    return next((each.lineno for each in reversed(frames) if each.filename == file), None)


def declared_arguments(
    function: Function, shapes: Mapping[str, ShapeOption], where: str
) -> Sequence[Declared]:
    """Return the arguments by their specs."""
    if function.input_signature is not None:
        return ()
    names = [p.name for p in function.signature.parameters.values() if p.default is p.empty]
    unknown = [n for n in shapes if n not in function.signature.parameters]
    if unknown:
        raise GraphError(f"there is no argument {unknown[0]!r}: {names}", location=where)
    missing = [n for n in names if n not in shapes]
    if missing:
        raise GraphError(
            f"argument {missing[0]!r} has no shape", location=where,
            hint=Advice(
                f'shapes={{"{missing[0]}": (2, 3)}}, or an input_signature',
                f"--shape {missing[0]}=2,3, or an input_signature",
            ),
        )  # fmt: skip
    return [Declared(_open(shapes[name])) for name in names]


def _open(shape: ShapeOption) -> TensorSpec:
    """Return the spec of an argument whose sizes are open where they are no numbers."""
    return TensorSpec(f32, tuple(d if isinstance(d, int) else unknown_dim() for d in shape))
