"""`Sample`: one use of an operation that the generated tests try on every path."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .types.dtypes import DType, f32


@dataclass(frozen=True)
class Sample:
    """Operand shapes, attributes and the dtypes to try them with."""

    shapes: tuple[tuple[int, ...], ...]
    attributes: dict[str, Any] = field(default_factory=dict)
    dtypes: tuple[DType, ...] = (f32,)
    operand_dtypes: tuple[DType | None, ...] = ()
    """The dtype of each operand where it is not the one under test (indices, conditions)."""
    low: float = -2.0
    high: float = 2.0
    """Operand values are drawn from this range (clipped to the dtype's)."""
    ranges: tuple[tuple[float, float] | None, ...] = ()
    """Ranges for single operands."""
    differentiable: bool = True
    tolerance: float = 0.0
    """Relative tolerance of compiled code against `evaluate`, 0 for the dtype's default."""
