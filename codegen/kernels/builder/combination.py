"""Small linear combinations of vectors, by few operations: what Winograd's transforms are made of.

    [ 0 -4 -4  1  1  0 ]       even = d4 - 4 d2        e + o
    [ 0  4 -4 -1  1  0 ]  d    odd  = d3 - 4 d1   =>   e - o

Two rows that differ in signs alone share their halves; two columns that do share the sum and the
difference of their values.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

import numpy as np

from .elements import Element, LoopsMath

Matrix: TypeAlias = "np.ndarray[Any, np.dtype[np.float64]]"


def combine(math: LoopsMath, matrix: Matrix, values: Sequence[Element]) -> list[Element]:
    """Return the product of a matrix and a column of vectors."""
    return Combination(math).rows(*Combination(math).columns(matrix, values))


class Combination:
    """Emits sums of vectors with constant factors."""

    def __init__(self, math: LoopsMath) -> None:
        self.math = math

    def columns(self, matrix: Matrix, values: Sequence[Element]) -> tuple[Matrix, list[Element]]:
        """Replace two values by their sum and difference where that leaves fewer factors."""
        matrix, made = matrix.copy(), list(values)
        for i, j in pairs(matrix.T):
            even, odd = halves(matrix.T, i, j)
            if np.count_nonzero(even) + np.count_nonzero(odd) > 2:
                made[i], made[j] = (
                    self.math.add(values[i], values[j]), self.math.sub(values[i], values[j]),
                )  # fmt: skip
                matrix[:, i], matrix[:, j] = even, odd
        return matrix, made

    def rows(self, matrix: Matrix, values: Sequence[Element]) -> list[Element]:
        """Return the sums of all rows."""
        made: dict[int, Element] = {}
        for i, j in pairs(matrix):
            even, odd = halves(matrix, i, j)
            factor = float(abs(odd[odd != 0]).min())
            near, far = self.sum(even, values), self.sum(odd / factor, values)
            made[i], made[j] = self.plus(far, factor, near), self.plus(far, -factor, near)
        return [made[i] if i in made else self.sum(row, values) for i, row in enumerate(matrix)]

    def sum(self, row: Matrix, values: Sequence[Element]) -> Element:
        """Return one sum, from a value without a factor on."""
        terms = [(float(f), v) for f, v in zip(row, values, strict=True) if f]
        first = next((n for n, (f, _) in enumerate(terms) if f == 1), 0)
        factor, total = terms.pop(first)
        if factor != 1:
            total = self.math.mul(total, self.constant(factor, total))
        for factor, value in terms:
            total = self.plus(value, factor, total)
        return total

    def plus(self, x: Element, factor: float, y: Element) -> Element:
        """Return x * factor + y."""
        if factor == 1:
            return self.math.add(y, x)
        if factor == -1:
            return self.math.sub(y, x)
        return self.math.fma(x, self.constant(factor, x), y)

    def constant(self, value: float, like: Element) -> Element:
        """Return a constant in every lane."""
        return self.math.spread(self.math.constant(value, like.dtype), like.lanes)


def pairs(matrix: Matrix) -> Iterator[tuple[int, int]]:
    """Yield rows that differ in some of their signs, each once."""
    taken: set[int] = set()
    for i, j in np.argwhere(np.triu(np.ones((len(matrix),) * 2), 1)).tolist():
        alike = bool((abs(matrix[i]) == abs(matrix[j])).all())
        if (
            alike
            and taken.isdisjoint((i, j))
            and abs(matrix[i] @ matrix[j]) < matrix[i] @ matrix[i]
        ):
            taken |= {i, j}
            yield i, j


def halves(matrix: Matrix, i: int, j: int) -> tuple[Matrix, Matrix]:
    """Return what two rows have in common, and what one adds and the other takes away."""
    return (matrix[i] + matrix[j]) / 2, (matrix[i] - matrix[j]) / 2


__all__ = ["combine"]
