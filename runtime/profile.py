"""How long each launch of a run takes, of a model that was compiled to say so.

The code adds up ticks of the processor's clock (see `codegen/llvm/entry/profile.py`); how long a
tick is follows from the starts of runs by both clocks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

import numpy as np

from ..errors import ArtifactError
from .arguments import Inputs, in_order, to_array
from .buffer import Array
from .model import Model

KEY = "profile"
"""Where the manifest says that, and where, times are kept."""
SHORTEST = 0.05
"""Seconds between the first and the last run, at least: for the length of a tick."""


@dataclass(frozen=True)
class Profile:
    """Means over the middle half of the runs, in seconds; so the launches add up to the whole."""

    runs: int
    whole: float
    """One call, measured from outside."""
    inside: float
    """From the first launch to the end of the last."""
    launches: tuple[float, ...]

    @property
    def checks(self) -> float:
        """Return the time of a call that is not in launches: looking at arguments, mostly."""
        return max(0.0, self.whole - self.inside)

    def as_json(self) -> dict[str, Any]:
        """Return the times by name."""
        return {"runs": self.runs, "whole": self.whole, "inside": self.inside}


def profile(model: Model, inputs: Inputs, *, seconds: float = 0.5, runs: int = 10) -> Profile:
    """Run the model for so long, and as often at least; return how long its parts took."""
    place = model.manifest.get(KEY)
    if place is None:
        raise ArtifactError("the model was not compiled to be profiled")
    again, workspace = _bound(model, inputs)
    first = place["offset"]
    ticks = workspace[first : first + 16 + 8 * place["launches"]].view(np.int64)
    again()
    rows: list[Array] = []
    walls, starts = [], []
    begin = perf_counter_ns()
    while len(rows) < runs or perf_counter_ns() - begin < max(seconds, SHORTEST) * 1e9:
        ticks[:] = 0
        start = perf_counter_ns()
        again()
        walls.append(perf_counter_ns() - start)
        starts.append(start)
        rows.append(ticks.copy())
    table = np.array(rows)
    length = (starts[-1] - starts[0]) / float(table[-1, 0] - table[0, 0]) / 1e9
    inside, *parts = (middle(table[:, 1:]).mean(axis=0) * length).tolist()
    return Profile(len(rows), float(np.median(walls)) / 1e9, inside, tuple(parts))


def middle(runs: Array) -> Array:
    """Return the half of the rows whose first column is neither small nor large."""
    order = np.argsort(runs[:, 0], kind="stable")
    return runs[order[len(runs) // 4 : len(runs) - len(runs) // 4]]


def _bound(model: Model, inputs: Inputs) -> tuple[Callable[[], None], Array]:
    """Return a call of the model, and the workspace that it works in."""
    values = in_order(inputs, model.inputs)
    arrays = [to_array(v, info) for v, info in zip(values, model.inputs, strict=True)]
    context, plan, frame = model._open(), model._plan(arrays), model._new_frame()
    results = model._results(None, plan)
    frame.fill(arrays, results, plan)
    addresses = (*frame.addresses(), context.address)
    keep = (arrays, results, plan, frame)

    def again() -> None:
        assert keep, "what the addresses lead to"
        model._check(model._run(*addresses))

    return again, frame.workspace
