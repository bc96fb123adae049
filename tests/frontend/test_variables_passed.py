"""One trace serves all variables of a type that a function is called with, as TensorFlow's does."""

import gc
import warnings

import numpy as np
import pytest

import gravure.tf as tf


def ramp(start):
    return tf.Variable(np.linspace(start, 2 * start, 1000).astype(np.float32))


def total(x):
    return float(tf.reduce_sum(x))


def test_sixty_variables_have_one_trace_and_no_warning():
    @tf.function
    def step(v, x):
        v.assign_add(x)
        return v * 2.0

    @tf.function
    def of_all(vs):
        for v in vs:
            v.assign_add(1.0)
        return tf.add_n([v + 0.0 for v in vs])

    ones = [tf.Variable(float(i)) for i in range(60)]
    others = [tf.Variable(float(i)) for i in range(60)]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert [float(step(v, tf.constant(1.0))) for v in ones] == [2.0 * i + 2 for i in range(60)]
        assert float(of_all(ones)) == 1890.0
        assert float(of_all(others)) == 1830.0
    assert step.experimental_get_tracing_count() == 1
    assert of_all.experimental_get_tracing_count() == 1
    assert float(of_all([*others[:59], others[0]])) == 1830.0 + 60 - 59 + 1 + 0 + 1
    assert of_all.experimental_get_tracing_count() == 2


@pytest.mark.parametrize(
    ("other", "traces"),
    [
        (lambda: tf.Variable([1.0, 2.0], trainable=False), 2),
        (lambda: tf.Variable([1, 2]), 2),
        (lambda: tf.Variable([1.0, 2.0, 3.0]), 2),
        (lambda: tf.Variable([1.0, 2.0], shape=[None]), 2),
        (lambda: tf.Variable([3.0, 4.0]), 1),
    ],
)
def test_variables_of_another_type_are_traced_for(other, traces):
    step = tf.function(lambda v: v + v)
    step(tf.Variable([1.0, 2.0]))
    assert step(other()).shape.rank == 1
    assert step.experimental_get_tracing_count() == traces


def test_the_first_variable_may_be_gone_when_it_is_compiled():
    @tf.function
    def step(v, w, x):
        y = x
        for _ in range(30):
            y = tf.tanh(y * v + w)
        v.assign_add(w * 0.01)
        return tf.reduce_sum(y * v)

    def plain(v, w, x):
        y = x
        for _ in range(30):
            y = np.tanh(y * v + w)
        return v + w * 0.01, float(np.sum(y * (v + w * 0.01)))

    first, w, x = ramp(0.1), ramp(0.2), ramp(0.3).read_value()
    step(first, w, x)
    del first
    gc.collect()
    values = [ramp(0.1), ramp(0.15)]
    arrays = [v.numpy() for v in values]
    for _ in range(40):
        for place, v in enumerate(values):
            with tf.GradientTape() as tape:
                found = step(v, w, x)
            slopes = tape.gradient(found, [v, w])
            arrays[place], wanted = plain(arrays[place], w.numpy(), x.numpy())
            np.testing.assert_allclose(found, wanted, rtol=1e-5)
            np.testing.assert_allclose(v, arrays[place], rtol=1e-5)
            assert all(slope is not None for slope in slopes)
    assert step.experimental_get_tracing_count() == 1


def test_gradients_of_any_order_go_to_the_variable_that_is_passed():
    cube = tf.function(lambda v, x: tf.reduce_sum(v * v * v * x))
    first = ramp(1.0)
    cube(first, tf.constant(1.0))
    del first
    gc.collect()
    v = tf.Variable([2.0, 3.0])
    one = tf.Variable(np.ones(1000, np.float32))
    for each in (one, one, one):
        with tf.GradientTape() as outer:
            with tf.GradientTape() as inner:
                y = cube(each, tf.constant(2.0))
            slope = inner.gradient(y, each)
        assert total(slope) == 6000.0
        assert total(outer.gradient(slope, each)) == 12000.0
    with tf.GradientTape(persistent=True) as tape:
        y = tf.function(lambda a, b: tf.reduce_sum(a * b))(v, v)
    assert tape.gradient(y, v).numpy().tolist() == [4.0, 6.0]


def test_choices_loops_and_python_work_on_what_is_passed():
    @tf.function
    def step(v, times):
        i = tf.constant(0)
        while i < times:
            if v > 3.0:
                v.assign_sub(1.0)
            else:
                v.assign_add(5.0)
            i += 1
        got = tf.py_function(lambda x: x * 2.0, [v], tf.float32)
        v.assign(tf.reshape(got, []))
        return v.read_value()

    first = tf.Variable(0.0)
    step(first, tf.constant(1))
    del first
    gc.collect()
    a, b = tf.Variable(1.0), tf.Variable(2.0)
    found = [[float(step(v, tf.constant(7))) for v in (a, b)] for _ in range(8)]
    x, y = 1.0, 2.0
    for got in found:
        for _ in range(7):
            x, y = (x - 1 if x > 3 else x + 5), (y - 1 if y > 3 else y + 5)
        x, y = 2 * x, 2 * y
        assert got == [x, y]
    assert step.experimental_get_tracing_count() == 1


def test_functions_inside_get_the_variables_of_the_call():
    inner = tf.function(lambda v: v.assign_add(1.0) + 0.0)
    outer = tf.function(lambda u, v: inner(u) + inner(v))
    a, b, c, d = (tf.Variable(float(i)) for i in range(4))
    assert float(outer(a, b)) == 3.0
    assert float(outer(c, d)) == 7.0
    assert float(inner(d)) == 5.0
    assert [v.numpy() for v in (a, b, c, d)] == [1.0, 2.0, 3.0, 5.0]
    assert outer.experimental_get_tracing_count() == 1


def test_a_variable_that_the_function_has_too_is_one_with_it():
    class Model(tf.Module):
        def __init__(self):
            self.v = tf.Variable(1.0)

        @tf.function
        def step(self, w):
            self.v.assign_add(w)
            w.assign(self.v * 2.0)
            return self.v + w

    model, a, b = Model(), tf.Variable(2.0), tf.Variable(3.0)
    assert [float(model.step(a)), float(model.step(b))] == [9.0, 18.0]
    assert float(model.step(model.v)) == 48.0
    assert [v.numpy() for v in (model.v, a, b)] == [24.0, 6.0, 12.0]


def test_what_is_said_of_a_trace_is_its_type():
    step = tf.function(lambda v, x: v.assign_add(x))
    trace = step.get_concrete_function(tf.Variable(1.0), tf.TensorSpec([], tf.float32))
    other = tf.Variable(10.0)
    trace(other, tf.constant(2.0))
    assert other.numpy() == 12.0
    assert str(trace.structured_input_signature[0][0]) == (
        "VariableSpec(shape=(), dtype=tf.float32, trainable=True, alias_id=0)"
    )
    assert trace.variables == ()
    with pytest.raises(TypeError):
        trace(tf.Variable(1), tf.constant(2.0))


def test_a_module_with_such_a_function_is_saved_without_its_traces(tmp_path):
    module = tf.Module()
    module.v = tf.Variable(3.0)
    module.f = tf.function(lambda v: v + 1.0)
    module.f(module.v)
    tf.saved_model.save(module, str(tmp_path / "m"))
    loaded = tf.saved_model.load(str(tmp_path / "m"))
    assert loaded.v.numpy() == 3.0
    with pytest.raises(ValueError, match="function"):
        loaded.f(loaded.v)


def test_what_is_counted_is_what_is_passed():
    @tf.function
    def limited(v):
        return v.count_up_to(4)

    a, b = tf.Variable(2), tf.Variable(0)
    assert [int(limited(v)) for v in (a, b, a, b)] == [2, 0, 3, 1]
    assert [a.numpy(), b.numpy()] == [4, 2]


def test_sizes_left_open_serve_other_variables_too():
    @tf.function(reduce_retracing=True)
    def scaled(v, x):
        v.assign_add(1.0)
        return v * tf.reduce_sum(x)

    a, b = tf.Variable(1.0), tf.Variable(2.0)
    found = [float(scaled(v, tf.ones([k]))) for v in (a, b, a) for k in (1, 2, 3)]
    assert found == [2.0, 6.0, 12.0, 3.0, 8.0, 15.0, 5.0, 12.0, 21.0]
    assert scaled.experimental_get_tracing_count() == 2


def test_variables_come_by_structures_names_and_methods():
    class Model(tf.Module):
        def __init__(self):
            self.w = tf.Variable(2.0)

        @tf.function
        def step(self, parts, *more, last):
            parts["a"][0].assign_add(self.w * last)
            return parts["a"][0] + tf.add_n([v + 0.0 for v in more])

    def given(start):
        return [tf.Variable(start + i) for i in range(4)]

    model, first, second = Model(), given(1.0), given(10.0)
    for a, b, c, d in (first, second, second):
        made = model.step({"a": [a]}, b, c, last=d)
    assert float(made) == 10.0 + 2 * 2 * 13.0 + 11.0 + 12.0
    assert [float(v) for v in first] == [9.0, 2.0, 3.0, 4.0]
    assert model.step.experimental_get_tracing_count() == 1
