"""Integers of a program that are computed of its sizes: expressions of these."""

from __future__ import annotations

import numpy as np
from xdsl.ir import SSAValue

from ...ir.op import Op
from ...ir.ops.convert import Cast
from ...ir.ops.elementwise import Add, Mul, Sub
from ...ir.ops.layout import Extent
from ...ir.ops.structure import Constant
from ...ir.types.dims import Dim, DimExpr, symbols
from ...ir.types.tensor import Array, spec_of
from .unknown import unknown_dim

FEW = 64
"""Values of more numbers are no sizes."""
ARITHMETIC: dict[type[Op], np.ufunc] = {Add: np.add, Sub: np.subtract, Mul: np.multiply}


def expressions(value: object) -> Array | None:
    """Return the numbers of a value as sizes, None in the place of each that only the run has.

    None alone where there are many.
    """
    if not isinstance(value, SSAValue):
        found = np.asarray(value)
        return found.astype(object) if found.dtype.kind in "iu" and found.size <= FEW else None
    unknown = set[str]()
    made = _expressions(value, unknown)
    if made is None or not unknown:
        return made
    known = [None if isinstance(d, DimExpr) and symbols(d) & unknown else d for d in made.ravel()]
    return array_of(known, made.shape)


def array_of(sizes: list[Dim | None], shape: tuple[int, ...]) -> Array:
    """Return an array of sizes."""
    made = np.empty(len(sizes), object)
    made[:] = sizes
    return made.reshape(shape)


def _expressions(value: SSAValue, unknown: set[str]) -> Array | None:
    """Return numbers as sizes, with new symbols in the place of those that only the run has."""
    spec, owner = spec_of(value.type), value.owner
    if not spec.is_static or int(np.prod(spec.static_shape)) > FEW or spec.dtype.kind not in "iu":
        return None
    if isinstance(owner, Constant):
        return np.asarray(owner.plain_attributes()["value"]).astype(object)
    if isinstance(owner, Extent):
        return array_of([*owner.plain_attributes()["values"]], spec.static_shape)
    if isinstance(owner, Op) and (owner.OF_SIZES or type(owner) in (Cast, *ARITHMETIC)):
        operands = [_expressions(x, unknown) for x in owner.operands]
        given = [x for x in operands if x is not None]
        if len(given) == len(operands):
            if isinstance(owner, Cast):
                return given[0]
            rule = ARITHMETIC.get(type(owner))
            (made,) = [rule(*given)] if rule else owner.evaluate(*given, **owner.plain_attributes())
            return array_of(np.asarray(made, object).ravel().tolist(), spec.static_shape)
    new = [unknown_dim() for _ in range(int(np.prod(spec.static_shape)))]
    unknown |= {str(dim) for dim in new}
    return array_of([*new], spec.static_shape)
