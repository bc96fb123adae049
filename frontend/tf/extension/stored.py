"""Descriptions of extension types in what is saved: by the name that a class gives itself.

Where no class of that name is there when it is loaded, values are anonymous: they have the fields.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping
from weakref import WeakValueDictionary

from ...function.graph_data import GraphTextError, NotSerialisableError
from ..core.element_types import TfDataType, as_dtype
from ..core.shapes import TensorShape
from ..core.specs import TensorSpec
from ..nondense.composite import CompositeSpec
from .fields import Declared, Frozen

NAME = re.compile(r"^\w[\w-]*(\.\w[\w-]*)+$")
REGISTERED: WeakValueDictionary[str, type] = WeakValueDictionary()
"""The classes of values by the names that they give themselves."""


def register(kind: type) -> None:
    """Take note of a class that has a `__name__` of its own.

    Raises `ValueError` where the name has no dot, or another class has it.
    """
    name = vars(kind).get("__name__")
    if name is None:
        return
    if not isinstance(name, str) or not NAME.match(name):
        raise ValueError(
            "Registered name must have the form '{project_name}.{type_name}' "
            f"(e.g. 'my_project.MyTypeSpec'); got {name!r}."
        )
    other = REGISTERED.get(name)
    if other is not None:
        raise ValueError(f"Name {name} has already been registered for class {other}.")
    REGISTERED[name] = kind


def written(kind: type, held: Mapping[str, object]) -> Hashable:
    """Return the name of a class and its fields as plain tuples."""
    name = vars(kind).get("__name__")
    if not isinstance(name, str):
        raise NotSerialisableError(
            f"a {kind.__qualname__} has no name that loading finds it by: give the class a "
            "`__name__` such as 'project.Type'"
        )
    return name, _written(dict(held))


def _written(value: object) -> Hashable:
    """Return a field with a mark of what it is."""
    if isinstance(value, TensorSpec):
        dims = None if value.shape.rank is None else tuple(value.shape.as_list())
        return "tensor", dims, value.dtype.name, value.name
    if isinstance(value, CompositeSpec):
        return "composite", value
    if isinstance(value, tuple):
        return ("tuple", *map(_written, value))
    if isinstance(value, Mapping):
        return ("mapping", *((key, _written(each)) for key, each in value.items()))
    if isinstance(value, TensorShape):
        return "shape", None if value.rank is None else tuple(value.as_list())
    if isinstance(value, TfDataType):
        return "dtype", value.name
    return "plain", value


def read(data: Declared) -> object:
    """Return a field of what it was written as."""
    kind, parts = data[0], data[1:]
    if kind == "tensor":
        return TensorSpec(*parts)
    if kind == "shape":
        return TensorShape(*parts)
    if kind == "dtype":
        return as_dtype(*parts)
    if kind == "tuple":
        return tuple(map(read, parts))
    if kind == "mapping":
        return Frozen((key, read(each)) for key, each in parts)
    if kind not in ("composite", "plain"):
        raise GraphTextError(f"a field {data!r} of an extension type")
    [value] = parts
    found: object = value
    return found
