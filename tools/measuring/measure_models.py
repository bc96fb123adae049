"""Measure compiled models: error, memory planned and touched, compile time, library size.

    python -m gravure.tools.measuring.measure_models MODELS [NAME ...] [--threads N]

MODELS is a folder with NAME.onnx, NAME.inputs.npz and, if there is one, NAME.ref.npz (outputs
o0, o1, ...). Prints one Markdown row a model:

- `error`: the largest difference to the reference, over the reference's largest magnitude;
- `memory`: KiB of workspace that the library asks for: buffers by the plan, and what its threads
  need for themselves; `bound`: the largest sum of buffers that live at one time, which no plan
  can be below; `touched`: KiB from the workspace's start to the last byte that runs were seen
  to write;
- `cold`, `warm`: seconds from the file to a model that can run, weights prepared, without and
  with what the cache holds, each by the clock and (in brackets) of processor time; the file
  itself was read before;
- `library`: KiB of the shared library without its weights;
- `launches`: kernels that a run launches.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np

from ...codegen.compile import Compiled, Options
from ...frontend.models.compiled import CompiledModel, load_compiled, tag_of
from ...frontend.programs.compile import compile_source
from ...runtime.arguments import numpy_dtype
from ...runtime.buffer import Array, address, aligned_array, aligned_bytes
from ...runtime.direct import tensor_table

PATTERNS = (0xA5, 0x5A)
HEAD = "| model | error | memory | bound | touched | cold s | warm s | library | launches |"


@dataclass(frozen=True)
class Seconds:
    """How long something took: by the clock, and how long processors worked on it."""

    clock: float
    processor: float

    def __str__(self) -> str:
        return f"{self.clock:.2f} ({self.processor:.2f})"


@dataclass(frozen=True)
class ModelTimes:
    """What was measured of one model."""

    name: str
    error: float
    memory: int
    bound: int
    touched: int
    cold: Seconds
    warm: Seconds
    library: int
    launches: int

    def __str__(self) -> str:
        sizes = " | ".join(kib(size) for size in (self.memory, self.bound, self.touched))
        return (
            f"| {self.name} | {self.error:.1e} | {sizes} | {self.cold} | {self.warm} |"
            f" {kib(self.library)} | {self.launches} |"
        )


def kib(size: int) -> str:
    """Return a size in KiB."""
    return f"{size / 1024:.1f}"


def measure(path: Path, threads: int) -> ModelTimes:
    """Return what is measured of one model file."""
    options = Options(slots=threads, tag=tag_of(path))
    path.read_bytes()  # from here on it is in memory
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GRAVURE_CACHE"] = folder
        cold = timed(path, options, threads)[0]
        warm, compiled, model = timed(path, options, threads)
    with np.load(path.with_suffix(".inputs.npz")) as stored:
        inputs = {name: stored[name] for name in stored.files}
    outputs = model.run(inputs)
    made = compiled.description
    return ModelTimes(
        path.stem,
        error_of(path.with_suffix(".ref.npz"), outputs),
        model.workspace_bytes,
        compiled.max_live,
        touched(model, [inputs[info.name] for info in model.inputs]),
        cold,
        warm,
        len(compiled.code()),
        len(made.steps),
    )


def timed(path: Path, options: Options, threads: int) -> tuple[Seconds, Compiled, CompiledModel]:
    """Return the seconds of compiling and loading, and what came out."""
    clock, processor = perf_counter(), process_time()
    compiled = compile_source(path, options)
    model = load_compiled(compiled, threads)
    return Seconds(perf_counter() - clock, process_time() - processor), compiled, model


def error_of(path: Path, outputs: Sequence[Array]) -> float:
    """Return the largest error of any output, over the output's largest magnitude."""
    if not path.is_file():
        return float("nan")
    worst = 0.0
    with np.load(path) as stored:
        for number, output in enumerate(outputs):
            wanted = stored[f"o{number}"].astype(np.float64)
            scale = float(np.abs(wanted).max()) or 1.0
            worst = max(worst, float(np.abs(output - wanted).max()) / scale)
    return worst


def touched(model: CompiledModel, arrays: Sequence[Array]) -> int:
    """Return the bytes of the workspace that a run writes, seen by what two patterns leave."""
    ends = []
    for pattern in PATTERNS:
        workspace = aligned_bytes(model.workspace_bytes)
        workspace[:] = pattern
        _run(model, arrays, workspace)
        changed = np.flatnonzero(workspace != pattern)
        ends.append(int(changed[-1]) + 1 if changed.size else 0)
    return max(ends)


def _run(model: CompiledModel, arrays: Sequence[Array], workspace: Array) -> None:
    """Call the library's own function on a workspace of ours."""
    plain = [np.ascontiguousarray(a) for a in arrays]
    shapes = model.compiled.description.outputs
    outputs = [aligned_array(i.shape_for({}), numpy_dtype(i.dtype)) for i in shapes]
    tables = [tensor_table(model.inputs), tensor_table(model.outputs)]
    for table, values in zip(tables, (plain, outputs), strict=True):
        for row, array in zip(table, values, strict=True):
            row[0] = address(array)
    context: Any = model._context
    status = model._run(address(tables[0]), address(tables[1]), address(workspace), context.address)
    assert status == 0, f"status {status}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("models", type=Path)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--threads", type=int, default=1)
    given = parser.parse_args(arguments)
    paths = [given.models / f"{name}.onnx" for name in given.names]
    print(HEAD, "|---|" + "---|" * 8, sep="\n")
    for path in paths or sorted(given.models.glob("*.onnx")):
        print(measure(path, given.threads), flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
