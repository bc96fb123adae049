"""What the command line gives: files that can be read, with what is near if not; numbers."""

from __future__ import annotations

import argparse
import math
import os
import stat
from pathlib import Path

from ..errors import InputError


def readable(name: str) -> None:
    """Raise `InputError` unless a file can be read."""
    try:
        mode = os.stat(name).st_mode
    except (OSError, ValueError) as error:
        reason = "no such file" if isinstance(error, FileNotFoundError) else str(error)
        raise InputError(reason, location=name, hint=_similar(name)) from error
    if stat.S_ISDIR(mode):
        raise InputError("this is a folder, expected a file", location=name)
    if not os.access(name, os.R_OK):
        raise InputError("the file may not be read", location=name)


def _similar(name: str) -> str:
    from difflib import get_close_matches

    path = Path(name)
    if not path.parent.is_dir():
        return f"there is no folder {path.parent}"
    close = get_close_matches(path.name, [each.name for each in path.parent.iterdir()], n=1)
    return f"did you mean {path.parent / close[0]}?" if close else ""


def positive(text: str) -> int:
    """Return a number from 1 on."""
    if not text.isdecimal() or not 0 < int(text) < 1 << 31:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def natural(text: str) -> int:
    """Return a number from 0 on."""
    if not text.isdecimal() or int(text) >= 1 << 63:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return int(text)


def amount(text: str) -> float:
    """Return a number that is not negative: a tolerance, or seconds that may be none."""
    found = _finite(text)
    if found is None or found < 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 0 on")
    return found


def above_zero(text: str) -> float:
    """Return a number above 0, such as seconds that a wait may take."""
    found = _finite(text)
    if found is None or found <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number above 0")
    return found


def _finite(text: str) -> float | None:
    try:
        found = float(text)
    except ValueError:
        return None
    return found if math.isfinite(found) else None
