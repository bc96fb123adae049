"""`Space`: a namespace of TensorFlow's."""

from __future__ import annotations

from types import SimpleNamespace
from typing import NoReturn


class Space(SimpleNamespace):
    """Names of TensorFlow's under one; what is not here is refused by its name."""

    def __init__(self, label: str, /, **members: object) -> None:
        super().__init__(**members)
        self.__label = label

    def __getattr__(self, name: str) -> NoReturn:
        raise AttributeError(f"gravure.tf.{self.__label} has no {name!r}")
