"""How commands talk: results to the standard output, all else to the standard error.

Colour and progress are for terminals only. What comes out of a file (names of nodes, messages)
never reaches a terminal with control characters in it.
"""

from __future__ import annotations

import io
import json
import os
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any, TextIO

from ..counting import counted
from .errors import UsageError

if TYPE_CHECKING:
    from .talk import Result

BOLD, RED, CYAN, DIM, PLAIN = "\x1b[1m", "\x1b[31;1m", "\x1b[36m", "\x1b[2m", "\x1b[0m"
PATIENCE = 0.5
"""Seconds before progress is shown."""


@dataclass
class Console:
    """What the options of a command say about talking."""

    quiet: bool = False
    verbose: bool = False
    color: str = "auto"
    """`auto`, `always` or `never`."""
    json: bool = False
    source: str = ""
    """The file that the command works on, to show lines of it in errors."""

    def say(self, text: str) -> None:
        """Write a line of talk, unless silence was asked for."""
        if not self.quiet:
            print(escape(text), file=sys.stderr)

    def result(self, text: str, data: Mapping[str, Any]) -> None:
        """Write the result: as text, or as JSON if that was asked for."""
        print(to_json(data) if self.json else escape(text))

    def show(self, found: Result) -> None:
        """Write what a verb found out."""
        self.result(str(found), found.as_json())

    def paint(self, text: str, color: str, stream: TextIO) -> str:
        """Return a text in a colour, if the stream shows colours."""
        return f"{color}{text}{PLAIN}" if has_color(stream, self.color) else text

    @contextmanager
    def progress(self, label: str) -> Iterator[None]:
        """Show on a terminal that something goes on, if it takes long, and how far it is."""
        stream = sys.stderr
        if self.quiet or not is_terminal(stream) or os.environ.get("TERM") == "dumb":
            yield
            return
        done, shown = threading.Event(), Shown(escape(label))
        thread = threading.Thread(target=_tick, args=(shown, done, stream), daemon=True)
        thread.start()
        try:
            with counted(shown.hear):
                yield
        finally:
            done.set()
            thread.join()


@dataclass
class Shown:
    """What a line of progress says."""

    label: str
    count: str = ""

    def hear(self, what: str, done: int, whole: int) -> None:
        """Take in how far it is."""
        self.count = f"{what} {done} of {whole}" if whole else f"{what} {done}"

    def line(self, seconds: float) -> str:
        """Return the line, which takes the place of the one before."""
        parts = [self.label, *([self.count] if self.count else []), f"{seconds:.1f} s"]
        return f"\r{' '.join(parts) if not self.count else ', '.join(parts)} \x1b[K"


def _tick(shown: Shown, done: threading.Event, stream: TextIO) -> None:
    start = perf_counter()
    if done.wait(PATIENCE):
        return
    while not done.wait(0.1):
        stream.write(shown.line(perf_counter() - start))
        stream.flush()
    stream.write("\r\x1b[K")
    stream.flush()


def is_terminal(stream: TextIO) -> bool:
    """Say whether a stream leads to a terminal."""
    try:
        return stream.isatty()
    except ValueError:  # it is closed
        return False


def has_color(stream: TextIO, wish: str = "auto") -> bool:
    """Say whether colours are wanted on a stream (see no-color.org and force-color.org)."""
    if wish != "auto":
        return wish == "always"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return is_terminal(stream) and os.environ.get("TERM", "dumb") != "dumb"


def escape(text: str) -> str:
    r"""Return a text in which every character can be shown, lines and blanks as they are.

    >>> print(escape("a\x1b[31mb"))
    a\x1b[31mb
    """
    if text.isprintable():
        return text
    return "".join(c if c in "\n\t" or c.isprintable() else _code(c) for c in text)


def _code(letter: str) -> str:
    number = ord(letter)
    if number < 256:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 1 << 16 else f"\\U{number:08x}"


def to_json(data: Mapping[str, Any]) -> str:
    """Return one JSON object over several lines; it is plain ASCII."""
    return json.dumps(data, indent=1, allow_nan=False)


def table(rows: Sequence[Sequence[object]], right: str = "", indent: str = "") -> str:
    """Return rows with their columns below each other; columns named in `right` end alike.

    >>> print(table([["conv", 53], ["relu", 9]], right="1"))
    conv  53
    relu   9
    """
    texts = [[escape(str(cell)).replace("\n", " ") for cell in row] for row in rows]
    widths: list[int] = []
    for row in texts:
        for number, cell in enumerate(row):
            if number == len(widths):
                widths.append(0)
            widths[number] = max(widths[number], len(cell))
    lines = []
    for row in texts:
        cells = [
            cell.rjust(widths[n]) if str(n) in right else cell.ljust(widths[n])
            for n, cell in enumerate(row)
        ]
        lines.append((indent + "  ".join(cells)).rstrip())
    return "\n".join(lines)


def write_binary(data: bytes) -> None:
    """Write bytes to the standard output, unless that is a terminal."""
    if is_terminal(sys.stdout):
        raise UsageError("this would write binary to a terminal", hint="name a file: -o FILE")
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def open_streams() -> None:
    """Let what is written to a standard stream that was closed go nowhere.

    Else the next file that is opened would take its number, and what any code prints.
    """
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # (the least number that is free: this one)
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115


def accept_any_text() -> None:
    """Let the standard streams write every character, as an escape where they cannot else."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def in_bytes(size: float) -> str:
    """Return a number of bytes for reading.

    >>> in_bytes(80896)
    '79.0 KiB'
    """
    for unit in ("bytes", "KiB", "MiB"):
        if size < 1024:
            return f"{size:.0f} {unit}" if unit == "bytes" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.2f} GiB"


def in_seconds(seconds: float) -> str:
    """Return a time for reading.

    >>> in_seconds(0.0000123)
    '12.3 us'
    """
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds * factor >= 1:
            return (
                f"{seconds * factor:.{2 if unit == 's' else 3 - _digits(seconds * factor)}f} {unit}"
            )
    return f"{seconds * 1e9:.0f} ns"


def _digits(number: float) -> int:
    return min(3, len(str(int(number))) - 1 + 1)


def in_count(number: float) -> str:
    """Return a large number for reading.

    >>> in_count(25530472)
    '25.53 M'
    """
    for unit, factor in (("T", 1e12), ("G", 1e9), ("M", 1e6)):
        if number >= factor:
            return f"{number / factor:.2f} {unit}"
    return f"{number:,.0f}".replace(",", " ")
