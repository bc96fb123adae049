"""Export one architecture and note what onnxruntime gives for it.

    python tests/corpus/models/export.py FOLDER torchvision/resnet18 legacy open plain
    python tests/corpus/models/export.py --serve

Writes `model.onnx`, and of each size `0.npz`, `1.npz`: inputs by name, results as `=0`, `=1`; sizes
at the edge as `edge2.npz` and so on.
With `--serve` such lines are read, each is done in a process of its own, which has all libraries
already, and its status is written; what went wrong is in FOLDER's `errors`.
"""

from __future__ import annotations

import os
import signal
import sys
import traceback
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from architectures import Case, case_of, estimator
from forms import OPSET, cast, opset_of, rewrite
from more import FILES

LONGEST = 300
"""How many seconds one export may take."""
Feed = dict[str, Any]


def export(case: Case, path: Path, exporter: str, axes: str, opset: int) -> None:
    """Write a model by one of torch's exporters, with open or fixed axes."""
    first, names = case.inputs[0], list(case.inputs[0])
    arguments = tuple(first.values())
    if axes == "fixed":
        more: dict[str, Any] = {}
    elif exporter == "dynamo":
        dims = {
            name: torch.export.Dim.DYNAMIC for row in case.axes.values() for name in row.values()
        }
        shapes = tuple({a: dims[n] for a, n in case.axes[name].items()} for name in names)
        more = {"dynamic_shapes": (shapes,)}
    else:
        more = {"dynamic_axes": case.axes}
    torch.onnx.export(
        case.module, arguments, str(path), input_names=names, opset_version=opset,
        dynamo=exporter == "dynamo", verbose=False, **more,
    )  # fmt: skip


def export_estimator(name: str, path: Path) -> list[Feed]:
    """Write an estimator and return rows to try it on."""
    from skl2onnx import to_onnx  # noqa: PLC0415  (only for these)

    made, rows = estimator(name)
    opsets = {"": OPSET, "ai.onnx.ml": 3}
    path.write_bytes(to_onnx(made, rows[:1], target_opset=opsets).SerializeToString())
    return [{"X": rows[:1]}, {"X": rows[:7]}]


def note(path: Path, inputs: list[Feed], edges: list[Feed]) -> None:
    """Write what onnxruntime gives for each set of inputs, and for those at the edge if it does.

    Sizes at the edge may end its process, so that each has one of its own.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    for number, given in enumerate(inputs):
        note_one(session, given, path.with_name(f"{number}.npz"))
    for number, given in enumerate(edges, len(inputs)):
        child = os.fork()
        if child:
            os.waitpid(child, 0)
            continue
        try:
            note_one(session, given, path.with_name(f"edge{number}.npz"))
        finally:
            os._exit(0)


def note_one(session: Any, given: Feed, path: Path) -> None:
    """Write one set of inputs and results."""
    feed = {each.name: given[each.name] for each in session.get_inputs()}
    made = session.run(None, feed)
    if any(isinstance(rows, list) and not rows for rows in made):
        return  # maps of no rows have no classes
    results = {f"={i}": array for i, array in enumerate(made)}
    for name, rows in results.items():  # maps of classes, as their values in order
        if not isinstance(rows, np.ndarray):
            results[name] = np.array([[*row.values()] for row in rows])
        elif rows.dtype == object:
            results[name] = rows.astype(str)
    np.savez(path, **feed, **results)


def main(folder: str, name: str, exporter: str, axes: str, form: str) -> None:
    """Export one architecture."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    path = Path(folder, "model.onnx").absolute()
    os.chdir(folder)  # where onnxruntime's tools leave files
    family, _, rest = name.partition("/")
    if family == "sklearn":
        note(path, export_estimator(rest, path), [])
        return
    if family in FILES:
        note(path, *FILES[family][1](rest, path))
        return
    case = cast(case_of(name), form)
    with torch.no_grad():
        export(case, path, exporter, axes, opset_of(form))
    several = case.inputs if axes == "open" else case.inputs[:1]
    inputs = [{key: value.numpy() for key, value in each.items()} for each in several]
    rewrite(path, form, inputs)
    edges = case.edges if axes == "open" else ()
    note(path, inputs, [{key: value.numpy() for key, value in each.items()} for each in edges])


def serve() -> None:
    """Do each line in a process of its own."""
    for name in ("torchvision", "timm", "transformers", "onnx", "onnxscript"):
        __import__(name)
    for line in sys.stdin:
        child = os.fork()
        if not child:
            signal.alarm(LONGEST)
            try:
                main(*line.split())
            except BaseException:
                Path(line.split()[0], "errors").write_text(traceback.format_exc())
                os._exit(1)
            os._exit(0)
        print(f"status {os.waitpid(child, 0)[1]}", file=sys.__stderr__, flush=True)


if __name__ == "__main__":
    serve() if sys.argv[1:] == ["--serve"] else main(*sys.argv[1:])
