"""How long each launch of a model takes, what it computes, and how near it comes to the limit."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ...codegen.limits import Limits
from ..console import in_bytes, in_seconds, table

if TYPE_CHECKING:
    from ...codegen.compile import Compiled
    from ...codegen.work import LaunchInfo
    from ...runtime.profile import Profile


@dataclass(frozen=True)
class Layers:
    """The launches of a model, and the machine's limits."""

    found: Profile
    infos: Sequence[LaunchInfo]
    limits: Limits

    def rows(self) -> list[dict[str, Any]]:
        """Return the launches as plain data."""
        rows = []
        for seconds, info in zip(self.found.launches, self.infos, strict=True):
            least, bound = self.limits.seconds(info.cost)
            share = least / max(seconds, 1e-12)
            rows.append(
                {"seconds": seconds, **info.as_json(), "limit": bound, "limit_share": share}
            )
        return rows

    def trace(self, model: str) -> str:
        """Return the text of a trace: one run, each launch as long as it took by the median.

        Launches are drawn one behind the other, as they run; what lies between is not measured.
        """
        events: list[dict[str, Any]] = [
            {"ph": "M", "pid": 1, "tid": 1, "name": "process_name", "args": {"name": model}},
            {"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": "launches"}},
        ]
        start = 0.0
        for number, row in enumerate(self.rows()):
            name = ", ".join(row["sources"]) or ", ".join(row["operations"]) or row["kernel"]
            took = row["seconds"] * 1e6
            more = {key: value for key, value in row.items() if key != "seconds"}
            events.append(
                {
                    "ph": "X", "pid": 1, "tid": 1, "ts": start, "dur": took, "name": name,
                    "cat": row["kind"], "args": {"launch": number, **more},
                }
            )  # fmt: skip
            start += took
        data = {"traceEvents": events, "displayTimeUnit": "ns", "otherData": {"model": model}}
        return json.dumps(data, indent=1)

    @property
    def least(self) -> float:
        """Return the seconds that all launches take at least on this machine."""
        return self.limits.least(info.cost for info in self.infos)

    def as_json(self) -> dict[str, Any]:
        """Return everything as plain data."""
        return {
            **self.found.as_json(),
            "limits": self.limits.as_json(),
            "limit_seconds": self.least,
            "launches": self.rows(),
        }

    def text(self, whole: float) -> str:
        """Return a table; `whole` is the time of a call."""
        head = ["launch", "time", "share", "GFLOP/s", "GB/s", "of limit", "kind", "computes"]
        rows = [head]
        for number, (row, info) in enumerate(zip(self.rows(), self.infos, strict=True)):
            rows.append([str(number), *_cells(row, info, whole)])
        total = sum(self.found.launches)
        near = f"{self.least / total:.0%} in all"
        rows.append(["launches", in_seconds(total), f"{total / whole:.1%}", "", "", near, "", ""])
        rows.append(["whole", in_seconds(whole), "100.0%", *[""] * 4, "median of calls"])
        limits = self.limits
        rates = ", ".join(
            f"{rate / 1e9:.4g} ({in_bytes(size)})" for size, rate in limits.bandwidths.items()
        )
        note = (
            f"limit: {limits.flops / 1e9:.4g} GFLOP/s, or GB/s for so much data: {rates}; as "
            "measured just before, on one thread and on all"
        )
        return f"\n{table(rows, right='12345')}\n{note}"


def _cells(row: dict[str, Any], info: LaunchInfo, whole: float) -> list[str]:
    moved, each = info.cost.read + info.cost.written, max(row["seconds"], 1e-12)
    rates = [f"{info.cost.flops / each / 1e9:.1f}", f"{moved / each / 1e9:.1f}"]
    near = f"{row['limit_share']:.0%} {row['limit']}"
    nodes = ", ".join(info.sources) or ", ".join(info.operations)
    return [in_seconds(each), f"{each / whole:.1%}", *rates, near, info.kind, nodes]


def measure_layers(
    compiled: Compiled, inputs: dict[str, Any], sizes: dict[str, int], threads: int, seconds: float
) -> Layers:
    """Run a model so that it notes the time of each launch."""
    from ...codegen.profile import profiled
    from ...codegen.work import launches_of
    from ...frontend.models.compiled import load_compiled
    from ...runtime.profile import profile

    assert compiled.program is not None, "what is compiled now has its program"
    limits = Limits.measured(threads)
    model = load_compiled(profiled(compiled), threads)
    found = profile(model, inputs, seconds=seconds)
    return Layers(found, launches_of(compiled.program, sizes), limits)
