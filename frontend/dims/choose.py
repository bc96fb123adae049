"""Which of the things that might be assumed of sizes is, where an operation does not fit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ...ir import TensorSpec
from .assume import (
    Assumption,
    assumed_cut_alike,
    assumed_multiple,
    assumed_number,
    assumed_rest,
    assumed_same,
    assumed_single,
    assumed_sum,
    assumed_whatever,
    assumption_for,
    assumption_of,
    differing,
)
from .slices import Knowledge
from .symbols import Symbols


def assumption(
    error: Exception,
    specs: Sequence[TensorSpec],
    symbols: Symbols,
    arguments: Sequence[TensorSpec],
    reason: str,
) -> Assumption | None:
    """Return what to assume for an operation on these tensors to fit, None if nothing is clear.

    What says least of sizes comes first.
    """
    known, plain = Knowledge(symbols.ranges, symbols.facts), symbols.plain()
    places, pairs = _places(arguments, plain), differing(error, specs)
    found = assumed_single(error, known, reason)
    found = found or assumption_of(error, symbols.data, reason)
    found = found or assumed_cut_alike(pairs, places, reason)
    found = found or assumption_for(pairs, known, symbols.nameless, reason)
    found = found or assumed_multiple(pairs, reason) or assumed_number(error, reason)
    found = found or assumed_sum(pairs, plain, known, reason)
    found = found or assumed_same(pairs, places, reason)
    found = found or assumed_whatever(pairs, plain, reason)
    return found or assumed_rest(pairs, plain, reason)


def _places(arguments: Sequence[TensorSpec], plain: Sequence[str]) -> Mapping[str, int]:
    """Return the axis of arguments at which each size that is named stands first."""
    found: dict[str, int] = {}
    for spec in arguments:
        for axis, dim in enumerate(spec.shape or ()):
            if str(dim) in plain:
                found.setdefault(str(dim), axis)
    return found
