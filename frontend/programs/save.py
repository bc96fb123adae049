"""Write a program into the kind of file that its suffix names.

| suffix  | what it is                                                             |
|---------|------------------------------------------------------------------------|
| `.onnx` | an ONNX model of the graph level; large weights beside it in `.data`   |
| `.gv`   | graph text, its weights beside it in `.safetensors`                    |
| `.mlir` | IR text of any level, its weights beside it in `.safetensors`          |
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from ...errors import Advice
from ...ir import Program
from ..files.ir_text import save_ir
from ..text.writer import save_text
from .load import SUFFIXES, OptionError


@dataclass(frozen=True)
class Saving:
    """How to write a program."""

    format: str = ""
    """`onnx`, `gv` or `mlir`; the suffix says it if this is empty."""
    name: str = "main"
    """What graph text calls the model."""
    weights: bool = True
    """Whether weights are written beside a text."""
    opset: int = 0
    """The version of ONNX's operators; 0 for the one that models are written for."""
    external: bool = False
    """Whether an ONNX model's weights go into a file of their own, however small."""


def format_of(path: Path | None, given: str = "") -> str:
    """Return the format that was asked for, or that the suffix names; IR text without a file.

    Raises `OptionError` for a suffix that names none.
    """
    if given or path is None or str(path) == os.devnull:
        return given or "mlir"
    found = SUFFIXES.get(path.suffix)
    if found is None:
        suffix = f"suffix {path.suffix!r}" if path.suffix else "no suffix"
        raise OptionError(
            f"{path}: {suffix} names no format, expected {', '.join(SUFFIXES)}",
            hint=Advice("format=NAME", "--format NAME"),
        )
    return found


def save_program(program: Program, path: Path, how: Saving) -> list[Path]:
    """Write a program; return the paths of the files that were written."""
    kind = format_of(path, how.format)
    if kind != "mlir":
        program.module.attributes.pop("gv.target", None)  # a graph does not depend on it
    if kind == "gv":
        return save_text(program, path, name=how.name, weights=how.weights)
    if kind == "mlir":
        return save_ir(program, path, weights=how.weights)
    from ..onnx.export.model import save_onnx  # noqa: PLC0415  (onnx takes 0.2 s to import)

    return save_onnx(program, path, opset=how.opset, external=how.external)
