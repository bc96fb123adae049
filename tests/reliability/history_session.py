"""Public calls in an order drawn by chance, by several threads, with forks and Ctrl-C in between.

    python history_session.py FIRST COUNT

Each result is to be, to the last bit, what the call gives alone in a process in which nothing else
was done. That is a child of this process, which only imports; so is the one of each history. Sums
are of small whole numbers: their order does not matter, and eager code may add in another one.
"""

from __future__ import annotations

import contextlib
import faulthandler
import importlib
import importlib.util
import os
import pickle
import pkgutil
import signal
import sys
import tempfile
import threading
import time
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
from onnx import TensorProto, helper

import gravure as gv
import gravure.tf as tf
from gravure.codegen.cache import default_cache

THREADS = 8
ROUNDS = 12
"""How many calls each thread makes."""
SIZES = (1, 3, 8, 17)
LONGEST = 240
"""Seconds after which a history is taken to hang: it says where, and ends."""


def row(n: int) -> Any:
    return np.linspace(-2, 2, n, dtype=np.float32)


def whole(n: int) -> Any:
    return (np.arange(n * n, dtype=np.float32) % 5 - 2).reshape(n, n)


def smooth(x: Any) -> Any:
    return gv.tanh(x) * 0.3 + gv.exp(x) / (1.5 + x * x)


staged = gv.function(smooth)


@gv.function
def products(x: Any) -> Any:
    return gv.sum(x @ x + gv.tanh(x) * 0.0, axis=0)


@tf.function
def chosen(x: Any) -> Any:
    y = x
    for _ in range(3):
        if tf.reduce_sum(y) > 0:
            y = tf.sin(y) - 0.25
            continue
        y = tf.cos(y) + 0.5
    return tf.while_loop(lambda i, _: i < 4, lambda i, z: (i + 1, z * 0.5 + y), (0, y))[1]


@tf.function
def sifted(x: Any) -> Any:
    kept = tf.boolean_mask(x, x > 0)
    return tf.py_function(lambda a: a * 2.0, [tf.exp(kept)], tf.float32)


@tf.function
def slope(x: Any) -> Any:
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.sin(x) * tf.exp(x * 0.5)
    return tape.gradient(y, x)


def eager(n: int) -> Any:
    return [smooth(gv.asarray(row(n))), gv.asarray(whole(n)) @ gv.asarray(whole(n))]


def called(n: int) -> Any:
    return [staged(gv.asarray(row(n))), products(gv.asarray(whole(n)))]


def controlled(n: int) -> Any:
    return [chosen(tf.constant(row(n))), sifted(tf.constant(row(n))), slope(tf.constant(row(n)))]


def taped(n: int) -> Any:
    x = gv.asarray(row(n))
    with gv.GradientTape() as tape:
        tape.watch(x)
        y = staged(x) * x
    return [tape.gradient(y, x)]


def trained(n: int) -> Any:
    v = gv.Variable(np.zeros(n, np.float32))

    @gv.function
    def step(x: Any) -> Any:
        v.assign_add(x)
        v.assign(v * 0.5)
        return v + 1.0

    return [*(step(gv.asarray(row(n))) for _ in range(4)), v]


def in_a_session(n: int) -> Any:
    graph = gv.Graph()
    with gv.graph_mode(graph):
        x = gv.placeholder("float32", (n,))
        y = smooth(x)
    with gv.Session(graph) as session:
        return [session.run(y, {x: row(n)}) for _ in range(4)]


def model(n: int) -> bytes:
    nodes = [
        helper.make_node("MatMul", ["x", "x"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Add", ["b", "x"], ["y"]),
    ]
    ends = [helper.make_tensor_value_info(k, TensorProto.FLOAT, (n, n)) for k in "xy"]
    graph = helper.make_graph(nodes, "g", ends[:1], ends[1:])
    opsets = [helper.make_opsetid("", 17)]
    made: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
    return made


def compiled(n: int) -> Any:
    return gv.compile(model(n)).run([whole(n)])


def compiled_anew(n: int) -> Any:
    return gv.compile(model(n), cache=False, threads=2).run([whole(n)])


def saved(n: int) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "f.so")
        gv.function(smooth).save(path, gv.asarray(row(n)))
        with gv.load(path) as loaded:
            return loaded.run([row(n)])


def kept(n: int) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        v = tf.Variable(row(n))
        path = tf.train.Checkpoint(v=v).save(str(Path(folder, "c")))
        v.assign(v * 0.0)
        tf.train.Checkpoint(v=v).restore(path)
        return [v]


def drawn(n: int) -> Any:
    return [tf.random.stateless_normal([n], seed=[1, n])]


def cleared(n: int) -> Any:
    default_cache().clear()
    return [np.float32(n)]


def refused(n: int) -> Any:
    try:
        staged(gv.asarray(row(n)), 2, 3)
    except TypeError as error:
        return [np.array(str(error))]
    return []


CALLS: list[Callable[[int], Any]] = [
    *(eager, called, controlled, taped, trained, in_a_session, compiled, compiled_anew, saved),
    *(kept, drawn, cleared, refused),
]


def bits(call: Callable[[int], Any], n: int) -> list[Any]:
    """Return what a call gives, so that nothing is the same but the same."""
    made = [np.asarray(x) for x in call(n)]
    return [(x.dtype.str, x.shape, x.tobytes()) for x in made]


class Interrupts:
    """Ctrl-C in the main thread, now and then, while it is in a call."""

    def __init__(self, random: Random) -> None:
        self.random, self.armed, self.ended, self.count = random, False, False, 0
        signal.signal(signal.SIGINT, self.handle)
        self.thread = threading.Thread(target=self.work, daemon=True)
        self.thread.start()

    def handle(self, *_: object) -> None:
        if self.armed:
            self.armed = False
            self.count += 1
            raise KeyboardInterrupt

    def work(self) -> None:
        while not self.ended:
            time.sleep(self.random.uniform(0.001, 0.06))
            os.kill(os.getpid(), signal.SIGINT)

    def call(self, call: Callable[[int], Any], n: int) -> list[Any] | None:
        """Return what a call gives, None if it was interrupted."""
        try:
            try:
                self.armed = True
                return bits(call, n)
            finally:
                self.armed = False
        except KeyboardInterrupt:
            return None


def apart(work: Callable[[], Any], what: str) -> Any:
    """Return what a child of this process returns."""
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        try:
            os.close(read)
            signal.alarm(LONGEST)
            data = pickle.dumps(work())
            with os.fdopen(write, "wb") as pipe:
                pipe.write(data)
            os._exit(0)
        except BaseException:
            traceback.print_exc()
        os._exit(1)
    os.close(write)
    with os.fdopen(read, "rb") as pipe:
        data = pipe.read()
    _, status = os.waitpid(pid, 0)
    assert not status, f"{what} ended by {status}"
    return pickle.loads(data)


def import_all() -> None:
    """Import what is imported when it is needed.

    Where Ctrl-C comes while Python waits for the lock of imports, Python keeps that lock for good:
    nothing that is done here can help it. Nor can a child whose parent forked in an import.
    """
    for folder in ("ir", "passes", "codegen", "runtime", "frontend"):
        package = importlib.import_module(f"gravure.{folder}")
        for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
            with contextlib.suppress(ImportError):
                importlib.import_module(each.name)
    if importlib.util.find_spec("pycuda") is None:  # it is asked for again and again, by a lock
        sys.modules["pycuda.driver"] = None  # type: ignore[assignment]


Wanted = dict[tuple[str, int], list[Any]]


class History:
    """What one process does, and what in it was not as it is alone."""

    def __init__(self, seed: int, wanted: Wanted) -> None:
        self.seed, self.wanted, self.wrong = seed, wanted, list[str]()

    def look(self, who: str, call: Callable[[int], Any], n: int, found: list[Any] | None) -> None:
        if found is not None and found != self.wanted[call.__name__, n]:
            self.wrong.append(f"seed {self.seed}, {who}: {call.__name__}({n})")

    def some(self, who: str, random: Random, rounds: int) -> None:
        """Make some calls."""
        try:
            for _ in range(rounds):
                call, n = random.choice(CALLS), random.choice(SIZES)
                self.look(who, call, n, bits(call, n))
        except BaseException:
            self.wrong.append(f"seed {self.seed}, {who}: {traceback.format_exc()}")

    def child(self, number: int) -> list[str]:
        """Make some calls in a child of the process."""
        other = History(self.seed, self.wanted)
        other.some(f"child {number}", Random(f"{self.seed} child {number}"), 4)
        return other.wrong

    def run(self) -> tuple[list[str], int]:
        """Run all threads; return what was wrong, and how often Ctrl-C was pressed."""
        random = Random(f"{self.seed} main")
        count = random.choice([1, 2, 4, THREADS])
        threads = [
            threading.Thread(
                target=self.some, args=(f"thread {i}", Random(f"{self.seed} {i}"), ROUNDS)
            )
            for i in range(count - 1)
        ]
        for thread in threads:
            thread.start()
        presses = Interrupts(random)
        for number in range(ROUNDS):
            if random.random() < 0.15:
                self.wrong += apart(lambda number=number: self.child(number), f"child {number}")
            else:
                call, n = random.choice(CALLS), random.choice(SIZES)
                self.look("main", call, n, presses.call(call, n))
        presses.ended = True
        for thread in threads:
            thread.join()
        self.some("after all", random, 3)
        return self.wrong, presses.count


def main(first: int, count: int) -> None:
    """Run histories of some seeds; print how many there were."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # it may come in ignored
    warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn of forks with threads
    import_all()
    faulthandler.register(signal.SIGALRM, chain=True)
    wanted = {
        (call.__name__, n): apart(lambda call=call, n=n: bits(call, n), call.__name__)
        for call in CALLS
        for n in SIZES
    }
    presses = 0
    for seed in range(first, first + count):
        wrong, pressed = apart(History(seed, wanted).run, f"history {seed}")
        presses += pressed
        assert not wrong, "\n".join(wrong)
    print(f"{count} histories, {presses} interrupts", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
