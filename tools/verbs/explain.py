"""The pages of errors, and what a model demands of its dimensions."""

from __future__ import annotations

import ast
import inspect
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import Advice, GravureError, InputError, did_you_mean
from ..console import in_bytes, table
from ..errors import UsageError
from ..talk import Source

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption
    from ...frontend.graph.partition import Partition
    from ...frontend.programs.constraints import Constraint

ROOT = Path(__file__).parents[2]
FOLDERS = ("ir", "passes", "codegen", "runtime", "frontend", "tools")


ALL_CODES = Advice("gravure.explain() lists all codes", "gravure explain lists all codes")


@dataclass(frozen=True)
class ErrorPage:
    """What there is to say about one class of errors."""

    code: str
    name: str
    exit_status: int
    text: str

    def __str__(self) -> str:
        return f"{self.code} {self.name}, exit status {self.exit_status}\n\n{self.text}"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"schema": "gravure.error-page/1", **asdict(self)}


@dataclass(frozen=True)
class ErrorPages:
    """All classes of errors, by their codes."""

    pages: tuple[ErrorPage, ...]

    def __str__(self) -> str:
        return table([[p.code, p.name, p.text.partition("\n")[0]] for p in self.pages])

    def as_json(self) -> dict[str, Any]:
        """Return all pages as plain data."""
        return {"schema": "gravure.errors/1", "errors": [asdict(page) for page in self.pages]}


def explain(
    error: str | GravureError | type[GravureError] | None = None,
) -> ErrorPage | ErrorPages:
    """Return the page about an error; about all errors without one.

    - `error`: a code such as `GV2000`, the name of a class, a class, or an error that was raised.

    >>> import gravure as gv
    >>> gv.explain("GV2100").name
    'UnsupportedOp'
    """
    found = pages()
    if error is None:
        return ErrorPages(tuple(found))
    if isinstance(error, GravureError):
        error = type(error)
    wanted = error if isinstance(error, str) else error.code
    named = {key: page for page in found for key in (page.code, page.name)}
    chosen = named.get(wanted) or named.get(wanted.upper())
    if chosen is None:
        hint = did_you_mean(wanted, named) or ALL_CODES
        raise UsageError(f"there is no error {wanted!r}", hint=hint)
    return chosen


@dataclass(frozen=True)
class Constraints:
    """What a model demands of its dimensions, each with the node that does."""

    rows: tuple[Constraint, ...]

    def __str__(self) -> str:
        rows = [[row.condition, row.cause] for row in self.rows]
        return table(rows) if rows else "all sizes are numbers"

    def as_json(self) -> dict[str, Any]:
        """Return the rows as plain data."""
        rows = [row.as_json() for row in self.rows]
        return {"schema": "gravure.constraints/1", "constraints": rows}


def explain_shapes(
    source: Source,
    *,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
) -> Constraints:
    """Return what a model demands of its dimensions, and why.

    - `source`: the model, or its bytes; `shapes`, `dims`: as for `gravure.compile`.

    >>> import gravure as gv
    >>> print(gv.explain_shapes(b"model m(x: f32[N, 3]) -> (y) { y = relu(x) }"))
    N >= 1  dimension 0 of input 'x'
    """
    from ...frontend.programs.constraints import constraints
    from ...frontend.programs.load import load_program

    return Constraints(tuple(constraints(load_program(source, shapes=shapes, dims=dims))))


@dataclass(frozen=True)
class PlacementTable:
    """Which devices the operations of a graph are on, why, and what is sent between them."""

    partition: Partition

    def __str__(self) -> str:
        rows = [[row.operation, row.type, row.device, row.why] for row in self.partition.rows]
        sent = [
            [
                each.tensor,
                each.source,
                each.target,
                f"{size(each.bytes)}{' (upper 16 bits)' if each.is_cut else ''}",
                ", ".join(each.users),
            ]
            for each in self.partition.transfers
        ]
        if not sent:
            return f"{table(rows)}\n\nnothing is sent"
        total = in_bytes(self.partition.bytes)
        return f"{table(rows)}\n\nsent in each step, {total}\n{table(sent)}"

    def as_json(self) -> dict[str, Any]:
        """Return it as plain data."""
        return {"schema": "gravure.placement/1", **asdict(self.partition)}


def size(count: int | None) -> str:
    """Return a number of bytes that may not be known."""
    return "as many as there are" if count is None else in_bytes(count)


def explain_placement(  # noqa: PLR0913  (each option is its own)
    source: Source,
    fetches: Sequence[str] = (),
    feeds: Sequence[str] = (),
    *,
    cpus: int = 1,
    cluster: Mapping[str, int] | None = None,
    soft: bool = False,
    bits: int = 32,
    costs: str | os.PathLike[str] | None = None,
) -> PlacementTable:
    """Return which devices the operations of a graph are on, why, and what is sent between them.

    - `source`: a graph that `write_graph` has written as bytes, or these.
    - `fetches`: what is wanted, by names of tensors and operations; none: all of the graph.
    - `feeds`: the tensors that are fed.
    - `cpus`: as how many devices the processor appears.
    - `cluster`: the tasks of each job, instead; steps begin on the first worker.
    - `soft`: what asks for a device that is not there is elsewhere, instead of refused.
    - `costs`: a file that `CostModel.write` has kept: what asks for nothing is where it would end
      first.
    - `bits`: in how many bits `float32` values are sent: 32, or 16.

    Raises `PlacementError` that names the first operation which can be nowhere.

    >>> import gravure as gv
    >>> from gravure import tf
    >>> with tf.Graph().as_default() as graph, tf.device("/cpu:1"):
    ...     y = tf.exp(1.0, name="y")
    >>> data = graph.as_graph_def().SerializeToString()
    >>> gv.explain_placement(data, ["y"], cpus=2).partition.rows[-1].why
    'asks for /device:CPU:1'
    """
    from ...frontend.distributed.simulate import CostModel
    from ...frontend.programs.load import read_bytes
    from ...frontend.tf.graph.placing import placement_of

    data = read_bytes(source)
    if data is None:
        raise InputError("there is no such file", location=str(source))
    model = None if costs is None else CostModel.read(costs)
    found = placement_of(
        bytes(data), fetches, feeds, cpus=cpus, cluster=cluster or {}, soft=soft, bits=bits,
        costs=model,
    )  # fmt: skip
    return PlacementTable(found)


def pages() -> list[ErrorPage]:
    """Return the pages of all errors by code, read off the source: nothing is imported."""
    files = [*sorted((ROOT / "gravure").glob("*.py")), *sorted(ROOT.glob("*.py"))]
    files += [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    classes: dict[str, ast.ClassDef] = {}
    for path in files:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if '    code = "GV' in text or "class GravureError" in text:
            found = (n for n in ast.parse(text).body if isinstance(n, ast.ClassDef))
            classes |= {node.name: node for node in found}
    made = [_page(node, classes) for node in classes.values() if _field(node, classes, "code")]
    return sorted(made, key=lambda page: page.code)


def _page(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> ErrorPage:
    code, status = (_field(node, classes, name) for name in ("code", "exit_status"))
    assert isinstance(status, int), f"{node.name} has no exit status"
    return ErrorPage(str(code), node.name, status, inspect.cleandoc(ast.get_docstring(node) or ""))


def _field(node: ast.ClassDef, classes: dict[str, ast.ClassDef], name: str) -> object:
    """Return a field of a class or of the nearest base that has it."""
    for statement in node.body:
        match statement:
            case (
                ast.Assign(targets=[ast.Name(id=found)], value=ast.Constant(value=value))
                | ast.AnnAssign(target=ast.Name(id=found), value=ast.Constant(value=value))
            ) if found == name:
                return value
    for base in node.bases:
        parent = classes.get(ast.unparse(base))
        if parent is not None and (found_there := _field(parent, classes, name)):
            return found_there
    return None
