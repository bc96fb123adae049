"""Scripts with which shells complete the arguments of `gravure`; they start no Python.

A script is made from the parser of all verbs, so it knows each verb's options, and the words that
an option takes where there is a list of them; everything else is a file.
"""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .errors import UsageError


@dataclass(frozen=True)
class Option:
    """An option of a verb."""

    names: tuple[str, ...]
    help: str
    takes: bool
    """Whether a value follows."""
    words: tuple[str, ...] = ()
    """What the value may be; empty for a file or a text."""


@dataclass(frozen=True)
class Verb:
    """What can stand behind a verb."""

    name: str
    help: str
    options: tuple[Option, ...]
    words: tuple[str, ...]
    """What stands without a dash, besides files."""


def script(shell: str, parser: argparse.ArgumentParser) -> str:
    """Return the script for a shell; the parser is that of all verbs."""
    maker = SHELLS.get(shell)
    if maker is None:
        raise UsageError(f"shell {shell!r} is unknown, expected one of {', '.join(SHELLS)}")
    return maker(described(parser))


def described(parser: argparse.ArgumentParser) -> list[Verb]:
    """Return all verbs with their options."""
    parts = next(a for a in parser._actions if isinstance(a, argparse._SubParsersAction))
    lists = {"NAME of a pass": _passes(), "NAME of a target": _targets()}
    return [
        _verb(each.dest, str(each.help), parts.choices[each.dest]._actions, lists)
        for each in parts._choices_actions
    ]


def _verb(
    name: str, line: str, actions: Sequence[argparse.Action], lists: Mapping[str, tuple[str, ...]]
) -> Verb:
    options: list[Option] = []
    free: list[str] = []
    for action in actions:
        words = tuple(map(str, action.choices or ()))
        if not action.option_strings:
            free += words
            continue
        if action.dest in ("disable_pass", "print_ir_before", "print_ir_after"):
            words = lists["NAME of a pass"]
        elif action.dest == "target":
            words = lists["NAME of a target"]
        names = tuple(action.option_strings)
        text = "" if action.help is argparse.SUPPRESS else str(action.help or "")
        options.append(Option(names, text.replace("%%", "%"), action.nargs != 0, words))
    if name == "passes":
        free += lists["NAME of a pass"]
    if name == "targets":
        free += lists["NAME of a target"]
    if name == "explain":
        free += _codes()
    return Verb(name, line, tuple(options), tuple(free))


def _passes() -> tuple[str, ...]:
    from ..passes.manager import available

    return tuple(available())


def _targets() -> tuple[str, ...]:
    from ..target import PROCESSORS

    return ("native", *PROCESSORS)


def _codes() -> list[str]:
    from .verbs.explain import pages

    return [page.code for page in pages()]


def _bash(found: Sequence[Verb]) -> str:
    """Return a function that looks at the word before, then at the verb."""
    values = {
        (verb.name, name): option.words
        for verb in found
        for option in verb.options
        for name in option.names
        if option.takes
    }
    cases = [
        f"    {verb}:{name}) words={shlex.quote(' '.join(each))} files={int(not each)};;"
        for (verb, name), each in values.items()
    ]
    behind = []
    for verb in found:
        dashes = " ".join(name for option in verb.options for name in option.names)
        words = shlex.quote(" ".join(verb.words))
        behind.append(f"    {verb.name}) dashes={shlex.quote(dashes)} words={words};;")
    names = " ".join(verb.name for verb in found)
    lines = [
        "_gravure() {",
        '  local current="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '  local verb="${COMP_WORDS[1]}" words="" dashes="" files=1',
        '  if [ "$before" = "=" ]; then before="${COMP_WORDS[COMP_CWORD-2]}"; fi',
        '  if [ "$current" = "=" ]; then current=""; fi',
        "  local IFS=$'\\n'",
        "  COMPREPLY=()",
        '  if [ "$COMP_CWORD" -eq 1 ]; then',
        f'    COMPREPLY=($(IFS=" "; compgen -W "{names} --help --version" -- "$current"))',
        "    return",
        "  fi",
        '  case "$verb:$before" in',
        *cases,
        '  *) case "$verb" in',
        *behind,
        "    esac;;",
        "  esac",
        '  if [[ "$current" == -* ]]; then words="$dashes" files=0; fi',
        '  if [ -n "$words" ]; then COMPREPLY=($(IFS=" "; compgen -W "$words" -- "$current")); fi',
        '  if [ "$files" = 1 ]; then COMPREPLY+=($(compgen -f -- "$current")); fi',
        "}",
        "complete -o filenames -F _gravure gravure",
    ]
    return "\n".join(lines)


def _zsh(found: Sequence[Verb]) -> str:
    """Return a function of `_arguments`, which shows what each option is for."""
    lines = ["#compdef gravure", "", "_gravure() {", "  local -a verbs", "  verbs=("]
    lines += [f"    {shlex.quote(f'{verb.name}:{_plain(verb.help)}')}" for verb in found]
    lines += [
        "  )",
        "  if (( CURRENT == 2 )); then",
        "    _describe verb verbs",
        "    return",
        "  fi",
        '  local verb="$words[2]"',
        "  shift words",
        "  (( CURRENT-- ))",
        '  case "$verb" in',
    ]
    for verb in found:
        lines.append(f"  {verb.name}) _arguments \\")
        for option in verb.options:
            takes = f":value:{_zsh_values(option.words)}" if option.takes else ""
            lines += [
                f"    {shlex.quote(f'*{name}[{_plain(option.help)}]{takes}')} \\"
                for name in option.names
            ]
        free = "*:file:_files"
        if verb.words:
            words = " ".join(verb.words)
            free = f"*:word: _alternative 'words:word:({words})' 'files:file:_files'"
        lines.append(f"    {shlex.quote(free)};;")
    lines += [
        "  esac",
        "}",
        "",
        'if [ "$funcstack[1]" = "_gravure" ]; then _gravure "$@"',
        "else compdef _gravure gravure; fi",
    ]
    return "\n".join(lines)


def _zsh_values(words: Sequence[str]) -> str:
    return f"({' '.join(words)})" if words else "_files"


def _plain(text: str) -> str:
    """Return a text without what `_arguments` takes for its own marks."""
    return text.replace("[", "(").replace("]", ")").replace(":", " ").replace("`", "")


def _fish(found: Sequence[Verb]) -> str:
    """Return a `complete` for each verb and each option."""
    lines = []
    for verb in found:
        text = shlex.quote(verb.help.replace("'", ""))
        lines.append(f"complete -c gravure -n __fish_use_subcommand -f -a {verb.name} -d {text}")
    for verb in found:
        head = f"complete -c gravure -n '__fish_seen_subcommand_from {verb.name}'"
        if verb.words:
            lines.append(f"{head} -a {shlex.quote(' '.join(verb.words))}")
        for option in verb.options:
            parts = [head, *map(_fish_name, option.names)]
            if option.takes:
                parts.append(
                    f"-x -a {shlex.quote(' '.join(option.words))}" if option.words else "-r"
                )
            parts.append(f"-d {shlex.quote(option.help.replace(chr(39), ''))}")
            lines.append(" ".join(parts))
    return "\n".join(lines)


def _fish_name(name: str) -> str:
    return f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"


SHELLS: Mapping[str, Callable[[Sequence[Verb]], str]] = {
    "bash": _bash,
    "zsh": _zsh,
    "fish": _fish,
}
