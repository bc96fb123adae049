"""The line of the user's program that is running: where operations come from, and errors."""

from __future__ import annotations

import os
import sys
from functools import cache
from types import FrameType

OURS = f"{__name__.partition('.')[0]}."
"""What the names of our own modules start with."""
BETWEEN = ("contextlib", "functools")
"""Modules that call what they are given: not the user's program either."""


def user_frame() -> FrameType | None:
    """Return the innermost frame of the user's program."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _is_other(frame.f_globals.get("__name__", "")):
        frame = frame.f_back
    return frame


@cache
def _is_other(module: str) -> bool:
    return module in BETWEEN or str(module).startswith(OURS)


def user_line() -> str:
    """Return `file.py:12` of the user's program, or an empty text if only gravure is running."""
    frame = user_frame()
    return f"{frame.f_code.co_filename}:{frame.f_lineno}" if frame is not None else ""


def short(line: str) -> str:
    """Return `file.py:12` relative to the working folder, if it lies below.

    >>> short("/nowhere/else/f.py:3")
    '/nowhere/else/f.py:3'
    """
    here = os.path.join(os.getcwd(), "")
    return line.removeprefix(here)
