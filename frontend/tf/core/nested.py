"""Nested structures in TensorFlow's order: the keys of dictionaries are sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from ...values.nest import (
    Parted,
    Several,
    assert_as_long,
    assert_same,
    is_own,
    own_parts,
    pack_level,
    with_own_parts,
)
from .bridge import COMPUTED


def is_nested(seq: object) -> bool:
    """Say whether a value is a list, tuple or dictionary, or takes itself apart."""
    if isinstance(seq, list | tuple | Mapping):
        return not isinstance(seq, Several)
    return is_own(seq)


def flatten(structure: object, expand_composites: bool = False) -> list[Any]:
    """Return the leaves from left to right.

    >>> flatten({"b": 1, "a": [2, (3,)]})
    [2, 3, 1]
    """
    found: list[Any] = []
    _add_leaves(found, structure, expand_composites)
    return found


LEAVES = {*COMPUTED, bool, int, float, str, bytes, type(None), np.ndarray}
"""Some classes of leaves: to see that of others takes longer than the rest."""


def _add_leaves(found: list[object], structure: Any, expands: bool) -> None:
    kind = structure.__class__
    if kind is list or kind is tuple:
        _add_all(found, structure, expands)
    elif kind in LEAVES:
        found.append(structure)
    elif kind is dict or isinstance(structure, Mapping):
        _add_all(found, [structure[key] for key in sorted(structure)], expands)
    elif isinstance(structure, list | tuple) and (expands or is_nested(structure)):
        _add_all(found, structure, expands)
    elif expands and isinstance(structure, Parted):
        found.extend(structure.components())
    elif is_own(structure):
        for value in own_parts(structure):
            _add_leaves(found, value, expands)
    else:
        found.append(structure)


def _add_all(found: list[object], values: Iterable[object], expands: bool) -> None:
    for value in values:
        if value.__class__ in LEAVES:
            found.append(value)
        else:
            _add_leaves(found, value, expands)


def pack_sequence_as(
    structure: object, flat_sequence: Iterable[object], expand_composites: bool = False
) -> Any:
    """Return a structure like another one with other leaves."""
    leaves, count = list(flat_sequence), len(flatten(structure, expand_composites))
    if len(leaves) != count:
        raise ValueError(
            f"Could not pack sequence. Structure had {count} atoms, but flat_sequence had "
            f"{len(leaves)} items"
        )
    return _pack(structure, iter(leaves), expand_composites)


def _pack(structure: object, leaves: Iterator[object], expands: bool) -> object:
    if isinstance(structure, Mapping):
        found = {key: _pack(structure[key], leaves, expands) for key in sorted(structure)}
        ordered = {key: found[key] for key in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)  # type: ignore[call-arg]
    if isinstance(structure, list | tuple) and (expands or is_nested(structure)):
        return pack_level(structure, [_pack(value, leaves, expands) for value in structure])
    if expands and isinstance(structure, Parted):
        return structure.with_components([next(leaves) for _ in structure.components()])
    if is_own(structure):
        parts = [_pack(value, leaves, expands) for value in own_parts(structure)]
        return with_own_parts(structure, parts)
    return next(leaves)


def assert_same_structure(
    nest1: object, nest2: object, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise `ValueError` or `TypeError` unless two structures have the same form."""
    (assert_same if check_types else assert_as_long)(nest1, nest2)


def map_structure(
    func: Callable[..., object],
    *structure: object,
    check_types: bool = True,
    expand_composites: bool = False,
) -> Any:
    """Return a structure of what the function gives for the leaves at each place."""
    if not callable(func):
        raise TypeError(f"Argument `func` must be callable, got: {func!r}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same_structure(structure[0], other, check_types)
    columns = [flatten(each, expand_composites) for each in structure]
    made = [func(*row) for row in zip(*columns, strict=True)]
    return pack_sequence_as(structure[0], made, expand_composites)


__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
