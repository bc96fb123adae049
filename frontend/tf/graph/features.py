"""What of Python is converted beyond choices, loops and calls, by TensorFlow's names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import Enum
from typing import Any

from ...function.arguments import spec_for
from ...values.nest import flatten, map_structure
from ..ops.indexed_slices import as_argument
from ..runs.implementing import IMPLEMENTS


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


SAYING_NOTHING = {"experimental_follow_type_hints"}
"""Options of `function` that say nothing to TensorFlow either, which keeps them."""
STATED = {"experimental_implements", "experimental_attributes"}
"""Options that name a function for other programs."""
FLAGS = {"jit_compile", "experimental_compile", "experimental_relax_shapes", "reduce_retracing"}
"""Options of `function` that are true, false or None: functions are compiled in any case."""
FLAGS |= {"recompute", "swap"}  # (TensorFlow's does not have them: see `gravure.function`)


def stated(options: Mapping[str, object]) -> dict[str, str]:
    """Return what is said of a function to other programs."""
    attributes = options.get("experimental_attributes") or {}
    if not isinstance(attributes, Mapping):
        raise TypeError(f"function(): experimental_attributes is {attributes!r}, expected a dict")
    found = {str(name): str(value) for name, value in attributes.items()}
    implements = options.get("experimental_implements")
    return found if implements is None else {**found, IMPLEMENTS: str(implements)}


def in_parts(signature: object) -> object:
    """Return a signature; what is said of slices is said of their parts."""
    if signature is None:
        return None
    found = map_structure(as_argument, signature)
    if any(leaf is not None and spec_for(leaf) is None for leaf in flatten(found)):
        raise TypeError(
            "input_signature must be a possibly nested sequence of specs of tensors, got "
            f"{signature!r}"
        )
    return found


def options_of(given: dict[str, object]) -> dict[str, Any]:
    """Return the options of `tf.function` as those of `gravure.function`, or raise `TypeError`."""
    options = dict(given)
    features = names_of(options.pop("experimental_autograph_options", None))
    known = {*SAYING_NOTHING, *STATED, *FLAGS, "input_signature", "autograph"}
    unknown = sorted(options.keys() - known)
    if unknown:
        raise TypeError(f"function() got an unexpected keyword argument {unknown[0]!r}")
    for name in FLAGS & options.keys():
        if options[name] not in (True, False, None):
            raise TypeError(
                f"function(): {name} is {options[name]!r}, expected True, False or None"
            )
    relaxed = options.get("reduce_retracing") or options.get("experimental_relax_shapes")
    return {
        "input_signature": in_parts(options.get("input_signature")),
        "reduce_retracing": bool(relaxed),
        "autograph": options.get("autograph", True),
        "recompute": bool(options.get("recompute")),
        "swap": bool(options.get("swap")),
        "features": features,
        "stated": stated(options),
    }
