"""Time attention beside onnxruntime and torch, from short sequences to long ones.

    python -m gravure.tools.measuring.bench_attention --onnxruntime VENV/bin/python --torch \
        VENV/bin/python
    python -m gravure.tools.measuring.bench_attention --cases causal decode --sequence 128 4096 \
        --threads 2

All take queries, keys and values as projections leave them, [1, S, heads * width] (a decoder's
cache [1, heads, T, width]): gravure and onnxruntime a model with MultiHeadAttention, torch its
scaled_dot_product_attention. Each runs in a process of its own, in turns. A row has for each the
processor's time for a call, all threads together, and the memory of its process above that with
the first sequence; behind that, gravure's time through the better peer's.

Measured on one thread of a busy 2-core Zen 4, 12 heads of 64, onnxruntime 1.31 and torch 2.13, in
ms and MiB (all three in one run):

|         |      | gravure |    | onnxruntime |     | torch |    |
|---------|------|---------|----|-------------|-----|-------|----|
| prefill | 128  | 0.528   | 0  | 0.685       | 0   | 0.839 | 0  |
| prefill | 1024 | 37.6    | 16 | 37.8        | 25  | 49.0  | 17 |
| prefill | 4096 | 578     | 70 | 617         | 109 | 813   | 71 |
| causal  | 128  | 0.386   | 0  | 0.879       | 0   | 1.01  | 0  |
| causal  | 1024 | 19.5    | 16 | 48.2        | 80  | 36.4  | 16 |
| causal  | 4096 | 315     | 70 | 882         | 983 | 426   | 71 |
| decode  | 128  | 0.012   | 0  | 0.046       | 0   | 0.063 | 0  |
| decode  | 1024 | 0.089   | 5  | 0.287       | 5   | 0.239 | 5  |
| decode  | 4096 | 0.757   | 23 | 2.73        | 23  | 2.23  | 23 |
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

CASES = ("prefill", "causal", "decode")


def prepare(model: str, inputs: Any, threads: int) -> Any:
    """Return a call of torch on what a case's model takes, and its version."""
    torch = import_module("torch")
    torch.set_num_threads(threads)
    case, heads = Path(model).stem.split("-")[:2]
    function = torch.nn.functional.scaled_dot_product_attention
    given = [torch.from_numpy(inputs[name]) for name in ("q", "k", "v")]

    def split(x: Any) -> Any:
        if x.dim() == 4:
            return x
        return x.view(1, x.shape[1], int(heads), -1).transpose(1, 2)

    def call() -> Any:
        with torch.inference_mode():
            made = function(*map(split, given), is_causal=case == "causal")
            return [made.transpose(1, 2).reshape(given[0].shape).numpy()]

    return call, torch.__version__


def make_model(folder: Path, case: str, sequence: int, heads: int, width: int) -> tuple[Path, Any]:
    """Write the model of a case; return it, and arrays for it."""
    from ...frontend.programs.onnx_backend import one_operator

    wide, split = (1, sequence, heads * width), (1, heads, sequence, width)
    shapes: dict[str, tuple[int, ...]] = {"q": wide, "k": wide, "v": wide}
    if case == "decode":
        shapes = {"q": (1, 1, heads * width), "k": split, "v": split}
    random = np.random.default_rng(0)
    arrays = {name: random.standard_normal(s).astype(np.float32) for name, s in shapes.items()}
    flags = {"num_heads": heads, "unidirectional": int(case == "causal")}
    path = folder / f"{case}-{heads}-{sequence}.onnx"
    path.write_bytes(one_operator("MultiHeadAttention", "com.microsoft", arrays, **flags))
    return path, arrays


def measure(given: argparse.Namespace, case: str, sequence: int) -> list[dict[str, Any]]:
    """Return a record of each runtime for one case."""
    from ...frontend.programs.compile import compile as compile_model
    from .peers import Duel, Peer, compare, rows_of

    found = {"onnxruntime": "onnxruntime", "torch": __file__}
    peers = [
        Peer(name, runtime, getattr(given, name))
        for name, runtime in found.items()
        if getattr(given, name)
    ]
    with tempfile.TemporaryDirectory(prefix="gravure-") as folder:
        path, arrays = make_model(Path(folder), case, sequence, given.heads, given.width)
        library = Path(folder) / "attention.so"
        compile_model(path, threads=given.threads).save(library)
        duel = Duel(library, str(path), arrays, given.threads, given.seconds)
        running, absent = compare(duel, peers)
    for name, reason in absent.items():
        print(f"{name}: not measured: {reason}")
    return rows_of(running, 0.0)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure all cases and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--onnxruntime", help="a Python that has it")
    parser.add_argument("--torch", help="a Python that has it")
    parser.add_argument("--cases", nargs="*", choices=CASES, default=CASES)
    parser.add_argument("--sequence", nargs="*", type=int, default=[128, 1024, 2048, 4096])
    parser.add_argument("--heads", type=int, default=12)
    parser.add_argument("--width", type=int, default=64)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=1.0)
    given = parser.parse_args(arguments)
    for case in given.cases:
        rest: dict[str, int] = {}
        for sequence in given.sequence:
            rows = measure(given, case, sequence)
            cells = []
            for row in rows:
                before = rest.setdefault(row["name"], row["peak_bytes"])
                more = (row["peak_bytes"] - before) / 2**20
                cells.append(f"{row['name']} {row['processor'] * 1e3:9.3f} ms {more:6.0f} MiB")
            others = [row["processor"] for row in rows[1:]]
            versus = f"{rows[0]['processor'] / min(others):.2f}" if others else ""
            differs = max((row["difference"] or 0.0 for row in rows), default=0.0)
            print(f"{case:8} {sequence:5}  {'  '.join(cells)}  {versus}  {differs:.1e}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
