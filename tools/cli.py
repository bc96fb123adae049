"""The `gravure` command: finds its verbs in `commands/`, and turns errors into exit statuses.

What a verb prints on the standard output is its result; talk and errors go to the standard
error. Exit statuses: 0 done, 1 the answer is no, 2 wrong usage, 65 to 79 as in sysexits.h (an
error says its own), 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Protocol, cast

COMMANDS = Path(__file__).parent / "commands"
INTERRUPTED = 130


class Command(Protocol):
    """A module in `commands/`."""

    NAME: str
    __doc__: str | None

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do the work; return the exit status."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    args = parser().parse_args(argv)
    command: Command = args.command
    from ..errors import GravureError

    try:
        status = command.run(args)
        sys.stdout.flush()
    except GravureError as error:
        print(f"gravure {command.NAME}: {error}", file=sys.stderr)
        return error.exit_status
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:  # the reader has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    return status


def parser() -> argparse.ArgumentParser:
    """Return the parser of all verbs."""
    from .. import __version__

    top = argparse.ArgumentParser(prog="gravure", description="Compile tensor programs.")
    top.add_argument("--version", action="version", version=f"gravure {__version__}")
    verbs = top.add_subparsers(metavar="VERB", required=True)
    for command in commands():
        text = command.__doc__ or ""
        verb = verbs.add_parser(
            command.NAME,
            help=text.split("\n", 1)[0],
            description=text,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        command.configure(verb)
        verb.set_defaults(command=command)
    return top


def commands() -> list[Command]:
    """Return the modules of all verbs, in the order of their files' names."""
    names = sorted(path.stem for path in COMMANDS.glob("*.py") if path.stem != "__init__")
    return [cast(Command, import_module(f".commands.{name}", __package__)) for name in names]
