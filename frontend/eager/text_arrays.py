"""Operations on text: arrays of bytes, which are moved, chosen, compared and joined by Python.

The IR has no such type. What computes otherwise is refused by name.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import overload

import numpy as np

from ...ir.op import Array, Op
from ...ir.ops.scatter import ScatterNd
from ...ir.scalar_math import ScalarMath, UnknownStepError
from ...ir.types.tensor import TensorSpec
from ..values.moving import is_moved, move
from ..values.texts import FEW, TEXT, Text, Texts, behind_each_other, in_a_row
from .recorded import EMIT


class TextMath(ScalarMath):
    """A `ScalarMath` on arrays of text."""

    def add(self, a: Array | Text, b: Array | Text) -> Array | Text:
        """Join."""
        if isinstance(a, Text) and isinstance(b, Text) and (a.is_long or b.is_long):
            dims, one, other = spread(a, b)
            return Text(in_a_row([one, other], len(one)), dims)
        return np.asarray(JOIN(a, b), object)

    def compare(self, predicate: str, a: Array | Text, b: Array | Text) -> Array:
        """Say whether texts are equal, or differ."""
        if predicate not in ("eq", "ne"):
            raise UnknownStepError(predicate)
        if isinstance(a, Text) and isinstance(b, Text) and (a.is_long or b.is_long):
            are = alike(a, b)
            return are if predicate == "eq" else ~are
        return np.asarray(np.asarray(EQUAL(a, b), bool) == (predicate == "eq"))

    def select(self, condition: Array, a: Array | Text, b: Array | Text) -> Array | Text:
        """Choose."""
        if isinstance(a, Text) and isinstance(b, Text) and (a.is_long or b.is_long):
            return chosen(condition, a, b)
        return np.asarray(np.where(condition, a, b))


def spread(a: Text, b: Text) -> tuple[tuple[int, ...], Texts, Texts]:
    """Return the shape that two broadcast to, and the texts of each at all its places."""
    dims = np.broadcast_shapes(a.dims, b.dims)
    one, other = (x.row if x.dims == dims else x.row.taken(placed(x, dims)) for x in (a, b))
    return dims, one, other


def placed(x: Text, dims: Sequence[int], first: int = 0) -> Array:
    """Return which text, counted from some number on, stands at each place of a shape."""
    own = np.arange(first, first + math.prod(x.dims)).reshape(x.dims)
    return np.broadcast_to(own, dims).ravel()


def alike(a: Text, b: Text) -> Array:
    """Say at which places two texts are the same."""
    long, other = (a, b) if len(a.row) >= len(b.row) else (b, a)
    if other.dims in ((), long.dims):
        return long.row.are(other.row).reshape(long.dims)
    numbers = [(x.row.numbers, x.dims) for x in (a, b)]
    mine, theirs = (None if n is None else n.reshape(dims) for n, dims in numbers)
    if mine is not None and theirs is not None:
        return np.asarray(mine == theirs)
    dims, one, others = spread(a, b)
    return one.are(others).reshape(dims)


def chosen(condition: Array, a: Text, b: Text) -> Text:
    """Return the first text where a condition holds, else the second."""
    if condition.shape == a.dims == b.dims:
        return Text(a.row.where(condition, b.row), a.dims)
    dims = np.broadcast_shapes(condition.shape, a.dims, b.dims)
    holds = np.broadcast_to(condition, dims).ravel()
    order = np.where(holds, placed(a, dims), placed(b, dims, len(a.row)))
    return Text(behind_each_other([a.row, b.row]).taken(order), dims)


TEXTS = TextMath()
JOIN, EQUAL = np.frompyfunc(operator.add, 2, 1), np.frompyfunc(operator.eq, 2, 1)


def as_values(arrays: Sequence[object]) -> list[object]:
    """Return arrays as values of a rule."""
    return [*map(as_value, arrays)]


@overload
def as_value(value: Array | Text) -> Array | Text: ...
@overload
def as_value(value: object) -> object: ...
def as_value(value: object) -> object:
    """Return an array of texts as such, anything else as it is."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "O":
        return Text(value)
    return value


def is_text(value: object) -> bool:
    """Say whether a value is text: an array of it, or a row of bytes."""
    return isinstance(value, Text) or (isinstance(value, np.ndarray) and value.dtype.kind == "O")


def emit_text(
    op: type[Op], *operands: object, **attributes: object
) -> Text | Array | tuple[Array, ...]:
    """Carry an operation out at once, on text too."""
    given = [x if isinstance(x, Text) else as_value(np.asarray(x)) for x in operands]
    if Text not in [x.__class__ for x in given]:
        return EMIT(op, *given, **attributes)
    made = on_text(op, given, op.complete(attributes))
    return Text(made) if isinstance(made, np.ndarray) and made.dtype.kind == "O" else made


def on_text(
    op: type[Op], operands: Sequence[Array | Text], attributes: Mapping[str, object]
) -> Array | Text:
    """Return the result on arrays of which some are text; raise `TypeError` where there is none."""
    count = op.moved(len(operands))
    if puts(op, attributes):
        x, at, new = operands
        if isinstance(x, Text) and isinstance(new, Text):
            put = partial(op.evaluate, indices=np.asarray(at), **attributes)
            return moved_text(lambda a, b: put(a, updates=b), [x, new])
    if count is not None:
        given = [x for x in operands[:count] if isinstance(x, Text)]
        is_one_way = len(given) == count and not any(map(is_text, operands[count:]))
        if is_one_way and (count == 1 or any(x.is_long for x in given)):
            others = [np.asarray(x) for x in operands[count:]]
            return moved_text(lambda *x: op.evaluate(*x, *others, **attributes), given)
        arrays = [np.asarray(x) for x in operands]
        if is_moved(op, arrays):
            return move(op, arrays, attributes)[0]
    try:
        made = op.scalar(TEXTS, *operands, **attributes)
        return made if isinstance(made, Text) else np.asarray(made)
    except (UnknownStepError, NotImplementedError) as error:
        raise TypeError(f"{op.name}: there is no such operation on text") from error


def joined_texts(values: Sequence[object], axis: int) -> Text | None:
    """Return texts one behind the other along an axis; None: some are none, or do not fit."""
    given = [x for x in values if isinstance(x, Text)]
    if len(given) < len(values) or not given:
        return None
    rank = len(given[0].dims)
    if not -rank <= axis < rank:
        return None
    at = axis % rank
    around = [(x.dims[:at], x.dims[at + 1 :]) for x in given]
    if around.count(around[0]) < len(around):
        return None
    if not any(x.is_long for x in given):
        return Text(np.concatenate([x.array for x in given], at))
    if math.prod(given[0].dims[:at]) != 1:
        return None
    count = sum(x.dims[at] for x in given)
    before, behind = around[0]
    return Text(behind_each_other([x.row for x in given]), (*before, count, *behind))


def stacked_texts(values: Sequence[object], axis: int) -> Text | None:
    """Return texts of one shape behind each other along a new axis; None: some are none."""
    if Text not in [x.__class__ for x in values]:
        return None
    given = [x for x in values if isinstance(x, Text)]
    lines = [x.reshaped((*x.dims[:axis], 1, *x.dims[axis:])) for x in given]
    return joined_texts(lines, axis) if len(given) == len(values) else None


def puts(op: type[Op], attributes: Mapping[str, object]) -> bool:
    """Say whether an operation puts elements in the place of others, and computes none."""
    return op is ScatterNd and attributes.get("reduction") == "none"


def moved_text(moving: Callable[..., Sequence[Array]], given: Sequence[Text]) -> Text:
    """Return what comes of moving texts, in the form that they are in; numbers are moved first."""
    count, numbers = 0, []
    for x in given:
        before, count = count, count + math.prod(x.dims)
        numbers.append(np.arange(before, count).reshape(x.dims))
    places = np.asarray(moving(*numbers)[0])
    order = places.ravel()
    is_whole = len(order) == count and bool((order[1:] > order[:-1]).all())
    if is_whole and len(given) == 1:
        return given[0].reshaped(places.shape)
    if len(order) >= FEW:
        row = behind_each_other([x.row for x in given])
        return Text(row if is_whole else row.taken(order), places.shape)
    if len(given) == 1:
        return Text(given[0].array.ravel()[order].reshape(places.shape))
    return Text(np.concatenate([x.array.ravel() for x in given])[order].reshape(places.shape))


def check_on_text(
    op: type[Op], specs: Sequence[TensorSpec], attributes: Mapping[str, object]
) -> None:
    """Raise `TypeError` unless there is such an operation on text: it is tried on empty texts."""
    if op.moved(len(specs)) is None and not puts(op, attributes):
        kinds = [spec.dtype for spec in specs]
        empty = [np.array(b"", object) if k == TEXT else np.zeros((), k.numpy) for k in kinds]
        on_text(op, empty, attributes)
