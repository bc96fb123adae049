"""Launches as a file that chrome://tracing and Perfetto show."""

from __future__ import annotations

import json
from typing import Any

from .layers import Layers


def trace_of(layers: Layers, model: str) -> str:
    """Return the text of a trace: one run, each launch as long as it took by the median.

    Launches are drawn one behind the other, as they run; what lies between them is not measured.
    """
    events: list[dict[str, Any]] = [
        {"ph": "M", "pid": 1, "tid": 1, "name": "process_name", "args": {"name": model}},
        {"ph": "M", "pid": 1, "tid": 1, "name": "thread_name", "args": {"name": "launches"}},
    ]
    start = 0.0
    for number, row in enumerate(layers.rows()):
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
