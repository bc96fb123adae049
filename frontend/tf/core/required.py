"""What values that may be known only at run time must be like.

What is known is checked at once; of what is being staged the program takes note (`gv.require`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....ir.compose.functions import first_wrong
from ....ir.compose.maker import Maker
from ....ir.families import spec_of_value
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim
from ....ir.types.tensor import Array
from ....requirements import told_of
from ...eager.tensor import Tensor
from ...graph.inference import Abstract, is_unknown


def known(value: object) -> Array | None:
    """Return the elements of a value, None of one that is being staged or inferred."""
    if is_unknown(value) or (isinstance(value, Tensor) and (value.watched or not value.eager)):
        return None
    found = value._array if isinstance(value, Tensor) else np.asarray(value)
    return None if found.dtype.kind == "O" else found


def require(
    m: Maker, value: object, holds: Callable[[object], object], message: str, told: str = ""
) -> None:
    """Let a program require something of all elements of a value.

    `told` says it of the first element that is wrong: `{at}` is its place, `{value}` what it is.
    """
    if is_unknown(value) or (isinstance(value, Tensor) and not value.watched):
        return
    spec, inside = spec_of_value(value), holds(value)
    flat = m.reshape(inside, shape=(spec.size,))
    if isinstance(value, Tensor):  # what is noted says only that: the function itself says more
        m.require(m.all(flat, axes=(0,)), message=message)
        return
    size = math.prod(spec.static_shape) if spec.is_static else 0
    if not told or not 0 < size < rows.i32.maximum:
        m.require(m.all(flat, axes=(0,)), message=message)
        return
    place, fine = first_wrong(m, flat, spec.static_shape)
    found = m.gather(m.reshape(value, shape=(spec.size,)), place, axis=0)
    values = [m.to(each, rows.i64) for each in (place, found)]
    m.require(fine, *values, message=message, told=told, shape=spec.static_shape)


def demand(
    m: Maker,
    value: object,
    holds: Callable[[object], object],
    wrong: Callable[[Any], Any],
    told: str,
) -> None:
    """Raise where elements are not as they must be, if they are known; else require it.

    `holds` says it of values of a program, `wrong` of arrays; `told` is as for `require`.
    """
    found = known(value)
    if found is None:
        require(m, value, holds, plain_of(told), told)
        return
    bad = np.asarray(wrong(found))
    if bad.any():
        at = tuple(np.argwhere(bad)[0].tolist())
        refuse(m, IndexError(told_of(told, at, int(found[at]))), value)


def plain_of(told: str) -> str:
    """Return a message without the element that it is about.

    >>> plain_of("indices{at} = {value} is not in [0, 5)")
    'indices: an element is not in [0, 5)'
    """
    for place, what in (("{at} = {value}", "n element"), ("{at} = [{value}]", " row")):
        told = told.replace(place, f": a{what}")
    plain = told.replace(": {value}", "")
    return plain.replace("{place}", "")


def refuse(m: Maker, error: Exception, *values: object) -> None:
    """Raise what is wrong with values that are known: in the run, not while a graph is made.

    What a graph holds may stand in a branch that is not taken.
    """
    if any(isinstance(x, Abstract) for x in values):
        return
    try:
        m.require(m.constant(value=np.array(False)), message=str(error))
    except ValueError:
        raise error from None


def require_within(m: Maker, indices: object, extent: object, what: str = "indices") -> None:
    """Raise where indices are outside of an axis."""
    row = spec_of_value(indices).dtype
    if not row.is_integer or not isinstance(extent, int):
        return
    zero, end = m.number(0, row), m.number(min(extent, row.maximum), row)
    demand(
        m,
        indices,
        lambda x: m.logical_and(m.greater_equal(x, zero), m.less(x, end)),
        lambda x: (x < 0) | (x >= extent),
        f"{what}{{at}} = {{value}} is not in [0, {extent})",
    )


def require_element(m: Maker, index: object, count: Dim | None, verb: str) -> None:
    """Raise where a list has no such element; one that grows (`count` is None) has all."""
    row = spec_of_value(index).dtype
    zero, end = m.number(0, row), None if count is None else m.extent_of(count, row)
    behind = f" in a list with {count} elements" if isinstance(count, int) else " of a list"

    def holds(x: object) -> object:
        inside = m.greater_equal(x, zero)
        return inside if end is None else m.logical_and(inside, m.less(x, end))

    def wrong(x: Array) -> Array:
        return (x < 0) | (x >= count) if isinstance(count, int) else x < 0

    demand(m, index, holds, wrong, f"Trying to {verb} element {{value}}{behind}")


def require_place(m: Maker, index: object, extent: object, axis: int) -> None:
    """Raise where one element of an axis is wanted that it does not have; -1 is the last."""
    row = spec_of_value(index).dtype
    if isinstance(extent, int):
        low, end = m.number(-min(extent, row.maximum), row), m.number(extent, row)
        told = f"slice index {{value}} of dimension {axis} out of bounds"
        require(
            m,
            index,
            lambda x: m.logical_and(m.greater_equal(x, low), m.less(x, end)),
            told.replace("{value} ", ""),
            told,
        )


def require_rows(m: Maker, indices: object, extents: Sequence[object], what: str = "shape") -> None:
    """Raise where rows of indices are outside of the first axes of what has a shape."""
    spec = spec_of_value(indices)
    if not spec.dtype.is_integer:
        raise TypeError("indices are integers")
    width: Any = spec.dims[-1]
    sizes = list(extents[:width])
    if not sizes or not all(isinstance(e, int) for e in sizes) or spec.size == 0:
        return
    whole = f"{what} [{','.join(map(str, extents))}]"
    if width == 1:  # (a row is told as a whole)
        end, row = m.number(min(sizes[0], spec.dtype.maximum), spec.dtype), spec.dims[:-1]
        low = m.number(0, spec.dtype)
        demand(
            m,
            m.reshape(indices, shape=row),
            lambda x: m.logical_and(m.greater_equal(x, low), m.less(x, end)),
            lambda x: (x < 0) | (x >= sizes[0]),
            f"indices{{at}} = [{{value}}] does not index into {whole}",
        )
        return
    zero, ends = m.number(0, spec.dtype), np.array(sizes, spec.dtype.numpy)
    high = m.constant(value=ends)

    def wrong(x: Array) -> Array:
        """Say which are; each place alone is gone through far faster than all of them."""
        if all(((x[..., i] >= 0) & (x[..., i] < end)).all() for i, end in enumerate(sizes)):
            return np.zeros((), bool)
        found: Array = (x < 0) | (x >= ends)
        return found

    demand(
        m,
        indices,
        lambda x: m.logical_and(m.greater_equal(x, zero), m.less(x, high)),
        wrong,
        f"indices{{at}} = {{value}} does not index into {whole}",
    )


def require_below(m: Maker, ids: object, count: Dim) -> None:
    """Raise where a number of a segment is too high; a negative one counts for none."""
    end = m.extent_of(count, spec_of_value(ids).dtype)
    ends = f" [0, {count})" if isinstance(count, int) else ""
    demand(
        m,
        ids,
        lambda x: m.less(x, end),
        lambda x: x >= count,
        f"segment_ids{{at}} = {{value}} is out of range{ends}",
    )


def require_no_zeros(m: Maker, divisor: object) -> None:
    """Raise where an integer divisor is zero."""
    row = spec_of_value(divisor).dtype
    if row.is_integer:
        zero = m.number(0, row)
        wrong = "Integer division by zero{place}"
        demand(m, divisor, lambda x: m.not_equal(x, zero), lambda x: x == 0, wrong)


def require_no_negatives(m: Maker, exponent: object) -> None:
    """Raise where an integer exponent is negative."""
    row = spec_of_value(exponent).dtype
    if row.kind == "i":
        zero = m.number(0, row)
        wrong = "Integers to negative integer powers are not allowed: {value}{place}"
        demand(m, exponent, lambda x: m.greater_equal(x, zero), lambda x: x < 0, wrong)
