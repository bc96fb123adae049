"""What a first call costs: what is in the cache is not compiled again, what slides is at once."""

import numpy as np
import pytest

import gravure.tf as tf
from gravure.codegen import compile as lowering
from gravure.frontend.function.staged import Staged
from gravure.passes.analysis.rewrite import RuleBook


def trained():
    """Return the function of a step, its variable, and a batch."""
    weights = tf.Variable(np.linspace(-1, 1, 6, dtype="f").reshape(3, 2))

    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.tanh(x @ weights) ** 2)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    return step, weights, tf.constant(np.arange(12, dtype="f").reshape(4, 3) / 8)


def test_a_function_of_an_earlier_program_is_not_lowered_again(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path))
    first, values, x = trained()
    losses = [float(first(x)) for _ in range(4)]

    def refuse(*_):
        raise AssertionError("it is in the cache")

    monkeypatch.setattr(lowering, "pipeline_for", refuse)
    again, others, x = trained()
    assert [float(again(x)) for _ in range(4)] == losses
    np.testing.assert_array_equal(values.numpy(), others.numpy())
    [compiled] = again.get_concrete_function(x).graph.whole_plan().compiled.values()
    assert compiled.model.compiled.effort > 0


def test_a_function_under_a_tape_is_not_lowered_again(tmp_path, monkeypatch):
    monkeypatch.setenv("GRAVURE_CACHE", str(tmp_path))

    def gradients():
        cube = tf.function(lambda a: tf.reduce_sum(a * a * a))
        x, found = tf.constant([1.0, 2.0, 3.0]), []
        for _ in range(4):
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = cube(x)
            found.append(tape.gradient(y, x).numpy().tolist())
        return found

    first = gradients()
    monkeypatch.setattr(lowering, "pipeline_for", None)
    assert gradients() == first == [[3.0, 12.0, 27.0]] * 4


def slid(size):
    """Return a traced convolution of an image of such a size, and the image."""
    images = tf.ones([1, size, size, 4])
    blurred = tf.function(lambda x: tf.nn.conv2d(x, tf.ones([3, 3, 4, 4]), 1, "SAME"))
    return blurred, images


@pytest.mark.parametrize(("size", "compiled"), [(4, False), (200, True)])
def test_windows_are_compiled_as_one_where_each_would_be_by_itself(size, compiled):
    blurred, images = slid(size)
    blurred(images)
    [known] = blurred.get_concrete_function(images).graph.whole_plan().compiled.values()
    assert isinstance(known, Staged) == compiled


@pytest.mark.parametrize(("batch", "compiled"), [(2, False), (4000, True)])
def test_a_session_compiles_windows_of_open_sizes_at_once_if_they_come_many(batch, compiled):
    graph = tf.Graph()
    with graph.as_default():
        x = tf.compat.v1.placeholder("float32", [None, 5, 5, 1])
        y = tf.nn.relu(tf.nn.conv2d(x, tf.ones([3, 3, 1, 2]), 1, "VALID"))
        with tf.compat.v1.Session() as session:
            made = session.run(y, {x: np.ones((batch, 5, 5, 1), "f")})
            [plan] = session._plans.values()
    np.testing.assert_array_equal(made, np.full((batch, 3, 3, 2), 9, "f"))
    assert isinstance(plan.compiled[((batch, 5, 5, 1),)], Staged) == compiled


def test_rules_are_looked_up_anew_when_there_is_another():
    book = RuleBook()
    assert book.table() == {}
    rule = book.on("add")(len)
    assert book.table() == {"gv.add": (rule,)}
    book.table().clear()
    assert book.table() == {"gv.add": (rule,)}
