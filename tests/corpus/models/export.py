"""Export one architecture and note what onnxruntime gives for it.

    python tests/corpus/models/export.py FOLDER torchvision/resnet18 legacy open

Writes `model.onnx`, and of each size `0.npz`, `1.npz`: inputs by name, results as `=0`, `=1`.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import torch
from architectures import Case, case_of, estimator

OPSET = 18


def export(case: Case, path: Path, exporter: str, axes: str) -> None:
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
        case.module, arguments, str(path), input_names=names, opset_version=OPSET,
        dynamo=exporter == "dynamo", verbose=False, **more,
    )  # fmt: skip


def export_estimator(name: str, path: Path) -> list[dict[str, Any]]:
    """Write an estimator and return rows to try it on."""
    from skl2onnx import to_onnx  # noqa: PLC0415  (only for these)

    made, rows = estimator(name)
    opsets = {"": OPSET, "ai.onnx.ml": 3}
    path.write_bytes(to_onnx(made, rows[:1], target_opset=opsets).SerializeToString())
    return [{"X": rows[:1]}, {"X": rows[:7]}]


def note(path: Path, inputs: list[dict[str, Any]]) -> None:
    """Write what onnxruntime gives for each set of inputs."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    session = onnxruntime.InferenceSession(str(path), options, ["CPUExecutionProvider"])
    for number, given in enumerate(inputs):
        feed = {each.name: given[each.name] for each in session.get_inputs()}
        results = {f"={i}": array for i, array in enumerate(session.run(None, feed))}
        for name, rows in results.items():  # maps of classes, as their values in order
            if not isinstance(rows, np.ndarray):
                results[name] = np.array([[*row.values()] for row in rows])
        kept = results
        np.savez(path.with_name(f"{number}.npz"), **feed, **kept)


def main(folder: str, name: str, exporter: str, axes: str) -> None:
    """Export one architecture."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    path = Path(folder, "model.onnx")
    if name.startswith("sklearn/"):
        note(path, export_estimator(name.partition("/")[2], path))
        return
    case = case_of(name)
    with torch.no_grad():
        export(case, path, exporter, axes)
    several = case.inputs if axes == "open" else case.inputs[:1]
    note(path, [{key: value.numpy() for key, value in each.items()} for each in several])


if __name__ == "__main__":
    main(*sys.argv[1:])
