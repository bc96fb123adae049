"""Files that the command line names: whether they can be read, and what is near if not."""

from __future__ import annotations

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
