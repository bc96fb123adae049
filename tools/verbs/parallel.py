"""A model compiled for several ranks: the files of each, and a manifest."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ...codegen.compiled import OptionFields, Options
from ...frontend.programs.compile import options_with
from ..console import in_bytes, table
from ..talk import Progress, Source, silent

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption


@dataclass(frozen=True)
class RankFiles:
    """The files that were written, the manifest last."""

    files: tuple[Path, ...]

    def __str__(self) -> str:
        return table([[str(path), in_bytes(path.stat().st_size)] for path in self.files])

    def as_json(self) -> dict[str, Any]:
        """Return names and sizes as plain data."""
        rows = [{"path": str(path), "bytes": path.stat().st_size} for path in self.files]
        return {"schema": "gravure.parallel_files/1", "files": rows}


def compile_parallel(  # noqa: PLR0913  (each option is its own)
    source: Source,
    path: str | os.PathLike[str],
    parallel: str,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    options: Options | None = None,
    progress: Progress = silent,
    **more: Unpack[OptionFields],
) -> RankFiles:
    """Compile a model for several ranks: a library and a file of weights for each, and a manifest.

    - `source`: a model file, or the bytes of one.
    - `path`: the manifest, `m.parallel.json`; beside it `m.rank0.so`, `m.rank0.weights` and so on.
    - `parallel`: `tensor=2`: each rank has a part of the weights of each product, and all compute
      at once; `pipeline=2`: the ranks follow each other, each with a stage of the model.
    - `shapes`, `dims`: of inputs, and the ranges of dimensions with names: see `gravure.compile`.
    - `progress`: is told what goes on.
    - `options`, and all its fields as keywords: see `gravure.Options`.

    `gravure.load` on each rank of `gravure launch` makes one model of it; another number of ranks
    is an error. Raises `ParallelError` for what cannot be shared out so.

    >>> import gravure as gv
    >>> gv.compile_parallel(b"model m(x: f32[3]) -> (y) { y = exp(x) }", "m", "tensor=2")
    Traceback (most recent call last):
    gravure.frontend.programs.parallel.ParallelError: file 'm': expected a name that ends in ...
    """
    from ...frontend.programs.parallel import Parallel
    from ...frontend.programs.parallel import compile_parallel as write

    made = options_with("compile_parallel", options, more, threads=(options or Options()).slots)
    how = Parallel.parse(parallel)
    with progress(f"compiling for {how.ranks} ranks"):
        return RankFiles(tuple(write(source, Path(path), how, made, shapes=shapes, dims=dims)))
