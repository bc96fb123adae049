"""Time training on two ranks, one thread each: beside one rank, and beside other libraries.

    python tools/measuring/data_parallel.py convnet --peer VENV/bin/python --size 32
    python tools/measuring/data_parallel.py transformer --peer VENV/bin/python --size 4
    python tools/measuring/data_parallel.py resnet --peer VENV/bin/python --size 8
    python tools/measuring/data_parallel.py resnet50 --peer VENV/bin/python --size 8 --rounds 5

Each rank trains on `--size` examples of its own, whether it is alone or not: what a step of two
ranks takes longer is the price of working together (weak scaling). `--peer` is a Python that has
TensorFlow (`MultiWorkerMirroredStrategy`) and torch (`DistributedDataParallel` by gloo); without
it, only gravure is timed. All train the same networks by plain gradient descent.

Two processes of each library are there from the beginning, and make blocks of steps in turns while
all others wait, in three ways: `alone`, one rank without the other; `apart`, both at once, with
nothing in common, which is what the machine has to give; `together`, with gradients that are
averaged. Times are of the rank that took longer, medians of all rounds, by the clock and of the
processor. Ratios are taken round by round and their medians printed: `scaling` is alone through
together, `of machine` apart through together. A machine that does other things meanwhile, too,
lets ranks wait for each other that need not: then look at the processor's times, and at `apart`.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import runpy
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from multiprocessing.connection import Client, Connection, Listener
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
WAYS = ("alone", "apart", "together")
RANKS = 2
BLOCK = 0.2
"""Seconds that a block of steps takes, about."""
WARM = 4
"""Steps before any is timed: what is compiled, is compiled in them."""
PATIENCE = 900
"""Seconds until all processes are ready."""
RATE = 0.002
SUBJECTS: dict[str, tuple[str, str, dict[str, Any], dict[str, Any]]] = {
    "convnet": ("convnet", "ConvNet", {}, {}),
    "transformer": ("transformer", "Transformer", {"blocks": 2}, {}),
    "resnet": (
        "resnet50_staged",
        "ResNet",
        {"classes": 100, "stages": ((1, 32), (1, 64), (1, 128)), "width": 32},
        {"pixels": 64, "classes": 100},
    ),
    "resnet50": (
        "resnet50_staged",
        "ResNet",
        {"classes": 1000, "stages": ((3, 64), (4, 128), (6, 256), (3, 512)), "width": 64},
        {"pixels": 224, "classes": 1000},
    ),
}
"""The example, its network, and what network and batches are made with."""

Step = Callable[[], object]
Steps = Mapping[str, Step]
"""A step of one rank by itself (`alone`), and one `together`."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Time one network with all libraries, and print them side by side."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("subject", choices=SUBJECTS)
    parser.add_argument("--peer", help="a Python that has TensorFlow and torch")
    parser.add_argument("--size", type=int, default=16, help="examples of a rank in a step")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--sides", nargs="*", choices=SIDES, default=list(SIDES))
    parser.add_argument("--as", dest="side", choices=SIDES, help=argparse.SUPPRESS)
    parser.add_argument("--meet", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.side:
        serve(given.meet, *SIDES[given.side](given.subject, given.size))
        return 0
    sides = [side for side in given.sides if side == "gravure" or given.peer]
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="gravure-"))
        pairs = []
        for side in sides:
            words = [__file__, given.subject, "--size", str(given.size), "--as", side]
            pairs.append(stack.enter_context(Pair(side, words, given.peer, f"{folder}/{side}")))
        measure(pairs, given.rounds)
    print(text_of(pairs))
    return 0


@dataclass
class Pair:
    """Two processes of one library."""

    side: str
    words: list[str]
    peer: str | None
    meet: str
    started: list[subprocess.Popen[bytes]] = field(default_factory=list)
    ranks: list[Connection] = field(default_factory=list)
    steps: int = 1
    """How many steps a block has."""
    clock: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})
    """Seconds of a step, for each round, of the rank that took longer."""
    processor: dict[str, list[float]] = field(default_factory=lambda: {way: [] for way in WAYS})

    def __enter__(self) -> Pair:
        """Start both, and wait until they are ready."""
        with Listener(self.meet, "AF_UNIX") as listener:
            sockets: Any = listener
            sockets._listener._socket.settimeout(1.0)
            words = [*self.words, "--meet", self.meet]
            for command, variables in commands(self.side, words, self.peer):
                self.started.append(subprocess.Popen(command, env={**os.environ, **variables}))
            found = [self.ready(listener) for _ in range(RANKS)]
        self.ranks = [rank for _, rank in sorted((each.recv(), each) for each in found)]
        return self

    def ready(self, listener: Listener) -> Connection:
        """Wait until one more process is ready, as long as all live."""
        for _ in range(PATIENCE):
            try:
                return listener.accept()
            except TimeoutError:
                if any(process.poll() is not None for process in self.started):
                    break
        self.end()
        raise SystemExit(f"the processes of {self.side} are not ready: see what they printed")

    def __exit__(self, *_: object) -> None:
        """End both."""
        for rank in self.ranks:
            rank.send(None)
        self.end()

    def end(self) -> None:
        """Wait a little for both, then kill what still runs."""
        for process in self.started:
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()

    def block(self, way: str, steps: int) -> tuple[float, float]:
        """Let ranks make some steps; return seconds of a step by the clock and the processor."""
        asked = self.ranks[:1] if way == "alone" else self.ranks
        for rank in asked:
            rank.send((way if way == "together" else "alone", steps))
        rows = [rank.recv() for rank in asked]
        clock, processor = (max(column) / steps for column in zip(*rows, strict=True))
        return clock, processor


def commands(
    side: str, words: list[str], peer: str | None
) -> list[tuple[list[str], dict[str, str]]]:
    """Return what starts the two processes of a library, and variables of their environments."""
    names = ("OMP_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    common = dict.fromkeys((*names, "GRAVURE_THREADS"), "1")
    common |= {"PYTHONPATH": str(ROOT), "TF_CPP_MIN_LOG_LEVEL": "3", "CUDA_VISIBLE_DEVICES": ""}
    if side == "gravure":
        launch = [sys.executable, "-m", "gravure", "launch", "-n", str(RANKS)]
        return [([*launch, *words], common)]
    assert peer is not None, "a peer is timed where there is its Python"
    ports = free_ports(RANKS)
    addresses = [f"127.0.0.1:{port}" for port in ports]
    found = []
    for rank in range(RANKS):
        task = {"cluster": {"worker": addresses}, "task": {"type": "worker", "index": rank}}
        torch = {"MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(ports[0])}
        told = torch | {"TF_CONFIG": json.dumps(task), "RANK": str(rank), "WORLD_SIZE": str(RANKS)}
        found.append(([peer, *words], common | told))
    return found


def free_ports(count: int) -> list[int]:
    """Return ports that nobody listens at now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [int(each.getsockname()[1]) for each in sockets]


def serve(meet: str, rank: int, steps: Steps) -> None:
    """Make as many steps as are asked for, in the way asked for, until there are no more."""
    for step in steps.values():
        for _ in range(WARM):
            step()
    client: Callable[..., Connection] = Client
    with client(meet, "AF_UNIX") as asked:
        asked.send(rank)
        while (told := asked.recv()) is not None:
            way, count = told
            start = time.perf_counter(), time.process_time()
            for _ in range(count):
                steps[way]()
            asked.send((time.perf_counter() - start[0], time.process_time() - start[1]))


def measure(pairs: Sequence[Pair], rounds: int) -> None:
    """Let all pairs take turns, in an order that changes."""
    for pair in pairs:
        once = min(pair.block("together", 1)[0] for _ in range(2))
        pair.steps = max(2, round(BLOCK / once))
    order = [(pair, way) for pair in pairs for way in WAYS]
    for number in range(rounds):
        for pair, way in order if number % 2 == 0 else reversed(order):
            clock, processor = pair.block(way, pair.steps)
            pair.clock[way].append(clock)
            pair.processor[way].append(processor)


def text_of(pairs: Sequence[Pair]) -> str:
    """Return the table."""
    lines = []
    own = next((number for number, pair in enumerate(pairs) if pair.side == "gravure"), -1)
    tables = {"clock": [p.clock for p in pairs], "processor": [p.processor for p in pairs]}
    for words, table in tables.items():
        head = [*(f"{way} ms" for way in WAYS), "scaling", "of machine", "gravure / it"]
        lines.append(f"{words:12}" + "".join(f"{word:>14}" for word in head))
        for number, found in enumerate(table):
            together = found["together"]
            row = [f"{np.median(found[way]) * 1e3:.1f}" for way in WAYS]
            row += [f"{ratio(found[way], together):.3f}" for way in ("alone", "apart")]
            if own not in (-1, number):
                row.append(f"{ratio(table[own]['together'], together):.3f}")
            lines.append(f"{pairs[number].side:12}" + "".join(f"{word:>14}" for word in row))
    return "\n".join(lines)


def ratio(first: Sequence[float], second: Sequence[float]) -> float:
    """Return the median, over rounds, of one time through another.

    >>> ratio([1.0, 3.0, 5.0], [2.0, 3.0, 4.0])
    1.0
    """
    return float(np.median([a / b for a, b in zip(first, second, strict=True)]))


def of_facade(tf: Any, subject: str, size: int) -> Steps:
    """Return the steps of a network by functions that gravure and TensorFlow both have."""
    file, network, model, given = SUBJECTS[subject]
    example = runpy.run_path(str(HERE / "beside_tensorflow.py"))["example"]
    names = example(tf, file)
    strategy = tf.distribute.MultiWorkerMirroredStrategy()
    rows = names["batch"](size, **given)
    with strategy.scope():
        shared = names[network](**model)
        together = descent(tf, shared)
    own = descent(tf, names[network](**model))
    whole = tf.function(lambda: strategy.run(together, rows))
    return {"alone": tf.function(lambda: own(*rows)), "together": whole}


def descent(tf: Any, model: Any) -> Callable[..., object]:
    """Return a function that trains a network for one step and returns the loss."""
    optimizer = tf.keras.optimizers.SGD(RATE)
    optimizer.build(model.variables)

    def step(x: Any, labels: Any) -> object:
        with tf.GradientTape() as tape:
            losses = tf.nn.sparse_softmax_cross_entropy_with_logits(
                tf.reshape(labels, [-1]), model(x)
            )
            loss = tf.reduce_mean(losses)
        gradients = [tf.convert_to_tensor(g) for g in tape.gradient(loss, model.variables)]
        optimizer.apply_gradients(list(zip(gradients, model.variables, strict=True)))
        return loss

    return step


def gravure_steps(subject: str, size: int) -> tuple[int, Steps]:
    """Return the rank and the steps of gravure."""
    tf = importlib.import_module("gravure.tf")
    distributed = importlib.import_module("gravure").distributed
    return distributed.rank(), of_facade(tf, subject, size)


def tensorflow_steps(subject: str, size: int) -> tuple[int, Steps]:
    """Return the rank and the steps of TensorFlow."""
    tf = importlib.import_module("tensorflow")
    return int(os.environ["RANK"]), of_facade(tf, subject, size)


def torch_steps(subject: str, size: int) -> tuple[int, Steps]:
    """Return the rank and the steps of torch."""
    torch = importlib.import_module("torch")
    torch.set_num_threads(1)
    torch.distributed.init_process_group("gloo")
    networks = runpy.run_path(str(HERE / "torch_networks.py"))
    _, _, model, given = SUBJECTS[subject]
    rows = networks["BATCHES"][subject](size, **given)
    own, inner = (networks["NETWORKS"][subject](**model) for _ in range(2))
    shared = torch.nn.parallel.DistributedDataParallel(inner)

    def step(network: Any) -> Step:
        optimizer = torch.optim.SGD(network.parameters(), RATE)

        def made() -> object:
            optimizer.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(rows[0]), rows[1])
            loss.backward()
            optimizer.step()
            return loss

        return made

    return int(os.environ["RANK"]), {"alone": step(own), "together": step(shared)}


SIDES: dict[str, Callable[[str, int], tuple[int, Steps]]] = {
    "gravure": gravure_steps,
    "tensorflow": tensorflow_steps,
    "torch": torch_steps,
}


if __name__ == "__main__":
    raise SystemExit(main())
