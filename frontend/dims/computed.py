"""Integers of a program that are computed of its sizes: expressions of these."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from xdsl.ir import SSAValue

from ...ir.op import Op
from ...ir.ops.convert import Cast
from ...ir.ops.elementwise import Add, FloorDivide, Maximum, Minimum, Mul, Neg, Sub
from ...ir.ops.index import Gather
from ...ir.ops.layout import Extent
from ...ir.ops.structure import Constant
from ...ir.types.dims import Dim, DimExpr, maximum, minimum, symbols
from ...ir.types.tensor import Array, spec_of
from .unknown import unknown_dim

FEW = 64
"""Values of more numbers are no sizes."""
ARITHMETIC: dict[type[Op], np.ufunc] = {
    Add: np.add,
    Sub: np.subtract,
    Mul: np.multiply,
    Neg: np.negative,
    FloorDivide: np.floor_divide,
    Maximum: np.frompyfunc(maximum, 2, 1),
    Minimum: np.frompyfunc(minimum, 2, 1),
}


def expressions(value: object) -> Array | None:
    """Return the numbers of a value as sizes, None in the place of each that only the run has.

    None alone where there are many.
    """
    if not isinstance(value, SSAValue):
        found = np.asarray(value)
        return found.astype(object) if found.dtype.kind in "iu" and found.size <= FEW else None
    unknown = set[str]()

    def new(_: SSAValue, place: int) -> Dim:
        made = unknown_dim()
        unknown.add(str(made))
        return made

    made = sizes_of(value, new)
    if made is None or not unknown:
        return made
    known = [None if isinstance(d, DimExpr) and symbols(d) & unknown else d for d in made.ravel()]
    return array_of(known, made.shape)


def distance(first: object, last: object) -> int | None:
    """Return by how much one integer is above another, None if only the run has that.

    Both may be computed of one that only the run has, as `t` and `t + 1` are.
    """
    names: dict[tuple[SSAValue, int], Dim] = {}

    def element(value: SSAValue, place: int) -> Dim:
        return names.setdefault((value, place), unknown_dim())

    ends = [
        sizes_of(x, element) if isinstance(x, SSAValue) else np.asarray(x).astype(object)
        for x in (first, last)
    ]
    found = [None if x is None or x.size != 1 else x.item() for x in ends]
    low, high = found
    made = None if low is None or high is None else high - low
    return made if isinstance(made, int) else None


def array_of(sizes: list[Dim | None], shape: tuple[int, ...]) -> Array:
    """Return an array of sizes."""
    made = np.empty(len(sizes), object)
    made[:] = sizes
    return made.reshape(shape)


def is_arithmetic(op: Op) -> bool:
    """Say whether expressions are made of what an operation computes of integers."""
    return op.OF_SIZES or type(op) in (Cast, Gather, *ARITHMETIC)


def sizes_of(value: SSAValue, element: Callable[[SSAValue, int], Dim]) -> Array | None:
    """Return the numbers of a value as sizes; `element` gives those that only the run has.

    None where there are many, or the value is none of integers.
    """
    spec, owner = spec_of(value.type), value.owner
    if not spec.is_static or int(np.prod(spec.static_shape)) > FEW or spec.dtype.kind not in "iu":
        return None
    if isinstance(owner, Constant):
        return np.asarray(owner.plain_attributes()["value"]).astype(object)
    if isinstance(owner, Extent):
        return array_of([*owner.plain_attributes()["values"]], spec.static_shape)
    if isinstance(owner, Op) and is_arithmetic(owner):
        operands = [sizes_of(x, element) for x in owner.operands]
        given = [x for x in operands if x is not None]
        made = _computed(owner, given) if len(given) == len(operands) else None
        if made is not None:
            return array_of(made.ravel().tolist(), spec.static_shape)
    places = range(int(np.prod(spec.static_shape)))
    return array_of([element(value, place) for place in places], spec.static_shape)


def _computed(op: Op, given: list[Array]) -> Array | None:
    """Return what an operation computes of sizes, None if that is not known."""
    if isinstance(op, Cast):
        return given[0]
    rule = ARITHMETIC.get(type(op))
    if rule is not None:
        divides = isinstance(op, FloorDivide)
        if divides and not all(isinstance(x, int) and x for x in given[1].ravel()):
            return None  # it may be 0, of which there is no size
        return np.asarray(rule(*given), object)
    if isinstance(op, Gather):
        if any(isinstance(place, DimExpr) for place in given[1].ravel()):
            return None
        given = [given[0], given[1].astype(np.int64)]
    (made,) = op.evaluate(*given, **op.plain_attributes())
    return np.asarray(made, object)
