"""Nested structures of values: lists, tuples, named tuples, dictionaries, and composites.

>>> flatten({"a": 1, "b": [2, (3, None)]})
[1, 2, 3, None]
>>> pack({"a": 0, "b": [0, (0, 0)]}, "wxyz")
{'a': 'w', 'b': ['x', ('y', 'z')]}
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol, TypeGuard, TypeVar, cast

Tree = TypeVar("Tree")


class Parted:
    """A value that has several tensors: structures are flattened into them where that is asked."""

    def components(self) -> Sequence[object]:
        """Return the tensors."""
        raise NotImplementedError

    def with_components(self, parts: Sequence[object]) -> object:
        """Return such a value of other tensors."""
        raise NotImplementedError


class TensorGroup(Parted):
    """A value that is made of several tensors: structures are flattened into them."""

    def with_gradients(self, parts: Sequence[object]) -> object:
        """Return the gradient of the value, given that of each tensor, None where there is none."""
        raise NotImplementedError

    def gradients_of_parts(self, gradient: object) -> list[object]:
        """Return the gradient of each tensor, given that of the value, None where there is none."""
        raise NotImplementedError

    def fed(self, value: object) -> Sequence[object]:
        """Return what is fed for each of the tensors where a value is fed for it."""
        raise NotImplementedError

    def printed(self, parts: Sequence[object], ends: int) -> str:
        """Return it as it is printed: its tensors as arrays, so many elements at each end."""
        del parts, ends
        return str(self)

    def described(self) -> TensorGroup:
        """Return what the value is like: a composite of the specs of its tensors."""
        raise NotImplementedError

    def form(self) -> Hashable:
        """Return what there is of a description besides specs of tensors."""
        raise NotImplementedError

    def takes(self, other: TensorGroup) -> bool:
        """Say whether what another description of its class describes can stand for this."""
        del other
        return True


class Own(Protocol):
    """A value of a class that programs make, which says itself of which parts it is made."""

    def __tf_flatten__(self) -> tuple[object, Iterable[object]]:
        """Return what else there is to it, and its parts, which are structures."""

    @classmethod
    def __tf_unflatten__(cls, metadata: object, leaves: tuple[object, ...]) -> object:
        """Return a value of other parts."""


class NamedField(Protocol):
    """A field of a class of the package `attrs`."""

    name: str


class OfFields(Protocol):
    """A value of a class of the package `attrs`: its fields are its parts."""

    __attrs_attrs__: Sequence[NamedField]


def is_of_fields(value: object) -> TypeGuard[OfFields]:
    """Say whether a value is one of a class of the package `attrs`."""
    return hasattr(type(value), "__attrs_attrs__") and not isinstance(value, type)


def is_own(value: object) -> TypeGuard[Own | OfFields]:
    """Say whether a value takes itself apart, or says what its fields are."""
    takes = hasattr(type(value), "__tf_flatten__") and not isinstance(value, type)
    return takes or is_of_fields(value)


def own_rest(value: Own | OfFields) -> object:
    """Return what else there is to a value than its parts."""
    return () if is_of_fields(value) else cast("Own", value).__tf_flatten__()[0]


def own_parts(value: Own | OfFields) -> tuple[object, ...]:
    """Return the parts of a value that takes itself apart."""
    if is_of_fields(value):
        return tuple([getattr(value, field.name) for field in value.__attrs_attrs__])
    return tuple(cast("Own", value).__tf_flatten__()[1])


def with_own_parts(value: Own | OfFields, parts: Iterable[object]) -> object:
    """Return a value like one that takes itself apart, of other parts."""
    if is_of_fields(value):
        kind: Callable[..., object] = type(value)
        return kind(*parts)
    own = cast("Own", value)
    return own.__tf_unflatten__(own.__tf_flatten__()[0], tuple(parts))


class Several(tuple[object, ...]):
    """What several have of one value: a leaf of a structure where only wholes are looked at."""

    __slots__ = ()


def is_nested(value: object) -> bool:
    """Say whether a value is a structure and not a leaf."""
    return isinstance(value, list | tuple | Mapping | TensorGroup) or is_own(value)


def flatten(structure: object) -> list[Any]:
    """Return the leaves from left to right; a leaf by itself is a structure."""
    if isinstance(structure, Mapping):
        return [leaf for value in structure.values() for leaf in flatten(value)]
    if isinstance(structure, list | tuple):
        return [leaf for value in structure for leaf in flatten(value)]
    if isinstance(structure, TensorGroup):
        return list(structure.components())
    if is_own(structure):
        return [leaf for part in own_parts(structure) for leaf in flatten(part)]
    return [structure]


def wholes(structure: object) -> list[object]:
    """Return the leaves from left to right, of which composites are some."""
    if isinstance(structure, Mapping):
        return [leaf for value in structure.values() for leaf in wholes(value)]
    if isinstance(structure, list | tuple):
        return [leaf for value in structure for leaf in wholes(value)]
    if is_own(structure):
        return [leaf for part in own_parts(structure) for leaf in wholes(part)]
    return [structure]


def pack_wholes(structure: Tree, leaves: Iterable[object]) -> Tree:
    """Return a structure like another one with other leaves, of which composites are some."""
    return cast("Tree", _packed(structure, iter(leaves)))


def _packed(structure: object, leaves: Iterator[object]) -> object:
    if isinstance(structure, Mapping):
        made = {key: _packed(value, leaves) for key, value in structure.items()}
        return made if type(structure) is dict else type(structure)(made)  # type: ignore[call-arg]
    if isinstance(structure, list | tuple):
        return pack_level(structure, [_packed(value, leaves) for value in structure])
    if is_own(structure):
        return with_own_parts(structure, [_packed(x, leaves) for x in own_parts(structure)])
    return next(leaves)


def pack_level(structure: Any, parts: list[object]) -> object:
    """Return a list or tuple like another one with other parts."""
    kind = type(structure)
    return kind(*parts) if hasattr(structure, "_fields") else kind(parts)


def pack(structure: object, leaves: Iterable[object]) -> Any:
    """Return a structure like another one with other leaves."""
    return _pack(structure, iter(leaves), lambda x, parts: x.with_components(parts))


def pack_gradients(structure: object, gradients: Iterable[object]) -> object:
    """Return a structure of the gradients of its leaves; composites have gradients as a whole."""
    return _pack(structure, iter(gradients), lambda x, parts: x.with_gradients(parts))


Whole = Callable[[TensorGroup, Sequence[object]], object]


def _pack(structure: object, leaves: Iterator[object], whole: Whole) -> object:
    if isinstance(structure, Mapping):
        made = {key: _pack(value, leaves, whole) for key, value in structure.items()}
        return made if type(structure) is dict else type(structure)(made)  # type: ignore[call-arg]
    if isinstance(structure, list | tuple):
        return pack_level(structure, [_pack(value, leaves, whole) for value in structure])
    if isinstance(structure, TensorGroup):
        return whole(structure, [next(leaves) for _ in structure.components()])
    if is_own(structure):
        return with_own_parts(structure, [_pack(x, leaves, whole) for x in own_parts(structure)])
    return next(leaves)


def described(structure: object) -> Any:
    """Return a structure with descriptions instead of its composites."""
    if isinstance(structure, Mapping):
        made = {key: described(value) for key, value in structure.items()}
        return made if type(structure) is dict else type(structure)(made)  # type: ignore[call-arg]
    if isinstance(structure, list | tuple):
        return pack_level(structure, [described(value) for value in structure])
    if is_own(structure):
        return with_own_parts(structure, map(described, own_parts(structure)))
    return structure.described() if isinstance(structure, TensorGroup) else structure


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
    if isinstance(a, TensorGroup) or isinstance(b, TensorGroup):
        _assert_alike(a, b)
        return
    if is_own(a) or is_own(b):
        _assert_own(a, b, check_types=check_types)
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


def _parts_of(value: object) -> list[object] | None:
    """Return the parts of a list, a tuple or, in the order of its keys, a mapping."""
    if isinstance(value, Mapping):
        return [value[key] for key in sorted(value)]
    return list(value) if isinstance(value, list | tuple) else None


def assert_as_long(a: object, b: object) -> None:
    """Raise unless two structures have as many parts, whatever holds them and is their key."""
    if is_nested(a) != is_nested(b):
        raise ValueError(f"The two structures don't have the same nested structure: {a!r}, {b!r}")
    mine, theirs = _parts_of(a), _parts_of(b)
    if mine is None or theirs is None:
        assert_same(a, b, check_types=False)
        return
    if len(mine) != len(theirs):
        raise ValueError(f"The two structures don't have the same number of parts: {a!r}, {b!r}")
    for parts in zip(mine, theirs, strict=True):
        assert_as_long(*parts)


def _assert_own(a: object, b: object, *, check_types: bool) -> None:
    """Raise unless two values take themselves apart alike."""
    if not (is_own(a) and is_own(b) and type(a) is type(b)):
        raise TypeError(f"The two structures don't have the same type: {type(a)}, {type(b)}")
    if own_rest(a) != own_rest(b):
        raise ValueError(f"The two structures don't have the same nested structure: {a!r}, {b!r}")
    assert_same(own_parts(a), own_parts(b), check_types=check_types)


def _assert_alike(a: object, b: object) -> None:
    """Raise unless two values are composites of as many tensors of one kind."""
    mine, theirs = (x.described() if isinstance(x, TensorGroup) else x for x in (a, b))
    fits = type(mine) is type(theirs) and len(flatten(a)) == len(flatten(b))
    if isinstance(mine, TensorGroup) and isinstance(theirs, TensorGroup) and fits:
        fits = mine.takes(theirs)
    if not fits:
        raise ValueError(f"The two structures don't have the same nested structure: {a!r}, {b!r}")
