"""List the operations that graphs are made of, or say all about one.

    gravure ops
    gravure ops conv softmax
    gravure ops --json | jq '.operations[] | select(.onnx != null) | .name'

Operands go by position, attributes by name; * stands for any number of operands.
"""

from __future__ import annotations

import argparse

from ..console import Console

NAME = "ops"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("name", nargs="*", metavar="NAME", help="say all about these operations")


def run(args: argparse.Namespace) -> int:
    """Print."""
    from ..verbs.lists import list_operations

    console: Console = args.console
    console.show(list_operations(args.name))
    return 0
