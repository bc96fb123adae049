"""Time single operations, carried out at once, beside TensorFlow.

    python tools/measuring/eager_operations.py --peer VENV/bin/python

Each Python carries out the same operations on one thread, on operands of about a thousand and of a
million elements; a row is the least time of each in microseconds and gravure's as a part of
TensorFlow's. The last line is their geometric mean, and how many are above 1.2.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from time import perf_counter
from typing import Any

import numpy as np

SIZES = {"1e3": (10, 100), "1e6": (1000, 1000)}
PATIENCE = 0.05
"""Seconds that an operation is repeated for."""


def operations(tf: Any, rows: int, columns: int) -> dict[str, Callable[[], object]]:
    """Return the operations by name, on matrices of so many rows and columns."""
    random = np.random.default_rng(0)

    def draw(*shape: int) -> Any:
        return tf.constant(random.random(shape, np.float32))

    x, y = draw(rows, columns), draw(rows, columns)
    side = 10 if rows < 100 else 250
    image, window = draw(1, side, side, 16), draw(3, 3, 16, 16)
    numbers = tf.constant(random.integers(0, rows, rows, np.int32))
    many = tf.constant(random.integers(0, 50, rows * columns, np.int32))
    chosen = x > 0.5
    return {
        "add": lambda: x + y,
        "exp": lambda: tf.exp(x),
        "tanh": lambda: tf.tanh(x),
        "relu": lambda: tf.nn.relu(x),
        "gelu": lambda: tf.nn.gelu(x),
        "lgamma": lambda: tf.math.lgamma(x),
        "pow": lambda: x**y,
        "mod": lambda: x % y,
        "cast": lambda: tf.cast(x, tf.int32),
        "where": lambda: tf.where(chosen, x, y),
        "where is": lambda: tf.where(chosen),
        "clip": lambda: tf.clip_by_value(x, 0.2, 0.8),
        "sum": lambda: tf.reduce_sum(x),
        "sum of rows": lambda: tf.reduce_sum(x, 1),
        "max of rows": lambda: tf.reduce_max(x, 1),
        "argmax": lambda: tf.argmax(x, 1),
        "std": lambda: tf.math.reduce_std(x, 1),
        "moments": lambda: tf.nn.moments(x, [0]),
        "logsumexp": lambda: tf.reduce_logsumexp(x, 1),
        "softmax": lambda: tf.nn.softmax(x),
        "cross entropy": lambda: tf.nn.softmax_cross_entropy_with_logits(labels=y, logits=x),
        "cumsum": lambda: tf.cumsum(x, 1),
        "sort": lambda: tf.sort(x, 1),
        "top_k": lambda: tf.math.top_k(x, 5),
        "unique": lambda: tf.unique(many),
        "bincount": lambda: tf.math.bincount(many),
        "histogram": lambda: tf.histogram_fixed_width(x, [0.0, 1.0]),
        "segment sum": lambda: tf.math.unsorted_segment_sum(x, numbers, rows),
        "gather": lambda: tf.gather(x, numbers),
        "one_hot": lambda: tf.one_hot(numbers, columns),
        "transpose": lambda: tf.transpose(x),
        "concat": lambda: tf.concat([x, y], 1),
        "tile": lambda: tf.tile(x, [2, 1]),
        "slice": lambda: x[:, 1:],
        "range": lambda: tf.range(rows * columns),
        "uniform": lambda: tf.random.uniform([rows, columns]),
        "normal": lambda: tf.random.normal([rows, columns]),
        "dropout": lambda: tf.nn.dropout(x, 0.5),
        "matmul": lambda: tf.matmul(x, y, transpose_b=True),
        "einsum": lambda: tf.einsum("ij,kj->ik", x, y),
        "conv2d": lambda: tf.nn.conv2d(image, window, 1, "SAME"),
        "max_pool": lambda: tf.nn.max_pool2d(image, 2, 2, "SAME"),
        "avg_pool": lambda: tf.nn.avg_pool2d(image, 2, 2, "SAME"),
        "resize": lambda: tf.image.resize(image, [64, 64]),
    }


def measured(module: str) -> dict[str, float]:
    """Return the least microseconds of each operation of a module of TensorFlow's names."""
    tf = importlib.import_module(module)
    if module == "tensorflow":
        tf.config.threading.set_intra_op_parallelism_threads(1)
        tf.config.threading.set_inter_op_parallelism_threads(1)
    found = {}
    for size, (rows, columns) in SIZES.items():
        for name, run in operations(tf, rows, columns).items():
            times, until = [least(run, 3)], perf_counter() + PATIENCE
            while perf_counter() < until:
                times.append(least(run, 1))
            found[f"{name} {size}"] = 1e6 * min(times)
    return found


def least(run: Callable[[], object], count: int) -> float:
    """Return the least seconds of some runs."""
    found = math.inf
    for _ in range(count):
        start = perf_counter()
        run()
        found = min(found, perf_counter() - start)
    return found


def of_process(python: str, module: str) -> dict[str, float]:
    """Return what a Python of its own measures."""
    environment = {**os.environ, "GRAVURE_THREADS": "1", "TF_CPP_MIN_LOG_LEVEL": "3"}
    command = [python, __file__, "--module", module]
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--peer", metavar="PYTHON", help="a Python that has TensorFlow")
    parser.add_argument("--module", help="measure the names of this module only, print JSON")
    args = parser.parse_args()
    if args.module:
        sys.stdout.write(json.dumps(measured(args.module)) + "\n")
        return
    ours = of_process(sys.executable, "gravure.tf")
    theirs = of_process(args.peer, "tensorflow") if args.peer else {}
    ratios = []
    for name, time in ours.items():
        row = f"{name:20}{time:10.1f}"
        if theirs:
            ratios.append(time / theirs[name])
            row += f"{theirs[name]:10.1f}{ratios[-1]:8.2f}"
        sys.stdout.write(row + "\n")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        above = sum(ratio > 1.2 for ratio in ratios)
        sys.stdout.write(f"{mean:.2f} in the mean of {len(ratios)}, {above} above 1.2\n")


if __name__ == "__main__":
    main()
