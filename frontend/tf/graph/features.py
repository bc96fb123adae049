"""What of Python is converted beyond choices, loops and calls, by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Iterable
from enum import Enum
from typing import Any


class Feature(Enum):
    """What is converted beyond choices, loops and calls."""

    ALL = "ALL"
    AUTO_CONTROL_DEPS = "AUTO_CONTROL_DEPS"
    ASSERT_STATEMENTS = "ASSERT_STATEMENTS"
    BUILTIN_FUNCTIONS = "BUILTIN_FUNCTIONS"
    EQUALITY_OPERATORS = "EQUALITY_OPERATORS"
    LISTS = "LISTS"
    NAME_SCOPES = "NAME_SCOPES"

    @classmethod
    def all(cls) -> tuple[Feature, ...]:
        """Return all that there are."""
        return tuple(cls)

    @classmethod
    def all_but(cls, exclude: Feature | Iterable[Feature]) -> tuple[Feature, ...]:
        """Return all but some."""
        out = {exclude} if isinstance(exclude, Feature) else set(exclude)
        return tuple(each for each in cls if each not in out and each is not cls.ALL)


def names_of(features: Any) -> frozenset[str]:
    """Return the names of the features that are asked for."""
    given = features if isinstance(features, list | tuple | set | frozenset) else [features]
    wrong = [each for each in given if not isinstance(each, Feature | None)]
    if wrong:
        raise TypeError(
            f"optional features are tf.autograph.experimental.Feature, not {wrong[0]!r}"
        )
    found = {each.name for each in given if each is not None}
    return frozenset(f.name for f in Feature) if "ALL" in found else frozenset(found)
