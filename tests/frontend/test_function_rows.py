"""Functions that are traced: one test a row of the feature table."""

import gc

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.errors import GraphError
from gravure.frontend.graph.symbolic import LeakedTensorError, SymbolicError

KEPT = {}


def counted(**options):
    log = []

    @tf.function(**options)
    def f(x):
        log.append(1)
        return x * 2

    return f, log


def test_i5_nested_tapes_go_through_a_function():
    cube = tf.function(lambda x: x * x * x)
    x = tf.constant(3.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = cube(x)
        d = inner.gradient(y, x)
    assert (float(d), float(outer.gradient(d, x))) == (27.0, 18.0)


def test_i9_python_runs_when_a_function_is_traced():
    @tf.function
    def noise():
        return tf.constant(np.random.default_rng().random())

    @tf.function
    def drawn():
        return tf.random.uniform([])

    assert float(noise()) == float(noise())
    assert float(drawn()) != float(drawn())


def test_i10_tensors_are_traced_by_type_and_shape_and_the_rest_by_value():
    f, log = counted()
    for value in (1, 2, 1):
        f(value)
    assert len(log) == 2
    for size in (3, 4, 5, 6, 6):
        f(tf.ones([size]))
    assert len(log) == 6
    f(tf.ones([3], tf.float64))
    assert len(log) == 7
    assert any("float" in reason or "f64" in reason for reason in f.explain())


def test_i11_python_values_specialise():
    seen = []

    @tf.function
    def f(x, training):
        seen.append(training)
        return x * 2.0 if training else x

    for training in (True, False, True):
        f(tf.constant(1.0), training)
    assert seen == [True, False]


def test_i12_a_signature_is_one_trace():
    f, log = counted(input_signature=[tf.TensorSpec([None], tf.float32)])
    f(tf.ones([1]))
    f(tf.ones([2]))
    assert len(log) == 1
    with pytest.raises(TypeError, match=r"Can not cast .*shape=\(2, 2\).* to"):
        f(tf.ones([2, 2]))


@pytest.mark.parametrize("function", [gv.function, tf.function])
def test_i12_a_signature_says_of_each_of_several_arguments(function):
    specs = [tf.TensorSpec([None], tf.float32), tf.TensorSpec([], tf.float32)]
    f = function(lambda *values: values[0] * values[1], input_signature=specs)
    g = function(lambda a, *rest: a * rest[0], input_signature=specs)
    for each in (f, g):
        assert each([1.0, 2.0], 3.0).numpy().tolist() == [3.0, 6.0]
        assert each([1.0], 3.0).numpy().tolist() == [3.0]
        with pytest.raises(TypeError, match="1 values, expected 2"):
            each([1.0])
    with pytest.raises(TypeError, match="does not fit it: too many"):
        function(lambda a: a, input_signature=specs)([1.0])


def test_i13_variables_are_captured_by_reference_and_numbers_as_they_are():
    v, number = tf.Variable(0.0), 2.0

    @tf.function
    def f(x):
        v.assign_add(1.0)
        return v * x * number

    assert [float(f(tf.constant(1.0))) for _ in range(3)] == [2.0, 4.0, 6.0]
    number = 100.0
    assert float(f(tf.constant(1.0))) == 8.0
    concrete = f.get_concrete_function(tf.constant(1.0))
    assert any(each is v for each in concrete.captured_inputs)


def test_i14_a_call_stays_a_call():
    inner = tf.function(tf.nn.relu)

    @tf.function
    def outer(a, b):
        return inner(tf.matmul(a, b))

    eye = tf.eye(2)
    types = [op.type for op in outer.get_concrete_function(eye, eye).graph.get_operations()]
    assert types[:4] == ["Placeholder", "Placeholder", "MatMul", "PartitionedCall"]
    assert len(inner.cache) == 1


def test_i14_a_function_calls_itself_until_a_python_value_ends_it():
    @gv.function
    def power(x, n):
        return gv.ones_like(x) if n == 0 else x * power(x, n - 1)

    assert float(power(gv.asarray(2.0), 5)) == 32.0
    assert power.traced == 6


def test_i14_a_trace_without_an_end_is_refused():
    @gv.function
    def count(n):
        return gv.cond(n > 0, lambda: count(n - 1), lambda: n)

    with pytest.raises(GraphError, match=r"test_function_rows.py:\d+: .*'count' calls itself"):
        count(gv.asarray(3))
    assert float(gv.function(lambda n: n + 1)(gv.asarray(1.0))) == 2.0


def test_i15_variables_are_made_in_the_first_call_only():
    log, made = [], []

    @tf.function
    def f(x):
        log.append(1)
        if not made:
            made.append(tf.Variable(x * x))
        return made[0] + 0.0

    assert float(f(tf.constant(3.0))) == 9.0
    assert len(log) == 2
    f(tf.constant(3.0))
    assert len(log) == 2

    @tf.function
    def always(x):
        return x * KEPT.setdefault(len(KEPT), tf.Variable(1.0))

    with pytest.raises(ValueError, match="tried to create variables"):
        always(tf.constant(1.0))


def test_i16_a_variable_that_is_gone_is_named():
    v = tf.Variable(1.0, name="gone")
    held = {"v": v}
    g = tf.function(lambda: held["v"] + 1.0)
    for _ in range(4):
        assert float(g()) == 2.0
    del v, held["v"]
    gc.collect()
    with pytest.raises(tf.errors.FailedPreconditionError, match="'gone' was deleted"):
        g()


def test_i17_python_in_a_function():
    @tf.function
    def f(x):
        return tf.py_function(lambda y: y * 3.0, [x], tf.float32)

    assert float(f(tf.constant(2.0))) == 6.0


def test_i18_init_scope_leaves_the_trace():
    seen = []

    @tf.function
    def f():
        with tf.init_scope():
            seen.append((tf.executing_eagerly(), float(tf.constant(2.0))))
        seen.append(tf.executing_eagerly())

    f()
    assert seen == [(True, 2.0), False]


def test_i19_a_function_runs_in_a_session():
    f = tf.function(lambda x: x * 2.0 + 1.0)
    with tf.Graph().as_default():
        y = f(tf.constant(3.0))
        assert tf.compat.v1.Session().run(y) == 7.0


def test_i20_a_choice_on_a_tensor_says_what_to_write():
    @tf.function(autograph=False)
    def f(x):
        return x if x > 0.0 else -x

    with pytest.raises(SymbolicError, match="cond"):
        f(tf.constant(1.0))


def test_i21_a_leaked_tensor_is_named():
    leaked = []

    @tf.function
    def f(x):
        leaked.append(x * 2.0)
        return x

    f(tf.constant(1.0))
    with pytest.raises(LeakedTensorError, match="function 'f'"):
        leaked[0] + 1.0


def test_i25_a_concrete_function_prints_its_signature():
    @tf.function
    def f(a, b):
        return {"y": tf.matmul(a, b)}

    made = f.get_concrete_function(tf.TensorSpec([None, 3]), tf.TensorSpec([3, 4]))

    def spec(shape):
        return f"TensorSpec(shape={shape}, dtype=tf.float32, name=None)"

    assert str(made).splitlines() == [
        "ConcreteFunction Input Parameters:",
        f"  a (POSITIONAL_OR_KEYWORD): {spec((None, 3))}",
        f"  b (POSITIONAL_OR_KEYWORD): {spec((3, 4))}",
        "Output Type:",
        f"  Dict[['y', {spec((None, 4))}]]",
        "Captures:",
        "  None",
    ]


def test_i28_functions_can_be_run_eagerly():
    f, log = counted()
    tf.config.run_functions_eagerly(True)
    try:
        f(tf.constant(1.0))
        f(tf.constant(1.0))
    finally:
        tf.config.run_functions_eagerly(False)
    assert len(log) == 2


def test_compiled_calls_give_what_the_first_calls_gave():
    v = tf.Variable(1.0)

    @tf.function
    def f(x):
        v.assign_add(0.5)
        return tf.nn.relu(x) * v, tf.reduce_sum(tf.tanh(x))

    x = tf.constant(np.linspace(-2, 2, 7).astype(np.float32))
    for call in range(1, 6):
        y, total = f(x)
        assert float(v) == 1.0 + call / 2
        assert np.allclose(y, np.maximum(x.numpy(), 0) * float(v), rtol=1e-6)
        assert np.allclose(total, np.tanh(x.numpy()).sum(), atol=1e-6)
    [concrete] = f.cache.values()
    [compiled] = concrete.compiled.values()
    assert type(compiled).__name__ == "Staged", concrete.graph.refusal


def test_random_numbers_are_the_same_compiled_or_not():
    def draws(count):
        tf.random.set_seed(7)
        f = tf.function(lambda x: x + tf.random.uniform([4]))
        return [f(tf.zeros([4])).numpy() for _ in range(count)]

    made = draws(5)
    assert np.array_equal(made, draws(5))
    assert not np.array_equal(made[0], made[4])


def test_what_only_python_can_do_is_a_step_of_compiled_code():
    f = tf.function(lambda x: tf.py_function(lambda y: y + 1.0, [x], tf.float32))
    for _ in range(4):
        assert float(f(tf.constant(1.0))) == 2.0
    [concrete] = f.cache.values()
    assert concrete.graph.refusal == ""
    [made] = concrete.compiled.values()
    assert len(made.calls) == 1


def test_i8_a_call_under_a_tape_is_staged_both_ways():
    w = tf.Variable(np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2))
    x = tf.constant([[1.0, 2.0, 3.0], [0.5, -1.0, 2.0]])
    python = lambda x: tf.reduce_sum(tf.tanh(x @ w) ** 2)  # noqa: E731
    staged = tf.function(python)

    def gradients(function):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return [y, *tape.gradient(y, [x, w])]

    expected = gradients(python)
    for _ in range(5):
        for found, wanted in zip(gradients(staged), expected, strict=True):
            assert np.allclose(found, wanted, rtol=5e-5)
    [concrete] = staged.cache.values()
    assert concrete.gradients.made == 1
    [pair] = concrete.gradients.known.values()
    counts = [str(p.module).count("gv.matmul") for p in pair.programs]
    assert counts == [1, 2], "the product is computed once, and differentiated by both factors"
    assert sum(str(p.module).count("gv.tanh") for p in pair.programs) == 1


def test_i8_effects_happen_once_in_a_staged_call_under_a_tape():
    v = tf.Variable(0.0)

    @tf.function
    def f(x):
        v.assign_add(1.0)
        return x * v

    x = tf.constant(2.0)
    for count in range(1, 6):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert (float(y), float(tape.gradient(y, x)), float(v)) == (2.0 * count, count, count)


def test_i8_a_call_that_a_persistent_tape_watches_is_differentiated_again():
    v = tf.Variable(2.0)
    cube = tf.function(lambda x: x * x * x * v)
    x = tf.constant(3.0)
    for _ in range(5):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            first = tape.gradient(cube(x), x)
            second = tape.gradient(first, x)
        found = [float(g) for g in (first, second, *tape.gradient(second, [x, v]))]
        assert found == [54.0, 36.0, 12.0, 18.0]
    [concrete] = cube.cache.values()
    assert concrete.gradients.made == 1
    assert concrete.gradient.graph.refusal == ""


def test_i8_what_changes_state_is_differentiated_again_as_it_was_when_it_ran():
    v, w = tf.Variable(1.0), tf.Variable(2.0)
    calls = 6  # the first ones are interpreted, the last ones compiled

    @tf.function
    def f(x):
        before = v * 1.0
        v.assign_add(1.0)
        return x * x * v * w + before * x + x * tf.random.uniform([], seed=1)

    x = tf.constant(3.0)
    for count in range(1, calls + 1):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = f(x)
            w.assign(5.0)  # after the call: the gradient is that of what was read
            slope = tape.gradient(y, x)
            back = tape.gradient(y, [v, w])
        assert v.numpy() == count + 1.0
        drawn = float(y) / 3.0 - 6.0 * (count + 1) - count
        assert float(slope) == pytest.approx(12.0 * (count + 1) + count + drawn, abs=1e-4)
        curve = tape.gradient(slope, [x, w, v])
        assert [float(g) for g in curve] == [4.0 * (count + 1), 6.0 * (count + 1), 13.0]
        assert [float(g) for g in back] == [21.0, 9.0 * (count + 1)]
        assert [float(g) for g in tape.gradient(back[0], [x, w])] == [13.0, 9.0]
        w.assign(2.0)
        assert v.numpy() == count + 1.0
    [concrete] = f.cache.values()
    assert concrete.gradients.made == 1


def test_i5_gradients_in_functions_of_variables_have_gradients():
    v = tf.Variable(2.0)
    cube = tf.function(lambda: v * v * v)

    def slope(f):
        def gradient():
            with tf.GradientTape() as tape:
                y = f()
            return tape.gradient(y, v)

        return gradient

    staged = tf.function(slope(cube))
    for f, expected in (
        (staged, 12.0),
        (slope(slope(cube)), 12.0),
        (slope(staged), 12.0),
        (slope(slope(staged)), 6.0),
        (tf.function(slope(slope(staged))), 6.0),
    ):
        assert [float(f()) for _ in range(4)] == [expected] * 4


def test_i8_a_call_that_two_tapes_watch_has_second_derivatives():
    f = tf.function(lambda x: x * x * x)
    x = tf.constant(3.0)
    for _ in range(4):
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as inner:
                inner.watch(x)
                y = f(x)
            slope = inner.gradient(y, x)
        assert (float(slope), float(outer.gradient(slope, x))) == (27.0, 18.0)


def test_i12_a_signature_says_of_each_argument_without_a_default():
    spec = tf.TensorSpec([], tf.float32)
    with pytest.raises(TypeError, match="missing type constraint for b of function"):
        tf.function(lambda a, b, c=1: a, input_signature=[spec])(1.0, 2.0)
    with pytest.raises(TypeError, match="input_signature must be a possibly nested sequence"):
        tf.function(lambda a, b: a, input_signature=[(2, 3), spec])
    assert tf.function(lambda a, c=1: a + c, input_signature=[spec])(1.0).numpy() == 2.0
    assert tf.function(lambda: 1, input_signature=[]).input_signature == ()


TRACED = {
    "missing a required argument: 'y'": ((1, tf.constant(2)), (1,), {}),
    "missing a required argument: 'rest_0'": ((1, 2, tf.constant(1.0)), (1, 2), {}),
    "too many positional arguments": ((1, 2), (1, 2, 3), {}),
    "unexpected keyword argument 'c'": ((1, 2), (1, 2), {"c": tf.constant(1.0)}),
    "to a Dict of": (({"a": tf.constant(1), "b": tf.constant(2)},), (tf.constant(1), 5), {}),
    "to tuple of 2": (((tf.constant(1), tf.constant(2)),), (tf.constant(1), 5), {}),
    "same nested structure": ((tf.ragged.constant([[1], [2]]),), ({"a": tf.constant(1)}, 5), {}),
}


@pytest.mark.parametrize(("text", "given"), TRACED.items(), ids=range(len(TRACED)))
def test_i12_a_trace_takes_what_it_was_made_for_and_no_default_instead(text, given):
    for_trace, args, kwargs = given
    trace = tf.function(lambda x, y=5, *rest, **named: x).get_concrete_function(*for_trace)
    with pytest.raises(TypeError, match=f"Binding inputs to .* failed .*{text}"):
        trace(*args, **kwargs)
