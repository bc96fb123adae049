"""Measure how long a model takes, and compare it with others, or with itself without a pass.

    gravure bench model.onnx
    gravure bench model.so --threads 4 --seconds 5 -o today.json
    gravure bench model.onnx --against yesterday.json     # exit status 1 if it is slower
    gravure bench model.onnx --layers --trace run.json    # each launch, and how near to the limit
    gravure bench model.onnx --peers onnxruntime,openvino # side by side, in turns
    gravure bench model.onnx --peer ort=/venv/bin/python,mine.py
    gravure bench model.onnx --html layers.html           # a page: layers, roofline, memory
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
from pathlib import Path
from typing import Any

from ..console import Console
from ..errors import UsageError
from ..given import amount, positive
from ..options import (
    add_compile,
    add_model,
    dims_of,
    is_library,
    options_of,
    output_of,
    shapes_of,
    source_of,
)
from .run import add_inputs

NAME = "bench"
EACH = "each"
"""What `--passes` says if no pipeline follows it."""


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    add_model(parser, "model or library: ONNX, .so, graph text (.gv)")
    add_inputs(parser)
    parser.add_argument("--warm-up", type=amount, default=0.2, metavar="S", help="seconds (0.2)")
    parser.add_argument("--seconds", type=amount, default=1.0, metavar="S", help="at least (1.0)")
    parser.add_argument(
        "--iterations", type=positive, default=20, metavar="N", help="at least (20)"
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="keep the record, as JSON")
    parser.add_argument("--against", metavar="FILE", help="an earlier record to compare with")
    parser.add_argument(
        "--threshold", type=amount, default=0.05, metavar="X", help="share that is no change (0.05)"
    )
    parser.add_argument("--layers", action="store_true", help="measure every launch")
    parser.add_argument("--trace", metavar="FILE", help="launches, for trace viewers")
    parser.add_argument(
        "--peers", action="append", default=[], metavar="NAME,...", help="runtimes to compare with"
    )
    parser.add_argument(
        "--peer", action="append", default=[], metavar="NAME=PYTHON", help="one of another Python"
    )
    parser.add_argument(
        "--html", metavar="FILE", help="page with launches, roofline, memory; or of --passes"
    )
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
    if args.passes == EACH:
        from ..verbs.ablation import run as run_ablation

        return run_ablation(args)
    return compare_peers(args) if args.peers or args.peer else measure_one(args)


def measure_one(args: argparse.Namespace) -> int:
    """Measure, record, compare."""
    from ..verbs.bench import bench, keep

    outputs = [output_of(name, args.model) for name in (args.output, args.trace, args.html)]
    console: Console = args.console
    source = source_of(args.model)
    found = bench(
        source, **common(args, source), warm_up=args.warm_up, seconds=args.seconds,
        iterations=args.iterations, layers=bool(args.layers or args.trace or args.html),
        against=args.against, threshold=args.threshold, weights=args.weights_file,
    )  # fmt: skip
    if outputs[0] is not None:
        found.save(outputs[0])
    if outputs[1] is not None:
        keep(outputs[1], found.trace())
    if outputs[2] is not None:
        keep(outputs[2], found.html())
    console.result(found.text(layers=args.layers), found.as_json())
    for doubt in found.doubts:
        console.say(f"gravure bench: warning: {doubt}")
    return int(found.is_slower)


def compare_peers(args: argparse.Namespace) -> int:
    """Measure the model in several runtimes, side by side."""
    from ..verbs.peers import bench_peers

    output = output_of(args.output, args.model)
    named = [name for each in args.peers for name in each.split(",") if name]
    source = source_of(args.model)
    words = [*named, *args.peer]
    found = bench_peers(source, words, **common(args, source), seconds=args.seconds)
    if output is not None:
        found.save(output)
    console: Console = args.console
    console.show(found)
    return 0


def common(args: argparse.Namespace, source: str | bytes) -> dict[str, Any]:
    """Return what all ways to measure are told."""
    threads = args.threads or 1
    return {
        "inputs": args.input,
        "threads": threads,
        "shapes": shapes_of(args),
        "dims": dims_of(args),
        "options": None if is_library(source) else options_of(args, slots=threads),
        "progress": args.console.progress,
    }
