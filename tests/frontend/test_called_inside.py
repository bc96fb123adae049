"""Functions that are called inside of others, and what they take from outside."""

from __future__ import annotations

import gc
import logging
import weakref
from typing import Any

import numpy as np
import pytest

import gravure.tf as tf


def ones_of(*sizes: object) -> Any:
    """Return ones of sizes that are computed."""
    return tf.ones(tf.concat([[size] for size in sizes], axis=-1), tf.int32)


NUMBER = tf.TensorSpec((), tf.int32)


@pytest.mark.parametrize("deep", [False, True])
def test_a_call_with_constants_had_no_known_sizes(deep: bool) -> None:
    inner = tf.function(ones_of, input_signature=[NUMBER] * 3)
    called = tf.function(inner) if deep else inner
    shapes = []

    @tf.function
    def outer() -> Any:
        made = called(1, 2, 3)
        shapes.append(made.shape.as_list())
        return made

    np.testing.assert_array_equal(outer(), np.ones([1, 2, 3]))
    assert shapes == [[1, 2, 3]]


def test_a_call_with_known_sizes_had_unknown_ones() -> None:
    signature = [tf.TensorSpec([None, None]), NUMBER]

    @tf.function(input_signature=signature)
    def inner(x: Any, size: Any) -> Any:
        rows, _ = tf.unstack(tf.shape(x))
        return tf.ones(tf.stack([rows, size])), tf.reshape(x, [-1]), x * 2.0

    @tf.function
    def outer(x: Any) -> Any:
        made = inner(x, tf.shape(x)[1] - 1)
        assert [y.shape.as_list() for y in made] == [[3, 5], [18], [3, 6]]
        return made

    for _ in range(4):
        made = outer(tf.ones([3, 6]))
        assert [tuple(y.shape) for y in made] == [(3, 5), (18,), (3, 6)]


def test_a_call_with_a_known_rank_had_an_unknown_one() -> None:
    @tf.function
    def inner(x: Any, y: Any) -> Any:
        batch = tf.shape(x)[1]
        return tf.reshape(y, [tf.shape(y)[0] // batch, batch, -1])

    any_rank = tf.TensorSpec(None)
    trace = inner.get_concrete_function(any_rank, any_rank)

    @tf.function
    def outer() -> Any:
        made = trace(tf.ones([5, 4, 2]), tf.ones([20, 2]))
        assert made.shape.as_list() == [5, 4, 2]
        return made

    assert outer().shape == (5, 4, 2)


def test_a_value_of_the_call_was_taken_once() -> None:
    value = [1.0]

    @tf.function
    def add(x: Any) -> Any:
        graph = tf.compat.v1.get_default_graph()
        taken = graph.capture_call_time_value(lambda: value[0], tf.TensorSpec(None), key="a")
        again = graph.capture_call_time_value(lambda: 1 / 0, tf.TensorSpec(None), key="a")
        return x + taken + again

    outer = tf.function(lambda x: add(x) * 10.0)
    for value[0] in (1.0, 2.0, 3.0):
        assert add(1.0).numpy() == 1.0 + 2.0 * value[0]
        assert outer(tf.constant(1.0)).numpy() == 10.0 + 20.0 * value[0]


def test_a_value_of_the_call_is_as_it_was_said_to_be_and_has_gradients() -> None:
    value: list[Any] = [tf.Variable(2.0)]

    @tf.function
    def twice(x: Any) -> Any:
        graph = tf.compat.v1.get_default_graph()
        return x * graph.capture_call_time_value(lambda: value[0], tf.TensorSpec(()))

    with tf.GradientTape() as tape:
        made = twice(3.0)
    assert tape.gradient(made, value[0]).numpy() == 3.0
    for value[0] in (tf.constant(1), tf.constant([1.0])):
        with pytest.raises(TypeError, match="Can not cast Tensor"):
            twice(3.0)


def test_names_that_specs_give_are_those_of_their_own_trace() -> None:
    double = tf.function(lambda pair: pair[0] * pair[1])
    plain = double.get_concrete_function((tf.TensorSpec(()), tf.TensorSpec(())))
    specs = tf.TensorSpec((), name="first"), tf.TensorSpec((), name="second")
    named = double.get_concrete_function(specs)
    assert named(first=tf.constant(2.0), second=tf.constant(3.0)).numpy() == 6.0
    assert plain(tf.constant(2.0), tf.constant(3.0)).numpy() == 6.0
    assert double.get_concrete_function(specs) is named
    assert double.experimental_get_tracing_count() == 2
    double((tf.constant(2.0), tf.constant(3.0)))
    assert double.experimental_get_tracing_count() == 2


def test_a_function_that_implements_another_takes_tensors_alone() -> None:
    add = tf.function(lambda x, y: x + y, experimental_implements="add")
    with tf.Graph().as_default() as graph, tf.compat.v1.Session() as session:
        a, b = tf.Variable(1.0), tf.Variable(2.0)
        sums = [add(a, b), add(a, a), add(a, 2.0), add(2.0, b)]
        functions = graph.as_graph_def().library.function
        session.run(tf.compat.v1.global_variables_initializer())
        assert session.run(sums) == [3.0, 2.0, 3.0, 4.0]
    assert [len(f.signature.input_arg) for f in functions] == [2]
    assert functions[0].attr["_implements"].s == b"add"


def test_a_function_that_implements_another_takes_nothing_from_outside() -> None:
    with tf.Graph().as_default():
        z = tf.zeros([])
        add = tf.function(lambda x: x + z, experimental_implements="add")
        with pytest.raises(AssertionError, match="variables are always captured"):
            add(1.0)


def test_attributes_of_a_function_are_said_to_other_programs() -> None:
    same = tf.function(lambda x: x + 1.0, experimental_attributes={"of": "tests"})
    with tf.Graph().as_default() as graph:
        same(1.0)
        assert graph.as_graph_def().library.function[0].attr["of"].s == b"tests"


def test_traces_inside_of_traces_were_taken_for_calls_that_trace(
    caplog: pytest.LogCaptureFixture,
) -> None:
    inner = tf.function(lambda x: x + 1)
    outer = [tf.function(lambda x: inner(x) * 2), tf.function(lambda x: inner(x) * 3)]
    with caplog.at_level(logging.WARNING):
        for i in range(4):
            inner(i)
            for each in outer:
                each(100 * i)
    assert not caplog.records


def test_an_executor_of_no_name_is_refused() -> None:
    add = tf.function(lambda x: x + 5)
    for name in ("", "DEFAULT", None, "SINGLE_THREADED_EXECUTOR"):
        with tf.experimental.function_executor_type(name):
            assert add(tf.constant(0)).numpy() == 5
    with (
        pytest.raises(tf.errors.NotFoundError, match="NO_SUCH"),
        tf.experimental.function_executor_type("NO_SUCH"),
    ):
        add(tf.constant(0))


def test_graphs_of_functions_say_what_they_take() -> None:
    kept, changed = tf.Variable(1.0, trainable=False), tf.Variable(2.0)
    outside = tf.constant([3.0])
    trace = tf.function(lambda: kept + changed + outside).get_concrete_function()
    assert [v is changed for v in trace.graph.trainable_variables] == [True]
    taken = trace.graph.external_captures
    assert [any(x is y for x in taken) for y in (outside, kept.handle, changed.handle)] == [
        True
    ] * 3


def test_tensors_had_no_attributes_of_their_own() -> None:
    first, second = tf.constant(1.0), tf.constant(2.0)
    first.other, second.other = second, first
    seen = weakref.ref(first)

    @tf.function
    def inside(x: Any) -> Any:
        x.mark = 3.0
        return x + x.mark

    assert inside(first).numpy() == 4.0
    del first, second
    gc.collect()
    assert seen() is None


@pytest.mark.filterwarnings("ignore:Casting complex values")
@pytest.mark.parametrize("made", [tf.constant, tf.Variable])
def test_complex_numbers_were_no_numbers_of_pythons(made: Any) -> None:
    value = made(1.5 + 2.0j)
    assert (int(value), float(value), complex(value)) == (1, 1.5, 1.5 + 2.0j)


def test_jacobians_of_rows_failed() -> None:
    with tf.GradientTape(persistent=True) as tape:
        table = tf.reshape(tf.range(6.0), [3, 2])
        tape.watch(table)
        rows = tf.nn.embedding_lookup(table, [0, 2])
    wanted = np.zeros([2, 2, 3, 2])
    wanted[0, :, 0], wanted[1, :, 2] = np.eye(2), np.eye(2)
    np.testing.assert_array_equal(tape.jacobian(rows, table), wanted)


def test_functions_kept_themselves_and_what_they_were_traced_by() -> None:
    gc.disable()
    try:
        double = tf.function(lambda x: x * 2.0)
        first = tf.constant([1.0, 2.0])
        kept = weakref.ref(double), weakref.ref(first)
        trace = double.get_concrete_function(tf.TensorSpec([None]))
        assert double(first).numpy().tolist() == [2.0, 4.0]
        del double, first
        assert [each() for each in kept] == [None, None]
        assert trace(tf.constant([3.0])).numpy().tolist() == [6.0]
        assert trace(x=tf.constant([3.0, 4.0, 5.0])).numpy().tolist() == [6.0, 8.0, 10.0]
    finally:
        gc.enable()


def test_a_first_value_that_a_function_computes_was_of_another_graph() -> None:
    kept: list[Any] = []

    @tf.function
    def scaled(x: Any) -> Any:
        if not kept:
            two = tf.constant(2.0) * offset
            kept.append(tf.Variable(tf.sqrt(two * two) + 4.0))
        return kept[0] * x

    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        offset = tf.constant(1.0)
        made = scaled(3.0)
        session.run(tf.compat.v1.global_variables_initializer())
        assert session.run([kept[0], made]) == [6.0, 18.0]


def test_a_first_value_that_is_made_of_an_argument_is_refused() -> None:
    kept: list[Any] = []

    @tf.function
    def scaled(x: Any) -> Any:
        kept.append(tf.Variable(x * 2.0))
        return kept[0] * x

    with tf.Graph().as_default(), pytest.raises(ValueError, match="depends on an argument"):
        scaled(tf.constant(3.0))


def test_a_benchmark_runs_and_reports(capsys: pytest.CaptureFixture[str]) -> None:
    class Adding(tf.test.Benchmark):  # type: ignore[misc]
        def benchmark_add(self) -> Any:
            with tf.Graph().as_default(), tf.compat.v1.Session() as session:
                x = tf.compat.v1.placeholder(tf.float32)
                return self.run_op_benchmark(session, x + 1.0, {x: 2.0}, min_iters=3, mbs=1)

    found = Adding().benchmark_add()
    assert found["iters"] == 3
    assert found["wall_time"] > 0
    assert '"iters": 3' in capsys.readouterr().out
    assert (tf.test.Benchmark.is_abstract(), Adding.is_abstract()) == (True, False)
    with pytest.raises(NotImplementedError, match="store_trace"):
        Adding().run_op_benchmark(None, None, store_trace=True)
