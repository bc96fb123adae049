"""A model that is ready to run, and the arrays that it is run on: what `run` and `bench` share."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...codegen.compiled import Compiled, Options
from ...frontend.programs.compile import compile_model, load
from ...runtime.arguments import bind_dims
from ...runtime.model import Model
from ..errors import UsageError
from ..inputs import Inputs, given_shapes, make_inputs
from ..options import is_library
from ..talk import Progress, Source, name_of

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption
    from ...passes.base import Observer
    from ...runtime.buffer import Array
    from ...runtime.gpu.driver import Driver


@dataclass(frozen=True)
class Wanted:
    """What is said about a model that is to be run."""

    inputs: Inputs = None
    threads: int = 1
    shapes: Mapping[str, ShapeOption] | None = None
    dims: Mapping[str, DimOption] | None = None
    weights: str | os.PathLike[str] | None = None
    """Those of a library that has them not."""
    device: Driver | str | None = None
    observers: Sequence[Observer] = ()


@dataclass(frozen=True)
class Subject:
    """A model that is ready, and the arrays that it is run on."""

    source: Source | None
    """What it was made from; None for a model that was ready before."""
    model: Model
    compiled: Compiled | None
    """What it was compiled to, with its program, if that was done now."""
    inputs: dict[str, Array]
    shapes: Mapping[str, Any] | None
    """What it was compiled with."""
    dims: Mapping[str, DimOption] | None

    @property
    def name(self) -> str:
        """Return the model's file, or its name."""
        if self.source is None or isinstance(self.source, bytes):
            return str(self.model.manifest.get("tag", "<bytes>"))
        return Path(self.source).name

    @property
    def sizes(self) -> dict[str, int]:
        """Return the values of the dimensions."""
        return bind_dims(list(self.inputs.values()), self.model.inputs, self.model.dims)


def subject_of(
    source: Source | Model, options: Options, wanted: Wanted, progress: Progress
) -> Subject:
    """Return a model with its inputs: compiled, loaded, or as it is."""
    if isinstance(source, Model):
        made = make_inputs(wanted.inputs, source.inputs, source.dims, _sizes(wanted.dims))
        return Subject(None, source, _with_program(source), made, None, None)
    if wanted.weights is not None and not is_library(source):
        raise UsageError("weights are given, but the model brings its own: it is no library")
    if is_library(source):
        with progress(f"loading {name_of(source)}"):
            model = load(
                source, threads=wanted.threads, weights=wanted.weights, device=wanted.device
            )
        made = make_inputs(wanted.inputs, model.inputs, model.dims, _sizes(wanted.dims))
        return Subject(source, model, None, made, None, None)
    shapes = {**given_shapes(wanted.inputs), **(wanted.shapes or {})}
    with progress(f"compiling {name_of(source)}"):
        model = compile_model(
            source, options, wanted.threads, device=wanted.device, shapes=shapes,
            dims=wanted.dims, observers=wanted.observers,
        )  # fmt: skip
    made = make_inputs(wanted.inputs, model.inputs, model.dims)
    return Subject(source, model, _with_program(model), made, shapes, wanted.dims)


def _with_program(model: Model) -> Compiled | None:
    """Return what a model was compiled to, if that knows its program: not from the cache."""
    compiled = getattr(model, "compiled", None)
    is_whole = isinstance(compiled, Compiled) and compiled.program is not None
    return compiled if is_whole else None


def _sizes(dims: Mapping[str, DimOption] | None) -> dict[str, int]:
    """Return the values that dimensions of what is compiled already shall have."""
    found: dict[str, int] = {}
    for name, value in (dims or {}).items():
        if not isinstance(value, int):
            raise UsageError(
                f"dimension {name}: a library has its bounds already, expected a number"
            )
        found[name] = value
    return found
