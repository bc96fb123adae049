"""Graphs and functions by gravure's own names."""

import gc
from collections import Counter

import numpy as np
import pytest
from xdsl.ir import Operation

import gravure as gv


def test_a_graph_is_built_and_run():
    graph = gv.Graph()
    with gv.graph_mode(graph):
        x = gv.placeholder("float32", [None, 2], name="x")
        v = gv.Variable(np.ones((2, 3), np.float32), name="v")
        y = gv.sum(gv.exp(x @ v), axis=1)
        [dx, dv] = gv.gradients(gv.sum(y), [x, v])
        train = v.assign_sub(0.5 * dv)
    with gv.Session(graph, strict=False) as s:
        a = np.array([[1.0, 2.0], [0.5, -1.0], [0.0, 0.0]], np.float32)
        assert np.allclose(s.run(y, {x: a}), 3 * np.exp(a.sum(1)), rtol=1e-6)
        assert np.allclose(s.run(dx, {x: a})[0], 3 * np.exp(3.0), rtol=1e-6)
        before, slope = s.run([v, dv], {x: a})
        s.run(train, {x: a})
        assert np.allclose(s.run(v), before - 0.5 * slope, rtol=1e-6)


def test_a_function_keeps_the_array_api():
    @gv.function
    def normalised(x):
        return (x - gv.mean(x)) / gv.std(x)

    x = gv.asarray(np.arange(12.0, dtype=np.float32).reshape(3, 4))
    for _ in range(4):
        assert np.allclose(normalised(x), (x.numpy() - 5.5) / x.numpy().std(), rtol=1e-5)
    [concrete] = normalised.cache.values()
    assert concrete.graph.refusal == ""


@pytest.mark.parametrize("staged", [False, True])
def test_choices_and_loops_are_the_same_eager_and_staged(staged):
    def f(n, x):
        total = gv.while_loop(lambda i, t: i < n, lambda i, t: [i + 1, t * x], [0, 1.0])[1]
        return gv.cond(total > 10.0, lambda: total, lambda: -total)

    run = gv.function(f) if staged else f
    x = gv.asarray(np.float32(2.0))
    made = [float(run(gv.asarray(n), x)) for n in (0, 3, 4)]
    assert made == [-1.0, -8.0, 16.0]


def test_a_tape_goes_through_a_staged_loop():
    @gv.function
    def power(x, n):
        return gv.while_loop(lambda i, t: i < n, lambda i, t: [i + 1, t * x], [0, 1.0])[1]

    x = gv.asarray(np.float32(2.0))
    with gv.GradientTape() as tape:
        tape.watch(x)
        y = power(x, gv.asarray(5))
    assert float(y) == 32.0
    assert float(tape.gradient(y, x)) == 80.0


def test_scan_and_map_stack_their_results():
    x = gv.asarray(np.arange(4.0, dtype=np.float32))
    last, sums = gv.scan(lambda s, a: (s + a, s + a), gv.asarray(np.float32(0)), x)
    assert float(last) == 6.0
    assert np.array_equal(sums, [0, 1, 3, 6])
    assert np.array_equal(gv.map_fn(lambda a: a * a, x), [0, 1, 4, 9])


def test_a_compiled_program_is_free_without_the_collector():
    def operations():
        return Counter(type(x).__name__ for x in gc.get_objects() if issubclass(type(x), Operation))

    @gv.function
    def step(x):
        with gv.GradientTape() as tape:
            tape.watch(x)
            y = gv.sum(gv.exp(x @ x) * gv.tanh(x) + gv.exp(x @ x) * x)
        return tape.gradient(y, x)

    x = gv.asarray(np.full((2, 2), 0.5, np.float32))
    gc.collect()
    gc.disable()
    try:
        before = operations()
        step(x), step(x), step(x)
        assert [c.graph.refusal for c in step.cache.values()] == [""]
        assert operations() == before
    finally:
        gc.enable()
