"""Python functions in graphs: what they return, and what their errors say."""

import numpy as np
import pytest

import gravure.tf as tf

v1 = tf.compat.v1


@pytest.mark.parametrize("call", [v1.py_func, tf.numpy_function, tf.py_function])
def test_one_result_may_be_stated_as_a_list_of_one(call):
    with tf.Graph().as_default(), v1.Session() as session:
        x = tf.constant([1.0, 2.0])
        (made,) = call(lambda a: a * 2.0, [x], [tf.float32])
        assert session.run(made).tolist() == [2.0, 4.0]
    made = call(lambda a: a * 2.0, [tf.constant([1.0, 2.0])], [tf.float32])
    made = made[0] if call is tf.py_function else made  # (what numpy's gives at once is taken so)
    assert made.numpy().tolist() == [2.0, 4.0]


def failing(error):
    """Return a function that raises."""

    def run(x):
        raise error

    return run


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (ValueError("a"), tf.errors.InvalidArgumentError),
        (KeyError("a"), tf.errors.UnknownError),
        (StopIteration(), tf.errors.OutOfRangeError),
        (NotImplementedError("a"), tf.errors.UnimplementedError),
        (tf.errors.NotFoundError(None, None, "a"), tf.errors.UnknownError),
    ],
)
def test_errors_are_python_s_own_at_once_and_tensorflow_s_else(error, kind):
    given = [tf.ones([2])]
    with pytest.raises(type(error)):
        tf.numpy_function(failing(error), given, tf.float32)
    for call in (tf.py_function, tf.function(tf.numpy_function), tf.function(tf.py_function)):
        with pytest.raises(kind):
            call(failing(error), given, tf.float32)


def test_what_python_gives_at_once_is_taken_as_it_is():
    given = [tf.ones([2])]
    assert tf.numpy_function(lambda x: x.astype("i4"), given, tf.float32).dtype == tf.int32
    assert tf.numpy_function(lambda x: None, given, tf.float32) is None
    assert len(tf.numpy_function(lambda x: (x, x), given, tf.float32)) == 2
    for function in (lambda x: None, lambda x: tf.cast(x, tf.int32)):
        with pytest.raises(tf.errors.InvalidArgumentError):
            tf.py_function(function, given, tf.float32)


def test_text_of_python_becomes_bytes():
    with tf.Graph().as_default(), v1.Session() as session:
        several = v1.py_func(lambda: np.array(["a", "bc"]), [], tf.string)
        one = v1.py_func(lambda: "\u4f60", [], [tf.string])
        assert session.run(several).tolist() == [b"a", b"bc"]
        assert session.run(one) == ["\u4f60".encode()]


def test_a_function_without_results_is_an_operation_of_the_graph():
    seen = []
    with tf.Graph().as_default(), v1.Session() as session:
        noted = v1.py_func(lambda: seen.append(1), [], [])
        assert session.run(noted) is None
        with tf.control_dependencies([noted]):
            session.run(tf.constant(1.0))
    assert len(seen) >= 1
    assert tf.py_function(lambda: None, [], []) == []
    assert tf.numpy_function(lambda: None, [], []) is None


def test_an_error_says_where_in_the_python_it_was_raised():
    def inner():
        raise ValueError("blah")

    def outer():
        inner()

    expected = r"(?s): blah.*in outer.*in inner.*: blah"
    with pytest.raises(tf.errors.InvalidArgumentError, match=expected):
        tf.py_function(outer, [], [])
    with pytest.raises(ValueError, match="callable"):
        tf.py_function("outer", [], [])


ROWS = [[1, 2, 3], [4], [5, 6]]


@pytest.mark.parametrize("enter", [lambda f: f, tf.function], ids=["at once", "in a graph"])
def test_python_is_given_and_gives_composites(enter):
    def doubled(x):
        like = tf.type_spec_from_value(x)
        return x + tf.py_function(lambda v: v * 2, [x], like)

    def parted(x):
        like = tf.SparseTensorSpec([2, 2], tf.int32)
        found = tf.py_function(lambda v: (tf.sparse.from_dense([[0, 1], [2, 0]]), v), [x], [like])
        return found[0]

    assert enter(doubled)(tf.ragged.constant(ROWS)).to_list() == [[3, 6, 9], [12], [15, 18]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="did not match Tout"):
        enter(parted)(tf.constant(1))
    total = enter(lambda x: tf.py_function(tf.reduce_sum, [x], tf.int32))
    assert total(tf.ragged.constant(ROWS)).numpy() == 21


@pytest.mark.parametrize(
    ("function", "stated"),
    [
        (lambda v: v + 3, tf.int32),
        (lambda v: v.to_tensor(), tf.RaggedTensorSpec([3, None], "int32")),
    ],
)
def test_what_python_gives_is_composite_as_stated(function, stated):
    rows = tf.ragged.constant(ROWS)
    with pytest.raises(tf.errors.InvalidArgumentError, match="which did not match Tout"):
        tf.py_function(function, [rows], [stated])


def test_gradients_go_through_composites_that_python_is_given():
    x = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        rows = tf.RaggedTensor.from_row_lengths(tf.stack([x, x * 3.0]), [1, 1])
        y = tf.reduce_sum(tf.py_function(lambda v: v * v, [rows], tf.type_spec_from_value(rows)))
    assert tape.gradient(y, x).numpy() == 40.0
