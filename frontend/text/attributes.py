"""Attributes of calls: values of the kinds that an operation's `infer` says it takes."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from functools import cache

from ...ir import DimExpr, DType, Op, Symbol

_KINDS: dict[str, tuple[str, Callable[[object], bool]]] = {
    "int": ("a whole number", lambda v: isinstance(v, int) and not isinstance(v, bool)),
    "float": ("a number", lambda v: isinstance(v, int | float) and not isinstance(v, bool)),
    "bool": ("true or false", lambda v: isinstance(v, bool)),
    "str": ("a text", lambda v: isinstance(v, str)),
    "DType": ("an element type", lambda v: isinstance(v, DType)),
    "Symbol": ("a name as text", lambda v: isinstance(v, str)),
    "Dim": ("a dimension", lambda v: isinstance(v, int | DimExpr) and not isinstance(v, bool)),
}
_LIST = re.compile(r"(?:tuple|Sequence)\[(\w+), \.\.\.\]|Sequence\[(\w+)\]")


def coerced(op: type[Op], attributes: dict[str, object]) -> dict[str, object]:
    """Return the attributes as `infer` wants them, or raise `TypeError`."""
    kinds = _annotations(op)
    return {name: _coerced(name, value, kinds.get(name, "")) for name, value in attributes.items()}


@cache
def _annotations(op: type[Op]) -> dict[str, str]:
    parameters = inspect.signature(op.infer).parameters.values()
    return {p.name: str(p.annotation).removesuffix(" | None") for p in parameters}


def _coerced(name: str, value: object, kind: str) -> object:
    """Return one attribute; of kinds that are not in the table, lists and plain values."""
    match = _LIST.fullmatch(kind)
    if match is not None:
        inner = match[1] or match[2]
        if not isinstance(value, tuple):
            raise TypeError(f"attribute {name} is {_shown(value)}, expected a list")
        return tuple(_coerced(name, item, inner) for item in value)
    if kind in _KINDS:
        wanted, fits = _KINDS[kind]
        if not fits(value):
            raise TypeError(f"attribute {name} is {_shown(value)}, expected {wanted}")
        return {"float": float, "Symbol": Symbol}.get(kind, _itself)(value)
    if not _is_plain(value, floats="float" in kind):
        raise TypeError(f"attribute {name} is no value of this kind")
    return value


def _itself(value: object) -> object:
    return value


def _is_plain(value: object, *, floats: bool) -> bool:
    if isinstance(value, tuple):
        return all(_is_plain(item, floats=floats) for item in value)
    return isinstance(value, bool | int | str | DType | DimExpr) or (
        floats and isinstance(value, float)
    )


def _shown(value: object) -> str:
    if isinstance(value, tuple):
        return "a list"
    return repr(value) if isinstance(value, int | float | str) else type(value).__name__.lower()
