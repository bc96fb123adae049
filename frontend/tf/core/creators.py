"""What makes variables in place of `tf.Variable`: `tf.variable_creator_scope`."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from typing import TypeVar, cast

Made = TypeVar("Made")

Creator = Callable[..., object]
"""Makes a variable, by the next creator and the arguments by their names."""

CREATORS: ContextVar[tuple[Creator, ...]] = ContextVar("creators", default=())
"""The creators that are asked, the outermost first."""
IGNORED = {
    "caching_device": None,
    "variable_def": None,
    "import_scope": None,
    "experimental_enable_variable_lifting": None,
}
"""Arguments that creators are given and that say nothing here."""


@contextmanager
def variable_creator_scope(variable_creator: Creator) -> Iterator[None]:
    """Let a function make the variables meanwhile, or change what they are made of.

    It is given the next creator and all arguments by name; of several, the innermost is asked
    first.
    """
    before = CREATORS.set((*CREATORS.get(), variable_creator))
    try:
        yield
    finally:
        CREATORS.reset(before)


class Created(type):
    """The class of variables: creators that are around are asked to make them.

    Those of a class that a user derives are made as they are.
    """

    def __call__(cls: type[Made], *args: object, **kwargs: object) -> Made:
        """Make a variable."""
        make = partial(type.__call__, cls)
        creators = CREATORS.get()
        if not creators or any(isinstance(base, Created) for base in cls.__bases__):
            return cast("Made", make(*args, **kwargs))
        for each in creators:
            make = partial(each, make)
        return cast("Made", make(**_by_name(cls, args, kwargs)))


def _by_name(cls: type, args: tuple[object, ...], kwargs: dict[str, object]) -> dict[str, object]:
    """Return all arguments of a class by their names."""
    bound = inspect.signature(vars(cls)["__init__"]).bind(None, *args, **kwargs)
    bound.apply_defaults()
    _, *named = bound.arguments.items()
    found = dict(named)
    more = found.pop("_", {})
    assert isinstance(more, dict), "what is left are arguments by name"
    return {**IGNORED, **found, **more}
