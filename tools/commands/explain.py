"""Print the page about an error, or what a model demands of its dimensions and why.

    gravure explain                                       # all codes
    gravure explain GV2100
    gravure explain UnsupportedOp
    gravure explain shapes model.onnx --dim N=1..64       # each condition with its node

An error prints its code with -v or --json.
"""

from __future__ import annotations

import argparse
import ast
import inspect
from dataclasses import asdict, dataclass
from difflib import get_close_matches
from pathlib import Path

from ..console import Console, table
from ..errors import UsageError
from ..options import add_shapes, dims_of, shapes_of, source_of

NAME = "explain"
SHAPES = "shapes"
"""The word instead of a code that asks about a model's dimensions."""
ROOT = Path(__file__).parents[2]
FOLDERS = ("ir", "passes", "codegen", "runtime", "frontend", "tools")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument(
        "code", nargs="?", help="a code such as GV2000, an error's class, or the word shapes"
    )
    parser.add_argument("model", nargs="?", metavar="MODEL", help="the model, behind shapes")
    add_shapes(parser)


@dataclass(frozen=True)
class Page:
    """What there is to say about one class of errors."""

    code: str
    name: str
    exit_status: int
    text: str


def run(args: argparse.Namespace) -> int:
    """Print one page, or all codes."""
    console: Console = args.console
    if args.code == SHAPES:
        return explain_shapes(args, console)
    if args.model is not None:
        raise UsageError(f"a model stands behind {SHAPES!r} only")
    found = pages()
    if args.code is None:
        rows = [[page.code, page.name, page.text.partition("\n")[0]] for page in found]
        data = {"schema": "gravure.errors/1", "errors": [asdict(page) for page in found]}
        console.result(table(rows), data)
        return 0
    named = {key: page for page in found for key in (page.code, page.name)}
    chosen = named.get(args.code) or named.get(args.code.upper())
    if chosen is None:
        close = get_close_matches(args.code, named, n=1)
        hint = f"did you mean {close[0]}?" if close else "gravure explain lists all codes"
        raise UsageError(f"there is no error {args.code!r}", hint=hint)
    text = f"{chosen.code} {chosen.name}, exit status {chosen.exit_status}\n\n{chosen.text}"
    console.result(text, {"schema": "gravure.error-page/1", **asdict(chosen)})
    return 0


def explain_shapes(args: argparse.Namespace, console: Console) -> int:
    """Print what a model demands of its dimensions."""
    from ...frontend.constraints import constraints
    from ...frontend.load import load_program

    if args.model is None:
        raise UsageError("no model", hint="gravure explain shapes model.onnx")
    program = load_program(source_of(args.model), shapes=shapes_of(args), dims=dims_of(args))
    found = constraints(program)
    text = (
        table([[row.condition, row.cause] for row in found]) if found else "all sizes are numbers"
    )
    rows = [row.as_json() for row in found]
    console.result(text, {"schema": "gravure.constraints/1", "constraints": rows})
    return 0


def pages() -> list[Page]:
    """Return the pages of all errors by code, read off the source: nothing is imported."""
    files = [ROOT / "gravure" / "errors.py", ROOT / "errors.py"]
    files += [path for folder in FOLDERS for path in sorted((ROOT / folder).rglob("*.py"))]
    classes: dict[str, ast.ClassDef] = {}
    for path in files:
        text = path.read_text(encoding="utf-8") if path.is_file() else ""
        if '    code = "GV' in text or "class GravureError" in text:
            found = (n for n in ast.parse(text).body if isinstance(n, ast.ClassDef))
            classes |= {node.name: node for node in found}
    made = [_page(node, classes) for node in classes.values() if _field(node, classes, "code")]
    return sorted(made, key=lambda page: page.code)


def _page(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Page:
    code, status = (_field(node, classes, name) for name in ("code", "exit_status"))
    assert isinstance(status, int), f"{node.name} has no exit status"
    return Page(str(code), node.name, status, inspect.cleandoc(ast.get_docstring(node) or ""))


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
