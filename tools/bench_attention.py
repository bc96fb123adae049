"""Time attention beside onnxruntime and torch, from short sequences to long ones.

    python -m gravure.tools.bench_attention --onnxruntime VENV/bin/python --torch VENV/bin/python
    python -m gravure.tools.bench_attention --cases causal decode --sequence 128 4096 --threads 2

All take queries, keys and values as projections leave them, [1, S, heads * width] (a decoder's
cache [1, heads, T, width]): gravure and onnxruntime a model with MultiHeadAttention, torch its
scaled_dot_product_attention. Each runs in a process of its own, in turns. A row has for each the
processor's time for a call, all threads together, and the memory of its process above that with
the first sequence; behind that, gravure's time through the better peer's.

Measured on one thread of a shared 2-core Zen 4, 12 heads of 64, onnxruntime 1.31 and torch 2.13, in
ms and MiB (all three in one run):

|         |      | gravure |    | onnxruntime |     | torch |    |
|---------|------|---------|----|-------------|-----|-------|----|
| prefill | 128  | 0.565   | 2  | 0.773       | 3   | 0.962 | 3  |
| prefill | 1024 | 36.1    | 18 | 38.3        | 28  | 46.5  | 19 |
| prefill | 4096 | 646     | 72 | 631         | 112 | 781   | 73 |
| causal  | 128  | 0.363   | 2  | 0.879       | 4   | 0.948 | 2  |
| causal  | 1024 | 18.7    | 18 | 42.5        | 85  | 33.4  | 19 |
| causal  | 4096 | 323     | 72 | 863         | 987 | 422   | 73 |
| decode  | 128  | 0.010   | 1  | 0.038       | 1   | 0.050 | 1  |
| decode  | 1024 | 0.087   | 6  | 0.273       | 6   | 0.284 | 6  |
| decode  | 4096 | 1.019   | 24 | 2.611       | 24  | 2.178 | 24 |
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
    from ..frontend.onnx.backend import one_operator

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
    from ..frontend.compile import compile as compile_model
    from .measuring.peers import Duel, Peer, compare, rows_of

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
