"""Where the scratch of each launch lies: in gaps that the plan leaves at that time.

A kernel's need of scratch is known when its loops are, behind the memory plan. Buffers that do
not live during a launch leave their place to its scratch; only what fits nowhere makes the
workspace longer.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from ..ir.dims import Range
from ..ir.ops.structure import Buffer, Launch, View
from ..ir.placement import align
from ..passes.bufferise import highest

Span = tuple[int, int]
"""First byte, and the byte behind the last."""


def place_scratch(
    launches: Sequence[Launch], needs: Sequence[int], workspace: SSAValue, ranges: dict[str, Range]
) -> tuple[list[int], int]:
    """Return for each launch the offset of as many bytes as it needs, and the most that live.

    The second is the largest sum of a launch's scratch and the buffers that live during it, of
    the launches that need scratch: no plan can do with less.
    """
    lives: dict[Buffer, list[int]] = {}
    for number, launch in enumerate(launches):
        for operand in launch.operands:
            buffer = _buffer(operand, workspace)
            if buffer is not None:
                life = lives.setdefault(buffer, [number, number])
                life[1] = number
    taken: list[list[Span]] = [[] for _ in launches]
    for buffer, (first, last) in lives.items():
        if any(needs[first : last + 1]):
            span = _span(buffer, ranges)
            for number in range(first, last + 1):
                taken[number].append(span)
    live = [need + _covered(spans) if need else 0 for spans, need in zip(taken, needs, strict=True)]
    offsets = [_gap(spans, need) for spans, need in zip(taken, needs, strict=True)]
    return offsets, max(live, default=0)


def _buffer(value: SSAValue, workspace: SSAValue) -> Buffer | None:
    owner = value.owner
    while isinstance(owner, View):
        owner = owner.operands[0].owner
    inside = isinstance(owner, Buffer) and owner.operands[0] is workspace
    return owner if inside and isinstance(owner, Buffer) else None


def _span(buffer: Buffer, ranges: dict[str, Range]) -> Span:
    offset = buffer.plain_attributes()["offset"]
    return offset, offset + align(highest(buffer.result_specs[0].nbytes, ranges))


def _covered(spans: Sequence[Span]) -> int:
    """Return how many bytes lie in any of the spans."""
    total = end = 0
    for low, high in sorted(spans):
        total += max(high - max(low, end), 0)
        end = max(end, high)
    return total


def _gap(spans: Sequence[Span], need: int) -> int:
    """Return the lowest offset where `need` bytes are free."""
    at = 0
    for low, high in sorted(spans):
        if low - at >= need:
            break
        at = max(at, high)
    return at
