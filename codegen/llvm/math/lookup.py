"""Odd functions of floats by tables that lie in registers.

One instruction looks up 32 entries for 16 lanes with AVX-512, or 8 entries for 8 lanes with AVX2.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from ..text.build import number
from .lanes import Lanes
from .tables import Lookup

IN_ONE_REGISTER = {8: "@llvm.x86.avx2.permps", 16: "@llvm.x86.avx512.permvar.sf.512"}
"""By the number of lanes, what looks up the entries of a register."""


@lru_cache(maxsize=64)
def _constant(values: Sequence[float]) -> str:
    """Return floats as a constant vector."""
    return "<" + ", ".join("float " + number("float", value) for value in values) + ">"


def look_up(lanes: Lanes, index: str, row: tuple[float, ...]) -> str:
    """Return for each lane the entry of a row that the low bits of `index` say."""
    kind, bits = lanes.kind, lanes.bits
    if len(row) <= lanes.shape.lanes:
        name = IN_ONE_REGISTER[lanes.shape.lanes]
        row *= lanes.shape.lanes // len(row)  # the bits of an index that are too many say nothing
        lanes.text.declare(f"declare {kind} {name}({kind}, {bits})")
        return lanes.text.value(f"call {kind} {name}({kind} {_constant(row)}, {bits} {index})")
    name = "@llvm.x86.avx512.vpermi2var.ps.512"
    lanes.text.declare(f"declare {kind} {name}({kind}, {bits}, {kind})")
    first, second = _constant(row[: lanes.shape.lanes]), _constant(row[lanes.shape.lanes :])
    return lanes.text.value(f"call {kind} {name}({kind} {first}, {bits} {index}, {kind} {second})")


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
    base = lanes.maximum(value, distance)  # the distance in the first interval only
    return lanes.copysign(lanes.fma(slope, distance, base), x)
