"""Measure how long a model takes, and compare with an earlier measurement.

    gravure bench model.onnx
    gravure bench model.so --threads 4 --seconds 5 -o today.json
    gravure bench model.onnx --against yesterday.json     # exit status 1 if it is slower
    gravure bench model.onnx --layers                     # how long each launch takes

Inputs are random unless -i says otherwise (see gravure run). The calls are made one after the other
on the same arrays, after a warm-up. A model is slower than before if the
medians of 20 blocks of samples lie three standard errors above the older ones, or more, and by more
than the threshold.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..console import Console, in_bytes, in_count, in_seconds, table, to_json
from ..errors import DataError, UsageError
from ..options import (
    add_compile,
    add_model,
    dims_of,
    is_library,
    options_of,
    output_of,
    readable,
    shapes_of,
    source_of,
)
from .run import add_inputs, sizes_of

if TYPE_CHECKING:
    from ...codegen.compile import Compiled
    from ...codegen.profile import LaunchInfo
    from ...runtime.measure import Timing
    from ...runtime.model import Model
    from ...runtime.profile import Profile

NAME = "bench"
NOISY = 0.05
"""A confidence interval wider than this share of the mean is worth a warning."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser, "model or library: ONNX, .so, graph text (.gv)")
    add_inputs(parser)
    parser.add_argument("--warm-up", type=float, default=0.2, metavar="S", help="seconds (0.2)")
    parser.add_argument("--seconds", type=float, default=1.0, metavar="S", help="at least (1.0)")
    parser.add_argument("--iterations", type=int, default=20, metavar="N", help="at least (20)")
    parser.add_argument("-o", "--output", metavar="FILE", help="keep the record, as JSON")
    parser.add_argument("--against", metavar="FILE", help="an earlier record to compare with")
    parser.add_argument(
        "--threshold", type=float, default=0.05, metavar="X", help="share that is no change (0.05)"
    )
    parser.add_argument("--layers", action="store_true", help="measure every launch")
    add_compile(parser)


def run(args: argparse.Namespace) -> int:
    """Measure, record, compare."""
    from ...runtime.files import replacing
    from ...runtime.measure import Plan, change, measure
    from ..inputs import make_inputs

    output = output_of(args.output, args.model)
    source = source_of(args.model)
    console: Console = args.console
    old = read_record(args.against) if args.against else None
    with console.progress(f"compiling {args.model}"):
        model, compiled = _model(args, source)
    sizes = sizes_of(args) if compiled is None else {}
    inputs = make_inputs(args.input, model.inputs, model.dims, sizes)
    with console.progress("measuring"):
        plan = Plan(args.warm_up, args.seconds, args.iterations)
        timing = measure(model.bind(inputs), plan)
    record = record_of(args, model, inputs, timing)
    layers = _layers(args, compiled, inputs) if args.layers else None
    if compiled is not None and compiled.program is not None:
        record["cost"] = _cost(compiled, model, inputs)
    if layers is not None:
        record["layers"] = layers[0].as_json() | {
            "launches": [
                {"seconds": t, **info.as_json()}
                for t, info in zip(layers[0].launches, layers[1], strict=True)
            ]
        }
    verdict = None
    if old is not None:
        verdict = change(timing.blocks, old["timing"]["blocks"], args.threshold)
        record["against"] = {"file": args.against, **verdict.as_json()}
    if output is not None:
        with replacing(output) as file:
            file.write(f"{to_json(record)}\n".encode())
    console.result(text_of(record, layers), record)
    for warning in warnings(record, old):
        console.say(f"gravure bench: warning: {warning}")
    return int(verdict is not None and verdict.verdict == "slower")


def _model(args: argparse.Namespace, source: str | bytes) -> tuple[Model, Compiled | None]:
    """Return the model, and what it was compiled to if it was compiled now."""
    from ...frontend.compile import compile_source, load, load_compiled
    from ...passes.base import Observer

    threads = args.threads or 1
    if is_library(source):
        if args.layers:
            raise UsageError("--layers needs the model: a library does not know its launches")
        return load(source, threads=threads, weights=args.weights_file), None
    options = options_of(args, slots=threads)
    compiled = compile_source(
        source, options, shapes=shapes_of(args), dims=dims_of(args),
        observers=[Observer()],  # the program is wanted, so it is not taken from the cache
    )  # fmt: skip
    return load_compiled(compiled, threads), compiled


def _sizes(model: Model, inputs: dict[str, Any]) -> dict[str, int]:
    """Return the values of the dimensions in this measurement."""
    from ...runtime.arguments import bind_dims

    return bind_dims(list(inputs.values()), model.inputs, model.dims)


def _cost(compiled: Compiled, model: Model, inputs: dict[str, Any]) -> dict[str, int]:
    from ...codegen.profile import launches_of
    from ...passes.analysis.cost import total

    assert compiled.program is not None, "what is compiled now has its program"
    return total(
        info.cost for info in launches_of(compiled.program, _sizes(model, inputs))
    ).as_json()


def _layers(
    args: argparse.Namespace, compiled: Compiled | None, inputs: dict[str, Any]
) -> tuple[Profile, list[LaunchInfo]]:
    """Return how long each launch takes, and what it is."""
    from ...codegen.profile import launches_of, profiled
    from ...frontend.compile import load_compiled
    from ...runtime.profile import profile

    assert compiled is not None, "libraries are refused before"
    assert compiled.program is not None, "what is compiled now has its program"
    with args.console.progress("measuring launches"):
        model = load_compiled(profiled(compiled), args.threads or 1)
        found = profile(model, inputs, seconds=args.seconds / 2)
    return found, launches_of(compiled.program, _sizes(model, inputs))


def record_of(
    args: argparse.Namespace, model: Model, inputs: dict[str, Any], timing: Timing
) -> dict[str, Any]:
    """Return all that is to be known about a measurement."""
    from ...runtime.measure import METRICS
    from ..machine import machine, now, versions

    manifest = model.manifest
    return {
        "schema": "gravure.bench/1",
        "model": Path(args.model).name if args.model != "-" else "-",
        "time": now(),
        "inputs": {name: [str(a.dtype), list(a.shape)] for name, a in inputs.items()},
        "threads": model.threads,
        "target": manifest["target"],
        "features": manifest["features"],
        "pipeline": manifest.get("pipeline", ""),
        "memory": {name: manifest[f"{name}_bytes"] for name in ("workspace", "weights", "peak")},
        "timing": timing.as_json(),
        "metrics": dict(METRICS),
        "machine": machine(),
        "versions": versions(),
    }


def read_record(path: str) -> dict[str, Any]:
    """Return an earlier record."""
    readable(path)
    try:
        data = json.loads(Path(path).read_text(encoding="utf-8"))
        blocks = data["timing"]["blocks"]
        if data["schema"] != "gravure.bench/1" or not all(float(b) > 0 for b in blocks):
            raise ValueError("no times")
    except (ValueError, KeyError, TypeError) as error:
        raise DataError(f"not a record of gravure bench: {error}", location=path) from error
    assert isinstance(data, dict), "what has fields is an object"
    return data


def text_of(record: dict[str, Any], layers: tuple[Profile, list[LaunchInfo]] | None) -> str:
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
        parts.append(layers_text(*layers, min(layers[0].whole, timing["p50"])))
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
    return (
        f"against {against['file']}: {words[against['verdict']]}, "
        f"{against['ratio']:.3f} times as long, {apart} standard errors apart"
    )


def layers_text(found: Profile, infos: list[LaunchInfo], whole: float) -> str:
    """Return how long each launch takes, and what share that is of a whole call."""
    rows = [["launch", "time", "share", "GFLOP/s", "GB/s", "kind", "computes"]]
    for number, (seconds, info) in enumerate(zip(found.launches, infos, strict=True)):
        rows.append([str(number), *_layer(seconds, info, whole)])
    total = sum(found.launches)
    rows.append(["launches", in_seconds(total), f"{total / whole:.1%}", "", "", "", ""])
    rows.append(["whole", in_seconds(whole), "100.0%", "", "", "", "median of calls"])
    return f"\n{table(rows, right='1234')}"


def _layer(seconds: float, info: LaunchInfo, whole: float) -> list[str]:
    moved, each = info.cost.read + info.cost.written, max(seconds, 1e-12)
    rates = [f"{info.cost.flops / each / 1e9:.1f}", f"{moved / each / 1e9:.1f}"]
    nodes = ", ".join(info.sources) or ", ".join(info.operations)
    return [in_seconds(seconds), f"{seconds / whole:.1%}", *rates, info.kind, nodes]


def warnings(record: dict[str, Any], old: dict[str, Any] | None) -> list[str]:
    """Return what makes the figures doubtful."""
    found, timing, machine = [], record["timing"], record["machine"]
    if timing["confidence"] > NOISY * timing["mean"]:
        found.append("the noise is high: measure longer (--seconds), or on a quieter machine")
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
