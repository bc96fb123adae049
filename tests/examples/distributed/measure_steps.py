"""Measure what a step over two ranks costs beside one of this process: messages, and nothing else.

    gravure launch --cluster ps=1,worker=1 tests/examples/distributed/measure_steps.py

Prints microseconds, the least and the median of all rounds: of a message of MPI there and back, of
a step with one small operation here, and of the same on the other task. Rounds of all three take
turns, so that what else the machine does disturbs them alike.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Callable
from time import perf_counter

import numpy as np
from mpi4py import MPI

from gravure import tf

v1 = tf.compat.v1
STEPS = 10
"""Steps of a round."""
OTHER = 77
"""The tag of messages that are not gravure's."""


def here_and_there(target: str) -> tuple[Callable[[], object], Callable[[], object]]:
    """Return a step of this process, and the same on the parameter server."""
    runs: list[Callable[[], object]] = []
    for session_target, device in (("", ""), (target, "/job:ps/task:0")):
        with tf.Graph().as_default() as graph, tf.device(device):
            nothing = tf.group(tf.constant(1.0) + 1.0)
        session = v1.Session(session_target, graph=graph)
        runs.append(lambda session=session, nothing=nothing: session.run(nothing))
    return runs[0], runs[1]


def timed(step: Callable[[], object]) -> float:
    """Return the microseconds of a step, by the mean of one round."""
    start = perf_counter()
    for _ in range(STEPS):
        step()
    return (perf_counter() - start) / STEPS * 1e6


def echoes(rounds: int, *, asks: bool) -> list[float]:
    """Send a number there and back, by MPI alone; return the microseconds of each round."""
    world, number, other = MPI.COMM_WORLD, np.zeros(1), 1 - MPI.COMM_WORLD.Get_rank()

    def step() -> None:
        if asks:
            world.Send(number, other, OTHER)
        world.Recv(number, other, OTHER)
        if not asks:
            world.Send(number, other, OTHER)

    return [timed(step) for _ in range(rounds)]


def main() -> None:
    """Print the table, on the worker."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=600)
    rounds = parser.parse_args().rounds
    told = json.loads(os.environ["TF_CONFIG"])
    job = told["task"]["type"]
    server = tf.distribute.Server(told["cluster"], job, 0, start=False)
    messages = echoes(rounds, asks=job == "worker")
    server.start()
    if job == "ps":
        server.join()
        return
    here, there = here_and_there(server.target)
    for _ in range(20):  # until they are compiled
        timed(here), timed(there)
    found: dict[str, list[float]] = {"a message of MPI, there and back": messages}
    for _ in range(rounds):
        found.setdefault("a step of this process", []).append(timed(here))
        found.setdefault("a step on the other task", []).append(timed(there))
    for name, times in found.items():
        print(f"{name:34} {min(times):8.1f} {np.median(times):8.1f}")
    near, far = found["a step of this process"], found["a step on the other task"]
    over = [there - here for there, here in zip(far, near, strict=True)]
    print(f"{'the other task costs':34} {min(far) - min(near):8.1f} {np.median(over):8.1f}")


if __name__ == "__main__":
    main()
