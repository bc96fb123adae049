"""Contexts that are entered and kept by nobody: they hold on, as TensorFlow's do."""

import gc

from gravure import tf

v1 = tf.compat.v1


def test_a_scope_of_variables_holds_on_and_that_of_names_does_not() -> None:
    with tf.Graph().as_default():
        v1.variable_scope("a").__enter__()
        v1.variable_scope("b").__enter__()
        gc.collect()
        assert v1.get_variable("v", []).name == "a/b/v:0"
        assert tf.constant(1.0).name == "Const:0"
        v1.variable_scope(v1.get_variable_scope(), reuse=True).__enter__()
        assert v1.get_variable_scope().reuse is True


def test_a_scope_may_be_entered_again_and_left_by_hand() -> None:
    with tf.Graph().as_default():
        scope = v1.variable_scope("a")
        with scope:
            assert v1.get_variable("x", []).name == "a/x:0"
        with scope:
            assert v1.get_variable("y", []).name == "a/y:0"
        scope.__enter__()
        scope.__exit__(None, None, None)
        assert v1.get_variable("z", []).name == "z:0"


def test_what_is_waited_for_holds_on() -> None:
    with tf.Graph().as_default() as graph:
        first = tf.constant(1.0)
        graph.control_dependencies([first]).__enter__()
        tf.control_dependencies([tf.constant(2.0)]).__enter__()
        gc.collect()
        names = [op.name for op in tf.no_op().control_inputs]
        assert names == ["Const", "Const_1"]


def test_a_scope_of_eager_code_holds_on() -> None:
    scope = tf.name_scope("outer")
    with scope:
        tf.name_scope("z").__enter__()
        gc.collect()
        assert tf.Variable(1.0, name="k").name == "outer/z/k:0"
    assert tf.Variable(1.0, name="k").name == "k:0"
