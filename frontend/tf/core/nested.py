"""Nested structures in TensorFlow's order: the keys of dictionaries are sorted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from ...values.nest import assert_same, is_nested, pack_level


def flatten(structure: object, expand_composites: bool = False) -> list[Any]:
    """Return the leaves from left to right.

    >>> flatten({"b": 1, "a": [2, (3,)]})
    [2, 3, 1]
    """
    if isinstance(structure, Mapping):
        return [leaf for key in sorted(structure) for leaf in flatten(structure[key])]
    if isinstance(structure, list | tuple):
        return [leaf for value in structure for leaf in flatten(value)]
    return [structure]


def pack_sequence_as(structure: object, flat_sequence: Iterable[object], **_: object) -> Any:
    """Return a structure like another one with other leaves."""
    leaves = list(flat_sequence)
    if len(leaves) != len(flatten(structure)):
        raise ValueError(
            f"Could not pack sequence. Structure had {len(flatten(structure))} atoms, but "
            f"flat_sequence had {len(leaves)} items"
        )
    return _pack(structure, iter(leaves))


def _pack(structure: object, leaves: Iterator[object]) -> Any:
    if isinstance(structure, Mapping):
        found = {key: _pack(structure[key], leaves) for key in sorted(structure)}
        ordered = {key: found[key] for key in structure}
        return ordered if type(structure) is dict else type(structure)(ordered)  # type: ignore[call-arg]
    if isinstance(structure, list | tuple):
        return pack_level(structure, [_pack(value, leaves) for value in structure])
    return next(leaves)


def assert_same_structure(
    nest1: object, nest2: object, check_types: bool = True, expand_composites: bool = False
) -> None:
    """Raise `ValueError` or `TypeError` unless two structures have the same form."""
    assert_same(nest1, nest2, check_types=check_types)


def map_structure(
    func: Callable[..., object], *structure: object, check_types: bool = True, **_: object
) -> Any:
    """Return a structure of what the function gives for the leaves at each place."""
    if not callable(func):
        raise TypeError(f"Argument `func` must be callable, got: {func!r}")
    if not structure:
        raise ValueError("Must provide at least one structure")
    for other in structure[1:]:
        assert_same(structure[0], other, check_types=check_types)
    columns = [flatten(each) for each in structure]
    return pack_sequence_as(structure[0], [func(*row) for row in zip(*columns, strict=True)])


__all__ = ["assert_same_structure", "flatten", "is_nested", "map_structure", "pack_sequence_as"]
