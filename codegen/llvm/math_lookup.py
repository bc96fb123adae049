"""Odd functions of floats by tables that lie in registers: with AVX-512, 32 entries a lookup."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from .math_lanes import Lanes
from .math_tables import Lookup
from .text import number

_LOOK_UP = "llvm.x86.avx512.vpermi2var.ps.512"
_HALF = 16


@lru_cache(maxsize=64)
def _constant(values: Sequence[float]) -> str:
    """Return floats as a constant vector."""
    return "<" + ", ".join("float " + number("float", value) for value in values) + ">"


def look_up(lanes: Lanes, index: str, row: tuple[float, ...]) -> str:
    """Return for each lane the entry of a row of 32 that the low bits of `index` say."""
    kind, bits = lanes.kind, lanes.bits
    lanes.text.declare(f"declare {kind} @{_LOOK_UP}({kind}, {bits}, {kind})")
    first, second = _constant(row[:_HALF]), _constant(row[_HALF:])
    return lanes.text.value(
        f"call {kind} @{_LOOK_UP}({kind} {first}, {bits} {index}, {kind} {second})"
    )


def odd_by_lookup(lanes: Lanes, x: str, table: Lookup) -> str:
    """Return the odd function of the table."""
    size = lanes.minimum(table.end, lanes.absolute(x))
    bits = lanes.as_bits(lanes.add(size, table.offset))
    index = lanes.integer("lshr", bits, table.shift)
    centre, value, *coefficients = [look_up(lanes, index, row) for row in table.rows]
    distance = lanes.subtract(size, centre)
    *lower, slope = coefficients
    for coefficient in reversed(lower):
        slope = lanes.fma(slope, distance, coefficient)
    return lanes.copysign(lanes.fma(slope, distance, lanes.add(value, distance)), x)
