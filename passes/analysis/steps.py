"""Which steps the formula of an element takes: it is run on a `math` that only counts."""

from __future__ import annotations

from typing import Any

from ...ir import DType, Op
from ...ir.facts import Work
from ...ir.scalar_math import FUNCTIONS, ROOTS, ScalarMath
from ...ir.types import dtypes


def counted(op: Op) -> CountingMath:
    """Return what the formula of an element-wise operation asks for."""
    counter = CountingMath()
    type(op).scalar(counter, *(spec.dtype for spec in op.specs), **op.plain_attributes())
    return counter


class CountingMath(ScalarMath):
    """A `ScalarMath` whose elements are their types, and which counts what it is asked for."""

    def __init__(self) -> None:
        self.counts: dict[str, int] = {}

    def step(self, name: str, *values: Any) -> DType:
        """Count a step."""
        self.counts[name] = self.counts.get(name, 0) + 1
        return next((v for v in values if isinstance(v, DType)), dtypes.f32)

    def constant(self, value: Any, dtype: DType) -> DType:
        """Return the type: constants cost nothing."""
        return dtype

    def cast(self, x: DType, dtype: DType) -> DType:
        """Return the new type."""
        return dtype

    def dtype_of(self, x: DType) -> DType:
        """Return the type."""
        return x

    def compare(self, predicate: str, a: DType, b: DType) -> DType:
        """Count a comparison."""
        self.counts["compare"] = self.counts.get("compare", 0) + 1
        return dtypes.bool_

    def select(self, condition: DType, a: DType, b: DType) -> DType:
        """Count a choice."""
        self.counts["select"] = self.counts.get("select", 0) + 1
        return a

    @property
    def functions(self) -> int:
        """Return how many functions are called, roots aside."""
        return sum(number for name, number in self.counts.items() if name in FUNCTIONS)

    def times(self, elements: int) -> Work:
        """Return what was counted, so many times."""
        flops = functions = 0
        for name, number in self.counts.items():
            if name in FUNCTIONS or name in ROOTS:
                functions += number
            else:
                flops += number * (2 if name == "fma" else 1)
        return Work(flops=flops * elements, functions=functions * elements)
