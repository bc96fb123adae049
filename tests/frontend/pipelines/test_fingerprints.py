"""Datasets that are made alike have one fingerprint, and others have others."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import numpy as np
import pytest

import gravure.tf as tf

D = tf.data.Dataset
Make = Callable[[], tf.data.Dataset]
MAKES: dict[str, Make] = {
    "range": lambda: D.range(10),
    "longer": lambda: D.range(11),
    "mapped": lambda: D.range(10).map(lambda x: x + 1),
    "mapped_by_two": lambda: D.range(10).map(lambda x: x + 2),
    "multiplied": lambda: D.range(10).map(lambda x: x * 2),
    "nested": lambda: D.range(10).flat_map(D.range),
    "nested_more": lambda: D.range(10).flat_map(lambda x: D.range(x + 1)),
    "nested_twice": lambda: D.range(10).flat_map(lambda x: D.range(x).map(lambda y: x - y)),
    "nested_other": lambda: D.range(10).flat_map(lambda x: D.range(x).map(lambda y: y - x)),
    "chosen": lambda: D.range(10).map(lambda x: tf.cond(x > 1, lambda: x, lambda: -x)),
    "chosen_other": lambda: D.range(10).map(lambda x: tf.cond(x > 1, lambda: -x, lambda: x)),
    "files": lambda: tf.data.TFRecordDataset(["a", "b"]),
    "other_files": lambda: tf.data.TFRecordDataset(["a", "c"]),
    "files_twice": lambda: tf.data.TFRecordDataset(["a", "b"]).repeat(2),
    "slices": lambda: D.from_tensor_slices(np.arange(6.0)),
    "slices_of_rows": lambda: D.from_tensor_slices(np.arange(6.0).reshape(2, 3)),
    "shuffled": lambda: D.range(10).shuffle(3, seed=1),
    "shuffled_in_four": lambda: D.range(10).shuffle(4, seed=1),
    "random": lambda: D.random(seed=1),
    "random_by_two": lambda: D.random(seed=2),
    "zipped": lambda: D.zip((D.range(2), D.range(3))),
    "zipped_other": lambda: D.zip((D.range(3), D.range(2))),
    "windows": lambda: D.range(9).window(2),
    "sparse": lambda: D.from_tensors(tf.sparse.from_dense([1, 0])),
    "sparse_other": lambda: D.from_tensors(tf.sparse.from_dense([0, 1])),
}


def test_alike_and_not_alike() -> None:
    """Each is made twice, at once and in a graph."""
    first = {name: int(make().fingerprint()) for name, make in MAKES.items()}
    assert {name: int(make().fingerprint()) for name, make in MAKES.items()} == first
    assert len({*first.values()}) == len(MAKES)
    assert D.range(3).fingerprint().dtype == tf.uint64
    for name in ("range", "nested_more", "files_twice"):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            assert int(session.run(MAKES[name]().fingerprint())) == int(
                session.run(MAKES[name]().fingerprint())
            )


def test_orders_by_chance_are_alike() -> None:
    """As in TensorFlow, the seeds of a shuffle do not count."""
    made = [D.range(10).shuffle(3, **kwargs) for kwargs in ({"seed": 1}, {"seed": 2}, {})]
    assert len({int(each.fingerprint()) for each in made}) == 1


def test_another_process_finds_the_same() -> None:
    """Nothing of this process is in it."""
    made = "tf.data.Dataset.range(10).map(lambda x: x * 2).shuffle(4, seed=3)"
    command = f"import gravure.tf as tf; print(int({made}.fingerprint()))"
    found = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", command], capture_output=True, text=True, check=True
    )
    here = D.range(10).map(lambda x: x * 2).shuffle(4, seed=3)
    assert int(found.stdout.split()[-1]) == int(here.fingerprint())


def test_what_only_this_process_knows_has_none() -> None:
    """It is refused by name."""
    for made, name in (
        (D.from_generator(lambda: iter([1]), tf.int32), "Generated"),
        (D.range(3).map(lambda x: tf.numpy_function(abs, [x], tf.int64)), "EagerPyFunc"),
    ):
        with pytest.raises(tf.errors.UnimplementedError, match=name):
            made.fingerprint()
