"""Errors of values: eager, at the first call, compiled, in sessions and libraries they are one."""

import ctypes
import inspect
import re
from pathlib import Path

import numpy as np
import pytest

import gravure as gv
from gravure import tf
from gravure.errors import RequirementError
from gravure.frontend.function.staged import Staged
from gravure.ir import Program
from gravure.ir.interpret.graph import interpret
from gravure.ir.text import parse, print_module

v1 = tf.compat.v1
X = np.arange(5, dtype=np.float32)
GOOD, BAD = np.zeros((3, 2), np.int32), np.array([[0, 1], [2, 3], [4, 7]], np.int32)
HERE = Path(__file__).name


def look(x, i):
    return tf.gather(x, i) * 2.0


def checked(x, i):
    return tf.debugging.check_numerics(tf.math.log(x), "logarithm") + tf.cast(i[0, 0], tf.float32)


def divided(x, i):
    return tf.range(3, 9) // tf.reshape(i, [6]) + tf.cast(x[0], tf.int32)


def raised(x, i):
    return tf.pow(tf.constant(2), i) + tf.cast(x[0], tf.int32)


def rows(x, i):
    return tf.gather_nd(tf.reshape(x, [5, 1]), i)


def segments(x, i):
    return tf.math.unsorted_segment_sum(tf.zeros([3, 2]) + x[0], i, 4)


def branch(x, i):
    return tf.cond(x[0] >= 0.0, lambda: tf.gather(x, i), lambda: tf.zeros([3, 2]))


def loop(x, i):
    def body(n, s):
        return n + 1, s + tf.reduce_sum(tf.gather(x, i[n]))

    return tf.while_loop(lambda n, s: n < 3, body, (0, 0.0))[1]


def last_line(function, text):
    """Return the number of the line of a function that has a text."""
    lines, first = inspect.getsourcelines(function)
    [at] = [n for n, line in enumerate(lines) if text in line]
    return first + at


CASES = {
    "look": (look, X, BAD, r"indices[2,1] = 7 is not in [0, 5)", "tf.gather"),
    "checked": (
        checked,
        np.array([1, 2, -1, 3, 0], np.float32),
        GOOD,
        "logarithm: tensor had nan values at element [2]",
        "check_numerics",
    ),
    "divided": (
        divided,
        X,
        np.array([[1, 2], [3, 0], [5, 6]], np.int32),
        "Integer division by zero at element [3]",
        "//",
    ),
    "raised": (
        raised,
        X,
        np.array([[1, 2], [3, -4], [5, -6]], np.int32),
        "Integers to negative integer powers are not allowed: -4 at element [1,1]",
        "tf.pow",
    ),
    "rows": (
        rows,
        X,
        np.array([[4, 0], [2, 1], [0, 0]], np.int32),
        "indices[1,1] = 1 does not index into param shape [5,1]",
        "gather_nd",
    ),
    "segments": (segments, X, BAD, "segment_ids[2,0] = 4 is out of range [0, 4)", "unsorted"),
    "branch": (branch, X, BAD, "indices[2,1] = 7 is not in [0, 5)", "tf.cond"),
    "loop": (loop, X, BAD, "indices[1] = 7 is not in [0, 5)", "tf.gather"),
}
LIBRARIES = {"look": (False, True), "checked": (True,), "loop": (True,)}
"""Which cases are tried as libraries: with what is outside given, and frozen."""
FINE = {
    "divided": np.ones((3, 2), np.int32),
    "raised": np.ones((3, 2), np.int32),
}


def message(call, *arguments):
    with pytest.raises((tf.errors.InvalidArgumentError, RequirementError)) as caught:
        call(*arguments)
    return str(caught.value)


@pytest.mark.parametrize("name", CASES)
def test_an_error_names_node_line_and_value_however_it_is_run(name, tmp_path):
    function, x, i, told, text = CASES[name]
    fine = (np.ones(5, np.float32), FINE.get(name, GOOD))
    assert told in message(function, tf.constant(x), tf.constant(i))
    signature = [tf.TensorSpec([5], tf.float32), tf.TensorSpec([3, 2], tf.int32)]
    staged = tf.function(function, input_signature=signature)
    first = message(staged, x, i)
    for _ in range(4):
        staged(*fine)
    [concrete] = staged.cache.values()
    assert any(isinstance(made, Staged) and not made.slow for made in concrete.compiled.values())
    place = f"{HERE}:{last_line(function, text)}: Detected at node '"
    assert place in first
    assert first.endswith(told)
    assert message(staged, x, i) == first
    np.testing.assert_array_equal(staged(*fine), function(*map(tf.constant, fine)))
    for frozen in LIBRARIES.get(name, ()):
        path = tmp_path / f"f{frozen}.so"
        staged.save(path, frozen=frozen)
        library = gv.load(path)
        assert message(library, x, i) == first
        np.testing.assert_array_equal(library(*fine), staged(*fine))
        assert message(library.bind([x, i])) == first
        assert len(library.outputs) == 1


def test_a_session_says_the_same_before_and_after_it_compiles(tmp_path):
    with tf.Graph().as_default():
        x, i = v1.placeholder(tf.float32, [5]), v1.placeholder(tf.int32, [3, 2])
        y = tf.gather(x, i, name="look") + 1.0
        with v1.Session() as session:
            first = message(session.run, y, {x: X, i: BAD})
            for _ in range(6):
                session.run(y, {x: X, i: GOOD})
            assert message(session.run, y, {x: X, i: BAD}) == first
            session.save(tmp_path / "s.so", [y], [x, i])
    assert message(gv.load(tmp_path / "s.so"), X, BAD) == first
    assert "Detected at node 'look': indices[2,1] = 7 is not in [0, 5)" in first


def test_c_gets_a_status_that_says_node_and_line(tmp_path):
    signature = [tf.TensorSpec([5], tf.float32), tf.TensorSpec([3, 2], tf.int32)]
    tf.function(look, input_signature=signature).save(tmp_path / "m.so", frozen=True)
    library = ctypes.CDLL(str(tmp_path / "m.so"))
    library.m_status.restype = ctypes.c_char_p
    said = library.m_status(64 | 1 << 8).decode()
    assert re.fullmatch(
        rf".*{HERE}:\d+: Detected at node 'GatherV2': indices: an element is not in \[0, 5\)", said
    )


def test_a_library_with_variables_leaves_them_and_says_why(tmp_path):
    state = tf.Variable(np.zeros(5, np.float32))

    @tf.function(input_signature=[tf.TensorSpec([2], tf.float32)])
    def step(x):
        state.assign_add(tf.zeros([5]) + tf.debugging.check_numerics(x, "step")[0])
        return state + 1.0

    step.save(tmp_path / "m.so")
    library = gv.load(tmp_path / "m.so")
    assert [info.name for info in library.outputs] == ["y0", "y1"]
    zeros = np.zeros(5, np.float32)
    said = message(library, np.array([1, np.inf], np.float32), zeros)
    assert said.endswith("step: tensor had inf values at element [1]")
    np.testing.assert_array_equal(library(np.ones(2, np.float32), zeros)[0], np.full(5, 2.0))


def test_the_interpreter_and_the_text_of_a_program_require_the_same(tmp_path):
    signature = [tf.TensorSpec([5], tf.float32), tf.TensorSpec([3, 2], tf.int32)]
    program = tf.function(look, input_signature=signature).get_concrete_function().frozen()
    again = Program(parse(print_module(program.module)), program.weights)
    for each in (program, again):
        assert len(interpret(each, [X, GOOD])) == 1
        with pytest.raises(RequirementError, match=r"indices\[2,1\] = 7"):
            interpret(each, [X, BAD])


def test_open_sizes_say_node_and_line(tmp_path):
    signature = [tf.TensorSpec([5], tf.float32), tf.TensorSpec([None, 2], tf.int32)]
    staged = tf.function(look, input_signature=signature)
    staged.save(tmp_path / "m.so", frozen=True, dims={"i_d0": (0, 8)})
    library = gv.load(tmp_path / "m.so")
    for bad in (BAD, BAD[2:]):
        assert message(library, X, bad).endswith("indices: an element is not in [0, 5)")
    assert library(X, BAD[:0]).shape == (0, 2)


def test_an_assertion_names_its_line_however_it_is_run():
    @tf.function
    def equal(a, b):
        tf.debugging.assert_equal(a, b, message="unlike")
        return a + b

    a, b = tf.constant([1, 2]), tf.constant([1, 3])
    first = message(equal, a, b)
    for _ in range(4):
        equal(a, a)
    assert message(equal, a, b) == first
    assert f"{HERE}:{last_line(equal.python_function, 'assert_equal')}: Detected at" in first


def test_g7_all_tensors_of_floats_are_checked():
    with tf.Graph().as_default():
        x = v1.placeholder(tf.float32, [2])
        y = tf.math.log(x, name="log")
        z = tf.reduce_sum(tf.exp(y, name="exp"))
        number = tf.constant(3)
        check = v1.add_check_numerics_ops()
        with v1.Session() as session:
            for _ in range(6):
                assert session.run([check, z, number], {x: [1, 1]}) == [None, 2.0, 3]
                with pytest.raises(tf.errors.InvalidArgumentError, match=r"log:0: .* had nan val"):
                    session.run([check, z], {x: [1, -1]})
    with pytest.raises(RuntimeError, match="not compatible with eager execution"):
        v1.add_check_numerics_ops()


LENGTHS = [[9, 1], [-1, 1]]


@pytest.mark.parametrize("staged", [False, True])
@pytest.mark.parametrize("lengths", LENGTHS)
def test_sequences_that_are_longer_than_their_axis_are_refused(lengths, staged):
    def turned(n):
        return tf.reverse_sequence(tf.ones([2, 3]), n, seq_axis=1, batch_axis=0)

    function = tf.function(turned) if staged else turned
    for _ in range(4):
        with pytest.raises(tf.errors.InvalidArgumentError, match="is not in \\[0, 3\\]"):
            function(tf.constant(lengths))


def test_a_length_is_wanted_for_each_sequence():
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\(3,\), expected \(2,\)"):
        tf.reverse_sequence(tf.ones([2, 3]), [1, 1, 1], seq_axis=1, batch_axis=0)


def test_text_and_numbers_are_not_added():
    with pytest.raises(tf.errors.InvalidArgumentError, match="a string tensor but is a float"):
        tf.constant("a") + tf.constant(1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="a float tensor but is a string"):
        tf.constant(1.0) + tf.constant("a")


def test_a_mask_has_no_negative_width():
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least 0"):
        tf.sequence_mask([1, 2], -1)
