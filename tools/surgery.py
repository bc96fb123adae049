"""What the verbs that write models share: their options, and the comparison with the original."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .console import Console, table
from .given import amount, natural
from .options import dims_of, shapes_of, source_of

if TYPE_CHECKING:
    from ..frontend.programs.save import Saving
    from ..runtime.compare import Difference
    from .verbs.surgery import Written


LARGEST = 8
"""The most that a dimension without an end is tried with."""


def add_onnx(parser: argparse.ArgumentParser) -> None:
    """Add how an ONNX model is written."""
    parser.add_argument(
        "--opset", type=natural, default=0, metavar="N", help="of an ONNX model (21)"
    )
    parser.add_argument(
        "--external-data", action="store_true", help="weights of an ONNX model in a file beside it"
    )


def add_comparison(parser: argparse.ArgumentParser) -> None:
    """Add what says how results are compared."""
    parser.add_argument(
        "-i", "--input", action="append", default=[], metavar="SPEC",
        help="an input of --check, or all (see gravure run)",
    )  # fmt: skip
    parser.add_argument("--rtol", type=amount, metavar="X", help="relative tolerance of --check")
    parser.add_argument("--atol", type=amount, metavar="X", help="absolute tolerance of --check")


def saving_of(args: argparse.Namespace) -> Saving:
    """Return how to write a program."""
    from ..frontend.programs.save import Saving

    return Saving(
        getattr(args, "format", ""),
        Path(args.model).stem if args.model != "-" else "main",
        not getattr(args, "no_weights", False),
        getattr(args, "opset", 0),
        getattr(args, "external_data", False),
    )


def report(args: argparse.Namespace, made: Written, **compared: Any) -> int:
    """Say what was written, and how its results differ from the original's if that is wanted."""
    console: Console = args.console
    verdicts = _compared(args, made.path, **compared) if args.check else {}
    text = "\n".join([str(made), *(_verdict(judge, rows) for judge, rows in verdicts.items())])
    found = {
        judge: {name: each.as_json() for name, each in rows.items()}
        for judge, rows in verdicts.items()
    }
    if console.json or not console.quiet:
        console.result(text, {**made.as_json(), "compared": found})
    return int(any(not each.is_close for rows in verdicts.values() for each in rows.values()))


def _compared(
    args: argparse.Namespace, written: Path, *, shapes: Any = None, dims: Any = None
) -> dict[str, dict[str, Difference]]:
    """Return how results of what was written differ from the original's, run in two ways.

    Both are compiled and run on the same inputs; an ONNX model is run by onnxruntime too, if
    that is installed.
    """
    from importlib.util import find_spec

    from ..frontend.programs.compile import compile  # noqa: A004  (it is called that)
    from .comparing.judges import Task, Tolerances, by_onnxruntime, differences
    from .inputs import make_inputs

    shapes = shapes if shapes is not None else shapes_of(args)
    dims = _bounded(args, shapes, dims if dims is not None else dims_of(args))
    with args.console.progress("comparing with the original"):
        model = compile(source_of(args.model), shapes=shapes, dims=dims)
        is_text = written.suffix == ".mlir"  # which has its own bounds
        other = compile(written, dims=None if is_text else dims)
        inputs = make_inputs(args.input, other.inputs, other.dims)
        values = list(inputs.values())
        wanted = dict(zip((o.name for o in model.outputs), model.run(values), strict=True))
        found = dict(zip((o.name for o in other.outputs), other.run(values), strict=True))
        asked = Tolerances(args.rtol, args.atol)
        verdicts = {"the original": differences(other, found, wanted, asked)}
        if written.suffix == ".onnx" and find_spec("onnxruntime") is not None:
            others = by_onnxruntime(Task(str(written), inputs, list(found)))
            verdicts["the original (by onnxruntime)"] = differences(other, others, wanted, asked)
    return verdicts


def _bounded(args: argparse.Namespace, shapes: Any, dims: Any) -> dict[str, Any]:
    """Return the dimensions with an end for those that have none."""
    from ..frontend.programs.load import load_program

    ranges = load_program(source_of(args.model), shapes=shapes, dims=dims).ranges
    ends = {name: (low, max(low, LARGEST)) for name, (low, high) in ranges.items() if high is None}
    return {**ends, **(dims or {})}


def _verdict(judge: str, rows: dict[str, Difference]) -> str:
    lines = [["", f"against {judge}", "max abs", "max rel", "wrong"]]
    for name, each in rows.items():
        word = "ok" if each.is_close else "FAIL"
        far = [f"{each.absolute:.3g}", f"{each.relative:.3g}", f"{each.wrong} of {each.size}"]
        lines.append([word, name, *far])
    return table(lines, right="234")
