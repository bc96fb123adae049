"""List the plugins: what they register, and what is wrong with those that cannot be loaded.

    gravure plugins
    gravure plugins --plugin shrink.py                    # a file that is not installed, too
    gravure plugins --json | jq '.plugins[].registers'

Packages bring plugins by entry points of the group gravure.plugins; every verb takes --plugin FILE
for one that is not installed. GRAVURE_PLUGINS=off leaves installed plugins out. Exit status 1 says
that one cannot be loaded.
"""

from __future__ import annotations

import argparse

from ..console import Console

NAME = "plugins"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add nothing."""


def run(args: argparse.Namespace) -> int:
    """Print."""
    from ..verbs.lists import list_plugins

    console: Console = args.console
    found = list_plugins()
    console.show(found)
    return int(any(row.fault for row in found))
