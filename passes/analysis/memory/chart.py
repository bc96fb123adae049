"""The workspace over time: which buffer lies where, from which launch to which."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, SSAValue

from ....ir import SOURCE
from ....ir.ops.structure import Buffer, Launch
from ....ir.types import dims
from ....ir.types.tensor import spec_of
from .lives import Lives


def memory_map(function: FuncOp, sizes: Mapping[str, int]) -> dict[str, Any]:
    """Return the buffers of a planned function, with bytes and launches, for given sizes."""
    lives = Lives(function)
    steps = {op: number for number, op in enumerate(lives.steps)}
    order = sorted((lives.number[op], number) for op, number in steps.items())
    rows: list[dict[str, Any]] = []
    for value, life in lives.lives.items():
        owner = value.owner
        if not isinstance(owner, Buffer) or not life.spans:
            continue
        first, last = life.spans[0][0] // 2, life.spans[-1][1] // 2
        rows.append(
            {
                "name": _name(life.writes[0].launch if life.writes else None),
                "type": _type(value),
                "offset": dims.evaluate(owner.offset, sizes),
                "bytes": dims.evaluate(spec_of(value.type).nbytes, sizes),
                "first": _launch_at(order, first),
                "last": _launch_at(order, last),
            }
        )
    return {"launches": len(steps), "buffers": rows, **peak_of(rows, len(steps))}


def peak_of(rows: list[dict[str, Any]], count: int) -> dict[str, Any]:
    """Return the most bytes that live at one launch, at which one, and how high buffers lie."""
    live = [0] * max(count, 1)
    for row in rows:
        for step in range(row["first"], row["last"] + 1):
            live[step] += row["bytes"]
    most = max(live)
    end = max((row["offset"] + row["bytes"] for row in rows), default=0)
    return {"live": live, "peak": most, "peak_at": live.index(most), "end": end}


def _launch_at(order: list[tuple[int, int]], step: int) -> int:
    """Return the last launch that is no later than a step; steps stand for choices, too."""
    found = [number for place, number in order if place <= step]
    return found[-1] if found else 0


def nodes_of(row: Attribute | None) -> list[str]:
    """Return the nodes of the model that an operation came from."""
    rows = row.data if isinstance(row, ArrayAttr) else (row,)
    return [each.data for each in rows if isinstance(each, StringAttr)]


def _name(launch: Launch | None) -> str:
    return ", ".join(nodes_of(launch.attributes.get(SOURCE)) if launch is not None else [])


def _type(value: SSAValue) -> str:
    spec = spec_of(value.type)
    return f"{spec.dtype.name}[{', '.join(map(str, spec.dims))}]"
