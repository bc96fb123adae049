"""What values that may be known only at run time must be like.

What is known is checked at once; of what is being staged the program takes note (`gv.require`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...ir.compositions import Maker
from ...ir.ops.families import spec_of_value
from ...ir.tensor import Array
from ..abstract import is_unknown
from ..tensor import Tensor


def known(value: Any) -> Array | None:
    """Return the elements of a value, None of one that is being staged or inferred."""
    if is_unknown(value) or (isinstance(value, Tensor) and (value.watched or not value.eager)):
        return None
    found = value._array if isinstance(value, Tensor) else np.asarray(value)
    return None if found.dtype.kind == "O" else found


def require(m: Maker, value: Any, holds: Callable[[Any], Any], message: str) -> None:
    """Let a program require something of all elements of a value."""
    if is_unknown(value) or (isinstance(value, Tensor) and not value.watched):
        return
    flat = m.reshape(value, shape=(spec_of_value(value).size,))
    m.require(m.all(holds(flat), axes=(0,)), message=message)


def require_within(m: Maker, indices: Any, extent: Any, what: str = "indices") -> None:
    """Raise where indices are outside of an axis."""
    row = spec_of_value(indices).dtype
    if not row.is_integer or not isinstance(extent, int):
        return
    found = known(indices)
    if found is None:
        zero, end = m.number(0, row), m.number(min(extent, row.maximum), row)
        require(
            m,
            indices,
            lambda x: m.logical_and(m.greater_equal(x, zero), m.less(x, end)),
            f"{what} are not in [0, {extent})",
        )
    elif found.size and not (found.min() >= 0 and found.max() < extent):
        wrong = found.max() if found.max() >= extent else found.min()
        raise IndexError(f"{what} = {wrong} is not in [0, {extent})")


def require_rows(m: Maker, indices: Any, extents: Sequence[Any]) -> None:
    """Raise where rows of indices are outside of the first axes."""
    spec = spec_of_value(indices)
    if not spec.dtype.is_integer:
        raise TypeError("indices are integers")
    width: Any = spec.dims[-1]
    found, sizes = known(indices), list(extents[:width])
    if not all(isinstance(e, int) for e in sizes) or spec.size == 0:
        return
    message = f"does not index into shape {list(extents)}"
    ends = np.array(sizes, spec.dtype.numpy)
    if found is None:
        if sizes and not is_unknown(indices):
            inside = m.logical_and(
                m.greater_equal(indices, m.number(0, spec.dtype)),
                m.less(indices, m.constant(value=ends)),
            )
            require(m, inside, lambda x: x, f"indices: {message}")
        return
    wrong = np.argwhere(((found < 0) | (found >= ends)).any(-1))
    if len(wrong):
        at = tuple(wrong[0].tolist())
        raise IndexError(f"indices[{', '.join(map(str, at))}] = {found[at].tolist()} {message}")


def require_below(m: Maker, ids: Any, count: int) -> None:
    """Raise where a number of a segment is too high; a negative one counts for none."""
    found, row = known(ids), spec_of_value(ids).dtype
    if found is None:
        end = m.number(count, row)
        require(m, ids, lambda x: m.less(x, end), f"segment ids are out of range [0, {count})")
    elif found.size and found.max() >= count:
        raise IndexError(f"segment_ids = {found.max()} is out of range [0, {count})")


def require_no_zeros(m: Maker, divisor: Any) -> None:
    """Raise where an integer divisor is zero."""
    found, row = known(divisor), spec_of_value(divisor).dtype
    message = "Integer division by zero"
    if not row.is_integer:
        return
    if found is None:
        require(m, divisor, lambda x: m.not_equal(x, m.number(0, row)), message)
    elif not found.all():
        raise TypeError(message)


def require_no_negatives(m: Maker, exponent: Any) -> None:
    """Raise where an integer exponent is negative."""
    found, row = known(exponent), spec_of_value(exponent).dtype
    message = "Integers to negative integer powers are not allowed"
    if row.kind != "i":
        return
    if found is None:
        require(m, exponent, lambda x: m.greater_equal(x, m.number(0, row)), message)
    elif (found < 0).any():
        raise TypeError(message)
