"""The fields of a type: what is declared, and a value that is given for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import NoneType, UnionType
from typing import Any, ClassVar, Union, get_args, get_origin

from ...values import nest
from ..core.bridge import Common
from ..core.element_types import TfDataType, as_dtype
from ..core.shapes import TensorShape
from ..core.specs import TensorSpec
from ..core.values import convert

Declared = Any
"""An annotation of a field."""
CONVERTED: dict[type, Callable[[Declared], object]] = {
    TfDataType: as_dtype,
    TensorShape: TensorShape,
}
PLAIN = (bool, int, float, str, bytes, NoneType)


class Frozen(dict[str, object]):
    """A dictionary that does not change."""

    def _refused(self, *args: object, **kwargs: object) -> None:
        raise TypeError("a mapping of an ExtensionType does not change")

    __setitem__ = __delitem__ = _refused
    update = setdefault = pop = popitem = clear = _refused  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"ImmutableDict({super().__repr__()})"


UNSUPPORTED = (complex, list, dict, set, object)
RESERVED = (
    *("_type_spec", "_to_components", "_from_components", "_shape_invariant_to_type_spec"),
    *("is_compatible_with", "is_subtype_of", "most_specific_common_supertype", "value_type"),
    *("most_specific_compatible_type", "_component_specs", "_consumers"),
)
"""What no field and no method may be called, for TensorFlow asks values and specs for it."""


def check_names(owner: str, names: Iterable[str]) -> None:
    """Raise `ValueError` for names of a class that are not for fields."""
    for name in names:
        if name in RESERVED or name.startswith("_tf_extension_type"):
            raise ValueError(
                f"The field annotations for {owner} are invalid. Field {name!r} is reserved"
            )


def check_declared(declared: Declared, name: str) -> None:
    """Raise `TypeError` for an annotation that is for no field; text is looked at later."""
    origin: Declared = get_origin(declared)
    parts = get_args(declared)
    holds = origin in (Union, UnionType, tuple, ClassVar)
    holds = holds or (isinstance(origin, type) and issubclass(origin, Mapping))
    if declared in UNSUPPORTED or (origin is not None and (not holds or origin is dict)):
        raise TypeError(f"In field {name!r}: Unsupported type annotation {declared!r}")
    for part in parts if holds else ():
        if part is not ...:
            check_declared(part, name)


def fitted(declared: Declared, value: Declared, name: str) -> object:
    """Return a value as a field of a declared type, or raise `TypeError`."""
    origin: Declared = get_origin(declared)
    parts = get_args(declared)
    if origin in (Union, UnionType):
        return _one_of(parts, value, name)
    if origin is tuple:
        return _tuple_of(parts, value, name)
    if isinstance(origin, type) and issubclass(origin, Mapping):
        _require(isinstance(value, Mapping), declared, value, name)
        given: Mapping[str, object] = value
        return Frozen((k, fitted(parts[1], v, f"{name}[{k!r}]")) for k, v in given.items())
    kind = NoneType if declared is None else declared
    if not isinstance(kind, type):
        raise TypeError(f"In field {name!r}: Unsupported type annotation {declared!r}")
    if issubclass(kind, Common):
        return value if isinstance(value, TensorSpec) else _tensor(value, name)
    if kind in CONVERTED:
        return CONVERTED[kind](value)
    described = isinstance(value, nest.TensorGroup) and not isinstance(value, kind)
    fits = isinstance(value, kind) and (kind is bool or not isinstance(value, bool))
    _require(fits or (described and _describes(kind, value)), declared, value, name)
    return value


def _describes(kind: type, value: object) -> bool:
    found = getattr(value, "value_type", None)
    return isinstance(found, type) and issubclass(found, kind)


def _require(fits: bool, declared: Declared, value: object, name: str) -> None:
    if not fits:
        told = getattr(declared, "__name__", declared)
        raise TypeError(f"{name}: expected {told!r}, got {_type(value)}")


def _type(value: object) -> str:
    return repr(type(value).__name__)


def _tensor(value: object, name: str) -> object:
    if isinstance(value, nest.TensorGroup):
        raise TypeError(f"{name}: expected a Tensor, got {_type(value)}")
    try:
        return convert(value)
    except (TypeError, ValueError) as error:
        raise TypeError(f"{name}: expected a Tensor, got {_type(value)}") from error


def _one_of(parts: Sequence[Declared], value: object, name: str) -> object:
    """Return a value as the first of several types that takes it, exact ones before tensors."""
    refused = ""
    for part in sorted(parts, key=lambda p: isinstance(p, type) and issubclass(p, Common)):
        if part in PLAIN and type(value) is not part:
            continue
        try:
            return fitted(part, value, name)
        except TypeError as error:
            refused += f"; {error}"
    raise TypeError(f"{name}: expected one of {parts}, got {value!r}{refused}")


def _tuple_of(parts: Sequence[Declared], value: Declared, name: str) -> object:
    _require(isinstance(value, list | tuple), tuple, value, name)
    given = list(value)
    if parts[-1:] == (...,):
        parts = [parts[0]] * len(given)
    if len(parts) != len(given):
        raise TypeError(f"{name}: expected {len(parts)} values, got {len(given)}")
    pairs = enumerate(zip(parts, given, strict=True))
    return tuple(fitted(part, each, f"{name}[{i}]") for i, (part, each) in pairs)


def leaves(structure: object, kind: type) -> list[Declared]:
    """Return the leaves of a class, those of composites too."""
    return [leaf for leaf in nest.flatten(structure) if isinstance(leaf, kind)]


def with_leaves(structure: object, kind: type, parts: Sequence[object]) -> Declared:
    """Return a structure with other leaves in place of those of a class."""
    others = iter(parts)
    flat = nest.flatten(structure)
    return nest.pack(structure, [next(others) if isinstance(x, kind) else x for x in flat])


def described(value: object) -> object:
    """Return what a field is like: specs in place of tensors."""
    found = nest.described(value)
    return with_leaves(found, Common, [TensorSpec(x.shape, x.dtype) for x in leaves(found, Common)])


def static_form(value: object) -> object:
    """Return what there is of a description besides specs of tensors, for comparing."""
    if isinstance(value, Mapping):
        return tuple((key, static_form(each)) for key, each in value.items())
    if isinstance(value, list | tuple):
        return (type(value).__name__, *map(static_form, value))
    if isinstance(value, nest.TensorGroup):
        return value.form()
    return "tensor" if isinstance(value, TensorSpec | Common) else (type(value).__name__, value)
