"""Variables as messages, and what they are made from again."""

from contextlib import nullcontext
from typing import Any

import pytest

from gravure import tf

v1: Any = tf.compat.v1


def test_a_variable_of_a_graph_is_made_from_its_message_again() -> None:
    with tf.Graph().as_default(), v1.Session() as session:
        how, when = tf.VariableAggregation.MEAN, tf.VariableSynchronization.ON_WRITE
        with v1.name_scope("a"):
            first: Any = tf.Variable(3.0, trainable=False, name="v", aggregation=how,
                                     synchronization=when)  # fmt: skip
        said = first.to_proto()
        assert (said.variable_name, said.initializer_name) == ("a/v:0", "a/v/Assign")
        again: Any = v1.Variable.from_proto(said)
        assert (again.name, again.trainable) == ("a/v:0", False)
        assert (again.aggregation, again.synchronization) == (how, when)
        session.run(first.initializer)
        session.run(again.assign_add(1.0))
        assert session.run([first, again.initial_value]) == [4.0, 3.0]
        assert again.to_proto() == said
        assert (first.to_proto("a").variable_name, first.to_proto("b")) == ("v:0", None)
        said.ClearField("initial_value_name")
        without: Any = tf.Variable(variable_def=said)
        assert without.initial_value is None
        assert without.to_proto() == said


def test_variables_outside_of_graphs_have_no_message() -> None:
    with pytest.raises(RuntimeError, match="outside of graphs"):
        tf.Variable(1.0).to_proto()  # type: ignore[attr-defined]


def test_messages_say_where_parts_lie() -> None:
    with tf.Graph().as_default():
        whole = v1.get_variable("w", [4], partitioner=v1.fixed_size_partitioner(2))
        again = v1.Variable.from_proto(list(whole)[1].to_proto())
        assert again._get_save_slice_info().spec == "4 2,2"
        assert again._get_save_slice_info().full_name == "w"


@pytest.mark.parametrize(("spec", "error"), [
    ("0", "space-separated full_shape"), ("0:0", "space-separated full_shape"),
    ("a b", "full_shape must be a sequence of int"), ("0 0:0", "comma-separated pairs"),
    ("0 a,0:0:0", "var_offset must be an integer"), ("0 0,a:0", "var_shape must be an integer"),
])  # fmt: skip
def test_texts_of_places_are_read_or_refused(spec: str, error: str) -> None:
    info = v1.Variable.SaveSliceInfo
    assert info.from_spec("2 3 0,1:2,1").spec == "2 3 0,1:2,1"
    with pytest.raises(ValueError, match=error):
        info.from_spec(spec)


def test_the_gradient_of_single_rows_is_sparse() -> None:
    variable = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape(persistent=True) as tape:
        rows = tf.reduce_sum(tf.gather_nd(variable, [[1], [1]]))
        elements = tf.reduce_sum(tf.gather_nd(variable, [[1, 0]]))
    found: Any = tape.gradient(rows, variable)
    assert isinstance(found, tf.IndexedSlices)
    assert found.indices.numpy().tolist() == [1, 1]
    assert tape.gradient(elements, variable).numpy().tolist() == [[0.0, 0.0], [1.0, 0.0]]
    with tf.Graph().as_default():
        given: Any = v1.placeholder(tf.float32, [2, 2])
        [slices] = v1.gradients(tf.gather_nd(given, [[1], [1]]), given)
        assert isinstance(slices, tf.IndexedSlices)
        with v1.Session() as session:
            dense = session.run(tf.convert_to_tensor(slices), {given: [[1.0, 2.0], [3.0, 4.0]]})
    assert dense.tolist() == [[0.0, 0.0], [2.0, 2.0]]


def test_functions_with_own_gradients_may_change_the_variables_they_are_given() -> None:
    @tf.custom_gradient
    def f(x: Any) -> Any:
        x.assign_add(3.0)
        return x, lambda grad: 2.0 * grad

    variable = tf.Variable(2.0)
    with tf.GradientTape() as tape:
        made = f(variable)
    assert (made.numpy(), variable.numpy()) == (5.0, 5.0)
    assert tape.gradient(made, variable).numpy() == 2.0


def test_graphs_as_data_are_equal_if_they_say_the_same() -> None:
    with tf.Graph().as_default() as graph:
        tf.Variable(1.0)
        made = [v1.train.export_meta_graph(graph=graph) for _ in range(2)]
        assert made[0] == made[1]
        tf.Variable(1.0)
        assert v1.train.export_meta_graph(graph=graph) != made[0]


def test_eagerly_each_call_makes_a_variable() -> None:
    made = [v1.get_variable("v", []) for _ in range(2)]
    assert made[0] is not made[1]
    assert {x.name for x in made} == {"v:0"}
    with v1.variable_scope("s", reuse=True):
        assert v1.get_variable("v", []).name == "s/v:0"
        assert tf.Variable(1.0, name="w").name == "s/w:0"
    shared = v1.make_template("t", lambda: v1.get_variable("v", []))
    assert shared() is shared()


@pytest.mark.parametrize("around", [nullcontext, lambda: tf.Graph().as_default()])
def test_variables_of_functions_have_the_names_around_them(around: Any) -> None:
    made: list[Any] = []

    @tf.function
    def f() -> Any:
        with tf.name_scope("a"):
            if not made:
                made.append(tf.Variable(1.0, name="v"))
        return made[0] + 1.0

    with around(), tf.name_scope("around"):
        f()
    assert made[0].name == "a/v:0"


def test_values_without_a_form_are_of_the_wrong_type_in_graphs() -> None:
    with pytest.raises(ValueError, match="unsupported type"):
        tf.constant({})
    with tf.Graph().as_default(), pytest.raises(TypeError, match="Failed to convert elements of"):
        tf.constant({})
    with tf.Graph().as_default(), pytest.raises(ValueError, match="NoneType"):
        tf.convert_to_tensor(None)
