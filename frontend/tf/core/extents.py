"""Sizes that are values: of a program that is being made they become sizes that only the run tells.

What is computed of shapes is known as an expression of sizes; of the rest a step reads the numbers
(`gv.read_sizes`), and what follows is compiled for whatever they are.
"""

from __future__ import annotations

from collections.abc import Sequence

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

WRONG = "a size is {value}, expected 0 or more"
"""What is wrong with a size below 0, where nothing else is said."""


def read_extents(
    m: Maker,
    value: object,
    most: Sequence[Dim] = (),
    what: str = "",
    likely: Sequence[int] = (),
) -> list[Dim]:
    """Return the integers of a tensor as Python numbers, or sizes, in order.

    `most` bounds numbers that only the run has, and `what` says what is wrong with one below 0.
    A program may be made for sizes that all are `likely`, if its run can go on in another one.
    """
    known = expressions(value) if isinstance(value, SSAValue) else elements(value)
    if known is None:
        known = elements(value)  # which says why it is not known
    if known.ndim > 1:
        raise TypeError(
            f"a shape must be a vector of integers, found one of shape {list(known.shape)}"
        )
    found: list[Dim] = known.ravel().tolist()
    if None not in found or not isinstance(value, SSAValue):
        return found
    made: list[Dim] = read(m, value, known, most, what or WRONG, likely).ravel().tolist()
    return made


def read_extent(
    m: Maker, value: object, most: Dim | None = None, what: str = "", likely: int | None = None
) -> Dim:
    """Return a tensor of one integer as a Python number, or a size."""
    supposed = () if likely is None else (likely,)
    (found,) = read_extents(m, value, () if most is None else (most,), what, supposed)
    return found


def read(
    m: Maker,
    value: SSAValue,
    known: Array,
    most: Sequence[Dim],
    what: str,
    likely: Sequence[int] = (),
) -> Array:
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
    more = {"likely": tuple(likely)} if likely else {}
    found = m.emit(ReadSizes, vector, sizes=(ANY,) * len(places), most=tuple(most), **more)
    flat[places] = expressions(found)
    return flat.reshape(known.shape)
