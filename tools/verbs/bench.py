"""How long a model takes, and what it could take."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from ...codegen.compiled import OptionFields, Options
from ...codegen.work import launches_of
from ...errors import Advice
from ...frontend.programs.compile import options_with
from ...passes.analysis.cost import Cost, total
from ...passes.analysis.memory.chart import memory_map
from ...passes.base import Observer
from ...runtime.files import replacing
from ...runtime.measure import METRICS, SIGNIFICANT, Change, MeasurePlan, Timing, change, measure
from ...runtime.model import Model
from ..console import in_bytes, in_count, in_seconds, table, to_json
from ..errors import DataError, UsageError
from ..given import readable
from ..inputs import Inputs
from ..machine import machine, now, versions
from ..measuring.layers import Layers, measure_layers
from ..talk import FilePath, Progress, Source, silent
from ..viewing.page import page
from .subject import Subject, Wanted, subject_of

if TYPE_CHECKING:
    from ...frontend.dims.symbols import DimOption, ShapeOption

NOISY = 0.05
"""A confidence interval wider than this share of the mean is worth a warning."""
LAYERS = Advice("bench(..., layers=True) measures them", "--layers measures them")


@dataclass(frozen=True)
class Benchmark:
    """How long a model took, on what, and how that compares."""

    model: str
    time: str
    """When it was measured, in UTC."""
    inputs: Mapping[str, tuple[str, tuple[int, ...]]]
    """Element types and shapes by name."""
    threads: int
    about: Mapping[str, Any]
    """What the library says of itself: target, features, pipeline, memory."""
    timing: Timing
    """The samples; times in seconds: `timing.percentile(50)`, `timing.mean`."""
    machine: Mapping[str, Any]
    versions: Mapping[str, str]
    cost: Cost | None = None
    """What a run computes and moves, where the program is known."""
    layers: Layers | None = None
    """Each launch, if that was asked for."""
    memory: Mapping[str, Any] | None = None
    """Where buffers lie in the workspace and when, if launches were asked for."""
    change: Change | None = None
    """How it compares with the earlier record, if there is one."""
    before: Mapping[str, Any] | None = None
    """The earlier record."""
    against: str = ""
    """The file that has it."""

    @property
    def is_slower(self) -> bool:
        """Say whether the model got slower than in the earlier record."""
        return self.change is not None and self.change.verdict == "slower"

    @property
    def doubts(self) -> list[str]:
        """Return what makes the figures doubtful."""
        return _doubts(self.as_json(), self.before)

    def __str__(self) -> str:
        return self.text(layers=self.layers is not None)

    def text(self, *, layers: bool) -> str:
        """Return the figures with what they mean, and a table of launches if it is wanted."""
        return _text(self.as_json(), self.layers if layers else None)

    def as_json(self) -> dict[str, Any]:
        """Return all that is to be known about the measurement as plain data."""
        record = {
            "schema": "gravure.bench/1",
            "model": self.model,
            "time": self.time,
            "inputs": {name: [kind, list(shape)] for name, (kind, shape) in self.inputs.items()},
            "threads": self.threads,
            **self.about,
            "timing": self.timing.as_json(),
            "metrics": dict(METRICS),
            "machine": dict(self.machine),
            "versions": dict(self.versions),
        }
        if self.cost is not None:
            record["cost"] = self.cost.as_json()
        if self.layers is not None:
            record["layers"] = self.layers.as_json()
        if self.change is not None:
            record["against"] = {"file": self.against, **self.change.as_json()}
        return record

    def save(self, path: FilePath) -> None:
        """Write the record, which `against` takes."""
        keep(path, to_json(self.as_json()))

    def trace(self) -> str:
        """Return the launches as a file for trace viewers."""
        if self.layers is None:
            raise UsageError("no launches were measured", hint=LAYERS)
        return self.layers.trace(self.model)

    def html(self) -> str:
        """Return a page with the launches, the roofline and the workspace over time."""
        if self.layers is None:
            raise UsageError("no launches were measured", hint=LAYERS)
        return _page(self)


def _page(found: Benchmark) -> str:
    """Return the text of the page about launches."""
    title = f"{found.model}: measured by gravure"
    data = {**found.as_json(), "title": found.model, "memory_map": found.memory}
    return page(title, data, "launches.js")


def bench(  # noqa: PLR0913  (each option is its own)
    source: Source | Model,
    inputs: Inputs = None,
    *,
    threads: int = 1,
    warm_up: float = 0.2,
    seconds: float = 1.0,
    iterations: int = 20,
    layers: bool = False,
    against: FilePath | Benchmark | None = None,
    threshold: float = 0.05,
    shapes: Mapping[str, ShapeOption] | None = None,
    dims: Mapping[str, DimOption] | None = None,
    weights: str | os.PathLike[str] | None = None,
    options: Options | None = None,
    progress: Progress = silent,
    **more: Unpack[OptionFields],
) -> Benchmark:
    """Measure how long a model takes: calls one after the other on the same arrays.

    - `source`: a model, a library, the bytes of one, or what `gravure.compile` returned.
    - `inputs`: arrays by name, or texts as the command takes them (`"x=2x3xf32:ones"`); what is
      not given is random.
    - `threads`: of a run, from 1.
    - `warm_up`: seconds of calls before the first sample; `seconds`: of sampling, at least;
      `iterations`: calls, at least.
    - `layers`: whether each launch is measured, too, beside the machine's limits.
    - `against`: an earlier result, or the file it was saved to; `threshold`: the share by which
      times may differ and be called the same.
    - `shapes`, `dims`, `options` and further keywords: as for `gravure.compile`; of what is
      compiled already, `dims` says the sizes.
    - `weights`: the file of a library that has them not.
    - `progress`: is told what goes on.

    >>> import gravure as gv
    >>> text = b"model m(x: f32[N, 8]) -> (y) { y = exp(x) }"
    >>> found = gv.bench(text, {"x": "4x8xf32:ones"}, dims={"N": (1, 64)}, seconds=0.01)
    >>> found.inputs, found.cost.functions
    ({'x': ('float32', (4, 8))}, 32)
    >>> found.timing.percentile(50) < 0.01
    True
    """
    own = ("inputs", "warm_up", "seconds", "iterations", "layers", "against", "threshold",
           "shapes", "dims", "weights", "threads", "options", "progress")  # fmt: skip
    made = options_with("bench", options, more, threads=threads, own=own)
    old = _record(against)
    # The program is wanted, so it is not taken from the cache.
    wanted = Wanted(inputs, threads, shapes, dims, weights, observers=[Observer()])
    subject = subject_of(source, made, wanted, progress)
    if layers:
        _refuse_layers(subject)
    with progress("measuring"):
        timing = measure(
            subject.model.bind(subject.inputs), MeasurePlan(warm_up, seconds, iterations)
        )
    found = _benchmark(subject, timing)
    if layers:
        layered, memory = _layers(subject, seconds / 2, progress), _memory(subject)
        found = replace(found, layers=layered, memory=memory)
    if old is None:
        return found
    compared = change(timing.blocks, old["timing"]["blocks"], threshold)
    file = "" if isinstance(against, Benchmark) or against is None else os.fspath(against)
    return replace(found, before=old, against=file, change=compared)


def _benchmark(subject: Subject, timing: Timing) -> Benchmark:
    model, manifest, compiled = subject.model, subject.model.manifest, subject.compiled
    about = {
        "target": manifest["target"],
        "features": manifest["features"],
        "pipeline": manifest.get("pipeline", ""),
        "memory": {name: manifest[f"{name}_bytes"] for name in ("workspace", "weights", "peak")},
    }
    inputs = {name: (str(a.dtype), tuple(a.shape)) for name, a in subject.inputs.items()}
    cost = None
    if compiled is not None and compiled.program is not None:
        cost = total(info.cost for info in launches_of(compiled.program, subject.sizes))
    return Benchmark(
        subject.name, now(), inputs, model.threads, about, timing, machine(), versions(), cost
    )


def _refuse_layers(subject: Subject) -> None:
    """Refuse to measure launches that are not known."""
    steps = getattr(subject.model, "host_steps", ())
    if steps:
        named = ", ".join(map(str, steps))
        raise UsageError(f"launches need a model without host steps, here are {named}")
    if subject.compiled is None:
        raise UsageError("launches need the model: what is compiled already does not know them")


def _layers(subject: Subject, seconds: float, progress: Progress) -> Layers:
    """Return how long each launch takes, and what it is."""
    compiled, threads = subject.compiled, subject.model.threads
    assert compiled is not None, "what has no program is refused before"
    with progress("measuring launches"):
        return measure_layers(compiled, subject.inputs, subject.sizes, threads, seconds)


def _memory(subject: Subject) -> Mapping[str, Any]:
    assert subject.compiled is not None, "what has no program is refused before"
    assert subject.compiled.program is not None, "what is compiled now has its program"
    return memory_map(subject.compiled.program.main, subject.sizes)


def keep(path: FilePath | None, text: str) -> None:
    """Write a text to a file, if there is one."""
    if path is not None:
        with replacing(Path(path)) as file:
            file.write(f"{text}\n".encode())


def _record(against: FilePath | Benchmark | None) -> dict[str, Any] | None:
    if against is None:
        return None
    return against.as_json() if isinstance(against, Benchmark) else read_record(os.fspath(against))


def read_record(path: str) -> dict[str, Any]:
    """Return an earlier record."""
    readable(path)
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        blocks = data["timing"]["blocks"]
        if data["schema"] != "gravure.bench/1" or not all(float(b) > 0 for b in blocks):
            raise ValueError("no times")
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"not a record of measured times: {error}", location=path) from error
    assert isinstance(data, dict), "what has fields is an object"
    return data


def _text(record: Mapping[str, Any], layers: Layers | None) -> str:
    """Return a measurement for reading, with what each figure means."""
    timing, metrics = record["timing"], record["metrics"]
    shapes = ", ".join(
        f"{n}: {d}[{', '.join(map(str, s))}]" for n, (d, s) in record["inputs"].items()
    )
    times = ("minimum", "p50", "p90", "p99", "mean", "confidence")
    several = f", each of {timing['batch']} calls" if timing["batch"] > 1 else ""
    rows = [
        ["model", f"{record['model']}({shapes})", ""],
        ["machine", f"{record['machine']['processor']}, {record['threads']} threads", ""],
        ["samples", f"{timing['samples']}{several}", ""],
        *([name, in_seconds(timing[name]), metrics[name]] for name in times),
        ["throughput", f"{timing['throughput']:.5g} /s", metrics["throughput"]],
    ]
    parts = [table(rows[:3]), table(rows[3:])]
    if "cost" in record:
        parts.append(table(_rates(record["cost"], timing["p50"])))
    if "against" in record:
        parts.append(_compared(record["against"]))
    if layers is not None:
        parts.append(layers.text(min(layers.found.whole, timing["p50"])))
    return "\n".join(parts)


def _rates(cost: dict[str, int], seconds: float) -> list[list[str]]:
    moved = cost["read"] + cost["written"]
    return [
        ["arithmetic", f"{cost['flops'] / seconds / 1e9:.4g} GFLOP/s",
         f"{in_count(cost['flops'])} flops and {in_count(cost['functions'])} functions in p50"],
        ["movement", f"{moved / seconds / 1e9:.4g} GB/s",
         f"{in_bytes(moved)} that kernels read and write in p50"],
    ]  # fmt: skip


def _compared(against: dict[str, Any]) -> str:
    errors = against["standard_errors"]
    apart = f"{errors:.1f}" if isinstance(errors, float | int) else errors
    words = {"slower": "SLOWER", "faster": "faster", "same": "no significant change"}
    verdict = words[against["verdict"]]
    if against["verdict"] == "same" and float(errors) >= SIGNIFICANT:
        verdict = f"changed by less than the threshold of {against['threshold']:.0%}"
    return (
        f"against {against['file']}: {verdict}, "
        f"{against['ratio']:.3f} times as long, {apart} standard errors apart"
    )


def _doubts(record: Mapping[str, Any], old: Mapping[str, Any] | None) -> list[str]:
    """Return what makes the figures doubtful."""
    found, timing, machine = [], record["timing"], record["machine"]
    if timing["confidence"] > NOISY * timing["mean"]:
        found.append("the noise is high: measure longer, or on a quieter machine")
    if machine["load"] > machine["usable_cores"]:
        found.append(f"other programs work too: the load is {machine['load']:.1f}")
    if record["threads"] > machine["usable_cores"]:
        found.append(f"{record['threads']} threads on {machine['usable_cores']} cores")
    if machine["governor"] not in ("", "performance"):
        found.append(f"the processor's speed changes: governor {machine['governor']}")
    if old is not None:
        for name in ("model", "inputs", "threads", "target"):
            if old.get(name) != record[name]:
                found.append(f"{name} was {old.get(name)}, now {record[name]}")  # noqa: PERF401
        if old.get("machine", {}).get("processor") != machine["processor"]:
            found.append("the earlier record is of another processor")
    return found
