"""List the operations that graphs are made of, or say all about one.

    gravure ops
    gravure ops conv softmax
    gravure ops --json | jq '.operations[] | select(.onnx != null) | .name'

Operands go by position, attributes by name; * stands for any number of operands.
"""

from __future__ import annotations

import argparse
import inspect
from typing import TYPE_CHECKING, Any

from ..console import Console, table
from ..errors import UsageError

if TYPE_CHECKING:
    from ...ir import Op

NAME = "ops"
RULES = ("evaluate", "gradient", "scalar", "iteration", "decompose")


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("name", nargs="*", metavar="NAME", help="say all about these operations")


def run(args: argparse.Namespace) -> int:
    """Print."""
    from ...frontend.symbols import did_you_mean
    from ...ir import REGISTRY

    known = {name.removeprefix("gv."): op for name, op in sorted(REGISTRY.items())}
    for name in args.name:
        if name.removeprefix("gv.") not in known:
            hint = did_you_mean(name, known)
            raise UsageError(f"there is no operation {name!r}", hint=hint)
    chosen = [name.removeprefix("gv.") for name in args.name] or list(known)
    rows = [describe(name, known[name]) for name in chosen]
    console: Console = args.console
    text = "\n\n".join(map(page, rows)) if args.name else overview(rows)
    console.result(text, {"schema": "gravure.ops/1", "operations": rows})
    return 0


def describe(name: str, op: type[Op]) -> dict[str, Any]:
    """Return what is known of an operation."""
    signature = op.signature()
    operands = list(signature.operands)
    if signature.variadic:
        operands.append(f"*{signature.variadic}")
    return {
        "name": name,
        "doc": inspect.cleandoc(op.__doc__ or ""),
        "operands": operands,
        "attributes": list(signature.required),
        "defaults": {key: str(value) for key, value in signature.defaults.items()},
        "onnx": op.ONNX,
        "level": op.LEVEL,
        "host": op.HOST is not None,
        "rules": [rule for rule in RULES if op.has(rule)],
    }


def overview(rows: list[dict[str, Any]]) -> str:
    """Return all operations as a table."""
    return table([[spelled(row), row["doc"].partition("\n")[0]] for row in rows])


def spelled(row: dict[str, Any]) -> str:
    """Return an operation as it is called."""
    defaults = [f"{key}={value}" for key, value in row["defaults"].items()]
    return f"{row['name']}({', '.join([*row['operands'], *row['attributes'], *defaults])})"


def page(row: dict[str, Any]) -> str:
    """Return all that is known of an operation."""
    return "\n".join(
        [
            spelled(row),
            "",
            row["doc"],
            "",
            f"rules: {', '.join(row['rules'])}",
            f"ONNX: {row['onnx'] or 'no operator of the same form'}",
            f"from level: {row['level']}",
            f"carried out by: {'the host' if row['host'] else 'compiled code'}",
        ]
    )
