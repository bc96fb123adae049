"""Change an ONNX model as the file that it is, or write a model in another format."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import Advice
from ...frontend.programs.load import guess_format, load_program, read_bytes
from ...frontend.programs.save import Saving, format_of, save_program
from ..console import in_bytes, table
from ..errors import UsageError
from ..talk import FilePath, Source

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption


@dataclass(frozen=True)
class Written:
    """The files that were written, the model first, and what is to be said of it."""

    files: tuple[Path, ...]
    notes: tuple[str, ...] = ()

    @property
    def path(self) -> Path:
        """Return the model's file."""
        return self.files[0]

    def __str__(self) -> str:
        rows = [["" if n else "wrote", str(file), in_bytes(file.stat().st_size)]
                for n, file in enumerate(self.files)]  # fmt: skip
        return "\n".join([table(rows), *self.notes])

    def as_json(self) -> dict[str, Any]:
        """Return paths, sizes and notes as plain data."""
        files = [{"path": str(file), "bytes": file.stat().st_size} for file in self.files]
        return {"schema": "gravure.files/1", "files": files, "notes": list(self.notes)}


def extract(
    source: Source, output: FilePath, *, first: Sequence[str] = (), last: Sequence[str] = ()
) -> Written:
    """Write the part of an ONNX model that lies between some of its values.

    - `source`: the model, or its bytes; `output`: the file to write.
    - `first`: names of values that become inputs; without them, the model's inputs.
    - `last`: names of values that become outputs; without them, the model's outputs.

    >>> import gravure as gv
    >>> model = b"model m(x: f32[2]) -> (y, z) { y = exp(x) z = tanh(y) }"
    >>> whole = gv.convert(model, "whole.onnx").path
    >>> head = gv.extract(whole, "head.onnx", last=["y"])
    >>> print(*head.notes)
    1 of 2 nodes
    """
    from ...frontend.onnx.file.surgery import Surgery

    if not (first or last):
        raise UsageError(
            "nothing says what to cut out",
            hint=Advice("first=[NAME] and last=[NAME]", "--from NAME and --to NAME"),
        )
    surgery = Surgery.of(_plain(source))
    before = len(surgery.graph.node)
    surgery.extract(sorted({*first}), sorted({*last}))
    notes = f"{len(surgery.graph.node)} of {before} nodes"
    return Written(tuple(surgery.save(Path(output))), (notes,))


def rename_values(source: Source, output: FilePath, names: Mapping[str, str]) -> Written:
    """Write an ONNX model in which values have other names, inside of nested graphs too.

    - `source`: the model, or its bytes; `output`: the file to write.
    - `names`: new names by old ones; one that is taken is refused.

    >>> import gravure as gv
    >>> model = gv.convert(b"model m(x: f32[2]) -> (y) { y = exp(x) }", "old.onnx").path
    >>> named = gv.rename_values(model, "named.onnx", {"x": "image"})
    >>> print(gv.inspect(named.path).inputs[0].name)
    image
    """
    from ...frontend.onnx.file.surgery import Surgery

    surgery = Surgery.of(_plain(source))
    count = surgery.rename(dict(names))
    return Written(tuple(surgery.save(Path(output))), (f"{count} places changed",))


def reshape_model(source: Source, output: FilePath, shapes: Mapping[str, ShapeOption]) -> Written:
    """Write an ONNX model whose inputs have other shapes; those of all other values follow.

    - `source`: the model, or its bytes; `output`: the file to write.
    - `shapes`: numbers, names for what is to be free, None for a free dimension without a name.

    What contradicts the shapes is refused by the name of its node.

    >>> import gravure as gv
    >>> model = gv.convert(b"model m(x: f32[2, 3]) -> (y) { y = exp(x) }", "two.onnx").path
    >>> free = gv.reshape_model(model, "free.onnx", {"x": ("N", 3)})
    >>> print(*free.notes)
    y: f32[N,3]
    """
    from ...frontend.onnx.file.surgery import Surgery

    surgery = Surgery.of(_plain(source))
    outputs = surgery.reshape(load_program(source, shapes=shapes), shapes)
    notes = tuple(f"{name}: {shape}" for name, shape in outputs.items())
    return Written(tuple(surgery.save(Path(output))), notes)


def convert(  # noqa: PLR0913  (each option is its own)
    source: Source,
    output: FilePath,
    *,
    format: str = "",
    opset: int = 0,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    name: str = "main",
    weights: bool = True,
    external: bool = False,
) -> Written:
    """Write a model in another format or for another version of ONNX; no pass is run.

    - `source`: the model, or its bytes; `output`: the file to write.
    - `format`: `onnx`, `gv` (graph text) or `mlir` (IR text); the suffix says it if this is empty.
    - `opset`: the version of ONNX's operators; 0 for the one that models are written for.
    - `shapes`, `dims`: as for `gravure.compile`.
    - `name`: what graph text calls the model.
    - `weights`: whether they are written beside a text.
    - `external`: whether an ONNX model's weights go into a file of their own, however small.

    From ONNX to ONNX with an `opset`, where shapes stay, the standard's own library converts the
    version and nothing else changes; every other way leads through gravure's graph.

    >>> import gravure as gv
    >>> made = gv.convert(b"model m(x: f32[2]) -> (y) { y = exp(x) }", "m.onnx")
    >>> made.path.name, gv.inspect(made.path).operators
    ('m.onnx', {'Exp': 1})
    """
    path = Path(output)
    kind, data = format_of(path, format), read_bytes(source)
    is_onnx = data is not None and guess_format(data, source) == "onnx"
    if kind == "onnx" and is_onnx and opset and not (shapes or dims):
        from ...frontend.onnx.file.surgery import convert_version

        return Written((convert_version(_plain(source), path, opset),))
    program = load_program(source, shapes=shapes, dims=dims)
    files = save_program(program, path, Saving(kind, name, weights, opset, external))
    notes = ("the weights are in a file of their own",) if len(files) > 1 else ()
    return Written(tuple(files), notes)


def _plain(source: Source) -> str | bytes:
    return source if isinstance(source, bytes) else os.fspath(source)
