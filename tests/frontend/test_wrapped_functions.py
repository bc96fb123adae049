"""Functions that build graphs as the first version did: traced once, and cut to other results."""

import pytest

import gravure.tf as tf

v1 = tf.compat.v1
SCALAR = tf.TensorSpec((), tf.float32)


def test_it_makes_its_variables_once_and_takes_values_that_are_no_tensors():
    def counted(x, adds):
        v = tf.Variable(5.0)
        changed = v.assign_add(x) if adds else v.assign_sub(x)
        with tf.control_dependencies([changed]):
            return v.read_value()

    added = v1.wrap_function(counted, [SCALAR, True])
    assert [float(added(1.0)) for _ in range(3)] == [6.0, 7.0, 8.0]
    taken = v1.wrap_function(counted, [SCALAR, False])
    assert [float(taken(1.0)) for _ in range(3)] == [4.0, 3.0, 2.0]


def test_a_call_runs_what_its_results_need():
    count = tf.Variable(0)

    def counted(x):
        count.assign_add(1, name="increment")
        return x

    wrapped = v1.wrap_function(counted, [SCALAR])
    assert float(wrapped(2.0)) == 2.0
    assert int(count) == 0
    increment = wrapped.graph.get_operation_by_name("increment")
    assert wrapped.prune((), (increment,))() == (None,)
    wrapped.prune([], "increment")()
    assert int(count) == 2


def test_it_is_cut_to_other_inputs_and_results():
    def both(x, y):
        squared = tf.multiply(x, x, name="squared")
        return squared, tf.identity(2.0 * squared * y, name="product")

    wrapped = v1.wrap_function(both, [SCALAR, SCALAR])
    x, y = wrapped.inputs
    assert float(wrapped.prune(x, "squared:0")(3.0)) == 9.0
    inner = wrapped.prune(["squared:0", y], {"product": "product:0"})
    assert float(inner(tf.constant(4.0), tf.constant(0.5))["product"]) == 4.0


def test_gradients_go_through_what_was_cut():
    v = tf.Variable(2.0)
    made = []

    def product(z):
        made.append(tf.Variable(3.0))
        return tf.identity(v * made[0] * z, "fetch")

    wrapped = v1.wrap_function(product, [SCALAR])
    for function in (wrapped, wrapped.prune(wrapped.inputs, "fetch:0")):
        x = tf.constant(1.0)
        with tf.GradientTape() as tape:
            tape.watch(x)
            found = function(x)
        assert [float(g) for g in tape.gradient(found, [x, v, made[0]])] == [6.0, 3.0, 2.0]


def test_its_graph_lists_its_variables():
    def product():
        v1.add_to_collection("losses", tf.constant(1.0))
        return tf.Variable(2.0) * len(v1.trainable_variables())

    wrapped = v1.wrap_function(product, [])
    assert float(wrapped()) == 2.0
    (variable,) = wrapped.graph.variables
    assert wrapped.graph.get_collection("trainable_variables") == [variable]
    assert len(wrapped.graph.get_collection("losses")) == 1
    assert len(v1.wrap_function(product, []).graph.get_collection("losses")) == 1


def test_rows_of_several_lengths_are_cut_by_their_parts():
    spec = tf.RaggedTensorSpec([None, None], tf.float32)
    given = []
    wrapped = v1.wrap_function(lambda x: given.append(x) or (x * x, x), [spec])
    squared = wrapped.prune(given[0], wrapped.structured_outputs[0])
    rows = tf.ragged.constant([[1.0, 2.0], [3.0]])
    assert squared(rows.values, rows.row_splits).to_list() == [[1.0, 4.0], [9.0]]


def test_what_is_no_part_of_the_graph_is_refused():
    wrapped = v1.wrap_function(lambda x: tf.identity(x, "same"), [SCALAR])
    with pytest.raises(ValueError, match="must be tensors"):
        wrapped.prune("same", "same:0")
    with pytest.raises(KeyError, match="other"):
        wrapped.prune([], "other:0")


def test_an_assignment_has_the_name_that_is_given_and_no_gradient():
    with tf.Graph().as_default() as graph:
        x, z = v1.Variable(1.0), v1.Variable(3.0)
        assigned = v1.assign(x, z**2, name="changed")
        assert graph.get_operation_by_name("changed").type == "AssignVariableOp"
        assert v1.gradients(assigned, z) == [None]


def test_a_name_of_a_variable_is_given_once_in_it():
    def twice():
        v1.get_variable("v", [])
        with pytest.raises(ValueError, match="already exists"):
            v1.get_variable("v", [])

    for _ in range(2):
        v1.wrap_function(twice, [])
