"""What a model or a library is, without running it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...runtime.library import inspect as read_library
from ..console import in_bytes, table
from ..options import is_library
from ..talk import Source, listed, name_of

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption
    from .inspection import Inspection


def inspect(
    source: Source,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    check: bool = False,
) -> Inspection | LibraryInspection:
    """Return what is in a model, or what a library says of itself; nothing is compiled or run.

    - `source`: a model (ONNX, graph text, IR text, `file.py:function`), a library (`.so`), a model
      for GPUs, or the bytes of a model.
    - `shapes`, `dims`: as for `gravure.compile`; dimensions without a number count as their
      largest, or as 1 if they have no bound.

    - `check`: whether all passes are run, too, so that `faults` says why no library can be made.

    An ONNX model that cannot be read is no error: `faults` says why, and `unsupported` counts the
    operators that gravure has not. Raises a `GraphError` for sizes that the model does not have.

    >>> import gravure as gv
    >>> found = gv.inspect(b"model m(x: f32[2, 3]) -> (y) { y = relu(x) }")
    >>> found.operations, found.cost.flops, found.can_be_compiled
    ({'relu': 1}, 6, True)
    """
    if is_library(source):
        return LibraryInspection.of(source)
    from .inspection import inspect_model

    return inspect_model(source, shapes, dims, check=check)


@dataclass(frozen=True)
class LibraryInspection:
    """What a compiled model says of itself."""

    path: str
    bytes: int
    digest: str
    """Of all its bytes, in hexadecimal digits."""
    manifest: Mapping[str, Any]
    """Arguments, target, memory, pipeline, versions, and what else its maker noted."""

    @classmethod
    def of(cls, source: Source) -> LibraryInspection:
        """Read what is written in a library, which is not loaded."""
        found = read_library(source)
        seal = found.seal
        return cls(name_of(source), seal.file_size, seal.digest.hex(), found.manifest)

    def __str__(self) -> str:
        return _library(self)

    def as_json(self) -> dict[str, Any]:
        """Return all of it as plain data."""
        head = {"schema": "gravure.library/1", "bytes": self.bytes, "digest": self.digest}
        return {**head, "manifest": dict(self.manifest)}


def _library(found: LibraryInspection) -> str:
    """Return what a library says of itself."""
    manifest = found.manifest
    gpu = manifest.get("gpu")
    control = [f"{manifest[each]} {each}" for each in ("loops", "choices") if manifest.get(each)]
    rows = [
        ["library", f"{found.path}: {in_bytes(found.bytes)}, tag {manifest['tag']}"],
        *listed("inputs", [_tensor(each) for each in manifest["inputs"]]),
        *listed("outputs", [_tensor(each) for each in manifest["outputs"]]),
        *listed("dims", [f"{d['name']} = {d['low']}..{d['high']}" for d in manifest["dims"]]),
        ["made for", f"{manifest['target']}: {manifest['triple']}"
         + ("" if gpu else f", {manifest['threads']} threads at most")],
        ["needs", ", ".join(manifest["features"]) or "nothing beyond the plain architecture"],
        ["workspace", in_bytes(manifest["workspace_bytes"])],
        ["weights", f"{in_bytes(manifest['weights_bytes'])}, {manifest['weights']}"],
        ["memory", f"{in_bytes(gpu['bytes'] if gpu else manifest['peak_bytes'])} for a run in all"
         + (", on the GPU" if gpu else "")],
        ["kernels", f"{manifest['launches']} distinct, " + _code(manifest)],
        *listed("control", [", ".join(control)] if control else []),
        ["made with", ", ".join(f"{k} {v}" for k, v in manifest["versions"].items())],
        ["passes", str(manifest.get("pipeline", ""))],
        ["digest", found.digest],
    ]  # fmt: skip
    return table(rows)


def _code(manifest: Any) -> str:
    """Return how much code the kernels are."""
    gpu = manifest.get("gpu")
    if gpu is None:
        return ", ".join(f"{in_bytes(n)} of {name}" for name, n in manifest["sections"].items())
    form = f"PTX {gpu['ptx']}{' and assembled' if gpu['cubin'] else ''}"
    return f"{in_bytes(gpu['code_bytes'])} of {form}, launched {gpu['launches']} times"


def _tensor(row: Any) -> str:
    return f"{row['name']}: {row['dtype']}[{', '.join(map(str, row['shape']))}]"
