"""What becomes of errors: a message, a report where it is our mistake, and an exit status."""

from __future__ import annotations

import errno
import os
import platform
import re
import shlex
import signal
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path

from .. import __version__
from ..errors import GravureError, OutputError
from ..interrupts import came
from ..knobs import ISOLATE
from ..plugins import PluginError, blamed
from ..runtime.files import FULL
from .console import RED, Console, escape, to_json

INTERRUPTED, CLOSED_PIPE, INTERNAL, CANNOT_CREATE, IO_ERROR, NO_MEMORY = 130, 141, 70, 73, 74, 69
_FULL = (*FULL, errno.EIO)
_PLACE = re.compile(r"\A(.+?):(\d+)(?::(\d+))?\Z")


def guarded(work: Callable[[], int], arguments: Sequence[str], console: Console) -> int:
    """Do the work; return the exit status of it, or of what went wrong."""
    with warnings.catch_warnings():
        warnings.showwarning = _warn(console)
        try:
            return _isolated(work) if ISOLATE.is_on() else work()
        except (Exception, KeyboardInterrupt) as error:
            found = KeyboardInterrupt() if came() else error
            return _status_of(found, arguments, console)


def _warn(console: Console) -> Callable[..., None]:
    """Return what prints a warning like all other talk."""

    def show(message: Warning | str, *_: object) -> None:
        console.say(f"gravure: warning: {message}")

    return show


def _status_of(error: BaseException, arguments: Sequence[str], console: Console) -> int:
    """Tell what went wrong; return the exit status."""
    name = _name(arguments)
    match error:
        case OutputError() if error.errno in _FULL:
            tell(error, name, console)
            status = IO_ERROR
        case GravureError(exit_status=status):
            tell(error, name, console)
        case KeyboardInterrupt():
            console.say("interrupted")
            status = INTERRUPTED
        case BrokenPipeError():  # the reader has seen enough
            _forget_output()
            status = CLOSED_PIPE
        case OSError():
            status = _cannot_write(error, name, console)
        case MemoryError():
            tell(GravureError("out of memory"), name, console)
            status = NO_MEMORY
        case _:
            status = _our_mistake(error, arguments, console)
    return status


def tell(error: GravureError, name: str, console: Console) -> None:
    """Print an error."""
    if console.json:
        fields = {"code": error.code, "message": error.message}
        more = {"location": error.location, "hint": error.hint_for_shell}
        print(to_json({"schema": "gravure.error/1", "error": {**fields, **more}}))
        return
    word = console.paint("error:", RED, sys.stderr)
    place = f"{error.location}: " if error.location else ""
    lines = [f"{escape(name)}: {word} {escape(place + error.message)}"]
    lines += _excerpt(error, console.source)
    if error.hint:
        lines.append(f"  help: {escape(error.hint_for_shell)}")
    if console.verbose:
        lines.append(f"  gravure explain {error.code} says more\n{traceback.format_exc()}")
    print("\n".join(lines), file=sys.stderr)


def _excerpt(error: GravureError, source: str) -> list[str]:
    """Return the line of a text that an error is about, with a mark below it."""
    place = _PLACE.match(error.location)
    if place is None or "\n" in error.message:
        return []
    path = Path(source) if Path(source).name == place[1] else Path(place[1])
    if not path.is_file():
        return []
    lines = path.read_text(encoding="utf-8", errors="replace").splitlines()
    number, column = int(place[2]), int(place[3] or 0)
    if not 0 < number <= len(lines) or len(lines[number - 1]) > 200:
        return []
    line = escape(lines[number - 1].replace("\t", " "))
    return [f"  {line}", f"  {' ' * (column - 1)}^"] if column else [f"  {line}"]


def _name(arguments: Sequence[str]) -> str:
    verb = arguments[0] if arguments and not arguments[0].startswith("-") else ""
    return f"gravure {verb}".strip()


def _cannot_write(error: OSError, name: str, console: Console) -> int:
    status = IO_ERROR if error.errno in _FULL else CANNOT_CREATE
    where = str(error.filename2 or error.filename or "")
    reason = (error.strerror or str(error)).lower()
    made = OutputError(f"cannot write: {reason}", location=where)
    if error.errno in _FULL:
        _forget_output()
    tell(made, name, console)
    return status


def _forget_output() -> None:
    """Let what is still to be written to the standard output go nowhere."""
    try:
        target = sys.stdout.fileno()
    except (OSError, ValueError):  # it is no file
        return
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, target)
    os.close(nowhere)


def _our_mistake(error: BaseException, arguments: Sequence[str], console: Console) -> int:
    found = blamed(error)
    if found is not None:
        plugin, place = found
        text = f"{plugin.title} failed: {type(error).__name__}: {error}"
        tell(PluginError(text, location=place), _name(arguments), console)
        return PluginError.exit_status
    path = write_report(error, arguments)
    made = GravureError(
        f"internal error: {type(error).__name__}: {error}",
        hint=f"this is a mistake in gravure; {path} has what is needed to find it",
    )
    tell(made, _name(arguments), console)
    return INTERNAL


def write_report(error: BaseException, arguments: Sequence[str]) -> Path:
    """Write down what failed, how it was called, and with which versions; return the file."""
    folder = Path(tempfile.mkdtemp(prefix="gravure-"))
    path = folder / "report.txt"
    text = [
        f"gravure {shlex.join(arguments)}",
        f"gravure {__version__}, Python {platform.python_version()}, {platform.platform()}",
        *(getattr(error, "__notes__", ())),
        "",
        "".join(traceback.format_exception(error)),
    ]
    path.write_text("\n".join(text), encoding="utf-8", errors="backslashreplace")
    return path


def _isolated(work: Callable[[], int]) -> int:
    """Do the work in a process of its own, so that what ends it does not end this one."""
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # threads that sleep do not matter
        child = os.fork()
    if child == 0:
        del os.environ[ISOLATE.name]
        return work()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is for the other one, which tells
    _, status = os.waitpid(child, 0)
    if not os.WIFSIGNALED(status):
        return os.WEXITSTATUS(status)
    name = signal.Signals(os.WTERMSIG(status)).name
    raise RuntimeError(f"the process that did the work was ended by {name}")
