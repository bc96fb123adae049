"""Time convolutions in groups, depthwise and of other windows, beside onnxruntime and torch.

    python -m gravure.tools.measuring.bench_convolutions --onnxruntime VENV/bin/python --torch \
        VENV/bin/python
    python -m gravure.tools.measuring.bench_convolutions --cases 128,32,3,1,56 --threads 2

A case is channels, groups, taps along a side, stride, pixels along a side, and dilation if that is
not 1. Its model is several such convolutions with ReLU behind each other, so that what turns the
first image and the last result round counts for little. Each runtime is a process of its own, in
turns. A row has for each the processor's time for a call, all threads together, and the arithmetic
that it did in a second; behind that, gravure's time through the better peer's.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

CASES = (
    *("128,32,3,1,56", "256,32,3,1,28", "512,32,3,1,14", "1024,32,3,1,7"),  # ResNeXt
    *("96,96,7,1,56", "192,192,7,1,28", "384,384,7,1,14", "768,768,7,1,7"),  # ConvNeXt
    *("240,240,5,1,28", "480,480,5,1,14", "256,32,3,2,56", "64,16,3,1,28,2", "336,14,3,1,14"),
)
REPEATED = 6


def sizes_of(case: str) -> list[int]:
    """Return channels, groups, taps, stride, pixels, dilation, and how often it is repeated."""
    channels, groups, taps, stride, pixels, *rest = map(int, case.split(","))
    return [channels, groups, taps, stride, pixels, *(rest or [1]), REPEATED if stride == 1 else 2]


def prepare(model: str, inputs: Any, threads: int) -> Any:
    """Return a call of torch on what a case's model takes, and its version."""
    torch = import_module("torch")
    torch.set_num_threads(threads)
    channels, groups, taps, stride, _, dilation, count = sizes_of(Path(model).stem)
    weights, bias = map(torch.from_numpy, values(channels, groups, taps))
    functional = torch.nn.functional
    given = torch.from_numpy(inputs["x"]).to(memory_format=torch.channels_last)

    def call() -> Any:
        with torch.inference_mode():
            made = given
            for _ in range(count):
                made = functional.relu(
                    functional.conv2d(
                        made, weights, bias, stride, dilation * (taps // 2), dilation, groups
                    )
                )
            return [made.contiguous().numpy()]

    return call, torch.__version__


def values(channels: int, groups: int, taps: int) -> tuple[Any, Any]:
    """Return weights and bias."""
    random, inner = np.random.default_rng(0), channels // groups
    weights = random.standard_normal((channels, inner, taps, taps)) / (taps * np.sqrt(inner))
    return weights.astype(np.float32), random.standard_normal(channels).astype(np.float32)


def make_model(folder: Path, case: str) -> tuple[Path, Any, int]:
    """Write the model of a case; return it, an image for it, and the products it takes."""
    from ...frontend.programs.onnx_backend import repeated_operator

    channels, groups, taps, stride, pixels, dilation, count = sizes_of(case)
    flags: dict[str, Any] = {
        "group": groups, "strides": [stride] * 2, "dilations": [dilation] * 2,
        "pads": [dilation * (taps // 2)] * 4,
    }  # fmt: skip
    wide, macs = pixels, 0
    for _ in range(count):
        wide = (wide - 1) // stride + 1
        macs += wide * wide * channels * taps * taps * (channels // groups)
    weights, bias = values(channels, groups, taps)
    image = np.random.default_rng(1).standard_normal((1, channels, pixels, pixels))
    path = folder / f"{case}.onnx"
    path.write_bytes(
        repeated_operator("Conv", count, image.shape, {"w": weights, "b": bias}, **flags)
    )
    return path, {"x": image.astype(np.float32)}, macs


def measure(given: argparse.Namespace, case: str) -> str:
    """Return the line of a case."""
    from ...frontend.programs.compile import compile as compile_model
    from .peers import Duel, Peer, compare, rows_of

    found = {"onnxruntime": "onnxruntime", "torch": __file__}
    peers = [
        Peer(name, runtime, getattr(given, name))
        for name, runtime in found.items()
        if getattr(given, name)
    ]
    with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
        path, arrays, macs = make_model(Path(folder), case)
        library = Path(folder) / "convolutions.so"
        compile_model(path, threads=given.threads).save(library)
        duel = Duel(library, str(path), arrays, given.threads, given.seconds)
        rows = rows_of(compare(duel, peers)[0], 0.0)
    times = {row["name"]: row["processor"] for row in rows}
    cells = [f"{n} {t * 1e3:8.3f} ms {2e-9 * macs / t:6.1f} GFLOP/s" for n, t in times.items()]
    others = [time for name, time in times.items() if name != "gravure"]
    versus = f"{times['gravure'] / min(others):.2f}" if others else ""
    differs = max((row["difference"] or 0.0 for row in rows), default=0.0)
    return f"{case:16} {'  '.join(cells)}  {versus}  {differs:.1e}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--onnxruntime", help="a Python that has it")
    parser.add_argument("--torch", help="a Python that has it")
    parser.add_argument("--cases", nargs="*", default=CASES)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    given = parser.parse_args(arguments)
    for case in given.cases:
        print(measure(given, case), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
