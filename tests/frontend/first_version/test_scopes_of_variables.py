"""What variable scopes hand on, how operations in them are called, and what threads see of them."""

from threading import Thread
from typing import Any

import numpy as np
import pytest

from gravure import tf

v1: Any = tf.compat.v1
AUTO = v1.AUTO_REUSE


@pytest.fixture(autouse=True)
def graph() -> Any:
    """Run each test in a graph of its own."""
    with tf.Graph().as_default() as made:
        yield made


def in_thread(graph: Any, work: Any) -> None:
    """Run a function in another thread, on the same graph."""

    def run() -> None:
        with graph.as_default():
            work()

    thread = Thread(target=run)
    thread.start()
    thread.join()


def test_each_thread_is_in_scopes_of_its_own(graph: Any) -> None:
    made = []

    def work() -> None:
        with v1.variable_scope("b"):
            made.append((v1.get_variable("v", []).name, tf.constant(1.0, name="c").name))

    with v1.variable_scope("a"):
        in_thread(graph, work)
    with v1.variable_scope("b", reuse=True):
        assert v1.get_variable("v", []).name == "b/v:0"
    assert made == [("b/v:0", "b/c:0")]


@pytest.mark.parametrize(("outer", "asked", "found"), [
    (True, False, True), (True, AUTO, AUTO), (AUTO, False, AUTO), (AUTO, True, True),
    (False, None, False), (None, AUTO, AUTO),
])  # fmt: skip
def test_sharing_is_handed_on_and_cannot_be_undone(outer: Any, asked: Any, found: Any) -> None:
    with v1.variable_scope("a", reuse=outer) as scope:
        pass
    with v1.variable_scope("a", reuse=outer), v1.variable_scope("b", reuse=asked) as inner:
        assert inner.reuse is found
    with v1.variable_scope(scope, reuse=asked) as again:
        assert again.reuse is found


def test_operations_are_called_by_all_of_a_scope_that_is_given_by_its_name() -> None:
    with v1.variable_scope("a/b") as scope:
        assert tf.constant(1.0, name="c").name == "a/b/c:0"
    with v1.variable_scope("o"), v1.variable_scope(scope) as again:
        assert tf.constant(1.0, name="c").name == "o/b/c:0"
        assert again.original_name_scope == "a/b/"
    for name in ("d/e/c:0", "d/e_1/c:0"):
        with v1.variable_scope(None, "d/e"):
            assert tf.constant(1.0, name="c").name == name
    root = v1.get_variable_scope()
    with v1.name_scope("n"), v1.variable_scope(root):
        assert tf.constant(1.0, name="c").name == "n/c:0"


def test_a_scope_without_names_of_its_own_leaves_those_around() -> None:
    with v1.variable_scope("o"), v1.variable_scope("i", auxiliary_name_scope=False) as scope:
        assert scope.original_name_scope == "o/"
        assert tf.constant(1.0, name="c").name == "o/c:0"
        assert v1.get_variable("w", []).name == "o/i/w:0"
    with pytest.raises(TypeError, match="auxiliary_name_scope"):
        v1.variable_scope("s", auxiliary_name_scope="no")


def test_scopes_are_left_in_order_and_shared_by_name_only() -> None:
    scope = v1.variable_scope("a")
    scope.__enter__()
    with v1.variable_scope("b"), pytest.raises(RuntimeError, match="nesting"):
        scope.__exit__(None, None, None)
    scope.__exit__(None, None, None)
    assert v1.get_variable("v", []).name == "v:0"
    with pytest.raises(ValueError, match="without a name_or_scope"):
        v1.variable_scope(None, "d", reuse=True)


def test_names_in_scopes_may_begin_with_an_underscore() -> None:
    with v1.name_scope("a"), v1.name_scope("_b"):
        assert tf.constant(1.0, name="_c").name == "a/_b/_c:0"
    with pytest.raises(ValueError, match="'_b' is not a valid root scope name"):
        v1.name_scope("_b").__enter__()
    with pytest.raises(ValueError, match="not a valid node name"):
        tf.constant(1.0, name="_c")


def test_first_values_say_the_type_and_are_asked_for_nothing() -> None:
    with pytest.raises(ValueError, match="and explicit dtype"):
        v1.get_variable("a", initializer=4, dtype=tf.float32)
    with pytest.raises(ValueError, match="callable with no arguments"):
        v1.get_variable("b", initializer=lambda x: x)
    with pytest.raises(ValueError, match="callable with no arguments"):
        v1.get_variable("b", initializer=v1.zeros_initializer())
    assert v1.get_variable("c", initializer=lambda x=2.0: tf.constant([x])).shape == (1,)
    with v1.variable_scope("s", dtype=tf.float64):
        assert v1.get_variable("d", initializer=np.float32(1)).dtype == tf.float32


def test_getters_are_functions_and_called_outside_of_scopes() -> None:
    with pytest.raises(ValueError, match="custom_getter 3 is not callable: "):
        v1.get_variable("v", [], custom_getter=3)
    asked = {}

    def getter(get: Any, *args: Any, **options: Any) -> Any:
        asked.update(options)
        return tf.identity(get(*args, **options), name="i")

    with v1.variable_scope("s", custom_getter=getter):
        assert v1.get_variable("v", []).name == "i:0"
    assert asked["synchronization"] is tf.VariableSynchronization.AUTO
    assert asked["aggregation"] is tf.VariableAggregation.NONE


def test_lists_of_local_variables_hold_them_too(graph: Any) -> None:
    made = v1.get_local_variable("w", [], collections=["mine"])
    assert [graph.get_collection(n) for n in ("mine", "local_variables")] == [[made], [made]]
    v1.get_variable("v", [], regularizer=v1.no_regularizer)
    assert graph.get_collection("regularization_losses") == []


def test_what_replicas_read_alone_is_not_trained() -> None:
    on_read = tf.VariableSynchronization.ON_READ
    assert not v1.get_variable("v", [], synchronization=on_read).trainable
    assert not tf.Variable(1.0, synchronization=on_read).trainable
    assert tf.Variable(1.0, synchronization=on_read, trainable=True).trainable
    assert len(v1.trainable_variables()) == 1


def test_values_are_read_on_the_device_that_keeps_them() -> None:
    with v1.variable_scope("s", caching_device="/job:a") as scope:
        assert v1.get_variable("v", []).value().device == "/job:a"
        with v1.variable_scope("none", caching_device=""):
            assert v1.get_variable("v", []).value().device == ""
        scope.set_caching_device("/job:b")
        assert v1.get_variable("w", []).value().device == "/job:b"
    assert tf.Variable(1.0).value().device == ""
    with v1.device("/job:c/task:1"):
        assert tf.Variable(1.0, caching_device="/job:a").value().device == "/job:a"


def test_what_a_function_computes_for_a_variable_lies_beside_it() -> None:
    made: Any = tf.Variable(lambda: tf.constant(1.0), name="v")
    assert made.initializer.inputs[0].op.colocation_groups() == [b"loc:@v"]
    given: Any = tf.Variable(tf.constant(1.0, name="c"), name="w")
    assert given.initializer.inputs[0].op.colocation_groups() == [b"loc:@c"]
