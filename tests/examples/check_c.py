"""Run models in a C program, and compare what it writes with stored results.

    python tests/examples/check_c.py MODELS NAME ...

MODELS is a folder with NAME.onnx, NAME.inputs.npz and NAME.ref.npz (outputs o0, o1, ...). Each
model becomes a shared library and a header; c/run_model.c, compiled with the header and linked
with the library, reads the inputs as raw numbers and writes the outputs. Prints the largest
error of each model, over its reference's largest magnitude. Needs a C compiler, `cc`.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import gravure as gv
from gravure.runtime.arguments import numpy_dtype

PROGRAM = Path(__file__).parent / "c" / "run_model.c"
STRICT = ("-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Werror")


def run_in_c(model: Any, inputs: Mapping[str, Any], folder: Path) -> list[Any]:
    """Return the outputs of a compiled model that a C program wrote."""
    tag = model.manifest["tag"]
    for suffix in ("so", "h"):
        model.save(folder / f"{tag}.{suffix}")
    program, library = folder / f"run_{tag}", folder / f"{tag}.so"
    here = [f"-DMODEL={tag}", "-include", str(folder / f"{tag}.h"), str(PROGRAM), str(library)]
    subprocess.run(["cc", *STRICT, *here, "-o", str(program)], check=True)
    given = []
    for number, info in enumerate(model.inputs):
        array = np.ascontiguousarray(inputs[info.name])
        array.tofile(folder / f"in{number}.raw")
        given.append(argument(info, array.shape, folder / f"in{number}.raw"))
    shapes = [info.shape_for({}) for info in model.outputs]
    wanted = [
        argument(info, shape, folder / f"out{number}.raw")
        for number, (info, shape) in enumerate(zip(model.outputs, shapes, strict=True))
    ]
    subprocess.run([str(program), *given, "--", *wanted], check=True)
    return [
        np.fromfile(folder / f"out{number}.raw", numpy_dtype(info.dtype)).reshape(shape)
        for number, (info, shape) in enumerate(zip(model.outputs, shapes, strict=True))
    ]


def argument(info: Any, shape: Sequence[int], file: Path) -> str:
    """Return one argument of the program."""
    return f"{info.dtype}:{'x'.join(map(str, shape))}:{file}"


def error(found: Any, wanted: Any) -> float:
    """Return the largest difference, over the largest magnitude."""
    wide = wanted.astype(np.float64)
    return float(np.abs(found - wide).max() / (np.abs(wide).max() or 1))


def main(folder: Path, names: Sequence[str]) -> int:
    """Check models by name."""
    for name in names:
        model = gv.compile(folder / f"{name}.onnx")
        with np.load(folder / f"{name}.inputs.npz") as stored, tempfile.TemporaryDirectory() as to:
            outputs = run_in_c(model, stored, Path(to))
        with np.load(folder / f"{name}.ref.npz") as stored:
            worst = max(error(found, stored[f"o{i}"]) for i, found in enumerate(outputs))
        print(f"{name}: largest error {worst:.1e}", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]), sys.argv[2:]))
