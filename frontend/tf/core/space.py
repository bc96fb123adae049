"""`Space`: a namespace of TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType, SimpleNamespace

from .listing import refusal

UNNAMED = ("function", "made", "public", "called", "<lambda>")
"""Names of functions that are made by others; they are called by their public ones."""


class Space(SimpleNamespace):
    """Names of TensorFlow's under one; what is not here is refused by its name, and it says why.

    `later` are names whose values are made when they are asked for: they need other packages.
    """

    def __init__(
        self,
        label: str,
        later: Mapping[str, Callable[[], object]] | None = None,
        /,
        **members: object,
    ) -> None:
        super().__init__(**members)
        for name, member in members.items():
            if isinstance(member, FunctionType) and member.__name__ in UNNAMED:
                member.__name__ = member.__qualname__ = name  # what Keras writes into files
        self.__label, self.__later = label, later or {}

    def __repr__(self) -> str:
        """Return the name of the namespace: all that is in it would be thousands of lines."""
        return f"<namespace tf.{self.__label}>"

    def __getattr__(self, name: str) -> object:
        if name not in self.__later:
            raise AttributeError(refusal(f"tf.{self.__label}.{name}"))
        found = self.__later[name]()
        setattr(self, name, found)
        return found
