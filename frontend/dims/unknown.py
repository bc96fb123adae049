"""Sizes of which nothing is known: each a symbol of its own, equal to no other."""

from __future__ import annotations

from itertools import count

from ...ir.types.dims import Dim, DimExpr, symbol

_SYMBOLS = count(1)


def unknown_dim() -> DimExpr:
    """Return a size that is not known, equal to no other."""
    return symbol(f"d{next(_SYMBOLS)}")


def known_dim(dim: Dim | None) -> Dim:
    """Return a size as a number, or as a symbol: a new one of what is not known."""
    if dim is None:
        return unknown_dim()
    return dim if isinstance(dim, DimExpr) else int(dim)
