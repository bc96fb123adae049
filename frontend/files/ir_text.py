"""A program of any level as a file of IR text, with the data of its weights beside it.

    save_ir(program, Path("m.mlir"))       m.mlir, and m.safetensors if there are weights
    load_program("m.mlir")                 reads both

The text names the file of weights in the module's attribute `gv.data`. Text that went through a
pipe has none: it can be looked at and rewritten, and not be compiled if it has weights.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from xdsl.dialects.builtin import StringAttr

from ...errors import ParseError
from ...ir import Op, Program, parse, print_module
from ...ir.placement import weight_rows
from ...ir.program import argument_names, argument_specs, set_ranges
from ...ir.whole import verify_whole
from .weights import DIGEST, digest_of_weights, read_beside, write_beside

DATA = "gv.data"


def read_ir(text: str, name: str, directory: Path | None) -> Program:
    """Return the program of a text, with its weights if the text says where they are."""
    module = parse(text, name)
    verify_whole(module)
    attribute, digest = (module.attributes.pop(name, None) for name in (DATA, DIGEST))
    if not isinstance(attribute, StringAttr):
        return Program(module, {}, name)
    location = attribute.data
    if directory is None:
        raise ParseError(f"its weights are in {location!r}, beside a text that is not a file")
    weights, found = read_beside(directory, location)
    if isinstance(digest, StringAttr) and found not in (None, digest.data):
        raise ParseError(
            f"{location!r} was written with another text: {DIGEST} {found!r}, "
            f"expected {digest.data!r}",
            location=name,
        )
    program = Program(module, weights, name)
    _check(program, location)
    return program


def bound_by_arrays(program: Program, shapes: Mapping[str, Sequence[int]]) -> None:
    """Bound the symbols that have no upper bound by the sizes of arrays that a run is for."""
    if program.level != "graph" or not shapes:
        return
    ranges = program.ranges
    opened = {symbol for symbol, (_, high) in ranges.items() if high is None}
    rows = zip(argument_names(program.main), argument_specs(program.main), strict=True)
    for name, spec in rows:
        for dim, size in zip(spec.dims, shapes.get(name, ()), strict=False):  # the run is strict
            if (symbol := str(dim)) in opened:
                low, high = ranges[symbol]
                ranges[symbol] = (low, max(low, size, high or 0))
    set_ranges(program.module, ranges)


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
    return write_beside(path, ir_text(program, data), program.weights, data)


def ir_text(program: Program, data: Path | None = None) -> str:
    """Return a program's text, which says that its weights are in the file `data`."""
    module = program.module
    if data is None:
        return print_module(module)
    module.attributes[DATA] = StringAttr(data.name)
    module.attributes[DIGEST] = StringAttr(digest_of_weights(program.weights))
    try:
        return print_module(module)
    finally:
        del module.attributes[DATA], module.attributes[DIGEST]
