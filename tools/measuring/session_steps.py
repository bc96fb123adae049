"""Time steps of sessions: what going on at once costs, and how threads of one session scale.

    python tools/measuring/session_steps.py --peer VENV/bin/python

Steps of 1000 small operations, one behind the other or all apart, alone and around two functions of
Python that may go on at once; by default, and with `inter_op_parallelism_threads=1`, where nothing
does. Both sessions take turns, and the least of the processor's microseconds of all rounds counts.
`first` is a step that is not compiled yet, of a session of its own. Then 8 threads run one session,
on a step that takes about a millisecond on one thread: by the clock, in steps a second, beside one
thread, and in the processor's microseconds, of which threads that do not keep each other waiting
need no more. Last, steps of some small operations, where Python is all. `--peer` is a Python that
has TensorFlow.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[2]
COUNT = 1000
THREADS = (1, 2, 8)
Rows = dict[str, float]


def main(arguments: Sequence[str] | None = None) -> int:
    """Time both, each in a process of its own, and print them side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--peer", help="a Python that has TensorFlow")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--module", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.module:
        print(json.dumps(rows_of(importlib.import_module(given.module), given.rounds)))
        return 0
    sides = {"gravure": (sys.executable, "gravure.tf")}
    if given.peer:
        sides["tensorflow"] = (given.peer, "tensorflow")
    table: dict[str, Rows] = {}
    for side, (python, module) in sides.items():
        words = [python, __file__, "--rounds", str(given.rounds), "--module", module]
        variables = {**os.environ, "PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3"}
        variables |= {"TF_NUM_INTRAOP_THREADS": "1", "GRAVURE_THREADS": "1"}
        made = subprocess.run(words, env=variables, stdout=subprocess.PIPE, text=True, check=True)
        for name, value in json.loads(made.stdout.splitlines()[-1]).items():
            table.setdefault(name, {})[side] = value
    print(f"{'':44}" + "".join(f"{side:>14}" for side in sides))
    for name, row in table.items():
        print(f"{name:44}" + "".join(f"{row[side]:14.1f}" for side in sides))
    return 0


def rows_of(tf: Any, rounds: int) -> Rows:
    """Time all with one library."""
    found: Rows = {}
    for name, build in GRAPHS.items():
        found |= steps(tf, name, build, rounds)
    return found | threads(tf, rounds)


def chain(tf: Any, x: Any) -> Any:
    """Return small operations one behind the other."""
    for _ in range(COUNT):
        x = x + 1.0
    return x


def apart(tf: Any, x: Any) -> Any:
    """Return the sum of small operations that do not wait for each other."""
    return tf.add_n([x * float(number) for number in range(COUNT)])


def around(tf: Any, x: Any) -> Any:
    """Return small operations before, between and behind functions of Python."""
    v1 = tf.compat.v1
    half = COUNT // 3
    for _ in range(half):
        x = x + 1.0
    both = [v1.py_func(lambda a: a * 2, [x], tf.float32) for _ in range(2)]
    y, z = both
    for _ in range(half):
        x = x + 1.0
    for _ in range(half // 2):
        y, z = y + 1.0, z * 0.5
    return x + y + z


GRAPHS: dict[str, Callable[[Any, Any], Any]] = {"chain": chain, "apart": apart, "around": around}


def session_of(tf: Any, build: Callable[[Any, Any], Any], ways: int) -> Callable[[], object]:
    """Return a step of a session, where so many operations may go on at once (0: any)."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [4])
        y = build(tf, x)
    session = v1.Session(graph=graph, config=v1.ConfigProto(inter_op_parallelism_threads=ways))
    fed = {x: np.ones(4, np.float32)}
    return lambda: session.run(y, fed)


def used(call: Callable[[], object], count: int = 1) -> float:
    """Return the microseconds of the processor for a call, of so many."""
    start = time.process_time()
    for _ in range(count):
        call()
    return (time.process_time() - start) * 1e6 / count


def steps(tf: Any, name: str, build: Callable[[Any, Any], Any], rounds: int) -> Rows:
    """Return the microseconds of steps in both ways."""
    ways = {"": 0, ", in order": 1}
    firsts: dict[str, list[float]] = {words: [] for words in ways}
    for _ in range(3):
        for words, count in ways.items():
            firsts[words].append(used(session_of(tf, build, count)))
    made = {words: session_of(tf, build, count) for words, count in ways.items()}
    times: dict[str, list[float]] = {words: [] for words in ways}
    for call in made.values():
        for _ in range(10):
            call()
    for _ in range(rounds):
        for words, call in made.items():
            times[words].append(used(call, 10))
    return {
        **{f"{name}{words}, first, us": min(found) for words, found in firsts.items()},
        **{f"{name}{words}, us": min(found) for words, found in times.items()},
    }


def threads(tf: Any, rounds: int) -> Rows:
    """Return how many steps a second some threads of one session make together."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [192, 192])
        y = tf.reduce_sum(tf.matmul(tf.matmul(x, x), x))
    session, fed = v1.Session(graph=graph), {x: np.ones((192, 192), np.float32)}

    def step(_: int) -> object:
        made: object = session.run(y, fed)
        return made

    for number in range(10):
        step(number)
    times: dict[int, list[float]] = {count: [] for count in THREADS}
    work: dict[int, list[float]] = {count: [] for count in THREADS}
    for _ in range(rounds):
        for count, found in times.items():
            with ThreadPoolExecutor(count) as pool:
                start, begin = time.perf_counter(), time.process_time()
                list(pool.map(step, range(64)))
                found.append(64 / (time.perf_counter() - start))
                work[count].append((time.process_time() - begin) * 1e6 / 64)
    return {
        **{f"{count} threads, steps/s": max(found) for count, found in times.items()},
        **{f"{count} threads, us a step": min(found) for count, found in work.items()},
        "step of training, us": min(used(training_step(tf), 200) for _ in range(rounds)),
    }


def training_step(tf: Any) -> Callable[[], object]:
    """Return a small step of training, of which the loss is fetched too, that was run often."""
    v1 = tf.compat.v1
    with tf.Graph().as_default() as graph:
        x = v1.placeholder(tf.float32, [8, 8])
        w = v1.get_variable("w", [8, 8], initializer=v1.zeros_initializer(), use_resource=True)
        loss = tf.reduce_sum((tf.matmul(x, w) - 1.0) ** 2)
        train = v1.train.GradientDescentOptimizer(0.01).minimize(loss)
        init = v1.global_variables_initializer()
    session, fed = v1.Session(graph=graph), {x: np.ones((8, 8), np.float32)}
    session.run(init)
    for _ in range(20):
        session.run([train, loss], fed)
    return lambda: session.run([train, loss], fed)


if __name__ == "__main__":
    raise SystemExit(main())
