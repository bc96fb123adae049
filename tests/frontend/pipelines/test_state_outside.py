"""Iterators whose elements depend on what their state does not hold are not saved."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import gravure.tf as tf

D = tf.data.Dataset
COUNTER = tf.Variable(2)
Make = Callable[[], tf.data.Dataset]
Policy = tf.data.experimental.ExternalStatePolicy


def drawn(_: object) -> tf.Tensor:
    """Return a random number."""
    return tf.random.uniform([], seed=3)


def chosen(x: tf.Tensor) -> tf.Tensor:
    """Return a random number for some elements only."""
    return tf.cond(x > 1, lambda: tf.random.uniform([]), lambda: 0.0)


def python(stateful: bool) -> Make:
    """Return what makes a dataset that calls Python."""
    return lambda: D.range(4).map(
        lambda x: tf.numpy_function(abs, [x], tf.int64, stateful=stateful)
    )


OUTSIDE: dict[str, tuple[str, Make]] = {
    "draws": ("RandomUniform", lambda: D.range(4).map(drawn)),
    "draws_at_once": ("RandomUniform", lambda: D.range(4).map(drawn, num_parallel_calls=2)),
    "draws_in_a_branch": ("RandomUniform", lambda: D.range(4).map(chosen)),
    "draws_of_a_filter": ("RandomUniform", lambda: D.range(4).filter(lambda x: drawn(x) < 2.0)),
    "draws_before": ("RandomUniform", lambda: D.range(4).map(drawn).map(lambda x: x).prefetch(1)),
    "draws_within": ("RandomUniform", lambda: D.range(4).flat_map(lambda x: D.range(3).map(drawn))),
    "draws_of_values": (
        "RandomUniform",
        lambda: D.range(1, 4).flat_map(lambda x: D.range(x).map(drawn)),
    ),
    "a_variable": ("ReadVariableOp", lambda: D.range(4).map(lambda x: COUNTER + 1)),
    "python": ("PyFunc", python(stateful=True)),
    "a_generator": ("PyFunc", lambda: D.from_generator(lambda: iter([1, 2]), tf.int32)),
}
INSIDE: dict[str, Make] = {
    "of_their_own_keys": lambda: D.range(4).map(
        lambda x: tf.random.stateless_uniform([], tf.stack([x, x]))
    ),
    "shuffled": lambda: D.range(4).shuffle(4),
    "random": lambda: D.random(seed=1).take(4),
    "pure_python": python(stateful=False),
}


def save(dataset: tf.data.Dataset, folder: Path) -> tuple[tf.data.Iterator, str]:
    """Return an iterator that was saved behind its first element, and where."""
    iterator = iter(dataset)
    next(iterator)
    return iterator, tf.train.Checkpoint(iterator=iterator).save(str(folder / "kept"))


def with_policy(dataset: tf.data.Dataset, policy: Policy) -> tf.data.Dataset:
    """Tell a dataset what is done about such state."""
    options = tf.data.Options()
    options.experimental_external_state_policy = policy
    return dataset.with_options(options)


@pytest.mark.parametrize("name", OUTSIDE)
def test_what_is_outside_is_refused_by_name(name: str, tmp_path: Path) -> None:
    """The error is TensorFlow's, and names the operation."""
    type_, make = OUTSIDE[name]
    with pytest.raises(tf.errors.FailedPreconditionError, match=f"{type_} is stateful"):
        save(make(), tmp_path)


@pytest.mark.parametrize("name", INSIDE)
def test_what_the_state_holds_is_saved(name: str, tmp_path: Path) -> None:
    """The same elements come again."""
    iterator, path = save(INSIDE[name](), tmp_path)
    expected = [*map(float, iterator)]
    tf.train.Checkpoint(iterator=iterator).restore(path)
    assert [*map(float, iterator)] == expected
    assert len(expected) == 3


def test_policies(tmp_path: Path) -> None:
    """Who says so has it saved, with a warning or without."""
    with pytest.warns(UserWarning, match="RandomUniform"):
        save(with_policy(D.range(4).map(drawn), Policy.WARN), tmp_path)
    save(with_policy(D.range(4).map(drawn), Policy.IGNORE), tmp_path)
    with pytest.raises(tf.errors.FailedPreconditionError):
        save(with_policy(D.range(4).map(drawn), Policy.FAIL), tmp_path)


def test_the_state_of_another_pipeline_is_refused(tmp_path: Path) -> None:
    """One of other steps is not that which was saved."""
    _, path = save(D.range(10), tmp_path)
    others = (
        D.from_tensor_slices([1, 2, 3]),
        D.range(10).map(lambda x: x),
        D.zip((D.range(2), D.range(2))),
    )
    for other in others:
        with pytest.raises(tf.errors.NotFoundError, match="definition has not changed"):
            tf.train.Checkpoint(iterator=iter(other)).restore(path)
    _, path = save(D.zip((D.range(2), D.range(2), D.range(3))), tmp_path)
    with pytest.raises(tf.errors.NotFoundError):
        tf.train.Checkpoint(iterator=iter(others[2])).restore(path)
