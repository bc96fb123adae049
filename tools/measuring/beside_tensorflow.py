"""Time gravure's facade beside TensorFlow: overheads of calls, and training.

    python tools/measuring/beside_tensorflow.py overheads --peer VENV/bin/python
    python tools/measuring/beside_tensorflow.py l2hmc --peer VENV/bin/python --size 10 50 200
    python tools/measuring/beside_tensorflow.py resnet50 --peer VENV/bin/python --size 1 4 8
    python tools/measuring/beside_tensorflow.py convnet --peer VENV/bin/python --size 64
    python tools/measuring/beside_tensorflow.py transformer --peer VENV/bin/python --size 16

`--peer` is a Python that has TensorFlow; without it only gravure is timed. Both run the same
programs, on one thread (`--threads 2`: two), one after the other in blocks that take turns. On one
thread times are those of the processor, children included, the least of some repeats, so that
other work on the machine disturbs them little; on more they are by the clock.

Measured on one thread of a 2-core Zen 4 that had much else to do, with TensorFlow 2.21 (both
columns in one run; seconds are those of processors, compiled without a cache):

|                                          | gravure | TensorFlow |
|------------------------------------------|---------|------------|
| eager a + a, us                          | 1.43    | 19.7       |
| eager matmul, us                         | 4.85    | 34.4       |
| eager relu, us                           | 6.26    | 8.9        |
| eager reduce_sum, us                     | 7.68    | 15.8       |
| eager reshape, us                        | 4.22    | 72         |
| eager a[:, 1:], us                       | 7.57    | 126        |
| eager concat, us                         | 8.23    | 14.8       |
| eager gather, us                         | 20.8    | 39.5       |
| eager softmax, us                        | 14.1    | 15.2       |
| staged x + x, us                         | 3.33    | 140        |
| staged chain of 1000 adds, us            | 28      | 190        |
| Session.run of x + x, us                 | 6.1     | 79         |
| Session.run of 1000 adds, us             | 6.7     | 238        |
| L2HMC n = 10, examples/s                 | 7810    | 414        |
| L2HMC n = 25, examples/s                 | 25350   | 961        |
| L2HMC n = 50, examples/s                 | 25870   | 1974       |
| L2HMC n = 100, examples/s                | 31160   | 3207       |
| L2HMC n = 200, examples/s                | 32220   | 5984       |
| L2HMC n = 10, eagerly, examples/s        | 14      | 6.3        |
| L2HMC n = 200, first four steps, s       | 15.3    | 31.3       |
| ResNet-50 batch 1, examples/s            | 3.76    | 2.51       |
| ResNet-50 batch 4, examples/s            | 4.19    | 2.74       |
| ResNet-50 batch 8, examples/s            | 4.08    | 2.96       |
| convolutions, batch 64, examples/s       | 1988    | 1189       |
| transformer, batch 16, examples/s        | 37.3    | 30.8       |
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "tests" / "examples"
Rows = dict[str, float]


def main(arguments: Sequence[str] | None = None) -> None:
    """Time one subject with both, and print them side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--peer", help="a Python that has TensorFlow")
    parser.add_argument("--size", type=int, nargs="*", default=[4], help="examples in a step")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--module", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.module:
        tf = importlib.import_module(given.module)
        print(json.dumps(SUBJECTS[given.subject](tf, given.size)))
        return
    table: dict[str, dict[str, float]] = {}
    sides = {"gravure": (sys.executable, "gravure.tf")}
    if given.peer:
        sides["tensorflow"] = (given.peer, "tensorflow")
    words = [given.subject, "--size", *map(str, given.size), "--threads", str(given.threads)]
    for _ in range(given.rounds):
        for side, (python, module) in sides.items():
            for name, value in run([python, __file__, *words, "--module", module]).items():
                best = max if "/s" in name else min
                row = table.setdefault(name, {})
                row[side] = best(value, row.get(side, value))
    print(f"{'':34}" + "".join(f"{side:>14}" for side in sides))
    for name, row in table.items():
        print(f"{name:34}" + "".join(f"{row[side]:14.2f}" for side in sides))


def run(words: Sequence[str]) -> Rows:
    """Time one subject in a process of its own."""
    threads = words[words.index("--threads") + 1]
    variables = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
    names = ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "GRAVURE_THREADS")
    variables |= dict.fromkeys(names, threads) | {"TF_NUM_INTEROP_THREADS": "1"}
    made = subprocess.run(words, env=variables, capture_output=True, text=True, check=False)
    if made.returncode:
        raise SystemExit(f"{words}: {made.stderr}")
    found: Rows = json.loads(made.stdout.splitlines()[-1])
    return found


def now() -> float:
    """Return the seconds of the processor that were used; of the clock if there are threads."""
    if "--threads" in sys.argv and sys.argv[sys.argv.index("--threads") + 1] != "1":
        return time.perf_counter()
    used = os.times()
    return time.process_time() + used.children_user + used.children_system


def least(call: Callable[[], Any], count: int, repeats: int = 15) -> float:
    """Return the least time of a call in microseconds."""
    call()
    found = []
    for _ in range(repeats):
        start = now()
        for _ in range(count):
            call()
        found.append((now() - start) / count)
    return min(found) * 1e6


def overheads(tf: Any, sizes: Sequence[int]) -> Rows:
    """Time calls that compute next to nothing, in microseconds."""
    a, one = tf.constant(np.ones((2, 2), np.float32)), tf.constant(1.0)

    def thousand(x: Any) -> Any:
        for _ in range(1000):
            x = x + one
        return x

    function, chain = tf.function(lambda x: x + x), tf.function(thousand)
    for _ in range(5):
        function(a)
        chain(one)
    return {
        "eager a + a, us": least(lambda: a + a, 2000),
        "eager a * 2.0, us": least(lambda: a * 2.0, 2000),
        **{f"eager {name}, us": least(call, 500) for name, call in eager_calls(tf, a).items()},
        "staged x + x, us": least(lambda: function(a), 2000),
        "staged chain of 1000 adds, us": least(lambda: chain(one), 200),
        **dict(in_sessions(tf)),
    }


def eager_calls(tf: Any, a: Any) -> dict[str, Callable[[], Any]]:
    """Return calls of eager functions of all kinds, on small tensors."""
    at, row = tf.constant([1, 0]), a[0]
    return {
        "matmul": lambda: tf.matmul(a, a),
        "relu": lambda: tf.nn.relu(a),
        "sigmoid": lambda: tf.sigmoid(a),
        "reduce_sum": lambda: tf.reduce_sum(a, axis=1),
        "reduce_mean": lambda: tf.reduce_mean(a),
        "reshape": lambda: tf.reshape(a, [4, 1]),
        "transpose": lambda: tf.transpose(a),
        "a[:, 1:]": lambda: a[:, 1:],
        "concat": lambda: tf.concat([a, a], 0),
        "stack": lambda: tf.stack([row, row]),
        "gather": lambda: tf.gather(a, at),
        "where": lambda: tf.where(a > 0.0, a, row),
        "cast": lambda: tf.cast(a, tf.int32),
        "softmax": lambda: tf.nn.softmax(a),
        "argmax": lambda: tf.argmax(a, axis=1),
        "random.uniform": lambda: tf.random.uniform([2, 2]),
    }


def in_sessions(tf: Any) -> Iterator[tuple[str, float]]:
    """Time runs of sessions."""
    v1 = tf.compat.v1
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2, 2])
        y, fed = x + x, np.ones((2, 2), np.float32)
        scalar = v1.placeholder(tf.float32, [])
        total, single = scalar, np.array(1.0, np.float32)
        for _ in range(1000):
            total = total + scalar
        with v1.Session() as session:
            for _ in range(8):
                session.run(y, {x: fed})
                session.run(total, {scalar: single})
            yield "Session.run of x + x, us", least(lambda: session.run(y, {x: fed}), 1000)
            run_chain = lambda: session.run(total, {scalar: single})  # noqa: E731
            yield "Session.run of 1000 adds, us", least(run_chain, 100)


def example(tf: Any, name: str) -> dict[str, Any]:
    """Return what an example defines, written against a module."""
    text = (EXAMPLES / f"{name}.py").read_text()
    text = text.replace("import gravure.tf as tf", f"import {tf.__name__} as tf")
    names: dict[str, Any] = {"__name__": name}
    exec(compile(text, name, "exec"), names)
    return names


def trained(step: Callable[[], Any], size: int, name: str, warm: int = 4) -> Rows:
    """Return the time until a step is compiled, and how many examples a second are trained."""
    start = now()
    for _ in range(warm):
        step()
    first = now() - start
    rate = size / least(step, 1, repeats=8) * 1e6
    return {f"{name}, first {warm} steps, s": first, f"{name}, examples/s": rate}


def l2hmc(tf: Any, sizes: Sequence[int]) -> Rows:
    """Time the training of a sampler, staged; and eagerly for the first size."""
    made: Rows = {}
    for size in sizes:
        step, x = example(tf, "l2hmc_staged")["training"](size)
        made |= trained(partial(step, x), size, f"n = {size}")
    step, x = example(tf, "l2hmc_eager")["training"](sizes[0])
    eager = trained(partial(step, x), sizes[0], "eager", warm=1)
    return made | {f"n = {sizes[0]}, eager, examples/s": eager["eager, examples/s"]}


def networks(file: str, network: str) -> Callable[[Any, Sequence[int]], Rows]:
    """Return what times the training of a network, staged."""

    def timed(tf: Any, sizes: Sequence[int]) -> Rows:
        names, made = example(tf, file), Rows()
        for size in sizes:
            step, given = names["training"](names[network]()), names["batch"](size)
            made |= trained(partial(step, *given), size, f"batch {size}")
        return made

    return timed


SUBJECTS: dict[str, Callable[[Any, Sequence[int]], Rows]] = {
    "overheads": overheads,
    "l2hmc": l2hmc,
    "resnet50": networks("resnet50_staged", "ResNet"),
    "convnet": networks("convnet", "ConvNet"),
    "transformer": networks("transformer", "Transformer"),
}


if __name__ == "__main__":
    main()
