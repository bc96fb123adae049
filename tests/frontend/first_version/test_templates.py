"""Scopes that are entered again, and functions that keep their variables in one."""

import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def layer(x=0.0):
    with v1.variable_scope(None, "inner"):
        return v1.get_variable("w", [1]) + x


def names():
    return [v.op.name for v in v1.global_variables()]


def test_default_names_begin_anew_in_a_scope_that_is_entered_again():
    with tf.Graph().as_default():
        with v1.variable_scope("a") as scope:
            layer(), layer()
        for place in ("a", scope, scope):
            with v1.variable_scope(place, reuse=True):
                layer(), layer()
        assert names() == ["a/inner/w", "a/inner_1/w"]
        with v1.variable_scope("a"), pytest.raises(ValueError, match="a/inner/w already exists"):
            layer()


def test_layers_are_reused_under_their_default_names():
    def net(x):
        return v1.layers.dense(v1.layers.dense(x, 3), 2)

    with tf.Graph().as_default():
        x = tf.ones([1, 2])
        with v1.variable_scope("net"):
            net(x)
        with v1.variable_scope("net", reuse=True):
            net(x)
        assert [n for n in names() if n.endswith("kernel")] == [
            "net/dense/kernel",
            "net/dense_1/kernel",
        ]


def test_a_template_knows_its_scope_and_its_variables():
    def made():
        v1.get_variable("frozen", [], trainable=False)
        v1.get_variable("local", [], collections=["local_variables"], trainable=False)
        return v1.get_variable("w", [])

    with tf.Graph().as_default():
        with v1.variable_scope("outer"):
            now = v1.make_template("t", made, create_scope_now_=True)
            again = v1.make_template("t", made, create_scope_now_=True)
        late = v1.make_template("late", made)
        assert now.variable_scope.name == now.variable_scope_name == "outer/t"
        assert again.variable_scope_name == "outer/t_1"
        assert late.variable_scope is None
        assert late.variables == []
        assert now() is now()
        found = [v.op.name for v in now.variables]
        assert sorted(found) == ["outer/t/frozen", "outer/t/local", "outer/t/w"]
        assert [v.op.name for v in now.trainable_variables] == ["outer/t/w"]
        assert sorted(v.op.name for v in now.non_trainable_variables) == [
            "outer/t/frozen",
            "outer/t/local",
        ]
        assert [v.op.name for v in now.local_variables] == ["outer/t/local"]


def test_what_a_template_refuses():
    with pytest.raises(ValueError, match="name cannot be None"):
        v1.make_template(None, layer)
    with pytest.raises(ValueError, match="unique_name_"):
        v1.make_template("t", layer, unique_name_="t")
    with tf.Graph().as_default():
        template = v1.make_template("t", lambda: v1.Variable(1.0))
        template()
        with pytest.raises(ValueError, match=r"tf\.get_variable"):
            template()


def test_a_custom_getter_is_asked_once_for_each_variable():
    asked = []

    def getter(true, name, *args, **options):
        asked.append(name)
        return true(name, *args, **options)

    with tf.Graph().as_default():
        template = v1.make_template("t", lambda: v1.get_variable("w", []), custom_getter_=getter)
        template(), template()
    assert asked == ["t/w", "t/w"]
