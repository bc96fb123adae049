"""Compile the network for handwritten digits that comes with gravure, and try it.

    gravure demo                  # into a folder for temporary files
    gravure demo -o digits.so     # keep the library
    gravure demo --threads 2

The model, and 360 images that it was not trained on, are in the folder tools/demo of the source
and in the wheel; tests/models/train_digits.py trained it.
"""

from __future__ import annotations

import argparse
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter, perf_counter_ns
from typing import TYPE_CHECKING

from ..given import positive

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ...runtime.model import Model

NAME = "demo"
DATA = Path(__file__).parents[1] / "demo"
RUNS = 2000


def configure(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="keep the library here")
    parser.add_argument("--threads", type=positive, default=1, help="threads of a run (default: 1)")


def run(args: argparse.Namespace) -> int:
    """Compile, measure, print."""
    from ...frontend.programs.compile import compile, load  # noqa: A004  (it is called that)

    with tempfile.TemporaryDirectory(prefix="gravure-demo-") as folder:
        path = args.output or Path(folder) / "digits.so"
        start = perf_counter()
        compile(DATA / "digits.onnx", threads=args.threads).save(path)
        seconds = perf_counter() - start
        model = load(path, threads=args.threads)
        figures = measure(model, *held_out())
        text = report(figures, model, path, seconds)
        args.console.result(text, {"schema": "gravure.demo/1", "seconds": seconds, **vars(figures)})
    return 0


@dataclass(frozen=True)
class Figures:
    """What a model did on images."""

    right: int
    images: int
    microseconds: float
    """Median time of one run on one image."""


def held_out() -> tuple[NDArray[np.float32], NDArray[np.uint8]]:
    """Return the images that the network was not trained on, and which digits they show."""
    import numpy as np

    with np.load(DATA / "digits_test.npz") as data:
        return data["images"].astype(np.float32), data["labels"]


def measure(model: Model, images: NDArray[np.float32], labels: NDArray[np.uint8]) -> Figures:
    """Run the model on each image by itself; then time it on the first."""
    pairs = zip(images, labels, strict=True)
    right = sum(bool(model(image[None]).argmax() == label) for image, label in pairs)
    again, times = model.bind([images[:1].copy()]), []
    for _ in range(RUNS):
        start = perf_counter_ns()
        again()
        times.append(perf_counter_ns() - start)
    return Figures(right, len(images), median(times) / 1000)


def report(figures: Figures, model: Model, path: Path, seconds: float) -> str:
    """Return what is printed."""
    manifest, kib = model.manifest, 1024
    share = figures.right / figures.images
    inner = manifest["workspace_bytes"] / kib, manifest["weights_bytes"] / kib
    threads = f"{model.threads} thread{'s' if model.threads > 1 else ''}"
    return f"""\
compiled   digits.onnx in {seconds:.2f} s, for this processor
accuracy   {share:.1%}: {figures.right} of {figures.images} images that it was not trained on
latency    {figures.microseconds:.1f} us an image, median of {RUNS} runs, {threads}
memory     {inner[0]:.1f} KiB of workspace, {inner[1]:.1f} KiB of weights, nothing else
library    {path.stat().st_size / kib:.1f} KiB, weights included; it needs no other library

try next
  gravure demo -o digits.so       keep the library
  python tests/models/train_digits.py
                                  train the network again (in a checkout)"""
