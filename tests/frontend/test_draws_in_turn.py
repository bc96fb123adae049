"""Draws of a function of slices: one seed for each, which goes on from slice to slice; 2.21's."""

import numpy as np
import pytest

import gravure.tf as tf

U = tf.random.uniform


def of_rows(kind, seed):
    draw = lambda *_: U([], seed=seed)  # noqa: E731
    rows = tf.zeros(3)
    if kind == "map_fn":
        return tf.map_fn(draw, rows)
    if kind == "scan":
        return tf.scan(draw, rows, initializer=0.0)
    if kind == "vectorized_map":
        return tf.vectorized_map(draw, rows)
    if kind == "foldl":
        return tf.foldl(lambda a, _: tf.concat([a, [U([], seed=seed)]], 0), rows, tf.zeros([0]))
    if kind == "nested":
        return tf.map_fn(lambda x: tf.map_fn(draw, x), tf.zeros([2, 2]))
    if kind == "choice":
        return tf.map_fn(lambda x: tf.cond(x < 5.0, draw, lambda: x), rows)
    return tf.map_fn(draw, tf.zeros(tf.constant(3)[None]))


LOOP = [0.81269646, 0.5272893, 0.8489425]
SEEDED = [0.7787856, 0.0978868, 0.24208665]
VALUES = {
    "map_fn": (LOOP, SEEDED),
    "scan": (LOOP, SEEDED),
    "foldl": (LOOP, SEEDED),
    "choice": (LOOP, SEEDED),
    "vectorized_map": ([0.81269646, 0.07857466, 0.8916855], [0.7787856, 0.80119777, 0.72437465]),
}


def begun(make):
    """Return what a new function gives after a seed was set."""
    tf.random.set_seed(1)
    return tf.function(make)


@pytest.mark.parametrize("kind", VALUES)
def test_rows_have_tensorflows_numbers(kind):
    for seed, values in zip((None, 3), VALUES[kind], strict=True):
        assert np.allclose(begun(lambda seed=seed: of_rows(kind, seed))(), values)


@pytest.mark.parametrize("kind", [*VALUES, "nested"])
def test_no_two_rows_and_no_two_runs_draw_the_same(kind):
    run = begun(lambda: of_rows(kind, 3))
    found = np.concatenate([np.ravel(run()) for _ in range(3)])
    assert len(set(found.tolist())) == len(found)


def test_draws_around_rows_are_counted_as_if_the_rows_were_a_loop():
    first, rows, last = begun(lambda: (U([]), of_rows("map_fn", None), U([])))()
    assert np.allclose([first, *rows, last], [0.81269646, *LOOP, 0.05554414])
    first, rows, last = begun(lambda: (U([]), of_rows("vectorized_map", None), U([])))()
    wanted = [0.81269646, 0.05554414, 0.01869845, 0.07080972, 0.40639675]
    assert np.allclose([first, *rows, last], wanted)


def test_rows_at_once_draw_as_the_function_that_they_are_in_tensorflow():
    tf.random.set_seed(1)
    for _ in range(2):
        assert np.allclose(of_rows("vectorized_map", None), VALUES["vectorized_map"][0])


def test_a_function_that_rows_call_draws_by_itself():
    @tf.function
    def draw(_):
        return U([], seed=3)

    found = begun(lambda: tf.map_fn(draw, tf.zeros(3)))()
    assert len(set(found.numpy().tolist())) == 3


def test_draws_of_rows_are_compiled_in_loops_too():
    @tf.function(jit_compile=True)
    def sums(n):
        total = tf.zeros([3])
        for _ in tf.range(n):
            total += tf.map_fn(lambda _: U([], seed=3), tf.zeros(3))
        return total

    tf.random.set_seed(1)
    every = begun(lambda: of_rows("map_fn", 3))
    wanted = sum(every().numpy() for _ in range(3))
    tf.random.set_seed(1)
    assert np.allclose(sums(tf.constant(3)), wanted)


def test_draws_of_rows_are_the_same_after_a_graph_is_imported():
    tf.random.set_seed(None)
    with tf.Graph().as_default() as graph:
        tf.random.set_seed(1)
        made = of_rows("map_fn", 3)
        data, name = graph.as_graph_def(), made.name
    found = []
    for _ in range(2):
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            (again,) = tf.graph_util.import_graph_def(data, return_elements=[name])
            found.append(session.run(again))
    assert found[0].tolist() == found[1].tolist()
    assert len({*found[0].tolist()}) == 3
