"""Functions of the first version take their arguments in its order and by its names.

`core/first_calls.txt` says so for those that the second version calls in another way.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable, Mapping
from functools import cache

from ..core.listing import lines
from ..core.space import Space


@cache
def table() -> dict[str, tuple[tuple[str, str], ...]]:
    """Return, by name, the arguments in the first version's order, with what they are here."""
    made: dict[str, tuple[tuple[str, str], ...]] = {}
    for line in lines("first_calls.txt"):
        path, _, words = line.partition(": ")
        parts = [word.partition("=") for word in words.split()]
        made[path] = tuple((theirs, ours if same else theirs) for theirs, same, ours in parts)
    return made


def as_called(
    path: str, function: Callable[..., object], arguments: Iterable[tuple[str, str]]
) -> Callable[..., object]:
    """Return a function that is called as the first version calls it."""
    here = dict(arguments)
    order = list(here)
    signature = inspect.signature(function)
    own = list(signature.parameters)
    pairs = enumerate(zip(here.values(), own, strict=False))
    alike = next((i for i, (ours, mine) in pairs if ours != mine), min(len(here), len(own)))
    """How many arguments at the beginning are the same ones in the same order."""

    @functools.wraps(function)
    def called(*args: object, **kwargs: object) -> object:
        if len(args) > len(order):
            raise TypeError(f"{path}() takes {len(order)} arguments but {len(args)} were given")
        given: dict[str, object] = {}
        first = dict(zip(order[alike:], args[alike:], strict=False))
        placed = dict(zip(own[:alike], args, strict=False))
        for theirs, value in (*first.items(), *kwargs.items()):
            ours = here.get(theirs, theirs)
            if not ours or (value is None and (ours != theirs or ours in given)):
                continue
            by_both = placed.get(ours) is not None or (ours in placed and ours == theirs)
            if given.get(ours) is not None or by_both:
                raise ValueError(f"Cannot specify both {theirs!r} and {ours!r}")
            (placed if ours in placed else given)[ours] = value
        return function(*placed.values(), **given)

    called.__name__ = called.__qualname__ = path.rpartition(".")[2]
    called.__signature__ = _shown(signature, here)  # type: ignore[attr-defined]
    return called


def _shown(signature: inspect.Signature, here: Mapping[str, str]) -> inspect.Signature:
    """Return the signature that the first version shows: behind a default, all have one."""
    made: list[inspect.Parameter] = []
    for theirs, ours in here.items():
        known = signature.parameters.get(ours)
        default = inspect.Parameter.empty if known is None else known.default
        behind = bool(made) and made[-1].default is not inspect.Parameter.empty
        if theirs != ours or (default is inspect.Parameter.empty and (known is None or behind)):
            default = None
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        made.append(inspect.Parameter(theirs, kind, default=default))
    return signature.replace(parameters=made)


def in_first_order(space: str, members: Mapping[str, object]) -> dict[str, object]:
    """Return the members of a namespace (of `compat.v1` itself: ""), called as there."""
    made = dict(members)
    for path, arguments in table().items():
        where, _, name = path.rpartition(".")
        function = made.get(name)
        if where == space and callable(function):
            made[name] = as_called(path, function, arguments)
    return made


def first_space(space: str, members: Mapping[str, object]) -> Space:
    """Return a namespace of `compat.v1` whose functions are called as there."""
    public = {name: member for name, member in members.items() if not name.startswith("_")}
    return Space(f"compat.v1.{space}", **in_first_order(space, public))
