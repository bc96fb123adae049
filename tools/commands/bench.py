"""Measure how long a model takes, and compare it with others, or with itself without a pass.

    gravure bench model.onnx
    gravure bench model.so --threads 4 --seconds 5 -o today.json
    gravure bench model.onnx --against yesterday.json     # exit status 1 if it is slower
    gravure bench model.onnx --layers --trace run.json    # each launch, and how near to the limit
    gravure bench model.onnx --peers onnxruntime,openvino # side by side, in turns
    gravure bench model.onnx --peer ort=/venv/bin/python,mine.py
    gravure bench model.onnx --passes --html passes.html  # what each pass buys

Inputs are random unless -i says otherwise (see gravure run). The calls are made one after the other
on the same arrays, after a warm-up. A model is slower than before if the
medians of 20 blocks of samples lie three standard errors above the older ones, or more, and by more
than the threshold. --passes without a pipeline leaves out each pass in turn, and adds them one by
one; needed passes stay. Peers run in processes of their own; --peer names the interpreter that has
one, and with FILE.py one of your own (see tools/measuring/peer_process.py).
"""

from __future__ import annotations

import argparse
import json
import tempfile
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
    from ...runtime.measure import Timing
    from ...runtime.model import Model
    from ..measuring.layers import Layers

NAME = "bench"
EACH = "each"
"""What `--passes` says if no pipeline follows it."""
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
    parser.add_argument("--trace", metavar="FILE", help="launches, for trace viewers")
    parser.add_argument(
        "--peers", action="append", default=[], metavar="NAME,...", help="runtimes to compare with"
    )
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=PYTHON", help="one of another Python"
    )
    parser.add_argument("--html", metavar="FILE", help="page with plots of --passes")
    add_compile(parser)
    for action in parser._actions:
        if action.dest == "passes":
            action.nargs, action.const = "?", EACH
            action.help = "a pipeline; alone: leave each out in turn"
        elif action.dest == "model":
            action.nargs = "?"


def run(args: argparse.Namespace) -> int:
    """Measure in the way that is asked for."""
    if args.model is None and Path(args.passes).suffix:  # --passes took the model for a pipeline
        args.model, args.passes = args.passes, EACH
    if args.model is None:
        raise UsageError("no model", hint="gravure bench --help shows the arguments")
    if args.html and args.passes != EACH:
        raise UsageError("--html is a page about --passes")
    if args.passes == EACH:
        from ..measuring.ablation import run as run_ablation

        return run_ablation(args)
    return compare_peers(args) if args.peers or args.peer else measure_one(args)


def measure_one(args: argparse.Namespace) -> int:
    """Measure, record, compare."""
    from ...runtime.measure import Plan, change, measure
    from ..inputs import make_inputs

    outputs = [output_of(name, args.model) for name in (args.output, args.trace)]
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
    if compiled is not None and compiled.program is not None:
        record["cost"] = _cost(compiled, model, inputs)
    layers = _layers(args, compiled, model, inputs) if args.layers or args.trace else None
    if layers is not None:
        record["layers"] = layers.as_json()
    verdict = None
    if old is not None:
        verdict = change(timing.blocks, old["timing"]["blocks"], args.threshold)
        record["against"] = {"file": args.against, **verdict.as_json()}
    _keep(outputs[0], to_json(record))
    if layers is not None and outputs[1] is not None:
        from ..measuring.trace import trace_of

        _keep(outputs[1], trace_of(layers, record["model"]))
    console.result(text_of(record, layers if args.layers else None), record)
    for warning in warnings(record, old):
        console.say(f"gravure bench: warning: {warning}")
    return int(verdict is not None and verdict.verdict == "slower")


def _keep(path: Path | None, text: str) -> None:
    """Write a text to a file, if there is one."""
    from ...runtime.files import replacing

    if path is not None:
        with replacing(path) as file:
            file.write(f"{text}\n".encode())


def compare_peers(args: argparse.Namespace) -> int:
    """Measure the model in several runtimes, side by side."""
    from ..inputs import make_inputs
    from ..machine import machine, now, versions
    from ..measuring.peers import Duel, compare, peers_of, rows_of, text_of

    output = output_of(args.output, args.model)
    peers = peers_of([n for each in args.peers for n in each.split(",") if n], args.peer)
    if is_library(source_of(args.model)):
        raise UsageError("other runtimes need the model, not a library of it")
    console: Console = args.console
    with console.progress(f"compiling {args.model}"):
        model, compiled = _model(args, source_of(args.model))
    assert compiled is not None, "what is no library is compiled"
    inputs = make_inputs(args.input, model.inputs, model.dims, {})
    threads = args.threads or 1
    with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
        library = Path(folder) / "model.so"
        model.save(library)
        with console.progress("measuring"):
            duel = Duel(library, args.model, inputs, threads, args.seconds)
            running, absent = compare(duel, peers)
    least = _least(compiled, _sizes(model, inputs), threads)
    rows = rows_of(running, least)
    record = {
        "schema": "gravure.peers/1",
        "model": Path(args.model).name,
        "time": now(),
        "inputs": {name: [str(a.dtype), list(a.shape)] for name, a in inputs.items()},
        "threads": threads,
        "runtimes": rows,
        "absent": absent,
        "machine": machine(),
        "versions": versions(),
    }
    _keep(output, to_json(record))
    console.result(text_of(rows, absent), record)
    return 0


def _model(args: argparse.Namespace, source: str | bytes) -> tuple[Model, Compiled | None]:
    """Return the model, and what it was compiled to if it was compiled now."""
    from ...frontend.compile import compile_model, load
    from ...frontend.stepped import SteppedModel
    from ...passes.base import Observer

    threads = args.threads or 1
    if is_library(source):
        if args.layers or args.trace:
            raise UsageError("--layers needs the model: a library does not know its launches")
        return load(source, threads=threads, weights=args.weights_file), None
    options = options_of(args, slots=threads)
    model = compile_model(
        source, options, threads, shapes=shapes_of(args), dims=dims_of(args),
        observers=[Observer()],  # the program is wanted, so it is not taken from the cache
    )  # fmt: skip
    if not isinstance(model, SteppedModel):
        return model, model.compiled
    if args.layers:
        steps = ", ".join(map(str, model.host_steps))
        raise UsageError(f"--layers needs a model without host steps, here are {steps}")
    return model, None


def _sizes(model: Model, inputs: dict[str, Any]) -> dict[str, int]:
    """Return the values of the dimensions in this measurement."""
    from ...runtime.arguments import bind_dims

    return bind_dims(list(inputs.values()), model.inputs, model.dims)


def _least(compiled: Compiled, sizes: dict[str, int], threads: int) -> float:
    """Return the seconds that the machine's limits leave for a run: its launches, its weights."""
    from ...codegen.profile import launches_of
    from ..measuring.limits import Limits

    assert compiled.program is not None, "what is compiled now has its program"
    limits = Limits.measured(threads)
    launches = limits.least(info.cost for info in launches_of(compiled.program, sizes))
    return max(launches, limits.moving(compiled.description.weights))


def _cost(compiled: Compiled, model: Model, inputs: dict[str, Any]) -> dict[str, int]:
    from ...codegen.profile import launches_of
    from ...passes.analysis.cost import total

    assert compiled.program is not None, "what is compiled now has its program"
    return total(
        info.cost for info in launches_of(compiled.program, _sizes(model, inputs))
    ).as_json()


def _layers(
    args: argparse.Namespace, compiled: Compiled | None, model: Model, inputs: dict[str, Any]
) -> Layers:
    """Return how long each launch takes, and what it is."""
    from ..measuring.layers import measure_layers

    assert compiled is not None, "libraries are refused before"
    with args.console.progress("measuring launches"):
        sizes = _sizes(model, inputs)
        return measure_layers(compiled, inputs, sizes, args.threads or 1, args.seconds / 2)


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


def text_of(record: dict[str, Any], layers: Layers | None) -> str:
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
    return (
        f"against {against['file']}: {words[against['verdict']]}, "
        f"{against['ratio']:.3f} times as long, {apart} standard errors apart"
    )


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
