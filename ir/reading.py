"""`Reading`: the vocabulary in which an operation says which elements it reads, and what of them.

The rule `element_at` of an operation gets a reading, the index of an element of its result, and its
operands. One reading only notes what is read, before there are loops; another makes the code.
So the rule is a straight line: what it does may depend on attributes and shapes, not on elements.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from xdsl.ir import SSAValue

from .types.dims import Dim
from .types.dtypes import DType
from .types.indices import Indices, Linear


class Reading(Protocol):
    """Elements of operands at indices, and numbers made of indices and sizes."""

    @property
    def math(self) -> Any:
        """Return the `ScalarMath` of the elements."""

    def element(self, value: SSAValue, index: Indices, /) -> Any:
        """Return the element of an operand at an index."""

    def counted(self, index: Linear, dtype: DType, /) -> Any:
        """Return an index as an element of a type."""

    def size(self, dim: Dim, /) -> Any:
        """Return a dimension as an element of i64."""

    def place(self, at: Any, extent: Dim, /) -> Linear:
        """Return an element of i64 as an index, which is moved into 0 .. extent-1."""

    def picked(self, at: Any, extent: Dim, /) -> Linear:
        """Return an integer of data as an index: counted from the end if negative, then clamped."""

    def within(
        self, value: SSAValue, index: Indices, guarded: Sequence[bool], fill: float, /
    ) -> Any:
        """Return the element at an index, `fill` where a guarded part of it is outside."""
