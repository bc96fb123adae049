"""List the passes and their options, or print the page of one.

    gravure passes
    gravure passes fuse                                   # what it does, before and after
    gravure passes --pipeline O2                          # the passes of -O2, in order
    gravure passes --json | jq '.passes[].name'

A pipeline is names parted by commas, with options in braces: canonicalize,constant-fold{limit=8}.
"""

from __future__ import annotations

import argparse
import inspect
from typing import Any

from ..console import Console, table
from ..errors import UsageError

NAME = "passes"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("name", nargs="*", metavar="NAME", help="print the pages of these passes")
    parser.add_argument(
        "--pipeline", metavar="LEVEL", help="print the pipeline of a level: O0, O1, O2, O3"
    )


def run(args: argparse.Namespace) -> int:
    """Print."""
    from ...passes.manager import available

    console: Console = args.console
    if args.pipeline is not None:
        return pipeline(args.pipeline, console)
    rows = [describe(name) for name in args.name or available()]
    text = "\n\n".join(map(page, rows)) if args.name else overview(rows)
    console.result(text, {"schema": "gravure.passlist/1", "passes": rows})
    return 0


def describe(name: str) -> dict[str, Any]:
    """Return what is known of a pass."""
    from ...passes.manager import load

    found = load(name)
    module = inspect.getmodule(found)
    return {
        "name": found.name,
        "summary": _first_line(module.__doc__ if module else None),
        "doc": inspect.cleandoc((module.__doc__ if module else None) or ""),
        "options": {key: _plain(value) for key, value in found.option_defaults().items()},
        "level": found.LEVEL or "any",
        "numerics": found.NUMERICS,
    }


def _first_line(doc: str | None) -> str:
    return (doc or "").strip().partition("\n")[0]


def _plain(value: object) -> object:
    return list(value) if isinstance(value, tuple) else value


def overview(rows: list[dict[str, Any]]) -> str:
    """Return all passes as a table."""
    lines = [["pass", "level", "results", "what it does"]]
    for row in rows:
        lines.append([row["name"], row["level"], row["numerics"], row["summary"]])
        lines += [["", "", "", f"  {name}={_spelled(v)}"] for name, v in row["options"].items()]
    return table(lines)


def _spelled(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) or '""' if isinstance(value, list) else str(value)


def page(row: dict[str, Any]) -> str:
    """Return all that is to be said about one pass."""
    from ...passes.base import CONTRACTS

    options = ", ".join(f"{name}={_spelled(v)}" for name, v in row["options"].items()) or "none"
    level, numerics = row["level"], row["numerics"]
    return (
        f"{row['name']}\n\n{row['doc']}\n\n"
        f"level: {level}\nresults: {numerics}, {CONTRACTS[numerics]}\noptions: {options}"
    )


def pipeline(level: str, console: Console) -> int:
    """Print the pipeline of a level."""
    from ...passes.pipelines import LEVELS, pipeline_of

    name = level.removeprefix("-").upper()
    name = f"O{name}" if name.isdecimal() else name
    if name not in LEVELS:
        raise UsageError(f"level {level!r} is unknown", hint=f"levels are {', '.join(LEVELS)}")
    data = {"schema": "gravure.pipeline/1", "level": name, "passes": list(LEVELS[name])}
    console.result(pipeline_of(name), data)
    return 0
