"""Say in what two models, programs or libraries differ.

    gravure diff old.onnx new.onnx
    gravure diff before.mlir after.mlir --text            # line by line
    gravure diff a.so b.so                                # what they say of themselves
    gravure diff a.json b.json                            # two records of bench, say

Names of values and where operations come from do not count. Exit status 0 says that there is no
difference, 1 that there is one.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import Console, table
from ..errors import DataError, UsageError
from ..options import add_shapes, dims_of, is_library, shapes_of, source_of

if TYPE_CHECKING:
    from ...frontend.difference import Row

NAME = "diff"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("model", metavar="A", help="model, program, library or JSON; - is stdin")
    parser.add_argument("other", metavar="B", help="what to compare it with")
    parser.add_argument("--text", action="store_true", help="show programs line by line")
    add_shapes(parser)


def run(args: argparse.Namespace) -> int:
    """Compare, and print."""
    console: Console = args.console
    sources = [source_of(name) for name in (args.model, args.other)]
    compiled = [is_library(source) for source in sources]
    if compiled[0] != compiled[1]:
        raise UsageError("a library can only be compared with a library")
    lines: list[str] = []
    if compiled[0]:
        rows = libraries(args.model, args.other)
    elif all(str(name).endswith(".json") for name in (args.model, args.other)):
        rows = records(args.model, args.other)
    else:
        rows, lines = programs(args, sources)
    found = [[row.what, row.first, row.second] for row in rows]
    names = ["", str(args.model), str(args.other)]
    text = table([names, *found]) if found else "no difference"
    data = {"schema": "gravure.diff/1", "differences": [vars(row) for row in rows]}
    console.result("\n".join([text, *lines]), {**data, "text": lines})
    return int(bool(rows))


def libraries(first: str, second: str) -> list[Row]:
    """Return in what two libraries differ."""
    from ...frontend.difference import Row, data_rows
    from ...runtime.library import inspect

    one, two = inspect(first), inspect(second)
    rows = data_rows(one.manifest, two.manifest)
    if one.seal.weights_digest != two.seal.weights_digest:
        digests = (each.seal.weights_digest.hex()[:16] for each in (one, two))
        rows.append(Row("digest of the weights", *digests))
    if one.seal.digest != two.seal.digest:
        rows.append(Row("digest", one.seal.digest.hex()[:16], two.seal.digest.hex()[:16]))
    return rows


def records(first: str, second: str) -> list[Row]:
    """Return in what two files of JSON differ."""
    from ...frontend.difference import data_rows

    return data_rows(*(_json(name) for name in (first, second)))


def _json(name: str) -> Any:
    try:
        return json.loads(Path(name).read_text(encoding="utf-8"))
    except ValueError as error:
        raise DataError(f"not JSON: {error}", location=name) from error


def programs(args: argparse.Namespace, sources: list[Any]) -> tuple[list[Row], list[str]]:
    """Return in what two programs differ, and the lines of both if they are wanted."""
    from ...frontend.difference import program_diff, program_rows
    from ...frontend.load import load_program

    shapes, dims = shapes_of(args), dims_of(args)
    one, two = (load_program(source, shapes=shapes, dims=dims) for source in sources)
    lines = list(program_diff(one, two)) if args.text else []
    return program_rows(one, two), lines
