"""The public names of TensorFlow, and why those are not here that are not.

`tensorflow.txt` lists the names by namespace, `refusals.txt` says by patterns why a name is
refused. Both are read when a name is asked for that is not here.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent


def lines(file: str) -> list[str]:
    """Return the lines of a file of data that say something; those that go on are joined."""
    made: list[str] = []
    for line in (HERE / file).read_text().splitlines():
        if line.startswith(" "):
            made[-1] += line
        elif line and not line.startswith("#"):
            made.append(line)
    return made


@cache
def listed() -> dict[str, tuple[str, ...]]:
    """Return the public names of TensorFlow by their namespaces (`tf.math`)."""
    parts = (line.split(": ", 1) for line in lines("tensorflow.txt"))
    return {space: tuple(names.split()) for space, names in parts}


@cache
def refusals() -> tuple[tuple[str, str], ...]:
    """Return patterns of names, and why what fits is not here."""
    parts = (line.split(": ", 1) for line in lines("refusals.txt"))
    return tuple((pattern, why) for pattern, why in parts)


def why_not(path: str) -> str | None:
    """Return why a name (`tf.math.add`) is not here, None if nothing is said of it."""
    for each in dict.fromkeys((path, path.replace("tf.compat.v1.", "tf."))):
        found = next((why for pattern, why in refusals() if fnmatchcase(each, pattern)), None)
        if found is not None:
            return found
    return None


def refusal(path: str) -> str:
    """Return what is said of a name that is not here."""
    space, _, name = path.rpartition(".")
    twins = (space, space.replace("tf", "tf.compat.v1", 1))  # both versions share some spaces
    if not any(name in listed().get(each, ()) for each in twins):
        return f"gravure.{space} has no {name!r}"
    return f"gravure.{space} has no {name!r}: {why_not(path) or 'it is not supported'}"
