"""The `gravure` command: finds its verbs in `commands/`, and turns errors into exit statuses.

What a verb prints on the standard output is its result; talk and errors go to the standard
error. With `--json` the result is one JSON object, and so is an error. Exit statuses: 0 done, 1 the
answer is no, 2 wrong usage, 65 to 79 as in sysexits.h (an error says its own), 130 interrupted,
141 nobody reads the output any more.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NoReturn, Protocol, cast

from ..interrupts import clear_away, end_at_once_again
from .console import Console, accept_any_text, open_streams
from .errors import UsageError

COMMANDS = Path(__file__).parent / "commands"
EXIT_STATUSES = (
    "exit status: 0 done, 1 the answer is no, 2 wrong usage, 65 bad input, 66 input missing, "
    "69 not available here, 70 a mistake in gravure, 73 and 74 cannot write, 130 interrupted"
)


class Command(Protocol):
    """A module in `commands/`."""

    NAME: str
    __doc__: str | None

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add arguments."""

    def run(self, args: argparse.Namespace) -> int:
        """Do the work; return the exit status."""


class Parser(argparse.ArgumentParser):
    """A parser that raises its errors, so that they are printed like all others."""

    def error(self, message: str) -> NoReturn:
        """Raise `UsageError`."""
        raise UsageError(message, hint=f"{self.prog} --help shows the arguments")

    def _print_message(self, message: str, file: Any = None) -> None:
        """Write a text; unlike argparse, do not keep quiet about what prevents it."""
        print(message, end="", file=file)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; return its exit status."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    open_streams()
    console = Console(json="--json" in arguments)
    try:
        accept_any_text()
        if argv is None:
            complete()
        from .failures import guarded

        clear_away()
        return guarded(lambda: _run(arguments, console), arguments, console)
    except KeyboardInterrupt:  # so early that nothing was begun, or so late that all is done
        console.say("interrupted")
        return 130
    finally:
        end_at_once_again()


def _run(arguments: list[str], console: Console) -> int:
    """Parse the arguments and run the verb."""
    verb = chosen(arguments)
    try:
        top = parser([verb] if verb else [])
        args, rest = top.parse_known_args(arguments)
    except SystemExit as done:  # after --help and --version
        sys.stdout.flush()
        return done.code if isinstance(done.code, int) else 0
    if verb is None:
        raise UsageError("no verb", hint="gravure --help lists the verbs")
    if rest:
        raise UsageError(f"unknown argument {rest[0]!r}", hint=_meant(rest[0], top, verb))
    console.quiet, console.verbose, console.color = args.quiet, args.verbose, args.color
    console.source = str(getattr(args, "model", ""))
    args.console = console
    args.whole_parser = lambda: parser([*verbs()])
    _load_plugins(args.plugin)
    status = args.command.run(args)
    sys.stdout.flush()
    return int(status)


def _load_plugins(paths: Sequence[str]) -> None:
    """Load the plugins that are named."""
    for path in paths:
        from ..plugins import load_file

        load_file(Path(path))


def _meant(text: str, top: Parser, verb: str) -> str:
    """Return what may have been meant by an argument that a verb has not."""
    close = get_close_matches(text.partition("=")[0], _options(top, verb), n=1)
    help_ = f"gravure {verb} --help shows the arguments"
    return f"did you mean {close[0]}? {help_}" if close else help_


def _options(top: Parser, verb: str) -> list[str]:
    for action in top._actions:
        if isinstance(action, argparse._SubParsersAction):
            inner: argparse.ArgumentParser = action.choices[verb]
            return [name for each in inner._actions for name in each.option_strings]
    return []


def chosen(arguments: Sequence[str]) -> str | None:
    """Return the verb that the arguments name, or raise `UsageError` with the nearest one."""
    if not arguments or arguments[0].startswith("-"):
        return None
    name, known = arguments[0], verbs()
    if name in known:
        return name
    close = get_close_matches(name, known, n=1)
    hint = f"did you mean {close[0]!r}?" if close else f"verbs are {', '.join(known)}"
    raise UsageError(f"verb {name!r} is unknown", hint=hint)


def verbs() -> dict[str, str]:
    """Return the first line of each verb's file by its name; nothing is imported."""
    found = {}
    for path in sorted(COMMANDS.glob("*.py")):
        first = re.match(r'"""(.*)', path.read_text(encoding="utf-8"))
        if path.stem != "__init__" and first:
            found[path.stem] = first[1].removesuffix('"""')
    return found


def parser(configured: Sequence[str]) -> Parser:
    """Return the parser of all verbs; only those in `configured` have their arguments."""
    from .. import __version__

    top = Parser(
        prog="gravure",
        description="Compile tensor programs to native code, look at them, run and measure them.",
        epilog=f"gravure VERB --help has examples.\n\n{EXIT_STATUSES}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    top.add_argument("--version", action="version", version=f"gravure {__version__}")
    parts = top.add_subparsers(metavar="VERB", parser_class=Parser)
    for name, line in verbs().items():
        verb = parts.add_parser(
            name,
            help=line,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            allow_abbrev=False,
        )
        if name in configured:
            _configure(verb, command(name))
    return top


def _configure(verb: argparse.ArgumentParser, module: Command) -> None:
    verb.description = module.__doc__
    module.configure(verb)
    operands = " ".join(f"[{each.metavar or each.dest}]" for each in verb._get_positional_actions())
    verb.usage = f"%(prog)s [options] {operands}".rstrip()
    verb.add_argument_group("plugins").add_argument(
        "--plugin", action="append", default=[], metavar="FILE", help="load a plugin from a file"
    )
    talk = verb.add_argument_group("talk")
    talk.add_argument("--json", action="store_true", help="print the result, or the error, as JSON")
    talk.add_argument("-q", "--quiet", action="store_true", help="say nothing but the result")
    talk.add_argument("-v", "--verbose", action="store_true", help="say more; show tracebacks")
    talk.add_argument(
        "--color", choices=("auto", "always", "never"), default="auto", help="colours (auto)"
    )
    verb.set_defaults(command=module)


def command(name: str) -> Command:
    """Return the module of a verb."""
    return cast(Command, import_module(f".commands.{name}", __package__))


def complete(environment: Mapping[str, str] = os.environ) -> None:
    """Answer a shell that asks what could come next, if argcomplete is installed."""
    if "_ARGCOMPLETE" in environment and find_spec("argcomplete") is not None:
        import_module("argcomplete").autocomplete(parser(list(verbs())))
