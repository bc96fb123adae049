"""Nested structures of values: lists, tuples, named tuples and dictionaries.

>>> flatten({"a": 1, "b": [2, (3, None)]})
[1, 2, 3, None]
>>> pack({"a": 0, "b": [0, (0, 0)]}, "wxyz")
{'a': 'w', 'b': ['x', ('y', 'z')]}
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any


def is_nested(value: object) -> bool:
    """Say whether a value is a structure and not a leaf."""
    return isinstance(value, list | tuple | Mapping)


def flatten(structure: object) -> list[Any]:
    """Return the leaves from left to right; a leaf by itself is a structure."""
    if isinstance(structure, Mapping):
        return [leaf for value in structure.values() for leaf in flatten(value)]
    if isinstance(structure, list | tuple):
        return [leaf for value in structure for leaf in flatten(value)]
    return [structure]


def pack_level(structure: Any, parts: list[object]) -> object:
    """Return a list or tuple like another one with other parts."""
    kind = type(structure)
    return kind(*parts) if hasattr(structure, "_fields") else kind(parts)


def pack(structure: object, leaves: Iterable[object]) -> Any:
    """Return a structure like another one with other leaves."""
    return _pack(structure, iter(leaves))


def _pack(structure: object, leaves: Iterator[object]) -> object:
    if isinstance(structure, Mapping):
        made = {key: _pack(value, leaves) for key, value in structure.items()}
        return made if type(structure) is dict else type(structure)(made)  # type: ignore[call-arg]
    if isinstance(structure, list | tuple):
        return pack_level(structure, [_pack(value, leaves) for value in structure])
    return next(leaves)


def map_structure(function: Callable[..., object], *structures: object) -> Any:
    """Return a structure of what the function gives for the leaves at each place.

    >>> map_structure(lambda x, y: x + y, [1, (2,)], [10, (20,)])
    [11, (22,)]
    """
    columns = [flatten(structure) for structure in structures]
    return pack(structures[0], [function(*row) for row in zip(*columns, strict=True)])


def assert_same(a: Any, b: Any, *, check_types: bool = True) -> None:
    """Raise `ValueError` or `TypeError` unless two structures have the same form."""
    if is_nested(a) != is_nested(b):
        raise ValueError(f"The two structures don't have the same nested structure: {a!r}, {b!r}")
    if not is_nested(a):
        return
    if isinstance(a, Mapping) != isinstance(b, Mapping):
        raise TypeError(f"The two structures don't have the same type: {type(a)}, {type(b)}")
    if check_types and not isinstance(a, Mapping) and type(a) is not type(b):
        raise TypeError(
            f"The two structures don't have the same sequence type: {type(a)}, {type(b)}"
        )
    keys = (list(a), list(b)) if isinstance(a, Mapping) else (range(len(a)), range(len(b)))
    if sorted(map(str, keys[0])) != sorted(map(str, keys[1])):
        raise ValueError(f"The two structures don't have the same nested structure: {a!r}, {b!r}")
    for key in keys[0]:
        assert_same(a[key], b[key], check_types=check_types)
