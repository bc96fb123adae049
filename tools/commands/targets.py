"""List the machines that code can be made for, or what is known of one.

    gravure targets
    gravure targets native                                # this machine
    gravure targets znver4 --mattr=-avx512bf16
    gravure targets aarch64-unknown-linux-gnu --json

A target is a processor or a triple. Libraries are made for x86-64; for other machines there are
objects and archives, which their linker takes.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from ..console import Console, in_bytes, table

if TYPE_CHECKING:
    from ...target import Target

NAME = "targets"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("name", nargs="*", metavar="TARGET", help="say all about these targets")
    parser.add_argument("--target", action="append", default=[], help="the same as TARGET")
    parser.add_argument("--mattr", default="", metavar="+X,-Y", help="features to add and remove")


def run(args: argparse.Namespace) -> int:
    """Print."""
    from ...target import Target

    console: Console = args.console
    names = [*args.name, *args.target]
    targets = [Target.parse(name, args.mattr) for name in names or Target.known]
    rows = [describe(target) for target in targets]
    text = "\n\n".join(map(page, rows)) if names else overview(rows)
    console.result(text, {"schema": "gravure.targets/1", "targets": rows})
    return 0


def describe(target: Target) -> dict[str, Any]:
    """Return what is known of a target."""
    from ...target import Target

    host = Target.parse("native")
    same = target.architecture is host.architecture
    return {
        "name": target.name,
        "what": Target.known.get(target.name, "a triple"),
        "triple": target.triple,
        "cpu": target.cpu,
        "features": list(target.features),
        "lanes": target.lanes,
        "registers": target.registers,
        "caches": [target.l1, target.l2, target.l3],
        "missing_here": sorted({*target.features} - {*host.features}) if same else None,
        "runs_here": same and {*target.features} <= {*host.features},
    }


def overview(rows: list[dict[str, Any]]) -> str:
    """Return all targets as a table."""
    lines = [["target", "machine", "f32 lanes", "runs here", "what it is"]]
    for row in rows:
        machine = row["triple"].partition("-")[0]
        here = "yes" if row["runs_here"] else ""
        lines.append([row["name"], machine, row["lanes"], here, row["what"]])
    return table(lines, right="2")


def page(row: dict[str, Any]) -> str:
    """Return all that is known of one target."""
    if row["runs_here"]:
        here = "yes"
    elif row["missing_here"] is None:
        here = "no: another architecture"
    else:
        here = f"no: this machine lacks {', '.join(row['missing_here'])}"
    return table(
        [
            ["target", f"{row['name']}: {row['what']}"],
            ["triple", row["triple"]],
            ["scheduled for", row["cpu"]],
            ["vectors", f"{row['registers']} registers of {row['lanes']} f32"],
            ["caches", ", ".join(in_bytes(size) for size in row["caches"])],
            ["features", ", ".join(row["features"]) or "none beyond the plain architecture"],
            ["runs here", here],
        ]
    )
