"""`Space`: a namespace of TensorFlow's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NoReturn

from .listing import refusal


class Space(SimpleNamespace):
    """Names of TensorFlow's under one; what is not here is refused by its name, and it says why."""

    def __init__(self, label: str, /, **members: object) -> None:
        super().__init__(**members)
        self.__label = label

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(refusal(f"tf.{self.__label}.{name}"))
