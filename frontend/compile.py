"""`gravure.compile`: from a model file or a program to a model that runs.

model = gravure.compile("model.onnx", threads=2)
[y] = model.run({"x": x})
model.save("model.so")
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ..codegen.compile import Compiled, Options, compile_program
from ..ir import Program
from ..passes.base import Observer
from ..runtime.model import Model
from .load import load_program
from .symbols import DimOption, ShapeOption


class CompiledModel(Model):
    """A model that was compiled in this process."""

    compiled: Compiled

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the shared library, with its weights, to `path`."""
        self.compiled.library().save(path)


def compile(
    source: str | os.PathLike[str] | bytes | Program,
    *,
    threads: int = 1,
    target: str = "native",
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    options: Options | None = None,
    observers: Sequence[Observer] = (),
    **more: Any,
) -> CompiledModel:
    """Compile a model for this process.

    `source` is a file (ONNX, graph text, IR text), the bytes of one, or a program. `shapes`
    and `dims` name and bound symbolic dimensions: `shapes={"x": ("N", 784)}, dims={"N": (1,
    64)}`. Further keywords are fields of `Options`. Raises a `GravureError` that lists all
    faults of the model.
    """
    made = compile_source(
        source,
        replace(options or Options(), target=target, slots=threads, **more),
        shapes=shapes,
        dims=dims,
        observers=observers,
    )
    return load_compiled(made, threads)


def compile_source(
    source: str | os.PathLike[str] | bytes | Program,
    options: Options,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    observers: Sequence[Observer] = (),
) -> Compiled:
    """Return the compiled program of a source, not yet loaded."""
    if not isinstance(source, Program):
        if options.tag == Options().tag and not isinstance(source, bytes):
            options = replace(options, tag=tag_of(source))
        source = load_program(source, shapes=shapes, dims=dims)
    return compile_program(source, options, observers)


def load_compiled(compiled: Compiled, threads: int) -> CompiledModel:
    """Load compiled code into this process."""
    weights = compiled.blob if compiled.description.weights else None
    model = CompiledModel.load(compiled.code(), threads=threads, weights=weights)
    assert isinstance(model, CompiledModel), "load gives what it is called on"
    model.compiled = compiled
    return model


def tag_of(path: str | os.PathLike[str]) -> str:
    """Return a C identifier made from a file's name."""
    stem = Path(path).stem
    plain = "".join(c if c.isascii() and c.isalnum() else "_" for c in stem)
    return plain if plain[:1].isalpha() else f"model_{plain}"


def load(path: str | os.PathLike[str] | bytes, *, threads: int = 1, weights: Any = None) -> Model:
    """Load a compiled shared library; see `Model.load`."""
    return Model.load(path, threads=threads, weights=weights)
