"""What only Python can do is a step between compiled code; the rest of a function is compiled."""

import warnings

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.frontend.function.staged import Staged
from gravure.ir.ops.structure import Constant

X = np.array([1.0, -2.0, 3.0], np.float32)


def doubled(x):
    """Call Python for twice a value."""
    return tf.ensure_shape(tf.py_function(lambda a: a * 2, [x], tf.float32), x.shape)


def in_a_loop(x):
    return tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, doubled(y)), (0, x))[1]


PROGRAMS = {
    "py_function": lambda x: doubled(x * 2) + 1,
    "without_shape": lambda x: tf.py_function(lambda a: a * 2, [x], tf.float32),
    "numpy_function": lambda x: tf.numpy_function(np.sort, [x * 2], tf.float32),
    "branch": lambda x: tf.cond(x[0] > 0, lambda: doubled(x), lambda: x) * 3,
    "loop": in_a_loop,
    "boolean_mask": lambda x: tf.reduce_sum(tf.boolean_mask(x, x > 0)),
    "unique": lambda x: tf.unique(tf.cast(x * 2, tf.int32))[0],
    "as_string": lambda x: tf.strings.as_string(tf.cast(x, tf.int32) * 2),
    "rfft": lambda x: tf.abs(tf.signal.rfft(x)),
    "svd": lambda x: tf.linalg.svd(x[:, None] * x, compute_uv=False),
    "range": lambda x: tf.range(tf.shape(x)[0]),
    "assert": lambda x: (tf.debugging.assert_greater(x, -5.0), x + 1)[1],
}


def is_compiled(function):
    [concrete] = function.cache.values()
    return [isinstance(made, Staged) for made in concrete.compiled.values()] == [True]


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_step_in_python_leaves_the_rest_compiled(name):
    function = tf.function(PROGRAMS[name], autograph=False)
    expected = np.asarray(PROGRAMS[name](tf.constant(X)))
    for _ in range(5):
        made = np.asarray(function(tf.constant(X)))
        assert made.dtype == expected.dtype
        if expected.dtype.kind == "O":
            assert np.array_equal(made, expected)
        else:
            np.testing.assert_allclose(made, expected, rtol=1e-5)
    assert is_compiled(function)


def raw(x):
    """Call Python for twice a value of whose shape nothing is said."""
    return tf.py_function(lambda a: a * 2, [x], tf.float32)


def turned(turns, body):
    return lambda x: tf.while_loop(
        lambda i, _: i < turns(x),
        body,
        (0, x),
        shape_invariants=(tf.TensorShape([]), tf.TensorShape(None)),
    )[1]


def count(x):
    return tf.cast(tf.abs(x[1]), tf.int32)


called = tf.function(lambda a: raw(a * a), autograph=False)
WITHOUT_SHAPES = {
    "taken": lambda x: tf.cond(x[0] > 0, lambda: raw(x * x), lambda: x),
    "not_taken": lambda x: tf.cond(x[0] < 0, lambda: raw(x * x), lambda: x),
    "both": lambda x: tf.cond(x[0] < 0, lambda: raw(x * x), lambda: raw(x)),
    "nested": lambda x: tf.cond(
        x[0] > 0, lambda: tf.cond(x[1] > 0, lambda: raw(x * x), lambda: x * 3), lambda: raw(x)
    ),
    "called": lambda x: tf.cond(x[0] < 0, lambda: called(x), lambda: x),
    "several": lambda x: tf.switch_case(
        tf.cast(x[0], tf.int32), [lambda: raw(x), lambda: x * 3, lambda: raw(x * x)]
    ),
    "loop": turned(count, lambda i, y: (i + 1, raw(y))),
    "no_turns": turned(lambda x: 0 * count(x), lambda i, y: (i + 1, raw(y))),
    "choice_in_loop": turned(
        count, lambda i, y: (i + 1, tf.cond(y[0] < 0, lambda: raw(y), lambda: y + 1))
    ),
    "loop_in_choice": lambda x: tf.cond(
        x[0] < 0, lambda: turned(count, lambda i, y: (i + 1, raw(y)))(x), lambda: x
    ),
}


def with_gradient(function):
    def both(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = function(x)
        return y, tape.gradient(y, x)

    return both


@pytest.mark.parametrize("name", WITHOUT_SHAPES)
def test_a_step_that_no_run_came_by_leaves_the_rest_compiled(name):
    whole = with_gradient(WITHOUT_SHAPES[name])
    function = tf.function(whole, autograph=False)
    for sign in (1, 1, 1, 1, -1, 1, -1, -1, -1, 1, 1, 1):
        x = tf.constant(sign * X)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", gv.PerformanceWarning)  # of `called` under a tape
            wanted, made = whole(x), function(x)
        for found, expected in zip(made, wanted, strict=True):
            assert np.array_equal(found, expected)
    # What steps gave in each trip of a loop is not kept where the loop stands in a choice.
    assert is_compiled(function) == (name != "loop_in_choice")


def test_what_was_called_before_a_step_that_no_run_came_by_is_not_called_again():
    calls, v = [], tf.Variable(1.0)

    def noted(name, x):
        return tf.py_function(lambda a: (calls.append(name), a)[1], [x], tf.float32)

    def seldom(x):
        v.assign_add(1.0)
        return noted("seldom", x * 2)

    @tf.function(autograph=False)
    def step(x):
        first = tf.ensure_shape(noted("first", x), [3])
        made = tf.cond(x[0] < 0, lambda: seldom(first), lambda: first)
        return tf.reduce_sum(tf.ensure_shape(made, [None]))

    for turn, sign in enumerate((1, 1, 1, 1, -1, -1, 1, 1, -1, 1, -1)):
        calls.clear()
        before = float(v)
        assert float(step(tf.constant(sign * X))) == (2 if sign > 0 else -4), turn
        assert calls == ["first"] + ["seldom"] * (sign < 0)
        assert float(v) == before + (sign < 0)
    assert is_compiled(step)


def test_turns_that_no_run_came_by_keep_their_guards():
    v = tf.Variable(0.0)

    @tf.function(autograph=False)
    def step(x, turns):
        def turn(i, y):
            tf.debugging.assert_less(y[0], 5.0, "too large")
            v.assign_add(1.0)
            return i + 1, tf.ensure_shape(raw(y), [3])

        return tf.while_loop(lambda i, y: i < turns, turn, (0, x))[1]

    for turns in (0, 0, 0, 0, 2, 0, 0, 0, 3):
        v.assign(0.0)
        made = step(tf.constant(X), tf.constant(turns))
        assert np.array_equal(made, X * 2**turns)
        assert float(v) == turns
    with pytest.raises(tf.errors.InvalidArgumentError, match="too large"):
        step(tf.constant(X), tf.constant(4))
    assert is_compiled(step)


GRADIENTS = {
    "called": tf.function(lambda a: doubled(a * a), autograph=False),
    "branch": lambda x: tf.cond(x[0] > 0, lambda: doubled(x * x), lambda: x),
    "loop": in_a_loop,
}


@pytest.mark.parametrize("name", GRADIENTS)
def test_the_gradient_goes_through_python_wherever_it_is(name):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = GRADIENTS[name](x)
        return tape.gradient(y, x)

    expected = {"called": 4 * X, "branch": 4 * X, "loop": np.full(3, 8)}[name]
    function = tf.function(slope, autograph=False)
    for _ in range(4):
        assert np.allclose(function(tf.constant(X)), expected)
    assert np.allclose(slope(tf.constant(X)), expected)


def test_a_numpy_function_has_no_gradient():
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.ensure_shape(tf.numpy_function(np.sort, [x], tf.float32), [3])
        return tape.gradient(y, x)

    assert slope(tf.constant(X)) is None
    assert tf.function(slope, autograph=False)(tf.constant(X)) is None


def test_results_may_have_other_sizes_in_every_call():
    @tf.function(autograph=False)
    def total(x):
        return tf.reduce_sum(tf.boolean_mask(x, x > 0)) + 1.0

    for count in (3, 3, 3, 0, 5, 1, 2, 6, 4, 0):
        x = np.where(np.arange(6) < count, 1, -1).astype(np.float32)
        assert float(total(tf.constant(x))) == count + 1
    assert is_compiled(total)


def test_python_is_called_once_a_run_though_its_result_changes_shape():
    calls = []
    v = tf.Variable(0.0)

    def grows():
        calls.append(float(v.numpy()))
        return np.ones(len(calls), np.float32)

    @tf.function(autograph=False)
    def step(x):
        v.assign_add(1.0)
        made = tf.py_function(grows, [], tf.float32)
        v.assign_add(1.0)
        return tf.reduce_sum(tf.ensure_shape(made, [None])) + x

    for count in range(1, 10):
        assert float(step(tf.constant(1.0))) == count + 1
    assert calls == [2.0 * i + 1 for i in range(9)]
    assert float(v) == 18


def test_python_sees_and_changes_variables_in_the_order_of_the_program():
    v, seen = tf.Variable(1.0), []

    @tf.function(autograph=False)
    def step():
        v.assign_add(1.0)
        tf.py_function(lambda: seen.append(float(v.numpy())), [], [])
        v.assign(v * 2.0)
        tf.py_function(lambda: (seen.append(float(v.numpy())), v.assign(100.0))[0], [], [])
        return v + 1.0

    for _ in range(4):
        v.assign(1.0)
        seen.clear()
        assert float(step()) == 101
        assert seen == [2, 4]
        assert float(v) == 100
    assert is_compiled(step)


def test_calls_keep_their_order():
    calls = []

    def noted(name):
        return tf.py_function(lambda *a: (calls.append(name), np.float32(1))[1], [], tf.float32)

    @tf.function(autograph=False)
    def step(x):
        first = noted("first")
        second = tf.py_function(lambda a: (calls.append("second"), a)[1], [first], tf.float32)
        third = noted("third")
        return tf.ensure_shape(second, []) + tf.ensure_shape(third, []) + x

    for _ in range(4):
        calls.clear()
        assert float(step(tf.constant(1.0))) == 3
        assert calls == ["first", "second", "third"]


def test_python_is_not_called_behind_a_requirement_that_fails():
    calls = []

    @tf.function(autograph=False)
    def step(x):
        tf.debugging.check_numerics(x, "here")
        tf.py_function(lambda: calls.append(1), [], [])
        return x + 1

    for _ in range(4):
        with pytest.raises(tf.errors.InvalidArgumentError, match="here"):
            step(tf.constant([np.nan]))
    assert calls == []


def test_errors_of_python_are_its_own():
    class MineError(Exception):
        pass

    def fails():
        raise MineError("mine")

    @tf.function(autograph=False)
    def step(x):
        tf.py_function(fails, [], [])
        return x + 1

    for _ in range(4):
        with pytest.raises(Exception, match="mine"):
            step(tf.constant(1.0))


def test_an_operation_that_python_carries_out_is_explained():
    @tf.function(autograph=False)
    def kept(x):
        return tf.unique(x)[0]

    for _ in range(4):
        kept(tf.constant(X))
    [line] = [line for line in kept.explain() if "carried out by Python" in line]
    assert "Unique" in line
    assert "test_python_steps.py" in line


def test_what_is_not_compiled_at_all_warns_once():
    shapes = (tf.TensorShape([]), tf.TensorShape(None))

    @tf.function(autograph=False)
    def step(x):
        turn = lambda i, y: (i + 1, y[None])  # noqa: E731
        return tf.while_loop(lambda i, y: i < 2, turn, (0, x), shape_invariants=shapes)[1]

    for _ in range(2):
        assert step(tf.constant(1.0)).shape == (1, 1)
    with pytest.warns(gv.PerformanceWarning, match="test_python_steps.py.*operation by operation"):
        step(tf.constant(1.0))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        step(tf.constant(1.0))
    assert any("is not compiled" in line for line in step.explain())


def test_constants_beside_steps_of_python_are_made_once(monkeypatch):
    boxes = np.random.default_rng(0).random((9, 2)).astype(np.float32)
    boxes = np.concatenate([boxes, boxes + np.float32(0.3)], 1)
    scores = np.linspace(0.1, 0.9, 9, dtype=np.float32)

    def chosen(x, y):
        return tf.image.non_max_suppression_with_scores(x, y, 5, soft_nms_sigma=0.5), tf.constant(7)

    given = tf.constant(boxes), tf.constant(scores)
    wanted = [x.numpy() for x in tf.nest.flatten(chosen(*given))]
    function = tf.function(chosen)
    for _ in range(4):
        found = [x.numpy() for x in tf.nest.flatten(function(*given))]
        for a, b in zip(found, wanted, strict=True):
            np.testing.assert_array_equal(a, b, strict=True)
    assert is_compiled(function)
    monkeypatch.setattr(Constant, "evaluate", None)
    for a, b in zip(tf.nest.flatten(function(*given)), wanted, strict=True):
        np.testing.assert_array_equal(a.numpy(), b, strict=True)


@pytest.mark.parametrize("staged", [False, True])
def test_what_python_gives_is_of_the_type_that_is_stated(staged):
    def given(value, kind):
        def run():
            return tf.py_function(lambda: value, [], kind)

        return (tf.function(run) if staged else run)()

    assert given(np.array([2]), tf.float32).numpy().tolist() == [2.0]
    assert [int(x) for x in given((1, 2), [tf.int64])] == [1]
    for value in (tf.constant([2.5]), [2.5]):
        with pytest.raises(tf.errors.InvalidArgumentError):
            given(value, tf.int32)
    for value, kind in ((None, tf.int32), ((1,), [tf.int32, tf.int32])):
        with pytest.raises(tf.errors.InvalidArgumentError, match="but expects to see"):
            given(value, kind)
