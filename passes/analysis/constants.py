"""What is known of values at compile time."""

from __future__ import annotations

from typing import Any

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Block, SSAValue

from ...ir import Array, DimExpr, Op, operands_of, operations
from ...ir.ops.structure import Constant, Weight
from ...ir.types.attributes import DimAttr, to_python
from ...ir.types.tensor import DimsAttr


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


CHANGING, CONSTANT, WEIGHT = 0, 1, 2
"""How a value depends on the call: it may differ from call to call, or is a constant, or is
fixed by constants and at least one weight."""


class Known:
    """Tells which values are fixed once the weights are; an answer is kept for each value.

    A value is fixed if it is a constant or a weight, or made of such by pure operations
    without symbolic dimensions.
    """

    def __init__(self) -> None:
        self._kinds: dict[SSAValue, int] = {}

    def sweep(self, block: Block) -> None:
        """Find the kinds of all values of a block, in order and so without recursion."""
        for op in operations(block):
            for result in op.results:
                self.kind(result)

    def kind(self, value: SSAValue) -> int:
        """Return CHANGING, CONSTANT or WEIGHT."""
        found = self._kinds.get(value)
        if found is not None:
            return found
        waiting = [value]  # not by recursion: chains may be long
        while waiting:
            missing = self._settle(waiting[-1])
            if not missing:
                waiting.pop()
            waiting += missing
        return self._kinds[value]

    def is_fixed(self, value: SSAValue) -> bool:
        """Say whether the value depends on no argument of the function."""
        return self.kind(value) != CHANGING

    def _settle(self, value: SSAValue) -> list[SSAValue]:
        """Note the kind of a value; return the operands whose kinds must be known first."""
        owner, found = value.owner, CHANGING
        if type(owner) is Weight:
            found = WEIGHT
        elif isinstance(owner, Op) and owner.PURE and not owner.regions:
            operands = operands_of(owner)
            kinds = [self._kinds.get(operand) for operand in operands]
            if CHANGING not in kinds:
                if None in kinds:
                    return [v for v in operands if v not in self._kinds]
                static = all(result.is_static for result in owner.result_specs)
                if static and not _is_symbolic(owner):
                    found = max((kind for kind in kinds if kind is not None), default=CONSTANT)
        self._kinds[value] = found
        return []


def _is_symbolic(op: Op) -> bool:
    return any(
        isinstance(a, DimAttr | DimsAttr | ArrayAttr) and has_symbols(to_python(a))
        for a in op.properties.values()
    )
