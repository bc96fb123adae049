"""Compile a model of very large weights, and measure how much memory that takes.

    python -m gravure.tools.measuring.measure_weights [--gib 3] [--folder DIR] [--weights \
        embed|file]

The weights are zeros in a sparse file, which takes no space on a disk; what is written is as large
as they are. Prints the size of the weights, the most memory that compiling had at one time (all
of it, and what is not pages of files), and the time.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

WIDTH = 8192
"""Rows and columns of each weight: 256 MiB."""
FIELDS = ("VmRSS", "RssAnon")


def write_model(folder: Path, gib: float) -> Path:
    """Write a chain of products as graph text, its weights as a sparse file; return the text."""
    size = WIDTH * WIDTH * 4
    layers = max(1, round(gib * (1 << 30) / size))
    header = {
        f"w{i}": {
            "dtype": "F32", "shape": [WIDTH, WIDTH], "data_offsets": [i * size, (i + 1) * size],
        }
        for i in range(layers)
    }  # fmt: skip
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 64)
    with (folder / "large.safetensors").open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        file.truncate(8 + len(text) + layers * size)
    lines, value = [], "x"
    for i in range(layers):
        lines.append(f'  weight w{i}: f32[{WIDTH}, {WIDTH}] from "large.safetensors"')
        name = "y" if i == layers - 1 else f"r{i}"
        lines += [f"  m{i} = {value} @ w{i}", f"  {name} = relu(m{i})"]
        value = name
    path = folder / "large.gv"
    body = "\n".join(lines)
    path.write_text(f"model large(x: f32[1, {WIDTH}]) -> (y) {{\n{body}\n}}\n")
    return path


class Watch:
    """The most memory that a process was seen to have."""

    def __init__(self, process: int) -> None:
        self.path = Path(f"/proc/{process}/status")
        self.most = dict.fromkeys(FIELDS, 0)
        self.done = threading.Event()
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self) -> None:
        """Look now and then."""
        while not self.done.wait(0.05):
            try:
                text = self.path.read_text()
            except OSError:  # it has ended
                return
            for line in text.splitlines():
                name, _, rest = line.partition(":")
                if name in self.most:
                    self.most[name] = max(self.most[name], int(rest.split()[0]) * 1024)

    def stop(self) -> dict[str, int]:
        """Return the bytes."""
        self.done.set()
        self.thread.join()
        return self.most


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--gib", type=float, default=3.0)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--weights", choices=("embed", "file"), default="embed")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory(prefix="gravure-", dir=given.folder) as folder:
        path = write_model(Path(folder), given.gib)
        size = (path.parent / "large.safetensors").stat().st_size
        command = [sys.executable, "-m", "gravure", "compile", str(path), "--no-cache", "-q"]
        command += ["-o", str(path.with_suffix(".so")), "--weights", given.weights]
        start = perf_counter()
        process = subprocess.Popen(command)
        watch = Watch(process.pid)
        status = process.wait()
        most, seconds = watch.stop(), perf_counter() - start
    whole, own = (most[name] / (1 << 30) for name in FIELDS)
    weights = size / (1 << 30)
    print(
        f"weights {weights:.2f} GiB, at most {whole:.2f} GiB in memory ({own:.2f} GiB of its own)"
    )
    print(f"{whole - weights:.2f} GiB over the weights, {seconds:.0f} s")
    return status


if __name__ == "__main__":
    raise SystemExit(main())
