"""What a library's bytes are: code and weights by operation, and the rest."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Unpack

from ...codegen.aot.elf import Object
from ...codegen.aot.program import group_of
from ...codegen.compiled import Compiled, OptionFields, Options
from ...codegen.prepare import raw_places
from ...frontend.programs.compile import compile_source, options_with
from ...runtime.artifact import Launch, Pointer, launches
from ...runtime.library import inspect as read_library
from ..console import in_bytes, table
from ..errors import UsageError
from ..options import is_library
from ..talk import Progress, Source, name_of, silent

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption


@dataclass(frozen=True)
class SizeRow:
    """Some of the bytes."""

    what: str
    """The nodes that a kernel computes, or what else it is."""
    kind: str
    code: int
    """Instructions and constants beside them."""
    weights: int

    @property
    def whole(self) -> int:
        """Return both."""
        return self.code + self.weights


@dataclass(frozen=True)
class Sizes:
    """All bytes of a library; the rows sum to the whole."""

    name: str
    whole: int
    rows: tuple[SizeRow, ...]

    def __str__(self) -> str:
        lines = [["bytes", "share", "code", "weights", "kind", "of"]]
        for row in sorted(self.rows, key=lambda row: -row.whole):
            share = f"{row.whole / max(self.whole, 1):.1%}"
            lines.append(
                [str(row.whole), share, str(row.code), str(row.weights), row.kind, row.what]
            )
        sums = [sum(row.code for row in self.rows), sum(row.weights for row in self.rows)]
        lines.append([str(self.whole), "100.0%", *map(str, sums), "", f"{in_bytes(self.whole)}"])
        return table(lines, right="0123")

    def as_json(self) -> dict[str, Any]:
        """Return the rows as plain data."""
        rows = [{**vars(row), "bytes": row.whole} for row in self.rows]
        return {"schema": "gravure.size/1", "name": self.name, "bytes": self.whole, "rows": rows}


def size(
    source: Source,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    options: Options | None = None,
    progress: Progress = silent,
    **more: Unpack[OptionFields],
) -> Sizes:
    """Return what the bytes of a library are: by operation for a model, by section for a library.

    - `source`: a model, which is compiled, or a library.
    - `shapes`, `dims`, `options` and further keywords: as for `gravure.compile`.
    - `progress`: is told what goes on.

    >>> import gravure as gv
    >>> found = gv.size(b"model m(x: f32[4]) -> (y) { y = exp(x) }")
    >>> found.whole == sum(row.whole for row in found.rows), found.rows[0].what
    (True, '<bytes>:1')
    """
    own = ("shapes", "dims", "options", "progress")
    slots = (options or Options()).slots
    made = options_with("size", options, more, threads=slots, own=own)
    if is_library(source):
        return _of_library(source)
    with progress(f"compiling {name_of(source)}"):
        compiled = compile_source(source, made, shapes=shapes, dims=dims)
        if compiled.plan is not None:
            raise UsageError("the code for a GPU is one module, expected a processor as target")
        whole = len(compiled.library().tobytes())
        return Sizes(name_of(source), whole, tuple(_with_rest(whole, _rows(compiled))))


def _of_library(source: Source) -> Sizes:
    """Return the sections of a library, as its manifest has them."""
    path = name_of(source)
    whole = len(source) if isinstance(source, bytes) else os.path.getsize(source)
    manifest = read_library(source).manifest
    stored = manifest.get("stored_bytes", manifest["weights_bytes"])
    embedded = stored if manifest["weights"] == "embedded" else 0
    rows = [
        SizeRow("weights", "weights", 0, embedded),
        *(SizeRow("all kernels", name, n, 0) for name, n in manifest["sections"].items()),
    ]
    return Sizes(path, whole, tuple(_with_rest(whole, rows)))


def _with_rest(whole: int, rows: Sequence[SizeRow]) -> Iterator[SizeRow]:
    yield from rows
    rest = whole - sum(row.whole for row in rows)
    yield SizeRow("manifest, names, tables, what lies between sections", "other", rest, 0)


def _rows(compiled: Compiled) -> list[SizeRow]:
    """Return launches with their code and weights, each where it is first used."""
    objects = [Object.read(data) for data in compiled.objects]
    codes = {s.name: n for n, o in enumerate(objects) for s in o.symbols if s.is_global}
    places = {offset: size for _, offset, size in compiled.places}
    if not compiled.options.embed or compiled.lays_out:
        places = {}
    used, rows = set[int](), list[SizeRow]()
    for launch in launches(compiled.description.steps):
        code = _code(objects, codes.get(launch.kernel), used)
        weights = sum(places.pop(offset, 0) for offset in _weights_of(launch))
        work = launch.work
        names = ", ".join(work.sources or work.operations) if work is not None else launch.kernel
        rows.append(SizeRow(names, work.template if work is not None else "", code, weights))
    ahead = sum(
        _code(objects, codes.get(x.kernel), used) for x in launches(compiled.description.prepare)
    )
    shared = sum(_code(objects, n, used) for n in range(len(objects)))
    late = compiled.lays_out
    objects_of_entry = compiled.entry(embedded=compiled.options.embed, late=late)
    entry = sum(_loaded(Object.read(o)) for o in objects_of_entry)
    given = raw_places(compiled.description)[1] if late else 0
    rows += [
        SizeRow("what prepares weights from raw ones", "prepare", ahead, 0),
        SizeRow("loops that several kernels share", "shared", shared, 0),
        SizeRow("what callers call: checks, order of launches, threads", "entry", entry, 0),
        SizeRow("weights that no launch reads by itself", "weights", 0, sum(places.values())),
        SizeRow("weights as they were given: laid out at loading", "weights", 0, given),
    ]
    return [row for row in rows if row.whole or row.kind not in ("prepare", "shared", "weights")]


def _weights_of(launch: Launch) -> list[Any]:
    pointers = [each for each in launch.arguments if isinstance(each, Pointer)]
    return [each.offset for each in pointers if each.base == "weights"]


def _code(objects: Sequence[Object], number: int | None, used: set[int]) -> int:
    """Return the bytes of an object that are loaded, 0 if they were counted before."""
    if number is None or number in used:
        return 0
    used.add(number)
    return _loaded(objects[number])


def _loaded(made: Object) -> int:
    return sum(section.header.size for section in made.sections if group_of(section) is not None)
