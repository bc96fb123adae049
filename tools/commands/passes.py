"""List the passes and their options, or print the page of one.

    gravure passes
    gravure passes fuse                                   # what it does, before and after
    gravure passes --pipeline O2                          # the passes of -O2, in order
    gravure passes --json | jq '.passes[].name'

A pipeline is names parted by commas, with options in braces: canonicalize,constant-fold{limit=8}.
"""

from __future__ import annotations

import argparse

from ..console import Console

NAME = "passes"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("name", nargs="*", metavar="NAME", help="print the pages of these passes")
    parser.add_argument(
        "--pipeline", metavar="LEVEL", help="print the pipeline of a level: O0 to O3, portable"
    )


def run(args: argparse.Namespace) -> int:
    """Print."""
    from ..verbs.lists import list_passes, list_pipeline

    console: Console = args.console
    wants_level = args.pipeline is not None
    console.show(list_pipeline(args.pipeline) if wants_level else list_passes(args.name))
    return 0
