"""In what two models, programs, libraries or records differ."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...frontend.programs.difference import Row, data_rows, program_diff, program_rows
from ...frontend.programs.load import load_program
from ...runtime.library import inspect
from ..console import table
from ..errors import DataError, UsageError
from ..options import is_library
from ..talk import Source, name_of

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption


@dataclass(frozen=True)
class ModelDiff:
    """In what two models differ; true if they do."""

    names: tuple[str, str]
    rows: tuple[Row, ...]
    """What differs: name, in the first, in the second."""
    lines: tuple[str, ...] = ()
    """The programs line by line, as a unified diff, if that was asked for."""

    def __bool__(self) -> bool:
        return bool(self.rows)

    def __str__(self) -> str:
        found = [[row.what, row.first, row.second] for row in self.rows]
        text = table([["", *self.names], *found]) if found else "no difference"
        return "\n".join([text, *self.lines])

    def as_json(self) -> dict[str, Any]:
        """Return the rows, and the lines, as plain data."""
        rows = [vars(row) for row in self.rows]
        return {"schema": "gravure.diff/1", "differences": rows, "text": [*self.lines]}


def diff_models(
    first: Source,
    second: Source,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    text: bool = False,
) -> ModelDiff:
    """Return in what two models differ; names of values and places in files do not count.

    - `first`, `second`: models, programs, two libraries, or two files of JSON such as records of
      `gravure bench`.
    - `shapes`, `dims`: as for `gravure.compile`; for both.
    - `text`: whether the programs are compared line by line besides.

    >>> import gravure as gv
    >>> relu, exp = (f"model m(x: f32[2]) -> (y) {{ y = {op}(x) }}" for op in ("relu", "exp"))
    >>> found = gv.diff_models(relu.encode(), exp.encode())
    >>> bool(found), [row.what for row in found.rows]
    (True, ['function @main', 'gv.exp', 'gv.relu'])
    """
    names = name_of(first), name_of(second)
    if is_library(first) != is_library(second):
        raise UsageError("a library can only be compared with a library")
    if is_library(first):
        return ModelDiff(names, tuple(_libraries(first, second)))
    if all(name.endswith(".json") for name in names):
        return ModelDiff(names, tuple(data_rows(*map(_json, names))))
    one, two = (load_program(source, shapes=shapes, dims=dims) for source in (first, second))
    lines = tuple(program_diff(one, two)) if text else ()
    return ModelDiff(names, tuple(program_rows(one, two)), lines)


def _libraries(first: Source, second: Source) -> list[Row]:
    """Return in what two libraries differ."""
    one, two = inspect(first), inspect(second)
    rows = data_rows(one.manifest, two.manifest)
    if one.seal.weights_digest != two.seal.weights_digest:
        digests = (each.seal.weights_digest.hex()[:16] for each in (one, two))
        rows.append(Row("digest of the weights", *digests))
    if one.seal.digest != two.seal.digest:
        rows.append(Row("digest", one.seal.digest.hex()[:16], two.seal.digest.hex()[:16]))
    return rows


def _json(name: str) -> Any:
    try:
        return json.loads(Path(name).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"not JSON: {error}", location=name) from error
