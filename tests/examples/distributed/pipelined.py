"""A network of two halves on two tasks, trained in parts of each batch that follow each other.

    gravure launch --cluster worker=2 pipelined.py

While the second half is at one part, the first is at the next. The weights are those of one process
that trains on the same parts, bit for bit. Prints what a step takes in one part and in four.
"""

import argparse
import json
import os
import sys
from time import perf_counter

import numpy as np

import gravure as gv
from gravure import tf

v1 = tf.compat.v1
WIDTH, DEPTH, PARTS = 256, 4, 4
HALVES = "/job:worker/task:0", "/job:worker/task:1"


def layers(x, device, name):
    """Return what half of the layers make, on a device."""
    with v1.variable_scope(name, reuse=v1.AUTO_REUSE), tf.device(device):
        for number in range(DEPTH):
            first = v1.random_normal_initializer(0, WIDTH**-0.5, number)
            x = tf.tanh(
                tf.matmul(x, v1.get_variable(f"w{number}", [WIDTH, WIDTH], initializer=first))
            )
        return x


def trained(target, devices, parts, rows, steps):
    """Train; return the weights, and the least seconds of a step."""
    with tf.Graph().as_default() as graph:
        data = v1.placeholder(tf.float32, rows.shape)
        losses = []
        for number, part in enumerate(tf.split(data, parts)):
            with gv.distributed.micro_batch(number):
                last = layers(layers(part, devices[0], "first"), devices[1], "second")
                with tf.device(devices[1]):
                    losses.append(tf.reduce_mean((last - 0.5) ** 2.0))
        with tf.device(devices[1]):
            loss = tf.add_n(losses) / float(parts)
        train = v1.train.GradientDescentOptimizer(0.5).minimize(loss)
        weights, init = v1.trainable_variables(), v1.global_variables_initializer()
    times = []
    with v1.Session(target, graph=graph) as session:
        session.run(init)
        for _ in range(steps):
            start = perf_counter()
            session.run(train, {data: rows})
            times.append(perf_counter() - start)
        return session.run(weights), min(times)


def main():
    """Train alone and in two tasks, in one part and in four."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--steps", type=int, default=30)
    given = parser.parse_args()
    told = json.loads(os.environ["TF_CONFIG"])
    index = told["task"]["index"]
    server = tf.distribute.Server(told["cluster"], job_name="worker", task_index=index)
    if index == 1:
        server.join()
        sys.exit()
    rows = np.random.default_rng(0).normal(size=(given.rows, WIDTH)).astype(np.float32)
    for parts in (1, PARTS):
        alone, near = trained("", ["", ""], parts, rows, given.steps)
        halves, far = trained(server.target, HALVES, parts, rows, given.steps)
        same = all(a.tobytes() == b.tobytes() for a, b in zip(alone, halves, strict=True))
        print(f"in {parts} parts the same weights: {same}")
        print(
            f"a step in {parts} parts: {near * 1e3:.2f} ms alone, {far * 1e3:.2f} ms on two tasks"
        )


if __name__ == "__main__":
    main()
