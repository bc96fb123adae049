"""Print a script by which bash, zsh or fish complete the arguments of this command.

    gravure completions bash > ~/.local/share/bash-completion/completions/gravure
    gravure completions zsh > ~/.zfunc/_gravure           # a folder of $fpath
    gravure completions fish > ~/.config/fish/completions/gravure.fish

The script knows verbs, options, and the words that an option takes; it starts no Python. Make it
again after an update.
"""

from __future__ import annotations

import argparse

from ..console import Console

NAME = "completions"


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("shell", metavar="SHELL", help="bash, zsh or fish")


def run(args: argparse.Namespace) -> int:
    """Print the script."""
    from ..completion import script

    console: Console = args.console
    text = script(args.shell, args.whole_parser())
    console.result(text, {"schema": "gravure.completions/1", "shell": args.shell, "script": text})
    return 0
