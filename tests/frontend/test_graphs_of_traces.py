"""Graphs of traced functions, as TensorFlow 2.21 shows them."""

import pytest

import gravure.tf as tf


@tf.function
def cube(x):
    return x**3


@tf.function
def pair(a, b):
    y = tf.matmul(a, b) + 1.0
    return {"u": y, "v": (a, tf.nn.relu(y)), "w": None}


def test_results_have_nodes_of_their_own() -> None:
    trace = cube.get_concrete_function(tf.constant(2.0))
    names = [op.name for op in trace.graph.get_operations()]
    assert names == ["x", "pow/y", "pow", "Identity"]
    assert trace.graph.get_operation_by_name("Identity").type == "Identity"
    assert repr(trace.graph).startswith("FuncGraph(name=cube, id=")
    [out] = trace.outputs
    assert out is trace.graph.get_tensor_by_name("Identity:0")
    assert out is trace.structured_outputs
    assert (out.shape.rank, out.op.inputs[0].name) == (0, "pow:0")
    assert trace(tf.constant(3.0)).numpy() == cube(3.0).numpy() == 27.0


def test_structures_of_results_show_these_nodes() -> None:
    spec = tf.TensorSpec([2, 2])
    trace = pair.get_concrete_function(spec, spec)
    shown = tf.nest.map_structure(lambda x: None if x is None else x.name, trace.structured_outputs)
    assert shown == {"u": "Identity:0", "v": ("Identity_1:0", "Identity_2:0"), "w": None}
    assert [x.op.inputs[0].name for x in trace.outputs] == ["add:0", "a:0", "Relu:0"]
    with tf.GradientTape() as tape:
        x = tf.eye(2)
        tape.watch(x)
        made = trace(x, x)["u"]
    assert tape.gradient(made, x).numpy().tolist() == [[2.0, 2.0], [2.0, 2.0]]


def test_traces_are_data() -> None:
    found = cube.get_concrete_function(tf.TensorSpec([], tf.float32)).function_def
    assert found.signature.name.startswith("__inference_cube_")
    assert [x.name for x in found.signature.input_arg] == ["x"]
    assert [(x.name, x.type) for x in found.signature.output_arg] == [("identity", 1)]
    assert [(n.name, n.op, list(n.input)) for n in found.node_def] == [
        ("pow/y", "Const", []),
        ("pow", "Pow", ["x", "pow/y:output:0"]),
        ("Identity", "Identity", ["pow:z:0"]),
    ]
    assert dict(found.ret) == {"identity": "Identity:output:0"}


def test_branches_and_functions_of_other_names_show_what_they_have() -> None:
    import gravure as gv  # noqa: PLC0415

    trace = gv.function(lambda x: x + 1).get_concrete_function(gv.ones(2))
    assert [x.op.type for x in trace.outputs] != ["Identity"]
    with pytest.raises(AttributeError, match="only functions of"):
        _ = trace.function_def
