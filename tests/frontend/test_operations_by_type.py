"""`Graph.create_op`: operations by their types, as in TensorFlow."""

import pytest

import gravure.tf as tf

v1 = tf.compat.v1


def test_an_operation_is_made_by_its_type() -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = tf.constant([1.0, 2.0])
        with tf.control_dependencies([tf.no_op(name="before")]):
            negative = graph.create_op("Neg", [x], [tf.float32], name="n")
        with tf.name_scope("inner"):
            first, second = (graph.create_op("AddV2", [x, x]) for _ in range(2))
        joined = graph.create_op("ConcatV2", [x, x, tf.constant(0)], attrs={"N": v1.AttrValue(i=2)})
        product = graph.create_op(
            "MatMul", [tf.ones([2, 3]), tf.ones([2, 3])],
            attrs={"transpose_a": v1.AttrValue(b=True)},
        )  # fmt: skip
        assert (negative.name, negative.type) == ("n", "Neg")
        assert [op.name for op in negative.control_inputs] == ["before"]
        assert [first.name, second.name] == ["inner/AddV2", "inner/AddV2_1"]
        assert graph.create_op("NoOp", [], name="inner/end/").name == "inner/end"
        values = session.run([negative.outputs[0], second.outputs[0], joined.outputs[0]])
        assert [v.tolist() for v in values] == [[-1.0, -2.0], [2.0, 4.0], [1.0, 2.0, 1.0, 2.0]]
        assert product.outputs[0].shape.as_list() == [3, 3]


def test_an_operation_that_cannot_be_made_is_named() -> None:
    with tf.Graph().as_default() as graph:
        x = tf.constant(1.0)
        with pytest.raises(tf.errors.NotFoundError, match="type not registered 'Nope': node 'Nope"):
            graph.create_op("Nope", [x])
        with pytest.raises(TypeError, match=r"Input #0 is not a tensor: 1\.0"):
            graph.create_op("Neg", [1.0])
        with pytest.raises(ValueError, match="expected 1 inputs, which do not match 2"):
            graph.create_op("Neg", [x, x])


def test_what_is_said_of_an_operation_holds() -> None:
    with tf.Graph().as_default() as graph, tf.device("/cpu:0"):
        x = tf.constant(1.0)
        with pytest.raises(TypeError, match="inputs of 'Neg' are of types"):
            graph.create_op("Neg", [x], input_types=[tf.int32])
        with pytest.raises(TypeError, match=r"results of 'Neg.*' are of types"):
            graph.create_op("Neg", [x], [tf.float64])
        with pytest.raises(TypeError, match="op_def is not that of 'Abs'"):
            graph.create_op("Abs", [x], op_def=x.op.op_def)
        said = graph.create_op("Abs", [x], [tf.float32], [tf.float32])
        again = graph.create_op("Abs", [x], op_def=said.op_def, compute_device=False)
        assert "cpu" in said.device.lower()
        assert again.device == ""


def test_element_types_that_are_not_said_are_those_of_tensorflow() -> None:
    with tf.Graph().as_default() as graph, v1.Session() as session:
        x = v1.placeholder(tf.float32, [None])
        shape, unique = (graph.create_op(type_, [x]) for type_ in ("Shape", "Unique"))
        found = session.run([*shape.outputs, *unique.outputs], {x: [3.0, 3.0]})
        assert [each.dtype.name for each in found] == ["int32", "float32", "int32"]
        assert [each.tolist() for each in found] == [[2], [3.0], [0, 0]]
