"""Operations on text: arrays of bytes, which are moved, chosen, compared and joined by Python.

The IR has no such type. What is not in the table is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.op import Array, Op
from ...ir.types.dtypes import DType, bool_
from ...ir.types.tensor import TensorSpec
from ..eager.recorded import EMIT
from ..values.dtypes import DTypeLike

TEXT = DType("string", np.dtype(object), bool_.element, "s", 15)
"""The element type of text, which the IR does not have: such values are only passed on."""

Rule = Callable[[Sequence[Any], dict[str, Any]], Any]


def _slice(xs: Sequence[Any], a: dict[str, Any]) -> Any:
    keys = []
    for start, stop, step in zip(a["starts"], a["stops"], a["steps"], strict=True):
        end = None if step < 0 and stop < 0 else stop
        keys.append(slice(start, end, step))
    return xs[0][tuple(keys)]


def _gather_nd(xs: Sequence[Any], a: dict[str, object]) -> Any:
    if a.get("batch_dims"):
        raise TypeError("text is gathered without batches only")
    return xs[0][tuple(np.moveaxis(np.asarray(xs[1]), -1, 0))]


def _each(function: Callable[..., object], kind: Any) -> Rule:
    def rule(xs: Sequence[Any], a: dict[str, Any]) -> Any:
        left, right = np.broadcast_arrays(*xs)
        made = np.empty(left.shape, object)
        for place in np.ndindex(made.shape):
            made[place] = function(left[place], right[place])
        return made.astype(kind)

    return rule


TABLE: dict[str, Rule] = {
    "gv.reshape": lambda xs, a: xs[0].reshape(a["shape"]),
    "gv.identity": lambda xs, a: xs[0],
    "gv.transpose": lambda xs, a: xs[0].transpose(a["order"]),
    "gv.gather": lambda xs, a: np.take(xs[0], np.asarray(xs[1]), axis=a.get("axis", 0)),
    "gv.gather_nd": _gather_nd,
    "gv.concat": lambda xs, a: np.concatenate(xs, axis=a["axis"]),
    "gv.slice": _slice,
    "gv.select": lambda xs, a: np.where(*xs),
    "gv.broadcast_to": lambda xs, a: np.broadcast_to(xs[0], a["shape"]),
    "gv.equal": _each(lambda x, y: x == y, bool),
    "gv.not_equal": _each(lambda x, y: x != y, bool),
    "gv.add": _each(lambda x, y: x + y, object),
}


class Text:
    """An array of text as a value of a rule."""

    __slots__ = ("array", "spec")

    def __init__(self, array: object) -> None:
        self.array: Array = np.asarray(array, object)
        self.spec = TensorSpec(TEXT, self.array.shape)

    def __array__(self, dtype: DTypeLike | None = None, copy: object = None) -> Array:
        """Return the array."""
        return self.array


def as_values(arrays: Sequence[object]) -> list[object]:
    """Return arrays as values of a rule."""
    return [Text(x) if is_text(x) else x for x in arrays]


def is_text(value: object) -> bool:
    """Say whether a value is an array of text."""
    return isinstance(value, np.ndarray) and value.dtype.kind == "O"


def emit_text(op: type[Op], *operands: object, **attributes: object) -> Any:
    """Carry an operation out at once, on text too."""
    arrays = [np.asarray(x) for x in operands]
    if not any(map(is_text, arrays)):
        return EMIT(op, *arrays, **attributes)
    rule = TABLE.get(op.name)
    if rule is None:
        raise TypeError(f"{op.name}: there is no such operation on text")
    made = np.asarray(rule(arrays, op.complete(attributes)))
    return Text(made) if made.dtype.kind == "O" else made
