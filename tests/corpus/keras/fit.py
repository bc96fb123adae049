"""Measure what an epoch of Keras's `fit` takes on each backend, side by side.

    python tests/corpus/keras/fit.py gravure tensorflow=/peers/bin/python jax=/jax/bin/python

Each backend runs in a process of its own, round by round, so that all see the same load; what is
printed is the least of the epochs of all rounds, in processor time and by the clock, and the first
epoch, which builds and compiles.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from importlib import import_module
from typing import Any

BATCH, EPOCHS = 64, 6
NETS = ("convolutional net", "transformer")


def convolutional(keras: Any) -> tuple[Any, tuple[int, ...], int]:
    """Return a net of two convolutions, the shape of its pictures, and how many there are."""
    layers = keras.layers
    model = keras.Sequential(
        [
            keras.Input((28, 28, 1)),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(10, activation="softmax"),
        ]
    )
    return model, (28, 28, 1), 1024


def transformer(keras: Any) -> tuple[Any, tuple[int, ...], int]:
    """Return a net of two blocks of attention, the shape of its rows, and how many there are."""
    layers = keras.layers
    given = keras.Input((32,), dtype="int32")
    x = layers.Embedding(1000, 64)(given)
    for _ in range(2):
        x = layers.LayerNormalization()(x + layers.MultiHeadAttention(4, 16)(x, x))
        wide = layers.Dense(64)(layers.Dense(256, activation="relu")(x))
        x = layers.LayerNormalization()(x + wide)
    found = layers.Dense(10, activation="softmax")(layers.GlobalAveragePooling1D()(x))
    return keras.Model(given, found), (32,), 512


def measured(name: str) -> list[tuple[float, float]]:
    """Return processor time and seconds of each epoch of a net, in this process."""
    import numpy as np  # noqa: PLC0415  (in the process of a backend alone)

    own = os.environ.get("KERAS_BACKEND") == "gravure"
    keras = import_module("gravure.keras" if own else "keras")
    keras.utils.set_random_seed(1)
    build = convolutional if name == NETS[0] else transformer
    model, shape, count = build(keras)
    draw = np.random.default_rng(0)
    x = (
        draw.random((count, *shape), "f4")
        if len(shape) > 1
        else draw.integers(0, 1000, (count, *shape))
    )
    y = draw.integers(0, 10, count)
    model.compile("adam", "sparse_categorical_crossentropy")
    found = []
    for _ in range(EPOCHS):
        start = time.process_time(), time.perf_counter()
        model.fit(x, y, batch_size=BATCH, epochs=1, verbose=0)
        found.append((time.process_time() - start[0], time.perf_counter() - start[1]))
    return found


def in_process(backend: str, python: str, name: str) -> list[tuple[float, float]]:
    """Return what a process of a backend measures."""
    environment = {**os.environ, "KERAS_BACKEND": backend, "TF_CPP_MIN_LOG_LEVEL": "3"}
    done = subprocess.run(
        [python, __file__, "--net", name],
        env=environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    found: list[tuple[float, float]] = json.loads(done.stdout.splitlines()[-1])
    return found


def main() -> int:
    """Print a table of the nets."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("backends", nargs="*", help="backend, or backend=interpreter")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--net", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.net:
        print(json.dumps(measured(given.net)))
        return 0
    print("| net | backend | processor | clock | first |\n| --- | --- | --- | --- | --- |")
    for name in NETS:
        found: dict[str, list[list[tuple[float, float]]]] = {}
        for _ in range(given.rounds):
            for entry in given.backends:
                backend, _, python = entry.partition("=")
                made = in_process(backend, python or sys.executable, name)
                found.setdefault(backend, []).append(made)
        for backend, rounds in found.items():
            later = [epoch for made in rounds for epoch in made[1:]]
            processor, clock = (min(each) for each in zip(*later, strict=True))
            first = min(made[0][0] for made in rounds)
            print(
                f"| {name} | {backend} | {processor:.3f} | {clock:.3f} | {first:.1f} |", flush=True
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
