"""How values of other classes become tensors: by what they say, or by a function for their class.

A variable and what else is ours has `__gv_tensor__`; a class of a user's may have
`__tf_tensor__(dtype, name)`, or one registers a function for it, which is asked first: classes of
users that are variables, too, may hold their values elsewhere.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from .tensor import Tensor

Conversion: TypeAlias = Callable[..., object]
"""`conversion(value, dtype=, name=, as_ref=)` gives a tensor, or NotImplemented."""

CONVERSIONS: list[tuple[int, tuple[type, ...], Conversion]] = []
"""Priority, classes and function of what is registered; the lowest priority comes first."""


def register_tensor_conversion_function(
    base_type: type | tuple[type, ...], conversion_func: Conversion, priority: int = 100
) -> None:
    """Let a function make tensors of the values of some classes."""
    kinds = base_type if isinstance(base_type, tuple) else (base_type,)
    if not all(isinstance(kind, type) for kind in kinds):
        raise TypeError(
            f"Argument `base_type` must be a type or a tuple of types. Obtained: {base_type}"
        )
    if any(issubclass(kind, numbers.Real | np.ndarray | np.generic) for kind in kinds):
        raise TypeError("Cannot register conversions for Python numeric types and NumPy scalars.")
    if not callable(conversion_func):
        raise TypeError(f"Argument `conversion_func` must be callable. Received {conversion_func}.")
    CONVERSIONS.append((priority, kinds, conversion_func))
    CONVERSIONS.sort(key=lambda entry: entry[0])


def _registered(value: object) -> list[Conversion]:
    """Return the functions that are registered for a value, which come before what it says."""
    return [function for _, kinds, function in CONVERSIONS if isinstance(value, kinds)]


def is_asked(value: object) -> bool:
    """Say whether a value gives a tensor of the type that it is asked for, by a user's function."""
    if isinstance(value, Tensor | np.ndarray):
        return False
    if hasattr(value, "__tf_tensor__"):
        return not isinstance(value, type)
    return bool(CONVERSIONS and _registered(value))


def is_read(value: object) -> bool:
    """Say whether a value is no tensor, but gives one."""
    return hasattr(value, "__gv_tensor__") or is_asked(value)


def read(value: object, dtype: object = None, name: str | None = None) -> object:
    """Return what a value is read as, which is itself where nothing says how."""
    if CONVERSIONS and not isinstance(value, Tensor):
        for function in _registered(value):
            made = function(value, dtype=dtype, name=name, as_ref=False)
            if made is not NotImplemented:
                return _checked(value, made, dtype)
    own = getattr(value, "__gv_tensor__", None)
    if own is not None:
        found: object = own()
        return found
    protocol = getattr(value, "__tf_tensor__", None)
    if protocol is None or isinstance(value, type):
        return value
    return _checked(value, protocol(dtype, name), dtype)


def _checked(value: object, found: object, dtype: object) -> object:
    """Return a tensor that a user's function made, or raise where it is none of that type."""
    made = found if isinstance(found, Tensor) else read(found) if is_read(found) else found
    if not isinstance(made, Tensor):
        raise RuntimeError(f"A conversion of {type(value)} returned non-Tensor: {found!r}")
    actual = getattr(made, "dtype", None)
    if dtype is not None and actual != dtype:
        raise RuntimeError(
            f"A conversion of {type(value)} returned incompatible dtype: requested = "
            f"{getattr(dtype, 'name', dtype)}, actual = {getattr(actual, 'name', actual)}"
        )
    return found
