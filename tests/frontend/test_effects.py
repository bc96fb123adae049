"""Effects stand behind the requirements that guard them, however a step is run."""

import ctypes

import numpy as np
import pytest

import gravure as gv
import gravure.tf as tf
from gravure.runtime.artifact import DTYPE_CODES
from gravure.runtime.buffer import aligned_array

GOOD, BAD = np.array([1, 1], np.int32), np.array([0, 5], np.int32)
CHECKS = {
    "numerics": lambda x: tf.debugging.check_numerics(1 / tf.cast(x, tf.float32), "here"),
    "division": lambda x: tf.cast(10 // x, tf.float32),
    "remainder": lambda x: tf.cast(10 % x, tf.float32),
    "gather": lambda x: tf.gather(tf.constant([1.0, 2.0]), x),
    "gather_nd": lambda x: tf.gather_nd(tf.constant([1.0, 2.0]), x[:, None]),
    "assert": lambda x: guarded(tf.debugging.assert_positive(x), x),
    "Assert": lambda x: guarded(tf.debugging.Assert(tf.reduce_all(x < 2), [x]), x),
}
WRITES = {
    "assign": lambda v, c: v.assign(c),
    "assign_of_itself": lambda v, c: v.assign(v + c),
    "assign_add": lambda v, c: v.assign_add(c),
    "assign_sub": lambda v, c: v.assign_sub(c),
    "scatter": lambda v, c: v.scatter_nd_add([[1]], c[:1]),
}
ERRORS = (gv.GravureError, ValueError)


def row(array):
    """Return the three words that C has of a tensor."""
    code = DTYPE_CODES[{"i": "i32", "f": "f32"}[array.dtype.kind]] << 32 | array.ndim
    return np.array([array.ctypes.data, 0, code], np.int64)


def address_of(array):
    """Return where an array is, for C; it must be held meanwhile."""
    return array.ctypes.data_as(ctypes.c_void_p)  # refers to the array


def guarded(check, x):
    """Return ones that wait for a check."""
    with tf.control_dependencies([] if check is None else [check]):
        return tf.ones_like(tf.cast(x, tf.float32))


def places():
    """Return how a check and a write may stand in a program."""

    def plain(x, v, check, write):
        write(v, check(x))

    def behind(x, v, check, write):
        with tf.control_dependencies([check(x)]):
            write(v, tf.constant([1.0, 2.0]))

    def branch(x, v, check, write):
        tf.cond(tf.size(x) > 1, lambda: (write(v, check(x)), 1)[1], lambda: 0)

    def behind_branch(x, v, check, write):
        c = tf.cond(tf.size(x) > 1, lambda: check(x), lambda: tf.ones([2]))
        with tf.control_dependencies([c]):
            tf.cond(tf.size(x) > 1, lambda: (write(v, tf.ones([2])), 1)[1], lambda: 0)

    def loop(x, v, check, write):
        tf.while_loop(lambda i: i < 3, lambda i: (write(v, check(x)), i + 1)[1], [0])

    return {f.__name__: f for f in (plain, behind, branch, behind_branch, loop)}


@pytest.mark.parametrize("write", WRITES)
@pytest.mark.parametrize("check", CHECKS)
def test_a_function_writes_nothing_behind_a_requirement_that_fails(check, write):
    v = tf.Variable([3.0, 4.0])

    @tf.function(autograph=False)
    def step(x):
        WRITES[write](v, CHECKS[check](x))

    for _ in range(4):
        with pytest.raises(ERRORS):
            step(tf.constant(BAD))
        assert np.array_equal(v.numpy(), [3, 4])
    expected = tf.Variable([3.0, 4.0])
    WRITES[write](expected, CHECKS[check](tf.constant(GOOD)))
    step(tf.constant(GOOD))
    assert np.array_equal(v.numpy(), expected.numpy())


@pytest.mark.parametrize("place", places())
@pytest.mark.parametrize("check", ["numerics", "gather", "assert"])
def test_neither_does_it_in_branches_and_loops(check, place):
    v = tf.Variable([3.0, 4.0])

    @tf.function(autograph=False)
    def step(x):
        places()[place](x, v, CHECKS[check], WRITES["assign_add"])

    for _ in range(4):
        with pytest.raises(ERRORS):
            step(tf.constant(BAD))
        assert np.array_equal(v.numpy(), [3, 4])
    expected = tf.Variable([3.0, 4.0])
    places()[place](tf.constant(GOOD), expected, CHECKS[check], WRITES["assign_add"])
    step(tf.constant(GOOD))
    assert np.array_equal(v.numpy(), expected.numpy())


@pytest.mark.parametrize("check", CHECKS)
def test_neither_does_a_session(check):
    with tf.Graph().as_default():
        x = tf.compat.v1.placeholder(tf.int32, [2])
        v = tf.compat.v1.get_variable("v", initializer=[3.0, 4.0], use_resource=True)
        w = tf.compat.v1.get_variable("w", initializer=[5.0, 6.0], use_resource=True)
        checked = CHECKS[check](x)
        with tf.control_dependencies([checked]):
            steps = [v.assign_add(checked), w.assign([0.0, 0.0])]
        with tf.compat.v1.Session() as s:
            s.run(tf.compat.v1.global_variables_initializer())
            for _ in range(6):
                with pytest.raises(ERRORS):
                    s.run(steps, {x: BAD})
                assert [s.run(v).tolist(), s.run(w).tolist()] == [[3, 4], [5, 6]]
            s.run(steps, {x: GOOD})
            assert s.run(w).tolist() == [0, 0]


def test_what_was_written_before_a_requirement_stays():
    before, after = tf.Variable(0.0), tf.Variable(0.0)

    @tf.function(autograph=False)
    def step(x):
        before.assign_add(1.0)
        checked = tf.debugging.check_numerics(x, "here")
        after.assign_add(1.0)
        return checked

    for count in range(1, 5):
        with pytest.raises(ERRORS, match="here"):
            step(tf.constant([np.nan]))
        assert (float(before), float(after)) == (count, 0)


def test_a_loop_whose_test_waits_for_a_guarded_variable_ends():
    v = tf.Variable(0.0)

    @tf.function(autograph=False)
    def step(x):
        def turn(i):
            v.assign_add(tf.debugging.check_numerics(x, "in the loop"))
            return i + 1

        return tf.while_loop(lambda i: v < 3.0, turn, [0])[0]

    for _ in range(4):
        v.assign(0.0)
        assert int(step(tf.constant(1.0))) == 3
    for _ in range(2):
        v.assign(0.0)
        with pytest.raises(ERRORS, match="in the loop"):
            step(tf.constant(np.nan))
        assert float(v) == 0


def test_a_loop_whose_test_writes():
    v = tf.Variable(0.0)

    @tf.function(autograph=False)
    def step(x):
        return tf.while_loop(lambda i: v.assign_add(1.0) < x, lambda i: i + 1, [0])[0]

    for _ in range(5):
        v.assign(0.0)
        assert int(step(tf.constant(4.0))) == 3
        assert float(v) == 4
    [concrete] = step.cache.values()
    assert concrete.graph.refusal == ""


def test_an_optimiser_behind_a_check_changes_nothing():
    v = tf.Variable([1.0, 2.0])
    optimiser = tf.compat.v1.train.AdamOptimizer(0.1)

    @tf.function(autograph=False)
    def step(x):
        grad = tf.debugging.check_numerics(x, "gradient")
        optimiser.apply_gradients([(grad, v)])

    step(tf.constant([1.0, 1.0]))
    before = v.numpy()
    for _ in range(4):
        with pytest.raises(ERRORS, match="gradient"):
            step(tf.constant([1.0, np.inf]))
        assert np.array_equal(v.numpy(), before)


def test_an_error_of_compiled_code_names_node_and_line():
    @tf.function(autograph=False)
    def step(x):
        return tf.gather(tf.constant([1.0, 2.0]), x, name="looked_up")

    texts = []
    for _ in range(4):
        with pytest.raises(ERRORS) as error:
            step(tf.constant(BAD))
        texts.append(str(error.value))
    assert all("'looked_up'" in text and "test_effects.py" in text for text in texts)


def test_a_library_reports_the_requirement_and_writes_nothing(tmp_path):
    v = tf.Variable([3.0, 4.0])

    @tf.function(input_signature=[tf.TensorSpec([2], tf.int32)], autograph=False)
    def step(x):
        v.assign_add(CHECKS["gather"](x))
        return v.read_value()

    made = gv.save_functions(tmp_path / "steps.so", {"step": step})
    library = ctypes.CDLL(str(tmp_path / "steps.so"))
    library.steps_status.restype = ctypes.c_char_p
    state, space = (aligned_array((n,), np.dtype(np.uint8)) for n in (made.size, made.workspace))
    assert library.steps_init(address_of(state)) == 0
    results = []
    for x in (GOOD, BAD, GOOD):
        y = np.zeros(2, np.float32)
        status = library.steps_step(*map(address_of, (state, row(x), row(y), space)), None)
        results.append((library.steps_status(status).decode() if status else "", y.tolist()))
    assert results[0] == ("", [5, 6])
    assert "GatherV2" in results[1][0]
    assert results[2] == ("", [7, 8])
