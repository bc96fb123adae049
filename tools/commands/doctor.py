"""Check whether gravure can work here, and print what an issue should say of the machine.

    gravure doctor
    gravure doctor --json
    gravure doctor > machine.txt                          # for an issue

Exit status 1 says that something does not work.
"""

from __future__ import annotations

import argparse

from ..console import Console

NAME = "doctor"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add nothing: the command has no options of its own."""


def run(args: argparse.Namespace) -> int:
    """Look at the machine, and try everything once."""
    from ..verbs.doctor import doctor

    console: Console = args.console
    found = doctor()
    console.show(found)
    return int(not found)
