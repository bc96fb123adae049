"""What makes variables in place of `tf.Variable`, and where a variable lies in one that was cut."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from enum import Enum
from functools import partial
from typing import TypeVar, cast

from ...formats.messages import SaveSliceInfoDef

Made = TypeVar("Made")

Creator = Callable[..., object]
"""Makes a variable, by the next creator and the arguments by their names."""

CREATORS: ContextVar[tuple[Creator, ...]] = ContextVar("creators", default=())
"""The creators that are asked, the outermost first."""
IGNORED = {
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


class VariableAggregation(Enum):
    """How what replicas assign to a variable becomes one value."""

    NONE = 0
    SUM = 1
    MEAN = 2
    ONLY_FIRST_REPLICA = ONLY_FIRST_TOWER = 3


class VariableSynchronization(Enum):
    """When the values of replicas become one: here when they are written, always."""

    AUTO = 0
    NONE = 1
    ON_WRITE = 2
    ON_READ = 3


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


class SliceInfo:
    """The name and shape of the whole, and where in it a part lies."""

    def __init__(
        self,
        full_name: str | None = None,
        full_shape: Sequence[int | None] | None = None,
        var_offset: Sequence[int] | None = None,
        var_shape: Sequence[int | None] | None = None,
        save_slice_info_def: SaveSliceInfoDef | None = None,
        import_scope: str | None = None,
    ) -> None:
        given = save_slice_info_def
        if given is not None:
            scope = f"{import_scope}/" if import_scope else ""
            full_name = f"{scope}{given.full_name}"
            full_shape, var_offset = list(given.full_shape), list(given.var_offset)
            var_shape = list(given.var_shape)
        self.full_name, self.full_shape = full_name, full_shape
        self.var_offset, self.var_shape = var_offset, var_shape

    @classmethod
    def from_spec(cls, spec: str) -> SliceInfo:
        """Return what such a text says."""
        *sizes, places = spec.split(" ")
        if not sizes:
            raise ValueError(f"spec must contain space-separated full_shape info: {spec!r}")
        full_shape = [_number(n, "full_shape must be a sequence of integers", spec) for n in sizes]
        offset: list[int] = []
        shape: list[int] = []
        for pair in places.split(":"):
            start, comma, size = pair.partition(",")
            if not comma:
                raise ValueError(
                    "spec must contain comma-separated pairs of offsets and sizes, colons between "
                    f"them: {spec!r}"
                )
            offset.append(_number(start, "var_offset must be an integer", spec))
            shape.append(_number(size, "var_shape must be an integer", spec))
        return cls(full_shape=full_shape, var_offset=offset, var_shape=shape)

    def to_proto(self, export_scope: str | None = None) -> SaveSliceInfoDef | None:
        """Return it as a message, None if its name is outside of a scope that is given."""
        name = name_within(self.full_name or "", export_scope)
        if name is None:
            return None
        return SaveSliceInfoDef(
            full_name=name,
            full_shape=self.full_shape,
            var_offset=self.var_offset,
            var_shape=self.var_shape,
        )

    @property
    def spec(self) -> str:
        """Return how files name the part: sizes of the whole, then a begin and a size an axis."""
        sizes = " ".join(f"{n}" for n in self.full_shape or ())
        places = zip(self.var_offset or (), self.var_shape or (), strict=True)
        return f"{sizes} {':'.join(f'{start},{size}' for start, size in places)}"


def name_within(name: str, scope: str | None) -> str | None:
    """Return a name as it is inside of a scope, None if it is outside."""
    if not scope:
        return name
    return name.removeprefix(f"{scope}/") if name.startswith(f"{scope}/") else None


def _number(text: str, wanted: str, spec: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise ValueError(f"{wanted}, got {text!r} in {spec!r}") from None


SliceInfo.__name__ = SliceInfo.__qualname__ = "SaveSliceInfo"


class Sliced:
    """A variable that may be a part of another."""

    SaveSliceInfo = SliceInfo
    _slice_info: SliceInfo | None = None

    def _get_save_slice_info(self) -> SliceInfo | None:
        """Return where it lies in a larger one, None if it is whole."""
        return self._slice_info

    def _set_save_slice_info(self, save_slice_info: SliceInfo | None) -> None:
        """Say where it lies in a larger one."""
        self._slice_info = save_slice_info
