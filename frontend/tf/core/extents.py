"""Sizes that are values: of a program that is being made they become sizes that only the run tells.

What is computed of shapes is known as an expression of sizes; of the rest a step reads the numbers
(`gv.read_sizes`), and what follows is compiled for whatever they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.ir import SSAValue

from ....ir.compose.maker import Maker
from ....ir.ops.host.late import ReadSizes
from ....ir.types import dtypes as rows
from ....ir.types.dims import Dim
from ....ir.types.tensor import Array
from ....ir.types.values import ANY
from ...dims.computed import expressions
from .required import plain_of, require
from .values import elements


def read_extents(m: Maker, value: object, most: Sequence[Dim] = (), what: str = "") -> Any:
    """Return a tensor of integers as Python numbers, or sizes, nested as it is.

    `most` bounds numbers that only the run has, and `what` says what is wrong with one below 0.
    """
    if not isinstance(value, SSAValue):
        return elements(value).tolist()
    known = expressions(value)
    if known is None:
        return elements(value)  # which says why it is not known
    if None not in known.ravel().tolist():
        return known.tolist()
    return read(m, value, known, most, what or "a size is {value}, expected 0 or more").tolist()


def read_extent(m: Maker, value: object, most: Dim | None = None, what: str = "") -> Any:
    """Return a tensor of one integer as a Python number, or a size."""
    found = read_extents(m, value, () if most is None else (most,), what)
    while isinstance(found, list):
        (found,) = found
    return found


def read(m: Maker, value: SSAValue, known: Array, most: Sequence[Dim], what: str) -> Array:
    """Return what is known, with sizes in the place of numbers that only the run has."""
    flat = known.ravel()
    places = [place for place, each in enumerate(flat) if each is None]
    vector = m.reshape(m.to(value, rows.i64), shape=(flat.size,))
    if len(places) < flat.size:
        vector = m.gather(vector, m.constant(value=np.array(places)), axis=0)
    require(m, vector, lambda x: m.greater_equal(x, m.number(0, rows.i64)), plain_of(what), what)
    vector = m.maximum(vector, m.number(0, rows.i64))
    if most:
        vector = m.minimum(vector, m.extent(values=tuple(most)))
    found = m.emit(ReadSizes, vector, sizes=(ANY,) * len(places), most=tuple(most))
    flat[places] = expressions(found)
    return flat.reshape(known.shape)
