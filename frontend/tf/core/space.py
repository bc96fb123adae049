"""`Space`: a namespace of TensorFlow's."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import SimpleNamespace

from .listing import refusal


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
        self.__label, self.__later = label, later or {}

    def __getattr__(self, name: str) -> object:
        if name not in self.__later:
            raise AttributeError(refusal(f"tf.{self.__label}.{name}"))
        found = self.__later[name]()
        setattr(self, name, found)
        return found
