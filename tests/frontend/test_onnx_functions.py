"""Functions inside of models, and values that are several things at once."""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import AttributeProto, helper

from gravure.errors import GraphError, UnsupportedOp
from gravure.frontend.programs.load import load_program

node = helper.make_node
Make = Callable[..., onnx.ModelProto]
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)]
X = np.float32([[1, -2, 3], [-4, 5, 6]])


def referring(kind: str, name: str, attribute: str, type_: int, **more: Any) -> onnx.NodeProto:
    """Return a node of which one attribute is the function's."""
    made = node(kind, **more)
    made.attribute.append(AttributeProto(name=name, ref_attr_name=attribute, type=type_))
    return made


def leaky(**defaults: Any) -> onnx.FunctionProto:
    """Return a function with an attribute: leaky relu, doubled by another function."""
    body = [
        referring("LeakyRelu", "alpha", "slope", AttributeProto.FLOAT, inputs=["a"], outputs=["l"]),
        node("Twice", ["l"], ["b"], domain="com.acme"),
    ]
    attributes = [helper.make_attribute(name, value) for name, value in defaults.items()]
    names = [] if defaults else ["slope"]
    return helper.make_function(
        "com.acme", "Leaky", ["a"], ["b"], body, OPSETS, names, attribute_protos=attributes
    )


TWICE = helper.make_function(
    "com.acme", "Twice", ["a"], ["b"], [node("Add", ["a", "a"], ["b"], name="sum")], OPSETS
)


@pytest.mark.parametrize(
    ("defaults", "given", "slope"),
    [({}, {"slope": 0.5}, 0.5), ({"slope": 0.25}, {}, 0.25), ({"slope": 0.25}, {"slope": 0.5}, 0.5),
     ({}, {}, 0.01)],
)  # fmt: skip
def test_functions_with_attributes(
    model: Make,
    run_onnx: Callable[..., Any],
    defaults: dict[str, Any],
    given: dict[str, Any],
    slope: float,
) -> None:
    call = node("Leaky", ["x"], ["y"], domain="com.acme", name="call", **given)
    made = model([call], {"x": ("f32", [2, 3])}, ["y"], functions=[leaky(**defaults), TWICE])
    (found,) = run_onnx(made, X)
    np.testing.assert_allclose(found, 2 * np.where(X < 0, X * slope, X), rtol=1e-6)
    program = load_program(made.SerializeToString())
    sources = [op.attributes["source"].data for op in program.main.body.block.ops if op.results]
    assert sources == ["call/LeakyRelu_0", "call/Twice_1/sum"]


def test_faults_inside_functions_name_the_path(model: Make) -> None:
    body = [node("Det", ["a"], ["b"], name="det")]
    function = helper.make_function("com.acme", "F", ["a"], ["b"], body, OPSETS)
    made = model(
        [node("F", ["x"], ["y"], domain="com.acme", name="outer")],
        {"x": ("f32", [2, 3])},
        ["y"],
        functions=[function],
    )
    with pytest.raises(GraphError, match=r"node 'outer/det': Det \(opset 17\) on f32\[2,3\]"):
        load_program(made.SerializeToString())


def test_inputs_that_a_function_is_not_given(model: Make, run_onnx: Callable[..., Any]) -> None:
    body = [node("Clip", ["a", "low", "high"], ["b"])]
    function = helper.make_function("com.acme", "F", ["a", "low", "high"], ["b"], body, OPSETS)
    made = model(
        [node("F", ["x", "", "two"], ["y"], domain="com.acme")],
        {"x": ("f32", [2, 3])},
        ["y"],
        {"two": np.float32(2)},
        functions=[function],
    )
    np.testing.assert_array_equal(run_onnx(made, X)[0], np.minimum(X, 2))


def test_initializer_that_is_an_output_and_an_input(
    model: Make, run_onnx: Callable[..., Any]
) -> None:
    weights = np.arange(40, dtype=np.float32)
    made = model(
        [node("Relu", ["x"], ["y"])],
        {"x": ("f32", [2, 3]), "w": ("f32", [40])},
        ["w", "y", "x", "y"],
        {"w": weights},
    )
    found = run_onnx(made, X)
    for result, expected in zip(found, (weights, X.clip(0), X, X.clip(0)), strict=True):
        np.testing.assert_array_equal(result, expected)


def test_overlong_things_are_refused(model: Make) -> None:
    ranks = model([node("Relu", ["x"], ["y"])], {"x": ("f32", [1] * 65)}, ["y"])
    with pytest.raises(GraphError, match="is too large"):
        load_program(ranks.SerializeToString())


def test_types_that_are_no_tensors_are_refused(model: Make) -> None:
    made = model([node("Relu", ["x"], ["y"])], {"x": ("f32", [2])}, ["y"])
    value = made.graph.input[0].type
    value.sequence_type.elem_type.tensor_type.elem_type = 1
    with pytest.raises(UnsupportedOp, match="sequences and optionals are not supported here"):
        load_program(made.SerializeToString())


def test_what_is_made_of_a_sequence_need_not_be_declared(
    model: Make, run_onnx: Callable[..., Any]
) -> None:
    """The standard's function begins with a sequence of no type then, as torch exports `hstack`."""
    names = [helper.make_empty_tensor_value_info(name) for name in ("part", "o")]
    body = helper.make_graph([node("Neg", ["part"], ["o"])], "b", names[:1], names[1:])
    nodes = [
        node("SequenceConstruct", ["x", "x"], ["parts"]),
        node("SequenceMap", ["parts"], ["made"], body=body),
        node("ConcatFromSequence", ["made"], ["y"], axis=0),
    ]
    made = model(nodes, {"x": ("f32", [2, 3])}, ["y"])
    np.testing.assert_array_equal(run_onnx(made, X)[0], np.concatenate([-X, -X]))


def test_a_graph_that_a_standard_function_is_given_reads_what_is_outside(
    model: Make, run_onnx: Callable[..., Any]
) -> None:
    def body(outer: str) -> onnx.GraphProto:
        info = [helper.make_tensor_value_info(name, 1, None) for name in ("part", "o")]
        return helper.make_graph([node("Mul", ["part", outer], ["o"])], "b", info[:1], info[1:])

    parts, inputs = node("SplitToSequence", ["x"], ["parts"]), {"x": ("f32", [2, 3])}
    for factor, function_input in (("factor", False), ("input_sequence", True)):
        nodes = [
            node("Add", ["two", "two"], [factor]),
            parts,
            node("SequenceMap", ["parts"], ["made"], body=body(factor)),
            node("ConcatFromSequence", ["made"], ["y"], axis=0),
        ]
        made = model(nodes, inputs, ["y"], {"two": np.float32(2)})
        if not function_input:
            np.testing.assert_array_equal(run_onnx(made, X)[0], 4 * X)
            continue
        with pytest.raises(UnsupportedOp, match="as an input of its function is called"):
            load_program(made.SerializeToString())
