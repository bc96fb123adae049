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

from ..console import Console

NAME = "targets"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("name", nargs="*", metavar="TARGET", help="say all about these targets")
    parser.add_argument("--target", action="append", default=[], help="the same as TARGET")
    parser.add_argument("--mattr", default="", metavar="+X,-Y", help="features to add and remove")


def run(args: argparse.Namespace) -> int:
    """Print."""
    from ..verbs.lists import list_targets

    console: Console = args.console
    console.show(list_targets([*args.name, *args.target], mattr=args.mattr))
    return 0
