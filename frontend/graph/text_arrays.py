"""Operations on text: arrays of bytes, which are moved, chosen, compared and joined by Python.

The IR has no such type. What computes otherwise is refused by name.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Mapping, Sequence

import numpy as np

from ...ir.op import Array, Op
from ...ir.scalar_math import ScalarMath, UnknownStepError
from ...ir.types.tensor import TensorSpec
from ..eager.recorded import EMIT
from ..values.moving import is_moved, move
from ..values.texts import FEW, TEXT, Text


class TextMath(ScalarMath):
    """A `ScalarMath` on arrays of text."""

    def add(self, a: Array, b: Array) -> Array:
        """Join."""
        return np.asarray(JOIN(a, b), object)

    def compare(self, predicate: str, a: Array | Text, b: Array | Text) -> Array:
        """Say whether texts are equal, or differ."""
        if predicate not in ("eq", "ne"):
            raise UnknownStepError(predicate)
        if isinstance(a, Text) and isinstance(b, Text) and (a.is_long or b.is_long):
            long, other = (a, b) if len(a.row) >= len(b.row) else (b, a)
            if other.dims in ((), long.dims):
                are = long.row.are(other.row).reshape(long.dims)
                return are if predicate == "eq" else ~are
        return np.asarray(np.asarray(EQUAL(a, b), bool) == (predicate == "eq"))

    def select(self, condition: Array, a: Array, b: Array) -> Array:
        """Choose."""
        return np.asarray(np.where(condition, a, b))


TEXTS = TextMath()
JOIN, EQUAL = np.frompyfunc(operator.add, 2, 1), np.frompyfunc(operator.eq, 2, 1)


def as_values(arrays: Sequence[object]) -> list[object]:
    """Return arrays as values of a rule."""
    return [*map(as_value, arrays)]


def as_value(value: object) -> object:
    """Return an array of texts as such, anything else as it is."""
    is_array = isinstance(value, np.ndarray) and value.dtype.kind == "O"
    return Text(value) if is_array else value  # type: ignore[arg-type]


def is_text(value: object) -> bool:
    """Say whether a value is text: an array of it, or a row of bytes."""
    return isinstance(value, Text) or (isinstance(value, np.ndarray) and value.dtype.kind == "O")


def emit_text(
    op: type[Op], *operands: object, **attributes: object
) -> Text | Array | tuple[Array, ...]:
    """Carry an operation out at once, on text too."""
    given = [x if isinstance(x, Text) else np.asarray(x) for x in operands]
    if not any(map(is_text, given)):
        return EMIT(op, *given, **attributes)
    made = on_text(op, given, op.complete(attributes))
    return Text(made) if isinstance(made, np.ndarray) and made.dtype.kind == "O" else made


def on_text(
    op: type[Op], operands: Sequence[Array | Text], attributes: Mapping[str, object]
) -> Array | Text:
    """Return the result on arrays of which some are text; raise `TypeError` where there is none."""
    count = op.moved(len(operands))
    if count is not None:
        if count == 1 and isinstance(operands[0], Text):
            arrays = [np.asarray(x) for x in operands[1:]]
            if all(x.dtype != object for x in arrays):
                return moved_text(op, operands[0], arrays, attributes)
        arrays = [np.asarray(x) for x in operands]
        if is_moved(op, arrays):
            return move(op, arrays, attributes)[0]
    try:
        return np.asarray(op.scalar(TEXTS, *operands, **attributes))
    except (UnknownStepError, NotImplementedError) as error:
        raise TypeError(f"{op.name}: there is no such operation on text") from error


def moved_text(
    op: type[Op], x: Text, others: Sequence[Array], attributes: Mapping[str, object]
) -> Text:
    """Return the result of an operation that moves texts, in the form that they are in."""
    count = math.prod(x.dims)
    places = np.asarray(op.evaluate(np.arange(count).reshape(x.dims), *others, **attributes)[0])
    order = places.ravel()
    if len(order) == count and bool((order[1:] > order[:-1]).all()):
        return x.reshaped(places.shape)
    if x.is_long and len(order) >= FEW:
        return Text(x.row.taken(order), places.shape)
    return Text(x.array.ravel()[order].reshape(places.shape))


def check_on_text(
    op: type[Op], specs: Sequence[TensorSpec], attributes: Mapping[str, object]
) -> None:
    """Raise `TypeError` unless there is such an operation on text: it is tried on empty texts."""
    if op.moved(len(specs)) is None:
        kinds = [spec.dtype for spec in specs]
        empty = [np.array(b"", object) if k == TEXT else np.zeros((), k.numpy) for k in kinds]
        on_text(op, empty, attributes)
