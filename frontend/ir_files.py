"""A program of any level as a file of IR text, with the data of its weights beside it.

    save_ir(program, Path("m.mlir"))       m.mlir, and m.safetensors if there are weights
    load_program("m.mlir")                 reads both

The text names the file of weights in the module's attribute `gv.data`. Text that went through a
pipe has none: it can be looked at and rewritten, and not be compiled if it has weights.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from xdsl.dialects.builtin import StringAttr

from ..errors import ParseError
from ..ir import Array, Op, Program, parse, print_module
from ..ir.placement import weight_rows
from ..ir.whole import verify_whole
from ..runtime.files import replacing
from .files import map_beside
from .weights import read_safetensors, write_safetensors

DATA = "gv.data"


def read_ir(text: str, name: str, directory: Path | None) -> Program:
    """Return the program of a text, with its weights if the text says where they are."""
    module = parse(text, name)
    verify_whole(module)
    attribute = module.attributes.pop(DATA, None)
    if not isinstance(attribute, StringAttr):
        return Program(module, {}, name)
    location = attribute.data
    if directory is None:
        raise ParseError(f"its weights are in {location!r}, beside a text that is not a file")
    weights = read_safetensors(map_beside(directory, location), location)
    program = Program(module, weights, name)
    _check(program, location)
    return program


def _check(program: Program, location: str) -> None:
    """Raise `ParseError` with all that is missing or different in the file of weights."""
    wrong = []
    for op in program.module.walk():
        if not isinstance(op, Op) or op.name != "gv.weight":
            continue
        key, spec = str(op.plain_attributes()["weight"]), op.result_specs[0]
        found = program.weights.get(key)
        if found is None:
            if not key.startswith("prepared."):
                wrong.append(f"tensor {key!r} is missing")
        elif found.dtype != spec.dtype.numpy or found.shape != spec.dims:
            wrong.append(f"tensor {key!r} is {found.dtype}{[*found.shape]}, expected {spec}")
    for key, _, size in weight_rows(program.module):
        if key in program.weights and program.weights[key].nbytes != size:
            wrong.append(f"tensor {key!r} has {program.weights[key].nbytes} bytes, expected {size}")
    if wrong:
        message = "\n  ".join([f"{location!r} does not belong to the text", *wrong])
        raise ParseError(message, location=program.source)


def save_ir(program: Program, path: Path, *, weights: bool = True) -> list[Path]:
    """Write a program's text, and its weights beside it; return the paths of both."""
    data = path.with_suffix(".safetensors") if weights and program.weights else None
    return write_ir(ir_text(program, data), path, program.weights, data)


def write_ir(text: str, path: Path, weights: Mapping[str, Array], data: Path | None) -> list[Path]:
    """Write a text that `ir_text` returned, and the weights if they have a place."""
    if data is not None:
        write_safetensors(data, weights)
    with replacing(path) as file:
        file.write(text.encode("utf-8", "backslashreplace"))
    return [path] if data is None else [path, data]


def ir_text(program: Program, data: Path | None = None) -> str:
    """Return a program's text, which says that its weights are in the file `data`."""
    module = program.module
    if data is None:
        return print_module(module)
    module.attributes[DATA] = StringAttr(data.name)
    try:
        return print_module(module)
    finally:
        del module.attributes[DATA]
