"""A model whose tensors inside are results, too, so that each can be compared.

    marked = mark("model.onnx", folder)
    marked.path                       the model as a file in the folder
    marked.tensors["/conv1/Conv_0"]   what gives it: Conv conv1, of x and w

An ONNX model stays one, so that other runtimes give the same tensors by the same names. Of other
programs it is IR text, whose tensors are named by what their operations come from.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation, SSAValue

from ...errors import GraphError
from ...ir import SOURCE, Op, Program, TensorSpec
from ...ir.program import argument_names, finish, requirements_of, result_names, returned
from ...ir.types.values import value_spec
from ..files.ir_text import save_ir
from .load import guess_format, load_program, named_function, read_bytes

if TYPE_CHECKING:
    from ..dims.symbols import DimOption, ShapeOption

UNMADE = frozenset({"gv.constant", "gv.weight", "func.return"})
"""Operations whose results nobody computes."""


@dataclass(frozen=True)
class Origin:
    """What gives a tensor."""

    operation: str
    """The kind of the node and its name, or of the operation and its place."""
    reads: tuple[str, ...]
    """The tensors that it is made of; stored ones and inputs are among them."""


@dataclass(frozen=True)
class Marked:
    """A model in a file whose tensors inside are results."""

    path: Path
    tensors: Mapping[str, Origin]
    """In the order in which they are computed."""
    keeps_shapes: bool
    """Whether shapes and dimensions are to be given again."""


def mark(
    source: str | os.PathLike[str] | bytes,
    folder: Path,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
) -> Marked:
    """Write the model in a source with all its tensors as results into a folder."""
    if named_function(source) is None:
        data = read_bytes(source)
        if data is not None and guess_format(data, source) == "onnx":
            return _marked_onnx(source, folder)
    program = load_program(source, shapes=shapes, dims=dims)
    if program.level != "graph":
        raise GraphError(f"tensors are compared on graphs, the program is on {program.level}")
    found = _mark_program(program)
    path = folder / "marked.mlir"
    save_ir(program, path)
    return Marked(path, found, keeps_shapes=False)


def _marked_onnx(source: str | os.PathLike[str] | bytes, folder: Path) -> Marked:
    from ..onnx.file.surgery import Surgery  # noqa: PLC0415  (onnx takes 0.2 s to import)

    surgery = Surgery.of(source if isinstance(source, bytes) else os.fspath(source))
    found = {
        name: Origin(f"{node.op_type} {node.name}".rstrip(), tuple(filter(None, node.input)))
        for name, node in surgery.mark().items()
    }
    path = folder / "marked.onnx"
    surgery.save(path)
    return Marked(path, found, keeps_shapes=True)


def _mark_program(program: Program) -> dict[str, Origin]:
    """Make results of all tensors of a program; return them in order."""
    main = program.main
    names: dict[SSAValue, str] = {
        **dict(zip(main.body.block.args, argument_names(main), strict=True)),
        **dict(zip(returned(main), result_names(main), strict=True)),
    }
    found: dict[str, Origin] = {}
    inside: dict[SSAValue, str] = {}
    for op in main.body.block.ops:
        for result in op.results:
            if op.name in UNMADE or not isinstance(value_spec(result.type), TensorSpec):
                continue
            name = names.get(result) or _free_name(_source(op), {*found, *names.values()})
            reads = tuple(names[each] for each in op.operands if each in names)
            found[name] = Origin(f"{op.name} at {_source(op)}", reads)
            if result not in names:
                names[result] = inside[result] = name
    _return_also(program, inside)
    return found


def _return_also(program: Program, more: Mapping[SSAValue, str]) -> None:
    """Add results to a program; what tells of requirements stays the last."""
    main = program.main
    values, names = [*returned(main)], [*result_names(main)]
    place = len(values) - bool(requirements_of(program.module))
    end = main.body.block.last_op
    assert isinstance(end, ReturnOp), "graphs return"
    main.body.block.erase_op(end)
    finish(
        main,
        [*values[:place], *more, *values[place:]],
        [*names[:place], *more.values(), *names[place:]],
    )


def _source(op: Operation) -> str:
    """Return the node, or the line, that an operation comes from; its kind if nobody said."""
    row = op.attributes.get(SOURCE) if isinstance(op, Op) else None
    text = getattr(row, "data", None)
    return text if isinstance(text, str) and text else op.name


def _free_name(stem: str, taken: set[str]) -> str:
    """Return a name that is not taken."""
    if stem not in taken:
        return stem
    return next(name for i in range(2, len(taken) + 3) if (name := f"{stem}.{i}") not in taken)
