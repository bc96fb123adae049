"""What sizes must be for operations to mean something, said once: `infer` calls `at_most`.

Where the sizes are numbers, what is wrong is an error at once. Where one is a symbol, it is a
demand of the run: whoever asks for the `demands` of an operation gets what its `infer` noted.

    >>> from gravure.ir.types.dims import symbol
    >>> with noted() as demands:
    ...     at_most(5, symbol("N"), lambda: "k 5, expected at most N")
    >>> str(demands[0])
    '5 <= N'
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from .op import Op
from .types.dims import Dim, DimExpr, bounds, minimum
from .types.tensor import TensorSpec


@dataclass(frozen=True)
class Demand:
    """`small <= large`; else what the text says is wrong."""

    small: Dim
    large: Dim
    text: str

    @property
    def spare(self) -> Dim:
        """Return what must be at least 0."""
        return self.large - self.small

    def __str__(self) -> str:
        return f"{self.small} <= {self.large}"


_NOTED: ContextVar[list[Demand] | None] = ContextVar("demands that are noted", default=None)


@contextmanager
def noted() -> Iterator[list[Demand]]:
    """Give the list of what is demanded of sizes meanwhile."""
    found: list[Demand] = []
    token = _NOTED.set(found)
    yield found
    _NOTED.reset(token)


def at_most(small: Dim, large: Dim, text: str | Callable[[], str]) -> None:
    """Raise `TypeError` with a text if one size is over another; note it if a run must tell."""
    spare = large - small
    if isinstance(spare, int):
        if spare < 0:
            raise TypeError(text if isinstance(text, str) else text())
        return
    found = _NOTED.get()
    if found is not None and bounds(spare, {})[0] < 0:
        found.append(Demand(small, large, text if isinstance(text, str) else text()))


def same(one: Dim, other: Dim, text: str | Callable[[], str]) -> None:
    """Raise `TypeError` with a text if two sizes differ; note it if a run must tell."""
    at_most(one, other, text)
    at_most(other, one, text)


def may_equal(one: Dim, other: Dim) -> bool:
    """Say whether two sizes may be equal: quotients and the like are given the benefit."""
    difference = one - other
    if isinstance(difference, int):
        return difference == 0
    return any(atom.op for monomial, _ in difference.terms for atom in monomial)


def expect_elements(axis: int, extent: Dim, count: Dim, purpose: str) -> None:
    """Demand elements along an axis where so many are made of them; `{}` is their number."""
    if count == 0 or (isinstance(extent, int) and extent > 0):
        return
    wanted = 1 if isinstance(count, int) else minimum(1, count)
    text = f"axis {axis} is empty, expected elements {purpose.format(count)}"
    at_most(wanted, extent, text)


def demands_of(op: Op) -> list[Demand]:
    """Return what a run must find of the sizes of an operation, results not below 0 included."""
    if op.HOST is not None or op.regions or not _is_open(op):
        return []
    with noted() as found:
        op.infer(*op.specs, **op.plain_attributes())
    for spec in op.result_specs:
        for axis, dim in enumerate(spec.shape or ()):
            if isinstance(dim, DimExpr):
                at_least_none(found, dim, axis)
    return list(dict.fromkeys(found))


def _is_open(op: Op) -> bool:
    return not all(
        isinstance(spec, TensorSpec) and spec.is_static for spec in (*op.specs, *op.result_specs)
    )


def at_least_none(found: list[Demand], dim: Dim, axis: int) -> None:
    """Note that a result may not have fewer than no elements along an axis."""
    if bounds(dim, {})[0] < 0:
        found.append(Demand(0, dim, f"a result of {dim} elements along axis {axis}"))
