"""Checks of values, ranks and shapes say what TensorFlow's say, at once and in graphs."""

import re
import sys
import threading

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1
SQUARE = tf.constant([[1.0, 2, 3], [4, 5, 6], [7, 8, 9]])
AT_ONCE = {
    "equal": (
        lambda: tf.debugging.assert_equal(SQUARE, SQUARE + 1, message="MM"),
        "MM\nCondition x == y did not hold.\nIndices of first 3 different values:\n[[0 0]\n [0 1]\n"
        " [0 2]]\nCorresponding x values:\n[1. 2. 3.]\nCorresponding y values:\n[2. 3. 4.]\nFirst "
        "3 elements of x:\n[1. 2. 3.]\nFirst 3 elements of y:\n[2. 3. 4.]",
    ),
    "broadcast": (
        lambda: tf.debugging.assert_less(SQUARE, 2.0, message="MM"),
        "MM\nCondition x < y did not hold.\nFirst 3 elements of x:\n[1. 2. 3.]\n"
        "First 1 elements of y:\n[2.]",
    ),
    "fewer": (
        lambda: tf.debugging.assert_equal(SQUARE, SQUARE + 1, summarize=1),
        "Condition x == y did not hold.\nIndices of first 1 different values:\n[[0 0]]\n"
        "Corresponding x values:\n[1.]\nCorresponding y values:\n[2.]\n"
        "First 1 elements of x:\n[1.]\nFirst 1 elements of y:\n[2.]",
    ),
    "sign": (
        lambda: tf.debugging.assert_positive(-SQUARE, message="MM"),
        "MM.  \nCondition x > 0 did not hold element-wise:\nx (shape=(3, 3) dtype=float32) = \n"
        "['-1.0', '-2.0', '-3.0', '...']",
    ),
    "data": (
        lambda: v1.assert_equal(SQUARE, SQUARE + 1, ["my", SQUARE], message="MM"),
        "MM\nmy\n['1.0', '2.0', '3.0', '...']",
    ),
}


@pytest.mark.parametrize("case", AT_ONCE)
def test_a_check_at_once_says_where_it_fails(case: str) -> None:
    check, text = AT_ONCE[case]
    with pytest.raises(tf.errors.InvalidArgumentError) as caught:
        check()
    assert caught.value.message == text


SHAPES = {
    "mm.  Specified explicitly.  Tensor shape=(3, 3) dtype=float32 dimension 0 must have size 2.  "
    "Received size 3, shape (3, 3)": lambda: tf.debugging.assert_shapes(
        [(SQUARE, (2, "a"))], message="mm"
    ),
    "Tensor  must have rank 3.  Received rank 2, shape (3, 3)": lambda: tf.debugging.assert_shapes(
        [(SQUARE, "bbb")]
    ),
    "mm.  Tensor  must have rank 1.  Received rank 2, shape (3, 3)": lambda: (
        tf.debugging.assert_rank(SQUARE, 1, message="mm")
    ),
    "mm.  Tensor  must have rank in (1, 3).  Received rank 2, shape (3, 3)": lambda: (
        tf.debugging.assert_rank_in(SQUARE, [1, 3], message="mm")
    ),
    "Tensor  must have rank at least 3.  Received rank 2, shape (3, 3)": lambda: (
        tf.debugging.assert_rank_at_least(SQUARE, 3)
    ),
    "Expected scalar shape, saw shape: (3, 3).": lambda: tf.debugging.assert_scalar(SQUARE),
}


@pytest.mark.parametrize("text", SHAPES)
def test_a_shape_that_is_known_is_checked_at_once(text: str) -> None:
    with pytest.raises(ValueError, match=re.escape(text)):
        SHAPES[text]()


def ragged_end(x: object) -> object:
    return tf.debugging.assert_shapes([(x, (..., "n", 3))])


IN_GRAPHS = {
    "assertion failed: [msg] [Condition x == y did not hold element-wise:] [x (x:0) = ] "
    "[[1 2][3...]...] [y (y:0) = ] [[1 2][3...]...]": (
        lambda x, y: v1.assert_equal(x, y, message="msg"),
        [[[1.0, 2], [3, 4]], [[1.0, 2], [3, 5]]],
    ),
    "assertion failed: [msg.  ] [Condition x > 0 did not hold element-wise:] [x (x:0) = ] [-1]": (
        lambda x, y: v1.assert_positive(x, message="msg"),
        [-1.0, 0.0],
    ),
    "assertion failed: [msg.  ] [Tensor x:0 must have rank] [2] [Received shape: ] [1]": (
        lambda x, y: v1.assert_rank(x, 2, message="msg"),
        [[1.0], 0.0],
    ),
    "assertion failed: [] [Tensor x:0 must have rank in] [2] [3] [Received shape: ] [1]": (
        lambda x, y: v1.assert_rank_in(x, [2, 3]),
        [[1.0], 0.0],
    ),
    "assertion failed: [] [Specified explicitly] [Tensor x:0 dimension] [-1] [must have size] [3] "
    "[Received shape: ] [1 2]": (lambda x, y: ragged_end(x), [[[1.0, 2.0]], 0.0]),
    "assertion failed: [] [Specified by tensor x:0 dimension 0] [Tensor y:0 dimension] [0] "
    "[must have size] [2] [Received shape: ] [3]": (
        lambda x, y: tf.debugging.assert_shapes([(x, "n"), (y, "n")]),
        [[1.0, 2.0], [1.0, 2.0, 3.0]],
    ),
}


@pytest.mark.parametrize("text", IN_GRAPHS)
def test_what_only_the_run_knows_is_checked_there(text: str) -> None:
    check, values = IN_GRAPHS[text]
    with tf.Graph().as_default(), v1.Session() as session:
        x, y = (v1.placeholder(tf.float32, name=name) for name in "xy")
        node = check(x, y)
        with pytest.raises(tf.errors.InvalidArgumentError, match=re.escape(text)):
            session.run(node, {x: values[0], y: values[1]})


def test_what_holds_passes_in_graphs_of_unknown_shapes() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        x = v1.placeholder(tf.float32, name="x")
        checks = [
            tf.debugging.assert_shapes([(x, ("n", "n")), (x, (..., 2))]),
            v1.assert_rank(x, 2),
            v1.assert_rank_at_least(x, tf.constant(1)),
            v1.debugging.assert_near(x, x),
            v1.assert_less(x, 9.0),
        ]
        session.run(checks, {x: np.ones((2, 2))})


def test_ranks_are_scalar_integers() -> None:
    with pytest.raises(ValueError, match=r"Rank must be a scalar"):
        v1.assert_rank(SQUARE, np.array([2], np.int32))
    with pytest.raises(TypeError, match=r"must be of type tf.int32; got tf.float32"):
        v1.assert_rank(SQUARE, 0.5)


def test_sizes_of_sparse_tensors_are_checked() -> None:
    rows = tf.sparse.SparseTensor([[0, 1]], [1.0], [2, 3])
    tf.debugging.assert_shapes([(rows, (2, "n")), (SQUARE, ("n", "n"))])
    with pytest.raises(ValueError, match="dimension 1 must have size 4"):
        tf.debugging.assert_shapes([(rows, (2, 4))])


def a_case() -> tf.test.TestCase:
    return type("Case", (tf.test.TestCase,), {})("assertAllEqual")


def test_a_test_evaluates_tensors_without_a_session_too() -> None:
    case = a_case()
    with tf.Graph().as_default():
        made = tf.constant([1, 2]) + 1
        assert case.evaluate(made).tolist() == [2, 3]
        case.assertAllEqual(made, [2, 3])
        case.assertAllEqual([made, made], [[2, 3], [2, 3]])


def test_a_test_captures_what_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    case = a_case()
    with case.captureWritesToStream(sys.__stderr__) as printed:
        print("words", file=sys.__stderr__)
    assert printed.contents() == "words\n"


def test_an_error_of_a_thread_is_that_of_its_test() -> None:
    case = a_case()
    seen = threading.Event()
    good = case.checkedThread(seen.set)
    good.start()
    good.join()
    assert seen.is_set()
    bad = case.checkedThread(case.assertEqual, (1, 2))
    bad.start()
    with pytest.raises(AssertionError, match="Error in checkedThread: 1 != 2"):
        bad.join()
