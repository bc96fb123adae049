"""What is known of values at compile time."""

from __future__ import annotations

from typing import Any

from xdsl.ir import Operation, SSAValue

from ...ir import Array, DimExpr, Op
from ...ir.ops.structure import Constant, Weight


def constant_of(value: SSAValue) -> Array | None:
    """Return the elements of a `gv.constant`, None for any other value."""
    owner = value.owner
    if type(owner) is not Constant:
        return None
    array: Array = owner.properties["value"].data.array  # type: ignore[attr-defined]
    return array


def scalar_of(value: SSAValue) -> Any:
    """Return the one value that all elements of a constant have, as a Python number, or None.

    Constants of many elements count only if they are stored as a splat.
    """
    owner = value.owner
    if type(owner) is not Constant:
        return None
    elements = owner.properties["value"].data  # type: ignore[attr-defined]
    array: Array = elements.array
    if array.size == 1 or elements.is_splat:
        first = array[(0,) * array.ndim]
        return float(first) if first.dtype.kind == "V" else first.item()
    return None


def is_scalar(value: SSAValue, number: float) -> bool:
    """Say whether all elements of a constant are this number."""
    found = scalar_of(value)
    return found is not None and not isinstance(found, complex) and bool(found == number)


def has_symbols(attribute: Any) -> bool:
    """Say whether a plain attribute holds a symbolic dimension."""
    if isinstance(attribute, tuple):
        return any(map(has_symbols, attribute))
    return isinstance(attribute, DimExpr)


class Known:
    """Tells which values are fixed once the weights are, with an answer per value kept.

    A value is fixed if it is a constant or a weight, or made of such by pure operations.
    """

    def __init__(self) -> None:
        self._fixed: dict[SSAValue, bool] = {}

    def is_fixed(self, value: SSAValue) -> bool:
        """Say whether the value depends on no argument of the function."""
        found = self._fixed.get(value)
        if found is not None:
            return found
        owner = value.owner
        found = (
            isinstance(owner, Op)
            and owner.PURE
            and not owner.regions
            and all(self.is_fixed(operand) for operand in owner.operands)
        )
        self._fixed[value] = found
        return found


def is_weight(op: Operation) -> bool:
    """Say whether the operation names a weight."""
    return type(op) is Weight
